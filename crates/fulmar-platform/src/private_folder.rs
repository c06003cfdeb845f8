//! Folders that nobody else enters and that nobody else has prepared.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::private_file::{PrivateFileError, Unfit};

/// Makes a folder that only this user can enter, and those on the way to it, if they are not there. One that is there has
/// to be this user's and closed to others; a link to one is not followed.
///
/// What is there is judged by its descriptor.
///
/// # Errors
///
/// When the system refuses it, or what is there is [unfit](Unfit).
pub fn make_private_folder(path: &Path) -> Result<(), PrivateFileError> {
    let made = DirBuilder::new().mode(0o700).recursive(true).create(path);
    let found = check_private_folder(path);
    match (made, found) {
        // Why it cannot be made says more than that it is not there.
        (Err(error), Err(PrivateFileError::System(_))) => Err(PrivateFileError::System(error)),
        (_, found) => found,
    }
}

/// Tells that a folder is this user's, and that only this user can enter it.
///
/// # Errors
///
/// When it is not there, or [unfit](Unfit).
pub fn check_private_folder(path: &Path) -> Result<(), PrivateFileError> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match openat(CWD, path, flags, Mode::empty()) {
        Ok(folder) => folder,
        // Linux says of a link that it is no folder.
        Err(Errno::LOOP) => return Err(PrivateFileError::Unfit(Unfit::Link)),
        Err(Errno::NOTDIR) => return Err(PrivateFileError::Unfit(unfit_of(path))),
        Err(errno) => return Err(io::Error::from(errno).into()),
    };
    let found = fstat(&folder).map_err(io::Error::from)?;
    let others = Mode::RWXG | Mode::RWXO;
    if found.st_uid != geteuid().as_raw() {
        Err(PrivateFileError::Unfit(Unfit::OfAnother))
    } else if Mode::from_raw_mode(found.st_mode).intersects(others) {
        Err(PrivateFileError::Unfit(Unfit::OpenToOthers))
    } else {
        Ok(())
    }
}

fn unfit_of(path: &Path) -> Unfit {
    match rustix::fs::lstat(path) {
        Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Symlink => Unfit::Link,
        _ => Unfit::NotRegular,
    }
}

/// The numbers of the file systems whose files other machines have, too, as Linux knows them.
///
/// Source: statfs(2), and linux/magic.h for 9p, Ceph and FUSE, which sshfs uses.
#[cfg(target_os = "linux")]
const REMOTE: [u32; 8] = [
    0x6969,
    0x517B,
    0xFE53_4D42,
    0xFF53_4D42,
    0x5346_414F,
    0x0102_1997,
    0x00C3_6400,
    0x6573_5546,
];

/// Tells if what is in that folder may be seen by other machines. False where the system does not tell.
pub fn is_remote_folder(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        let found = rustix::fs::statfs(path);
        // Only 32 bits of the number mean anything.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the number has 32 bits"
        )]
        found.is_ok_and(|found| REMOTE.contains(&(found.f_type as u32)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        false
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

    use super::*;
    use crate::leave_out;

    fn unfit(path: &Path) -> Option<Unfit> {
        match make_private_folder(path) {
            Err(PrivateFileError::Unfit(unfit)) => Some(unfit),
            Ok(()) => None,
            Err(error) => panic!("{error:?}"),
        }
    }

    #[test]
    fn a_folder_is_made_for_this_user_alone_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        assert!(check_private_folder(&path).is_err());
        for _ in 0..2 {
            assert_eq!(unfit(&path), None);
            assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o700);
        }
        assert!(!is_remote_folder(&path));
    }

    #[test]
    fn a_folder_that_is_open_or_a_link_or_a_file_will_not_do() {
        let folder = tempfile::tempdir().unwrap();
        let [there, link, file] = ["there", "link", "file"].map(|name| folder.path().join(name));
        make_private_folder(&there).unwrap();
        for mode in [0o750, 0o705, 0o710, 0o777] {
            fs::set_permissions(&there, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(unfit(&there), Some(Unfit::OpenToOthers), "{mode:o}");
        }
        fs::set_permissions(&there, fs::Permissions::from_mode(0o700)).unwrap();
        symlink(&there, &link).unwrap();
        assert_eq!(unfit(&link), Some(Unfit::Link));
        fs::write(&file, "").unwrap();
        assert_eq!(unfit(&file), Some(Unfit::NotRegular));
    }

    #[test]
    fn a_folder_of_another_user_s_will_not_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        make_private_folder(&path).unwrap();
        if chown(&path, Some(65_534), None).is_err() {
            return leave_out("only root gives folders away");
        }
        assert_eq!(unfit(&path), Some(Unfit::OfAnother));
    }
}

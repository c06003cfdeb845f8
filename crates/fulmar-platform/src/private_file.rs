//! Files that nobody else reads and that nobody else has prepared.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;

/// The reason why a file that is there is not written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is a symbolic link.
    Link,
    /// It is a device, or anything else that is neither a regular file nor a pipe.
    NotRegular,
    /// It belongs to another user.
    OfAnother,
    /// Others may read or write it.
    OpenToOthers,
    /// It has another name, under which others may have it.
    NamedTwice,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unfit::Link => "it is a link",
            Unfit::NotRegular => "it is no file",
            Unfit::OfAnother => "it belongs to another user",
            Unfit::OpenToOthers => "others may read or write it",
            Unfit::NamedTwice => "it has another name as well",
        })
    }
}

/// The reason why there is no file to write to.
#[derive(Debug)]
pub enum PrivateFileError {
    /// The system has refused it.
    System(io::Error),
    /// The file that is there is not written to.
    Unfit(Unfit),
}

impl From<io::Error> for PrivateFileError {
    fn from(error: io::Error) -> Self {
        PrivateFileError::System(error)
    }
}

impl From<Errno> for PrivateFileError {
    fn from(errno: Errno) -> Self {
        PrivateFileError::System(errno.into())
    }
}

/// Opens an empty file that only this user can read: a new one, or one of this user's that is as private already, of which
/// the contents go. A link is not followed. A pipe of this user's is waited for until somebody reads it.
///
/// What is there is judged by its descriptor, so whoever swaps files at that path meanwhile gains nothing.
///
/// # Errors
///
/// When the system refuses it, or what is there is [unfit](Unfit).
pub fn create_private(path: &Path) -> Result<File, PrivateFileError> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let new = OFlags::CREATE | OFlags::EXCL;
    match openat(CWD, path, flags | new, Mode::RUSR | Mode::WUSR) {
        Ok(file) => return Ok(file.into()),
        Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno.into()),
    }
    // So that nobody else's pipe is waited for.
    judge(&statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?)?;
    let file = match openat(CWD, path, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::LOOP) => return Err(PrivateFileError::Unfit(Unfit::Link)),
        Err(errno) => return Err(errno.into()),
    };
    let found = fstat(&file)?;
    judge(&found)?;
    let file = File::from(file);
    if type_of(&found) == FileType::RegularFile {
        file.set_len(0).map_err(PrivateFileError::System)?;
    }
    Ok(file)
}

fn type_of(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

fn judge(found: &Stat) -> Result<(), PrivateFileError> {
    let others = Mode::RWXG | Mode::RWXO;
    let unfit = match type_of(found) {
        FileType::Symlink => Unfit::Link,
        FileType::Directory => return Err(Errno::ISDIR.into()),
        FileType::RegularFile | FileType::Fifo => match Mode::from_raw_mode(found.st_mode) {
            _ if found.st_uid != geteuid().as_raw() => Unfit::OfAnother,
            mode if mode.intersects(others) => Unfit::OpenToOthers,
            _ if found.st_nlink > 1 => Unfit::NamedTwice,
            _ => return Ok(()),
        },
        _ => Unfit::NotRegular,
    };
    Err(PrivateFileError::Unfit(unfit))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

    use super::*;
    use crate::leave_out;

    fn unfit(path: &Path) -> Option<Unfit> {
        match create_private(path) {
            Err(PrivateFileError::Unfit(unfit)) => Some(unfit),
            Ok(_) => None,
            Err(error) => panic!("{error:?}"),
        }
    }

    #[test]
    fn a_new_file_and_one_as_private_are_written_from_the_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        for text in ["longer", "text"] {
            create_private(&path)
                .unwrap()
                .write_all(text.as_bytes())
                .unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o600);
        }
    }

    #[test]
    fn a_link_is_not_followed_wherever_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let [there, link, nowhere] =
            ["there", "link", "nowhere"].map(|name| folder.path().join(name));
        fs::write(&there, "dear").unwrap();
        fs::set_permissions(&there, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&there, &link).unwrap();
        symlink(folder.path().join("absent"), &nowhere).unwrap();
        assert_eq!(unfit(&link), Some(Unfit::Link));
        assert_eq!(unfit(&nowhere), Some(Unfit::Link));
        assert_eq!(fs::read_to_string(&there).unwrap(), "dear");
        assert!(!folder.path().join("absent").exists());
    }

    #[test]
    fn what_others_could_have_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        for mode in [0o640, 0o604, 0o620, 0o602, 0o644, 0o666] {
            fs::write(&path, "dear").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(unfit(&path), Some(Unfit::OpenToOthers), "{mode:o}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "dear");
            assert_eq!(path.metadata().unwrap().mode() & 0o7777, mode);
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::hard_link(&path, folder.path().join("other")).unwrap();
        assert_eq!(unfit(&path), Some(Unfit::NamedTwice));
        assert_eq!(fs::read_to_string(&path).unwrap(), "dear");
    }

    #[test]
    fn a_file_of_another_user_s_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "dear").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        if chown(&path, Some(65_534), None).is_err() {
            return leave_out("only root gives files away");
        }
        assert_eq!(unfit(&path), Some(Unfit::OfAnother));
        assert_eq!(fs::read_to_string(&path).unwrap(), "dear");
    }

    #[test]
    fn a_pipe_has_to_be_private_too_and_a_device_or_a_folder_will_not_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        rustix::fs::mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        let reader = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        create_private(&path).unwrap().write_all(b"text").unwrap();
        drop(reader);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        // Nobody reads it, and it is not waited for.
        assert_eq!(unfit(&path), Some(Unfit::OpenToOthers));
        assert_eq!(unfit(Path::new("/dev/null")), Some(Unfit::NotRegular));
        let error = create_private(folder.path()).unwrap_err();
        assert!(matches!(error, PrivateFileError::System(_)), "{error:?}");
    }
}

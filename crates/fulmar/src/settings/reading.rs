//! Opens the configuration file.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use fulmar_platform::own_user_id;
use fulmar_settings::{
    CONFIG_BYTES_MAX, ConfigFile, ConfigLocation, FileFault, FileStatus, SettingsError,
};

/// Reads the file. If the usual one is not there, nothing is said.
///
/// # Errors
///
/// When it cannot be read, should not be trusted, or has faults.
pub(crate) fn read(location: ConfigLocation) -> Result<ConfigFile, SettingsError> {
    match content(location.path(), location.is_named()) {
        Ok(content) => location.parse(content),
        Err(fault) => Err(location.refused(fault)),
    }
}

fn content(path: &Path, is_named: bool) -> Result<Option<Vec<u8>>, FileFault> {
    // Before it is opened: to open a pipe is to wait for its other end.
    match path.metadata() {
        Ok(metadata) => check(&metadata)?,
        // A link that leads nowhere was meant to lead to settings.
        Err(_) if !is_named && !path.is_symlink() => return Ok(None),
        Err(error) => return Err(refused(&error)),
    }
    let file = File::open(path).map_err(|error| refused(&error))?;
    // It may be another one by now.
    check(&file.metadata().map_err(|error| refused(&error))?)?;
    let mut bytes = Vec::new();
    file.take(CONFIG_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refused(&error))?;
    Ok(Some(bytes))
}

fn refused(error: &io::Error) -> FileFault {
    FileFault::System(error.to_string())
}

fn check(metadata: &Metadata) -> Result<(), FileFault> {
    let status = FileStatus {
        is_file: metadata.is_file(),
        owner: metadata.uid(),
        mode: metadata.mode(),
    };
    status.check(own_user_id())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::PathBuf;

    use super::*;

    fn file_with(bytes: &[u8], mode: u32) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        (folder, path)
    }

    fn fault(path: &Path) -> String {
        content(path, true).expect_err("it is refused").to_string()
    }

    #[test]
    fn a_file_of_ones_own_is_read_also_through_a_link() {
        let (folder, path) = file_with(b"init = true", 0o644);
        assert_eq!(content(&path, true).unwrap().unwrap(), b"init = true");
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert_eq!(content(&link, false).unwrap().unwrap(), b"init = true");
    }

    #[test]
    fn a_file_that_is_not_there_is_fine_unless_it_was_named() {
        let missing = Path::new("/no/such/folder/config.toml");
        assert!(matches!(content(missing, false), Ok(None)));
        assert!(fault(missing).contains("No such file"));
    }

    #[test]
    fn a_link_that_leads_nowhere_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("config.toml");
        symlink("/no/such/file", &link).unwrap();
        let fault = content(&link, false).expect_err("it is refused");
        assert!(fault.to_string().contains("No such file"));
    }

    #[test]
    fn a_file_that_others_write_is_refused() {
        for mode in [0o620, 0o602, 0o666] {
            let (_folder, path) = file_with(b"", mode);
            assert!(fault(&path).contains(&format!("mode {mode:o}")));
        }
    }

    #[test]
    fn what_is_no_file_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, 0o600.into(), 0).unwrap();
        for path in [folder.path(), &pipe, Path::new("/dev/null")] {
            assert_eq!(fault(path), "it is not a file");
        }
    }

    #[test]
    fn no_more_is_read_than_shows_that_a_file_is_too_long() {
        let most = usize::try_from(CONFIG_BYTES_MAX).unwrap();
        let (_folder, path) = file_with(&vec![b'\n'; most + 2], 0o600);
        assert_eq!(content(&path, true).unwrap().unwrap().len(), most + 1);
    }
}

//! Finds the configuration file, and checks who may have written it.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use fulmar_platform::own_user_id;

use super::document::Document;
use super::error::Failure;
use super::file_fault::{BYTES_MAX, FileFault};
use crate::environment::Environment;

/// The variable that names a file.
pub(crate) const VARIABLE: &str = "FULMAR_CONFIG";

/// The name that means no file, as with ssh's `-F`.
const NONE: &str = "none";

/// The permissions to write of everybody but the owner.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The path of the file that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    path: PathBuf,
    /// True if the user named it, so that it has to be there.
    is_named: bool,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// Its path.
    pub(crate) path: PathBuf,
    /// Its content; nothing if there is no such file.
    pub(crate) document: Option<Document>,
}

impl Location {
    /// Finds out which file is meant, if any: the one that a flag or the environment names, or the
    /// usual one.
    pub(crate) fn of(named: Option<&Path>, environment: &Environment) -> Option<Location> {
        let variable = environment.get_filled(VARIABLE).map(Path::new);
        match named.or(variable) {
            Some(path) if path == OsStr::new(NONE) => None,
            Some(path) => Some(Location {
                path: path.to_owned(),
                is_named: true,
            }),
            None => Some(Location {
                path: usual(environment)?,
                is_named: false,
            }),
        }
    }

    /// Reads the file. If the usual one is not there, nothing is said.
    ///
    /// # Errors
    ///
    /// When it cannot be read, should not be trusted, or has faults.
    pub(crate) fn read(self) -> Result<Config, Failure> {
        let Location { path, is_named } = self;
        let text = match read(&path, is_named) {
            Ok(text) => text,
            Err(fault) => return Err(Failure::ConfigFile { path, fault }),
        };
        match text.map(|text| Document::parse(&text)).transpose() {
            Ok(document) => Ok(Config { path, document }),
            Err(faults) => Err(Failure::Config { path, faults }),
        }
    }
}

/// Returns the usual place, by the rules of XDG: a folder that is not absolute does not count.
fn usual(environment: &Environment) -> Option<PathBuf> {
    let folder = |name| {
        let path = Path::new(environment.get(name)?);
        path.is_absolute().then(|| path.to_owned())
    };
    let folder = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(folder.join("fulmar/config.toml"))
}

fn read(path: &Path, is_named: bool) -> Result<Option<String>, FileFault> {
    // Before it is opened: to open a pipe is to wait for its other end.
    match path.metadata() {
        Ok(metadata) => check(&metadata)?,
        Err(_) if !is_named => return Ok(None),
        Err(error) => return Err(refused(&error)),
    }
    let file = File::open(path).map_err(|error| refused(&error))?;
    // It may be another one by now.
    check(&file.metadata().map_err(|error| refused(&error))?)?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refused(&error))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(FileFault::TooLong);
    }
    text(bytes).map(Some)
}

fn refused(error: &io::Error) -> FileFault {
    FileFault::System(error.to_string())
}

fn check(metadata: &Metadata) -> Result<(), FileFault> {
    if metadata.is_file() {
        trust(metadata.uid(), metadata.mode(), own_user_id())
    } else {
        Err(FileFault::NotAFile)
    }
}

/// Looks at who could have written a file: it names programs that will be run. The rule is ssh's
/// for its own file: it belongs to the user or to root, and nobody else may write it.
fn trust(owner: u32, mode: u32, user: u32) -> Result<(), FileFault> {
    if owner != user && owner != 0 {
        return Err(FileFault::OthersOwn);
    }
    match mode & WRITABLE_BY_OTHERS {
        0 => Ok(()),
        _ => Err(FileFault::OthersWrite(mode)),
    }
}

fn text(bytes: Vec<u8>) -> Result<String, FileFault> {
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = error.as_bytes().iter().take(good);
        FileFault::NotText(before.filter(|&&byte| byte == b'\n').count() + 1)
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn place(named: Option<&str>, variables: &[(&str, &str)]) -> Option<(String, bool)> {
        let environment = variables.iter().copied().collect();
        let location = Location::of(named.map(Path::new), &environment)?;
        Some((location.path.display().to_string(), location.is_named))
    }

    #[test]
    fn a_file_that_is_named_comes_before_the_usual_one() {
        let home = ("HOME", "/home/ada");
        let is = |path: &str, is_named| Some((path.to_owned(), is_named));
        let usual = is("/home/ada/.config/fulmar/config.toml", false);
        assert_eq!(place(None, &[home]), usual);
        assert_eq!(place(None, &[home, ("XDG_CONFIG_HOME", "")]), usual);
        assert_eq!(place(None, &[home, ("XDG_CONFIG_HOME", "x")]), usual);
        let xdg = ("XDG_CONFIG_HOME", "/x");
        assert_eq!(
            place(None, &[home, xdg]),
            is("/x/fulmar/config.toml", false)
        );
        assert_eq!(place(None, &[]), None);
        assert_eq!(place(None, &[("HOME", "")]), None);
        let variable = ("FULMAR_CONFIG", "v");
        assert_eq!(place(None, &[home, variable]), is("v", true));
        assert_eq!(place(Some("f"), &[home, variable]), is("f", true));
        assert_eq!(place(Some("none"), &[home, variable]), None);
        assert_eq!(place(None, &[home, ("FULMAR_CONFIG", "none")]), None);
    }

    fn file_with(bytes: &[u8], mode: u32) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        (folder, path)
    }

    fn fault(path: &Path) -> String {
        read(path, true).expect_err("it is refused").to_string()
    }

    #[test]
    fn a_file_of_ones_own_is_read_also_through_a_link() {
        let (folder, path) = file_with(b"init = true", 0o644);
        assert_eq!(read(&path, true).unwrap().unwrap(), "init = true");
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert_eq!(read(&link, false).unwrap().unwrap(), "init = true");
    }

    #[test]
    fn a_file_that_is_not_there_is_fine_unless_it_was_named() {
        let missing = Path::new("/no/such/folder/config.toml");
        assert!(matches!(read(missing, false), Ok(None)));
        assert!(fault(missing).contains("No such file"));
    }

    #[test]
    fn a_file_that_others_write_is_refused() {
        for mode in [0o620, 0o602, 0o666] {
            let (_folder, path) = file_with(b"", mode);
            assert!(fault(&path).contains(&format!("mode {mode:o}")));
        }
    }

    #[test]
    fn a_file_of_another_user_is_refused_and_roots_is_not() {
        assert!(matches!(trust(7, 0o600, 8), Err(FileFault::OthersOwn)));
        assert!(matches!(trust(7, 0o600, 0), Err(FileFault::OthersOwn)));
        assert!(trust(7, 0o644, 7).is_ok() && trust(0, 0o644, 7).is_ok());
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
    fn a_file_that_is_too_long_or_no_text_is_refused() {
        let most = usize::try_from(BYTES_MAX).unwrap();
        let (_folder, path) = file_with(&vec![b'\n'; most], 0o600);
        assert_eq!(read(&path, true).unwrap().unwrap().len(), most);
        let (_folder, path) = file_with(&vec![b'\n'; most + 1], 0o600);
        assert!(fault(&path).contains("1048576 bytes"));
        let (_folder, path) = file_with(b"a\nb\xFF", 0o600);
        assert_eq!(fault(&path), "line 2 is not UTF-8");
    }
}

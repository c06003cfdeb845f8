//! The configuration file: where it is, who may have written it, and what it says.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::document::ConfigDocument;
use crate::environment::Environment;
use crate::error::SettingsError;
use crate::file_fault::{CONFIG_BYTES_MAX, FileFault};

/// The variable that names a file.
pub(crate) const VARIABLE: &str = "FULMAR_CONFIG";

/// The name that means no file, as with ssh's `-F`.
const NONE: &str = "none";

/// The permissions to write of everybody but the owner.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The path of the file that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigLocation {
    path: PathBuf,
    /// True if the user named it, so that it has to be there.
    is_named: bool,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its path.
    pub(crate) path: PathBuf,
    /// Its content; nothing if there is no such file.
    pub(crate) document: Option<ConfigDocument>,
}

impl ConfigLocation {
    /// Finds out which file is meant, if any: the one that a flag or the environment names, or the
    /// usual one.
    pub fn find(named: Option<&Path>, environment: &Environment) -> Option<ConfigLocation> {
        let variable = environment.get_filled(VARIABLE).map(Path::new);
        match named.or(variable) {
            Some(path) if path == OsStr::new(NONE) => None,
            Some(path) => Some(ConfigLocation {
                path: path.to_owned(),
                is_named: true,
            }),
            None => Some(ConfigLocation {
                path: usual(environment)?,
                is_named: false,
            }),
        }
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if the user named the file, so that it has to be there.
    pub fn is_named(&self) -> bool {
        self.is_named
    }

    /// Makes sense of the content, or of `None` if there is no such file.
    ///
    /// # Errors
    ///
    /// When it has more than [`CONFIG_BYTES_MAX`] bytes, is not UTF-8, or has faults.
    pub fn parse(self, content: Option<Vec<u8>>) -> Result<ConfigFile, SettingsError> {
        let text = match content.map(text).transpose() {
            Ok(text) => text,
            Err(fault) => return Err(self.refused(fault)),
        };
        let path = self.path;
        match text.map(|text| ConfigDocument::parse(&text)).transpose() {
            Ok(document) => Ok(ConfigFile { path, document }),
            Err(faults) => Err(SettingsError::Config { path, faults }),
        }
    }

    /// Returns the failure that follows from a fault of the file.
    pub fn refused(self, fault: FileFault) -> SettingsError {
        let path = self.path;
        SettingsError::ConfigFile { path, fault }
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

/// The status of a file, as the system has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStatus {
    /// True if it is a regular file.
    pub is_file: bool,
    /// The number of the user that it belongs to; root has 0.
    pub owner: u32,
    /// Its type and permissions, as in stat(2).
    pub mode: u32,
}

impl FileStatus {
    /// Looks at who could have written a file: it names programs that will be run. The rule is ssh's
    /// for its own file: it belongs to `user` or to root, and nobody else may write it.
    ///
    /// # Errors
    ///
    /// When it is not so, or this is no file.
    pub fn check(self, user: u32) -> Result<(), FileFault> {
        if !self.is_file {
            return Err(FileFault::NotAFile);
        }
        if self.owner != user && self.owner != 0 {
            return Err(FileFault::OthersOwn);
        }
        match self.mode & WRITABLE_BY_OTHERS {
            0 => Ok(()),
            _ => Err(FileFault::OthersWrite(self.mode)),
        }
    }
}

fn text(bytes: Vec<u8>) -> Result<String, FileFault> {
    if bytes.len() as u64 > CONFIG_BYTES_MAX {
        return Err(FileFault::TooLong);
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = error.as_bytes().iter().take(good);
        FileFault::NotText(before.filter(|&&byte| byte == b'\n').count() + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(named: Option<&str>, variables: &[(&str, &str)]) -> Option<(String, bool)> {
        let environment = variables.iter().copied().collect();
        let location = ConfigLocation::find(named.map(Path::new), &environment)?;
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

    fn status(owner: u32, mode: u32) -> FileStatus {
        FileStatus {
            is_file: true,
            owner,
            mode,
        }
    }

    #[test]
    fn a_file_of_another_user_is_refused_and_roots_is_not() {
        let refused = Err(FileFault::OthersOwn);
        assert_eq!(status(7, 0o600).check(8), refused);
        assert_eq!(status(7, 0o600).check(0), refused);
        assert_eq!(status(7, 0o644).check(7), Ok(()));
        assert_eq!(status(0, 0o644).check(7), Ok(()));
    }

    #[test]
    fn a_file_that_others_write_is_refused() {
        for mode in [0o620, 0o602, 0o666] {
            let refused = Err(FileFault::OthersWrite(mode));
            assert_eq!(status(7, mode).check(7), refused);
        }
    }

    #[test]
    fn what_is_no_file_is_refused_whoever_owns_it() {
        let folder = FileStatus {
            is_file: false,
            ..status(7, 0o600)
        };
        assert_eq!(folder.check(7), Err(FileFault::NotAFile));
    }

    /// Returns the failure over such a content.
    fn failure(content: &[u8]) -> String {
        let location = ConfigLocation::find(Some(Path::new("f")), &Environment::default());
        let parsed = location.expect("a name").parse(Some(content.to_owned()));
        parsed.expect_err("it is refused").to_string()
    }

    #[test]
    fn a_file_that_is_too_long_or_no_text_is_refused() {
        let most = usize::try_from(CONFIG_BYTES_MAX).unwrap();
        assert_eq!(text(vec![b'\n'; most]).unwrap().len(), most);
        let long = failure(&vec![b'\n'; most + 1]);
        assert_eq!(long, "f: it has more than 1048576 bytes");
        assert_eq!(failure(b"a\nb\xFF"), "f: line 2 is not UTF-8");
        assert_eq!(
            failure(b"predict = 1"),
            "f:1:11: predict cannot be 1: it is a text in quotes"
        );
    }
}

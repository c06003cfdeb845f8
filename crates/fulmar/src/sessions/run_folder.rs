//! The folder with the sockets of sessions.

use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{
    FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use fulmar_login::SessionName;
use fulmar_platform::{
    PrivateFileError, User, check_private_folder, is_own_peer, is_remote_folder,
    make_private_folder, own_user_id,
};
use fulmar_settings::Environment;

/// The place below a home.
///
/// Source: docs/threat-model.md §9.
const BELOW_HOME: &str = ".local/state/fulmar/run";

/// The folder for homes that other machines have, too, or that lie too deep, and the beginning of the names there, which go
/// on with something that nobody can foresee.
///
/// Source: docs/threat-model.md §9.
const SHARED_FOLDER: &str = "/tmp";
const SHARED_PREFIX: &str = "fulmar-run-";

/// The longest path of a socket on any system of ours.
///
/// Source: unix(7) for Linux, 107 bytes, and unix(4) of the BSDs, 103.
const SOCKET_PATH_MAX: usize = 103;

/// A file that whoever makes or removes a socket holds locked meanwhile. It is no name of a session.
const LOCK_NAME: &str = ".lock";

/// A folder of sockets, which only this user can enter. That is looked at on each use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Returns the folder for new sockets, which is made if it is not there: below the home, or else in a folder that all
    /// share.
    ///
    /// # Errors
    ///
    /// When neither can be made.
    pub(crate) fn make(environment: &Environment) -> io::Result<RunFolder> {
        if let Some(path) = below_home(environment) {
            match make_private_folder(&path) {
                Ok(()) => return Ok(RunFolder { path }),
                Err(error) => tracing::info!(?error, ?path, "no folder for sockets there"),
            }
        }
        if let Some(folder) = shared_folders(Path::new(SHARED_FOLDER)).into_iter().next() {
            return Ok(folder);
        }
        RunFolder::fresh()
    }

    /// Returns a new folder in the one that all share, with a name that nobody can have foreseen.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub(crate) fn fresh() -> io::Result<RunFolder> {
        let mut random = [0; 8];
        fulmar_platform::random(&mut random)?;
        let word = u64::from_ne_bytes(random);
        let path = Path::new(SHARED_FOLDER).join(format!("{SHARED_PREFIX}{word:016x}"));
        make_private_folder(&path).map_err(plain)?;
        Ok(RunFolder { path })
    }

    /// Returns all such folders that there are.
    pub(crate) fn all(environment: &Environment) -> Vec<RunFolder> {
        let below_home = below_home(environment);
        let below_home = below_home.filter(|path| check_private_folder(path).is_ok());
        let mut folders: Vec<RunFolder> = below_home
            .map(|path| RunFolder { path })
            .into_iter()
            .collect();
        folders.extend(shared_folders(Path::new(SHARED_FOLDER)));
        folders
    }

    /// Returns the path of the socket of that session.
    pub(crate) fn socket(&self, name: &SessionName) -> PathBuf {
        self.path.join(name.as_str())
    }

    /// Returns the names of the sockets that are there, whether somebody listens or not.
    pub(crate) fn names(&self) -> Vec<SessionName> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let name = |entry: DirEntry| SessionName::parse(entry.file_name().to_str()?).ok();
        let mut names: Vec<SessionName> = entries.filter_map(name).collect();
        names.sort();
        names
    }

    /// Listens for that session, and makes the folder again if it has gone. A socket to which nobody listens any more is
    /// replaced.
    ///
    /// # Errors
    ///
    /// With [`ErrorKind::AddrInUse`] if another session has the name.
    pub(crate) fn listen(&self, name: &SessionName) -> io::Result<UnixListener> {
        make_private_folder(&self.path).map_err(plain)?;
        let _lock = self.lock()?;
        let path = self.socket(name);
        match path.symlink_metadata() {
            Ok(_) if self.is_alive(name) => return Err(ErrorKind::AddrInUse.into()),
            // In a folder of ours it is ours, whatever it is.
            Ok(_) => fs::remove_file(&path)?,
            Err(_) => {}
        }
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// Takes the socket of a session away, if it is still the one of that inode.
    pub(crate) fn remove(&self, name: &SessionName, inode: u64) {
        if let Ok(_lock) = self.lock()
            && self.inode(name) == Some(inode)
        {
            let _ = fs::remove_file(self.socket(name));
        }
    }

    /// Gives the socket of a session another name.
    ///
    /// # Errors
    ///
    /// With [`ErrorKind::AddrInUse`] if another session has that.
    pub(crate) fn rename(&self, from: &SessionName, to: &SessionName) -> io::Result<()> {
        check_private_folder(&self.path).map_err(plain)?;
        let _lock = self.lock()?;
        if self.is_alive(to) {
            return Err(ErrorKind::AddrInUse.into());
        }
        fs::rename(self.socket(from), self.socket(to))
    }

    /// Returns the number by which the system knows the socket of that name, if it is one of ours.
    pub(crate) fn inode(&self, name: &SessionName) -> Option<u64> {
        let found = self.socket(name).symlink_metadata().ok()?;
        let is_ours = found.file_type().is_socket() && found.uid() == own_user_id();
        is_ours.then(|| found.ino())
    }

    /// Connects to the server of that session. What is no socket of this user's is not connected to, and nothing is said to
    /// a process of another user.
    ///
    /// # Errors
    ///
    /// When nobody listens, or somebody else.
    pub(crate) fn connect(&self, name: &SessionName) -> io::Result<UnixStream> {
        check_private_folder(&self.path).map_err(plain)?;
        if self.inode(name).is_none() {
            return Err(ErrorKind::NotFound.into());
        }
        let stream = UnixStream::connect(self.socket(name))?;
        if is_own_peer(&stream)? {
            Ok(stream)
        } else {
            Err(ErrorKind::PermissionDenied.into())
        }
    }

    /// Tells if a process of this user may listen there: somebody else has no business in the folder.
    fn is_alive(&self, name: &SessionName) -> bool {
        match self.connect(name) {
            Ok(_) => true,
            Err(error) => !matches!(
                error.kind(),
                ErrorKind::ConnectionRefused | ErrorKind::NotFound | ErrorKind::PermissionDenied
            ),
        }
    }

    fn lock(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(self.path.join(LOCK_NAME))?;
        file.lock()?;
        Ok(file)
    }

    /// Returns a folder for tests.
    #[cfg(test)]
    pub(crate) fn of_test(path: &Path) -> RunFolder {
        RunFolder {
            path: path.to_owned(),
        }
    }
}

/// Returns the place below the home, if sockets there are this machine's alone and can be named.
fn below_home(environment: &Environment) -> Option<PathBuf> {
    let home = environment.get_filled("HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(User::current().ok()??.home))?;
    let path = home.join(BELOW_HOME);
    let is_short = path.as_os_str().len() + 1 + SessionName::BYTES_MAX <= SOCKET_PATH_MAX;
    (home.is_absolute() && is_short && !is_remote_folder(&home)).then_some(path)
}

/// Returns the folders of ours in one that others have, too.
fn shared_folders(shared: &Path) -> Vec<RunFolder> {
    let entries = fs::read_dir(shared).into_iter().flatten().flatten();
    let is_named = |entry: &DirEntry| {
        let name = entry.file_name();
        name.to_str()
            .is_some_and(|name| name.starts_with(SHARED_PREFIX))
    };
    let paths = entries.filter(is_named).map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| check_private_folder(path).is_ok())
        .collect();
    paths.sort();
    paths.into_iter().map(|path| RunFolder { path }).collect()
}

fn plain(error: PrivateFileError) -> io::Error {
    match error {
        PrivateFileError::System(error) => error,
        PrivateFileError::Unfit(unfit) => io::Error::other(unfit.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, symlink};

    use fulmar_platform::leave_out;
    use tempfile::TempDir;

    use super::*;

    fn name(text: &str) -> SessionName {
        SessionName::parse(text).unwrap()
    }

    fn folder() -> (TempDir, RunFolder) {
        let place = TempDir::new().unwrap();
        let folder = RunFolder::of_test(&place.path().join("a/run"));
        (place, folder)
    }

    fn kind<T>(outcome: io::Result<T>) -> Option<ErrorKind> {
        outcome.err().map(|error| error.kind())
    }

    #[test]
    fn a_name_is_one_sessions_until_nobody_listens() {
        let (_place, folder) = folder();
        let listener = folder.listen(&name("work")).unwrap();
        assert_eq!(
            kind(folder.listen(&name("work"))),
            Some(ErrorKind::AddrInUse)
        );
        assert_eq!(folder.names(), [name("work")]);
        let mode = folder.socket(&name("work")).metadata().unwrap().mode();
        assert_eq!(mode & 0o7777, 0o600);
        assert!(folder.connect(&name("work")).is_ok());
        drop(listener);
        // As after a crash.
        assert_eq!(folder.names(), [name("work")]);
        assert!(folder.connect(&name("work")).is_err());
        assert!(folder.listen(&name("work")).is_ok());
    }

    #[test]
    fn a_socket_is_renamed_unless_the_name_is_taken_and_removed_by_its_owner_alone() {
        let (_place, folder) = folder();
        let [one, two, three] = ["one", "two", "three"].map(name);
        let _first = folder.listen(&one).unwrap();
        let _second = folder.listen(&two).unwrap();
        assert_eq!(kind(folder.rename(&one, &two)), Some(ErrorKind::AddrInUse));
        folder.rename(&one, &three).unwrap();
        assert_eq!(folder.names(), [three.clone(), two.clone()]);
        let inode = folder.inode(&two).unwrap();
        folder.remove(&three, inode);
        folder.remove(&two, inode);
        assert_eq!(folder.names(), [three]);
    }

    #[test]
    fn a_folder_that_was_cleaned_away_is_made_again() {
        let (place, folder) = folder();
        let _first = folder.listen(&name("work")).unwrap();
        fs::remove_dir_all(place.path().join("a")).unwrap();
        assert!(folder.names().is_empty());
        let _again = folder.listen(&name("work")).unwrap();
        assert!(folder.connect(&name("work")).is_ok());
    }

    #[test]
    fn what_is_no_socket_of_ours_is_not_connected_to() {
        let (place, folder) = folder();
        let [link, file, there] = ["link", "file", "there"].map(name);
        let _listener = folder.listen(&there).unwrap();
        symlink(folder.socket(&there), folder.socket(&link)).unwrap();
        fs::write(folder.socket(&file), "").unwrap();
        for other in [&link, &file, &name("absent")] {
            assert_eq!(kind(folder.connect(other)), Some(ErrorKind::NotFound));
        }
        let path = place.path().join("a/run");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(folder.connect(&there).is_err(), "others may enter");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        if chown(folder.socket(&there), Some(65_534), None).is_err() {
            return leave_out("only root gives sockets away");
        }
        assert_eq!(kind(folder.connect(&there)), Some(ErrorKind::NotFound));
    }

    #[test]
    fn in_a_folder_that_all_share_only_ours_count() {
        let shared = TempDir::new().unwrap();
        let place = |word: &str| shared.path().join(format!("{SHARED_PREFIX}{word}"));
        let [ours, open, link] = ["ours", "open", "link"].map(place);
        make_private_folder(&ours).unwrap();
        make_private_folder(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        symlink(&ours, &link).unwrap();
        make_private_folder(&shared.path().join("another")).unwrap();
        assert_eq!(shared_folders(shared.path()), [RunFolder::of_test(&ours)]);
    }

    #[test]
    fn a_home_that_lies_too_deep_or_nowhere_has_no_sockets() {
        let below = |home: &str| {
            let environment: Environment = [("HOME", home)].into_iter().collect();
            below_home(&environment)
        };
        assert_eq!(
            below("/home/ada"),
            Some("/home/ada/.local/state/fulmar/run".into())
        );
        assert_eq!(below(&format!("/{}", "x".repeat(60))), None);
        assert_eq!(below("relative"), None);
    }
}

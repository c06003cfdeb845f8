//! The name of a new session, and the socket that goes with it.

use std::io::{self, ErrorKind};

use fulmar_login::SessionName;
use fulmar_platform::process;
use fulmar_settings::Environment;

use super::error::ServerError;
use crate::sessions::{ControlSocket, RunFolder, SessionsError};

/// The most numbers that are tried for a name. Chosen by eye: nobody has so many sessions.
const NUMBERS: std::ops::RangeInclusive<u32> = 1..=1000;

/// Makes the socket of a session that the user gives that name, or none: then it is called after the machine. Where no
/// socket can be made, a session without name has none, and nobody can take it.
///
/// # Errors
///
/// When another session has the name, or a session with a name has no socket.
pub(super) fn claim(
    wanted: Option<SessionName>,
    environment: &Environment,
) -> Result<Option<ControlSocket>, ServerError> {
    let open = |folder: RunFolder| {
        let mut elsewhere = RunFolder::all(environment);
        elsewhere.retain(|other| *other != folder);
        match &wanted {
            Some(name) => named(&folder, &elsewhere, name.clone()),
            None => numbered(&folder, &elsewhere, &process::host_name()),
        }
    };
    let places: [&dyn Fn() -> io::Result<RunFolder>; 2] =
        [&|| RunFolder::make(environment), &RunFolder::fresh];
    let opened = open_first(&places, open);
    match (opened, wanted) {
        (Ok(socket), _) => Ok(Some(socket)),
        (Err(error), Some(name)) if error.kind() == ErrorKind::AddrInUse => {
            Err(SessionsError::NameTaken { name }.into())
        }
        (Err(error), Some(name)) => Err(SessionsError::NoSocket { name, error }.into()),
        (Err(error), None) => {
            tracing::warn!(%error, "no other client can attach to this session");
            Ok(None)
        }
    }
}

/// Makes a socket in the first of the folders that takes one: not each has sockets and locks.
fn open_first(
    places: &[&dyn Fn() -> io::Result<RunFolder>],
    open: impl Fn(RunFolder) -> io::Result<ControlSocket>,
) -> io::Result<ControlSocket> {
    let mut last = ErrorKind::NotFound.into();
    for place in places {
        match place().and_then(&open) {
            Err(error) if error.kind() != ErrorKind::AddrInUse => last = error,
            outcome => return outcome,
        }
    }
    Err(last)
}

/// Makes the socket of that name, unless a session in any of the folders has it.
fn named(
    folder: &RunFolder,
    elsewhere: &[RunFolder],
    name: SessionName,
) -> io::Result<ControlSocket> {
    if elsewhere.iter().any(|other| other.connect(&name).is_ok()) {
        return Err(ErrorKind::AddrInUse.into());
    }
    ControlSocket::open(folder.clone(), name)
}

fn numbered(folder: &RunFolder, elsewhere: &[RunFolder], host: &str) -> io::Result<ControlSocket> {
    let mut last = ErrorKind::AddrInUse.into();
    for number in NUMBERS {
        match named(folder, elsewhere, SessionName::numbered(host, number)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => last = error,
            outcome => return outcome,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn environment(home: &TempDir) -> Environment {
        let home = home.path().to_str().unwrap().to_owned();
        [("HOME".to_owned(), home)].into_iter().collect()
    }

    #[test]
    fn sessions_are_numbered_and_a_name_is_given_once() {
        let home = TempDir::new().unwrap();
        let folder = RunFolder::of_test(&home.path().join("run"));
        let first = numbered(&folder, &[], "far.example.org").unwrap();
        let second = numbered(&folder, &[], "far.example.org").unwrap();
        assert_eq!(first.name().as_str(), "far-1");
        assert_eq!(second.name().as_str(), "far-2");
        drop(first);
        assert_eq!(
            numbered(&folder, &[], "far").unwrap().name().as_str(),
            "far-1"
        );
    }

    #[test]
    fn a_folder_that_takes_no_sockets_is_not_the_end_of_it() {
        let home = TempDir::new().unwrap();
        let [bad, good] = ["bad", "good"].map(|name| RunFolder::of_test(&home.path().join(name)));
        // In place of the file that is locked.
        fulmar_platform::make_private_folder(&home.path().join("bad/.lock")).unwrap();
        let open = |folder: RunFolder| numbered(&folder, &[], "far");
        let places: [&dyn Fn() -> io::Result<RunFolder>; 2] =
            [&|| Ok(bad.clone()), &|| Ok(good.clone())];
        let socket = open_first(&places, open).unwrap();
        assert_eq!(good.names(), [socket.name().clone()]);
    }

    #[test]
    fn a_name_that_another_session_has_is_refused() {
        let home = TempDir::new().unwrap();
        let work = SessionName::parse("work").ok();
        let first = claim(work.clone(), &environment(&home)).unwrap();
        assert!(matches!(
            claim(work.clone(), &environment(&home)),
            Err(ServerError::Sessions(SessionsError::NameTaken { .. }))
        ));
        drop(first);
        assert!(claim(work, &environment(&home)).unwrap().is_some());
    }
}

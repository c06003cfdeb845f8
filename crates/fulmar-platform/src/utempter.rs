//! Writing our terminal into the records of who is logged in, by the helper that may.

use crate::Master;
use rustix::fd::AsFd;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The paths at which distributions put the helper; Debian adds a folder named for the processor.
const PLACES: [&str; 3] = [
    "/usr/lib/x86_64-linux-gnu/utempter/utempter",
    "/usr/lib/utempter/utempter",
    "/usr/libexec/utempter/utempter",
];

/// The `utempter` helper: a small program with the right to change `/run/utmp`, which records
/// the terminal that it finds at descriptor 0.
#[derive(Clone, Debug)]
pub struct Utempter {
    helper: PathBuf,
}

impl Utempter {
    /// Looks for the helper. Many systems have none, and keep no such records.
    pub fn find() -> Option<Self> {
        let known = PLACES.iter().map(PathBuf::from);
        known
            .chain(beside_libraries(Path::new("/usr/lib")))
            .find(|path| path.is_file())
            .map(|helper| Self { helper })
    }

    /// Records that we are logged in on `terminal`, from `host`, or changes the host that was
    /// recorded. Waits for the helper, which takes milliseconds.
    ///
    /// # Errors
    ///
    /// When the helper does not start, or fails: without the file, for example.
    pub fn add(&self, terminal: &Master, host: &str) -> io::Result<()> {
        self.run(terminal, &["add", host])
    }

    /// Records that the login on `terminal` has ended.
    ///
    /// # Errors
    ///
    /// As for [`add`](Self::add).
    pub fn remove(&self, terminal: &Master) -> io::Result<()> {
        self.run(terminal, &["del"])
    }

    fn run(&self, terminal: &Master, arguments: &[&str]) -> io::Result<()> {
        let status = Command::new(&self.helper)
            .args(arguments)
            .env_clear()
            .stdin(terminal.as_fd().try_clone_to_owned()?)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        if status.success() {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "{} ended with {status}",
            self.helper.display()
        )))
    }
}

/// Lists where the helper would be in the folders for the libraries of one processor.
fn beside_libraries(libraries: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(libraries).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = folders
        .map(|folder| folder.path().join("utempter/utempter"))
        .collect();
    // The order of a folder's listing is nobody's decision.
    paths.sort_unstable();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leave_out;
    use crate::utmp::{UTMP_PATH, list_utmp_user_processes};
    use crate::{WindowSize, pty};

    const SIZE: WindowSize = WindowSize {
        rows: 24,
        columns: 80,
    };

    /// A stand-in for the helper that writes down how it was called.
    fn stand_in(folder: &Path, status: u8) -> Utempter {
        let script = format!(
            "#!/bin/sh\necho \"$@\" $(readlink /proc/self/fd/0) >>{}/log\nexit {status}\n",
            folder.display()
        );
        let helper = folder.join("utempter");
        // Another process writes it: a program that is open for writing does not start, and a
        // child of another test may have inherited a descriptor of ours.
        let written = Command::new("/bin/sh")
            .args([
                "-c",
                "printf %s \"$1\" >\"$2\" && chmod 755 \"$2\"",
                "sh",
                &script,
            ])
            .arg(&helper)
            .status();
        assert!(written.unwrap().success());
        Utempter { helper }
    }

    #[test]
    fn the_helper_gets_the_master_and_the_host() {
        let folder = tempfile::tempdir().unwrap();
        let utempter = stand_in(folder.path(), 0);
        let (master, _slave) = pty::open(SIZE).unwrap();
        utempter.add(&master, "192.0.2.7 via mosh [4711]").unwrap();
        utempter.remove(&master).unwrap();
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(
            lines[0].starts_with("add 192.0.2.7 via mosh [4711] /dev/"),
            "{log}"
        );
        assert!(lines[0].ends_with("ptmx"), "{log}");
        assert!(lines[1].starts_with("del /dev/"), "{log}");
    }

    #[test]
    fn a_helper_that_fails_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let utempter = stand_in(folder.path(), 1);
        let (master, _slave) = pty::open(SIZE).unwrap();
        assert!(utempter.add(&master, "host").is_err());
        let missing = Utempter {
            helper: folder.path().join("nothing"),
        };
        assert_eq!(
            missing.add(&master, "h").unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn the_folders_of_all_processors_are_searched() {
        let libraries = tempfile::tempdir().unwrap();
        for processor in ["riscv64-linux-gnu", "aarch64-linux-gnu"] {
            std::fs::create_dir_all(libraries.path().join(processor).join("utempter")).unwrap();
        }
        let expected: Vec<PathBuf> = ["aarch64-linux-gnu", "riscv64-linux-gnu"]
            .map(|name| libraries.path().join(name).join("utempter/utempter"))
            .into();
        assert_eq!(beside_libraries(libraries.path()), expected);
        assert_eq!(
            beside_libraries(&libraries.path().join("nothing")),
            Vec::<PathBuf>::new()
        );
    }

    /// Gives this thread, and the processes it starts, a `/run` of its own with empty records.
    fn have_own_records() -> io::Result<()> {
        use rustix::thread::{UnshareFlags, unshare_unsafe};
        // SAFETY: descriptors stay shared; only the view of the file system is another.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS)? };
        // The helper may change the file as a member of the group that owns it everywhere.
        let script = "mount --make-rprivate / && mount -t tmpfs none /run &&
            install -g utmp -m 664 /dev/null /run/utmp";
        let status = Command::new("/bin/sh").args(["-c", script]).status()?;
        if status.success() {
            Ok(())
        } else {
            Err(io::Error::other("no mount of our own"))
        }
    }

    #[test]
    fn the_real_helper_records_and_removes_us() {
        // In a thread, because that alone gets a file system of its own.
        let real = std::thread::spawn(|| match (Utempter::find(), have_own_records()) {
            (Some(utempter), Ok(())) => {
                record_and_remove(&utempter);
                true
            }
            _ => false,
        });
        if !real.join().unwrap() {
            leave_out("utempter is not installed, or this is not root");
        }
    }

    fn record_and_remove(utempter: &Utempter) {
        let (master, _slave) = pty::open(SIZE).unwrap();
        let line = master
            .slave_name()
            .strip_prefix("/dev")
            .unwrap()
            .to_str()
            .unwrap();
        let recorded = || {
            let entries = list_utmp_user_processes(Path::new(UTMP_PATH)).unwrap();
            entries
                .into_iter()
                .find(|entry| entry.line == line)
                .map(|entry| entry.host)
        };
        utempter.add(&master, "mosh [4711]").unwrap();
        assert_eq!(recorded().as_deref(), Some("mosh [4711]"));
        utempter.add(&master, "192.0.2.7 via mosh [4711]").unwrap();
        assert_eq!(recorded().as_deref(), Some("192.0.2.7 via mosh [4711]"));
        utempter.remove(&master).unwrap();
        assert_eq!(recorded(), None);
    }
}

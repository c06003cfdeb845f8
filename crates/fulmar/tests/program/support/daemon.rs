//! A real sshd or dropbear on a machine of the tests.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::{DEADLINE, Machine, Person};
use fulmar_testbed::peers;

/// A daemon that takes connections. Dropping it ends it; its sessions end with the machine.
pub(crate) struct Daemon {
    child: Child,
    log: Arc<Log>,
    thread: Option<JoinHandle<()>>,
}

/// The output of a daemon.
#[derive(Default)]
struct Log {
    text: Mutex<String>,
    has_grown: Condvar,
}

/// The configuration that every sshd of the tests has behind that of the test: the first value of a
/// keyword counts.
const SSHD_CONFIG: &str = "HostKey /etc/ssh/host_key\nAddressFamily any\nPidFile none\n\
                           AcceptEnv LANG LC_*\nLogLevel VERBOSE\nUsePAM no\n";

impl Daemon {
    /// Starts an sshd at port 22 with these lines of configuration; `None` if the calling test is to
    /// return.
    #[track_caller]
    pub(crate) fn sshd(machine: &Machine, config: &str) -> Option<Self> {
        let sshd = peers::require("sshd")?;
        make_key(machine, Person::Root, "/etc/ssh/host_key")?;
        machine.write("/etc/ssh/sshd_config", format!("{config}\n{SSHD_CONFIG}"));
        let mut command = machine.command(Person::Root, sshd);
        command.args(["-D", "-e"]);
        Some(Self::start(machine, command, "Server listening on"))
    }

    /// Starts a dropbear at port 22; `None` if the calling test is to return.
    #[track_caller]
    pub(crate) fn dropbear(machine: &Machine) -> Option<Self> {
        let dropbear = peers::require("dropbear")?;
        let dropbearkey = peers::require("dropbearkey")?;
        let mut make_key = machine.command(Person::Root, dropbearkey);
        make_key.args(["-t", "ed25519", "-f", "/etc/dropbear/host_key"]);
        machine.output_of(&mut make_key);
        let mut command = machine.command(Person::Root, dropbear);
        command.args(["-F", "-E", "-r", "/etc/dropbear/host_key", "-p", "22"]);
        Some(Self::start(machine, command, "Not backgrounding"))
    }

    /// Starts a daemon and waits until it has said that it listens.
    fn start(machine: &Machine, mut command: Command, listening: &str) -> Self {
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = machine.inside(|| command.spawn().expect("the daemon starts"));
        let output = child.stderr.take().expect("a pipe");
        let log = Arc::new(Log::default());
        let thread = std::thread::spawn({
            let log = Arc::clone(&log);
            move || log.take(output)
        });
        let daemon = Self {
            child,
            log,
            thread: Some(thread),
        };
        daemon.wait_for(listening);
        daemon
    }

    /// Waits until the daemon's log holds `text`.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let log = self.log.lock();
        let (log, wait) = self
            .log
            .has_grown
            .wait_timeout_while(log, DEADLINE, |log| !log.contains(text))
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!wait.timed_out(), "waited for {text:?} in this log:\n{log}");
    }

    /// All that the daemon has said.
    pub(crate) fn log(&self) -> String {
        self.log.lock().clone()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the log of the daemon:\n{}", self.log());
        }
        // It may have ended with its machine.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // The thread ends with the last session's sshd, when the machine ends.
        drop(self.thread.take());
    }
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, String> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, output: ChildStderr) {
        for line in BufReader::new(output).split(b'\n') {
            let Ok(line) = line else { return };
            let mut text = self.lock();
            text.push_str(&String::from_utf8_lossy(&line));
            text.push('\n');
            self.has_grown.notify_all();
        }
    }
}

/// Makes a key pair for somebody; `None` if the calling test is to return.
#[track_caller]
pub(crate) fn make_key(machine: &Machine, person: Person, path: &str) -> Option<()> {
    let keygen = peers::require("ssh-keygen")?;
    let mut command = machine.command(person, keygen);
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "a test", "-f", path]);
    machine.output_of(&mut command);
    Some(())
}

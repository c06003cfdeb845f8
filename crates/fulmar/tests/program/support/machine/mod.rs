//! A machine of its own, as far as a program can tell: users, files, network, processes.
//!
//! It is made of Linux's namespaces, which takes some hundredths of a second and root. Nothing of it
//! is left when it is dropped, nor when the test is killed: its first process waits for the end of a
//! pipe that we hold, and when that process ends, the kernel ends all others.

mod bell;
mod people;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Instant;

use fulmar_platform::{Spawn, WindowSize};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::thread::{ThreadNameSpaceType, move_into_thread_name_spaces};

pub(crate) use bell::Bell;
pub(crate) use people::{PASSWORD, Person};

use super::terminal::Rules;
use super::{DEADLINE, PROMPT, Process, Terminal, write_program};
use fulmar_testbed::peers;

/// The script of the first process.
const INIT: &str = include_str!("init.sh");

/// The folders in which everybody on the machine looks for programs.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// A machine. Dropping it ends everything that runs on it.
pub(crate) struct Machine {
    name: &'static str,
    /// `unshare`, the parent of the machine's first process.
    parent: Child,
    /// The first process ends with it.
    _input: Option<ChildStdin>,
    /// The number of the first process on the real machine.
    init: u32,
    nsenter: PathBuf,
    ip: PathBuf,
    nft: PathBuf,
}

impl Machine {
    /// Starts a machine on which everybody has a POSIX shell, with no network but loopback; `None`
    /// if the calling test is to return, because this needs root, a kernel with namespaces and the programs that
    /// lay cables and close ways.
    #[track_caller]
    pub(crate) fn start(name: &'static str) -> Option<Self> {
        let unshare = peers::require("unshare")?;
        let nsenter = peers::require("nsenter")?;
        peers::require("mount")?;
        let ip = peers::require("ip")?;
        let nft = peers::require("nft")?;
        if !rustix::process::geteuid().is_root() {
            peers::leave_out("a machine of its own needs root");
            return None;
        }
        let mut parent = Command::new(unshare)
            .args(["--net", "--mount", "--pid", "--uts", "--ipc", "--fork"])
            .args(["--kill-child", "sh", "-c", INIT, "init"])
            .args([env!("CARGO_BIN_EXE_fulmar"), name])
            .env_clear()
            .env("PATH", PATH)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("unshare starts");
        let input = parent.stdin.take();
        let Some(init) = first_number(&mut parent) else {
            let output = parent.wait_with_output().expect("unshare ends");
            let why = String::from_utf8_lossy(&output.stderr);
            peers::leave_out(&format!("a machine of its own is refused: {}", why.trim()));
            return None;
        };
        let machine = Self {
            name,
            parent,
            _input: input,
            init,
            nsenter,
            ip,
            nft,
        };
        machine.furnish();
        Some(machine)
    }

    fn furnish(&self) {
        self.write("/etc/group", people::group());
        self.write("/etc/shadow", people::shadow());
        self.write("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n");
        let sources = "passwd: files\ngroup: files\nshadow: files\nhosts: files\n";
        self.write("/etc/nsswitch.conf", sources);
        // A name in /etc/hosts may have several addresses.
        self.write("/etc/host.conf", "multi on\n");
        self.set_login_shell("/bin/sh");
        for person in Person::ALL {
            self.folder(person, "");
            self.write_home(person, ".profile", format!("PS1='{PROMPT}'\n"));
        }
    }

    /// Gives everybody another login shell.
    pub(crate) fn set_login_shell(&self, shell: &str) {
        self.write("/etc/passwd", people::passwd(shell));
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the path of `ip` on the real machine.
    pub(crate) fn ip(&self) -> &Path {
        &self.ip
    }

    /// Returns the path of `nft` on the real machine.
    pub(crate) fn nft(&self) -> &Path {
        &self.nft
    }

    /// The number of the first process on the real machine.
    pub(crate) fn init(&self) -> u32 {
        self.init
    }

    /// Returns our path to a file of the machine.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{path}", self.init))
    }

    /// Writes a file that belongs to root.
    pub(crate) fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::write(&path, contents)
            .unwrap_or_else(|error| panic!("writing {}: {error}", path.display()));
    }

    /// Writes a program that everybody may run.
    pub(crate) fn write_program(&self, path: &str, contents: &str) {
        write_program(&self.path(path), contents);
    }

    /// Makes a folder in a home if it is not there; the empty name is the home.
    pub(crate) fn folder(&self, person: Person, name: &str) {
        let path = self.path(&format!("{}/{name}", person.home()));
        std::fs::create_dir_all(&path).expect("a folder in a home");
        set_mode(&path, 0o700);
        give(&path, person);
    }

    /// Writes a file in a home, for its owner alone.
    pub(crate) fn write_home(&self, person: Person, name: &str, contents: impl AsRef<[u8]>) {
        let path = format!("{}/{name}", person.home());
        self.write(&path, contents);
        set_mode(&self.path(&path), 0o600);
        give(&self.path(&path), person);
    }

    /// Writes a program in a home.
    pub(crate) fn write_home_program(&self, person: Person, name: &str, contents: &[u8]) {
        let path = self.path(&format!("{}/{name}", person.home()));
        write_program(&path, contents);
        give(&path, person);
    }

    /// Reads a file in a home; `None` if there is none.
    pub(crate) fn read_home(&self, person: Person, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(&format!("{}/{name}", person.home()))).ok()
    }

    /// Makes a program of the distribution, or ours, be no program.
    pub(crate) fn hide(&self, program: &Path) {
        let script = "mount --bind /dev/null \"$1\"";
        let mut command = self.command(Person::Root, "sh");
        command.args(["-c", script, "sh"]).arg(program);
        self.output_of(&mut command);
    }

    /// A program for somebody on this machine, without a terminal. It is to be started by
    /// [`inside`](Self::inside).
    pub(crate) fn command(&self, person: Person, program: impl Into<OsString>) -> Command {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new(&self.nsenter);
        command.args(self.entrance(person)).arg(program.into());
        command.env_clear().envs(environment(person));
        command.process_group(0).stdin(Stdio::null());
        command
    }

    /// A program for somebody at a terminal of this machine, for [`terminal`](Self::terminal).
    pub(crate) fn spawn(&self, person: Person, program: impl Into<OsString>) -> Spawn {
        let mut spawn = Spawn::new(&self.nsenter);
        for argument in self.entrance(person) {
            spawn.arg(argument);
        }
        spawn.arg(program);
        for (name, value) in environment(person) {
            spawn.env(name, value);
        }
        spawn
    }

    /// Starts a program at a terminal of this machine.
    pub(crate) fn terminal(&self, command: &Spawn, size: WindowSize, rules: Rules) -> Terminal {
        self.inside(|| Terminal::start(command, size, rules))
    }

    /// Starts a program and waits for its end; returns its standard output.
    #[track_caller]
    pub(crate) fn output_of(&self, command: &mut Command) -> String {
        let output = self.inside(|| command.output().expect("the program starts"));
        assert!(output.status.success(), "{command:?} said {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Does something in a thread whose children are processes of this machine.
    ///
    /// The thread itself has the machine's network and our files.
    pub(crate) fn inside<T: Send>(&self, act: impl FnOnce() -> T + Send) -> T {
        let enter_and_act = || {
            let init = i32::try_from(self.init).ok().and_then(Pid::from_raw);
            let init = init.expect("the number of a process");
            let init = pidfd_open(init, PidfdFlags::empty()).expect("the machine runs");
            let spaces = ThreadNameSpaceType::PROCESS_ID | ThreadNameSpaceType::NETWORK;
            let entered = move_into_thread_name_spaces(std::os::fd::AsFd::as_fd(&init), spaces);
            entered.expect("root may enter");
            act()
        };
        let done = std::thread::scope(|scope| scope.spawn(enter_and_act).join());
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// The options of nsenter that lead to somebody's home on this machine.
    ///
    /// nsenter does not enter the machine's space of processes: it would stay as a process between
    /// the program and us. A program is born there by [`inside`](Self::inside).
    fn entrance(&self, person: Person) -> Vec<String> {
        let (target, number) = (self.init, person.number());
        vec![
            format!("--target={target}"),
            "--mount".to_owned(),
            "--net".to_owned(),
            "--uts".to_owned(),
            "--ipc".to_owned(),
            format!("--setgid={number}"),
            format!("--setuid={number}"),
            format!("--wdns={}", person.home()),
            "--".to_owned(),
        ]
    }

    /// Everything that runs here but the first process, by number on the real machine, with its
    /// command line.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        let space = |pid: u32| std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
        let ours = space(self.init).expect("the machine runs");
        let numbers = std::fs::read_dir("/proc").expect("there is /proc");
        let numbers = numbers
            .filter_map(Result::ok)
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers
            .filter(|pid: &u32| *pid != self.init && space(*pid).as_ref() == Some(&ours))
            .filter_map(|pid| Some((pid, command_line(pid)?)))
            .collect()
    }

    /// Waits until nothing runs here but processes whose command line is `expected`.
    #[track_caller]
    pub(crate) fn wait_until_only(&self, expected: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let mut others = self.processes();
            others.retain(|(_, line)| !expected(line));
            let Some((pid, _)) = others.first() else {
                return;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            let has_ended = Process::of(*pid).is_none_or(|process| process.wait(left));
            assert!(has_ended, "on {} there still run {others:?}", self.name);
        }
    }

    /// The UDP sockets that are open here, as the kernel lists them.
    pub(crate) fn udp_sockets(&self) -> Vec<String> {
        let mut sockets = Vec::new();
        for table in ["udp", "udp6"] {
            let path = format!("/proc/{}/net/{table}", self.init);
            let text = std::fs::read_to_string(path).expect("the kernel lists sockets");
            sockets.extend(text.lines().skip(1).map(str::to_owned));
        }
        sockets
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(init) = Process::of(self.init) {
            init.signal(rustix::process::Signal::KILL);
        }
        // Its child has just been killed, on which it ends.
        let _ = self.parent.wait();
    }
}

/// Reads the line that says that the machine is ready.
fn first_number(parent: &mut Child) -> Option<u32> {
    let mut line = String::new();
    let output = parent.stdout.take().expect("a pipe");
    BufReader::new(output).read_line(&mut line).ok()?;
    line.trim().parse().ok()
}

fn environment(person: Person) -> Vec<(&'static str, String)> {
    vec![
        ("PATH", PATH.to_owned()),
        ("HOME", person.home()),
        ("USER", person.name().to_owned()),
        ("LOGNAME", person.name().to_owned()),
        ("SHELL", "/bin/sh".to_owned()),
        ("TERM", "xterm-256color".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("MOSH_PREDICTION_DISPLAY", "never".to_owned()),
    ]
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("root may");
}

fn give(path: &Path, person: Person) {
    chown(path, Some(person.number()), Some(person.number())).expect("root may");
}

/// The command line of a process that has not ended.
fn command_line(pid: u32) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let state = status
        .lines()
        .find_map(|line| line.strip_prefix("State:"))?;
    if state.trim_start().starts_with(['Z', 'X']) {
        return None;
    }
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut line = String::new();
    for word in words
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
    {
        let _ = write!(line, "{} ", String::from_utf8_lossy(word));
    }
    Some(line.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_its_own_users_files_and_processes() {
        let Some(machine) = Machine::start("far") else {
            return;
        };
        let mut command = machine.command(Person::Bob, "sh");
        command.args(["-c", "echo secret > mine; id -un; pwd; hostname; ls /home"]);
        let said = machine.output_of(&mut command);
        assert_eq!(said, "bob\n/home/bob\nfar\nalice\nbob\n");
        let mine = machine.read_home(Person::Bob, "mine");
        assert_eq!(mine.as_deref(), Some("secret\n"));
        assert!(!Path::new("/home/bob/mine").exists());
    }

    #[test]
    fn a_machine_takes_its_processes_along() {
        let Some(machine) = Machine::start("far") else {
            return;
        };
        let mut command = machine.command(Person::Bob, "sh");
        command.args(["-c", "sleep 1000 >/dev/null 2>&1 &"]);
        machine.output_of(&mut command);
        let running = machine.processes();
        let [(pid, line)] = running.as_slice() else {
            panic!("{running:?} run");
        };
        assert_eq!(line, "sleep 1000");
        let sleep = Process::of(*pid).expect("it runs");
        drop(machine);
        assert!(sleep.wait(DEADLINE));
    }
}

//! Tests that only a process with one thread can run: forking, the environment, stopping.
//!
//! The usual test runner starts a thread for each test, so this is a program of its own. Every case
//! has two halves: one runs in a process started for it, on a pty, with nothing beside it; the
//! other, here, looks at what became of that.

#![expect(
    clippy::unwrap_used,
    reason = "all of this is a test, which clippy cannot see"
)]

use fulmar_platform::process::{self, Forked};
use fulmar_platform::{
    Child, CoreLimit, Interest, Master, SecretBox, Signal, Spawn, Transfer, WindowSize,
    forbid_core_dumps, pty, signals, take_env_secret, wait_for,
};
use rustix::process::{DumpableBehavior, dumpable_behavior};
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

/// Names the case to the process that is to run it.
const CASE: &str = "FULMAR_TEST_CASE";
/// The line of a case that cannot run here.
#[cfg(all(feature = "lab", feature = "tests"))]
const NO_NAMESPACE: &str = "no process namespace is permitted";
/// Longer than any machine needs; reached only by a case that fails.
const DEADLINE: Duration = Duration::from_secs(30);

struct Case {
    name: &'static str,
    /// Runs alone in the process that is looked at.
    alone: fn(),
    /// Looks at it.
    watch: fn(Watched),
}

const CASES: &[Case] = &[
    Case {
        name: "a_stopped_group_goes_on_when_it_is_continued",
        alone: || {
            signals::stop_process_group().unwrap();
            std::process::exit(23);
        },
        watch: |mut watched| {
            watched.wait_until_stopped();
            watched.signal(rustix::process::Signal::CONT);
            assert_eq!(watched.end().0.code(), Some(23));
        },
    },
    Case {
        name: "a_secret_leaves_no_trace_in_the_environment",
        alone: || {
            say_and_wait("waiting");
            let secret = take_env_secret(SECRET.0).unwrap().unwrap();
            assert_eq!(secret.as_slice(), SECRET.1.as_bytes());
            assert_eq!(std::env::var_os(SECRET.0), None);
            assert!(std::env::var_os(CASE).is_some(), "other variables stay");
            assert!(take_env_secret(SECRET.0).unwrap().is_none());
            say_and_wait("taken");
        },
        watch: |mut watched| {
            watched.read_until("waiting");
            assert!(
                watched.environment().contains(SECRET.1),
                "or the test shows nothing"
            );
            watched.answer();
            watched.read_until("taken");
            let environment = watched.environment();
            assert!(!environment.contains(SECRET.1), "{environment:?}");
            let zeros = "\0".repeat(SECRET.1.len());
            assert!(
                environment.contains(&format!("{}={zeros}", SECRET.0)),
                "{environment:?}"
            );
            watched.answer();
            watched.end_well();
        },
    },
    Case {
        name: "a_forked_child_goes_on_in_the_background",
        alone: || {
            let (mut reader, mut writer) = std::io::pipe().unwrap();
            match process::fork().unwrap() {
                Forked::Child => {
                    drop(reader);
                    let facts = background_facts();
                    writer.write_all(facts.as_bytes()).unwrap();
                    std::process::exit(0);
                }
                Forked::Parent { child } => {
                    drop(writer);
                    let mut facts = String::new();
                    reader.read_to_string(&mut facts).unwrap();
                    assert_eq!(facts, format!("{child} {child} null null null"));
                    let signalled = process::send_signal(child, Signal::Continue);
                    assert!(signalled.is_ok(), "it is reaped: {signalled:?}");
                    println!("heard of the child");
                }
            }
        },
        watch: |watched| assert!(watched.end_well().contains("heard of the child")),
    },
    Case {
        name: "who_has_a_secret_does_not_fork",
        alone: || {
            let secret = SecretBox::new([7_u8; 16]);
            let refused = process::fork().unwrap_err();
            println!("{refused}");
            drop(secret);
            // Both halves end here.
            process::fork().unwrap();
        },
        watch: |watched| {
            assert!(
                watched
                    .end_well()
                    .contains("secrets are not to be inherited")
            )
        },
    },
    Case {
        name: "a_child_has_no_secret",
        alone: || {
            let mut secret = SecretBox::new([0_u8; 16]);
            secret.fill(7);
            let (mut reader, writer) = std::io::pipe().unwrap();
            // SAFETY: there is one thread, and the child reads bytes, for which zeros are as good as
            // any, makes one system call, and ends.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let _ = rustix::io::write(&writer, &*secret);
                // SAFETY: it ends the process at once.
                unsafe { libc::_exit(0) };
            }
            drop(writer);
            let mut found = Vec::new();
            reader.read_to_end(&mut found).unwrap();
            assert_eq!(found, [0; 16], "what the child has found");
            assert_eq!(*secret, [7; 16]);
        },
        watch: |watched| {
            watched.end_well();
        },
    },
    Case {
        name: "core_dumps_are_forbidden_here_and_not_in_the_shell",
        alone: || {
            if std::env::var_os(PROBE).is_some() {
                println!(
                    "{:?} {:?}",
                    CoreLimit::current().bytes(),
                    dumpable_behavior().unwrap()
                );
                return;
            }
            let before = forbid_core_dumps().unwrap();
            assert_eq!(CoreLimit::current().bytes(), Some(0));
            assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
            let (_, output) = Watched::start_with(&std::env::var(CASE).unwrap(), |command| {
                command.env(PROBE, "1").core_limit(before);
            })
            .end();
            assert_eq!(output, format!("{:?} Dumpable\n", before.bytes()));
            before.restore().unwrap();
            assert_eq!(CoreLimit::current(), before);
        },
        watch: |watched| {
            watched.end_well();
        },
    },
    #[cfg(all(feature = "lab", feature = "tests"))]
    Case {
        name: "who_is_in_a_pid_namespace_ends_with_the_status_of_the_program",
        alone: || {
            enter_or_end();
            std::process::exit(23);
        },
        watch: |watched| {
            let (status, output) = watched.end();
            assert!(
                status.code() == Some(23) || is_left_out(&output),
                "{status}: {output}"
            );
        },
    },
    #[cfg(all(feature = "lab", feature = "tests"))]
    Case {
        name: "nothing_in_a_pid_namespace_outlives_a_kill",
        alone: || {
            let fifo = fifo_of(std::process::id());
            let made = std::process::Command::new("mkfifo").arg(&fifo).status();
            assert!(made.unwrap().success());
            enter_or_end();
            println!("inside");
            // Nobody here minds that the terminal hangs up, and the first sleeper is an orphan.
            process::leave_session().unwrap();
            let script = "(setsid sleep 1000 > $0 &) ; exec sleep 1000";
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", script]).arg(fifo).status().unwrap();
        },
        watch: |mut watched| {
            watched.read_until("\n");
            if is_left_out(&watched.output) {
                return;
            }
            let fifo = fifo_of(watched.child.pid());
            let sleeper = std::fs::File::open(&fifo).unwrap();
            watched.signal(rustix::process::Signal::KILL);
            // The sleeper holds the other end, which is closed when it is gone.
            let readiness = wait_for(&sleeper, Interest::Nothing, Some(DEADLINE)).unwrap();
            let is_gone = readiness.is_hung_up();
            std::fs::remove_file(fifo).unwrap();
            assert!(is_gone, "a process has outlived its namespace");
            watched.end();
        },
    },
    #[cfg(all(feature = "lab", feature = "tests"))]
    Case {
        name: "only_what_is_in_a_pid_namespace_is_seen_inside",
        alone: || {
            enter_or_end();
            let numbers = std::fs::read_dir("/proc").unwrap().filter(|entry| {
                let name = entry.as_ref().unwrap().file_name();
                name.to_string_lossy().parse::<u32>().is_ok()
            });
            println!(
                "{} processes, this is {}",
                numbers.count(),
                std::process::id()
            );
        },
        watch: |watched| {
            let output = watched.end_well();
            let expected = "2 processes, this is 2";
            assert!(
                output.contains(expected) || is_left_out(&output),
                "{output}"
            );
        },
    },
];

/// A variable that every case is started with.
const SECRET: (&str, &str) = ("FULMAR_TEST_SECRET", "correct-horse-battery");
/// Asks a case that starts itself once more to say what it finds.
const PROBE: &str = "FULMAR_TEST_PROBE";

/// A name that process and watcher agree on.
#[cfg(all(feature = "lab", feature = "tests"))]
fn fifo_of(pid: u32) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("fulmar-pid-namespace-{pid}"))
}

/// Enters a process namespace, or ends this process.
#[cfg(all(feature = "lab", feature = "tests"))]
fn enter_or_end() {
    if fulmar_platform::lab::enter_pid_namespace().is_err() {
        println!("{NO_NAMESPACE}");
        std::process::exit(0);
    }
}

/// Tells whether a case could not run here, and puts it on the list of those left out.
#[cfg(all(feature = "lab", feature = "tests"))]
fn is_left_out(output: &str) -> bool {
    let is_left_out = output.contains(NO_NAMESPACE);
    if is_left_out {
        fulmar_platform::leave_out(NO_NAMESPACE);
    }
    is_left_out
}

/// Tells the watching half how far we are, and waits for its answer.
fn say_and_wait(what: &str) {
    println!("{what}");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// Goes to the background and describes it: process, session, descriptors 0 to 2.
fn background_facts() -> String {
    process::leave_session().unwrap();
    process::redirect_stdio_to_null().unwrap();
    let session = rustix::process::getsid(None).unwrap();
    let name = |descriptor| std::fs::read_link(format!("/proc/self/fd/{descriptor}")).unwrap();
    let [input, output, errors] = [0, 1, 2].map(|descriptor| {
        name(descriptor)
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned()
    });
    format!("{} {session} {input} {output} {errors}", std::process::id())
}

/// The process that runs the first half of a case.
struct Watched {
    child: Child,
    master: Master,
    output: String,
}

impl Watched {
    fn start(name: &str) -> Self {
        Self::start_with(name, |_| ())
    }

    fn start_with(name: &str, add: impl FnOnce(&mut Spawn)) -> Self {
        let (master, slave) = pty::open(WindowSize {
            rows: 24,
            columns: 80,
        })
        .unwrap();
        let mut command = Spawn::new(std::env::current_exe().unwrap());
        command
            .env("PATH", "/usr/bin:/bin")
            .env(CASE, name)
            .env(SECRET.0, SECRET.1);
        add(&mut command);
        let child = slave.spawn(&command).unwrap();
        Self {
            child,
            master,
            output: String::new(),
        }
    }

    fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_raw(self.child.pid() as i32).unwrap()
    }

    fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }

    fn wait_until_stopped(&mut self) {
        use rustix::process::{WaitOptions, waitpid};
        let (_, status) = waitpid(Some(self.pid()), WaitOptions::UNTRACED)
            .unwrap()
            .unwrap();
        assert!(status.stopped(), "{status:?}");
    }

    /// Reads on; false at the end of the output.
    fn read_more(&mut self) -> bool {
        let readiness = wait_for(&self.master, Interest::Read, Some(DEADLINE)).unwrap();
        assert!(readiness.is_ready(), "nothing came: {}", self.output);
        let mut buffer = [0; 4096];
        match self.master.read(&mut buffer).unwrap() {
            Transfer::Bytes(length) => {
                self.output
                    .push_str(std::str::from_utf8(&buffer[..length]).unwrap());
                true
            }
            Transfer::WouldBlock => true,
            Transfer::Closed => false,
        }
    }

    fn read_until(&mut self, text: &str) {
        while !self.output.contains(text) {
            assert!(
                self.read_more(),
                "the end came before {text:?}: {}",
                self.output
            );
        }
    }

    fn answer(&self) {
        assert_eq!(self.master.write(b"\n").unwrap(), Transfer::Bytes(1));
    }

    /// The environment as other processes see it.
    fn environment(&self) -> String {
        let bytes = std::fs::read(format!("/proc/{}/environ", self.child.pid())).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// Returns how the process ended, and what it wrote.
    fn end(mut self) -> (ExitStatus, String) {
        while self.read_more() {}
        (
            self.child.wait().unwrap(),
            self.output.replace("\r\n", "\n"),
        )
    }

    fn end_well(self) -> String {
        let (status, output) = self.end();
        assert!(status.success(), "{status}: {output}");
        output
    }
}

fn main() -> ExitCode {
    if let Ok(name) = std::env::var(CASE) {
        let case = CASES
            .iter()
            .find(|case| case.name == name)
            .expect("the case is in the list");
        (case.alone)();
        return ExitCode::SUCCESS;
    }
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let is_wanted = |case: &&Case| {
        filter
            .as_deref()
            .is_none_or(|part| case.name.contains(part))
    };
    let (mut passed, mut failed) = (0, 0);
    for case in CASES.iter().filter(is_wanted) {
        let run = AssertUnwindSafe(|| (case.watch)(Watched::start(case.name)));
        let verdict = if catch_unwind(run).is_ok() {
            passed += 1;
            "ok"
        } else {
            failed += 1;
            "FAILED"
        };
        println!("test {} ... {verdict}", case.name);
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {verdict}. {passed} passed; {failed} failed; 0 ignored");
    ExitCode::from(u8::from(failed > 0))
}

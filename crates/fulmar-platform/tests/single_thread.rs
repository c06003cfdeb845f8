//! What only a process with one thread can do or show: forking, the environment, stopping.
//!
//! The usual test runner starts a thread for each test, so this is a program of its own. Every case
//! has two halves: one runs in a process started for it, on a pty, with nothing beside it; the
//! other, here, looks at what became of that.

#![expect(
    clippy::unwrap_used,
    reason = "all of this is a test, which clippy cannot see"
)]

use fulmar_platform::{Child, Master, Spawn, Transfer, WindowSize, pty};
use fulmar_platform::{Interest, PollList, signals};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

/// Names the case to the process that is to run it.
const CASE: &str = "FULMAR_TEST_CASE";
/// Longer than any machine needs; reached only by a case that fails.
const DEADLINE: Duration = Duration::from_secs(30);

struct Case {
    name: &'static str,
    /// Runs alone in the process that is looked at.
    alone: fn(),
    /// Looks at it.
    watch: fn(Watched),
}

const CASES: &[Case] = &[Case {
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
}];

/// The process that runs the first half of a case.
struct Watched {
    child: Child,
    master: Master,
    output: String,
}

impl Watched {
    fn start(name: &str) -> Self {
        let (master, slave) = pty::open(WindowSize {
            rows: 24,
            columns: 80,
        })
        .unwrap();
        let mut command = Spawn::new(std::env::current_exe().unwrap());
        command.env("PATH", "/usr/bin:/bin").env(CASE, name);
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
        let mut list = PollList::new();
        list.add(&self.master, Interest::Read);
        assert_eq!(
            list.wait(Some(DEADLINE)).unwrap(),
            1,
            "nothing came: {}",
            self.output
        );
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

    /// Returns how the process ended, and what it wrote.
    fn end(mut self) -> (ExitStatus, String) {
        while self.read_more() {}
        (
            self.child.wait().unwrap(),
            self.output.replace("\r\n", "\n"),
        )
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

//! A user at a terminal: a program on a pty, what it shows, and what is typed.

use std::fmt::Write as _;
use std::process::ExitStatus;
use std::time::Instant;

use fulmar_platform::{Master, Poller, Spawn, WindowSize, pty};
use fulmar_terminal::Checker;
use fulmar_testbed::PtyProgram;
use rustix::termios::{Termios, tcgetattr};
use vt100::Screen;

use super::judge::{self, drawn};
use super::{DEADLINE, Modes, PROMPT, Process};

/// The bytes of the last output that a failure shows.
const LAST_BYTES: usize = 600;

/// The rules for what may be written to the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// Anything goes: a shell, a program of a distribution.
    None,
    /// Only what our client may write (docs/threat-model.md §8). Every byte is checked.
    Client,
}

/// A program on a terminal of its own. Dropping it ends the program.
pub(crate) struct Terminal {
    program: PtyProgram,
    display: Display,
    /// The settings before the program ran.
    settings_before: String,
}

/// The user's end: what was shown.
struct Display {
    judge: vt100::Parser,
    /// All that was ever written to the terminal.
    shown: Vec<u8>,
    modes: Modes,
    checker: Option<Checker>,
}

impl Terminal {
    /// Starts a program on a terminal of its own. Where no size is given, what is drawn is judged
    /// on a usual one.
    pub(crate) fn start(command: &Spawn, size: WindowSize, rules: Rules) -> Self {
        let pty = pty::open(size).expect("a pty");
        let settings_before = settings(&pty.0);
        let program = PtyProgram::start_on(pty, command).expect("the program starts");
        let (rows, columns) = match (size.rows, size.columns) {
            (0, _) | (_, 0) => (24, 80),
            given => given,
        };
        Self {
            settings_before,
            program,
            display: Display {
                judge: vt100::Parser::new(rows, columns, 0),
                shown: Vec::new(),
                modes: Modes::default(),
                checker: (rules == Rules::Client).then(Checker::default),
            },
        }
    }

    /// The number of the program's process.
    pub(crate) fn pid(&self) -> u32 {
        self.program.pid()
    }

    pub(crate) fn screen(&self) -> &Screen {
        self.display.judge.screen()
    }

    /// All that was ever written to the terminal.
    pub(crate) fn shown(&self) -> &[u8] {
        &self.display.shown
    }

    /// Types `keys`, in the background of whatever is waited for next.
    pub(crate) fn type_keys(&mut self, keys: impl AsRef<[u8]>) {
        self.program.type_keys(keys);
    }

    /// Types a few keys at once, and waits for nothing.
    pub(crate) fn type_now(&mut self, keys: impl AsRef<[u8]>) {
        self.type_keys(keys);
        while self.program.has_keys() {
            self.transfer();
        }
    }

    /// Changes the size, as a user who pulls at the window.
    pub(crate) fn resize(&mut self, size: WindowSize) {
        let screen = self.display.judge.screen_mut();
        screen.set_size(size.rows, size.columns);
        self.program.resize(size).expect("the pty has a size");
    }

    /// Waits until `is_there` holds of the screen; `what` says in a failure what was awaited.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, what: &str, is_there: impl Fn(&Screen) -> bool) {
        self.wait_while_open(what, |terminal| is_there(terminal.screen()));
    }

    /// Waits until `text` stands in a row of the screen.
    #[track_caller]
    pub(crate) fn wait_for_text(&mut self, text: &str) {
        self.wait_for(&format!("{text:?}"), |screen| judge::holds(screen, text));
    }

    /// Waits until the shell of the tests waits for a command, and all before it is drawn.
    #[track_caller]
    pub(crate) fn wait_for_prompt(&mut self) {
        self.wait_for_last_row(PROMPT.trim_end());
    }

    /// Waits until the cursor is one blank behind `text`, which is all there is in its row.
    #[track_caller]
    pub(crate) fn wait_for_last_row(&mut self, text: &str) {
        self.wait_for(&format!("{text:?} where the cursor is"), |screen| {
            let (row, column) = screen.cursor_position();
            judge::row_text(screen, row) == text && usize::from(column) == text.len() + 1
        });
    }

    /// Waits until `bytes` were written to the terminal after the first `from` bytes.
    #[track_caller]
    pub(crate) fn wait_for_bytes(&mut self, from: usize, bytes: &[u8]) {
        let what = format!("the bytes {:?}", String::from_utf8_lossy(bytes));
        self.wait_while_open(&what, |terminal| {
            let new = terminal.shown().get(from..).unwrap_or_default();
            new.windows(bytes.len()).any(|window| window == bytes)
        });
    }

    #[track_caller]
    fn wait_while_open(&mut self, what: &str, is_there: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        while !is_there(self) {
            let may_come = !self.program.is_closed() && Instant::now() < deadline;
            assert!(may_come, "{}", self.failure(what));
            self.turn(deadline);
        }
    }

    /// Waits until the program has ended and everything that it wrote is read.
    #[track_caller]
    pub(crate) fn wait_for_end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + DEADLINE;
        while !self.program.is_closed() {
            let what = "the end of the program";
            assert!(Instant::now() < deadline, "{}", self.failure(what));
            self.turn(deadline);
        }
        if let Some(checker) = self.display.checker.take() {
            checker
                .finish()
                .unwrap_or_else(|violation| panic!("{violation}"));
        }
        self.program.wait().expect("the program is our child")
    }

    /// Closes the window, and returns the program that has to live without it.
    pub(crate) fn close_window(&mut self) -> Process {
        let program = Process::of(self.pid()).expect("nobody has waited for the program");
        self.program.close_window().expect("another pty");
        program
    }

    /// Fails unless the terminal is as it was before the program started: settings, modes, screen.
    #[track_caller]
    pub(crate) fn expect_restored(&mut self) {
        assert_eq!(
            settings(self.program.master()),
            self.settings_before,
            "the terminal's settings"
        );
        let left = self.display.modes.left_behind();
        assert!(left.is_empty(), "{}", self.failure(&format!("{left:?}")));
        let is_alternate = self.screen().alternate_screen();
        assert!(!is_alternate, "{}", self.failure("the primary screen"));
    }

    /// Reads and types once, waiting until `deadline` at most for something to do.
    fn turn(&mut self, deadline: Instant) {
        let left = deadline.saturating_duration_since(Instant::now());
        let bytes = self.program.turn(Some(left)).expect("the pty works");
        self.display.show(bytes);
    }

    /// Reads and types what is possible without waiting.
    fn transfer(&mut self) {
        let bytes = self.program.transfer().expect("the pty works");
        self.display.show(bytes);
    }

    /// Returns what a person wants to see of a wait that was in vain.
    fn failure(&mut self, what: &str) -> String {
        let state = match self.program.try_wait() {
            Ok(Some(status)) => format!("the program has ended, {status}"),
            _ if self.program.is_closed() => "the program has let go of the terminal".to_owned(),
            _ => "it did not come".to_owned(),
        };
        format!("waited for {what}; {state}\n{}", self.display.drawn())
    }
}

impl Display {
    fn show(&mut self, bytes: &[u8]) {
        self.shown.extend_from_slice(bytes);
        self.judge.process(bytes);
        self.modes.follow(bytes);
        let verdict = self.checker.as_mut().map(|checker| checker.check(bytes));
        if let Some(Err(violation)) = verdict {
            panic!("our client wrote {violation}\n{}", self.drawn());
        }
    }

    /// Returns the screen, and what was written last.
    fn drawn(&self) -> String {
        let mut report = drawn(self.judge.screen());
        let last = &self.shown[self.shown.len().saturating_sub(LAST_BYTES)..];
        let _ = writeln!(report, "last bytes: {:?}", String::from_utf8_lossy(last));
        report
    }
}

/// Waits until both terminals show the same and `is_there` holds of it.
#[track_caller]
pub(crate) fn wait_until_same(
    plain: &mut Terminal,
    session: &mut Terminal,
    what: &str,
    is_there: impl Fn(&Screen) -> bool,
) {
    let deadline = Instant::now() + DEADLINE;
    let mut poller = Poller::new();
    loop {
        let difference = judge::difference(plain.screen(), session.screen());
        if difference.is_none() && is_there(plain.screen()) {
            return;
        }
        if Instant::now() >= deadline || plain.program.is_closed() || session.program.is_closed() {
            let [plain, session] = [plain, session].map(|terminal| terminal.failure(what));
            let difference = difference.unwrap_or_default();
            panic!("{difference}in a plain terminal:\n{plain}in the session:\n{session}");
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let waited = poller.wait(Some(left), |registry| {
            for terminal in [&*plain, &*session] {
                let program = &terminal.program;
                registry.add((), program.master(), program.interest());
            }
        });
        waited.expect("poll works");
        plain.transfer();
        session.transfer();
    }
}

/// The settings of a terminal, in a form that can be compared and shown.
fn settings(master: &Master) -> String {
    let settings: Termios = tcgetattr(master).expect("Linux has the settings on the master");
    format!("{settings:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: WindowSize = WindowSize {
        rows: 5,
        columns: 20,
    };

    fn shell(script: &str, rules: Rules) -> Terminal {
        let mut command = Spawn::new("/bin/sh");
        command.arg("-c").arg(script).env("PATH", "/usr/bin:/bin");
        Terminal::start(&command, SIZE, rules)
    }

    #[test]
    fn what_is_typed_reaches_the_program_and_its_answer_the_screen() {
        let mut terminal = shell("read line; echo got $line; exit 3", Rules::None);
        terminal.type_keys("key\n");
        terminal.wait_for_text("got key");
        assert_eq!(terminal.wait_for_end().code(), Some(3));
        terminal.expect_restored();
    }

    #[test]
    fn a_resize_reaches_program_and_screen() {
        let mut terminal = shell("read line; stty size; read line", Rules::None);
        terminal.resize(WindowSize {
            rows: 7,
            columns: 31,
        });
        terminal.type_keys("\n");
        terminal.wait_for_text("7 31");
        assert_eq!(terminal.screen().size(), (7, 31));
    }

    #[test]
    #[should_panic(expected = "waited for \"hello\"; the program has ")]
    fn a_program_that_ends_is_not_waited_for() {
        shell("echo bye", Rules::None).wait_for_text("hello");
    }

    #[test]
    #[should_panic(expected = "a control sequence that is not in the table")]
    fn a_client_that_makes_the_terminal_answer_fails_its_test() {
        shell("printf '\\033[6n'", Rules::Client).wait_for_end();
    }

    #[test]
    #[should_panic(expected = "the terminal's settings")]
    fn settings_that_are_not_put_back_fail_the_test() {
        let mut terminal = shell("stty -echo", Rules::None);
        terminal.wait_for_end();
        terminal.expect_restored();
    }

    #[test]
    #[should_panic(expected = "mode 2004 is on")]
    fn modes_that_are_not_put_back_fail_the_test() {
        let mut terminal = shell("printf '\\033[?2004h'", Rules::None);
        terminal.wait_for_end();
        terminal.expect_restored();
    }
}

//! Shows a copy to its user: a line that is drawn anew, lines that stay, or JSON.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use fulmar_base::Time;
use fulmar_copy::{
    CopyEnd, CopyEvent, EntryError, EntryErrorKind, EntryKind, EntryVerdict, Occupant, Progress,
    RelativePath, Totals,
};
use fulmar_login::without_spoofing;
use fulmar_platform::tty::is_terminal;
use fulmar_platform::{Transfer, Tty};
use unicode_width::UnicodeWidthStr as _;

use super::arguments::CopyOptions;
use super::entry_error_text::entry_error_text;
use super::json;
use super::plan::{Job, JobKind};
use super::printer::Printer;
use super::progress::{DryFiles, Meter, PathState, Snapshot, dry_summary, line, size, summary};
use crate::environment;
use crate::report::{self, escaped, in_plain_words};
use crate::steps::Steps;

/// The time between two drawings of the line.
///
/// Chosen by eye.
const DRAWN_EACH: Duration = Duration::from_millis(200);

/// The time between two reports of progress in JSON.
///
/// Chosen by eye.
const TOLD_EACH: Duration = Duration::from_secs(1);

/// The characters that a terminal shows for the key that interrupts us.
const TYPED_SIGNAL: &str = "^C";

/// Erases from the cursor to the end of the screen: ED of ECMA-48.
const ERASE_BELOW: &str = "\x1b[J";

/// The width of a terminal that does not tell it.
const COLUMNS: u16 = 80;

/// The most bytes that wait for a terminal that was stopped. More is not shown, except for errors: those have sixteen times as much.
///
/// Chosen by eye: what a pipe of Linux holds.
const WAITING_BYTES_MAX: usize = 64 * 1024;
const WRONG_BYTES_MAX: usize = 16 * WAITING_BYTES_MAX;

/// Errors of one kind at one end that a terminal shows in full; of the others it shows the number.
///
/// Chosen by eye: hundreds would push everything else off the screen.
const SAME_ERRORS_MAX: u64 = 10;

/// The most folders that were not made of which it is remembered. Chosen by eye: of the others each error is told, or
/// counted.
const FAILED_FOLDERS_MAX: usize = 100;

/// The name that the user knows it by.
const STANDARD_INPUT: &str = "standard input";

/// The form in which the user is told.
enum Style {
    /// A line at the bottom of a terminal, and one above it for each file.
    Terminal(Tty),
    /// Objects on standard output.
    Json(Printer),
    /// On standard output a line for each file that would be copied.
    Lines(Printer),
    /// Nothing but what is wrong.
    Silent,
}

/// Returns what is said behind a file that a dry run has looked at.
fn occupant_text(occupant: Occupant) -> &'static str {
    match occupant {
        Occupant::Nothing => "",
        Occupant::Another => "  replaces the file there",
        Occupant::Same => "  there already, with the same size and time",
        Occupant::Partial => "  resumes an interrupted copy",
    }
}

/// Returns the error that an event tells of, and the end that has it.
fn entry_error_of(event: &CopyEvent) -> Option<(CopyEnd, &EntryError)> {
    match event {
        CopyEvent::Settled {
            verdict: EntryVerdict::Failed { end, error },
            ..
        } => Some((*end, error)),
        CopyEvent::EntryError(error) => Some((CopyEnd::Source, error)),
        CopyEvent::Settled { .. } | CopyEvent::Answered(_) => None,
    }
}

/// Tells if a path leads to something in a folder.
fn is_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.starts_with(b"/"))
}

/// Tells whether what is written there is kept in a file and shown by nobody.
fn is_regular_file(stream: impl AsFd) -> bool {
    let copy = stream.as_fd().try_clone_to_owned().map(File::from);
    let metadata = copy.and_then(|file| file.metadata());
    metadata.is_ok_and(|metadata| metadata.is_file())
}

fn is_nothing(totals: &Totals) -> bool {
    totals.files + totals.folders + totals.links == 0
}

/// Tells the user.
pub(super) struct Reporter {
    style: Style,
    meter: Meter,
    next: Option<Time>,
    /// The number of columns that the line on the terminal fills.
    drawn: usize,
    /// True if the terminal understands no control sequences.
    is_plain: bool,
    waiting: VecDeque<u8>,
    is_quiet: bool,
    /// True if errors stand on a terminal, which is not for all of them.
    shows_errors: bool,
    is_dry_run: bool,
    /// The files that a dry run has found.
    dry_files: DryFiles,
    /// The time since which bytes are carried.
    connected: Option<Time>,
    /// The part that the other machine has in the copy, and its name.
    remote_end: Option<(CopyEnd, String)>,
    /// The part that a standard stream of ours has in it, if one has.
    stream_end: Option<CopyEnd>,
    /// The folders that were not made: everything in them fails as they did.
    failed_folders: Vec<RelativePath>,
    /// The number of errors in them, which are not told one by one.
    in_failed_folders: u64,
    /// Bytes that were there from an earlier try.
    resumed: u64,
    /// The number of errors of each kind at each end of the copy that runs.
    errors: Vec<(CopyEnd, EntryErrorKind, u64)>,
}

impl Reporter {
    /// Returns one that tells in JSON, or on the terminal that standard error is, if it is one and the
    /// user wants that. If all that the user wants to know is what would be copied, that is told on standard output, unless it and standard
    /// error are both a terminal. If what is copied may be shown on that terminal, by itself or by a program behind a pipe, only errors are told.
    pub(super) fn new(wishes: &CopyOptions, jobs: &[Job], now: Time) -> Reporter {
        let is_quiet = wishes.quiet;
        let to_stdout = |job: &Job| matches!(job.kind, JobKind::DownloadStdout { .. });
        let may_be_shown = jobs.iter().any(to_stdout) && !is_regular_file(io::stdout());
        let style = if wishes.json {
            Style::Json(Printer::new())
        } else if is_quiet || may_be_shown {
            Style::Silent
        } else if wishes.dry_run && !(is_terminal(io::stdout()) && is_terminal(io::stderr())) {
            // Its list is what was asked for, and goes where the output goes.
            Style::Lines(Printer::new())
        } else if is_terminal(io::stderr()) {
            Tty::open(io::stderr()).map_or(Style::Silent, Style::Terminal)
        } else {
            Style::Silent
        };
        let is_told = matches!(style, Style::Terminal(_) | Style::Json(_));
        let shows_errors = match style {
            Style::Terminal(_) => true,
            Style::Lines(_) => is_terminal(io::stderr()),
            Style::Json(_) | Style::Silent => false,
        };
        Reporter {
            style,
            meter: Meter::default(),
            next: is_told.then_some(now),
            drawn: 0,
            is_plain: matches!(
                environment::current().get_text("TERM"),
                None | Some("" | "dumb")
            ),
            waiting: VecDeque::new(),
            is_quiet,
            shows_errors,
            is_dry_run: wishes.dry_run,
            dry_files: DryFiles::default(),
            connected: None,
            remote_end: None,
            stream_end: None,
            failed_folders: Vec::new(),
            in_failed_folders: 0,
            resumed: 0,
            errors: Vec::new(),
        }
    }

    /// A copy of that kind begins.
    pub(super) fn begin(&mut self, kind: &JobKind) {
        self.stream_end = match kind {
            JobKind::UploadStdin { .. } => Some(CopyEnd::Source),
            JobKind::DownloadStdout { .. } => Some(CopyEnd::Target),
            JobKind::Upload { .. } | JobKind::Download { .. } => None,
        };
        self.failed_folders.clear();
    }

    /// Returns when it is to be told of progress again.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.next
    }

    /// The connection carries bytes from now on.
    pub(super) fn connected(
        &mut self,
        now: Time,
        host: &str,
        path: &PathState,
        address: Option<SocketAddr>,
    ) {
        self.connected.get_or_insert(now);
        if let Style::Json(printer) = &mut self.style {
            printer.print(&json::connected(host, path, address));
        }
    }

    /// Takes note of the part that the other machine has in the copy that begins.
    pub(super) fn remote_end_is(&mut self, end: CopyEnd, host: &str) {
        self.remote_end = Some((end, host.to_owned()));
    }

    /// Draws the line, if it is time to.
    pub(super) fn progress(&mut self, now: Time, snapshot: &Snapshot) {
        if self.next.is_none_or(|next| now < next) {
            return;
        }
        self.meter.note(now, snapshot.progress.bytes_carried);
        let rate = self.meter.rate();
        match &mut self.style {
            Style::Terminal(tty) => {
                let columns = tty.size().map_or(COLUMNS, |size| size.columns);
                // The last column would make some terminals begin a new line.
                let columns = usize::from(columns).saturating_sub(1);
                let text = line(snapshot, rate, columns);
                self.draw(&text);
                self.next = Some(now + DRAWN_EACH);
            }
            Style::Json(printer) => {
                // Who is behind is not told how far it was.
                if printer.is_idle() {
                    printer.print(&json::progress(&snapshot.progress, rate));
                }
                self.next = Some(now + TOLD_EACH);
            }
            Style::Lines(_) | Style::Silent => self.next = None,
        }
    }

    /// Has the line be drawn anew: the window has another size, or we were stopped.
    pub(super) fn redraw(&mut self, now: Time) {
        if let Style::Terminal(_) = self.style {
            self.next = Some(now);
        }
    }

    /// Tells what has become of one thing.
    pub(super) fn event(&mut self, event: &CopyEvent) {
        self.dry_files.count(event);
        match (&mut self.style, event) {
            (Style::Json(printer), _) => {
                if let Some(line) = json::event(event) {
                    printer.print(&line);
                }
            }
            (
                Style::Terminal(_) | Style::Lines(_),
                CopyEvent::Settled {
                    path,
                    kind,
                    verdict: EntryVerdict::Whole,
                },
            ) => self.stay(path.as_bytes(), kind, ""),
            (
                Style::Terminal(_) | Style::Lines(_),
                CopyEvent::Settled {
                    path,
                    kind,
                    verdict: EntryVerdict::Looked(occupant),
                },
            ) => self.stay(path.as_bytes(), kind, occupant_text(*occupant)),
            _ => {}
        }
        if self.is_in_failed_folder(event) || self.is_one_of_many(event) {
            return;
        }
        if let Some(trouble) = self.trouble_text(event) {
            self.complain(&trouble);
        }
    }

    /// Returns true for an error below a folder that was not made, of which the user knows by then.
    fn is_in_failed_folder(&mut self, event: &CopyEvent) -> bool {
        let CopyEvent::Settled {
            path,
            kind,
            verdict:
                EntryVerdict::Failed {
                    end: CopyEnd::Target,
                    ..
                },
        } = event
        else {
            return false;
        };
        let mut failed = self.failed_folders.iter();
        let is_known = failed.any(|folder| is_below(path.as_bytes(), folder.as_bytes()));
        if !is_known && *kind == EntryKind::Folder && self.failed_folders.len() < FAILED_FOLDERS_MAX
        {
            self.failed_folders.push(path.clone());
        }
        self.in_failed_folders += u64::from(is_known);
        is_known
    }

    /// Counts an error, and returns true if a terminal has shown enough of its kind.
    fn is_one_of_many(&mut self, event: &CopyEvent) -> bool {
        let Some((end, error)) = entry_error_of(event) else {
            return false;
        };
        if !self.shows_errors {
            return false;
        }
        let mut known = self.errors.iter_mut();
        match known.find(|(of, kind, _)| (*of, *kind) == (end, error.kind)) {
            Some((.., count)) => {
                *count += 1;
                *count > SAME_ERRORS_MAX
            }
            None => {
                self.errors.push((end, error.kind, 1));
                false
            }
        }
    }

    /// Tells how many errors were not shown.
    fn tell_the_others(&mut self) {
        match std::mem::take(&mut self.in_failed_folders) {
            0 => {}
            1 => self.complain("cannot write 1 more, in a folder that could not be made"),
            more => self.complain(&format!(
                "cannot write {more} more, in folders that could not be made"
            )),
        }
        for (end, kind, count) in std::mem::take(&mut self.errors) {
            let others = count.saturating_sub(SAME_ERRORS_MAX);
            if others > 0 {
                let tried = if end == CopyEnd::Source {
                    "read"
                } else {
                    "write"
                };
                self.complain(&format!(
                    "cannot {tried} {others} more, for the same reason: {kind}"
                ));
            }
        }
    }

    /// One line for each file, as scp has it, with a remark.
    fn stay(&mut self, path: &[u8], kind: &EntryKind, remark: &str) {
        if let EntryKind::File { .. } = kind {
            let path = match self.stream_end {
                Some(CopyEnd::Source) => STANDARD_INPUT.to_owned(),
                _ => escaped(&String::from_utf8_lossy(path)),
            };
            let text = format!("{path}  {}{remark}\n", size(kind.size()));
            // The other end may have chosen the name.
            match &mut self.style {
                Style::Lines(printer) if is_terminal(io::stdout()) => {
                    printer.print(&without_spoofing(&text));
                }
                Style::Lines(printer) => printer.print(&text),
                // A dry run goes on once there is room.
                _ if self.is_dry_run => self.print_above(&without_spoofing(&text), usize::MAX),
                _ => self.print_above(&without_spoofing(&text), WAITING_BYTES_MAX),
            }
        }
    }

    /// Returns what the user has to know of a thing.
    fn trouble_text(&self, event: &CopyEvent) -> Option<String> {
        if let CopyEvent::Settled {
            path,
            verdict: EntryVerdict::Changed,
            ..
        } = event
        {
            return Some(format!(
                "{path} changed while it was read; what was read was copied"
            ));
        }
        let (end, error) = entry_error_of(event)?;
        if self.stream_end == Some(end) {
            let stream = match end {
                CopyEnd::Source => STANDARD_INPUT,
                CopyEnd::Target => "standard output",
            };
            let error = EntryError::at(stream.as_bytes(), error.kind).with_note(&error.note);
            return Some(entry_error_text(end, None, &error));
        }
        let remote_end = self
            .remote_end
            .as_ref()
            .filter(|(remote_end, _)| *remote_end == end);
        let host = remote_end.map(|(_, host)| host.as_str());
        Some(entry_error_text(end, host, error))
    }

    /// Says something that the user may want to know.
    pub(super) fn note(&mut self, what: &str) {
        if !self.is_quiet {
            self.complain(what);
        }
    }

    /// Tells of the steps that were reached, if the user wants to know them.
    pub(super) fn tell_steps(&mut self, steps: &mut Steps) {
        for line in steps.take_lines() {
            self.complain(&line);
        }
    }

    /// Says what is wrong, on a line that stays. In the background, too: it may be said only once.
    pub(super) fn complain(&mut self, what: &str) {
        match &self.style {
            Style::Terminal(tty) if !tty.is_in_background() => {
                let text = format!(
                    "{}fulmar: {}\n",
                    report::end_of_others(),
                    in_plain_words(what)
                );
                self.print_above(&text, WRONG_BYTES_MAX);
            }
            _ => report::complain("fulmar", what),
        }
    }

    /// Shows text of ssh's, as it is but for what could be taken for ours.
    pub(super) fn show(&mut self, text: &str) {
        let text = report::of_others(text);
        match &self.style {
            _ if text.is_empty() => {}
            Style::Terminal(_) => self.print_above(&text, WRONG_BYTES_MAX),
            _ => report::print_to_stderr(&text),
        }
    }

    /// Takes the line away: what follows is somebody else's.
    pub(super) fn clear(&mut self) {
        let bytes = self.erasing();
        self.drawn = 0;
        self.write(&bytes, WAITING_BYTES_MAX);
    }

    /// One copy is over, which has come so far.
    pub(super) fn ended(&mut self, progress: &Progress) {
        self.resumed = self.resumed.saturating_add(progress.bytes_held);
        self.clear();
        self.tell_the_others();
    }

    /// All is over, `took` after it has begun.
    pub(super) fn done(&mut self, now: Time, totals: &Totals, took: Duration) {
        self.clear();
        // ssh's login would make the rate that of another thing.
        let copied_in = self.connected.map_or(took, |since| now.since(since));
        match &mut self.style {
            Style::Json(printer) => {
                printer.print(&json::done(totals, self.resumed, took.as_secs_f64()));
            }
            // What went wrong says it all.
            Style::Terminal(_) if is_nothing(totals) && totals.troubles > 0 => {}
            Style::Terminal(_) => {
                let text = if self.is_dry_run {
                    dry_summary(totals, &self.dry_files)
                } else {
                    summary(totals, self.resumed, copied_in)
                };
                self.print_above(&format!("{text}\n"), WRONG_BYTES_MAX);
            }
            Style::Lines(_) if is_terminal(io::stderr()) => {
                report::print_to_stderr(&format!("{}\n", dry_summary(totals, &self.dry_files)));
            }
            Style::Lines(_) | Style::Silent => {}
        }
    }

    /// Writes what there is room for now.
    pub(super) fn look_after_output(&mut self) {
        match &mut self.style {
            Style::Json(printer) | Style::Lines(printer) => printer.flush(),
            Style::Terminal(_) => self.flush(),
            Style::Silent => {}
        }
    }

    /// Returns why something could not be told on standard output, if it was not that nobody reads it.
    pub(super) fn take_output_error(&mut self) -> Option<io::Error> {
        match &mut self.style {
            Style::Json(printer) | Style::Lines(printer) => printer.take_error(),
            Style::Terminal(_) | Style::Silent => None,
        }
    }

    /// Returns what is to be waited for, if what was told has not been taken.
    pub(super) fn awaited(&self) -> Option<BorrowedFd<'_>> {
        match &self.style {
            Style::Json(printer) | Style::Lines(printer) => printer.awaited(),
            Style::Terminal(tty) => {
                let waits = !self.waiting.is_empty() && !tty.is_in_background();
                waits.then(|| tty.as_fd())
            }
            Style::Silent => None,
        }
    }

    /// Tells if so much was told that has not been taken that nothing more should happen.
    pub(super) fn is_behind(&self) -> bool {
        match &self.style {
            Style::Json(printer) | Style::Lines(printer) => printer.is_behind(),
            // A copy goes on behind a terminal that was stopped.
            Style::Terminal(_) => self.is_dry_run && self.waiting.len() > WAITING_BYTES_MAX,
            Style::Silent => false,
        }
    }

    fn print_above(&mut self, text: &str, waiting_max: usize) {
        let mut bytes = self.erasing();
        // A terminal that is in raw mode, as one at which ssh asks, would not go back to the left.
        bytes.push_str(&text.replace('\n', "\r\n"));
        self.drawn = 0;
        self.write(&bytes, waiting_max);
    }

    /// Draws the line, and leaves the cursor at its beginning. A terminal whose window becomes narrower wraps the line,
    /// and keeps the cursor where the line begins: so the next erasing takes all rows of it. What the user types is echoed
    /// there, and drawn over.
    fn draw(&mut self, text: &str) {
        if text.is_empty() && self.drawn == 0 {
            return;
        }
        let erasing = self.erasing();
        self.drawn = text.width();
        self.write(&format!("{erasing}\r{text}\r"), WAITING_BYTES_MAX);
    }

    fn erasing(&self) -> String {
        match self.drawn {
            0 => String::new(),
            _ if !self.is_plain => format!("\r{ERASE_BELOW}"),
            width => format!("\r{}\r", " ".repeat(width.max(TYPED_SIGNAL.len()))),
        }
    }

    /// Has it be written, unless more waits than that, or the terminal is another program's now.
    fn write(&mut self, text: &str, waiting_max: usize) {
        let is_ours = match &self.style {
            Style::Terminal(tty) => !tty.is_in_background(),
            Style::Json(_) | Style::Lines(_) | Style::Silent => false,
        };
        if is_ours && self.waiting.len() < waiting_max {
            self.waiting.extend(text.as_bytes());
        }
        self.flush();
    }

    /// Writes as much as the terminal takes now. One that was stopped does not stop the copy, and nor
    /// does one that is another program's now.
    fn flush(&mut self) {
        let Style::Terminal(tty) = &self.style else {
            return;
        };
        if tty.is_in_background() {
            return;
        }
        while !self.waiting.is_empty() {
            let (first, _) = self.waiting.as_slices();
            match tty.write(first) {
                Ok(Transfer::Bytes(count)) if count > 0 => {
                    self.waiting.drain(..count.min(first.len()));
                }
                Ok(Transfer::Bytes(_) | Transfer::WouldBlock) => return,
                Ok(Transfer::Closed) | Err(_) => {
                    self.style = Style::Silent;
                    self.next = None;
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fulmar_platform::{Slave, WindowSize, pty};

    use super::*;

    /// Has a reporter write at a terminal, and returns the bytes up to the last of `end`.
    fn written(end: &str, write: impl FnOnce(&mut Reporter)) -> Vec<u8> {
        let size = WindowSize {
            rows: 24,
            columns: 80,
        };
        let (master, slave) = pty::open(size).unwrap();
        write(&mut reporter_at(&slave));
        let mut shown = Vec::new();
        // A terminal may hand over what was written in pieces, one a little later than the other.
        while !shown.ends_with(end.as_bytes()) {
            let mut buffer = [0; 1000];
            match master.read(&mut buffer) {
                Ok(Transfer::Bytes(count)) => shown.extend_from_slice(&buffer[..count]),
                Ok(Transfer::WouldBlock) => {}
                other => panic!("{other:?} after {shown:?}"),
            }
        }
        shown
    }

    #[test]
    fn what_is_typed_meanwhile_goes_with_the_line() {
        let drawn = written("line\r", |reporter| reporter.draw("some line"));
        let again = written("end\r", |reporter| {
            reporter.drawn = 9;
            reporter.draw("at its end");
        });
        let cleared = written(ERASE_BELOW, |reporter| {
            reporter.drawn = 10;
            reporter.clear();
        });
        let mut terminal = vt100::Parser::new(24, 80, 0);
        terminal.process(b"$ fulmar cp\r\n");
        terminal.process(&drawn);
        terminal.process(b"typed, and more than the line has");
        terminal.process(&again);
        assert_eq!(terminal.screen().contents(), "$ fulmar cp\nat its end");
        terminal.process(b"^C");
        terminal.process(&cleared);
        assert_eq!(terminal.screen().contents(), "$ fulmar cp");
    }

    #[test]
    fn of_a_line_that_a_narrower_window_has_wrapped_nothing_is_left() {
        let long = "x".repeat(70);
        let drawn = written("x\r", |reporter| reporter.draw(&long));
        assert!(
            drawn.ends_with(b"\r"),
            "the cursor is where the line begins"
        );
        let again = written("line\r", |reporter| {
            reporter.drawn = 70;
            reporter.draw("short line");
        });
        // Terminals that wrap leave the cursor at the character where it was.
        let mut terminal = vt100::Parser::new(24, 30, 0);
        terminal.process(b"before\r\n");
        terminal.process(long.as_bytes());
        terminal.process(b"\x1b[2;1H");
        terminal.process(&again);
        assert_eq!(terminal.screen().contents(), "before\nshort line");
    }

    #[test]
    fn a_terminal_without_control_sequences_gets_blanks() {
        let cleared = written(" \r", |reporter| {
            reporter.is_plain = true;
            reporter.drawn = 9;
            reporter.clear();
        });
        assert_eq!(cleared, b"\r         \r");
    }

    fn reporter_at(terminal: &Slave) -> Reporter {
        Reporter {
            style: Style::Terminal(Tty::open(terminal).unwrap()),
            meter: Meter::default(),
            next: None,
            drawn: 0,
            is_plain: false,
            waiting: VecDeque::new(),
            is_quiet: false,
            shows_errors: true,
            is_dry_run: false,
            dry_files: DryFiles::default(),
            connected: None,
            remote_end: None,
            stream_end: None,
            failed_folders: Vec::new(),
            in_failed_folders: 0,
            resumed: 0,
            errors: Vec::new(),
        }
    }

    /// A terminal that nobody reads from, as one stopped with Ctrl-S, takes some kilobytes.
    #[test]
    fn what_is_wrong_is_kept_for_a_terminal_that_was_stopped() {
        let size = WindowSize {
            rows: 24,
            columns: 80,
        };
        let (master, slave) = pty::open(size).unwrap();
        let mut reporter = reporter_at(&slave);
        let whole = CopyEvent::Settled {
            path: RelativePath::new(&[b'x'; 200]).unwrap(),
            kind: EntryKind::File { size: Some(1) },
            verdict: EntryVerdict::Whole,
        };
        for _ in 0..2000 {
            reporter.event(&whole);
        }
        let kept = reporter.waiting.len();
        assert!(
            (WAITING_BYTES_MAX..WAITING_BYTES_MAX + 1000).contains(&kept),
            "{kept}"
        );
        for number in 0..20_000 {
            reporter.complain(&format!("trouble {number} {}", "y".repeat(100)));
        }
        let kept = reporter.waiting.len();
        assert!(
            (WRONG_BYTES_MAX..WRONG_BYTES_MAX + 1000).contains(&kept),
            "{kept}"
        );
        // It goes on: nothing of what is wrong is missing up to there.
        let (mut told, mut buffer) = (Vec::new(), [0; 4096]);
        while !reporter.waiting.is_empty() {
            while let Ok(Transfer::Bytes(count)) = master.read(&mut buffer) {
                told.extend_from_slice(&buffer[..count]);
            }
            reporter.flush();
        }
        let told = String::from_utf8_lossy(&told);
        for number in 0..1000 {
            assert!(told.contains(&format!("trouble {number} ")), "{number}");
        }
    }
}

//! A program, its screen, and what was typed for it; with or without anybody connected.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_predict::TtyHints;
use fulmar_terminal::{
    CursorKeyMode, CursorKeys, History, ModeFlags, Reflow, Screen, ScrollbackLimits, Size,
    Terminal, TerminalReport,
};
use fulmar_transport::StateNumber;

use crate::echo_ack::EchoHistory;
use crate::frame_hold::{Frame, FrameHold};
use crate::history_place::HistoryPlace;
use crate::outbox::Outbox;
use crate::pty_input::PtyInput;
use crate::pty_replies::TtyReader;
use crate::random::Seed;
use crate::resize_pace::ResizePace;
use crate::tty_watch::{TtyState, TtyWatch};
use crate::user_stream::UserEvent;
use crate::wake::Wake;

/// The server's side of a session, apart from how a client reaches it.
#[derive(Debug)]
pub(crate) struct Session {
    terminal: Terminal,
    keys: CursorKeys,
    input: PtyInput,
    echo: EchoHistory,
    resizes: ResizePace,
    hold: FrameHold,
    /// The screen that clients are to see: the terminal's, or the one before an unfinished frame.
    shown: Rc<Screen>,
    /// The end of the history above that.
    shown_place: HistoryPlace,
    /// True if the terminal may have changed since that was taken of it.
    is_stale: bool,
    /// The echo ack that goes with it: an answer that is held back is none yet.
    shown_ack: StateNumber,
    tty: TtyWatch,
    /// The time since which the program waits for an answer about the user's terminal, if it does.
    asked: Option<Time>,
    ignored_resizes: u64,
    /// The events that programs have said.
    outbox: Rc<RefCell<Outbox>>,
    /// True if the user wants no lines cut anew.
    crops: bool,
}

/// The time for which an answer about the user's terminal, and those behind it, wait for the client to know. Chosen by eye: longer than
/// most round trips, and as long as programs wait that ask about colours.
const REPORT_WAITS: Duration = Duration::from_secs(1);

impl Session {
    /// Returns a session with a window of that size. `salt` is for what is told of programs.
    pub(crate) fn new(size: Size, salt: Seed) -> Session {
        let terminal = Terminal::new(size);
        Session {
            shown: Rc::new(terminal.screen().clone()),
            shown_place: HistoryPlace::default(),
            is_stale: false,
            shown_ack: StateNumber::ZERO,
            terminal,
            keys: CursorKeys::default(),
            input: PtyInput::default(),
            echo: EchoHistory::new(),
            resizes: ResizePace::default(),
            hold: FrameHold::default(),
            tty: TtyWatch::new(salt),
            asked: None,
            ignored_resizes: 0,
            outbox: Rc::default(),
            crops: false,
        }
    }

    /// Returns the screen that clients are to see.
    pub(crate) fn shown(&self) -> &Rc<Screen> {
        &self.shown
    }

    /// Keeps lines that leave the screen at its top from now on, if that was not begun before.
    pub(crate) fn keep_history(&mut self, limits: ScrollbackLimits) {
        if self.terminal.history().is_none() {
            self.terminal.keep_history(limits);
            self.is_stale = true;
        }
    }

    /// Returns the lines above the screen, if they are kept, and where those end that are above what clients are to see.
    pub(crate) fn history(&self) -> Option<(History<'_>, HistoryPlace)> {
        Some((self.terminal.history()?, self.shown_place))
    }

    /// The events that programs have said.
    pub(crate) fn outbox(&self) -> &Rc<RefCell<Outbox>> {
        &self.outbox
    }

    /// The size that the program's window has.
    pub(crate) fn size(&self) -> Size {
        self.terminal.screen().size()
    }

    /// The newest state of the user stream that the program has had time to answer on the screen
    /// that is shown.
    pub(crate) fn echo_ack(&self) -> StateNumber {
        self.shown_ack
    }

    /// Returns what is known of the program beside its screen, if it was looked at.
    pub(crate) fn hints(&self) -> Option<TtyHints> {
        self.tty.hints(&self.shown)
    }

    /// Notes what the program's terminal is set to, and tells if that is new.
    pub(crate) fn note_tty(&mut self, now: Time, tty: TtyState<'_>) -> bool {
        self.tty.note(now, tty)
    }

    /// Takes note that everything was done that was due.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if self.tty.due().is_some_and(|due| due <= now) {
            self.tty.note_look(now);
        }
        if self.report_due().is_some_and(|due| due <= now) {
            self.note_report(now, TerminalReport::default());
        }
    }

    /// Takes note of who reads what is written to the pty.
    pub(crate) fn note_reader(&mut self, now: Time, reader: TtyReader) {
        self.input.note_reader(now, reader);
    }

    /// Takes note that all output was read that was written before the last look at the terminal.
    pub(crate) fn note_drained(&mut self) {
        self.input.note_drained();
    }

    /// Returns the input that waits to be written to the pty.
    pub(crate) fn input(&self) -> &PtyInput {
        &self.input
    }

    /// Returns the number of sizes that were asked for and no window can have.
    pub(crate) fn ignored_resizes(&self) -> u64 {
        self.ignored_resizes
    }

    /// Draws what the program wrote, within the work of one turn, and returns how many bytes that were.
    pub(crate) fn handle_output(&mut self, now: Time, bytes: &[u8], work: u64) -> usize {
        self.tty.note_activity(now);
        let taken = self.terminal.process_within(bytes, work);
        self.is_stale = true;
        for event in self.terminal.take_events() {
            self.outbox.borrow_mut().push(event);
        }
        self.answer(now);
        self.look(now);
        taken
    }

    /// Takes note that another client types from now on. What the last one has typed is still written to
    /// the program; the numbers of its states mean nothing any more.
    pub(crate) fn change_client(&mut self) {
        self.input.forget_states();
        self.echo = EchoHistory::new();
        self.shown_ack = StateNumber::ZERO;
        self.keys = CursorKeys::default();
        self.outbox.borrow_mut().renew();
    }

    /// Has questions about the user's terminal wait for the client's report.
    pub(crate) fn await_report(&mut self) {
        self.terminal.await_report();
    }

    /// Takes note of what is known of the user's terminal: nothing, if the client does not tell.
    pub(crate) fn note_report(&mut self, now: Time, report: TerminalReport) {
        self.crops = report.crops;
        self.terminal.set_report(report);
        self.is_stale = true;
        self.answer(now);
    }

    /// Hands over the answers to what the program has asked, as far as they are known.
    fn answer(&mut self, now: Time) {
        self.input.push_replies(now, &self.terminal.take_replies());
        let is_asked = self.terminal.has_questions();
        self.asked = is_asked.then(|| self.asked.unwrap_or(now));
    }

    /// Draws a text that no program wrote. What it asks of the terminal is not answered, for there is
    /// nobody who asks: the answer would be taken for what the user typed.
    pub(crate) fn handle_text(&mut self, now: Time, bytes: &[u8]) {
        self.terminal.process(bytes);
        self.is_stale = true;
        self.terminal.drop_replies();
        self.look(now);
    }

    /// Hands over what is new in state `number` of the user stream.
    pub(crate) fn handle_events(&mut self, now: Time, number: StateNumber, events: &[UserEvent]) {
        for event in events {
            match event {
                UserEvent::Keys(keys) => self.handle_keys(keys),
                UserEvent::Terminal(report) => self.note_report(now, *report),
                UserEvent::Resize(size) => match size.to_size() {
                    Some(size) => self.resizes.want(size),
                    None => self.ignored_resizes = self.ignored_resizes.saturating_add(1),
                },
            }
        }
        // The last state of all is no number that an answer could name.
        if !events.is_empty() && number != StateNumber::SHUTDOWN {
            // The echo ack counts from when the pty has taken the last of these keys
            // (docs/protocol.md §6.4).
            self.input.mark(now, number, &mut self.echo);
        }
    }

    fn handle_keys(&mut self, keys: &[u8]) {
        let mode = if self
            .terminal
            .screen()
            .modes()
            .has(ModeFlags::APPLICATION_CURSOR)
        {
            CursorKeyMode::Application
        } else {
            CursorKeyMode::Normal
        };
        let mut translated = Vec::with_capacity(keys.len() + 1);
        for &key in keys {
            self.keys.translate(key, mode, &mut translated);
        }
        self.input.push_keys(&translated);
    }

    /// Notes that the pty took `count` bytes.
    pub(crate) fn handle_taken(&mut self, now: Time, count: usize) {
        self.tty.note_activity(now);
        self.input.take(now, count, &mut self.echo);
    }

    /// Does what has become due, and returns the size that the pty is to have if that changes.
    pub(crate) fn advance(&mut self, now: Time) -> Option<Size> {
        self.echo.advance(now);
        let resized = self.resizes.take(now);
        if let Some(size) = resized {
            self.terminal.resize_with(size, self.reflow());
            self.is_stale = true;
        }
        self.look(now);
        resized
    }

    /// The lines that a change of width cuts anew. A program that reads single keys, such as a shell, draws its own line anew, and
    /// goes by the rows that it had.
    fn reflow(&self) -> Reflow {
        if self.crops {
            Reflow::Off
        } else if self.input.has_line_reader() {
            Reflow::All
        } else {
            Reflow::AboveCursor
        }
    }

    /// Shows the screen as it is, finished or not: nothing more will come.
    pub(crate) fn finish(&mut self) {
        self.show();
        self.input.clear();
    }

    /// Returns the time at which [`Session::advance`] will next have something to do, and what.
    pub(crate) fn due(&self) -> Option<(Time, Wake)> {
        Wake::earliest([
            self.echo.next_advance().map(|at| (at, Wake::EchoAck)),
            self.resizes.due().map(|at| (at, Wake::Resize)),
            self.hold.due().map(|at| (at, Wake::HeldFrame)),
            self.input.replies().due().map(|at| (at, Wake::Replies)),
            self.tty.due().map(|at| (at, Wake::Tty)),
            self.report_due().map(|at| (at, Wake::Report)),
        ])
    }

    fn report_due(&self) -> Option<Time> {
        self.asked.map(|asked| asked + REPORT_WAITS)
    }

    fn show(&mut self) {
        let screen = self.terminal.screen();
        self.shown = Rc::new(screen.clone());
        if let Some(history) = self.terminal.history() {
            self.shown_place = HistoryPlace {
                end: history.end(),
                clears: history.clears(),
                cleared_at: history.cleared_at(),
                is_alternate: screen.is_alternate(),
            };
        }
    }

    fn look(&mut self, now: Time) {
        let screen = self.terminal.screen();
        if self.hold.look(now, screen.is_synchronized()) == Frame::Ready {
            if std::mem::take(&mut self.is_stale) {
                self.show();
            }
            self.shown_ack = self.echo.echo_ack();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fulmar_terminal::SharedRow;
    use fulmar_transport::limits::TURN_WORK_MAX;

    use super::*;
    use crate::user_stream::WindowSize;

    fn ms(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    fn session() -> Session {
        Session::new(Size::new(3, 20).unwrap(), [0; 32])
    }

    fn first_row(session: &Session) -> String {
        let mut text = String::new();
        session
            .shown()
            .row(fulmar_terminal::Row(0))
            .push_text(&mut text);
        text.trim_end().to_owned()
    }

    fn keys(bytes: &[u8]) -> UserEvent {
        UserEvent::Keys(bytes.to_vec())
    }

    #[test]
    fn keys_go_to_the_program_in_the_form_it_wants() {
        let mut session = session();
        session.handle_events(ms(0), StateNumber::new(1), &[keys(b"\x1bOA")]);
        assert_eq!(session.input().front(), b"\x1b[A");
        session.handle_taken(ms(0), 3);
        session.handle_output(ms(1), b"\x1b[?1h", TURN_WORK_MAX);
        session.handle_events(ms(1), StateNumber::new(2), &[keys(b"\x1bO"), keys(b"A")]);
        assert_eq!(session.input().front(), b"\x1bOA");
    }

    #[test]
    fn answers_to_the_program_come_back_as_input() {
        let mut session = session();
        session.handle_output(ms(0), b"\x1b[5n", TURN_WORK_MAX);
        assert_eq!(session.input().front(), b"\x1b[0n");
    }

    #[test]
    fn what_a_text_asks_is_answered_to_nobody_also_when_the_report_comes() {
        let mut session = session();
        session.await_report();
        session.handle_text(ms(0), b"\x1b]11;?\x07\x1b[?u\x1b[c");
        session.handle_output(ms(1), b"\x1b[5n", TURN_WORK_MAX);
        let keyboard = true;
        let report = TerminalReport {
            keyboard,
            ..TerminalReport::default()
        };
        session.note_report(ms(2), report);
        assert_eq!(session.input().front(), b"\x1b[0n");
    }

    #[test]
    fn the_last_size_of_a_batch_is_applied() {
        let mut session = session();
        let resize = |width, height| UserEvent::Resize(WindowSize { width, height });
        let events = [
            resize(100, 30),
            resize(0, 7),
            resize(90, 20),
            resize(5000, 5000),
        ];
        session.handle_events(ms(0), StateNumber::new(1), &events);
        assert_eq!(session.advance(ms(0)), Size::new(20, 90));
        assert_eq!(session.shown().size(), Size::new(20, 90).unwrap());
        assert_eq!(session.ignored_resizes(), 2);
        assert_eq!(session.advance(ms(0)), None);
    }

    #[test]
    fn the_line_of_a_program_that_reads_keys_is_left_to_it() {
        let rows = |is_canonical, crops| {
            let mut session = session();
            let report = TerminalReport {
                crops,
                ..TerminalReport::default()
            };
            session.note_report(ms(0), report);
            let reader = TtyReader {
                is_canonical,
                ..TtyReader::default()
            };
            session.note_reader(ms(0), reader);
            session.handle_output(ms(0), b"a long line\r\n$ half", TURN_WORK_MAX);
            let (width, height) = (4, 9);
            let resize = UserEvent::Resize(WindowSize { width, height });
            session.handle_events(ms(1), StateNumber::new(1), &[resize]);
            session.advance(ms(1));
            let row = |row: &SharedRow| {
                let mut text = String::new();
                row.push_text(&mut text);
                text
            };
            session.shown().rows().map(row).collect::<Vec<_>>()
        };
        assert_eq!(
            rows(true, false)[..5],
            ["a lo", "ng l", "ine", "$ ha", "lf"]
        );
        assert_eq!(rows(false, false)[..5], ["a lo", "ng l", "ine", "$ ha", ""]);
        assert_eq!(rows(true, true)[..3], ["a lo", "$ ha", ""]);
    }

    #[test]
    fn an_unfinished_frame_is_shown_when_it_ends_or_after_150_ms() {
        let mut session = session();
        session.handle_output(ms(0), b"old", TURN_WORK_MAX);
        session.handle_output(ms(10), b"\x1b[?2026h\rne", TURN_WORK_MAX);
        assert_eq!(first_row(&session), "old");
        session.handle_output(ms(20), b"w\x1b[?2026l", TURN_WORK_MAX);
        assert_eq!(first_row(&session), "new");
        session.handle_output(ms(30), b"\x1b[?2026h\rlate", TURN_WORK_MAX);
        assert_eq!(session.due(), Some((ms(180), Wake::HeldFrame)));
        session.advance(ms(179));
        assert_eq!(first_row(&session), "new");
        session.advance(ms(180));
        assert_eq!(first_row(&session), "late");
        assert_eq!(session.due(), None);
    }

    #[test]
    fn the_echo_ack_follows_what_the_pty_took() {
        let mut session = session();
        session.handle_events(ms(0), StateNumber::new(4), &[keys(b"x")]);
        session.handle_taken(ms(100), 1);
        assert_eq!(session.due(), Some((ms(150), Wake::EchoAck)));
        session.advance(ms(149));
        assert_eq!(session.echo_ack(), StateNumber::ZERO);
        session.advance(ms(150));
        assert_eq!(session.echo_ack(), StateNumber::new(4));
    }

    #[test]
    fn the_echo_ack_waits_for_a_frame_that_is_held_back() {
        let mut session = session();
        session.handle_events(ms(0), StateNumber::new(4), &[keys(b"x")]);
        session.handle_taken(ms(0), 1);
        session.handle_output(ms(10), b"\x1b[?2026hx", TURN_WORK_MAX);
        session.advance(ms(60));
        assert_eq!(session.echo_ack(), StateNumber::ZERO);
        session.handle_output(ms(70), b"\x1b[?2026l", TURN_WORK_MAX);
        assert_eq!(session.echo_ack(), StateNumber::new(4));
    }

    #[test]
    fn another_client_gets_no_echo_ack_of_the_last_one_whose_keys_are_typed() {
        let mut session = session();
        session.handle_events(ms(0), StateNumber::new(4), &[keys(b"a")]);
        session.handle_taken(ms(0), 1);
        session.advance(ms(50));
        assert_eq!(session.echo_ack(), StateNumber::new(4));
        // One key waits for its echo, one for the program, and one is half a sequence.
        session.handle_events(ms(60), StateNumber::new(5), &[keys(b"b")]);
        session.handle_taken(ms(60), 1);
        session.handle_events(ms(61), StateNumber::new(6), &[keys(b"c\x1b")]);
        session.change_client();
        assert_eq!(session.echo_ack(), StateNumber::ZERO);
        session.handle_events(ms(70), StateNumber::new(1), &[keys(b"OA")]);
        assert_eq!(session.input().front(), b"c\x1bOA");
        session.handle_taken(ms(70), 4);
        session.advance(ms(1000));
        assert_eq!(session.echo_ack(), StateNumber::new(1));
    }

    #[test]
    fn a_state_without_events_is_not_acknowledged_by_an_echo_ack() {
        let mut session = session();
        session.handle_events(ms(0), StateNumber::new(9), &[]);
        session.advance(ms(1000));
        assert_eq!(session.echo_ack(), StateNumber::ZERO);
    }
}

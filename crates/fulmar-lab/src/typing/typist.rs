//! A user at work.

use super::plan::{PlannedWrite, TypingLoop, WriteCue, plan};
use super::reader::ScreenReader;
use crate::judge::GroundTruth;
use crate::trace::Trace;
use std::time::Duration;

/// A user who waits for something that does not come types on after this time.
///
/// Chosen by eye: longer than any outage of the experiments but one, and so short that a run
/// whose answer was lost for good is not lost as well.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A user who types a recording. See [`typing`](super).
#[derive(Clone, Debug)]
pub struct Typist {
    plan: Vec<PlannedWrite>,
    /// The next of the plan.
    next: usize,
    /// The time at which the write before it was typed, or at which the user began.
    since: Duration,
    /// The time at which its cue came.
    cued: Option<Duration>,
    pause_max: Option<Duration>,
    given_up: usize,
}

impl Typist {
    /// Returns a user of that kind for a recording, of which `truth` is the truth, who begins at
    /// `now`. No pause is longer than `pause_max`.
    pub fn new(
        trace: &Trace,
        truth: &GroundTruth,
        user: TypingLoop,
        now: Duration,
        pause_max: Option<Duration>,
    ) -> Self {
        let mut typist = Self {
            plan: plan(trace, truth, user),
            next: 0,
            since: now,
            cued: None,
            pause_max,
            given_up: 0,
        };
        typist.expect_cue();
        typist
    }

    /// Takes in that output has come; `reader` has it already.
    pub fn handle_output(&mut self, now: Duration, reader: &ScreenReader<'_>) {
        if self.awaited() == Some(WriteCue::Output) {
            self.cued = Some(now);
        }
        self.look(now, reader);
    }

    /// Looks at the screen. To be called also when there was no output: at the beginning, and
    /// after a press, for what the next key waits for may be there already.
    pub fn look(&mut self, now: Duration, reader: &ScreenReader<'_>) {
        if let Some(WriteCue::Result(position)) = self.awaited()
            && reader.sees(position)
        {
            self.cued = Some(now);
        }
    }

    /// Returns what the next key waits for and has not come.
    fn awaited(&self) -> Option<WriteCue> {
        let next = self.plan.get(self.next)?;
        self.cued.is_none().then_some(next.cue)
    }

    /// Returns what is to be typed by now. It counts as typed.
    pub(crate) fn poll_press(&mut self, now: Duration) -> Option<PlannedWrite> {
        if self.poll_timeout()? > now {
            return None;
        }
        let press = self.plan[self.next].clone();
        self.given_up += usize::from(self.cued.is_none());
        self.next += 1;
        self.since = now;
        self.cued = None;
        self.expect_cue();
        Some(press)
    }

    /// Returns when to ask again, if not for output before. `None` when all is typed.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let next = self.plan.get(self.next)?;
        let pause = self.pause_max.map_or(next.pause, |max| next.pause.min(max));
        Some(match self.cued {
            Some(cued) => cued + pause,
            None => self.since + PATIENCE,
        })
    }

    /// True when all is typed.
    pub fn is_done(&self) -> bool {
        self.next == self.plan.len()
    }

    /// Returns how often a cue did not come and the user typed on all the same.
    pub fn given_up(&self) -> usize {
        self.given_up
    }

    /// Gives the cue for a write that only follows the one before it.
    fn expect_cue(&mut self) {
        let next = self.plan.get(self.next);
        if next.is_some_and(|next| next.cue == WriteCue::Write) {
            self.cued = Some(self.since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Size;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A prompt; `ls` in a row; Enter and a result that is read before `q`; a key without answer.
    const SESSION: &[u8] =
        b"0 SIZE 20 4\n100000 HOST 2\n$ \n1000000 USER 1\nl\n1001000 HOST 1\nl\n\
        1200000 USER 1\ns\n1201000 HOST 1\ns\n1500000 USER 1\n\r\n1502000 HOST 4\n\r\nfi\n\
        1600000 HOST 6\nle\r\n$ \n2400000 USER 1\nq\n2401000 HOST 1\nq\n2500000 USER 1\n\x07\n\
        2700000 USER 1\nx\n2701000 HOST 1\nx\n";

    struct Recorded {
        truth: GroundTruth,
        trace: Trace,
    }

    impl Recorded {
        fn new() -> Self {
            let trace = Trace::parse(SESSION).unwrap();
            Self {
                truth: GroundTruth::of(&trace),
                trace,
            }
        }

        fn user(&self, user: TypingLoop) -> (Typist, ScreenReader<'_>) {
            let typist = Typist::new(&self.trace, &self.truth, user, ms(5000), None);
            let size = Size {
                columns: 20,
                rows: 4,
            };
            (typist, ScreenReader::new(&self.truth, size))
        }
    }

    /// Shows a text on the screen at a time.
    fn show(at: u64, text: &str, typist: &mut Typist, reader: &mut ScreenReader<'_>) {
        reader.show(text.as_bytes());
        typist.handle_output(ms(at), reader);
    }

    /// Types what comes next, and returns when it was due.
    fn press(typist: &mut Typist, reader: &mut ScreenReader<'_>) -> (u64, String) {
        let due = typist.poll_timeout().expect("something to type");
        assert_eq!(typist.poll_press(due - Duration::from_micros(1)), None);
        let press = typist.poll_press(due).expect("it is due");
        reader.type_keys(press.keys);
        (
            due.as_millis() as u64,
            String::from_utf8(press.bytes).unwrap(),
        )
    }

    fn due(at: u64, text: &str) -> (u64, String) {
        (at, text.to_owned())
    }

    #[test]
    fn in_closed_loop_the_answer_comes_first_and_then_the_recorded_pause() {
        let recorded = Recorded::new();
        let (mut typist, mut reader) = recorded.user(TypingLoop::Closed);
        show(5300, "$ ", &mut typist, &mut reader);
        assert_eq!(press(&mut typist, &mut reader), due(6200, "l"));
        show(8000, "l", &mut typist, &mut reader);
        assert_eq!(press(&mut typist, &mut reader), due(8199, "s"));
        // Any output will do, wrong as it may be, and only the first counts.
        show(8200, "x", &mut typist, &mut reader);
        show(8300, "\x08s", &mut typist, &mut reader);
        assert_eq!(press(&mut typist, &mut reader), due(8499, "\r"));
        show(9000, "\r\nfi", &mut typist, &mut reader);
        assert_eq!(press(&mut typist, &mut reader), due(9898, "q"));
        show(9950, "le", &mut typist, &mut reader);
        assert_eq!(press(&mut typist, &mut reader), due(10_049, "\x07"));
        // Nothing was answered to this one.
        assert_eq!(press(&mut typist, &mut reader), due(10_249, "x"));
        assert!(typist.is_done() && typist.given_up() == 0);
    }

    #[test]
    fn in_open_loop_the_rhythm_is_kept_until_a_result_was_read() {
        let recorded = Recorded::new();
        let (mut typist, mut reader) = recorded.user(TypingLoop::Open);
        show(5300, "$ ", &mut typist, &mut reader);
        assert_eq!(press(&mut typist, &mut reader), due(6200, "l"));
        assert_eq!(press(&mut typist, &mut reader), due(6400, "s"));
        assert_eq!(press(&mut typist, &mut reader), due(6700, "\r"));
        // Half of the result is not it.
        show(9000, "ls\r\nfi", &mut typist, &mut reader);
        assert_eq!(typist.poll_timeout(), Some(ms(6700) + PATIENCE));
        show(9500, "le\r\n$ ", &mut typist, &mut reader);
        assert_eq!(press(&mut typist, &mut reader), due(10_300, "q"));
        assert_eq!(press(&mut typist, &mut reader), due(10_400, "\x07"));
        assert_eq!(press(&mut typist, &mut reader), due(10_600, "x"));
        assert_eq!(typist.poll_timeout(), None);
    }

    #[test]
    fn a_stamp_tells_that_a_result_is_there() {
        let recorded = Recorded::new();
        let (mut typist, mut reader) = recorded.user(TypingLoop::Open);
        show(5300, "$ ", &mut typist, &mut reader);
        for _ in 0..3 {
            press(&mut typist, &mut reader);
        }
        show(9000, "something wrong", &mut typist, &mut reader);
        show(9500, "\x1b]2;fulmar-lab 14\x07", &mut typist, &mut reader);
        assert_eq!(press(&mut typist, &mut reader), due(10_300, "q"));
    }

    #[test]
    fn what_is_there_already_needs_no_output() {
        let recorded = Recorded::new();
        let (mut typist, mut reader) = recorded.user(TypingLoop::Open);
        reader.show(b"$ ");
        typist.look(ms(5000), &reader);
        assert_eq!(press(&mut typist, &mut reader), due(5900, "l"));
        // Output is not for the eyes.
        let (mut typist, mut reader) = recorded.user(TypingLoop::Closed);
        show(5300, "$ ", &mut typist, &mut reader);
        press(&mut typist, &mut reader);
        typist.look(ms(6200), &reader);
        assert_eq!(typist.poll_timeout(), Some(ms(6200) + PATIENCE));
    }

    #[test]
    fn patience_has_an_end_and_pauses_a_limit() {
        let recorded = Recorded::new();
        let (mut typist, mut reader) = recorded.user(TypingLoop::Closed);
        assert_eq!(press(&mut typist, &mut reader), due(125_000, "l"));
        assert_eq!(typist.given_up(), 1);
        typist.pause_max = Some(ms(50));
        show(126_000, "l", &mut typist, &mut reader);
        assert_eq!(press(&mut typist, &mut reader), due(126_050, "s"));
    }

    #[test]
    fn a_result_is_not_seen_before_its_key_was_typed() {
        // Ctrl-L leaves the screen as it is.
        let session =
            b"0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\n\x0c\n1001000 HOST 9\n\x1b[H\x1b[2J$ \n";
        let trace = Trace::parse(session).unwrap();
        let truth = GroundTruth::of(&trace);
        let mut reader = ScreenReader::new(&truth, trace.size());
        reader.show(b"$ ");
        assert!(!reader.sees(truth.end()));
        reader.type_keys(1);
        assert!(reader.sees(truth.end()));
    }

    #[test]
    fn a_guess_is_seen_and_not_certain_until_a_stamp_comes() {
        let recorded = Recorded::new();
        let (_, mut reader) = recorded.user(TypingLoop::Open);
        let first_echo = crate::judge::OutputPosition(3);
        reader.show(b"$ \x1b]2;fulmar-lab 2\x07l");
        reader.type_keys(1);
        assert!(reader.sees(first_echo) && !reader.has_for_certain(first_echo));
        reader.show(b"\x1b]2;fulmar-lab 3\x07");
        assert!(reader.has_for_certain(first_echo));
        // A screen that is wrong is not seen for certain, whatever the stamp.
        reader.show(b"x");
        assert!(reader.sees(first_echo) && !reader.has_for_certain(first_echo));
    }
}

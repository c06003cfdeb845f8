//! Asks the user's terminal once what it can do, and tells its answers from keys.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_terminal::{Answer, AnswerReader};

/// The time for which a key waits that may be the beginning of an answer, which terminals write in one piece. Chosen by eye: what
/// editors allow for the keys that begin with Escape.
const KEY_WAITS: Duration = Duration::from_millis(50);

/// The time for which the rest of an answer is waited for that no key begins like. Chosen by eye: longer than a bad network between
/// the terminal and us takes.
const ANSWER_WAITS: Duration = Duration::from_secs(1);

/// The most bytes with which keys begin, too: Escape, and one more for Alt and a key. Source: the sequences that
/// [`AnswerReader`] holds.
const KEY_BYTES_MAX: usize = 2;

/// The time from which on no key waits: the terminal does not answer. A whole answer is still none for the program. Chosen by eye.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// The time for which the end of a session waits for answers, which would become keys for the shell. Chosen by eye: a far terminal's
/// round trip.
const END_WAITS: Duration = Duration::from_millis(500);

/// Reads what the user's terminal says.
#[derive(Debug, Default)]
pub(crate) struct TerminalProbe {
    /// The time at which it was asked, until it has answered all.
    asked: Option<Time>,
    reader: AnswerReader,
    /// The time at which the last byte came of those that are held.
    held_since: Time,
}

impl TerminalProbe {
    /// Takes note that the terminal has just been asked.
    pub(crate) fn begin(&mut self, now: Time) {
        self.asked = Some(now);
    }

    /// Returns true if all that comes are keys.
    pub(crate) fn is_over(&self) -> bool {
        self.asked.is_none()
    }

    /// Returns the time up to which the end of a session waits for answers.
    pub(crate) fn answers_due(&self) -> Option<Time> {
        self.asked.map(|asked| asked + END_WAITS)
    }

    /// Reads the next bytes: appends the keys to `keys`, and returns the answers.
    pub(crate) fn read(&mut self, now: Time, bytes: &[u8], keys: &mut Vec<u8>) -> Vec<Answer> {
        let Some(asked) = self.asked else {
            keys.extend_from_slice(bytes);
            return Vec::new();
        };
        let answers = self.reader.read(bytes, keys);
        self.held_since = now;
        let is_late = now >= asked + ANSWERS_WITHIN;
        if answers.contains(&Answer::Last) {
            self.reader.release(keys);
            self.asked = None;
        } else if is_late && self.reader.held().len() <= KEY_BYTES_MAX {
            self.reader.release(keys);
        }
        answers
    }

    /// Returns the time at which what is held turns out to be keys.
    pub(crate) fn due(&self) -> Option<Time> {
        let waits = match self.reader.held().len() {
            0 if self.reader.is_dropping() => ANSWER_WAITS,
            0 => return None,
            1..=KEY_BYTES_MAX => KEY_WAITS,
            _ => ANSWER_WAITS,
        };
        Some(self.held_since + waits)
    }

    /// Returns the time from which on the answers that are missing are not expected any more, if there are such.
    pub(crate) fn given_up_at(&self) -> Option<Time> {
        self.asked.map(|asked| asked + ANSWERS_WITHIN)
    }

    /// Takes note that time has passed: appends to `keys` what was held too long.
    pub(crate) fn handle_timeout(&mut self, now: Time, keys: &mut Vec<u8>) {
        if self.due().is_some_and(|due| due <= now) {
            self.reader.release(keys);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    fn asked() -> TerminalProbe {
        let mut probe = TerminalProbe::default();
        probe.begin(ms(0));
        probe
    }

    fn read(probe: &mut TerminalProbe, at: u64, bytes: &[u8]) -> (Vec<u8>, usize) {
        let mut keys = Vec::new();
        let answers = probe.read(ms(at), bytes, &mut keys);
        (keys, answers.len())
    }

    #[test]
    fn escape_waits_for_a_moment_and_an_answer_for_longer() {
        let mut probe = asked();
        assert_eq!(read(&mut probe, 10, b"a\x1b"), (b"a".to_vec(), 0));
        assert_eq!(probe.due(), Some(ms(60)));
        let mut keys = Vec::new();
        probe.handle_timeout(ms(59), &mut keys);
        assert_eq!(keys, b"");
        probe.handle_timeout(ms(60), &mut keys);
        assert_eq!((keys.as_slice(), probe.due()), (&b"\x1b"[..], None));
        assert_eq!(read(&mut probe, 100, b"\x1b[?6"), (vec![], 0));
        assert_eq!(probe.due(), Some(ms(1100)));
        assert_eq!(read(&mut probe, 1000, b"2c\x1b"), (b"\x1b".to_vec(), 1));
        assert!(probe.is_over() && probe.due().is_none());
        assert_eq!(
            read(&mut probe, 1001, b"\x1b[?62c"),
            (b"\x1b[?62c".to_vec(), 0)
        );
    }

    #[test]
    fn the_rest_of_an_answer_that_is_too_long_is_dropped_for_a_moment_only() {
        let mut probe = asked();
        let endless = [b"\x1bP>|".to_vec(), vec![b'x'; 600]].concat();
        assert_eq!(read(&mut probe, 10, &endless), (vec![], 0));
        assert_eq!(probe.due(), Some(ms(1010)));
        probe.handle_timeout(ms(1010), &mut Vec::new());
        assert_eq!(read(&mut probe, 1020, b"typed"), (b"typed".to_vec(), 0));
    }

    #[test]
    fn of_a_terminal_that_does_not_answer_no_key_waits_for_ever() {
        let mut probe = asked();
        assert_eq!(read(&mut probe, 10_000, b"\x1b"), (b"\x1b".to_vec(), 0));
        assert_eq!(read(&mut probe, 10_001, b"x\x1b[?1;2c"), (b"x".to_vec(), 1));
    }
}

//! The input that waits to be read by the program.

use std::collections::VecDeque;

use fulmar_base::Time;
use fulmar_transport::StateNumber;

use crate::echo_ack::EchoHistory;
use crate::pty_replies::{PtyReplies, TtyReader};

/// Typed bytes that were accepted and that the pty has not taken.
///
/// Source: docs/threat-model.md §6.
pub(crate) const BACKLOG_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The most that one more state can bring: the longest instruction there is.
///
/// Source: docs/protocol.md §4.
const STATE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// States whose keys wait for the pty. More are merged, which delays their echo ack.
///
/// Chosen by eye.
const WAITING_STATES_MAX: usize = 1024;

/// After a paste of megabytes no more than this is kept for the next one.
///
/// Chosen by eye.
const IDLE_BYTES_MAX: usize = 64 * 1024;

/// The bytes on their way to the program: keys, and the emulator's answers to queries, in the order in
/// which they came as far as answers may be written.
#[derive(Debug, Default)]
pub(crate) struct PtyInput {
    keys: VecDeque<u8>,
    /// Keys that were ever taken.
    taken: u64,
    /// States by the end of their keys, counted as `taken` is.
    waiting: VecDeque<(u64, StateNumber)>,
    replies: PtyReplies,
    /// The pty took some of the keys that were offered last, and may have taken half of what one key
    /// sends: no answer goes between.
    is_cut: bool,
}

impl PtyInput {
    /// Appends keys, already translated, of state `number`.
    pub(crate) fn push_keys(&mut self, keys: &[u8]) {
        self.keys.extend(keys);
    }

    /// Appends answers of the emulator.
    pub(crate) fn push_replies(&mut self, now: Time, replies: &[u8]) {
        let end = self.end();
        self.replies.push(now, end, replies);
    }

    /// Takes note of who reads.
    pub(crate) fn note_reader(&mut self, now: Time, reader: TtyReader) {
        self.replies.note_reader(now, reader);
    }

    /// Returns true if the program reads whole lines, which the terminal itself edits.
    pub(crate) fn has_line_reader(&self) -> bool {
        self.replies.reader().is_canonical
    }

    /// Takes note that all output was read that was written before the last look at the terminal.
    pub(crate) fn note_drained(&mut self) {
        self.replies.note_drained();
    }

    /// The answers that wait.
    pub(crate) fn replies(&self) -> &PtyReplies {
        &self.replies
    }

    /// Says that the keys pushed so far are those up to state `number`, so that `history` hears of
    /// it once the program has them all.
    pub(crate) fn mark(&mut self, now: Time, number: StateNumber, history: &mut EchoHistory) {
        if self.keys.is_empty() {
            history.note(now, number);
            return;
        }
        let end = self.end();
        if self.waiting.len() >= WAITING_STATES_MAX {
            self.waiting.pop_back();
        }
        self.waiting.push_back((end, number));
    }

    /// The bytes to be written next. There may be more behind them.
    pub(crate) fn front(&self) -> &[u8] {
        let replies = self.front_replies();
        if !replies.is_empty() {
            return replies;
        }
        let keys = self.keys.as_slices().0;
        let before = self.replies.keys_before(self.taken);
        let before = before.filter(|before| *before > 0 && !self.is_cut);
        before.and_then(|before| keys.get(..before)).unwrap_or(keys)
    }

    fn front_replies(&self) -> &[u8] {
        if self.is_cut && !self.replies.has_begun() {
            return &[];
        }
        self.replies.front(self.taken)
    }

    /// Removes `count` bytes of the [front](PtyInput::front) that the pty took.
    pub(crate) fn take(&mut self, now: Time, count: usize, history: &mut EchoHistory) {
        if !self.front_replies().is_empty() {
            self.replies.take(count);
            return;
        }
        let offered = self.front().len();
        let count = count.min(self.keys.len());
        self.replies.keys_taken(now, self.keys.range(..count));
        self.keys.drain(..count);
        self.taken += count as u64;
        self.is_cut = !self.keys.is_empty() && (count < offered || self.is_cut);
        while let Some(&(_, number)) = self.waiting.front().filter(|(end, _)| *end <= self.taken) {
            history.note(now, number);
            self.waiting.pop_front();
        }
        if self.keys.is_empty() && self.keys.capacity() > IDLE_BYTES_MAX {
            self.keys.shrink_to(0);
        }
    }

    /// Forgets of which states the keys are that wait, but not the keys: another client numbers its states anew.
    pub(crate) fn forget_states(&mut self) {
        self.waiting.clear();
    }

    /// Forgets everything: nobody will read it.
    pub(crate) fn clear(&mut self) {
        *self = PtyInput::default();
    }

    /// Returns true if another state of any size can be accepted.
    pub(crate) fn has_room_for_a_state(&self) -> bool {
        self.keys.len() + STATE_BYTES_MAX <= BACKLOG_BYTES_MAX
    }

    fn end(&self) -> u64 {
        self.taken + self.keys.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ms(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn a_state_counts_from_when_the_pty_took_its_last_key() {
        let (mut input, mut history) = (PtyInput::default(), EchoHistory::new());
        input.push_keys(b"ab");
        input.mark(ms(0), StateNumber::new(1), &mut history);
        input.push_keys(b"c");
        input.mark(ms(0), StateNumber::new(2), &mut history);
        input.take(ms(1000), 1, &mut history);
        assert_eq!(history.next_advance(), None);
        input.take(ms(2000), 1, &mut history);
        assert_eq!(history.next_advance(), Some(ms(2050)));
        assert_eq!(input.front(), b"c");
        input.take(ms(3000), 1, &mut history);
        assert!(history.advance(ms(3050)));
        assert_eq!(history.echo_ack(), StateNumber::new(2));
    }

    #[test]
    fn a_state_without_keys_in_the_way_counts_at_once() {
        let (mut input, mut history) = (PtyInput::default(), EchoHistory::new());
        input.mark(ms(7), StateNumber::new(1), &mut history);
        assert_eq!(history.next_advance(), Some(ms(57)));
    }

    #[test]
    fn room_ends_where_one_more_state_could_pass_the_cap() {
        let mut input = PtyInput::default();
        input.push_keys(&vec![b'x'; BACKLOG_BYTES_MAX - STATE_BYTES_MAX]);
        assert!(input.has_room_for_a_state());
        input.push_keys(b"x");
        assert!(!input.has_room_for_a_state());
        input.take(ms(0), 1, &mut EchoHistory::new());
        assert!(input.has_room_for_a_state());
    }

    /// Writes everything that may be written, and returns it.
    fn written(input: &mut PtyInput) -> String {
        let mut written = Vec::new();
        while !input.front().is_empty() {
            let front = input.front().to_vec();
            input.take(ms(0), front.len(), &mut EchoHistory::new());
            written.extend(front);
        }
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn keys_and_answers_stay_in_their_order() {
        let mut input = PtyInput::default();
        input.push_keys(b"ab");
        input.push_replies(ms(0), b"\x1b[0n");
        input.push_keys(b"c");
        input.push_replies(ms(0), b"\x1b[1;2R\x1b[1;3R");
        assert_eq!(input.front(), b"ab");
        assert_eq!(written(&mut input), "ab\x1b[0nc\x1b[1;2R\x1b[1;3R");
    }

    #[test]
    fn keys_pass_answers_that_are_not_written_and_nothing_comes_between_half_of_them() {
        let reader = |is_canonical| TtyReader {
            is_canonical,
            ..TtyReader::default()
        };
        let mut input = PtyInput::default();
        input.note_reader(ms(0), reader(true));
        input.push_replies(ms(0), b"\x1b[0n");
        input.push_keys(b"\x1b[A");
        assert_eq!(input.front(), b"\x1b[A");
        input.take(ms(0), 1, &mut EchoHistory::new());
        input.note_reader(ms(1), reader(false));
        assert_eq!(input.front(), b"[A");
        input.take(ms(0), 2, &mut EchoHistory::new());
        // Nor does a key come into half an answer.
        input.push_keys(b"x");
        assert_eq!(input.front(), b"\x1b[0n");
        input.take(ms(0), 2, &mut EchoHistory::new());
        input.note_reader(ms(2), reader(true));
        assert_eq!(written(&mut input), "0nx");
    }

    #[test]
    fn a_state_does_not_wait_for_answers() {
        let (mut input, mut history) = (PtyInput::default(), EchoHistory::new());
        input.push_replies(ms(0), b"\x1b[0n");
        input.mark(ms(7), StateNumber::new(1), &mut history);
        assert_eq!(history.next_advance(), Some(ms(57)));
    }

    #[test]
    fn states_that_wait_for_a_stuck_pty_are_merged_not_piled_up() {
        let (mut input, mut history) = (PtyInput::default(), EchoHistory::new());
        for number in 1..=5000 {
            input.push_keys(b"k");
            input.mark(ms(0), StateNumber::new(number), &mut history);
            assert!(input.waiting.len() <= WAITING_STATES_MAX);
        }
        input.take(ms(0), 5000, &mut history);
        assert!(history.advance(ms(50)));
        assert_eq!(history.echo_ack(), StateNumber::new(5000));
    }
}

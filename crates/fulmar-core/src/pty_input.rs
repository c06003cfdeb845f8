//! The input that waits to be read by the program.

use std::collections::VecDeque;

use fulmar_datagram::Time;
use fulmar_transport::StateNumber;

use crate::echo_ack::EchoHistory;

/// Typed bytes that were accepted and that the pty has not taken.
///
/// Source: docs/threat-model.md §6.
pub(crate) const BACKLOG_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The most that one more state can bring: the longest instruction there is.
///
/// Source: docs/protocol.md §4.
const STATE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Answers of the emulator that wait for the program; more are dropped.
///
/// Source: docs/threat-model.md §6.
const REPLY_BYTES_MAX: usize = 64 * 1024;

/// States whose keys wait for the pty. More are merged, which delays their echo ack.
///
/// Chosen by eye.
const WAITING_STATES_MAX: usize = 1024;

/// The bytes on their way to the program: keys, and the emulator's answers to queries.
#[derive(Debug, Default)]
pub(crate) struct PtyInput {
    backlog: VecDeque<u8>,
    /// Bytes that ever left the backlog at its front.
    taken: u64,
    /// States by the end of their keys, counted as `taken` is.
    waiting: VecDeque<(u64, StateNumber)>,
    /// The end of the last answer, counted as `taken` is, and the sum of the answers before it that
    /// are still in the backlog.
    replies: VecDeque<(u64, usize)>,
    reply_bytes: usize,
    dropped_replies: u64,
}

impl PtyInput {
    /// Appends keys, already translated, of state `number`.
    pub(crate) fn push_keys(&mut self, keys: &[u8]) {
        self.backlog.extend(keys);
    }

    /// Appends an answer of the emulator, unless too many are waiting.
    pub(crate) fn push_reply(&mut self, reply: &[u8]) {
        if reply.is_empty() {
            return;
        }
        if self.reply_bytes + reply.len() > REPLY_BYTES_MAX {
            self.dropped_replies = self.dropped_replies.saturating_add(1);
            return;
        }
        self.backlog.extend(reply);
        self.reply_bytes += reply.len();
        self.replies.push_back((self.end(), reply.len()));
    }

    /// Says that the keys pushed so far are those up to state `number`, so that `history` hears of
    /// it once the program has them all.
    pub(crate) fn mark(&mut self, now: Time, number: StateNumber, history: &mut EchoHistory) {
        if self.backlog.is_empty() {
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
        self.backlog.as_slices().0
    }

    /// Removes `count` bytes that the pty took.
    pub(crate) fn take(&mut self, now: Time, count: usize, history: &mut EchoHistory) {
        let count = count.min(self.backlog.len());
        self.backlog.drain(..count);
        self.taken += count as u64;
        while let Some(&(_, number)) = self.waiting.front().filter(|(end, _)| *end <= self.taken) {
            history.note(now, number);
            self.waiting.pop_front();
        }
        while let Some(&(_, bytes)) = self.replies.front().filter(|(end, _)| *end <= self.taken) {
            self.reply_bytes -= bytes;
            self.replies.pop_front();
        }
        // After a paste of megabytes its room is not kept for the next one.
        if self.backlog.is_empty() && self.backlog.capacity() > REPLY_BYTES_MAX {
            self.backlog.shrink_to(0);
        }
    }

    /// Forgets everything: nobody will read it.
    pub(crate) fn clear(&mut self) {
        *self = PtyInput::default();
    }

    /// Returns true if another state of any size can be accepted.
    pub(crate) fn has_room_for_a_state(&self) -> bool {
        self.backlog.len() + STATE_BYTES_MAX <= BACKLOG_BYTES_MAX
    }

    /// How many answers were dropped because too many were waiting.
    pub(crate) fn dropped_replies(&self) -> u64 {
        self.dropped_replies
    }

    fn end(&self) -> u64 {
        self.taken + self.backlog.len() as u64
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

    #[test]
    fn replies_are_dropped_beyond_their_cap_until_the_program_reads() {
        let (mut input, mut history) = (PtyInput::default(), EchoHistory::new());
        let reply = [b'r'; 1024];
        for _ in 0..64 {
            input.push_reply(&reply);
        }
        assert_eq!(input.dropped_replies(), 0);
        input.push_reply(b"r");
        assert_eq!(input.dropped_replies(), 1);
        input.push_keys(b"typed");
        input.take(ms(0), 1024, &mut history);
        input.push_reply(b"r");
        assert_eq!(input.dropped_replies(), 1);
        input.take(ms(0), usize::MAX, &mut history);
        assert!(input.front().is_empty());
        assert_eq!(input.reply_bytes, 0);
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

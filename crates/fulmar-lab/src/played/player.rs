//! Decides what the played host writes, and when.

use super::stamper::Stamper;
use crate::judge::{ANSWER_WITHIN, Stamp};
use crate::trace::{Event, Size, Trace, typed_keys};
use std::time::Duration;

/// The played host without its terminal: told what was received and what time it is, it says what
/// to write. See [`played`](super).
#[derive(Clone, Debug)]
pub struct Player {
    pieces: Vec<Piece>,
    /// Every byte that the user types in the recording.
    expected: Vec<u8>,
    /// The times at which those of them were received that have been.
    received: Vec<Duration>,
    /// The sizes that the window gets in the recording.
    sizes: Vec<Size>,
    /// The times at which it got those that it has; `None` if nobody tells, and nothing waits for it.
    resized: Option<Vec<Duration>>,
    /// The next piece.
    next: usize,
    /// The time at which everything before its key was written.
    free: Duration,
    /// Bytes that were received and are not in the recording.
    unexpected: usize,
    is_stamped: bool,
}

/// A piece of output.
#[derive(Clone, Debug)]
struct Piece {
    bytes: Vec<u8>,
    /// So many bytes are to be received before it.
    keys: usize,
    /// From the last key before it, or from the beginning.
    gap: Duration,
    /// If the window got another size since the last key: which of its sizes, and from then on.
    resize: Option<(usize, Duration)>,
    /// The position behind it, where a stamp may follow it.
    stamp: Option<Stamp>,
}

/// Something to write, at once and in one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The bytes of the recording.
    pub bytes: Vec<u8>,
    /// The stamp to write behind them, which is not part of the recording.
    pub stamp: Option<Stamp>,
}

impl Player {
    /// Returns the player of a recording, which begins at `now`, with or without stamps.
    pub fn new(trace: &Trace, now: Duration, is_stamped: bool) -> Self {
        let mut script = Script::new(trace.began());
        for record in trace.records() {
            match &record.event {
                Event::User(bytes) => script.type_keys(record.at, bytes),
                Event::Host(bytes) => script.write(record.at, bytes),
                Event::Size(size) => script.resize(record.at, *size),
            }
        }
        Self {
            pieces: script.pieces,
            expected: script.expected,
            received: Vec::new(),
            sizes: script.sizes,
            resized: None,
            next: 0,
            free: now,
            unexpected: 0,
            is_stamped,
        }
    }

    /// Returns the player with pieces that wait for the window's sizes, too.
    #[must_use]
    pub(crate) fn with_sizes(self) -> Self {
        Self {
            resized: Some(Vec::new()),
            ..self
        }
    }

    /// Takes note that the window has got another size. Sizes may be left out.
    pub fn resize(&mut self, now: Duration, size: Size) {
        let Some(resized) = &mut self.resized else {
            return;
        };
        let later = self.sizes.iter().skip(resized.len());
        if let Some(skipped) = later.clone().position(|later| *later == size) {
            resized.extend(std::iter::repeat_n(now, skipped + 1));
        }
    }

    /// Takes what was received.
    pub fn receive(&mut self, now: Duration, bytes: &[u8]) {
        for byte in typed_keys(bytes).flatten() {
            if self.is_next(*byte) {
                self.received.push(now);
            } else {
                self.unexpected += 1;
            }
        }
    }

    /// Arrows come as `ESC O A` or `ESC [ A`, whatever was typed.
    fn is_next(&self, byte: u8) -> bool {
        let (before, rest) = self.expected.split_at(self.received.len());
        let is_in_arrow = before.last() == Some(&0x1b)
            && matches!(rest, [b'[' | b'O', b'A'..=b'D' | b'F' | b'H', ..]);
        rest.first() == Some(&byte) || (is_in_arrow && matches!(byte, b'[' | b'O'))
    }

    /// Returns what is to be written by now, one piece per call.
    pub(crate) fn poll_output(&mut self, now: Duration) -> Option<Output> {
        if self.due()? > now {
            return None;
        }
        let piece = &self.pieces[self.next];
        self.next += 1;
        let next = self.pieces.get(self.next);
        if next.is_some_and(|next| next.keys > piece.keys) {
            self.free = now;
        }
        Some(Output {
            bytes: piece.bytes.clone(),
            stamp: piece.stamp.filter(|_| self.is_stamped),
        })
    }

    /// Returns when to ask for output again, if not for what is received before.
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.due()
    }

    /// True when everything has been written.
    pub fn is_over(&self) -> bool {
        self.next == self.pieces.len()
    }

    /// Returns how many bytes were received that the recording does not have there.
    pub fn unexpected(&self) -> usize {
        self.unexpected
    }

    /// Returns when the next piece is due, if its keys have been received.
    fn due(&self) -> Option<Duration> {
        let piece = self.pieces.get(self.next)?;
        let received = match piece.keys.checked_sub(1) {
            Some(last) => *self.received.get(last)?,
            None => self.free,
        };
        let is_next_key_there = self.received.len() > piece.keys;
        let gap = if is_next_key_there {
            piece.gap.min(ANSWER_WITHIN)
        } else {
            piece.gap
        };
        let due = received.max(self.free) + gap;
        match (&self.resized, piece.resize) {
            (Some(resized), Some((number, gap))) => {
                Some(received.max(self.free).max(*resized.get(number)? + gap))
            }
            _ => Some(due),
        }
    }
}

struct Script {
    pieces: Vec<Piece>,
    expected: Vec<u8>,
    last_key: Duration,
    sizes: Vec<Size>,
    /// The time at which the window got the last of them, if no key came since.
    last_size: Option<Duration>,
    /// The window's size.
    size: Option<Size>,
    stamper: Stamper,
}

impl Script {
    fn new(began: Duration) -> Self {
        Self {
            pieces: Vec::new(),
            expected: Vec::new(),
            last_key: began,
            sizes: Vec::new(),
            last_size: None,
            size: None,
            stamper: Stamper::default(),
        }
    }

    fn type_keys(&mut self, at: Duration, bytes: &[u8]) {
        let before = self.expected.len();
        self.expected.extend(typed_keys(bytes).flatten());
        if self.expected.len() > before {
            self.last_key = at;
            self.last_size = None;
        }
    }

    /// The first size is that of the beginning.
    fn resize(&mut self, at: Duration, size: Size) {
        let before = self.size.replace(size);
        if before.is_some_and(|before| before != size) {
            self.sizes.push(size);
            self.last_size = Some(at);
        }
    }

    fn write(&mut self, at: Duration, bytes: &[u8]) {
        self.pieces.push(Piece {
            bytes: bytes.to_vec(),
            keys: self.expected.len(),
            gap: at - self.last_key,
            resize: self.last_size.map(|size| (self.sizes.len() - 1, at - size)),
            stamp: self.stamper.pass(bytes),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A prompt, `l` and its echo, Enter and two pieces, a key without answer, `s` and its echo.
    const SESSION: &[u8] =
        b"0 SIZE 80 24\n50000 HOST 2\n$ \n1000000 USER 1\nl\n1002000 HOST 1\nl\n\
        1500000 USER 1\n\r\n1503000 HOST 2\n\r\n\n2500000 HOST 4\ndone\n3000000 USER 3\n\x1b[A\n\
        3100000 USER 1\ns\n3101000 HOST 1\ns\n";

    fn player() -> Player {
        Player::new(&Trace::parse(SESSION).unwrap(), ms(10_000), true)
    }

    /// Everything that is written until `now`, with the times at which it was due.
    fn written(player: &mut Player, now: u64) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        while let Some(due) = player.poll_timeout().filter(|due| *due <= ms(now)) {
            let output = player.poll_output(due).expect("it is due");
            let text = String::from_utf8(output.bytes).unwrap();
            all.push((due.as_millis() as u64, text));
        }
        all
    }

    fn lines(expected: &[(u64, &str)]) -> Vec<(u64, String)> {
        let line = |(at, text): &(u64, &str)| (*at, (*text).to_owned());
        expected.iter().map(line).collect()
    }

    #[test]
    fn output_follows_its_keys_as_in_the_recording() {
        let mut player = player();
        assert_eq!(written(&mut player, 60_000), lines(&[(10_050, "$ ")]));
        player.receive(ms(60_000), b"l");
        assert_eq!(written(&mut player, 90_000), lines(&[(60_002, "l")]));
        player.receive(ms(90_000), b"\r");
        let expected = lines(&[(90_003, "\r\n"), (91_000, "done")]);
        assert_eq!(written(&mut player, 99_000), expected);
        player.receive(ms(99_000), b"\x1b[A");
        assert_eq!(written(&mut player, 99_100), []);
        player.receive(ms(99_100), b"s");
        assert_eq!(written(&mut player, 99_900), lines(&[(99_101, "s")]));
        assert!(player.is_over() && player.poll_timeout().is_none());
        assert_eq!(player.unexpected(), 0);
    }

    #[test]
    fn output_follows_a_size_where_somebody_tells() {
        let trace = b"0 SIZE 80 24\n1000000 USER 1\nl\n1002000 HOST 1\nl\n2000000 SIZE 60 20\n\
            2500000 SIZE 40 20\n2505000 HOST 4\nanew\n";
        let mut player = Player::new(&Trace::parse(trace).unwrap(), ms(0), true).with_sizes();
        player.receive(ms(5000), b"l");
        assert_eq!(written(&mut player, 8000), lines(&[(5002, "l")]));
        let size = |columns| Size { columns, rows: 20 };
        player.resize(ms(8000), size(50));
        assert_eq!(written(&mut player, 9000), []);
        player.resize(ms(9000), size(40));
        assert_eq!(written(&mut player, 9500), lines(&[(9005, "anew")]));
        assert!(player.is_over());
    }

    #[test]
    fn a_key_that_is_missing_holds_up_what_follows() {
        let mut player = player();
        written(&mut player, 20_000);
        player.receive(ms(20_000), b"\r");
        assert_eq!((player.poll_timeout(), player.unexpected()), (None, 1));
        assert!(!player.is_over());
    }

    #[test]
    fn keys_in_a_bunch_are_taken_one_after_the_other() {
        let mut player = player();
        written(&mut player, 20_000);
        player.receive(ms(20_000), b"l\r\x1b[As");
        // The long pause before `done` is cut, the answers take their time.
        let expected = [
            (20_002, "l"),
            (20_005, "\r\n"),
            (20_252, "done"),
            (20_253, "s"),
        ];
        assert_eq!(written(&mut player, 30_000), lines(&expected));
    }

    #[test]
    fn keys_may_come_in_pieces_with_arrows_in_either_form_and_answers_between() {
        for rest in [&b"\x1b[As"[..], b"\x1bOAs", b"\x1b[?1;2c\x1bOA\x1b[1;1Rs"] {
            let mut player = player();
            player.receive(ms(20_000), b"l\r");
            player.receive(ms(20_000), rest);
            assert_eq!(
                (written(&mut player, 30_000).len(), player.unexpected()),
                (5, 0)
            );
        }
        let mut player = player();
        for byte in b"l\r\x1bOAs" {
            player.receive(ms(20_000), &[*byte]);
        }
        assert_eq!(
            (written(&mut player, 30_000).len(), player.unexpected()),
            (5, 0)
        );
    }

    #[test]
    fn stamps_say_how_much_was_written_and_cut_no_sequence() {
        let session = b"0 SIZE 80 24\n0 HOST 4\nab\x1b[\n0 HOST 2\n1m\n";
        let outputs = |is_stamped| {
            let trace = Trace::parse(session).unwrap();
            let mut player = Player::new(&trace, ms(0), is_stamped);
            let stamps = std::iter::from_fn(|| player.poll_output(ms(0)));
            stamps.map(|output| output.stamp).collect::<Vec<_>>()
        };
        assert_eq!(outputs(true), [None, Some(Stamp(6))]);
        assert_eq!(outputs(false), [None, None]);
    }

    #[test]
    fn output_waits_for_a_size_only_where_it_came_behind_one() {
        let played = |trace: &[u8]| {
            let mut player = Player::new(&Trace::parse(trace).unwrap(), ms(0), true).with_sizes();
            player.receive(ms(5000), b"ls");
            written(&mut player, 6000).len()
        };
        // The same size once more, and a key behind another size.
        let same = b"0 SIZE 80 24\n1000000 USER 1\nl\n1500000 SIZE 80 24\n1502000 HOST 1\nl\n";
        assert_eq!(played(same), 1);
        let key = b"0 SIZE 80 24\n1000000 USER 1\nl\n1500000 SIZE 60 20\n1600000 USER 1\ns\n\
            1602000 HOST 1\ns\n";
        assert_eq!(played(key), 1);
        let size = b"0 SIZE 80 24\n1000000 USER 1\nl\n1500000 SIZE 60 20\n1502000 HOST 1\nl\n";
        assert_eq!(played(size), 0);
    }
}

//! A timeline of datagrams and predictions, as lines of text: numbers, sizes and causes, never contents.
//!
//! A trace begins with [`HEADER`] and has one line for each datagram, and on the client's side for each
//! thing that prediction decides. A line is a time in
//! milliseconds since the clock's origin, what happened, and `key=value` pairs without spaces:
//!
//! ```text
//! # fulmar trace 2
//! 12.250 sent path=1 sequence=7 bytes=112 fragment=8.0/1 source=4 target=5 ack=9 floor=4 difference=61 cause=frame
//! 98.004 received path=1 sequence=12 bytes=87 verdict=fresh fragment=13.0/1 source=9 target=10 ack=5 floor=8 difference=22 outcome=newest
//! 98.731 dropped path=1 bytes=20 cause=too-short
//! 99.020 typed key=17 class=print epoch=3 rule=0 shown=true
//! 201.377 settled key=17 class=print verdict=right shown=true after=102
//! ```
//!
//! `fragment` is the instruction's id, the index of the piece, and how many there are (`?` where
//! this one does not tell). The numbers of an instruction come with the datagram that completed it.
//! Of a key there is its number among all bytes typed, and its kind, such as `print`, `backspace` or
//! `enter`: which character it was is nowhere. `rule` is what gave its effect: 0 for the usual effect of
//! its kind, a larger number for another, `none` if it is not known, `blind` if that of a key before it
//! is not. Predictions of an `epoch` are shown once it is `confirmed`; `broken` begins another.
//! Readers skip keys that they do not know; anything else gets another number in the header.

use std::fmt::{self, Display, Write};

use fulmar_base::{PathId, SendError, Time};
use fulmar_datagram::FragmentHeader;
use fulmar_predict::PredictionDecision;
use fulmar_transport::{
    DatagramVerdict, InstructionReceived, Numbers, Received, StateOutcome, Transmit,
};

/// The first line of a trace, with the version of its format.
pub const HEADER: &str = "# fulmar trace 2\n";

/// Appends a line for each datagram of a transmission.
pub fn sent(out: &mut String, now: Time, transmit: &Transmit) {
    let numbers = &transmit.numbers;
    let mut left = transmit.length;
    for place in 0..transmit.datagrams() as u64 {
        let bytes = left.min(transmit.segment);
        left -= bytes;
        let mut line = Line::begin(out, now, "sent", transmit.path);
        line.pair("sequence", numbers.sequence.get() + place);
        line.pair("bytes", bytes);
        let FragmentHeader { id, index, .. } = numbers.fragment;
        let index = u64::from(index.get()) + place;
        let fragments = numbers.fragments;
        line.pair("fragment", format_args!("{id}.{index}/{fragments}"));
        line.numbers(&numbers.instruction);
        line.pair("difference", numbers.difference_bytes);
        line.pair("cause", Word(transmit.cause));
        line.end();
    }
}

/// Appends a line for a datagram that arrived, of so many bytes.
pub fn received(out: &mut String, now: Time, path: PathId, bytes: usize, received: &Received) {
    let verb = match received.verdict {
        DatagramVerdict::Fresh | DatagramVerdict::Late => "received",
        DatagramVerdict::Dropped(_) => "dropped",
    };
    let mut line = Line::begin(out, now, verb, path);
    if let Some(sequence) = received.sequence {
        line.pair("sequence", sequence.get());
    }
    line.pair("bytes", bytes);
    match received.verdict {
        DatagramVerdict::Fresh => line.pair("verdict", "fresh"),
        DatagramVerdict::Late => line.pair("verdict", "late"),
        DatagramVerdict::Dropped(reason) => line.pair("cause", Word(reason)),
    }
    if let Some(FragmentHeader {
        id,
        index,
        is_final,
    }) = received.fragment
    {
        let index = index.get();
        if is_final {
            line.pair("fragment", format_args!("{id}.{index}/{}", index + 1))
        } else {
            line.pair("fragment", format_args!("{id}.{index}/?"))
        }
    }
    if let Some(instruction) = &received.instruction {
        line.instruction(instruction);
    }
    line.end();
}

/// Appends a line for a transmission that the system refused.
pub fn send_failed(out: &mut String, now: Time, path: PathId, error: SendError) {
    let mut line = Line::begin(out, now, "refused", path);
    let cause = match error {
        SendError::TooBig => "too-big",
        SendError::Unreachable | SendError::SourceGone => "unreachable",
        SendError::Refused => "refused",
        SendError::Forbidden => "forbidden",
        SendError::NoRoom => "no-room",
        SendError::Other => "other",
    };
    line.pair("cause", cause);
    line.end();
}

/// Appends a line for what prediction has decided.
pub fn decided(out: &mut String, at: Time, decision: &PredictionDecision) {
    let mut line = Line::at(out, at);
    line.write(format_args!(" {}", with_dashes(&decision.to_string())));
    line.end();
}

/// Returns names such as `WordLeft` as traces have them: `word-left`.
fn with_dashes(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    for character in text.chars() {
        if character.is_uppercase() && out.ends_with(|last: char| last.is_lowercase()) {
            out.push('-');
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}

/// A line in the making.
struct Line<'a> {
    out: &'a mut String,
}

impl<'a> Line<'a> {
    fn at(out: &'a mut String, now: Time) -> Line<'a> {
        let elapsed = now.since_origin();
        let mut line = Line { out };
        line.write(format_args!(
            "{}.{:03}",
            elapsed.as_millis(),
            elapsed.subsec_micros() % 1000
        ));
        line
    }

    fn begin(out: &'a mut String, now: Time, verb: &str, path: PathId) -> Line<'a> {
        let mut line = Line::at(out, now);
        line.write(format_args!(" {verb}"));
        line.pair("path", path.get());
        line
    }

    fn write(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(text);
    }

    fn pair(&mut self, key: &str, value: impl Display) {
        self.write(format_args!(" {key}={value}"));
    }

    fn numbers(&mut self, numbers: &Numbers) {
        self.pair("source", numbers.source);
        self.pair("target", numbers.target);
        self.pair("ack", numbers.acknowledged);
        self.pair("floor", numbers.throwaway);
    }

    fn instruction(&mut self, instruction: &InstructionReceived) {
        self.numbers(&instruction.numbers);
        self.pair("difference", instruction.difference_bytes);
        let outcome = match instruction.outcome {
            Some(StateOutcome::Newest) => "newest",
            Some(StateOutcome::Behind) => "behind",
            Some(StateOutcome::Duplicate) => "duplicate",
            None => return,
        };
        self.pair("outcome", outcome);
    }

    fn end(self) {
        self.out.push('\n');
    }
}

/// A name without spaces.
struct Word<T>(T);

impl<T: Display> Display for Word<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_string().replace(' ', "-"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fulmar_base::Ecn;
    use fulmar_datagram::{DatagramOrder, FragmentIndex, Sequence};
    use fulmar_predict::{KeyClass, KeyRule};
    use fulmar_transport::{Cause, DropReason, StateNumber, TransmitNumbers};

    use super::*;

    const PATH: PathId = PathId::new(3);
    const NOW: Time = Time::from_origin(Duration::from_micros(12_250));

    fn numbers() -> Numbers {
        Numbers {
            source: StateNumber::new(4),
            target: StateNumber::SHUTDOWN,
            acknowledged: StateNumber::new(9),
            throwaway: StateNumber::new(4),
        }
    }

    fn fragment(index: u16, is_final: bool) -> FragmentHeader {
        FragmentHeader {
            id: 8,
            index: FragmentIndex::new(index).unwrap(),
            is_final,
        }
    }

    #[test]
    fn each_datagram_of_a_transmission_has_its_line() {
        let transmit = Transmit {
            path: PATH,
            ecn: Ecn::Capable0,
            length: 1252 + 100,
            segment: 1252,
            cause: Cause::FirstRepeat,
            numbers: TransmitNumbers {
                sequence: Sequence::new(7).unwrap(),
                fragment: fragment(0, false),
                fragments: 2,
                instruction: numbers(),
                difference_bytes: 2000,
            },
        };
        let mut out = String::new();
        sent(&mut out, NOW, &transmit);
        assert_eq!(
            out,
            "12.250 sent path=3 sequence=7 bytes=1252 fragment=8.0/2 source=4 target=end ack=9 \
             floor=4 difference=2000 cause=first-repeat\n\
             12.250 sent path=3 sequence=8 bytes=100 fragment=8.1/2 source=4 target=end ack=9 \
             floor=4 difference=2000 cause=first-repeat\n"
        );
    }

    #[test]
    fn an_arrival_tells_what_became_of_it() {
        let mut arrived = Received {
            verdict: DatagramVerdict::Fresh,
            sequence: Sequence::new(12),
            order: Some(DatagramOrder::InOrder),
            fragment: Some(fragment(1, true)),
            instruction: Some(InstructionReceived {
                numbers: numbers(),
                difference_bytes: 22,
                outcome: Some(StateOutcome::Newest),
            }),
            work: 0,
        };
        let mut out = String::new();
        received(&mut out, NOW, PATH, 87, &arrived);
        assert_eq!(
            out,
            "12.250 received path=3 sequence=12 bytes=87 verdict=fresh fragment=8.1/2 source=4 \
             target=end ack=9 floor=4 difference=22 outcome=newest\n"
        );
        arrived = Received {
            verdict: DatagramVerdict::Dropped(DropReason::BadSeal),
            sequence: None,
            order: None,
            fragment: None,
            instruction: None,
            work: 0,
        };
        out.clear();
        received(&mut out, NOW, PATH, 87, &arrived);
        assert_eq!(out, "12.250 dropped path=3 bytes=87 cause=bad-seal\n");
    }

    #[test]
    fn of_a_key_its_kind_is_told_and_not_which_it_was() {
        let mut out = String::new();
        let typed = PredictionDecision::Typed {
            key: 17,
            class: KeyClass::Print,
            rule: KeyRule::Effect { variant: 0 },
            epoch: 3,
            shown: true,
        };
        decided(&mut out, NOW, &typed);
        assert_eq!(
            out,
            "12.250 typed key=17 class=print epoch=3 rule=0 shown=true\n"
        );
        out.clear();
        let settled = PredictionDecision::Settled {
            key: 18,
            class: KeyClass::WordLeft,
            verdict: fulmar_predict::PredictionVerdict::Right,
            shown: false,
            after: Duration::from_millis(102),
        };
        decided(&mut out, NOW, &settled);
        assert_eq!(
            out,
            "12.250 settled key=18 class=word-left verdict=right shown=false after=102\n"
        );
    }

    #[test]
    fn what_the_system_refused_is_told() {
        let mut out = String::new();
        send_failed(&mut out, NOW, PATH, SendError::TooBig);
        assert_eq!(out, "12.250 refused path=3 cause=too-big\n");
    }
}

//! Judges whether the host got what was typed.

use crate::trace::keystrokes;
use serde::{Deserialize, Serialize};

/// Keys compared on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Keys typed.
    pub typed: usize,
    /// Keys that the host received.
    pub received: usize,
    /// Keys that the host never received, while it did receive later ones.
    pub lost: usize,
    /// Keys that it received twice or more often in a row, each time too many counted.
    pub doubled: usize,
    /// Keys that it received at another place in the order.
    pub reordered: usize,
    /// Keys that it received and nobody typed.
    #[serde(rename = "strange")]
    pub unexpected: usize,
    /// Keys at the end that it had not received when the run ended.
    pub under_way: usize,
}

impl Delivery {
    /// True when all that was typed arrived once and in order, but for what was under way.
    pub fn is_faithful(&self) -> bool {
        self.lost == 0 && self.doubled == 0 && self.reordered == 0 && self.unexpected == 0
    }

    /// Compares the bytes that were typed with those that were received, answers of terminals
    /// aside.
    ///
    /// Arrows count as equal in both of their forms, since a peer translates between them.
    pub fn compare(typed: &[u8], received: &[u8]) -> Self {
        let (typed, received) = (keys(typed), keys(received));
        let pairs = matched(&typed, &received);
        let last = pairs.last().map_or(0, |(typed, _)| typed + 1);
        let mut missing = left_over(typed.len(), pairs.iter().map(|pair| pair.0));
        let extra = left_over(received.len(), pairs.iter().map(|pair| pair.1));
        let mut delivery = Self {
            typed: typed.len(),
            received: received.len(),
            ..Self::default()
        };
        for key in extra {
            if let Some(moved) = missing.iter().position(|one| typed[*one] == received[key]) {
                missing.remove(moved);
                delivery.reordered += 1;
            } else if is_repeated(&received, key) {
                delivery.doubled += 1;
            } else {
                delivery.unexpected += 1;
            }
        }
        delivery.lost = missing.iter().filter(|key| **key < last).count();
        delivery.under_way = missing.len() - delivery.lost;
        delivery
    }
}

/// Cuts bytes into keys, with arrows, Home and End in their plain form.
fn keys(bytes: &[u8]) -> Vec<Vec<u8>> {
    keystrokes(bytes)
        .filter(|keystroke| keystroke.kind.is_typed())
        .map(|keystroke| plain(keystroke.bytes))
        .collect()
}

/// Returns a key in the form in which it can be compared: `ESC O A` as `ESC [ A`.
pub fn plain(key: &[u8]) -> Vec<u8> {
    match key {
        [0x1b, b'O', last @ (b'A'..=b'D' | b'F' | b'H')] => vec![0x1b, b'[', *last],
        _ => key.to_vec(),
    }
}

/// Returns the numbers below `count` that are not among some, which are in order.
fn left_over(count: usize, mut some: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut next = some.next();
    let is_left = |number: &usize| {
        let is_found = next == Some(*number);
        if is_found {
            next = some.next();
        }
        !is_found
    };
    (0..count).filter(is_left).collect()
}

fn is_repeated(received: &[Vec<u8>], key: usize) -> bool {
    let neighbours = [key.checked_sub(1), key.checked_add(1)];
    neighbours
        .into_iter()
        .flatten()
        .any(|neighbour| received.get(neighbour) == Some(&received[key]))
}

/// Returns pairs of equal keys, in the order of both, and as many as possible.
fn matched(typed: &[Vec<u8>], received: &[Vec<u8>]) -> Vec<(usize, usize)> {
    let alike = |(one, other): &(&Vec<u8>, &Vec<u8>)| one == other;
    let head = typed.iter().zip(received).take_while(alike).count();
    let (rest, rest_received) = (&typed[head..], &received[head..]);
    let tail = rest.iter().rev().zip(rest_received.iter().rev());
    let tail = tail.take_while(alike).count();
    let middle = longest_common(
        &rest[..rest.len() - tail],
        &rest_received[..rest_received.len() - tail],
    );
    let heads = (0..head).map(|key| (key, key));
    let middles = middle
        .into_iter()
        .map(|(one, other)| (head + one, head + other));
    let tails = (1..=tail)
        .rev()
        .map(|back| (typed.len() - back, received.len() - back));
    heads.chain(middles).chain(tails).collect()
}

/// Above this many pairs of keys nothing is matched: what differs so much is another session. Chosen by eye: the table
/// for it has 100 MB.
const PAIRS_MAX: usize = 25_000_000;

/// The longest common subsequence, by the table of lengths.
fn longest_common(one: &[Vec<u8>], other: &[Vec<u8>]) -> Vec<(usize, usize)> {
    if one.len().saturating_mul(other.len()) > PAIRS_MAX {
        return Vec::new();
    }
    let width = other.len() + 1;
    let mut lengths = vec![0_u32; (one.len() + 1) * width];
    for row in (0..one.len()).rev() {
        for column in (0..other.len()).rev() {
            lengths[row * width + column] = if one[row] == other[column] {
                lengths[(row + 1) * width + column + 1] + 1
            } else {
                lengths[(row + 1) * width + column].max(lengths[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column, mut pairs) = (0, 0, Vec::new());
    while row < one.len() && column < other.len() {
        if one[row] == other[column] {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lost, doubled, reordered, unexpected, under way.
    fn compared(typed: &str, received: &str) -> [usize; 5] {
        let delivery = Delivery::compare(typed.as_bytes(), received.as_bytes());
        [
            delivery.lost,
            delivery.doubled,
            delivery.reordered,
            delivery.unexpected,
            delivery.under_way,
        ]
    }

    #[test]
    fn what_arrives_as_typed_is_faithful() {
        assert_eq!(compared("ls -l\r", "ls -l\r"), [0; 5]);
        assert_eq!(compared("", ""), [0; 5]);
        assert!(Delivery::compare(b"ls", b"ls").is_faithful());
    }

    #[test]
    fn each_fault_has_its_count() {
        assert_eq!(compared("abcdef", "abdef"), [1, 0, 0, 0, 0]);
        assert_eq!(compared("abcdef", "abccdef"), [0, 1, 0, 0, 0]);
        assert_eq!(compared("abcdef", "abdcef"), [0, 0, 1, 0, 0]);
        assert_eq!(compared("abcdef", "abXcdef"), [0, 0, 0, 1, 0]);
        assert_eq!(compared("abcdef", "abcd"), [0, 0, 0, 0, 2]);
        assert_eq!(compared("abcdefgh", "acdefg"), [1, 0, 0, 0, 1]);
    }

    #[test]
    fn large_differences_are_counted_without_being_matched() {
        let typed = "ab".repeat(3_000);
        let received = "cd".repeat(3_000);
        assert_eq!(compared(&typed, &received), [0, 0, 0, 6_000, 6_000]);
    }

    #[test]
    fn arrows_are_equal_in_both_forms_and_answers_do_not_count() {
        assert_eq!(compared("\x1b[A\x1bOB", "\x1bOA\x1b[?1;2c\x1b[B"), [0; 5]);
        assert_eq!(compared("\x1b[A", "\x1b[B")[3], 1);
    }

    #[test]
    fn an_escape_key_before_another_is_the_same_on_both_sides() {
        assert_eq!(compared("\x1bjj", "\x1bjj"), [0; 5]);
        assert_eq!(compared("\x1b[cx", "\x1b[cx"), [0; 5]);
    }

    #[test]
    fn any_fault_makes_it_unfaithful_and_what_is_under_way_does_not() {
        let is_faithful = |typed: &str, received: &str| {
            Delivery::compare(typed.as_bytes(), received.as_bytes()).is_faithful()
        };
        assert!(is_faithful("abcd", "abc"));
        for received in ["abdef", "abccdef", "abdcef", "abXcdef"] {
            assert!(!is_faithful("abcdef", received), "{received}");
        }
    }
}

//! Types as a person does: gaps, slips and second thoughts.

use fulmar_sim::Random;
use std::time::Duration;

/// Draws the rhythm of a person from a seed.
///
/// The law is log-normal with a median of 130 ms, as in the older recordings of this project, so that all of them
/// are of one kind. The limits and shares were chosen by hand for a fast typist.
#[derive(Debug)]
pub struct TypingRhythm {
    random: Random,
}

/// A press of a key while text is typed: after this gap, these bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedKey {
    /// The time since the key before it.
    pub gap: Duration,
    /// The bytes that the key sends.
    pub bytes: Vec<u8>,
}

/// The share of letters that are mistyped.
const SLIPS: f64 = 0.035;

/// The share of blanks after which somebody pauses.
const PAUSES: f64 = 0.15;

const BACKSPACE: &str = "\x7f";

impl TypingRhythm {
    /// Returns the rhythm of a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::stream(seed, 0),
        }
    }

    /// Returns the gap before a character.
    pub fn typing(&mut self) -> Duration {
        self.gap(130.0, 60.0..300.0)
    }

    /// Returns the gap before a key that is a command.
    pub fn command(&mut self) -> Duration {
        self.gap(165.0, 70.0..350.0)
    }

    /// Returns how long somebody thinks before the next command.
    pub fn thought(&mut self) -> Duration {
        self.between(400, 1200)
    }

    /// Returns how long it takes to compose and choose a word with an input method.
    pub(crate) fn composing(&mut self) -> Duration {
        self.between(350, 1000)
    }

    /// Returns the keys that type `text`; slips are mended before the text goes on.
    pub fn text(&mut self, text: &str, has_slips: bool) -> Vec<TimedKey> {
        let characters: Vec<char> = text.chars().collect();
        let mut touches = Vec::new();
        for (index, character) in characters.iter().enumerate() {
            if has_slips && self.happens(SLIPS) {
                self.slip(&characters[index..], &mut touches);
            }
            let mut gap = self.typing();
            if index > 0 && characters[index - 1] == ' ' && self.happens(PAUSES) {
                gap += self.between(200, 600);
            }
            touches.push(TimedKey::new(gap, character.to_string()));
        }
        touches
    }

    /// Hits the neighbour of a letter, types on for a moment, notices and takes it back.
    fn slip(&mut self, rest: &[char], touches: &mut Vec<TimedKey>) {
        let Some(wrong) = rest.first().and_then(|letter| self.neighbour(*letter)) else {
            return;
        };
        let unnoticed = self.random.below(3) as usize;
        let typed = std::iter::once(wrong).chain(rest.iter().skip(1).take(unnoticed).copied());
        let typed: Vec<char> = typed.collect();
        for character in &typed {
            touches.push(TimedKey::new(self.typing(), character.to_string()));
        }
        for number in 0..typed.len() {
            let mut gap = self.typing();
            if number == 0 {
                gap += self.between(150, 400);
            }
            touches.push(TimedKey::new(gap, BACKSPACE.to_owned()));
        }
    }

    /// Returns a key beside that of a letter.
    fn neighbour(&mut self, letter: char) -> Option<char> {
        let rows = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
        let row = rows.iter().find(|row| row.contains(letter))?;
        let at = row.find(letter)?;
        let right = match at {
            0 => true,
            _ if at + 1 == row.len() => false,
            _ => self.happens(0.5),
        };
        let beside = if right { at + 1 } else { at - 1 };
        row.chars().nth(beside)
    }

    /// Draws milliseconds from a log-normal law and keeps them within limits.
    fn gap(&mut self, median: f64, limits: std::ops::Range<f64>) -> Duration {
        const SPREAD: f64 = 0.4;
        // Box and Muller; `1 - unit` is never 0.
        let radius = (-2.0 * (1.0 - self.random.unit()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.random.unit()).cos();
        let millis = median * (SPREAD * normal).exp();
        Duration::from_secs_f64(millis.clamp(limits.start, limits.end) / 1e3)
    }

    fn between(&mut self, from_ms: u64, to_ms: u64) -> Duration {
        let (from, to) = (Duration::from_millis(from_ms), Duration::from_millis(to_ms));
        self.random.between(from, to)
    }

    fn happens(&mut self, share: f64) -> bool {
        self.random.unit() < share
    }
}

impl TimedKey {
    fn new(gap: Duration, text: String) -> Self {
        Self {
            gap,
            bytes: text.into_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text that stands there after all keys.
    fn result(touches: &[TimedKey]) -> String {
        let mut text = String::new();
        for touch in touches {
            match touch.bytes.as_slice() {
                b"\x7f" => drop(text.pop()),
                bytes => text.push_str(std::str::from_utf8(bytes).unwrap()),
            }
        }
        text
    }

    #[test]
    fn a_seed_types_the_same_again() {
        let typed = |seed| TypingRhythm::new(seed).text("the same words", true);
        assert_eq!(typed(3), typed(3));
        assert_ne!(typed(3), typed(4));
    }

    #[test]
    fn slips_are_mended_and_some_letters_are_mistyped() {
        let text = "every quick brown fox, jumping: over 12 lazy dogs naïvely ".repeat(40);
        let touches = TypingRhythm::new(1).text(&text, true);
        assert_eq!(result(&touches), text);
        let mended = touches.iter().filter(|touch| touch.bytes == b"\x7f");
        let share = mended.count() as f64 / text.len() as f64;
        // 3.5 % of the letters, of which some are none, with 2 backspaces each in the middle.
        assert!((0.03..0.09).contains(&share), "{share}");
        assert_eq!(
            TypingRhythm::new(1).text(&text, false).len(),
            text.chars().count()
        );
    }

    #[test]
    fn gaps_are_those_of_a_fast_typist() {
        let mut rhythm = TypingRhythm::new(2);
        let mut gaps: Vec<u128> = (0..2001).map(|_| rhythm.typing().as_millis()).collect();
        gaps.sort_unstable();
        assert!(gaps[0] >= 60 && gaps[2000] <= 300);
        assert!((120..140).contains(&gaps[1000]), "{}", gaps[1000]);
        assert!((0..500).all(|_| (70..=350).contains(&rhythm.command().as_millis())));
        assert!((0..500).all(|_| (400..=1200).contains(&rhythm.thought().as_millis())));
    }

    #[test]
    fn a_neighbour_lies_beside_its_letter_in_the_row() {
        let neighbours = |letter| {
            let of = |seed| TypingRhythm::new(seed).neighbour(letter);
            let mut found: Vec<Option<char>> = (0..40).map(of).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        assert_eq!(neighbours('q'), [Some('w')]);
        assert_eq!(neighbours('p'), [Some('o')]);
        assert_eq!(neighbours('s'), [Some('a'), Some('d')]);
        assert_eq!(neighbours(' '), [None]);
    }

    #[test]
    fn a_slip_goes_on_for_a_moment_and_is_taken_back() {
        let mut lengths = Vec::new();
        for seed in 0..40 {
            let mut touches = Vec::new();
            TypingRhythm::new(seed).slip(&['q', '1', '2', '3'], &mut touches);
            let (typed, back) = touches.split_at(touches.len() / 2);
            let typed: Vec<u8> = typed.iter().flat_map(|key| key.bytes.clone()).collect();
            assert_eq!(typed, b"w12"[..typed.len()]);
            assert!(back.iter().all(|key| key.bytes == b"\x7f"));
            lengths.push(typed.len());
        }
        assert!(
            (1..=3).all(|length| lengths.contains(&length)),
            "{lengths:?}"
        );
    }

    #[test]
    fn somebody_pauses_after_blanks_and_nowhere_else() {
        let gaps = |text: &str| -> Vec<u128> {
            let keys = TypingRhythm::new(3).text(&text.repeat(500), false);
            keys.iter().map(|key| key.gap.as_millis()).collect()
        };
        assert!(gaps("x").iter().all(|gap| *gap <= 300));
        let (letters, blanks): (Vec<_>, Vec<_>) = gaps("x ")
            .into_iter()
            .enumerate()
            .partition(|(number, _)| number % 2 == 0);
        assert!(blanks.iter().all(|(_, gap)| *gap <= 300));
        // The longest gap without a pause and the shortest with one are 300 and 260 ms.
        let pauses = letters.iter().filter(|(_, gap)| *gap > 300).count();
        assert!((50..100).contains(&pauses), "{pauses} of 500");
        assert!(letters.iter().all(|(_, gap)| *gap <= 900));
    }
}

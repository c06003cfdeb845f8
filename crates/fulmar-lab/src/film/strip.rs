//! The looks of one part of a drawing, one after the other.

use std::fmt::Write as _;
use std::time::Duration;

/// The looks of a part of the drawing, with the time from which each is shown. Equal looks are stored once.
pub(super) struct Strip<Look> {
    looks: Vec<Look>,
    /// The times of changes, with the number of the look that is shown from then on.
    shown: Vec<(Duration, usize)>,
}

impl<Look: PartialEq> Strip<Look> {
    /// Returns a strip that begins with this look.
    pub(super) fn new(first: Look) -> Self {
        Self {
            looks: vec![first],
            shown: vec![(Duration::ZERO, 0)],
        }
    }

    /// Shows a look from this time on, which is not before the last one's.
    pub(super) fn show(&mut self, at: Duration, look: Look) {
        let known = self.looks.iter().position(|known| *known == look);
        let number = known.unwrap_or_else(|| {
            self.looks.push(look);
            self.looks.len() - 1
        });
        if number != self.last() {
            // Nobody sees what is replaced at the same time.
            self.shown.retain(|(shown, _)| *shown < at);
            self.shown.push((at, number));
        }
    }

    /// Returns its looks, which are numbered in this order.
    pub(super) fn looks(&self) -> &[Look] {
        &self.looks
    }

    /// Returns the number of the look at the end.
    pub(super) fn last(&self) -> usize {
        self.shown.last().map_or(0, |(_, number)| *number)
    }

    /// Returns true if anything changes.
    pub(super) fn moves(&self) -> bool {
        self.shown.len() > 1
    }

    /// Returns the keyframes of a stylesheet that move the drawing to each look in turn, within this length.
    pub(super) fn keyframes(
        &self,
        name: &str,
        length: Duration,
        place: impl Fn(usize) -> String,
    ) -> String {
        let mut rule = format!("@keyframes {name}{{");
        for (at, number) in &self.shown {
            let percent = 100.0 * at.as_secs_f64() / length.as_secs_f64();
            // Writing to a string does not fail.
            let _ = write!(rule, "{percent:.2}%{{transform:{}}}", place(*number));
        }
        rule + "}\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_look_that_comes_back_is_stored_once() {
        let mut strip = Strip::new("a");
        for (at, look) in [(100, "b"), (200, "b"), (300, "a")] {
            strip.show(millis(at), look);
        }
        assert_eq!((strip.looks(), strip.last()), (&["a", "b"][..], 0));
        let rule = strip.keyframes("k", millis(1000), |number| format!("x({number})"));
        let expected =
            "@keyframes k{0.00%{transform:x(0)}10.00%{transform:x(1)}30.00%{transform:x(0)}}\n";
        assert_eq!(rule, expected);
    }

    #[test]
    fn of_what_changes_at_the_same_time_the_last_is_shown() {
        let mut strip = Strip::new("a");
        strip.show(millis(0), "b");
        assert!(!strip.moves());
        strip.show(millis(5), "c");
        strip.show(millis(5), "d");
        assert!(strip.moves());
        let rule = strip.keyframes("k", millis(10), |number| strip.looks()[number].to_owned());
        assert_eq!(
            rule,
            "@keyframes k{0.00%{transform:b}50.00%{transform:d}}\n"
        );
    }
}

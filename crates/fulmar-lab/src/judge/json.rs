//! Verdicts for machines.

use super::delivery::Delivery;
use super::verdict::{KeyVerdict, Verdict};
use super::wrong::Wrong;
use crate::stats::Observation;
use serde_json::{Value, json};
use std::time::Duration;

impl Verdict {
    /// Returns all of it as JSON.
    ///
    /// Times are milliseconds with fractions, from the start of the play. A wait is
    /// `{"ms": 103.2}`, with `"censored": true` where it was in vain, and `null` for a key without effect.
    pub fn to_json(&self) -> Value {
        json!({
            "length_ms": ms(self.length),
            "is_stamped": self.is_stamped,
            "is_settled": self.is_settled,
            "longest_stall_ms": ms(self.longest_stall),
            "differences_at_end": self.differences_at_end,
            "delivery": self.delivery.to_json(),
            "keys": self.keys.iter().map(KeyVerdict::to_json).collect::<Vec<_>>(),
            "wrongs": self.wrongs.iter().map(Wrong::to_json).collect::<Vec<_>>(),
        })
    }
}

impl KeyVerdict {
    fn to_json(&self) -> Value {
        json!({
            "typed_ms": ms(self.typed),
            "own": self.own.map(wait),
            "whole": self.whole.map(wait),
            "first_output": wait(self.first_output),
            "wrong": self.wrong,
        })
    }
}

impl Wrong {
    fn to_json(&self) -> Value {
        let place = self.place.map(|place| json!([place.row, place.column]));
        json!({
            "place": place.unwrap_or("cursor".into()),
            "since_ms": ms(self.since),
            "lasted_ms": ms(self.lasted),
            "key": self.key,
        })
    }
}

impl Delivery {
    fn to_json(self) -> Value {
        json!({
            "typed": self.typed,
            "received": self.received,
            "lost": self.lost,
            "doubled": self.doubled,
            "reordered": self.reordered,
            "strange": self.strange,
            "under_way": self.under_way,
        })
    }
}

fn wait(observation: Observation) -> Value {
    match observation {
        Observation::After(time) => json!({ "ms": ms(time) }),
        Observation::Censored(time) => json!({ "ms": ms(time), "censored": true }),
    }
}

/// Milliseconds, to the microsecond that the records have.
pub(crate) fn ms(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Place;

    #[test]
    fn a_verdict_says_what_it_knows() {
        let millis = Duration::from_millis;
        let verdict = Verdict {
            keys: vec![
                KeyVerdict {
                    typed: millis(1000),
                    own: Some(Observation::After(Duration::from_micros(1500))),
                    whole: Some(Observation::Censored(millis(80))),
                    first_output: Observation::After(millis(1)),
                    wrong: 1,
                },
                KeyVerdict {
                    typed: millis(1010),
                    own: None,
                    whole: None,
                    first_output: Observation::Censored(millis(70)),
                    wrong: 0,
                },
            ],
            wrongs: vec![Wrong {
                place: Some(Place { row: 3, column: 7 }),
                since: millis(1001),
                lasted: millis(40),
                key: Some(0),
            }],
            delivery: Delivery::compare(b"ab", b"a"),
            longest_stall: millis(80),
            length: millis(1080),
            is_stamped: true,
            is_settled: true,
            differences_at_end: 0,
        };
        let expected = json!({
            "length_ms": 1080.0, "is_stamped": true, "is_settled": true, "longest_stall_ms": 80.0,
            "differences_at_end": 0,
            "delivery": { "typed": 2, "received": 1, "lost": 0, "doubled": 0, "reordered": 0,
                "strange": 0, "under_way": 1 },
            "keys": [
                { "typed_ms": 1000.0, "own": { "ms": 1.5 }, "whole": { "ms": 80.0, "censored": true },
                    "first_output": { "ms": 1.0 }, "wrong": 1 },
                { "typed_ms": 1010.0, "own": null, "whole": null,
                    "first_output": { "ms": 70.0, "censored": true }, "wrong": 0 },
            ],
            "wrongs": [{ "place": [3, 7], "since_ms": 1001.0, "lasted_ms": 40.0, "key": 0 }],
        });
        assert_eq!(verdict.to_json(), expected);
    }
}

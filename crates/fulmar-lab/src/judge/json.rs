//! Verdicts for machines.

/// A place as `[row, column]`, or `"cursor"`.
pub(crate) mod place {
    use crate::judge::CellPosition;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Form {
        Cell(u16, u16),
        Cursor(Cursor),
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Cursor {
        Cursor,
    }

    #[expect(clippy::ref_option, reason = "the signature is serde's")]
    pub(crate) fn serialize<S: Serializer>(
        place: &Option<CellPosition>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match place {
            Some(place) => Form::Cell(place.row, place.column),
            None => Form::Cursor(Cursor::Cursor),
        }
        .serialize(to)
    }

    pub(crate) fn deserialize<'a, D: Deserializer<'a>>(
        from: D,
    ) -> Result<Option<CellPosition>, D::Error> {
        Ok(match Form::deserialize(from)? {
            Form::Cell(row, column) => Some(CellPosition { row, column }),
            Form::Cursor(Cursor::Cursor) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::{CellPosition, Delivery, KeyVerdict, RunVerdict, WrongInterval};
    use crate::stats::Observation;
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn a_verdict_says_what_it_knows() {
        let millis = Duration::from_millis;
        let verdict = RunVerdict {
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
            wrongs: vec![WrongInterval {
                place: Some(CellPosition { row: 3, column: 7 }),
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
        assert_eq!(serde_json::to_value(&verdict).unwrap(), expected);
        assert_eq!(
            serde_json::from_value::<RunVerdict>(expected).unwrap(),
            verdict
        );
    }
}

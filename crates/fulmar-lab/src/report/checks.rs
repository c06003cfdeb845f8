//! The checks of the measurements: the self-check of the emulation, and pairs of equal runs.

use serde_json::Value;

use super::number::rounded;
use super::part::PageSection;
use super::table::{Table, head, maybe, row, words};
use crate::markup::{Element, described, element, folded};
use crate::run::{PairComparison, PairReport};

/// Returns the section of a self-check.
pub(super) fn precision(findings: &Value) -> PageSection {
    let about = "Probes between the two hosts of a link, timed by the kernel: nothing that is measured \
                 comes from the emulation itself.";
    let mut inner = vec![element("p").text(about)];
    inner.extend(self_check(findings));
    inner.extend(machine(findings));
    PageSection::new("precision", "How precise the emulation is", inner)
}

fn self_check(findings: &Value) -> Option<Element> {
    let mut table = Table::new("Self-check of the emulation")
        .words(["check", "setting", "measured", "wanted", "verdict"]);
    for check in findings["checks"].as_array()? {
        let text = |name: &str| check[name].as_str().unwrap_or_default().to_owned();
        let measured = match text("measured") {
            empty if empty.is_empty() => numbers(&check["numbers"]),
            measured => measured,
        };
        let is_good = check["good"].as_bool().unwrap_or(false);
        let (class, verdict) = if is_good {
            ("good", "✓ ok")
        } else {
            ("bad", "✗ not ok")
        };
        table.row(row([
            head(text("what")),
            words(text("setting")),
            words(measured),
            words(text("wanted")),
            words(verdict).class(class),
        ]));
    }
    table.element()
}

/// Numbers of a check that has no words of its own.
fn numbers(value: &Value) -> String {
    let Some(numbers) = value.as_object() else {
        return String::new();
    };
    let shown = numbers.iter().filter_map(|(name, value)| {
        let name = name.replace('_', " ");
        value
            .as_f64()
            .map(|number| format!("{name} {}", rounded(number)))
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn machine(findings: &Value) -> Option<Element> {
    let machine = findings["machine"].as_object()?;
    let facts = machine.iter().map(|(name, value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Bool(is_so) => if *is_so { "yes" } else { "no" }.to_owned(),
            other => other.as_f64().map_or(String::new(), rounded),
        };
        (name.replace('_', " "), value)
    });
    Some(described(facts))
}

/// Returns the section of what `fulmar-lab pairs` has found.
pub(super) fn pairs(found: &PairReport) -> PageSection {
    let about = "Pairs of runs with equal settings. Blocks of 20 keys of each are drawn 1000 times; where \
                 the interval of 90 % for the difference of the medians of the whole screen holds zero, the \
                 two are equal as far as they can tell. That is to be so in at least 16 of 20, also where \
                 one of the two runs had the machine for itself: then runs side by side shift nothing.";
    let mut inner = vec![element("p").text(about)];
    let equal = "Equal settings, both beside other runs";
    let alone = "Equal settings, one beside other runs, one alone";
    for (kind, title) in [(Some(&found.equal), equal), (found.alone.as_ref(), alone)] {
        inner.extend(kind.map(|kind| pairs_verdict(kind, title)));
        inner.extend(kind.and_then(|kind| pairs_table(kind, title)));
    }
    PageSection::new("pairs", "Equal runs", inner)
}

fn pairs_verdict(kind: &PairComparison, title: &str) -> Element {
    let (class, mark) = if kind.is_good {
        ("good", "✓")
    } else {
        ("bad", "✗")
    };
    let (holding, pairs, wanted) = (kind.holding, kind.pairs.len(), kind.wanted);
    let text =
        format!("{mark} {title}: {holding} of {pairs} intervals hold zero, {wanted} are to.");
    element("p").class(class).text(text)
}

fn pairs_table(kind: &PairComparison, title: &str) -> Option<Element> {
    let mut table = Table::new(format!("{title}; those without zero are not grey"))
        .words(["runs"])
        .numbers(
            "ms",
            ["median of one", "of the other", "difference from", "to"],
        )
        .words(["holds zero"]);
    for pair in &kind.pairs {
        let times = [pair.medians_ms, pair.difference_ms.unwrap_or_default()];
        let times = times.concat().into_iter().map(|ms| maybe(ms, rounded));
        let (class, holds) = if pair.holds_zero {
            ("near", "yes")
        } else {
            ("", "no")
        };
        let cells = [head(pair.name.as_str())].into_iter().chain(times);
        table.row(row(cells.chain([words(holds)])).class(class));
    }
    Some(folded(title, table.element()?))
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{assert_in_order, text};
    use super::*;
    use crate::run::RunPair;
    use serde_json::json;

    #[test]
    fn a_check_has_its_words_or_else_its_numbers_and_its_verdict() {
        let findings = json!({
            "checks": [
                {"what": "delay", "setting": "20 ms", "measured": "+0.05 ms", "wanted": "+0.2 ms",
                 "good": true, "numbers": {"set": 1.0}},
                {"what": "loss", "good": false, "numbers": {"set_ms": 20.0, "seen": 0.5, "said": "x"}},
                {"what": "bare"},
            ],
            "machine": {"is_virtual": false, "optimised": true, "cores": 2, "kernel": "6.1", "none": null},
        });
        let said = text(&precision(&findings).inner);
        let parts = [
            "<th scope=row>delay<td class=words>20 ms<td class=words>+0.05 ms<td class=words>+0.2 ms\
             <td class=\"words good\">✓ ok",
            "<th scope=row>loss<td><td class=words>seen 0.50, set ms 20.0<td>\
             <td class=\"words bad\">✗ not ok",
            "<th scope=row>bare<td><td><td><td class=\"words bad\">✗ not ok",
            "<dt>cores<dd>2.00<dt>is virtual<dd>no<dt>kernel<dd>6.1<dt>none<dd><dt>optimised<dd>yes",
        ];
        assert_in_order(&said, &parts);
    }

    #[test]
    fn a_file_that_says_something_else_is_no_check() {
        for findings in [json!({}), json!([]), json!({"checks": 3, "machine": "x"})] {
            assert_eq!(precision(&findings).inner.len(), 1, "{findings}");
        }
    }

    #[test]
    fn pairs_are_counted_and_those_that_hold_zero_are_grey() {
        let pair = |name: &str, difference, holds_zero| RunPair {
            name: name.to_owned(),
            medians_ms: [Some(503.0), None],
            difference_ms: difference,
            holds_zero,
        };
        let comparison = |is_good| PairComparison {
            pairs: vec![
                pair("one", Some([Some(-3.0), None]), true),
                pair("other", None, false),
            ],
            holding: 1,
            wanted: 2,
            is_good,
        };
        let both = PairReport {
            equal: comparison(false),
            alone: Some(comparison(true)),
        };
        let said = text(&pairs(&both).inner);
        let parts = [
            "<p class=bad>✗ Equal settings, both beside other runs: 1 of 2 intervals hold zero, 2 are to.",
            "<tr class=near><th scope=row>one<td>503<td class=none>–<td>−3.00<td class=none>–<td class=words>yes",
            "<tr><th scope=row>other<td>503<td class=none>–<td class=none>–<td class=none>–<td class=words>no",
            "<p class=good>✓ Equal settings, one beside other runs, one alone: 1 of 2",
        ];
        assert_in_order(&said, &parts);
        let equal = PairReport {
            alone: None,
            ..both
        };
        assert!(!text(&pairs(&equal).inner).contains("one alone"));
    }

    #[test]
    fn a_file_of_pairs_is_read_as_it_is_written() {
        let text = r#"{"alone":null,"equal":{"good":false,"holding":0,"pairs":[{"difference_ms":[null,2.5],
            "holds_zero":true,"medians_ms":[1.0,null],"name":"x"}],"wanted":1}}"#;
        let report: PairReport = serde_json::from_str(text).unwrap();
        assert_eq!(report.equal.pairs[0].difference_ms, Some([None, Some(2.5)]));
        let again = serde_json::to_value(&report).unwrap();
        let mut expected: Value = serde_json::from_str(text).unwrap();
        expected.as_object_mut().unwrap().remove("alone");
        assert_eq!(again, expected);
        for cut in ["", "{}", r#"{"equal":{"good":true}}"#] {
            assert!(serde_json::from_str::<PairReport>(cut).is_err(), "{cut}");
        }
    }
}

//! What checks the measurements: the self-check of the emulation, and pairs of equal runs.

use serde_json::Value;

use super::markup::{Element, described, element, folded};
use super::number::rounded;
use super::part::PageSection;
use super::table::{Table, head, number, row, words};

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

/// The kinds of pairs, and what is said of each.
const KINDS: [(&str, &str); 2] = [
    ("equal", "Equal settings, both beside other runs"),
    ("alone", "Equal settings, one beside other runs, one alone"),
];

/// Returns the section of what `fulmar-lab pairs` has found.
pub(super) fn pairs(found: &Value) -> PageSection {
    let about = "Pairs of runs with equal settings. Blocks of 20 keys of each are drawn 1000 times; where \
                 the interval of 90 % for the difference of the medians of the whole screen holds zero, the \
                 two are equal as far as they can tell. That is to be so in at least 16 of 20, also where \
                 one of the two runs had the machine for itself: then runs side by side shift nothing.";
    let mut inner = vec![element("p").text(about)];
    for (name, title) in KINDS {
        let kind = &found[name];
        inner.extend(pairs_verdict(kind, title));
        inner.extend(pairs_table(kind, title));
    }
    PageSection::new("pairs", "Equal runs", inner)
}

fn pairs_verdict(kind: &Value, title: &str) -> Option<Element> {
    let pairs = kind["pairs"].as_array()?.len();
    let (holding, wanted) = (kind["holding"].as_u64()?, kind["wanted"].as_u64()?);
    let is_good = kind["good"].as_bool()?;
    let (class, mark) = if is_good {
        ("good", "✓")
    } else {
        ("bad", "✗")
    };
    let text =
        format!("{mark} {title}: {holding} of {pairs} intervals hold zero, {wanted} are to.");
    Some(element("p").class(class).text(text))
}

fn pairs_table(kind: &Value, title: &str) -> Option<Element> {
    let mut table = Table::new(format!("{title}; those without zero are not grey"))
        .words(["runs"])
        .numbers(
            "ms",
            ["median of one", "of the other", "difference from", "to"],
        )
        .words(["holds zero"]);
    for pair in kind["pairs"].as_array()? {
        let ms = |value: &Value| number(rounded(value.as_f64().unwrap_or(f64::NAN)));
        let holds = pair["holds_zero"].as_bool().unwrap_or(false);
        let cells = row([
            head(pair["name"].as_str().unwrap_or_default()),
            ms(&pair["medians_ms"][0]),
            ms(&pair["medians_ms"][1]),
            ms(&pair["difference_ms"][0]),
            ms(&pair["difference_ms"][1]),
            words(if holds { "yes" } else { "no" }),
        ]);
        table.row(cells.class(if holds { "near" } else { "" }));
    }
    Some(folded(title, table.element()?))
}

//! The precision of the emulation, as its self-check found it.

use serde_json::Value;

use super::markup::{Element, described, element};
use super::number::rounded;
use super::part::Part;
use super::table::{Table, head, words};

/// Returns the section of a self-check.
pub(super) fn part(findings: &Value) -> Part {
    let about = "Probes between the two hosts of a link, timed by the kernel: nothing that is measured \
                 comes from the emulation itself.";
    let mut inner = vec![element("p").text(about)];
    inner.extend(checks(findings));
    inner.extend(machine(findings));
    Part::new("precision", "How precise the emulation is", inner)
}

fn checks(findings: &Value) -> Option<Element> {
    let mut table = Table::new("Self-check of the emulation")
        .words("check")
        .words("setting")
        .words("measured")
        .words("wanted")
        .words("verdict");
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
        table.row(vec![
            head(text("what")),
            words(text("setting")),
            words(measured),
            words(text("wanted")),
            words(verdict).class(class),
        ]);
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

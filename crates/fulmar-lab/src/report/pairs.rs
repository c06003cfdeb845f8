//! Shows whether equal runs came out equal, and runs side by side as runs alone.

use serde_json::Value;

use super::markup::{Element, element, folded};
use super::number::rounded;
use super::part::Part;
use super::table::{Table, head, number, words};

/// The kinds of pairs, and what is said of each.
const KINDS: [(&str, &str); 2] = [
    ("equal", "Equal settings, both beside other runs"),
    ("alone", "Equal settings, one beside other runs, one alone"),
];

/// Returns the section of what `fulmar-lab pairs` has found.
pub(super) fn part(found: &Value) -> Part {
    let about = "Pairs of runs with equal settings. Blocks of 20 keys of each are drawn 1000 times; where \
                 the interval of 90 % for the difference of the medians of the whole screen holds zero, the \
                 two are equal as far as they can tell. That is to be so in at least 16 of 20, also where \
                 one of the two runs had the machine for itself: then runs side by side shift nothing.";
    let mut inner = vec![element("p").text(about)];
    for (name, title) in KINDS {
        let kind = &found[name];
        inner.extend(verdict(kind, title));
        inner.extend(table(kind, title));
    }
    Part::new("pairs", "Equal runs", inner)
}

fn verdict(kind: &Value, title: &str) -> Option<Element> {
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

fn table(kind: &Value, title: &str) -> Option<Element> {
    let mut table = Table::new(format!("{title}; those without zero are not grey"))
        .words("runs")
        .numbers("median of one", "ms")
        .numbers("of the other", "ms")
        .numbers("difference from", "ms")
        .numbers("to", "ms")
        .words("holds zero");
    for pair in kind["pairs"].as_array()? {
        let ms = |value: &Value| number(rounded(value.as_f64().unwrap_or(f64::NAN)));
        let holds = pair["holds_zero"].as_bool().unwrap_or(false);
        table.row_of(
            if holds { "near" } else { "" },
            vec![
                head(pair["name"].as_str().unwrap_or_default()),
                ms(&pair["medians_ms"][0]),
                ms(&pair["medians_ms"][1]),
                ms(&pair["difference_ms"][0]),
                ms(&pair["difference_ms"][1]),
                words(if holds { "yes" } else { "no" }),
            ],
        );
    }
    Some(folded(title, table.element()?))
}

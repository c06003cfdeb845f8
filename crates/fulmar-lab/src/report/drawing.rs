//! One chart as a file of its own, which reads on a light and on a dark page.

use anyhow::{Context as _, Result};

use super::chart::{TimeAxis, cdf};
use super::grouped::{CellRuns, ExperimentRuns, Measure};
use super::number::whole;
use super::peers::PeerStyles;
use super::plots::curves;
use crate::markup::{Element, element};

/// The size of the drawing, and the place of the chart in it.
const SIZE: (f64, f64) = (720.0, 540.0);
const CHART: (f64, f64, f64, f64) = (22.0, 94.0, 676.0, 446.0);

const CHART_TITLE: &str = "Share of keys within a time, own effect";

const STYLE: &str = concat!(
    include_str!("colours.css"),
    include_str!("drawing.css"),
    "svg { overflow: visible; font-family: system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, sans-serif; }\n",
    ".ground { fill: var(--ground); }\n",
    "svg .title { fill: var(--ink); font-size: 20px; font-weight: 650; }\n",
    "svg .about { font-size: 14px; }\n",
);

/// Returns the drawing of the first setting whose name begins so: which share of the keys was right on
/// the screen within which time.
pub(super) fn of(subjects: &[ExperimentRuns], experiment: &str, cell: &str) -> Result<String> {
    let subject = subjects.iter().find(|subject| subject.name == experiment);
    let mut settings = subject.into_iter().flat_map(|subject| &subject.settings);
    let setting = settings
        .find(|setting| setting.name.starts_with(cell) && !setting.typed().is_empty())
        .with_context(|| format!("nobody has typed in {experiment}/{cell}"))?;
    let title = subject.map_or("", |subject| &subject.title);
    let curves = curves(setting, Measure::Own, &PeerStyles::of(subjects));
    let chart = cdf(CHART_TITLE, &curves, TimeAxis::Log).context("no key has come")?;
    let [what, shown] = &about(setting);
    let (left, top, width, height) = CHART;
    let drawing = element("svg")
        .set("xmlns", "http://www.w3.org/2000/svg")
        .set("width", SIZE.0)
        .set("height", SIZE.1)
        .set("viewBox", format!("0 0 {} {}", SIZE.0, SIZE.1))
        .set("role", "img")
        .with(element("title").text(format!("{title}: {}", setting.title)))
        .with(element("style").own(STYLE))
        .with(ground())
        .with(line(32.0, "title", title))
        .with(line(56.0, "about", what))
        .with(line(76.0, "about", shown))
        .with(
            chart
                .set("x", left)
                .set("y", top)
                .set("width", width)
                .set("height", height),
        );
    Ok(format!("{drawing}\n"))
}

/// Returns what was done, and how often.
fn about(setting: &CellRuns) -> [String; 2] {
    let typed = setting.typed();
    let keys = typed.iter().map(|runs| runs.summary(Measure::Own).count);
    let keys = whole(keys.max().unwrap_or_default() as f64);
    let shown = format!(
        "Share of keys whose effect was right on the screen within a time; {keys} keys each."
    );
    [setting.title.clone(), shown]
}

fn ground() -> Element {
    element("rect")
        .class("ground")
        .set("width", "100%")
        .set("height", "100%")
        .set("rx", 6)
}

fn line(y: f64, class: &str, text: &str) -> Element {
    element("text")
        .class(class)
        .set("x", 24)
        .set("y", y)
        .text(text)
}

#[cfg(test)]
mod tests {
    /// An element that `<use>` shows is a tree of its own: a rule that asks for an ancestor outside of it
    /// finds nothing there, and a mark is black.
    #[test]
    fn no_rule_of_a_drawing_names_an_ancestor() {
        let rules = include_str!("drawing.css").split('}');
        let selectors = rules.filter_map(|rule| Some(rule.split_once('{')?.0));
        let selectors: Vec<&str> = selectors
            .map(|selector| selector.rsplit("*/").next().unwrap_or_default().trim())
            .collect();
        assert!(selectors.len() > 15, "{selectors:?}");
        for selector in selectors {
            assert!(!selector.contains([' ', '>', ',']), "{selector}");
        }
    }

    use super::super::tests::fixture::{assert_in_order, measured, subject, typed};

    #[test]
    fn a_drawing_is_of_the_first_cell_in_which_somebody_typed() {
        let subjects = [subject(vec![
            typed("ssh", &[&[5; 30], &[7; 4]]),
            typed("mosh", &[&[1]]),
        ])];
        let svg = super::of(&subjects, "typing", "sl").unwrap();
        let parts = [
            "<title>Typing: A slow link</title>",
            "class=\"title\" x=\"24\" y=\"32\">Typing</text>",
            ">A slow link</text>",
            "within a time; 34 keys each.</text>",
            "ssh: median 5.00 ms",
        ];
        assert_in_order(&svg, &parts);
        for (experiment, cell) in [("copies", "slow"), ("typing", "fast")] {
            let error = super::of(&subjects, experiment, cell).unwrap_err();
            let said = format!("nobody has typed in {experiment}/{cell}");
            assert_eq!(error.to_string(), said);
        }
        let bare = [subject(vec![measured("ssh", ("rate", "B/s"), &[1.0])])];
        assert!(super::of(&bare, "typing", "slow").is_err());
        let silent = [subject(vec![typed("ssh", &[&[]])])];
        let error = super::of(&silent, "typing", "slow").unwrap_err();
        assert_eq!(error.to_string(), "no key has come");
    }
}

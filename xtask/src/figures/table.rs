//! The tables of `docs/figures.md`.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use fulmar_testbed::median;

/// The values of one run in the order of the figure's quantities; `None` where there is none.
pub(super) type Values = Vec<Option<f64>>;

/// Something that a figure measures.
pub(super) struct Quantity {
    /// Its name, with the unit.
    pub(super) name: &'static str,
    /// Its name in the outcomes of the lab.
    pub(super) figure: &'static str,
    /// The factor that gives it that unit.
    pub(super) factor: f64,
    /// The value that we want of it.
    pub(super) wanted: &'static str,
    /// Digits behind the point.
    pub(super) digits: usize,
}

/// All runs of one peer.
pub(super) struct Column {
    pub(super) name: &'static str,
    /// True if the values that are not there were given up.
    pub(super) is_timed: bool,
    pub(super) runs: Vec<Values>,
}

impl Column {
    /// One without runs.
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            is_timed: false,
            runs: Vec::new(),
        }
    }
}

/// Draws quantities × peers, each cell with the median and the range of its runs.
pub(super) fn draw(quantities: &[Quantity], columns: &[Column]) -> String {
    let mut table = String::from("| median (lowest–highest) |");
    let mut rule = String::from("|---|");
    for column in columns {
        table += &format!(" {} |", column.name);
        rule += "---|";
    }
    table += &format!(" wanted |\n{rule}---|\n");
    for (row, quantity) in quantities.iter().enumerate() {
        table += &format!("| {} |", quantity.name);
        for column in columns {
            let values: Values = column
                .runs
                .iter()
                .map(|run| run.get(row).copied()?)
                .collect();
            let is_there = column.is_timed || values.iter().any(Option::is_some);
            let cell = if is_there {
                cell(&values, quantity.digits)
            } else {
                // Nobody has measured it.
                "–".to_owned()
            };
            table += &format!(" {cell} |");
        }
        let _ = writeln!(table, " {} |", quantity.wanted);
    }
    table
}

/// One cell. A run that did not get through is worse than any that did, whatever the quantity.
pub(super) fn cell(values: &[Option<f64>], digits: usize) -> String {
    let through = || values.iter().flatten().copied();
    let failed = values.len() - through().count();
    let Some(median) = median(through()) else {
        return "never in time".to_owned();
    };
    let lowest = through().fold(f64::INFINITY, f64::min);
    let highest = through().fold(f64::NEG_INFINITY, f64::max);
    let range = format!("{median:.digits$} ({lowest:.digits$}–{highest:.digits$})");
    if failed == 0 {
        range
    } else {
        format!("{range}; {failed} of {} never in time", values.len())
    }
}

/// Returns a table in Markdown with its head and this one row, if it has it.
pub(super) fn only_row(table: &str, title: &str) -> Option<String> {
    let begin = format!("| {title} |");
    let row = table.lines().find(|line| line.starts_with(&begin))?;
    let head: Vec<&str> = table.lines().take(2).collect();
    Some(format!("{}\n{row}\n", head.join("\n")))
}

/// Puts `content` between the marks of `name` in `page`; a page without them gets them at its end.
pub(super) fn replace_section(page: &str, name: &str, content: &str) -> Result<String> {
    let begin = format!("<!-- begin {name} -->\n");
    let end = format!("<!-- end {name} -->\n");
    let section = format!("{begin}\n{}\n\n{end}", content.trim());
    let Some((before, rest)) = page.split_once(&begin) else {
        return Ok(format!("{}\n\n## {name}\n\n{section}", page.trim_end()));
    };
    let (_, after) = rest
        .split_once(&end)
        .with_context(|| format!("{name} begins, never ends"))?;
    Ok(format!("{before}{section}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTITY: Quantity = Quantity {
        name: "time, ms",
        figure: "time",
        factor: 1.0,
        wanted: "300",
        digits: 1,
    };

    fn column(values: &[Option<f64>]) -> Column {
        Column {
            name: "stock",
            is_timed: true,
            runs: values.iter().map(|v| vec![*v]).collect(),
        }
    }

    #[test]
    fn a_cell_is_the_median_and_the_range() {
        let column = column(&[Some(3.0), Some(1.0), Some(10.25)]);
        let table = draw(&[QUANTITY], &[column]);
        let expected = "| median (lowest–highest) | stock | wanted |\n|---|---|---|\n\
                        | time, ms | 3.0 (1.0–10.2) | 300 |\n";
        assert_eq!(table, expected);
    }

    #[test]
    fn what_nobody_measured_is_a_dash_and_what_was_given_up_is_not() {
        let mut column = column(&[None]);
        assert!(draw(&[QUANTITY], std::slice::from_ref(&column)).contains("| never in time |"));
        column.is_timed = false;
        assert!(draw(&[QUANTITY], &[column]).contains("| time, ms | – | 300 |"));
    }

    #[test]
    fn runs_that_never_end_are_told() {
        assert_eq!(cell(&[None, None], 0), "never in time");
        assert_eq!(cell(&[None, Some(2.0)], 0), "2 (2–2); 1 of 2 never in time");
    }

    #[test]
    fn one_row_of_a_table_has_its_head() {
        let table = "| of | ssh |\n|---|---|\n| a link, fast | 1 |\n| a link | 2 |\n";
        let expected = "| of | ssh |\n|---|---|\n| a link | 2 |\n";
        assert_eq!(only_row(table, "a link").as_deref(), Some(expected));
        assert_eq!(only_row(table, "another"), None);
    }

    #[test]
    fn a_section_is_replaced_and_nothing_else() {
        let page = "# Figures\n<!-- begin a -->\nold\n<!-- end a -->\nmore\n";
        let expected = "# Figures\n<!-- begin a -->\n\nnew\n\n<!-- end a -->\nmore\n";
        assert_eq!(replace_section(page, "a", "new\n").unwrap(), expected);
        assert!(replace_section("<!-- begin a -->\n", "a", "new").is_err());
    }

    #[test]
    fn a_new_section_goes_to_the_end() {
        let expected = "# Figures\n\n## a\n\n<!-- begin a -->\n\nnew\n\n<!-- end a -->\n";
        assert_eq!(
            replace_section("# Figures\n", "a", "new").unwrap(),
            expected
        );
    }
}

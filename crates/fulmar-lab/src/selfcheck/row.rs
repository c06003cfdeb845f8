//! The findings of one check.

use serde::Serialize;
use serde_json::Value;

/// One line of the table.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CheckRow {
    /// The subject of the check.
    pub(super) what: &'static str,
    /// The setting with which it is checked.
    pub(super) setting: String,
    /// The measured value, for a person.
    pub(super) measured: String,
    /// The value that it ought to have, for a person.
    pub(super) wanted: String,
    /// True if the value is as wanted.
    #[serde(rename = "good")]
    pub(super) is_good: bool,
    /// All of it as numbers.
    pub(super) numbers: Value,
}

/// Draws the rows as a table.
pub(super) fn table(rows: &[CheckRow]) -> String {
    let mut lines = vec![["check", "setting", "measured", "wanted", ""]];
    lines.extend(rows.iter().map(|row| {
        let verdict = if row.is_good { "ok" } else { "NOT OK" };
        [row.what, &row.setting, &row.measured, &row.wanted, verdict]
    }));
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let widths = [0, 1, 2, 3, 4].map(|column| width(column).unwrap_or(0));
    let drawn = lines.iter().map(|line| {
        let cells = line.iter().zip(widths);
        let cells = cells.map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    });
    drawn.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = CheckRow {
            what: "loss",
            setting: "1 %".to_owned(),
            measured: "0.98 % ± 0.1".to_owned(),
            wanted: "1 %".to_owned(),
            is_good: false,
            numbers: Value::Null,
        };
        let expected = "check  setting  measured      wanted\n\
                        loss   1 %      0.98 % ± 0.1  1 %     NOT OK\n";
        assert_eq!(table(&[row]), expected);
    }
}

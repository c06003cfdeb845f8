//! The findings of one check.

use serde_json::{Value, json};

/// One line of the table.
#[derive(Clone, Debug)]
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
    pub(super) is_good: bool,
    /// All of it as numbers.
    pub(super) numbers: Value,
}

impl CheckRow {
    pub(super) fn json(&self) -> Value {
        json!({
            "what": self.what,
            "setting": self.setting,
            "measured": self.measured,
            "wanted": self.wanted,
            "good": self.is_good,
            "numbers": self.numbers,
        })
    }
}

/// Draws the rows as a table.
pub(super) fn table(rows: &[CheckRow]) -> String {
    let heads = ["check", "setting", "measured", "wanted", ""];
    let mut lines = vec![heads.map(str::to_owned)];
    lines.extend(rows.iter().map(|row| {
        [
            row.what.to_owned(),
            row.setting.clone(),
            row.measured.clone(),
            row.wanted.clone(),
            if row.is_good { "ok" } else { "NOT OK" }.to_owned(),
        ]
    }));
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let drawn = lines.iter().map(|line| {
        let cells = line.iter().zip(&widths);
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

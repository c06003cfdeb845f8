//! The tables of predictions in Markdown.

use std::fmt::Write as _;

use super::{Line, kinds, lines};
use crate::predict::{PredictionRow, PredictionRows, PredictorKind, RowSubject};
use crate::report::number::{NONE, rounded};

/// The round trip over which groups of programs are shown; the report has the others.
const OF_GROUPS: u64 = 100;

/// Returns the tables: sets over even links, over all others, and groups of programs.
pub(in crate::report) fn text(rows: &PredictionRows) -> String {
    let kinds = kinds(rows);
    let sets = lines(rows, RowSubject::All);
    let (even, uneven): (Vec<Line<'_>>, Vec<Line<'_>>) = sets.into_iter().partition(Line::is_even);
    let mut groups = lines(rows, RowSubject::Group);
    groups.retain(|line| line.is_even() && line.first.link.round_trip == OF_GROUPS);
    let of_set = |line: &Line<'_>| {
        let PredictionRow {
            set, keys, link, ..
        } = line.first;
        format!("{}, {keys} keys | {link}", set.title())
    };
    let of_group = |line: &Line<'_>| {
        let PredictionRow {
            set, keys, name, ..
        } = line.first;
        format!("{}, {keys} keys | {name}", set.title())
    };
    let tables = [
        table("traces | round trip", &even, &kinds, of_set),
        table(
            "traces | round trip, jitter and loss each way",
            &uneven,
            &kinds,
            of_set,
        ),
        table(
            &format!("traces | programs, over {OF_GROUPS} ms"),
            &groups,
            &kinds,
            of_group,
        ),
    ];
    tables.concat()
}

fn table(
    head: &str,
    lines: &[Line<'_>],
    kinds: &[PredictorKind],
    labels: impl Fn(&Line<'_>) -> String,
) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let titles: Vec<&str> = kinds.iter().map(|kind| kind.title()).collect();
    let mut text = format!("| {head} | {} |\n", titles.join(" | "));
    text += &format!("|---|---|{}\n", "---|".repeat(kinds.len()));
    for line in lines {
        let cells = kinds
            .iter()
            .map(|kind| line.row(*kind).map_or(NONE.to_owned(), cell));
        let cells: Vec<String> = cells.collect();
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {} | {} |", labels(line), cells.join(" | "));
    }
    text + "\n"
}

/// `87.3; 0.51; 13.4: 0, 9, 115`: instant, wrong; the mean, and three quantiles.
fn cell(row: &PredictionRow) -> String {
    let [mean, p50, p90, p99] = [row.mean_ms, row.p50_ms, row.p90_ms, row.p99_ms].map(rounded);
    format!(
        "{:.1}; {:.2}; {mean}: {p50}, {p90}, {p99}",
        row.instant_percent, row.wrong_percent
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::{RecordingSet, TestLink};

    fn row(
        set: RecordingSet,
        of: RowSubject,
        name: &str,
        link: &str,
        predictor: PredictorKind,
    ) -> PredictionRow {
        PredictionRow {
            set,
            of,
            name: name.to_owned(),
            link: link.parse::<TestLink>().unwrap(),
            predictor,
            keys: 7,
            instant_percent: 87.25,
            wrong_percent: 0.512,
            mean_ms: 13.44,
            p90_ms: 9.0,
            p99_ms: 115.0,
            ..PredictionRow::default()
        }
    }

    #[test]
    fn sets_have_a_row_for_each_link_and_groups_for_one() {
        let rows = PredictionRows {
            rows: vec![
                row(
                    RecordingSet::HeldOut,
                    RowSubject::All,
                    "all",
                    "100",
                    PredictorKind::Engine,
                ),
                row(
                    RecordingSet::First,
                    RowSubject::All,
                    "all",
                    "100",
                    PredictorKind::None,
                ),
                row(
                    RecordingSet::First,
                    RowSubject::All,
                    "all",
                    "100",
                    PredictorKind::Engine,
                ),
                row(
                    RecordingSet::First,
                    RowSubject::All,
                    "all",
                    "50:30:5",
                    PredictorKind::Engine,
                ),
                row(
                    RecordingSet::First,
                    RowSubject::Group,
                    "shells",
                    "100",
                    PredictorKind::Engine,
                ),
                row(
                    RecordingSet::First,
                    RowSubject::Group,
                    "shells",
                    "300",
                    PredictorKind::Engine,
                ),
                row(
                    RecordingSet::First,
                    RowSubject::Recording,
                    "own-x",
                    "100",
                    PredictorKind::Engine,
                ),
            ],
            ..PredictionRows::default()
        };
        let figures = "87.2; 0.51; 13.4: 0, 9.00, 115";
        let expected = format!(
            "| traces | round trip | Fulmar, stock server | no prediction |\n|---|---|---|---|\n\
             | tuning, older, 7 keys | 100 ms | {figures} | {figures} |\n\
             | held out, 7 keys | 100 ms | {figures} | – |\n\n\
             | traces | round trip, jitter and loss each way | Fulmar, stock server | no prediction |\n\
             |---|---|---|---|\n\
             | tuning, older, 7 keys | 50 ms, jitter 30 ms, loss 5 % | {figures} | – |\n\n\
             | traces | programs, over 100 ms | Fulmar, stock server | no prediction |\n\
             |---|---|---|---|\n\
             | tuning, older, 7 keys | shells | {figures} | – |\n\n"
        );
        assert_eq!(text(&rows), expected);
    }
}

//! The success of predictions in virtual time, as `fulmar-lab predict --json` found it: a part of a page, and tables in
//! Markdown.

use std::fmt::Write as _;

use super::markup::{Element, element, folded};
use super::number::{NONE, rounded};
use super::part::PageSection;
use super::table::{Table, group_head, number, words};
use crate::predict::{PredictionRow, PredictionRows, PredictorKind, RowSubject};

/// The rows of all predictors about one thing over one link.
struct PredictorRows<'a> {
    first: &'a PredictionRow,
    rows: Vec<&'a PredictionRow>,
}

impl<'a> PredictorRows<'a> {
    fn row(&self, kind: PredictorKind) -> Option<&'a PredictionRow> {
        self.rows.iter().find(|row| row.predictor == kind).copied()
    }

    /// Returns true if the link neither delays unevenly nor loses anything.
    fn is_even(&self) -> bool {
        self.first.link.jitter == 0 && self.first.link.loss == 0
    }
}

/// The predictors, in the order of the rows.
fn kinds(rows: &PredictionRows) -> Vec<PredictorKind> {
    let mut kinds = Vec::new();
    for row in &rows.rows {
        if !kinds.contains(&row.predictor) {
            kinds.push(row.predictor);
        }
    }
    kinds
}

/// The lines about groups or sets, in the order of sets, names and links.
fn lines(rows: &PredictionRows, of: RowSubject) -> Vec<PredictorRows<'_>> {
    let mut wanted: Vec<&PredictionRow> = rows.rows.iter().filter(|row| row.of == of).collect();
    wanted.sort_by_key(|row| (row.set, &row.name, row.link));
    let about = |row: &PredictionRow| (row.set, row.name.clone(), row.link);
    wanted
        .chunk_by(|one, next| about(one) == about(next))
        .map(|rows| PredictorRows {
            first: rows[0],
            rows: rows.to_vec(),
        })
        .collect()
}

const ABOUT: &str = "Recorded keys typed at the recorded times over simulated links, in virtual time, by our \
                     client and server; every predictor is shown the same session. Instant: keys whose right \
                     effect is on the screen within 5 ms, of those that have one. Wrong: keys because of which \
                     a cell or the cursor was wrong for 30 ms or longer, of all keys. Then the waits. Traces that \
                     are held out were not looked at while the prediction was made.";

/// Returns the section.
pub(super) fn part(rows: &PredictionRows) -> PageSection {
    let kinds = kinds(rows);
    let sets = lines(rows, RowSubject::All);
    let (even, uneven): (Vec<PredictorRows<'_>>, Vec<PredictorRows<'_>>) =
        sets.into_iter().partition(PredictorRows::is_even);
    let mut inner = vec![element("p").text(ABOUT)];
    inner.extend(table("Links without jitter and loss", &even, &kinds));
    let with_loss = "Links with jitter and loss";
    inner.extend(table(with_loss, &uneven, &kinds).map(|table| folded(with_loss, table)));
    let groups = lines(rows, RowSubject::Group);
    let about = |line: &PredictorRows<'_>| (line.first.set, line.first.name.clone());
    inner.extend(
        groups
            .chunk_by(|one, next| about(one) == about(next))
            .filter_map(|group| {
                let PredictionRow { set, name, .. } = group[0].first;
                let title = format!("{name}, {}", set.title());
                Some(folded(&title, table(&title, group, &kinds)?))
            }),
    );
    PageSection::new("predictions", "Predictions", inner)
}

fn table(title: &str, lines: &[PredictorRows<'_>], kinds: &[PredictorKind]) -> Option<Element> {
    let mut table = Table::new(title)
        .words("traces")
        .words("round trip")
        .words("predictor")
        .numbers("keys", "")
        .numbers("instant", "%")
        .numbers("wrong", "%");
    for time in ["mean", "p50", "p90", "p99"] {
        table = table.numbers(time, "ms");
    }
    for line in lines {
        table.group();
        for (place, kind) in kinds.iter().enumerate() {
            let mut cells = Vec::new();
            if place == 0 {
                let names = [line.first.set.title(), &line.first.link.to_string()];
                cells.extend(names.map(|name| group_head(element("span").text(name), kinds.len())));
            }
            cells.push(words(kind.title()));
            cells.extend(figures(line.row(*kind)));
            table.row(cells);
        }
    }
    table.element()
}

fn figures(row: Option<&PredictionRow>) -> Vec<Element> {
    let Some(row) = row else {
        return vec![number(NONE); 7];
    };
    let times = [row.mean_ms, row.p50_ms, row.p90_ms, row.p99_ms];
    let mut cells = vec![
        number(row.keys.to_string()),
        number(format!("{:.1}", row.instant_percent)),
        number(format!("{:.2}", row.wrong_percent)),
    ];
    cells.extend(times.map(|time| number(rounded(time))));
    cells
}

/// The round trip over which groups of programs are shown; the report has the others.
const OF_GROUPS: u64 = 100;

/// Returns the tables: sets over even links, over all others, and groups of programs.
pub(super) fn text(rows: &PredictionRows) -> String {
    let kinds = kinds(rows);
    let sets = lines(rows, RowSubject::All);
    let (even, uneven): (Vec<PredictorRows<'_>>, Vec<PredictorRows<'_>>) =
        sets.into_iter().partition(PredictorRows::is_even);
    let mut groups = lines(rows, RowSubject::Group);
    groups.retain(|line| line.is_even() && line.first.link.round_trip == OF_GROUPS);
    let of_set = |line: &PredictorRows<'_>| {
        let PredictionRow {
            set, keys, link, ..
        } = line.first;
        format!("{}, {keys} keys | {link}", set.title())
    };
    let of_group = |line: &PredictorRows<'_>| {
        let PredictionRow {
            set, keys, name, ..
        } = line.first;
        format!("{}, {keys} keys | {name}", set.title())
    };
    let tables = [
        markdown_table("traces | round trip", &even, &kinds, of_set),
        markdown_table(
            "traces | round trip, jitter and loss each way",
            &uneven,
            &kinds,
            of_set,
        ),
        markdown_table(
            &format!("traces | programs, over {OF_GROUPS} ms"),
            &groups,
            &kinds,
            of_group,
        ),
    ];
    tables.concat()
}

fn markdown_table(
    head: &str,
    lines: &[PredictorRows<'_>],
    kinds: &[PredictorKind],
    labels: impl Fn(&PredictorRows<'_>) -> String,
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
            .map(|kind| line.row(*kind).map_or(NONE.to_owned(), markdown_cell));
        let cells: Vec<String> = cells.collect();
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {} | {} |", labels(line), cells.join(" | "));
    }
    text + "\n"
}

/// `87.3; 0.51; 13.4: 0, 9, 115`: instant, wrong; the mean, and three quantiles.
fn markdown_cell(row: &PredictionRow) -> String {
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

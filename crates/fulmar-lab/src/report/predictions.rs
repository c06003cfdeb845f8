//! The success of predictions in virtual time, as `fulmar-lab predict --json` found it: a part of a page, and tables in
//! Markdown.

use std::fmt::Write as _;

use super::number::{NONE, or_none, rounded};
use super::part::PageSection;
use super::table::{Table, number, row, words};
use crate::markup::{Element, element, folded};
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

/// All rows, by what they are about.
struct SortedRows<'a> {
    /// The predictors, in the order of the rows.
    kinds: Vec<PredictorKind>,
    /// Whole sets over links without jitter and loss, and over the others.
    even: Vec<PredictorRows<'a>>,
    uneven: Vec<PredictorRows<'a>>,
    groups: Vec<PredictorRows<'a>>,
}

impl<'a> SortedRows<'a> {
    fn of(rows: &'a PredictionRows) -> Self {
        let mut kinds = Vec::new();
        for row in &rows.rows {
            if !kinds.contains(&row.predictor) {
                kinds.push(row.predictor);
            }
        }
        let sets = lines(rows, RowSubject::All).into_iter();
        let (even, uneven) = sets.partition(PredictorRows::is_even);
        Self {
            kinds,
            even,
            uneven,
            groups: lines(rows, RowSubject::Group),
        }
    }
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
    let rows = SortedRows::of(rows);
    let table = |title: &str, lines: &[PredictorRows<'_>]| table(title, lines, &rows.kinds);
    let with_loss = "Links with jitter and loss";
    let mut inner = vec![element("p").text(ABOUT)];
    inner.extend(table("Links without jitter and loss", &rows.even));
    inner.extend(table(with_loss, &rows.uneven).map(|table| folded(with_loss, table)));
    let about = |line: &PredictorRows<'_>| (line.first.set, line.first.name.clone());
    let groups = rows.groups.chunk_by(|one, next| about(one) == about(next));
    inner.extend(groups.filter_map(|group| {
        let PredictionRow { set, name, .. } = group[0].first;
        let title = format!("{name}, {}", set.title());
        Some(folded(&title, table(&title, group)?))
    }));
    PageSection::new("predictions", "Predictions", inner)
}

fn table(title: &str, lines: &[PredictorRows<'_>], kinds: &[PredictorKind]) -> Option<Element> {
    let mut table = Table::new(title)
        .words(["traces", "round trip", "predictor"])
        .numbers("", ["keys"])
        .numbers("%", ["instant", "wrong"])
        .numbers("ms", ["mean", "p50", "p90", "p99"]);
    for line in lines {
        let names = [line.first.set.title(), &line.first.link.to_string()];
        let names = names.map(|name| element("span").text(name));
        let rows = kinds.iter();
        let rows = rows.map(|kind| row(figures(line.row(*kind))).led_by([words(kind.title())]));
        table.rows_of(names, rows.collect());
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
    let mut rows = SortedRows::of(rows);
    rows.groups
        .retain(|line| line.is_even() && line.first.link.round_trip == OF_GROUPS);
    let link = |row: &PredictionRow| row.link.to_string();
    let with_loss = "traces | round trip, jitter and loss each way";
    let of_groups = format!("traces | programs, over {OF_GROUPS} ms");
    let kinds = &rows.kinds;
    [
        markdown_table("traces | round trip", &rows.even, kinds, link),
        markdown_table(with_loss, &rows.uneven, kinds, link),
        markdown_table(&of_groups, &rows.groups, kinds, |row| row.name.clone()),
    ]
    .concat()
}

/// Returns a table with a row for each line, which begins with the set, its keys, and what else is said of it.
fn markdown_table(
    head: &str,
    lines: &[PredictorRows<'_>],
    kinds: &[PredictorKind],
    label: fn(&PredictionRow) -> String,
) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let titles: Vec<&str> = kinds.iter().map(|kind| kind.title()).collect();
    let mut text = format!("| {head} | {} |\n", titles.join(" | "));
    text += &format!("|---|---|{}\n", "---|".repeat(kinds.len()));
    for line in lines {
        let cells = kinds.iter();
        let cells = cells.map(|kind| or_none(line.row(*kind), markdown_cell));
        let cells: Vec<String> = cells.collect();
        let (set, keys, label) = (line.first.set, line.first.keys, label(line.first));
        let set = set.title();
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {set}, {keys} keys | {label} | {} |",
            cells.join(" | ")
        );
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
                    "editors",
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

    #[test]
    fn the_section_has_sets_first_and_folds_groups_and_links_with_loss_away() {
        use super::super::tests::fixture::{assert_in_order, text};
        let of = |of, name: &str, link: &str, kind| row(RecordingSet::First, of, name, link, kind);
        let rows = PredictionRows {
            rows: vec![
                of(RowSubject::Group, "shells", "100", PredictorKind::Engine),
                of(RowSubject::Group, "editors", "300", PredictorKind::Engine),
                of(RowSubject::Group, "shells", "50", PredictorKind::None),
                of(RowSubject::All, "all", "50:30:5", PredictorKind::Engine),
                of(RowSubject::All, "all", "100:0:1", PredictorKind::Engine),
                of(RowSubject::All, "all", "100", PredictorKind::None),
                of(RowSubject::Recording, "own-x", "100", PredictorKind::Engine),
            ],
            ..PredictionRows::default()
        };
        let said = text(&part(&rows).inner);
        let parts = [
            "<caption>Links without jitter and loss</caption>",
            "rowspan=2><span>tuning, older</span><th scope=rowgroup rowspan=2><span>100 ms</span>\
             <td class=words>Fulmar, stock server<td class=none>–",
            "<td class=words>no prediction<td>7<td>87.2<td>0.51<td>13.4<td>0<td>9.00<td>115",
            "<summary>Links with jitter and loss</summary>",
            "<span>50 ms, jitter 30 ms, loss 5 %</span>",
            "<span>100 ms, loss 1 %</span>",
            "<summary>editors, tuning, older</summary>",
            "<summary>shells, tuning, older</summary>",
            "<span>50 ms</span>",
            "<span>100 ms</span>",
        ];
        assert_in_order(&said, &parts);
        assert_eq!(said.matches("<table>").count(), 4);
        assert_eq!(super::text(&PredictionRows::default()), "");
    }
}

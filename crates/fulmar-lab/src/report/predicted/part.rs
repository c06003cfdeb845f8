//! The section of predictions.

use super::{Line, kinds, lines};
use crate::predict::{PredictionRow, PredictionRows, PredictorKind, RowSubject};
use crate::report::markup::{Element, element, folded};
use crate::report::number::{NONE, rounded};
use crate::report::part::Part;
use crate::report::table::{Table, group_head, number, words};

const ABOUT: &str = "Recorded keys typed at the recorded times over simulated links, in virtual time, by our \
                     client and server; every predictor is shown the same session. Instant: keys whose right \
                     effect is on the screen within 5 ms, of those that have one. Wrong: keys because of which \
                     a cell or the cursor was wrong for 30 ms or longer, of all keys. Then the waits. Traces that \
                     are held out were not looked at while the prediction was made.";

/// Returns the section.
pub(in crate::report) fn part(rows: &PredictionRows) -> Part {
    let kinds = kinds(rows);
    let sets = lines(rows, RowSubject::All);
    let (even, uneven): (Vec<Line<'_>>, Vec<Line<'_>>) = sets.into_iter().partition(Line::is_even);
    let mut inner = vec![element("p").text(ABOUT)];
    inner.extend(table("Links without jitter and loss", &even, &kinds));
    let with_loss = "Links with jitter and loss";
    inner.extend(table(with_loss, &uneven, &kinds).map(|table| folded(with_loss, table)));
    let groups = lines(rows, RowSubject::Group);
    let about = |line: &Line<'_>| (line.first.set, line.first.name.clone());
    inner.extend(
        groups
            .chunk_by(|one, next| about(one) == about(next))
            .filter_map(|group| {
                let PredictionRow { set, name, .. } = group[0].first;
                let title = format!("{name}, {}", set.title());
                Some(folded(&title, table(&title, group, &kinds)?))
            }),
    );
    Part::new("predictions", "Predictions", inner)
}

fn table(title: &str, lines: &[Line<'_>], kinds: &[PredictorKind]) -> Option<Element> {
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

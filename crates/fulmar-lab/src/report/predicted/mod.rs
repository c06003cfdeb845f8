//! The success of predictions in virtual time: what `fulmar-lab predict --json` found.

mod markdown;
mod part;

use crate::predict::{PredictionRow, PredictionRows, PredictorKind, RowSubject};
pub(super) use markdown::text;
pub(super) use part::part;

/// The rows of all predictors about one thing over one link.
struct Line<'a> {
    first: &'a PredictionRow,
    rows: Vec<&'a PredictionRow>,
}

impl<'a> Line<'a> {
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
fn lines(rows: &PredictionRows, of: RowSubject) -> Vec<Line<'_>> {
    let mut wanted: Vec<&PredictionRow> = rows.rows.iter().filter(|row| row.of == of).collect();
    wanted.sort_by_key(|row| (row.set, &row.name, row.link));
    let about = |row: &PredictionRow| (row.set, row.name.clone(), row.link);
    wanted
        .chunk_by(|one, next| about(one) == about(next))
        .map(|rows| Line {
            first: rows[0],
            rows: rows.to_vec(),
        })
        .collect()
}

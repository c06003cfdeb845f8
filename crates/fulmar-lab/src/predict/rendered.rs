//! Turns what a predictor showed into bytes for a terminal, so that the judge of real runs can judge it.

use std::fmt::Write as _;

use anyhow::Result;

use super::recorded_user::UserInput;
use super::recording::Recording;
use super::session::{PredictionSession, SessionEventKind};
use super::snapshot::ScreenSnapshot;
use super::user_view::{UserView, ViewSample};
use crate::judge::{CellPosition, GroundTruth, ObservedRun, RunVerdict, Stamp};
use crate::trace::{Event, Record, Trace};

/// Judges what was seen as if it had been on a real terminal; `truth` is the judge's own of the recording.
///
/// # Errors
///
/// Where the session is none of this recording.
pub fn judged(
    recording: &Recording,
    truth: &GroundTruth,
    session: &PredictionSession,
    view: &UserView<'_>,
) -> Result<RunVerdict> {
    let verdict = ObservedRun {
        truth,
        user_side: &user_side(recording, session, view)?,
        host_side: &session.host_side,
        one_way_delay: std::time::Duration::ZERO,
        may_predict: true,
    }
    .judge()?;
    Ok(verdict)
}

/// The user's side of the run: what was typed, and what a terminal would have got.
fn user_side(
    recording: &Recording,
    session: &PredictionSession,
    view: &UserView<'_>,
) -> Result<Trace> {
    let began = session.host_side.began();
    let mut records = vec![Record {
        at: began,
        event: Event::Size(recording.trace.size()),
    }];
    let typed = session.events.iter().filter_map(|one| match &one.what {
        SessionEventKind::Input(UserInput::Keys(keys)) => Some(Record {
            at: one.at,
            event: Event::User(keys.bytes.clone()),
        }),
        SessionEventKind::Input(UserInput::Resize(_)) | SessionEventKind::Frame(_) => None,
    });
    records.extend(typed);
    let mut before: Option<&ViewSample<'_>> = None;
    for moment in &view.moments {
        let stamp = Stamp(recording.truth.written(moment.frame.number));
        let bytes = drawn(before.map(|before| &before.drawn.snapshot), moment, stamp);
        records.push(Record {
            at: moment.at,
            event: Event::Host(bytes.into_bytes()),
        });
        before = Some(moment);
    }
    // What is typed at a time comes before what is shown then.
    records.sort_by_key(|record| record.at);
    Ok(Trace::new(records)?)
}

fn drawn(before: Option<&ScreenSnapshot>, moment: &ViewSample<'_>, stamp: Stamp) -> String {
    let snapshot = &moment.drawn.snapshot;
    let mut text = String::new();
    let changed: Vec<CellPosition> = match before {
        Some(before) => snapshot.differences(before).collect(),
        None => {
            text.push_str("\x1b[m\x1b[2J");
            let rows = 0..snapshot.rows();
            let places = rows.flat_map(|row| {
                (0..snapshot.columns()).map(move |column| CellPosition::new(row, column))
            });
            places.collect()
        }
    };
    for at in changed {
        let look = snapshot.look(at);
        let Some(character) = look.character() else {
            continue;
        };
        let rendition = if look.is_inverse() { ";7" } else { "" };
        let (row, column) = (at.row + 1, at.column + 1);
        let _ = write!(text, "\x1b[{row};{column}H\x1b[0{rendition}m{character}");
    }
    let cursor = snapshot.cursor.place;
    let shown = if snapshot.cursor.seen().is_some() {
        'h'
    } else {
        'l'
    };
    let (row, column) = (cursor.row + 1, cursor.column + 1);
    let _ = write!(
        text,
        "\x1b[{row};{column}H\x1b[?25{shown}{}",
        stamp.sequence()
    );
    text
}

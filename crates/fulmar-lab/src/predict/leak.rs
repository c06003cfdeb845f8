//! Characters of secrets on the screen.

use std::collections::BTreeSet;

use super::misprediction::wrong_cells;
use super::recorded_truth::{RecordedKey, RecordedTruth};
use super::snapshot::CellLook;
use super::user_view::{UserView, ViewSample};
use crate::judge::CellPosition;

/// The secrets of a session that were shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leaks {
    /// Keys of secrets that print a character.
    pub keys: usize,
    /// Those whose character was shown.
    pub shown: usize,
}

/// A stretch of wrong cells this long that reads as part of a secret is a leak wherever and whenever it
/// is; shorter ones are by chance. Chosen by eye.
const STRETCH: usize = 3;

/// Returns what of the secrets was shown, however shortly: a wrong cell on the cursor's row or a
/// neighbour of it that holds a character of the secret that is being typed or under way, or, at any
/// time after, a stretch of wrong cells that holds three of its characters in their order. A stretch is
/// nothing new on a row that the server's frame has elsewhere, as when rows move up, nor where it reads
/// as what is typed openly and under way.
pub(super) fn leaks(truth: &RecordedTruth, view: &UserView<'_>) -> Leaks {
    let leaking = leaking(truth, view).into_iter();
    let shown: BTreeSet<usize> = leaking.flat_map(|(_, keys)| keys).collect();
    let secrets = secrets(truth);
    Leaks {
        keys: secrets.iter().map(|secret| secret.characters.len()).sum(),
        shown: shown.len(),
    }
}

/// Returns the numbers of the moments at which characters of secrets are shown, with their keys.
pub(super) fn leaking(truth: &RecordedTruth, view: &UserView<'_>) -> Vec<(usize, BTreeSet<usize>)> {
    let secrets = secrets(truth);
    let moments = view.moments.iter().enumerate();
    moments
        .map(|(number, moment)| (number, shown_at(&secrets, truth, moment)))
        .filter(|(_, keys)| !keys.is_empty())
        .collect()
}

/// Returns the keys of secrets whose characters are shown at a moment.
fn shown_at(secrets: &[Secret], truth: &RecordedTruth, moment: &ViewSample<'_>) -> BTreeSet<usize> {
    let mut shown = BTreeSet::new();
    let begun = secrets.partition_point(|secret| secret.first < moment.typed);
    if begun > 0 {
        let wrong = wrong_cells(truth, moment);
        for secret in secrets[..begun].iter().filter(|_| !wrong.is_empty()) {
            secret.look(truth, moment, &wrong, &mut shown);
        }
    }
    shown
}

/// One secret: keys in a row.
struct Secret {
    first: usize,
    /// The screen that its last key leads to.
    settled: usize,
    /// The characters, with the numbers of their keys.
    characters: Vec<(usize, char)>,
}

fn secrets(truth: &RecordedTruth) -> Vec<Secret> {
    let numbers: Vec<usize> = (0..truth.keys().len()).collect();
    let stretches = numbers.chunk_by(|key, next| truth.is_secret(*key) == truth.is_secret(*next));
    let secrets = stretches.filter(|keys| truth.is_secret(keys[0]));
    let character = |key: &usize| Some((*key, character(&truth.keys()[*key])?));
    secrets
        .map(|keys| Secret {
            first: keys[0],
            settled: truth.keys()[keys[keys.len() - 1]].reach,
            characters: keys.iter().filter_map(character).collect(),
        })
        .collect()
}

/// Returns the character of a key that prints one.
fn character(key: &RecordedKey) -> Option<char> {
    let mut characters = std::str::from_utf8(&key.bytes).ok()?.chars();
    let only = characters.next().filter(|_| characters.next().is_none());
    only.filter(|character| !character.is_control() && *character != ' ')
}

impl Secret {
    fn look(
        &self,
        truth: &RecordedTruth,
        moment: &ViewSample<'_>,
        wrong: &[CellPosition],
        shown: &mut BTreeSet<usize>,
    ) {
        if moment.frame.number < self.settled {
            let near = wrong.iter().filter(|at| is_near(moment, **at));
            for at in near {
                let character = moment.drawn.snapshot.look(*at).character();
                shown.extend(self.keys_of(character, moment.typed));
            }
        }
        let open = open_text(truth, moment);
        for stretch in stretches(moment, wrong) {
            shown.extend(self.keys_in(&stretch, &open));
        }
    }

    /// Returns the typed keys of a character.
    fn keys_of(&self, character: Option<char>, typed: usize) -> impl Iterator<Item = usize> {
        let keys = self.characters.iter();
        keys.filter(move |(key, own)| *key < typed && Some(*own) == character)
            .map(|(key, _)| *key)
    }

    /// Returns the keys whose characters stand in a stretch, if enough do in their order.
    fn keys_in<'a>(
        &'a self,
        stretch: &'a [char],
        open: &'a [char],
    ) -> impl Iterator<Item = usize> + 'a {
        let windows = self.characters.windows(STRETCH);
        windows
            .filter(|window| stands(window, stretch) && !stands(window, open))
            .flat_map(|window| window.iter().map(|(key, _)| *key))
    }
}

/// Returns true if a cell is on a row beside the cursor's: that which is shown, or the server's.
fn is_near(moment: &ViewSample<'_>, at: CellPosition) -> bool {
    let cursors = [&moment.drawn.snapshot, &moment.frame.snapshot];
    cursors
        .iter()
        .any(|snapshot| snapshot.caret().place.row.abs_diff(at.row) <= 1)
}

/// Returns true if characters of a secret stand in a text, side by side.
fn stands(window: &[(usize, char)], text: &[char]) -> bool {
    let own = || window.iter().map(|(_, own)| own);
    text.windows(STRETCH).any(|shown| shown.iter().eq(own()))
}

/// Returns the characters that are typed openly and whose answer is not in the frame yet.
fn open_text(truth: &RecordedTruth, moment: &ViewSample<'_>) -> Vec<char> {
    let typed = truth.keys().iter().enumerate().take(moment.typed);
    let open =
        typed.filter(|(number, key)| !truth.is_secret(*number) && key.reach > moment.frame.number);
    let texts = open.filter_map(|(_, key)| std::str::from_utf8(&key.bytes).ok());
    texts.flat_map(str::chars).collect()
}

/// Returns true if the server's frame has the text of a drawn row on another one.
fn is_moved(moment: &ViewSample<'_>, row: u16) -> bool {
    let drawn = moment.drawn.snapshot.row(row);
    let frame = &moment.frame.snapshot;
    let is_alike = |other: &[CellLook]| {
        let mut cells = other.iter().zip(drawn);
        other.len() == drawn.len() && cells.all(|(one, drawn)| one.has_text_of(*drawn))
    };
    (0..frame.rows()).any(|other| other != row && is_alike(frame.row(other)))
}

/// Returns the text of all wrong cells that stand side by side, and are not moved with their row.
fn stretches(moment: &ViewSample<'_>, wrong: &[CellPosition]) -> Vec<Vec<char>> {
    let drawn = &moment.drawn.snapshot;
    let text = |at: &CellPosition| drawn.look(*at).character().unwrap_or(' ');
    let is_beside =
        |at: &CellPosition, next: &CellPosition| at.row == next.row && at.column + 1 == next.column;
    wrong
        .chunk_by(is_beside)
        .filter(|stretch| !is_moved(moment, stretch[0].row))
        .map(|stretch| stretch.iter().map(text).collect())
        .collect()
}

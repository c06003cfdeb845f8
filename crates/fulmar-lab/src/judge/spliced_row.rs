//! Finds rows of which each cell is right and the whole is nothing that ever was there.

/// So many blanks end the text that the cursor is in: what is behind them is drawn by itself.
///
/// Source: docs/prediction.md §5, the gap at a prompt.
const GAP: usize = 2;

/// A cell whose text is a number: that of a character, or a hash of several.
pub(crate) trait CellText: Copy {
    /// Returns the number, which is the same for equal text.
    fn text(self) -> u32;

    /// True if it looks like a space.
    fn is_blank(self) -> bool {
        self.text() == u32::from(' ')
    }
}

/// True if the row of the cursor is spliced: none of the true rows has what is shown left of the cursor together with what
/// is shown right of it. Nothing right of it is right, too: suggestions are not required. What `known`, the row that the
/// display has for certain, has left of the first change is the program's own affair.
pub(crate) fn is_spliced<C: CellText, R: AsRef<[C]>>(
    shown: &[C],
    known: &[C],
    column: u16,
    mut true_rows: impl Iterator<Item = R>,
) -> bool {
    let mut cells = shown.iter().zip(known);
    let Some(first) = cells.position(|(shown, known)| shown.text() != known.text()) else {
        return false;
    };
    // An editor's mark may come into the last column, or go.
    let row = &shown[..shown.len().saturating_sub(1)];
    let column = usize::from(column).min(row.len());
    let first = first.min(column);
    let (left, right) = (&row[first..column], &row[column..]);
    let right = &right[..text_end(right)];
    !true_rows.any(|row| {
        let part = |start: usize| row.as_ref().get(start..).unwrap_or_default();
        let is_right_true = || begins_with(part(column), right);
        begins_with(part(first), left)
            && (right.iter().all(|cell| cell.is_blank()) || is_right_true())
    })
}

/// True if the text of a row begins with that of another.
fn begins_with<C: CellText>(row: &[C], start: &[C]) -> bool {
    let mut pairs = row.iter().zip(start);
    start.len() <= row.len() && pairs.all(|(one, other)| one.text() == other.text())
}

/// Counts the cells up to the first gap.
fn text_end<C: CellText>(cells: &[C]) -> usize {
    let gap = cells
        .windows(GAP)
        .position(|cells| cells.iter().all(|cell| cell.is_blank()));
    gap.unwrap_or(cells.len())
}

//! The rules that hold for whatever a program writes, for fuzzing and for what it has kept.

use fulmar_terminal::{
    Checker, Clustering, Glyph, REPLIES_MAX, Row, Screen, Size, Terminal, TerminalReport,
    Vocabulary,
};

/// The most work of a byte on average: each cell of 80x24 four times. `tests/survival.rs` has closer bounds; but a copy of a rectangle
/// counts a cell that has a link for 32.
const WORK_PER_BYTE_MAX: u64 = 4 * 80 * 24;

/// Returns a terminal as the first byte says, and the other bytes.
fn terminal(input: &[u8]) -> Option<(Terminal, &[u8])> {
    let (&first, rest) = input.split_first()?;
    let rows = [1, 2, 5, 24][usize::from(first & 3)];
    let columns = [1, 2, 9, 80][usize::from(first >> 2 & 3)];
    let clustering = [
        Clustering::Unknown,
        Clustering::Switchable,
        Clustering::Permanent,
    ];
    let mut terminal = Terminal::new(Size::new(rows, columns)?);
    terminal.set_report(TerminalReport {
        clustering: clustering[usize::from(first >> 4) % clustering.len()],
        keyboard: first >> 6 & 1 == 1,
        ..TerminalReport::default()
    });
    Some((terminal, rest))
}

/// A program that writes all but the first byte, which says what terminal it writes to.
///
/// # Panics
///
/// Where the screen is not whole, the work not bounded, an answer nothing that we say, or it matters how the bytes are cut.
pub(crate) fn check_bytes(input: &[u8]) {
    let Some((mut whole, bytes)) = terminal(input) else {
        return;
    };
    let mut in_two = whole.clone();
    let before = whole.screen().work();
    whole.process(bytes);
    assert_is_whole(whole.screen());
    let work = whole.screen().work() - before;
    let allowed = WORK_PER_BYTE_MAX * (bytes.len() as u64 + 8);
    assert!(work <= allowed, "{work} for {} bytes", bytes.len());
    let (head, tail) = bytes.split_at(bytes.len() / 2);
    in_two.process(head);
    in_two.process(tail);
    assert!(in_two.screen() == whole.screen(), "cut in two");
    let replies = whole.take_replies();
    assert_eq!(replies, in_two.take_replies());
    assert!(replies.len() <= REPLIES_MAX);
    // No line that a shell would obey.
    let is_ours = |byte: &u8| matches!(byte, b' '..=b'~' | 0x1b | 0x07);
    assert!(replies.iter().all(is_ours), "{replies:?}");
}

/// A program that writes what stands before the first byte FF, and then what stands behind it: each vocabulary's frame leads from the
/// screen then to the one in the end.
///
/// # Panics
///
/// Where it does not, is empty though something has changed, or has what may not reach a terminal.
pub(crate) fn check_frames(input: &[u8]) {
    let Some((mut terminal, bytes)) = terminal(input) else {
        return;
    };
    let at = bytes.iter().position(|byte| *byte == 0xff);
    let (first, second) = bytes.split_at(at.unwrap_or(bytes.len() / 2));
    terminal.process(first);
    let before = terminal.screen().clone();
    terminal.process(second);
    let after = terminal.screen();
    let vocabularies = [
        Vocabulary::STOCK,
        Vocabulary::RICH,
        Vocabulary::CLUSTERED,
        Vocabulary::FULL,
        Vocabulary::PLAIN,
    ];
    for vocabulary in vocabularies {
        let frame = after.diff_from(&before, &vocabulary);
        assert_leads(&before.projected(&vocabulary), after, &frame, &vocabulary);
        assert_eq!(frame.is_empty(), after.is_same(&before, &vocabulary));
        let blank = Screen::new(after.size()).projected(&vocabulary);
        let repaint = after.repaint(&vocabulary);
        assert_leads(&blank, after, &repaint, &vocabulary);
    }
}

/// A reader that shows `start` shows what can be told of `wanted` when it has drawn the frame.
fn assert_leads(start: &Screen, wanted: &Screen, frame: &[u8], vocabulary: &Vocabulary) {
    let mut checker = Checker::default();
    if let Err(violation) = checker.check(frame).and_then(|()| checker.finish()) {
        panic!("{violation}");
    }
    let mut reader = start.clone();
    reader.apply(frame);
    assert!(
        reader.projected(vocabulary) == wanted.projected(vocabulary),
        "{:?}",
        String::from_utf8_lossy(frame)
    );
}

/// Checks what a screen promises to whoever reads it.
fn assert_is_whole(screen: &Screen) {
    let size = screen.size();
    assert!(size.contains(screen.cursor().position));
    assert_eq!(screen.rows().len(), usize::from(size.rows()));
    for row in (0..size.rows()).map(|row| screen.row(Row(row))) {
        assert_eq!(row.columns(), size.columns());
        for (column, cell) in (0..).map(fulmar_terminal::Column).zip(row.cells()) {
            let next = row.cells().get(usize::from(column.0) + 1);
            assert_eq!(cell.is_wide(), next.is_some_and(|next| next.is_spacer()));
            if let Glyph::Char(c) = row.glyph(column) {
                assert!(!c.is_control());
            }
        }
    }
}

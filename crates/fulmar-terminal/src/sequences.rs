//! Control sequences: what each of them does to the screen.

use crate::checksum::answer_checksum;
use crate::csi::Csi;
use crate::cursor::CursorShape;
use crate::modes::ModeFlags;
use crate::replies::Replies;
use crate::screen::Screen;
use crate::tabs::TabStops;

/// Does what a sequence says; one that is not known is ignored.
///
/// Source: docs/protocol.md §8.3 for what a stock server sends; xterm for the rest.
pub(crate) fn dispatch(screen: &mut Screen, replies: &mut Replies, csi: &Csi, last: char) {
    // Only renditions have values behind colons (docs/protocol.md §8.1 and §8.11).
    if csi.has_colon() && last != 'm' {
        return;
    }
    match (csi.marker(), csi.intermediates()) {
        (None, []) => plain(screen, replies, csi, last),
        (Some('?'), []) => private(screen, replies, csi, last),
        (None, b" ") => match last {
            '@' => screen.shift_left(csi.count(0)),
            'A' => screen.shift_right(csi.count(0)),
            'q' => set_cursor_shape(screen, csi.value(0)),
            _ => {}
        },
        (None, b"!") if last == 'p' => screen.soft_reset(),
        (None, b"'") => match last {
            '}' => screen.insert_columns(csi.count(0)),
            '~' => screen.delete_columns(csi.count(0)),
            _ => {}
        },
        (None, b"$") if matches!(last, 'r' | 't' | 'v' | 'x' | 'z' | '{') => {
            change_rectangle(screen, csi, last)
        }
        (None, b"\"") => match last {
            'p' => screen.set_conformance(csi.value(0)),
            'q' => screen.set_protection(csi.value(0)),
            _ => {}
        },
        (None, b"*") => match last {
            'x' => screen.set_attribute_extent(csi.value(0)),
            'y' => answer_checksum(screen, replies, csi),
            _ => {}
        },
        (Some('=' | '>' | '<'), []) if last == 'u' => change_keyboard(screen, replies, csi),
        (marker, intermediates) => {
            screen.charge(replies.work());
            replies.answer(screen, marker, intermediates, csi, last);
        }
    }
}

fn plain(screen: &mut Screen, replies: &mut Replies, csi: &Csi, last: char) {
    let count = csi.count(0);
    match last {
        '@' => screen.insert_cells(count),
        'A' => screen.move_up(count),
        'B' => screen.move_down(count),
        'C' => screen.move_right(count),
        'a' => screen.move_columns(count),
        'D' => screen.move_left(count),
        'E' => {
            screen.move_down(count);
            screen.carriage_return();
        }
        'F' => {
            screen.move_up(count);
            screen.carriage_return();
        }
        'G' | '`' => screen.go_to_column(count - 1),
        'H' | 'f' => screen.go_to(count - 1, csi.count(1) - 1),
        'I' => screen.tab_forward(count),
        'J' => screen.erase_display(csi.value(0)),
        'K' => screen.erase_line(csi.value(0)),
        'L' => screen.insert_lines(count),
        'M' => screen.delete_lines(count),
        'P' => screen.delete_cells(count),
        'S' => screen.scroll_up(count),
        // With more parameters this starts the tracking of a highlighted text.
        'T' if csi.values().len() <= 1 => screen.scroll_down(count),
        '^' => screen.scroll_down(count),
        'X' => screen.erase_cells(count),
        'Z' => screen.tab_back(count),
        'b' => screen.repeat(count),
        'd' => screen.go_to_row(count - 1),
        'e' => screen.move_rows(count),
        'g' => screen.clear_tabs(csi.value(0)),
        'h' => screen.set_modes(csi, true),
        'l' => screen.set_modes(csi, false),
        'm' => screen.set_rendition(csi),
        'r' => screen.set_margins(csi.value(0), csi.value(1)),
        's' if screen.modes.has(ModeFlags::SIDE_MARGINS) => {
            screen.set_sides(csi.value(0), csi.value(1));
        }
        's' => screen.save_cursor(),
        't' if csi.value(0) == 22 => screen.put_titles_away(csi.value(1)),
        't' if csi.value(0) == 23 => screen.bring_titles_back(csi.value(1)),
        'u' => screen.restore_cursor(),
        _ => {
            screen.charge(replies.work());
            replies.answer(screen, None, &[], csi, last);
        }
    }
}

fn change_rectangle(screen: &mut Screen, csi: &Csi, last: char) {
    match last {
        'r' => screen.change_attributes(csi),
        't' => screen.reverse_attributes(csi),
        'v' => screen.copy_rectangle(csi),
        'x' => screen.fill_rectangle(csi),
        'z' => screen.erase_rectangle(csi),
        _ => screen.erase_rectangle_selectively(csi),
    }
}

fn private(screen: &mut Screen, replies: &mut Replies, csi: &Csi, last: char) {
    match last {
        'J' => screen.erase_display_selectively(csi.value(0)),
        'K' => screen.erase_line_selectively(csi.value(0)),
        'W' if csi.value(0) == 5 => screen.tabs = TabStops::every_eighth(),
        'h' => screen.set_private_modes(csi, true),
        'l' => screen.set_private_modes(csi, false),
        'r' => screen.restore_modes(csi),
        's' => screen.save_modes(csi),
        _ => {
            screen.charge(replies.work());
            replies.answer(screen, Some('?'), &[], csi, last);
        }
    }
}

/// A reader of frames is told only what its terminal knows, and a program is believed if the user's terminal knows it.
fn change_keyboard(screen: &mut Screen, replies: &Replies, csi: &Csi) {
    if !replies.speaks_keyboard_protocol() {
        return;
    }
    let keyboard = &mut screen.keyboard;
    match csi.marker() {
        Some('=') => keyboard.change(csi.value(0), csi.value(1)),
        Some('>') => keyboard.push(csi.value(0)),
        _ => keyboard.pop(csi.count(0)),
    }
}

fn set_cursor_shape(screen: &mut Screen, number: u16) {
    if let Some(shape) = CursorShape::from_number(number) {
        screen.cursor.shape = shape;
    }
}

//! Operating system commands: titles, colours, links, the clipboard, events.
//!
//! Source: docs/protocol.md §8.8; caps: docs/threat-model.md §6.

use std::sync::Arc;

use crate::base64::is_base64;
use crate::clipboard::ClipboardWrite;
use crate::colors::{ColorLevels, digits, parse_color};
use crate::hyperlink::{Hyperlink, LINK_URI_MAX, Shared};
use crate::palette::{DYNAMIC, Palette, Slot};
use crate::parser::Ending;
use crate::replies::Replies;
use crate::screen::{ALLOCATION_WORK, Screen};

/// The longest title, in characters; the rest is cut off.
///
/// Source: docs/threat-model.md §6.
pub const TITLE_MAX: usize = 256;

/// The longest clipboard that a stock peer takes, in base64: what is left of its 16384 characters.
///
/// Source: docs/protocol.md §8.8.
pub(crate) const SHORT_CLIPBOARD_MAX: usize = 16_384 - "52;c;".len();

/// The work of asking for a link, made or found: some fifty characters, as measured by the example
/// `worst_input`.
const LINK_WORK: u64 = 48;

/// The work of setting a colour, which may copy all that are set: some ten for each of 64 nodes, ten allocations together.
/// Chosen by eye.
const SET_WORK: u64 = 10 * ALLOCATION_WORK;

/// The work of reading a colour, which may be a name: some thirty characters for each of 75 lines of names. Chosen by eye.
const COLOR_WORK: u64 = 16 * ALLOCATION_WORK;

/// Does what the text of an OSC says, and answers what it asks; what is not known is ignored.
pub(crate) fn dispatch(screen: &mut Screen, replies: &mut Replies, text: &str, ending: Ending) {
    let (number, value) = text.split_once(';').unwrap_or((text, ""));
    match number {
        "4" | "5" => {
            let of_index = slot_of(number);
            let mut parts = value.split(';');
            while let (Some(index), Some(color)) = (parts.next(), parts.next()) {
                let asked = digits(index)
                    .and_then(of_index)
                    .map(|slot| (slot, number == "4"));
                screen.set_or_tell_color(replies, asked, color, ending);
            }
        }
        "10" | "11" | "12" | "13" | "14" | "15" | "16" | "17" | "18" | "19" => {
            let slots = DYNAMIC.skip_while(|slot| digits(number) != Some(*slot));
            for (slot, color) in slots.map(Slot::Dynamic).zip(value.split(';')) {
                screen.set_or_tell_color(replies, Some((slot, false)), color, ending);
            }
        }
        "104" if value.is_empty() => screen.reset_indexed_colors(),
        "105" if value.is_empty() => screen.reset_special_colors(),
        "104" | "105" => {
            let of_index = slot_of(number);
            for index in value.split(';') {
                screen.reset_color(digits(index).and_then(of_index));
            }
        }
        "110" | "111" | "112" | "113" | "114" | "115" | "116" | "117" | "118" | "119" => {
            let dynamic = digits::<u8>(number).map(|number| Slot::Dynamic(number - 100));
            screen.reset_color(dynamic);
        }
        _ if number.len() == text.len() => {}
        "7" | "9" | "99" | "133" | "777" => {
            let work = replies.note_event(number, value);
            screen.charge(work);
        }
        "0" | "" => {
            screen.set_icon_name(value);
            screen.set_title(value);
        }
        "1" => screen.set_icon_name(value),
        "2" => screen.set_title(value),
        "8" => screen.set_link(value),
        "52" => {
            screen.set_clipboard(value);
            // Other selections than the clipboard are not the screen's.
            let work = replies.note_event(number, value);
            screen.charge(work);
        }
        _ => {}
    }
}

/// Returns what finds the colour that OSC 4, 5, 104 or 105 calls by a number.
fn slot_of(osc: &str) -> fn(u16) -> Option<Slot> {
    match osc {
        "4" | "104" => Slot::of_number,
        _ => Slot::of_special,
    }
}

impl Screen {
    /// Sets or tells the colour in a place; the flag is true if OSC 4 has named it.
    fn set_or_tell_color(
        &mut self,
        replies: &mut Replies,
        asked: Option<(Slot, bool)>,
        color: &str,
        ending: Ending,
    ) {
        match (asked, color) {
            (Some((slot, by_number)), "?") => {
                self.charge(replies.work());
                replies.answer_color_of(self, slot, by_number, ending);
            }
            _ => {
                self.charge(COLOR_WORK);
                self.set_color(asked.map(|(slot, _)| slot), parse_color(color));
            }
        }
    }

    fn reset_special_colors(&mut self) {
        if self.palette.has_special() {
            self.change_palette(Palette::reset_special);
        }
    }

    fn reset_indexed_colors(&mut self) {
        if self.palette.has_indexed() {
            self.change_palette(Palette::reset_indexed);
        }
    }

    fn set_color(&mut self, slot: Option<Slot>, levels: Option<ColorLevels>) {
        if let (Some(slot), Some(levels)) = (slot, levels)
            && self.palette.get(slot) != Some(levels)
        {
            self.change_palette(|palette| palette.set(slot, levels));
        }
    }

    fn reset_color(&mut self, slot: Option<Slot>) {
        if let Some(slot) = slot
            && self.palette.get(slot).is_some()
        {
            self.change_palette(|palette| palette.reset(slot));
        }
    }

    fn change_palette(&mut self, change: impl FnOnce(&mut Palette)) {
        self.charge(SET_WORK);
        change(Arc::make_mut(&mut self.palette));
    }
}

impl Screen {
    fn set_title(&mut self, title: &str) {
        self.charge(ALLOCATION_WORK);
        self.title = Some(first_characters(title));
    }

    fn set_icon_name(&mut self, name: &str) {
        self.charge(ALLOCATION_WORK);
        self.icon_name = Some(first_characters(name));
    }

    /// `params;uri`. An empty target ends the link.
    fn set_link(&mut self, value: &str) {
        self.style.link = value.split_once(';').and_then(|(parameters, uri)| {
            // An address goes to the user's terminal, so nothing that a terminal could obey may be
            // in it.
            let usable = !uri.is_empty() && uri.len() <= LINK_URI_MAX && is_printable_ascii(uri);
            if !usable {
                return None;
            }
            let id = parameters
                .split(':')
                .find_map(|parameter| parameter.strip_prefix("id="));
            let id = id.filter(|id| is_printable_ascii(id)).unwrap_or_default();
            self.share_link(Hyperlink {
                id: id.into(),
                uri: uri.into(),
            })
        });
    }

    /// Returns a link for cells to hold, unless there are too many that cells show.
    fn share_link(&mut self, link: Hyperlink) -> Option<Arc<Hyperlink>> {
        self.charge(LINK_WORK + self.links.share_work());
        let link = match self.links.share(link) {
            Shared::Hyperlink(link) => return Some(link),
            Shared::Full(link) => link,
        };
        // Rows may hold links for cells that are gone.
        if self.links.refuse() {
            self.grid.compact_rows();
            self.hidden.compact_rows();
            if self.links.counts_one_screen() {
                self.forget_links_of_others();
            }
        }
        match self.links.share(link) {
            Shared::Hyperlink(link) => Some(link),
            Shared::Full(_) => None,
        }
    }

    /// Forgets links that only other screens show. All that a writer's screens show at a time is within the cap, and a
    /// frame leads from one of them to another: so this makes room for all links that are left in the frame.
    fn forget_links_of_others(&mut self) {
        let links: Vec<_> = self.shown_links().into_iter().cloned().collect();
        let read: usize = links.iter().map(|link| link.uri.len()).sum();
        let cells = u64::from(self.size().rows()) * u64::from(self.size().columns());
        self.charge(2 * cells + read as u64);
        self.links.keep(&links);
    }

    /// `selections;base64`. A query is no text and never answered: programs may write the
    /// clipboard, not read it. What is no base64 changes nothing either.
    fn set_clipboard(&mut self, value: &str) {
        let Some((selections, text)) = value.split_once(';') else {
            return;
        };
        let is_ours = selections.is_empty() || selections.contains('c');
        if is_ours && is_base64(text) {
            self.clipboard = ClipboardWrite {
                text: text.into(),
                number: self.clipboard.number + 1,
            };
            if text.len() <= SHORT_CLIPBOARD_MAX {
                self.short_clipboard = self.clipboard.clone();
            }
        }
    }
}

fn first_characters(text: &str) -> Arc<str> {
    let end = text
        .char_indices()
        .nth(TITLE_MAX)
        .map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default().into()
}

fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

//! Operating system commands: titles, links, the clipboard.
//!
//! Source: docs/protocol.md §8.8; caps: docs/threat-model.md §6.

use std::sync::{Arc, Weak};

use crate::screen::Screen;
use crate::style::Link;

/// The longest title, in characters; the rest is cut off.
///
/// Source: docs/threat-model.md §6.
pub const TITLE_MAX: usize = 256;

/// The longest target of a link, in bytes; a longer one is no link.
///
/// Source: docs/threat-model.md §6.
pub const LINK_URI_MAX: usize = 2083;

/// The most links that cells of one screen and its snapshots refer to; text of further ones is
/// printed without a link. Chosen by eye: several screens full of file names.
pub const LINKS_MAX: usize = 1024;

/// Does what the text of an OSC says; what is not known is ignored.
pub(crate) fn dispatch(screen: &mut Screen, text: &str) {
    let Some((number, value)) = text.split_once(';') else {
        return;
    };
    match number {
        "0" | "" => {
            screen.set_icon_name(value);
            screen.set_title(value);
        }
        "1" => screen.set_icon_name(value),
        "2" => screen.set_title(value),
        "8" => screen.set_link(value),
        "52" => screen.set_clipboard(value),
        _ => {}
    }
}

impl Screen {
    fn set_title(&mut self, title: &str) {
        self.title = Some(first_characters(title));
    }

    fn set_icon_name(&mut self, name: &str) {
        self.icon_name = Some(first_characters(name));
    }

    /// `params;uri`. An empty target ends the link.
    fn set_link(&mut self, value: &str) {
        self.style.link = value.split_once(';').and_then(|(parameters, uri)| {
            let usable = !uri.is_empty() && uri.len() <= LINK_URI_MAX && is_printable_ascii(uri);
            if !usable {
                return None;
            }
            let id = parameters
                .split(':')
                .find_map(|parameter| parameter.strip_prefix("id="));
            let id = id.filter(|id| is_printable_ascii(id)).unwrap_or_default();
            self.links.add(Link {
                id: id.into(),
                uri: uri.into(),
            })
        });
    }

    /// `selections;base64`. A query is no text and never answered: programs may write the
    /// clipboard, not read it.
    fn set_clipboard(&mut self, value: &str) {
        let Some((selections, text)) = value.split_once(';') else {
            return;
        };
        let is_ours = selections.is_empty() || selections.contains('c');
        if is_ours && text.bytes().all(is_base64) {
            self.clipboard = text.into();
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

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// The links that cells may refer to, so that there is a bound on them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    alive: Arc<Vec<Weak<Link>>>,
}

impl Links {
    /// Returns a shared link, or `None` when there are too many.
    fn add(&mut self, link: Link) -> Option<Arc<Link>> {
        let alive = Arc::make_mut(&mut self.alive);
        if alive.len() >= LINKS_MAX {
            alive.retain(|link| link.strong_count() > 0);
        }
        if alive.len() >= LINKS_MAX {
            return None;
        }
        let link = Arc::new(link);
        alive.push(Arc::downgrade(&link));
        Some(link)
    }
}

impl PartialEq for Links {
    /// A matter of storage: what the links are is seen in the cells.
    fn eq(&self, _: &Links) -> bool {
        true
    }
}

impl Eq for Links {}

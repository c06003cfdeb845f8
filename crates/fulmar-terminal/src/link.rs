//! Hyperlinks (OSC 8), and a bound on how many there are.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// The longest target of a link, in bytes; a longer one is no link.
///
/// Source: docs/threat-model.md §6.
pub const LINK_URI_MAX: usize = 2083;

/// The most links that cells of one screen and its snapshots refer to; text of further ones is
/// printed without a link. Chosen by eye: several screens full of file names.
pub const LINKS_MAX: usize = 1024;

/// The target of a hyperlink, shared by all cells that show it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// The `id=` parameter, by which parts of one link far apart are known to belong together.
    pub id: Box<str>,
    /// Where it leads; printable ASCII, never empty.
    pub uri: Box<str>,
}

/// Whether a link was found to be there already, made, or refused.
#[derive(Debug)]
pub(crate) enum Shared {
    Link(Arc<Link>),
    /// There are too many. Cells that show none may still hold some of them.
    Full(Link),
}

/// The links that cells may refer to. Equal links are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    known: Arc<BTreeMap<Link, Weak<Link>>>,
    /// How many were refused since there was last room.
    refused: usize,
}

impl Links {
    /// Returns the one link that is equal to `link`.
    pub(crate) fn share(&mut self, link: Link) -> Shared {
        if let Some(known) = self.known.get(&link).and_then(Weak::upgrade) {
            return Shared::Link(known);
        }
        let known = Arc::make_mut(&mut self.known);
        if known.len() >= LINKS_MAX {
            known.retain(|_, link| link.strong_count() > 0);
        }
        if known.len() >= LINKS_MAX {
            return Shared::Full(link);
        }
        let shared = Arc::new(link.clone());
        known.insert(link, Arc::downgrade(&shared));
        self.refused = 0;
        Shared::Link(shared)
    }

    /// Notes a refusal. Returns whether it is worth to look for links that no cell shows, which is
    /// dear: at the first of many refusals.
    pub(crate) fn refuse(&mut self) -> bool {
        self.refused += 1;
        self.refused % LINKS_MAX == 1
    }
}

impl PartialEq for Links {
    /// A matter of storage: what the links are is seen in the cells.
    fn eq(&self, _: &Links) -> bool {
        true
    }
}

impl Eq for Links {}

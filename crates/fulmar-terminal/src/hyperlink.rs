//! Hyperlinks (OSC 8), and a bound on how many there are.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Weak};

/// The longest target of a link, in bytes; a longer one is no link.
///
/// Source: docs/threat-model.md §6.
pub const LINK_URI_MAX: usize = 2083;

/// The most links that cells of one screen and its snapshots refer to; text of further ones is
/// printed without a link. A reader of frames may keep screens that the writer has dropped, so its cap counts
/// each screen alone. Chosen by eye: several screens full of file names.
pub const LINKS_MAX: usize = 1024;

/// The target of a hyperlink, shared by all cells that show it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hyperlink {
    /// The `id=` parameter, by which parts of one link far apart are known to belong together.
    pub id: Box<str>,
    /// The address that it leads to; printable ASCII, never empty.
    pub uri: Box<str>,
}

impl Hyperlink {
    pub(crate) fn held_bytes(&self) -> usize {
        size_of::<Hyperlink>() + self.id.len() + self.uri.len()
    }

    /// Returns the hash by which the link is known. Its keys are fixed: a program may make two links with one
    /// hash, and then only one of them is a link at a time.
    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// A link that was there already or was made, or a refusal.
#[derive(Debug)]
pub(crate) enum Shared {
    Hyperlink(Arc<Hyperlink>),
    /// There is no room: too many others, or one with the same key. Rows may still hold links that
    /// no cell shows.
    Full(Hyperlink),
}

/// The links that cells may refer to, by [`Hyperlink::key`]. Equal links are one.
///
/// The table has no texts of its own: each screen that goes its own way has a copy of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hyperlinks {
    known: Arc<BTreeMap<u64, Weak<Hyperlink>>>,
    /// The number of links refused since there was last room.
    refused: usize,
    /// True for a reader of frames, which may forget links that only its other screens show.
    counts_one_screen: bool,
}

impl Hyperlinks {
    /// Returns the one link that is equal to `link`.
    pub(crate) fn share(&mut self, link: Hyperlink) -> Shared {
        let key = link.key();
        if let Some(known) = self.known.get(&key).and_then(Weak::upgrade) {
            return if *known == link {
                Shared::Hyperlink(known)
            } else {
                Shared::Full(link)
            };
        }
        let known = Arc::make_mut(&mut self.known);
        // Links that no cell shows are looked for only when the room is needed: the search goes
        // through the whole table.
        if known.len() >= LINKS_MAX {
            known.retain(|_, link| link.strong_count() > 0);
        }
        if known.len() >= LINKS_MAX {
            return Shared::Full(link);
        }
        let shared = Arc::new(link);
        known.insert(key, Arc::downgrade(&shared));
        self.refused = 0;
        Shared::Hyperlink(shared)
    }

    /// Has the cap count this screen alone from now on.
    pub(crate) fn count_one_screen(&mut self) {
        self.counts_one_screen = true;
    }

    /// Tells whether the cap counts one screen alone.
    pub(crate) fn counts_one_screen(&self) -> bool {
        self.counts_one_screen
    }

    /// Forgets all links but these. A forgotten one that comes again is another of the same content.
    pub(crate) fn keep(&mut self, links: &[Arc<Hyperlink>]) {
        let known = links.iter().map(|link| (link.key(), Arc::downgrade(link)));
        self.known = Arc::new(known.collect());
    }

    /// Returns the most work that asking for a link makes: a table that is full is gone through, and one that
    /// another screen holds is copied.
    pub(crate) fn share_work(&self) -> u64 {
        let is_copied = Arc::strong_count(&self.known) > 1;
        if is_copied || self.known.len() >= LINKS_MAX {
            self.known.len() as u64
        } else {
            0
        }
    }

    /// The memory of the table, links left out.
    pub(crate) fn held_bytes(&self) -> usize {
        self.known.len() * size_of::<(u64, Weak<Hyperlink>)>()
    }

    /// Notes a refusal. Returns whether it is worth to look for links that no cell shows, which is
    /// dear: at the first of many refusals.
    pub(crate) fn refuse(&mut self) -> bool {
        self.refused += 1;
        self.refused % LINKS_MAX == 1
    }
}

impl PartialEq for Hyperlinks {
    /// A matter of storage: what the links are is seen in the cells.
    fn eq(&self, _: &Hyperlinks) -> bool {
        true
    }
}

impl Eq for Hyperlinks {}

//! Titles that programs put away and bring back.
//!
//! Source: xterm's control sequences (XTWINOPS 22 and 23); what happens to the name that is not asked for is measured with xterm 379.

use crate::screen::{ALLOCATION_WORK, Screen};
use crate::title_stack::{Names, TITLES_AWAY_MAX};

/// The work of a change of the stack, which may copy all of it: ten references that are counted, twice.
const STACK_WORK: u64 = ALLOCATION_WORK + 2 * TITLES_AWAY_MAX as u64;

impl Screen {
    /// XTWINOPS 22: puts away icon name (1), window title (2) or both (0). Of one alone the other is kept as it was put away last.
    pub(crate) fn put_titles_away(&mut self, which: u16) {
        if which > 2 {
            return;
        }
        self.charge(STACK_WORK);
        let now = Names {
            title: self.title.clone(),
            icon_name: self.icon_name.clone(),
        };
        let before = self.titles_away.last().unwrap_or(&now).clone();
        self.titles_away.push(match which {
            1 => Names {
                icon_name: now.icon_name,
                ..before
            },
            2 => Names {
                title: now.title,
                ..before
            },
            _ => now,
        });
    }

    /// XTWINOPS 23: brings back icon name (1), window title (2) or both (0).
    pub(crate) fn bring_titles_back(&mut self, which: u16) {
        if which > 2 {
            return;
        }
        self.charge(STACK_WORK);
        let Some(names) = self.titles_away.pop() else {
            return;
        };
        if which != 1 {
            self.title = names.title;
        }
        if which != 2 {
            self.icon_name = names.icon_name;
        }
    }
}

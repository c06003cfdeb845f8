//! The turns of a victim's loop, with all that is expected of it.

use super::Victim;

impl Victim {
    pub(crate) fn turn(&mut self) {}

    pub(crate) fn say_what_is_right(&mut self) {}
}

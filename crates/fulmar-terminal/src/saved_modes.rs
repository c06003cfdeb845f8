//! Private modes that programs put away and bring back, XTSAVE and XTRESTORE.
//!
//! Source: xterm's control sequences (`CSI ? n s`, `CSI ? n r`).

use std::collections::BTreeMap;
use std::sync::Arc;

/// The states of modes as they were saved last, shared between screens until changed. There are no more than modes that can be
/// switched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SavedModes(Arc<BTreeMap<u16, bool>>);

impl SavedModes {
    /// Notes the state of a mode.
    pub(crate) fn save(&mut self, number: u16, is_set: bool) {
        Arc::make_mut(&mut self.0).insert(number, is_set);
    }

    /// Returns the state of a mode that was saved.
    pub(crate) fn get(&self, number: u16) -> Option<bool> {
        self.0.get(&number).copied()
    }

    /// Estimates the memory that they take: half of a node of the tree is used at least.
    pub(crate) fn held_bytes(&self) -> usize {
        self.0.len() * 2 * size_of::<(u16, bool)>()
    }
}

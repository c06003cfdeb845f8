//! Private modes that programs put away and bring back, XTSAVE and XTRESTORE.
//!
//! Source: xterm's control sequences (`CSI ? n s`, `CSI ? n r`).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::csi::Csi;
use crate::modes::ModeState;
use crate::screen::{ALLOCATION_WORK, Screen};

/// The states of modes as they were saved last, shared between screens until changed. There are no more than modes that can be
/// switched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SavedModes(Arc<BTreeMap<u16, bool>>);

impl SavedModes {
    /// Estimates the memory that they take: half of a node of the tree is used at least.
    pub(crate) fn held_bytes(&self) -> usize {
        self.0.len() * 2 * size_of::<(u16, bool)>()
    }
}

impl Screen {
    /// XTSAVE. Of the saved cursor (1048) the cursor is saved, as xterm has it.
    pub(crate) fn save_modes(&mut self, csi: &Csi) {
        self.charge(ALLOCATION_WORK * csi.values().len() as u64);
        for &number in csi.values() {
            match self.private_mode(number) {
                _ if number == 1048 => self.save_cursor(),
                state @ (ModeState::Set | ModeState::Reset) => {
                    let modes = Arc::make_mut(&mut self.saved_modes.0);
                    modes.insert(number, state == ModeState::Set);
                }
                _ => {}
            }
        }
    }

    /// XTRESTORE. A mode that was not saved, or is as it was, stays as it is.
    pub(crate) fn restore_modes(&mut self, csi: &Csi) {
        for &number in csi.values() {
            if number == 1048 {
                self.restore_cursor();
            } else if let Some(&is_set) = self.saved_modes.0.get(&number)
                && self.private_mode(number) != ModeState::switchable(is_set)
            {
                self.charge(ALLOCATION_WORK);
                self.set_private_mode(number, is_set);
            }
        }
    }
}

//! Switches modes on and off, and says which are on.

use crate::cell::{CELL_TEXT_MAX, CLUSTER_TEXT_MAX};
use crate::clustering::Clustering;
use crate::csi::Csi;
use crate::modes::{ModeFlags, ModeState, MouseEncoding, MouseMode};
use crate::saved::Contents;
use crate::screen::{ALLOCATION_WORK, Screen};

/// Returns the flag that a mode's number stands for.
const fn ansi_flag(number: u16) -> Option<ModeFlags> {
    match number {
        2 => Some(ModeFlags::KEYBOARD_LOCKED),
        4 => Some(ModeFlags::INSERT),
        12 => Some(ModeFlags::NO_LOCAL_ECHO),
        20 => Some(ModeFlags::NEW_LINE),
        _ => None,
    }
}

/// Returns the flag that a private mode's number stands for, if it is no more than a flag.
const fn private_flag(number: u16) -> Option<ModeFlags> {
    match number {
        1 => Some(ModeFlags::APPLICATION_CURSOR),
        4 => Some(ModeFlags::SMOOTH_SCROLL),
        5 => Some(ModeFlags::REVERSE_SCREEN),
        6 => Some(ModeFlags::ORIGIN),
        7 => Some(ModeFlags::AUTO_WRAP),
        12 => Some(ModeFlags::BLINKING_CURSOR),
        18 => Some(ModeFlags::PRINT_FORM_FEED),
        19 => Some(ModeFlags::PRINT_SCREEN),
        42 => Some(ModeFlags::NATIONAL_SETS),
        45 => Some(ModeFlags::REVERSE_WRAP),
        66 => Some(ModeFlags::APPLICATION_KEYPAD),
        67 => Some(ModeFlags::BACKSPACE_KEY),
        69 => Some(ModeFlags::SIDE_MARGINS),
        1004 => Some(ModeFlags::FOCUS_REPORTS),
        1007 => Some(ModeFlags::ALTERNATE_SCROLL),
        1045 => Some(ModeFlags::REVERSE_WRAP_ALWAYS),
        2004 => Some(ModeFlags::BRACKETED_PASTE),
        2026 => Some(ModeFlags::SYNCHRONIZED),
        _ => None,
    }
}

/// Returns the state of a mode that we know and that programs cannot switch.
///
/// Source: xterm 379 on DECRQM, but for 3, which it can switch and we cannot.
const fn fixed_mode(number: u16) -> ModeState {
    match number {
        1 | 3 | 5 | 7 | 10 | 11 | 13..=19 => ModeState::PermanentlyReset,
        _ => ModeState::Unknown,
    }
}

/// Returns the state of a private mode that we know and that programs cannot switch.
///
/// 2 is a VT52's opposite. The others are: 132 columns and the right to them, keys that repeat, which the user's terminal does as it
/// likes, a scroll bar, a Tektronix, tabs that wrap, the margin's bell, logging, and graphics that scroll.
const fn fixed_private_mode(number: u16) -> ModeState {
    match number {
        2 => ModeState::PermanentlySet,
        3 | 8 | 30 | 38 | 40 | 41 | 44 | 46 | 80 => ModeState::PermanentlyReset,
        _ => ModeState::Unknown,
    }
}

impl Screen {
    /// `CSI n h` and `CSI n l`.
    pub(crate) fn set_modes(&mut self, csi: &Csi, on: bool) {
        for &number in csi.values() {
            if let Some(flag) = ansi_flag(number) {
                self.modes.flags.set(flag, on);
            }
        }
    }

    /// `CSI ? n h` and `CSI ? n l`.
    pub(crate) fn set_private_modes(&mut self, csi: &Csi, on: bool) {
        for &number in csi.values() {
            self.set_private_mode(number, on);
        }
    }

    fn set_private_mode(&mut self, number: u16, on: bool) {
        if number == 69 && !self.conformance.has_side_margins() {
            return;
        }
        if let Some(flag) = private_flag(number) {
            self.modes.flags.set(flag, on);
        } else if let Some(mouse) = MouseMode::from_number(number) {
            self.modes.mouse = if on { mouse } else { MouseMode::Off };
        } else if let Some(encoding) = MouseEncoding::from_number(number) {
            self.modes.mouse_encoding = if on { encoding } else { MouseEncoding::Bytes };
        }
        match (number, on) {
            (6, _) => self.go_to(0, 0),
            (25, _) => self.cursor.visible = on,
            (69, false) => self.reset_sides(),
            (2027, _) if self.clustering == Clustering::Switchable => {
                self.modes.flags.set(ModeFlags::GRAPHEME_CLUSTERS, on);
            }
            (47 | 1047, true) => self.enter_alternate(Contents::Keep),
            (47, false) => self.leave_alternate(Contents::Keep),
            (1047, false) => self.leave_alternate(Contents::Erase),
            (1048, true) => self.save_cursor(),
            (1048, false) => self.restore_cursor(),
            // As in xterm, 1049 erases the alternate screen on the way in, 1047 on the way out.
            (1049, true) => {
                self.save_cursor();
                self.enter_alternate(Contents::Erase);
            }
            (1049, false) => {
                self.leave_alternate(Contents::Keep);
                self.restore_cursor();
            }
            _ => {}
        }
    }

    /// XTSAVE. Of the saved cursor (1048) the cursor is saved, as xterm has it.
    pub(crate) fn save_modes(&mut self, csi: &Csi) {
        self.charge(ALLOCATION_WORK * csi.values().len() as u64);
        for &number in csi.values() {
            match self.private_mode(number) {
                _ if number == 1048 => self.save_cursor(),
                state @ (ModeState::Set | ModeState::Reset) => {
                    self.saved_modes.save(number, state == ModeState::Set);
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
            } else if let Some(is_set) = self.saved_modes.get(number)
                && self.private_mode(number) != ModeState::switchable(is_set)
            {
                self.charge(ALLOCATION_WORK);
                self.set_private_mode(number, is_set);
            }
        }
    }

    /// Returns the state of mode `number`.
    pub(crate) fn mode(&self, number: u16) -> ModeState {
        match ansi_flag(number) {
            Some(flag) => ModeState::switchable(self.modes.has(flag)),
            None => fixed_mode(number),
        }
    }

    /// Returns the state of private mode `number`.
    pub(crate) fn private_mode(&self, number: u16) -> ModeState {
        if number == 69 && !self.conformance.has_side_margins() {
            return ModeState::Unknown;
        }
        let is_set = if let Some(flag) = private_flag(number) {
            self.modes.has(flag)
        } else if MouseMode::from_number(number).is_some() {
            self.modes.mouse.number() == Some(number)
        } else if MouseEncoding::from_number(number).is_some() {
            self.modes.mouse_encoding.number() == Some(number)
        } else {
            match (number, self.clustering) {
                (25, _) => self.cursor.visible,
                (47 | 1047 | 1049, _) => self.alternate,
                (2027, Clustering::Switchable) => self.is_clustering(),
                (2027, Clustering::Permanent) => return ModeState::PermanentlySet,
                (1048, _) => self.saved.is_set,
                _ => return fixed_private_mode(number),
            }
        };
        ModeState::switchable(is_set)
    }

    /// Sets the say that programs have in mode 2027. What is on the screen stays as it is, and so does a mode that
    /// programs can switch from here on.
    pub fn set_clustering(&mut self, clustering: Clustering) {
        self.clustering = clustering;
        match clustering {
            Clustering::Unknown => self.modes.flags.remove(ModeFlags::GRAPHEME_CLUSTERS),
            Clustering::Switchable => {}
            Clustering::Permanent => self.modes.flags.insert(ModeFlags::GRAPHEME_CLUSTERS),
        }
    }

    /// Returns true if characters that make one grapheme cluster share a cell.
    pub fn is_clustering(&self) -> bool {
        self.modes.has(ModeFlags::GRAPHEME_CLUSTERS)
    }

    /// The longest text that a cell gets.
    pub(crate) fn cell_text_max(&self) -> usize {
        if self.is_clustering() {
            CLUSTER_TEXT_MAX
        } else {
            CELL_TEXT_MAX
        }
    }
}

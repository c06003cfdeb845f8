//! The report about the user's terminal.

use crate::clustering::Clustering;
use crate::colors::DefaultColors;
use crate::probe::Answer;

/// The things that are known of the user's terminal, as far as programs may ask for them or depend on them.
///
/// Source: docs/protocol.md §13.12.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalReport {
    /// Its colours.
    pub colors: DefaultColors,
    /// The say that programs have in mode 2027.
    pub clustering: Clustering,
    /// True if it speaks kitty's keyboard protocol.
    pub keyboard: bool,
    /// True if the user wants rows cropped where the width of the window changes, and no line cut anew.
    pub crops: bool,
    /// True if the user lets programs ask for checksums of the screen, by which they can read it.
    pub checksums: bool,
}

impl TerminalReport {
    /// Takes note of an answer of that terminal.
    pub fn learn(&mut self, answer: &Answer) {
        match answer {
            Answer::Color(number, levels) => self.colors.note(*number, *levels),
            Answer::KittyKeyboard => self.keyboard = true,
            Answer::Mode(2027, 1 | 2) => self.clustering = Clustering::Switchable,
            Answer::Mode(2027, 3) => self.clustering = Clustering::Permanent,
            _ => {}
        }
    }
}

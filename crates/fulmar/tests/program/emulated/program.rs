//! A program that is looked at.

use fulmar_testbed::peers;

/// A program, and what is done with it.
pub(super) struct Program {
    pub(super) name: &'static str,
    /// The programs that it needs.
    pub(super) needs: &'static [&'static str],
    /// True if a test may ask for them, so that they are there wherever all tests run.
    pub(super) is_usual: bool,
    pub(super) command: &'static [&'static str],
    /// Keys that are typed before anything is compared, where what is shown at first is never the same twice.
    pub(super) unseen: Option<&'static str>,
    /// Keys after each of which both are to look alike, and other than before.
    pub(super) keys: &'static [&'static str],
}

impl Program {
    /// Returns true if it can run here.
    #[track_caller]
    pub(super) fn is_there(&self) -> bool {
        for name in self.needs {
            let found = if self.is_usual {
                peers::require(name)
            } else {
                peers::find(name)
            };
            if found.is_none() {
                if !self.is_usual {
                    fulmar_platform::leave_out(&format!("{name} is not installed"));
                }
                return false;
            }
        }
        true
    }
}

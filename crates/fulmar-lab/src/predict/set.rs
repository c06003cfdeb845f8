//! Sets of recordings, each reported by itself.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The origin of a recording, and its use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordingSet {
    /// Ours, for tuning: those that the prediction was designed with.
    First,
    /// Ours, for tuning, and made later: each has a script.
    Tuning,
    /// Ours, and kept away from tuning.
    HeldOut,
    /// Not ours.
    #[default]
    Others,
}

/// The beginning of the names of our own recordings.
const OWN: &str = "own-";

/// The folder of those that are kept away from tuning.
pub const HELD_OUT: &str = "held-out";

impl RecordingSet {
    /// Returns the set of the recording in a file.
    pub fn of(path: &Path) -> RecordingSet {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.parent().unwrap_or(Path::new(""));
        let script = folder.join("scripts").join(format!("{name}.typist"));
        if !name.starts_with(OWN) {
            RecordingSet::Others
        } else if folder.ends_with(HELD_OUT) {
            RecordingSet::HeldOut
        } else if script.is_file() {
            RecordingSet::Tuning
        } else {
            RecordingSet::First
        }
    }

    /// Returns its name in tables.
    pub const fn title(self) -> &'static str {
        match self {
            RecordingSet::First => "tuning, older",
            RecordingSet::Tuning => "tuning, newer",
            RecordingSet::HeldOut => "held out",
            RecordingSet::Others => "of others",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_folders_and_scripts_tell_the_set() {
        let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/keys");
        for (file, set) in [
            ("own-bash-plain", RecordingSet::First),
            ("own-ask-plain", RecordingSet::Tuning),
            ("held-out/own-gpg", RecordingSet::HeldOut),
            ("agd-short", RecordingSet::Others),
        ] {
            assert_eq!(RecordingSet::of(&keys.join(file)), set, "{file}");
        }
    }
}

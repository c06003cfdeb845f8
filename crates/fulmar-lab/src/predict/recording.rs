//! Recordings with their truth, the sets that they belong to, and the programs that they are of.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

use super::recorded_truth::RecordedTruth;
use crate::experiment::own_recordings;
use crate::trace::{Meta, Trace};

/// A recording and what its keys do.
#[derive(Debug)]
pub struct Recording {
    /// Its file's name.
    pub name: String,
    /// The set that it belongs to.
    pub set: RecordingSet,
    /// The recording.
    pub trace: Trace,
    /// The truth: the effects of its keys.
    pub truth: RecordedTruth,
}

impl Recording {
    /// Reads a recording, and its sidecar if it has one.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read or holds something else.
    pub fn read(path: &Path) -> Result<Recording> {
        let trace = Trace::read(path)?;
        let beside = Meta::path_beside(path);
        let meta = if beside.is_file() {
            Some(Meta::read(&beside)?)
        } else {
            None
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(Recording {
            set: RecordingSet::of(path),
            ..Recording::new(&name, trace, meta.as_ref())
        })
    }

    /// Returns a recording by that name, of no set of ours.
    pub fn new(name: &str, trace: Trace, meta: Option<&Meta>) -> Recording {
        Recording {
            name: name.to_owned(),
            set: RecordingSet::Others,
            truth: RecordedTruth::of(&trace, meta),
            trace,
        }
    }

    /// Reads all recordings of a folder whose name holds one of `parts`, or all if there are none, in
    /// the order of their names.
    ///
    /// # Errors
    ///
    /// As of one; and where there is none.
    pub fn read_all(folder: &Path, parts: &[String]) -> Result<Vec<Recording>> {
        let reading = || format!("reading {}", folder.display());
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).with_context(reading)? {
            let path = entry.with_context(reading)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_wanted = parts.is_empty() || parts.iter().any(|part| name.contains(part));
            let is_trace = !name.ends_with(".meta") && !name.contains("README");
            if path.is_file() && is_trace && is_wanted {
                paths.push(path);
            }
        }
        paths.sort();
        ensure!(
            !paths.is_empty(),
            "{} has no such recording",
            folder.display()
        );
        paths.iter().map(|path| Recording::read(path)).collect()
    }

    /// Returns the kind of programs that it has.
    pub fn group(&self) -> ProgramGroup {
        ProgramGroup::of(&self.name)
    }

    /// Returns true if it was made to be hard on purpose, and stays out of the totals.
    pub fn is_apart(&self) -> bool {
        self.name.starts_with("own-adversarial")
    }
}

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
    /// From a folder that is not the project's: of others, or of whoever measures.
    #[default]
    Others,
}

/// The folder of those that are kept away from tuning.
pub const HELD_OUT: &str = "held-out";

impl RecordingSet {
    /// Returns the set of the recording in a file: ours are those in the project's folders, whatever their names.
    pub fn of(path: &Path) -> RecordingSet {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.parent().unwrap_or(Path::new(""));
        let script = folder.join("scripts").join(format!("{name}.typist"));
        let own = own_recordings();
        if is_same(folder, &own.join(HELD_OUT)) {
            RecordingSet::HeldOut
        } else if !is_same(folder, &own) {
            RecordingSet::Others
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
            RecordingSet::Others => "from --data",
        }
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let paths = [one, other].map(|path| path.canonicalize().ok());
    paths[0].is_some() && paths[0] == paths[1]
}

/// The kind of programs that a recording has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramGroup {
    /// Shells.
    Shells,
    /// Shells with a right prompt, suggestions, or several lines of prompt.
    Decorated,
    /// Interpreters.
    Interpreters,
    /// Programs that read whole lines from the terminal.
    Cooked,
    /// Editors.
    Editors,
    /// Pagers, lists and other full screens.
    Screens,
    /// Interfaces with a box to type in.
    Boxes,
    /// Programs within a multiplexer or another session.
    Relays,
    /// Prompts for secrets.
    Secrets,
    /// Unusual typing: pastes, held keys, an input method.
    Hands,
    /// Programs that are none of them.
    Others,
}

impl ProgramGroup {
    /// The groups, their names, and parts of the names of their recordings; the first that fits counts.
    const TABLE: [(Self, &'static str, &'static str); 10] = [
        (
            Self::Secrets,
            "secrets",
            "password passwd prompt-same sameprompt secret gpg sudo -read -ask -hush",
        ),
        (Self::Boxes, "input boxes", "tui fzf assistant box dialog"),
        (Self::Relays, "relays", "tmux screen ssh"),
        (
            Self::Editors,
            "editors",
            "vim nano emacs micro helix -hx -vi",
        ),
        (
            Self::Interpreters,
            "interpreters",
            "python sqlite psql node gdb -bc repl",
        ),
        (
            Self::Screens,
            "full screens",
            "less htop mutt irssi tig -mc",
        ),
        (Self::Hands, "unusual typing", "paste repeat chinese ibus"),
        (Self::Cooked, "cooked input", "cooked cat dd"),
        (
            Self::Decorated,
            "decorated shells",
            "rprompt suggest fish starship twoline two-line color-wide glyphs -right",
        ),
        (Self::Shells, "shells", "bash zsh dash ksh"),
    ];

    /// Returns the group of a recording, by its name.
    pub fn of(name: &str) -> ProgramGroup {
        let has_part = |parts: &str| parts.split(' ').any(|part| name.contains(part));
        let mut table = Self::TABLE.iter();
        let group = table.find(|(_, _, parts)| has_part(parts));
        group.map_or(ProgramGroup::Others, |(group, ..)| *group)
    }

    /// Returns its name in tables.
    pub fn name(self) -> &'static str {
        let mut table = Self::TABLE.iter();
        let known = table.find(|(group, ..)| *group == self);
        known.map_or("others", |(_, name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_project_and_scripts_tell_the_set() {
        let keys = own_recordings();
        for (file, set) in [
            ("own-bash-plain", RecordingSet::First),
            ("own-ask-plain", RecordingSet::Tuning),
            ("held-out/own-gpg", RecordingSet::HeldOut),
            ("../keys/held-out/own-gpg", RecordingSet::HeldOut),
            ("../film/session", RecordingSet::Others),
        ] {
            assert_eq!(RecordingSet::of(&keys.join(file)), set, "{file}");
        }
    }

    #[test]
    fn a_stranger_s_recordings_are_not_ours_whatever_they_are_called() {
        let folder = tempfile::tempdir().unwrap();
        let held_out = folder.path().join(HELD_OUT);
        fs::create_dir(&held_out).unwrap();
        for folder in [folder.path(), &held_out] {
            let set = RecordingSet::of(&folder.join("own-bash-plain"));
            assert_eq!(set, RecordingSet::Others);
        }
        assert_eq!(
            RecordingSet::of(Path::new("/nowhere/own-bash-plain")),
            RecordingSet::Others
        );
    }

    #[test]
    fn names_tell_the_group() {
        for (name, group) in [
            ("own-bash-plain", ProgramGroup::Shells),
            ("own-zsh-autosuggest", ProgramGroup::Decorated),
            ("own-vim-shape", ProgramGroup::Editors),
            ("own-tui-box", ProgramGroup::Boxes),
            ("own-adversarial-sameprompt", ProgramGroup::Secrets),
            ("own-read-plain", ProgramGroup::Secrets),
            ("own-ask-tmux", ProgramGroup::Secrets),
            ("own-dialog", ProgramGroup::Boxes),
            ("own-paste", ProgramGroup::Hands),
            ("agd-short", ProgramGroup::Others),
        ] {
            assert_eq!(ProgramGroup::of(name), group, "{name}");
        }
    }

    #[test]
    fn every_group_has_a_name_and_words_that_tell_it() {
        for (name, group) in [
            ("own-fzf", "input boxes"),
            ("own-ssh-inner", "relays"),
            ("own-hx", "editors"),
            ("own-sqlite", "interpreters"),
            ("own-mc", "full screens"),
            ("own-repeat-keys", "unusual typing"),
            ("own-cooked", "cooked input"),
            ("own-zsh-right", "decorated shells"),
            ("own-dash", "shells"),
            ("own-gpg", "secrets"),
            ("own-else", "others"),
        ] {
            assert_eq!(ProgramGroup::of(name).name(), group, "{name}");
        }
        // The first that fits: an editor that types a password asks for a secret.
        assert_eq!(ProgramGroup::of("own-vim-password"), ProgramGroup::Secrets);
        assert_eq!(ProgramGroup::of("own-bash-vim"), ProgramGroup::Editors);
    }

    /// A folder with recordings of these names, and what is no recording.
    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let trace = b"0 SIZE 20 4\n0 HOST 4\npw: \n1000000 USER 1\na\n";
        for name in names {
            fs::write(folder.path().join(name), trace).unwrap();
        }
        fs::write(folder.path().join("README.md"), "words").unwrap();
        fs::create_dir(folder.path().join("scripts")).unwrap();
        folder
    }

    #[test]
    fn a_folder_is_read_in_the_order_of_names() {
        let folder = folder(&["own-b", "own-a", "other"]);
        let names = |parts: &[&str]| {
            let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
            let all = Recording::read_all(folder.path(), &parts);
            all.map(|all| all.into_iter().map(|one| one.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap(), ["other", "own-a", "own-b"]);
        assert_eq!(names(&["own"]).unwrap(), ["own-a", "own-b"]);
        assert_eq!(names(&["-b", "other"]).unwrap(), ["other", "own-b"]);
        let none = names(&["vim"]).unwrap_err().to_string();
        assert!(none.ends_with("has no such recording"), "{none}");
        assert!(Recording::read_all(Path::new("/nowhere"), &[]).is_err());
    }

    #[test]
    fn the_sidecar_says_what_is_secret() {
        let folder = folder(&["own-a", "own-b"]);
        fs::write(folder.path().join("own-b.meta"), "900000 MARK secret-on\n").unwrap();
        let all = Recording::read_all(folder.path(), &[]).unwrap();
        let secrets: Vec<bool> = all.iter().map(|one| one.truth.has_secret()).collect();
        assert_eq!(secrets, [false, true]);
        fs::write(folder.path().join("own-a.meta"), "what?\n").unwrap();
        assert!(Recording::read_all(folder.path(), &[]).is_err());
    }

    #[test]
    fn what_is_hard_on_purpose_stays_apart() {
        let trace = Trace::parse(b"0 SIZE 20 4\n").unwrap();
        let is_apart = |name| Recording::new(name, trace.clone(), None).is_apart();
        assert!(is_apart("own-adversarial-sameprompt"));
        assert!(!is_apart("own-bash-plain") && !is_apart("adversarial"));
    }
}

//! Groups of programs.

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

/// Parts of a recording's name, and what they stand for; the first that fits counts.
const NAMES: [(&[&str], ProgramGroup); 10] = [
    (
        &[
            "password",
            "passwd",
            "prompt-same",
            "sameprompt",
            "secret",
            "gpg",
            "sudo",
            "-read",
            "-ask",
        ],
        ProgramGroup::Secrets,
    ),
    (
        &["tui", "fzf", "assistant", "box", "dialog"],
        ProgramGroup::Boxes,
    ),
    (&["tmux", "screen", "ssh"], ProgramGroup::Relays),
    (
        &["vim", "nano", "emacs", "micro", "helix", "-hx", "-vi"],
        ProgramGroup::Editors,
    ),
    (
        &["python", "sqlite", "psql", "node", "gdb", "-bc", "repl"],
        ProgramGroup::Interpreters,
    ),
    (
        &["less", "htop", "mutt", "irssi", "tig", "-mc"],
        ProgramGroup::Screens,
    ),
    (&["paste", "repeat", "chinese", "ibus"], ProgramGroup::Hands),
    (&["cooked", "cat", "dd"], ProgramGroup::Cooked),
    (
        &[
            "rprompt",
            "suggest",
            "fish",
            "starship",
            "twoline",
            "two-line",
            "color-wide",
            "glyphs",
            "-right",
        ],
        ProgramGroup::Decorated,
    ),
    (&["bash", "zsh", "dash", "ksh"], ProgramGroup::Shells),
];

impl ProgramGroup {
    /// Returns the group of a recording, by its name.
    pub fn of(name: &str) -> ProgramGroup {
        let group = NAMES
            .iter()
            .find(|(parts, _)| parts.iter().any(|part| name.contains(part)));
        group.map_or(ProgramGroup::Others, |(_, group)| *group)
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            ProgramGroup::Shells => "shells",
            ProgramGroup::Decorated => "decorated shells",
            ProgramGroup::Interpreters => "interpreters",
            ProgramGroup::Cooked => "cooked input",
            ProgramGroup::Editors => "editors",
            ProgramGroup::Screens => "full screens",
            ProgramGroup::Boxes => "input boxes",
            ProgramGroup::Relays => "relays",
            ProgramGroup::Secrets => "secrets",
            ProgramGroup::Hands => "unusual typing",
            ProgramGroup::Others => "others",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

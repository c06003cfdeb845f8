//! Groups of programs.

/// The kind of programs that a recording has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
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
const NAMES: [(&[&str], Group); 10] = [
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
        Group::Secrets,
    ),
    (&["tui", "fzf", "assistant", "box", "dialog"], Group::Boxes),
    (&["tmux", "screen", "ssh"], Group::Relays),
    (
        &["vim", "nano", "emacs", "micro", "helix", "-hx", "-vi"],
        Group::Editors,
    ),
    (
        &["python", "sqlite", "psql", "node", "gdb", "-bc", "repl"],
        Group::Interpreters,
    ),
    (
        &["less", "htop", "mutt", "irssi", "tig", "-mc"],
        Group::Screens,
    ),
    (&["paste", "repeat", "chinese", "ibus"], Group::Hands),
    (&["cooked", "cat", "dd"], Group::Cooked),
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
        Group::Decorated,
    ),
    (&["bash", "zsh", "dash", "ksh"], Group::Shells),
];

impl Group {
    /// Returns the group of a recording, by its name.
    pub fn of(name: &str) -> Group {
        let group = NAMES
            .iter()
            .find(|(parts, _)| parts.iter().any(|part| name.contains(part)));
        group.map_or(Group::Others, |(_, group)| *group)
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Shells => "shells",
            Group::Decorated => "decorated shells",
            Group::Interpreters => "interpreters",
            Group::Cooked => "cooked input",
            Group::Editors => "editors",
            Group::Screens => "full screens",
            Group::Boxes => "input boxes",
            Group::Relays => "relays",
            Group::Secrets => "secrets",
            Group::Hands => "unusual typing",
            Group::Others => "others",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_group() {
        for (name, group) in [
            ("own-bash-plain", Group::Shells),
            ("own-zsh-autosuggest", Group::Decorated),
            ("own-vim-shape", Group::Editors),
            ("own-tui-box", Group::Boxes),
            ("own-adversarial-sameprompt", Group::Secrets),
            ("own-read-plain", Group::Secrets),
            ("own-ask-tmux", Group::Secrets),
            ("own-dialog", Group::Boxes),
            ("own-paste", Group::Hands),
            ("agd-short", Group::Others),
        ] {
            assert_eq!(Group::of(name), group, "{name}");
        }
    }
}

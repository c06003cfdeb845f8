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

impl ProgramGroup {
    /// The groups, their names, and parts of the names of their recordings; the first that fits counts.
    const TABLE: [(Self, &'static str, &'static str); 10] = [
        (
            Self::Secrets,
            "secrets",
            "password passwd prompt-same sameprompt secret gpg sudo -read -ask",
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

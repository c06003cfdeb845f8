//! Finds what stands at the end of a command line that is being typed, by clap's definition of ours.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// The last word of a command line.
#[derive(Debug)]
pub(super) struct Place<'c> {
    /// The command whose word it is.
    pub(super) command: &'c Command,
    /// The flags before it.
    pub(super) given: Vec<&'c Arg>,
    pub(super) slot: Slot<'c>,
}

/// The kind of the last word.
#[derive(Debug)]
pub(super) enum Slot<'c> {
    /// The value of a flag. It begins behind so many bytes of the word.
    Value(&'c Arg, usize),
    /// A flag.
    Flag,
    /// No flag; so many of these were before it.
    Operand(usize),
}

impl Place<'_> {
    /// Tells if a flag of this name is before the last word.
    pub(super) fn has(&self, id: &str) -> bool {
        self.given.iter().any(|argument| argument.get_id() == id)
    }
}

/// Reads a command line whose last word is `last`. The words are those behind the program's name.
pub(super) fn read<'c>(command: &'c Command, before: &[OsString], last: &str) -> Place<'c> {
    let mut reader = Reader::new(command);
    for word in before {
        reader.take(word);
    }
    let slot = reader.slot(last);
    Place {
        command: reader.command,
        given: reader.given,
        slot,
    }
}

/// Returns which of the words begins the command of a local session: the first that is no flag, unless two dashes are
/// before it.
pub(super) fn local_command_at(command: &Command, words: &[OsString]) -> Option<usize> {
    let mut reader = Reader::new(command);
    for (at, word) in words.iter().enumerate() {
        reader.take(word);
        if reader.operands > 0 || reader.has_dashes {
            return (reader.is_local() && !reader.has_dashes).then_some(at);
        }
    }
    None
}

struct Reader<'c> {
    command: &'c Command,
    given: Vec<&'c Arg>,
    operands: usize,
    /// The flag whose value comes next.
    waiting: Option<&'c Arg>,
    has_dashes: bool,
}

impl<'c> Reader<'c> {
    fn new(command: &'c Command) -> Reader<'c> {
        Reader {
            command,
            given: Vec::new(),
            operands: 0,
            waiting: None,
            has_dashes: false,
        }
    }

    fn take(&mut self, word: &OsStr) {
        if self.waiting.take().is_some() {
            return;
        }
        // What is no text is a file, a host or a value.
        match word.to_str() {
            Some("--") if !self.has_dashes => self.has_dashes = true,
            Some(word) if word != "-" && self.may_be_flag(word) => self.take_flag(word),
            Some(word) => self.take_operand(word),
            None => self.operands += 1,
        }
    }

    fn take_flag(&mut self, word: &str) {
        let Some((flag, value_at)) = self.flag(word) else {
            return;
        };
        self.given.push(flag);
        if value_at.is_none() && takes_value(flag) {
            self.waiting = Some(flag);
        }
    }

    fn take_operand(&mut self, word: &str) {
        match self.command.find_subcommand(word) {
            Some(subcommand) if self.may_be_subcommand() => {
                self.command = subcommand;
                self.given.clear();
            }
            _ => self.operands += 1,
        }
    }

    fn slot(&self, last: &str) -> Slot<'c> {
        if let Some(flag) = self.waiting {
            return Slot::Value(flag, 0);
        }
        if !self.may_be_flag(last) {
            return Slot::Operand(self.operands);
        }
        match self.flag(last) {
            Some((flag, Some(value_at))) => Slot::Value(flag, value_at),
            _ => Slot::Flag,
        }
    }

    /// Tells if a word can be one of our flags: what follows a host is not ours.
    fn may_be_flag(&self, word: &str) -> bool {
        let mut operands = self.command.get_positionals();
        let is_ours = self.operands == 0 || !operands.any(Arg::is_trailing_var_arg_set);
        word.starts_with('-') && !self.has_dashes && is_ours
    }

    /// Tells if the next word that is no flag can be a subcommand.
    fn may_be_subcommand(&self) -> bool {
        self.operands == 0 && !self.has_dashes && !self.is_local()
    }

    fn is_local(&self) -> bool {
        self.given.iter().any(|flag| flag.get_id() == "local")
    }

    /// Returns the flag that a word gives, and where its value begins if that is in the same word. Of several letters
    /// the last one counts.
    fn flag(&self, word: &str) -> Option<(&'c Arg, Option<usize>)> {
        let find = |is_it: &dyn Fn(&Arg) -> bool| {
            let mut flags = self.command.get_arguments();
            flags.find(|known| is_it(known))
        };
        if let Some(long) = word.strip_prefix("--") {
            let equals = long.find('=');
            let name = long.get(..equals.unwrap_or(long.len()))?;
            let flag = find(&|known| has_long(known, name))?;
            return Some((flag, equals.map(|at| "--".len() + at + 1)));
        }
        let mut found = None;
        for (at, letter) in word.char_indices().skip(1) {
            let flag = find(&|known| known.get_short() == Some(letter))?;
            let end = at + letter.len_utf8();
            if takes_value(flag) {
                return Some((flag, Some(end).filter(|&end| end < word.len())));
            }
            found = Some((flag, None));
        }
        found
    }
}

fn has_long(flag: &Arg, name: &str) -> bool {
    let aliases = flag.get_all_aliases().unwrap_or_default();
    flag.get_long() == Some(name) || aliases.contains(&name)
}

fn takes_value(flag: &Arg) -> bool {
    flag.get_action().takes_values()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    /// Returns the command and what the last word of a line is to be, in short.
    fn told(line: &str) -> (String, String) {
        let mut command = Cli::command();
        command.build();
        let mut words: Vec<&str> = line.split(' ').collect();
        let last = words.pop().unwrap_or_default();
        let before: Vec<OsString> = words.iter().map(OsString::from).collect();
        let place = read(&command, &before, last);
        let slot = match place.slot {
            Slot::Value(flag, at) => format!("{}+{at}", flag.get_id()),
            Slot::Flag => "flag".to_owned(),
            Slot::Operand(number) => number.to_string(),
        };
        (place.command.get_name().to_owned(), slot)
    }

    #[test]
    fn what_a_local_session_runs_may_be_called_as_a_subcommand() {
        let mut command = Cli::command();
        command.build();
        for (line, wanted) in [
            ("--local man ls", Some(1)),
            ("--local -n --log f cp a b", Some(4)),
            ("--local -- man", None),
            ("--local", None),
            ("man cp", None),
            ("host --local", None),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(local_command_at(&command, &words), wanted, "{line}");
        }
    }

    #[test]
    fn what_is_wanted_follows_from_the_words_before() {
        for (line, command, slot) in [
            ("", "fulmar", "0"),
            ("--pre", "fulmar", "flag"),
            ("-", "fulmar", "flag"),
            ("--predict al", "fulmar", "predict+0"),
            ("--predict=al", "fulmar", "predict+10"),
            ("--predict= ", "fulmar", "0"),
            ("-np 7", "fulmar", "port+0"),
            ("-np7", "fulmar", "port+3"),
            ("host -", "fulmar", "1"),
            ("-- -", "fulmar", "0"),
            ("--local -- vi", "fulmar", "0"),
            ("--local cp a", "fulmar", "1"),
            ("cp -", "cp", "flag"),
            ("cp -r a", "cp", "0"),
            ("cp - a", "cp", "1"),
            ("cp a -", "cp", "flag"),
            ("cp -J ho", "cp", "ssh-jump+0"),
            ("cp -Jho", "cp", "ssh-jump+2"),
            ("-n cp a b", "cp", "1"),
            ("config ho", "config", "0"),
            ("man cp ", "man", "1"),
        ] {
            let wanted = (command.to_owned(), slot.to_owned());
            assert_eq!(told(line), wanted, "{line:?}");
        }
    }
}

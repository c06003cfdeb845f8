//! The words that can stand at the end of a command line.

use std::ffi::{OsStr, OsString};

use clap::builder::PossibleValue;
use clap::{Arg, Command, ValueHint};

use super::hosts;
use super::remote_files;
use crate::cli::command_line::{Place, Slot, read};
use crate::copy::remote_path_at;
use crate::environment;
use crate::sessions::Directory;

/// The words that can stand there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// True if files of this machine can.
    files: bool,
    words: Vec<Word>,
}

/// A word, and what it means if that is worth saying.
#[derive(Debug, PartialEq, Eq)]
struct Word {
    text: String,
    help: String,
}

impl Word {
    fn new(text: impl Into<String>) -> Word {
        Word::explained(text, "")
    }

    fn explained(text: impl Into<String>, help: impl ToString) -> Word {
        let help = help.to_string();
        Word {
            text: text.into(),
            help: help.lines().next().unwrap_or_default().to_owned(),
        }
    }
}

/// Tells if a word needs nothing more behind it.
pub(super) fn is_complete(word: &str) -> bool {
    !word.ends_with(['/', ':', '=', '@'])
}

impl Answer {
    /// Returns it with an explanation behind each word that has one.
    pub(super) fn explained(&self) -> String {
        let line = |word: &Word| match word.help.as_str() {
            "" => format!("{}\n", word.text),
            help => format!("{}\t{help}\n", word.text),
        };
        self.head() + &self.words.iter().map(line).collect::<String>()
    }

    /// Returns it with each word as `write` has it.
    pub(super) fn written(&self, write: impl Fn(&str) -> Option<String>) -> String {
        let words = self.words.iter().filter_map(|word| write(&word.text));
        self.head() + &words.map(|word| word + "\n").collect::<String>()
    }

    fn head(&self) -> String {
        let wanted = if self.files { "files" } else { "words" };
        format!("{wanted}\n")
    }
}

/// Finds what can stand at the end of a command line whose last word is `last`.
pub(super) fn answer(command: &Command, before: &[OsString], last: &str) -> Answer {
    let place = read(command, before, last);
    match place.slot {
        Slot::Value(flag, at) => value_of(flag, before, last, at),
        Slot::Flag => Answer {
            files: false,
            words: flags(place.command, last),
        },
        Slot::Operand(number) => operand(&place, number, before, last),
    }
}

fn value_of(flag: &Arg, before: &[OsString], last: &str, at: usize) -> Answer {
    let (begin, typed) = last.split_at(at);
    let values = flag.get_value_parser().possible_values();
    let values: Vec<PossibleValue> = values.into_iter().flatten().collect();
    if !values.is_empty() {
        return Answer {
            files: false,
            words: of_values(&values, begin, typed),
        };
    }
    by_hint(flag, before, begin, typed)
}

fn of_values(values: &[PossibleValue], begin: &str, typed: &str) -> Vec<Word> {
    let shown = values.iter().filter(|value| !value.is_hide_set());
    let matching = shown.filter(|value| value.get_name().starts_with(typed));
    matching
        .map(|value| {
            let help = value.get_help().map(ToString::to_string);
            Word::explained(
                format!("{begin}{}", value.get_name()),
                help.unwrap_or_default(),
            )
        })
        .collect()
}

fn by_hint(argument: &Arg, before: &[OsString], begin: &str, typed: &str) -> Answer {
    match argument.get_value_hint() {
        ValueHint::Hostname => Answer {
            files: false,
            words: host_words(before, begin, typed, ""),
        },
        ValueHint::AnyPath | ValueHint::FilePath => Answer {
            files: true,
            words: Vec::new(),
        },
        _ => Answer::default(),
    }
}

/// Returns the flags of a command that are no secret, the short ones only to whoever asks for any.
fn flags(command: &Command, last: &str) -> Vec<Word> {
    let shown: Vec<&Arg> = command
        .get_arguments()
        .filter(|flag| !flag.is_hide_set() && !flag.is_positional())
        .collect();
    let long = shown
        .iter()
        .filter_map(|flag| Some((flag, format!("--{}", flag.get_long()?))));
    let short = shown
        .iter()
        .filter_map(|flag| Some((flag, format!("-{}", flag.get_short()?))));
    let matching = long.chain(short).filter(|(_, text)| text.starts_with(last));
    matching
        .map(|(flag, text)| {
            let help = flag.get_help().map(ToString::to_string);
            Word::explained(text, help.unwrap_or_default())
        })
        .collect()
}

fn operand(place: &Place<'_>, number: usize, before: &[OsString], last: &str) -> Answer {
    let command = place.command;
    let is_here = place.has("local");
    if is_here && NAMING_SESSIONS.contains(&command.get_name()) {
        return Answer {
            files: false,
            words: session_words(number, last),
        };
    }
    if is_here {
        return Answer {
            files: true,
            words: Vec::new(),
        };
    }
    if command.get_name() == "cp" {
        return copied(before, last);
    }
    let operands: Vec<&Arg> = command.get_positionals().collect();
    let is_first_of_all = number == 0 && !before.iter().any(|word| word == "--");
    let mut answer = match operands.get(number) {
        Some(operand) => value_of(operand, before, last, 0),
        None => Answer::default(),
    };
    if is_first_of_all {
        answer.words.splice(0..0, subcommands(command, last));
    }
    answer
}

/// The subcommands that name a session.
const NAMING_SESSIONS: [&str; 3] = ["attach", "kill", "rename"];

/// Returns the sessions of this machine whose names begin so; only the first operand is one.
fn session_words(number: usize, last: &str) -> Vec<Word> {
    if number > 0 {
        return Vec::new();
    }
    let sessions = Directory::glance(&environment::current()).into_iter();
    let names = sessions.map(|session| session.name.to_string());
    names
        .filter(|name| name.starts_with(last))
        .map(Word::new)
        .collect()
}

fn subcommands(command: &Command, last: &str) -> Vec<Word> {
    let shown = command
        .get_subcommands()
        .filter(|known| !known.is_hide_set());
    let matching = shown.filter(|known| known.get_name().starts_with(last));
    matching
        .map(|known| {
            let about = known.get_about().map(ToString::to_string);
            Word::explained(known.get_name(), about.unwrap_or_default())
        })
        .collect()
}

/// Returns what can be a file of a copy: one here, a host, or a file there.
fn copied(before: &[OsString], last: &str) -> Answer {
    if let Some(at) = remote_path_at(OsStr::new(last)) {
        let paths = remote_files::paths_with_prefix(before, last, at);
        return Answer {
            files: false,
            words: paths.into_iter().map(Word::new).collect(),
        };
    }
    if last.contains('/') || last.starts_with(['.', '~']) {
        return Answer {
            files: true,
            words: Vec::new(),
        };
    }
    let words = host_words(before, "", last, ":");
    Answer {
        // A file can have a name like this, but who types one is rare.
        files: !last.contains('@') || words.is_empty(),
        words,
    }
}

/// Returns hosts, behind the user that may have been typed before one.
fn host_words(before: &[OsString], begin: &str, typed: &str, end: &str) -> Vec<Word> {
    let at = typed.rfind('@').map_or(0, |at| at + 1);
    let (user, host) = typed.split_at(at);
    let hosts = hosts::hosts_with_prefix(before, host);
    hosts
        .iter()
        .map(|host| Word::new(format!("{begin}{user}{host}{end}")))
        .collect()
}

//! Completing the words of a command line that is being typed.
//!
//! A shell runs a short script, which asks `fulmar complete` what could come next. The answer is a line that says
//! whether files of this machine are wanted, which the shell knows best how to complete, and a line for each word.
//!
//! Source: docs/decisions/036-completions.md.

mod bash_word;
mod hosts;
mod remote_files;
mod words;

use std::ffi::{OsStr, OsString};

use clap::{Args, CommandFactory as _, ValueEnum};
use fulmar_login::shell_words::split_open;

use self::bash_word::BashWord;
use self::words::Answer;
use super::Cli;

/// A shell that can complete our words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompletedShell {
    /// For ~/.local/share/bash-completion/completions/fulmar
    Bash,
    /// For a file _fulmar in a folder of fpath
    Zsh,
    /// For ~/.config/fish/completions/fulmar.fish
    Fish,
}

impl CompletedShell {
    /// Returns the script for this shell.
    pub(crate) fn script(self) -> &'static str {
        match self {
            CompletedShell::Bash => include_str!("fulmar.bash"),
            CompletedShell::Zsh => include_str!("fulmar.zsh"),
            CompletedShell::Fish => include_str!("fulmar.fish"),
        }
    }
}

/// The command line that a script asks about.
#[derive(Debug, Args)]
pub(crate) struct CompleteArgs {
    /// The shell that asks
    #[arg(value_enum)]
    shell: CompletedShell,
    /// The words behind the program's name as far as the cursor; for bash the line, and what parts words
    #[arg(last = true)]
    words: Vec<OsString>,
}

/// Returns what could come next, in the words of the shell that asks.
pub(crate) fn answer(arguments: &CompleteArgs) -> String {
    match arguments.shell {
        CompletedShell::Bash => answer_bash(&arguments.words),
        CompletedShell::Zsh | CompletedShell::Fish => match arguments.words.split_last() {
            Some((last, before)) => found(before, last).explained(),
            None => String::new(),
        },
    }
}

fn answer_bash(words: &[OsString]) -> String {
    let [line, breaks] = words else {
        return String::new();
    };
    let open = split_open(line, breaks.as_encoded_bytes());
    let Some((_program, before)) = open.words.split_first() else {
        return String::new();
    };
    let answer = found(before, &open.last);
    answer.written(|word| BashWord::of(&open).completed(word))
}

/// Finds what could be at the cursor.
fn found(before: &[OsString], last: &OsStr) -> Answer {
    // Nothing that begins with anything else is of ours.
    let Some(last) = last.to_str() else {
        return Answer::default();
    };
    let mut command = Cli::command();
    command.build();
    words::answer(&command, before, last)
}

//! `fulmar-lab film`: sessions side by side, as one drawing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::film::{Asciicast, Film, Note};

/// Prints asciicasts side by side as one animated SVG, which needs no script and reads on a light and on a dark page.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The line above them.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub title: String,
    /// Something that happens: seconds from the beginning, and words, as in "7=the address changes".
    #[arg(long = "note", value_name = "SECONDS=TEXT", value_parser = note)]
    pub notes: Vec<Note>,
    /// The asciicasts, from left to right.
    #[arg(value_name = "CAST", required = true)]
    pub casts: Vec<PathBuf>,
}

/// Prints the film.
///
/// # Errors
///
/// Where a file is no asciicast.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let casts = arguments.casts.iter().map(|path| read(path));
    let film = Film {
        title: arguments.title.clone(),
        casts: casts.collect::<Result<_>>()?,
        notes: arguments.notes.clone(),
    };
    print!("{}", film.svg());
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<Asciicast> {
    let reading = || format!("reading {}", path.display());
    let text = std::fs::read_to_string(path).with_context(reading)?;
    Asciicast::parse(&text).with_context(reading)
}

fn note(argument: &str) -> Result<Note> {
    let (seconds, text) = argument
        .split_once('=')
        .context("a note is SECONDS=TEXT, such as 7=the address changes")?;
    let seconds = seconds.parse().context("the seconds are no number")?;
    Ok(Note {
        at: Duration::try_from_secs_f64(seconds)?,
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_a_time_and_words() {
        let expected = Note {
            at: Duration::from_millis(6500),
            text: "a=b".to_owned(),
        };
        assert_eq!(note("6.5=a=b").unwrap(), expected);
        for argument in ["6.5", "x=a", "-1=a"] {
            assert!(note(argument).is_err(), "{argument}");
        }
    }
}

//! The sidecar file of a key trace, which has what is known of a session besides keys and output.
//!
//! ```text
//! <usec> TTY <icanon 0|1> <echo 0|1> <foreground program>
//! <usec> MARK secret-on | secret-off | open-on | open-off
//! ```

use anyhow::{Context as _, Result};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The sidecar of a key trace, in order of time, on the clock of the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The lines.
    pub notes: Vec<(Duration, Note)>,
}

/// One line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The terminal or its foreground program is like this from here on. It is looked at right
    /// after output was read, so it may be late by 2 ms.
    Tty(TtyState),
    /// Keys of some kind begin or end.
    Mark(Mark),
}

/// The line discipline as the master of the pty sees it, and who reads from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TtyState {
    /// True when the terminal hands over whole lines (`ICANON`).
    pub is_canonical: bool,
    /// True when the terminal echoes (`ECHO`).
    pub has_echo: bool,
    /// The name of the program that has the foreground, as the kernel keeps it.
    pub foreground: String,
}

/// The beginning or the end of keys of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The keys from here on are a secret; none may be shown.
    SecretOn,
    /// The secret is over.
    SecretOff,
    /// The keys from here on answer a prompt that does echo.
    OpenOn,
    /// The answer is over.
    OpenOff,
}

const MARKS: [(Mark, &str); 4] = [
    (Mark::SecretOn, "secret-on"),
    (Mark::SecretOff, "secret-off"),
    (Mark::OpenOn, "open-on"),
    (Mark::OpenOff, "open-off"),
];

/// The reason why a text is no sidecar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetaError {
    /// A line that is none of the two.
    #[error(
        "line {line}: expected '<usec> TTY <0|1> <0|1> <program>' or '<usec> MARK <word>', found \
         {found:?}"
    )]
    NoNote {
        /// Its number, from 1.
        line: usize,
        /// The line.
        found: String,
    },
    /// The time went back.
    #[error("line {line} is earlier than the one before it")]
    TimeWentBack {
        /// Its number, from 1.
        line: usize,
    },
}

impl Meta {
    /// Returns where the sidecar of a trace is: its name with `.meta` behind it.
    pub fn path_beside(trace: &Path) -> PathBuf {
        let mut name = trace.as_os_str().to_owned();
        name.push(".meta");
        name.into()
    }

    /// Reads a sidecar from a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or holds something else; the message names the file and the line.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text)
            .with_context(|| format!("{} is no sidecar of a key trace", path.display()))
    }

    /// Reads a sidecar from its text.
    ///
    /// # Errors
    ///
    /// At the first line that is not as it should be.
    pub fn parse(text: &str) -> Result<Self, MetaError> {
        let mut notes: Vec<(Duration, Note)> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let (at, note) = note(line).ok_or_else(|| MetaError::NoNote {
                line: number,
                found: line.to_owned(),
            })?;
            if notes.last().is_some_and(|(last, _)| at < *last) {
                return Err(MetaError::TimeWentBack { line: number });
            }
            notes.push((at, note));
        }
        Ok(Self { notes })
    }
}

impl Note {
    /// Writes this note as a line of a sidecar, in one call of `write_all`.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub(crate) fn write_to(&self, at: Duration, writer: &mut impl Write) -> io::Result<()> {
        let micros = at.as_micros();
        let line = match self {
            Self::Tty(tty) => format!(
                "{micros} TTY {} {} {}\n",
                u8::from(tty.is_canonical),
                u8::from(tty.has_echo),
                tty.foreground
            ),
            Self::Mark(mark) => format!("{micros} MARK {}\n", mark.word()),
        };
        writer.write_all(line.as_bytes())
    }
}

impl Mark {
    /// Returns the mark of this name, as it is written in a sidecar.
    pub fn named(word: &str) -> Option<Self> {
        let found = MARKS.iter().find(|(_, known)| *known == word);
        found.map(|(mark, _)| *mark)
    }

    fn word(self) -> &'static str {
        MARKS
            .iter()
            .find(|(mark, _)| *mark == self)
            .map_or("", |(_, word)| word)
    }
}

fn note(line: &str) -> Option<(Duration, Note)> {
    let (micros, rest) = line.split_once(' ')?;
    let at = Duration::from_micros(micros.parse().ok()?);
    let (kind, rest) = rest.split_once(' ')?;
    let note = match kind {
        "TTY" => Note::Tty(tty_state(rest)?),
        "MARK" => Note::Mark(Mark::named(rest)?),
        _ => return None,
    };
    Some((at, note))
}

/// The name of a program may hold blanks, so it is all of the rest.
fn tty_state(text: &str) -> Option<TtyState> {
    let (is_canonical, rest) = text.split_once(' ')?;
    let (has_echo, foreground) = rest.split_once(' ')?;
    Some(TtyState {
        is_canonical: flag(is_canonical)?,
        has_echo: flag(has_echo)?,
        foreground: foreground.to_owned(),
    })
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "7 TTY 1 0 Web Content\n9 MARK secret-on\n9 MARK secret-off\n";

    #[test]
    fn a_sidecar_is_written_as_it_was_read() {
        let meta = Meta::parse(SMALL).unwrap();
        let (_, first) = &meta.notes[0];
        let expected = TtyState {
            is_canonical: true,
            has_echo: false,
            foreground: "Web Content".to_owned(),
        };
        assert_eq!(*first, Note::Tty(expected));
        let mut written = Vec::new();
        for (at, note) in &meta.notes {
            note.write_to(*at, &mut written).unwrap();
        }
        assert_eq!(String::from_utf8(written).unwrap(), SMALL);
    }

    #[test]
    fn errors_name_the_line() {
        for wrong in [
            "7 TTY 1 2 bash",
            "7 MARK secret",
            "x TTY 1 1 bash",
            "7 TTY 1 1",
            "",
        ] {
            let text = format!("5 TTY 1 1 bash\n{wrong}\n");
            let refused = Meta::parse(&text);
            let expected = MetaError::NoNote {
                line: 2,
                found: wrong.to_owned(),
            };
            assert_eq!(refused, Err(expected));
        }
        let back = Meta::parse("5 MARK open-on\n4 MARK open-off\n");
        assert_eq!(back, Err(MetaError::TimeWentBack { line: 2 }));
    }

    #[test]
    fn a_file_is_named_with_its_fault() {
        let said = |path: &Path| format!("{:#}", Meta::read(path).unwrap_err());
        let missing = said(Path::new("/nowhere/trace.meta"));
        assert!(missing.starts_with("cannot read /nowhere/trace.meta: "));
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "7 TTY 1 0 bash\n6 MARK open-on\n").unwrap();
        let expected = format!(
            "{} is no sidecar of a key trace: line 2 is earlier than the one before it",
            file.path().display()
        );
        assert_eq!(said(file.path()), expected);
    }

    #[test]
    fn a_sidecar_lies_beside_its_trace() {
        let path = Meta::path_beside(Path::new("keys/own-less"));
        assert_eq!(path, Path::new("keys/own-less.meta"));
    }
}

//! The script of a typist.

use crate::trace::{Mark, Size};
use std::time::Duration;

/// A script: what is recorded and what is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The head, which comes first.
    pub head: ScriptHeader,
    /// The lines, in their order.
    pub lines: Vec<ScriptLine>,
}

/// The head of a script: all before anything happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptHeader {
    /// The size of the terminal.
    pub size: Size,
    /// The seed of the rhythm.
    pub seed: u64,
    /// The program and its arguments.
    pub command: Vec<String>,
}

/// A line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptLine {
    /// Its number, from 1.
    pub number: usize,
    /// The step that it stands for.
    pub step: ScriptStep,
}

/// One thing that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptStep {
    /// Types text, with slips.
    Type(String),
    /// Types text without.
    Exact(String),
    /// Waits, thinks, types text and presses Enter; between two marks, if there are.
    Line(String, Option<(Mark, Mark)>),
    /// Presses keys.
    Keys(Vec<ScriptKey>),
    /// Holds a key down for so many repetitions.
    Hold(ScriptKey, usize),
    /// An input method hands over these.
    Commit(Vec<String>),
    /// Pastes.
    Paste(String),
    /// Waits for the output to pause.
    Settle,
    /// Thinks.
    Think,
    /// Waits for text.
    Wait(String),
    /// Waits for a time.
    Pause(Duration),
    /// Writes a mark into the sidecar.
    Mark(Mark),
    /// Gives the window another size.
    Resize(Size),
}

/// A key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptKey {
    /// Sends these bytes always.
    Plain(Vec<u8>),
    /// An arrow, Home or End: `ESC [` and this letter, or `ESC O` and it where the program asked for
    /// application cursor keys.
    Cursor(u8),
}

/// The reason why a text is no script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// A line that says nothing known.
    #[error("line {line}: `{found}` is nothing that a typist can do")]
    Unknown {
        /// Its number, from 1.
        line: usize,
        /// The words that are there.
        found: String,
    },
    /// The head is incomplete.
    #[error("there is no `{0}` before the first thing that happens")]
    Missing(&'static str),
}

impl Script {
    /// Reads a script; its form is described at the [module](super).
    ///
    /// # Errors
    ///
    /// Where a line says nothing known, or size, seed or program are missing.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let (mut size, mut seed, mut command) = (None, None, None);
        let mut lines = Vec::new();
        for (number, text) in (1..).zip(text.lines()) {
            if text.trim().is_empty() || text.starts_with('#') {
                continue;
            }
            let unknown = || ScriptError::Unknown {
                line: number,
                found: text.to_owned(),
            };
            let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
            let is_head = command.is_none();
            match word {
                "seed" if is_head => seed = Some(rest.parse().map_err(|_| unknown())?),
                "size" if is_head => size = Some(rest.parse().map_err(|_| unknown())?),
                "run" if is_head => command = Some(words(rest)),
                _ => {
                    let step = step(word, rest).ok_or_else(unknown)?;
                    lines.push(ScriptLine { number, step });
                }
            }
        }
        let command = command.filter(|command: &Vec<String>| !command.is_empty());
        let head = ScriptHeader {
            size: size.ok_or(ScriptError::Missing("size"))?,
            seed: seed.ok_or(ScriptError::Missing("seed"))?,
            command: command.ok_or(ScriptError::Missing("run"))?,
        };
        Ok(Self { head, lines })
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(ToOwned::to_owned).collect()
}

fn step(word: &str, rest: &str) -> Option<ScriptStep> {
    const SECRET: (Mark, Mark) = (Mark::SecretOn, Mark::SecretOff);
    const OPEN: (Mark, Mark) = (Mark::OpenOn, Mark::OpenOff);
    let text = || Some(rest.to_owned()).filter(|text| !text.is_empty());
    Some(match word {
        "type" => ScriptStep::Type(text()?),
        "exact" => ScriptStep::Exact(text()?),
        "line" => ScriptStep::Line(rest.to_owned(), None),
        "secret" => ScriptStep::Line(text()?, Some(SECRET)),
        "open" => ScriptStep::Line(text()?, Some(OPEN)),
        "keys" => ScriptStep::Keys(keys(rest)?),
        "hold" => {
            let (name, count) = rest.split_once(' ')?;
            ScriptStep::Hold(key(name)?, count.parse().ok()?)
        }
        "commit" => ScriptStep::Commit(words(&text()?)),
        "paste" => ScriptStep::Paste(unescaped(&text()?)?),
        "settle" => ScriptStep::Settle,
        "think" => ScriptStep::Think,
        "wait" => ScriptStep::Wait(text()?),
        "pause" => ScriptStep::Pause(Duration::from_millis(rest.parse().ok()?)),
        "mark" => ScriptStep::Mark(Mark::named(rest)?),
        "size" => ScriptStep::Resize(rest.parse().ok()?),
        _ => return None,
    })
}

/// Keys by name, each perhaps with `*` and how often.
fn keys(text: &str) -> Option<Vec<ScriptKey>> {
    let mut keys = Vec::new();
    for word in text.split_whitespace() {
        let (name, count) = match word.split_once('*') {
            Some((name, count)) if !name.is_empty() => (name, count.parse().ok()?),
            _ => (word, 1),
        };
        keys.extend(std::iter::repeat_n(key(name)?, count));
    }
    Some(keys).filter(|keys| !keys.is_empty())
}

/// Keys whose bytes are always the same, as xterm has them.
const NAMED: [(&str, &str); 24] = [
    ("Enter", "\r"),
    ("Tab", "\t"),
    ("BackTab", "\x1b[Z"),
    ("Escape", "\x1b"),
    ("Backspace", "\x7f"),
    ("Space", " "),
    ("Delete", "\x1b[3~"),
    ("Insert", "\x1b[2~"),
    ("PageUp", "\x1b[5~"),
    ("PageDown", "\x1b[6~"),
    ("C-Left", "\x1b[1;5D"),
    ("C-Right", "\x1b[1;5C"),
    ("M-Left", "\x1b[1;3D"),
    ("M-Right", "\x1b[1;3C"),
    ("C-Space", "\0"),
    ("F1", "\x1bOP"),
    ("F2", "\x1bOQ"),
    ("F3", "\x1bOR"),
    ("F4", "\x1bOS"),
    ("F5", "\x1b[15~"),
    ("F6", "\x1b[17~"),
    ("F9", "\x1b[20~"),
    ("F10", "\x1b[21~"),
    ("M-Backspace", "\x1b\x7f"),
];

fn key(name: &str) -> Option<ScriptKey> {
    let cursor = [
        ("Up", b'A'),
        ("Down", b'B'),
        ("Right", b'C'),
        ("Left", b'D'),
        ("End", b'F'),
        ("Home", b'H'),
    ];
    if let Some((_, letter)) = cursor.iter().find(|(known, _)| *known == name) {
        return Some(ScriptKey::Cursor(*letter));
    }
    if let Some((_, bytes)) = NAMED.iter().find(|(known, _)| *known == name) {
        return Some(ScriptKey::Plain(bytes.as_bytes().to_vec()));
    }
    let mut characters = name.chars();
    let single = |text: &str| match text.as_bytes() {
        [byte @ (b'@'..=b'_' | b'a'..=b'z')] => Some(*byte),
        _ => None,
    };
    match (name.split_once('-'), characters.next(), characters.next()) {
        (Some(("C", letter)), ..) => Some(ScriptKey::Plain(vec![single(letter)? & 0x1f])),
        (Some(("M", letter)), ..) if !letter.is_empty() => {
            Some(ScriptKey::Plain(format!("\x1b{letter}").into_bytes()))
        }
        (_, Some(one), None) => Some(ScriptKey::Plain(one.to_string().into_bytes())),
        _ => None,
    }
}

fn unescaped(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\\' => match characters.next()? {
                'n' => '\n',
                't' => '\t',
                '\\' => '\\',
                _ => return None,
            },
            other => other,
        });
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "# a remark\nsize 100x30\nseed 7\nrun ./stage bash -l\n\n";

    fn steps(text: &str) -> Vec<ScriptStep> {
        let script = Script::parse(&format!("{HEAD}{text}")).unwrap();
        script.lines.into_iter().map(|line| line.step).collect()
    }

    fn plain(bytes: &str) -> ScriptKey {
        ScriptKey::Plain(bytes.as_bytes().to_vec())
    }

    #[test]
    fn the_head_says_what_is_recorded() {
        let script = Script::parse(HEAD).unwrap();
        assert_eq!((script.head.size.columns, script.head.size.rows), (100, 30));
        assert_eq!(script.head.seed, 7);
        assert_eq!(script.head.command, ["./stage", "bash", "-l"]);
        for (text, missing) in [
            ("seed 1\nrun a\n", "size"),
            ("size 9x9\nrun a\n", "seed"),
            ("size 9x9\nseed 1\nsettle\n", "run"),
        ] {
            assert_eq!(Script::parse(text), Err(ScriptError::Missing(missing)));
        }
    }

    #[test]
    fn lines_say_what_happens() {
        assert_eq!(
            steps("type ls  -l\nline \nhold Left 9\npaste a\\n\\\\b\nsize 80x24\ncommit 你好 吗"),
            [
                ScriptStep::Type("ls  -l".to_owned()),
                ScriptStep::Line(String::new(), None),
                ScriptStep::Hold(ScriptKey::Cursor(b'D'), 9),
                ScriptStep::Paste("a\n\\b".to_owned()),
                ScriptStep::Resize(Size {
                    columns: 80,
                    rows: 24
                }),
                ScriptStep::Commit(vec!["你好".to_owned(), "吗".to_owned()]),
            ]
        );
        assert_eq!(steps("paste a\\tb"), [ScriptStep::Paste("a\tb".to_owned())]);
        let secret = (Mark::SecretOn, Mark::SecretOff);
        assert_eq!(
            steps("secret a b\nmark open-off"),
            [
                ScriptStep::Line("a b".to_owned(), Some(secret)),
                ScriptStep::Mark(Mark::OpenOff)
            ]
        );
    }

    #[test]
    fn keys_have_names() {
        let keys = vec![
            plain("\x01"),
            plain("\x1bf"),
            plain("\r"),
            plain("\r"),
            plain("x"),
            plain("*"),
            plain("-"),
            plain("\x1b[15~"),
            ScriptKey::Cursor(b'A'),
        ];
        assert_eq!(
            steps("keys C-a M-f Enter*2 x * - F5 Up"),
            [ScriptStep::Keys(keys)]
        );
    }

    #[test]
    fn what_is_no_script_is_refused_by_its_line() {
        for wrong in [
            "typ a",
            "type",
            "keys",
            "keys Upp",
            "keys C-",
            "hold Left",
            "pause a",
            "paste a\\x",
            "mark secret",
            "size 0x1",
            "run b",
        ] {
            let refused = Script::parse(&format!("{HEAD}settle\n{wrong}\n"));
            let expected = ScriptError::Unknown {
                line: 7,
                found: wrong.to_owned(),
            };
            assert_eq!(refused, Err(expected));
        }
    }

    #[test]
    fn each_named_key_is_one_key() {
        let names = NAMED.map(|(name, _)| name);
        for name in names
            .into_iter()
            .chain(["Up", "Down", "Left", "Right", "Home", "End"])
        {
            let bytes = match key(name).unwrap() {
                ScriptKey::Plain(bytes) => bytes,
                ScriptKey::Cursor(letter) => vec![0x1b, b'[', letter],
            };
            assert_eq!(crate::trace::keystrokes(&bytes).count(), 1, "{name}");
        }
        assert_eq!(steps("keys C-@ C-_ C-z é").len(), 1);
        for wrong in ["C-é", "C-1", "M-", "Hyper", ""] {
            assert_eq!(key(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_script_needs_a_program_and_its_head_comes_once() {
        assert_eq!(
            Script::parse("size 9x9\nseed 1\nrun \n"),
            Err(ScriptError::Missing("run"))
        );
        let text = "size 9x9\nseed 1\nrun a\nsize 8x8\n";
        let script = Script::parse(text).unwrap();
        let size = Size {
            columns: 8,
            rows: 8,
        };
        assert_eq!(script.lines[0].step, ScriptStep::Resize(size));
        assert_eq!((script.head.size.columns, script.lines[0].number), (9, 4));
        assert!(Script::parse("size 9x9\nseed 1\nrun a\nseed 2\n").is_err());
    }
}

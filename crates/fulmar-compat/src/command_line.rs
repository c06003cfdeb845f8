//! Cutting the command line of `mosh` into options and operands, by stock's rules, which are those
//! of Perl's scripts: names may be shortened, one dash will do, capitals do not matter, and options
//! may stand anywhere.
//!
//! Source: docs/protocol.md §2.2.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// An option that there is, known as `id` to whoever gave the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<T> {
    pub(crate) id: T,
    pub(crate) names: &'static [&'static str],
    pub(crate) takes: Takes,
}

/// The word that an option takes, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// None: the option is given or not.
    Nothing,
    /// None; with `no` or `no-` before its name the option is denied.
    Negation,
    /// A word, behind `=` or following.
    Value,
}

/// The value that was given with an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OptionValue {
    Yes,
    No,
    Word(OsString),
}

/// The places in which options are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Everywhere before `--`, and `+` begins one too.
    Anywhere,
    /// Before the first operand, as POSIX has it.
    First,
}

/// The reason why a command line makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandLineError {
    /// A word begins like an option and is none.
    #[error("there is no option {0}")]
    Unknown(String),
    /// A shortened name could be that of several options.
    #[error("option {given} is short for several: {}", candidates.join(", "))]
    Ambiguous {
        /// The name as it was given.
        given: String,
        /// The names that begin so, in full.
        candidates: Vec<String>,
    },
    /// An option that takes a word has none, or an empty one.
    #[error("option {0} needs a word after it")]
    NoValue(String),
    /// An option that takes no word has one.
    #[error("option {0} takes no value")]
    NeedlessValue(String),
}

/// A command line that makes sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandLine<T> {
    /// In the order in which they were given.
    pub(crate) options: Vec<(T, OptionValue)>,
    pub(crate) operands: Vec<OsString>,
}

/// Cuts `words` by a table of options.
///
/// # Errors
///
/// At the first word that begins like an option and is none.
pub(crate) fn cut<T: Copy + PartialEq>(
    words: &[OsString],
    table: &[Known<T>],
    order: Order,
) -> Result<CommandLine<T>, CommandLineError> {
    let mut options = Vec::new();
    let mut operands = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            operands.extend(rest.by_ref().cloned());
        } else if let Some(text) = option_text(word, order) {
            let (name, value) = name_and_value(text);
            let (known, answer) = find(&name, table)?;
            let said = match (known.takes, value) {
                (Takes::Value, Some(value)) if !value.is_empty() => {
                    OptionValue::Word(value.to_owned())
                }
                (Takes::Value, None) => {
                    // Whatever it looks like.
                    let next = rest.next().cloned();
                    OptionValue::Word(next.ok_or(CommandLineError::NoValue(name))?)
                }
                (Takes::Value, Some(_)) => return Err(CommandLineError::NoValue(name)),
                (_, Some(_)) => return Err(CommandLineError::NeedlessValue(name)),
                (_, None) => answer,
            };
            options.push((known.id, said));
        } else {
            operands.push(word.clone());
            if order == Order::First {
                operands.extend(rest.by_ref().cloned());
            }
        }
    }
    Ok(CommandLine { options, operands })
}

/// Returns what comes after the dashes; `None` if the word is an operand, as a lone dash is.
fn option_text(word: &OsStr, order: Order) -> Option<&OsStr> {
    let bytes = word.as_bytes();
    let text = match bytes {
        [b'-', b'-', text @ ..] => text,
        [b'-'] => return None,
        [b'-', text @ ..] => text,
        [b'+', text @ ..] if order == Order::Anywhere => text,
        _ => return None,
    };
    Some(OsStr::from_bytes(text))
}

/// Parts the text of an option at its first `=`, unless nothing is before it.
fn name_and_value(text: &OsStr) -> (String, Option<&OsStr>) {
    let bytes = text.as_bytes();
    let equals = bytes.iter().position(|&byte| byte == b'=');
    let (name, value) = match equals.filter(|&place| place > 0) {
        Some(place) => (&bytes[..place], Some(&bytes[place + 1..])),
        None => (bytes, None),
    };
    let name = String::from_utf8_lossy(name).into_owned();
    (name, value.map(OsStr::from_bytes))
}

/// Finds the only option that `name` can mean.
fn find<'a, T: Copy + PartialEq>(
    name: &str,
    table: &'a [Known<T>],
) -> Result<(&'a Known<T>, OptionValue), CommandLineError> {
    let wanted = name.to_ascii_lowercase();
    if wanted.is_empty() {
        return Err(CommandLineError::Unknown(name.to_owned()));
    }
    let mut candidates: Vec<(String, &Known<T>, OptionValue)> = Vec::new();
    for (full, known, said) in table.iter().flat_map(spellings) {
        if full == wanted {
            return Ok((known, said));
        }
        if full.starts_with(&wanted) {
            candidates.push((full, known, said));
        }
    }
    let mut distinct = candidates.iter();
    match distinct.next() {
        None => Err(CommandLineError::Unknown(name.to_owned())),
        Some((_, first, said))
            if distinct.all(|(_, other, also)| other.id == first.id && also == said) =>
        {
            Ok((first, said.clone()))
        }
        Some(_) => Err(CommandLineError::Ambiguous {
            given: name.to_owned(),
            candidates: candidates.into_iter().map(|(full, ..)| full).collect(),
        }),
    }
}

/// Lists all names of an option in full, with what each says.
fn spellings<T>(known: &Known<T>) -> impl Iterator<Item = (String, &Known<T>, OptionValue)> {
    let prefixes: &[(&str, OptionValue)] = match known.takes {
        Takes::Negation => &[
            ("", OptionValue::Yes),
            ("no", OptionValue::No),
            ("no-", OptionValue::No),
        ],
        Takes::Nothing | Takes::Value => &[("", OptionValue::Yes)],
    };
    known.names.iter().flat_map(move |name| {
        let spell = move |(prefix, said): &(&str, OptionValue)| {
            (format!("{prefix}{name}"), known, said.clone())
        };
        prefixes.iter().map(spell)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: [Known<char>; 7] = [
        known('s', &["server"], Takes::Value),
        known('p', &["port", "p"], Takes::Value),
        known('P', &["predict"], Takes::Value),
        known('o', &["predict-overwrite", "o"], Takes::Negation),
        known('i', &["init"], Takes::Negation),
        known('l', &["local"], Takes::Nothing),
        known('4', &["4"], Takes::Nothing),
    ];

    const fn known(id: char, names: &'static [&'static str], takes: Takes) -> Known<char> {
        Known { id, names, takes }
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    /// The options as text: `4 l !o p=7`, and after a bar the operands.
    fn cut_at(line: &str, order: Order) -> Result<String, CommandLineError> {
        let line = cut(&words(line), &TABLE, order)?;
        let options = line.options.iter().map(|(id, said)| match said {
            OptionValue::Yes => id.to_string(),
            OptionValue::No => format!("!{id}"),
            OptionValue::Word(word) => format!("{id}={}", word.display()),
        });
        let operands = line.operands.iter().map(|word| word.display().to_string());
        let words: Vec<String> = options.chain(["|".to_owned()]).chain(operands).collect();
        Ok(words.join(" "))
    }

    #[test]
    fn options_are_found_by_any_name_that_is_unique() {
        for (line, wanted) in [
            ("--port=7 host", "p=7 | host"),
            ("-p 7 host", "p=7 | host"),
            ("-p=7 host", "p=7 | host"),
            ("--p 7 host", "p=7 | host"),
            ("-po 7 host", "p=7 | host"),
            ("--PORT 7 host", "p=7 | host"),
            ("-P 7 host", "p=7 | host"),
            ("--predict-o host", "o | host"),
            ("--predict=x host", "P=x | host"),
            ("--no-p host", "!o | host"),
            ("--nop --no-o --noo --noi host", "!o !o !o !i | host"),
            ("-local +4 host", "l 4 | host"),
            ("--server -4 host", "s=-4 | host"),
            ("--server -- host", "s=-- | host"),
            ("--server=a=b host", "s=a=b | host"),
            ("-4 -4 host", "4 4 | host"),
        ] {
            assert_eq!(
                cut_at(line, Order::Anywhere).as_deref(),
                Ok(wanted),
                "{line}"
            );
        }
    }

    #[test]
    fn operands_may_stand_between_options_unless_posix_is_asked_for() {
        for (line, anywhere, first) in [
            ("host ls -l", "l | host ls", "| host ls -l"),
            ("host -- ls -l", "| host ls -l", "| host -- ls -l"),
            ("-- -4 -l", "| -4 -l", "| -4 -l"),
            ("-4 - x", "4 | - x", "4 | - x"),
            ("+4 x", "4 | x", "| +4 x"),
        ] {
            assert_eq!(
                cut_at(line, Order::Anywhere).as_deref(),
                Ok(anywhere),
                "{line}"
            );
            assert_eq!(cut_at(line, Order::First).as_deref(), Ok(first), "{line}");
        }
    }

    #[test]
    fn what_is_not_an_option_is_a_mistake() {
        let unknown = |name: &str| CommandLineError::Unknown(name.to_owned());
        let no_value = |name: &str| CommandLineError::NoValue(name.to_owned());
        for (line, mistake) in [
            ("-x host", unknown("x")),
            ("host --foo", unknown("foo")),
            ("-p7 host", unknown("p7")),
            ("-4l host", unknown("4l")),
            ("---4 host", unknown("-4")),
            ("++4 host", unknown("+4")),
            ("+ host", unknown("")),
            ("--=x host", unknown("=x")),
            ("--no-4 host", unknown("no-4")),
            ("--server", no_value("server")),
            ("--server= host", no_value("server")),
            (
                "--init=1 host",
                CommandLineError::NeedlessValue("init".to_owned()),
            ),
            ("--4= host", CommandLineError::NeedlessValue("4".to_owned())),
        ] {
            assert_eq!(cut_at(line, Order::Anywhere), Err(mistake), "{line}");
        }
        let told = cut_at("--pr x host", Order::Anywhere)
            .unwrap_err()
            .to_string();
        assert!(told.ends_with("predict, predict-overwrite"), "{told}");
        assert!(matches!(
            cut_at("--no h", Order::Anywhere),
            Err(CommandLineError::Ambiguous { .. })
        ));
    }

    #[test]
    fn words_need_not_be_text() {
        let bytes = OsStr::from_bytes(b"\xff=\xfe").to_owned();
        let line = [OsString::from("-s"), bytes.clone(), bytes.clone()];
        let line = cut(&line, &TABLE, Order::Anywhere).unwrap();
        assert_eq!(line.options, [('s', OptionValue::Word(bytes.clone()))]);
        assert_eq!(line.operands, [bytes]);
        let option = OsStr::from_bytes(b"-\xff").to_owned();
        assert!(cut(&[option], &TABLE, Order::Anywhere).is_err());
    }
}

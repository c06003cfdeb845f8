//! The output of a terminal, in the form of asciinema.

use std::time::Duration;

use serde_json::{Value, json};

use crate::trace::{Size, Trace, typed_keys};

/// The time before the first key that is kept, so that a viewer sees the prompt. Chosen by eye.
const LEAD: Duration = Duration::from_millis(500);

/// The output of a terminal session, with times.
///
/// Its file is an asciicast, version 2: a line of JSON about the session, then a line for each piece of output.
/// Source: <https://docs.asciinema.org/manual/asciicast/v2/>.
#[derive(Clone, Debug, PartialEq)]
pub struct Asciicast {
    /// The name of the session.
    pub title: String,
    /// The size of the terminal.
    pub size: Size,
    /// The text that was written, with its times from the beginning.
    pub output: Vec<(Duration, String)>,
}

/// The reason why a text is no asciicast.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAsciicast {
    /// The first line is not that of an asciicast of version 2.
    #[error("the first line is not that of an asciicast, version 2, with a width and a height")]
    NoHeader,
    /// A line that is no event.
    #[error("line {0} is no event of an asciicast")]
    NoEvent(usize),
}

impl Asciicast {
    /// Returns what a user's terminal showed from shortly before the first key. What was there by then comes at once.
    pub fn of(user_side: &Trace, title: &str) -> Self {
        let mut keys = user_side.user();
        let first_key = keys.find(|(_, bytes)| typed_keys(bytes).next().is_some());
        let first_key = first_key.map_or(user_side.began(), |(at, _)| at);
        let start = first_key.saturating_sub(LEAD);
        let mut bytes = Vec::new();
        let output = user_side.host().map(|(at, more)| {
            bytes.extend_from_slice(more);
            (at.saturating_sub(start), take_characters(&mut bytes))
        });
        Self {
            title: title.to_owned(),
            size: user_side.size(),
            output: output.filter(|(_, text)| !text.is_empty()).collect(),
        }
    }

    /// Reads an asciicast. Events other than output are left out.
    ///
    /// # Errors
    ///
    /// Where the header is missing or of another version, or a line is no event.
    pub fn parse(text: &str) -> Result<Self, NoAsciicast> {
        let mut lines = (1..).zip(text.lines());
        let header = lines.next().and_then(|(_, line)| value(line));
        let header = header.filter(|header| header["version"] == 2);
        let header = header.ok_or(NoAsciicast::NoHeader)?;
        let number = |name: &str| u16::try_from(header[name].as_u64()?).ok();
        let size = number("width").zip(number("height"));
        let size = size.map(|(columns, rows)| Size { columns, rows });
        let mut output = Vec::new();
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let event = value(line).and_then(|event| event_of(&event));
            output.extend(event.ok_or(NoAsciicast::NoEvent(number))?);
        }
        Ok(Self {
            title: header["title"].as_str().unwrap_or_default().to_owned(),
            size: size
                .filter(|size| size.is_plausible())
                .ok_or(NoAsciicast::NoHeader)?,
            output,
        })
    }

    /// Returns the text of its file.
    pub fn text(&self) -> String {
        let Size { columns, rows } = self.size;
        let header = json!({"version": 2, "width": columns, "height": rows, "title": self.title});
        let events = self.output.iter().map(|(at, text)| {
            let event = json!([at.as_secs_f64(), "o", text]);
            format!("{event}\n")
        });
        format!("{header}\n{}", events.collect::<String>())
    }
}

fn value(line: &str) -> Option<Value> {
    serde_json::from_str(line).ok()
}

/// Returns the output of an event, if it is output; `None` where it is no event.
fn event_of(event: &Value) -> Option<Option<(Duration, String)>> {
    let at = Duration::try_from_secs_f64(event[0].as_f64()?).ok()?;
    let (kind, text) = (event[1].as_str()?, event[2].as_str()?);
    Some((kind == "o").then(|| (at, text.to_owned())))
}

/// Takes as many bytes as make whole characters; what is no text becomes replacement characters.
fn take_characters(bytes: &mut Vec<u8>) -> String {
    let whole = match std::str::from_utf8(bytes) {
        // The last character is not complete.
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    };
    let whole: Vec<u8> = bytes.drain(..whole).collect();
    String::from_utf8_lossy(&whole).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Event, Record};

    const SIZE: Size = Size {
        columns: 50,
        rows: 12,
    };

    fn trace(events: Vec<(u64, Event)>) -> Trace {
        let record = |(millis, event)| Record {
            at: Duration::from_millis(millis),
            event,
        };
        Trace::new(events.into_iter().map(record).collect()).unwrap()
    }

    fn host(bytes: &[u8]) -> Event {
        Event::Host(bytes.to_vec())
    }

    fn at(millis: u64, text: &str) -> (Duration, String) {
        (Duration::from_millis(millis), text.to_owned())
    }

    #[test]
    fn it_begins_shortly_before_the_first_key() {
        let cast = Asciicast::of(
            &trace(vec![
                (1000, Event::Size(SIZE)),
                (1200, host(b"\x1b[6n$ ")),
                // What a terminal answers is no key.
                (1300, Event::User(b"\x1b[1;1R".to_vec())),
                (3000, Event::User(b"a".to_vec())),
                (3250, host(b"a")),
            ]),
            "ssh",
        );
        assert_eq!(cast.output, [at(0, "\x1b[6n$ "), at(750, "a")]);
        assert_eq!((cast.title.as_str(), cast.size), ("ssh", SIZE));
    }

    #[test]
    fn a_character_that_comes_in_two_pieces_comes_with_the_second() {
        let cast = Asciicast::of(
            &trace(vec![
                (0, Event::Size(SIZE)),
                (1, host(b"a\xe2\x94")),
                (2, host(b"\x82")),
                (3, host(b"\xffb")),
            ]),
            "",
        );
        assert_eq!(cast.output, [at(1, "a"), at(2, "│"), at(3, "\u{fffd}b")]);
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let cast = Asciicast {
            title: "a \"title\"".to_owned(),
            size: SIZE,
            output: vec![at(0, "\x1b[mé\r\n"), at(1500, "x")],
        };
        let text = cast.text();
        assert!(
            text.ends_with("[1.5,\"o\",\"x\"]\n"),
            "one line for each: {text}"
        );
        assert_eq!(Asciicast::parse(&text), Ok(cast));
    }

    #[test]
    fn only_output_is_taken_and_what_is_no_asciicast_is_refused() {
        let header = "{\"version\": 2, \"width\": 50, \"height\": 12}\n";
        let parse = |events: &str| Asciicast::parse(&format!("{header}{events}"));
        let cast = parse("[0.5, \"i\", \"a\"]\n\n[1, \"o\", \"b\"]\n").unwrap();
        assert_eq!(cast.output, [at(1000, "b")]);
        assert_eq!(parse("[]"), Err(NoAsciicast::NoEvent(2)));
        assert_eq!(parse("[-1, \"o\", \"\"]"), Err(NoAsciicast::NoEvent(2)));
        for header in ["", "{\"version\": 3, \"width\": 50, \"height\": 12}"] {
            assert_eq!(Asciicast::parse(header), Err(NoAsciicast::NoHeader));
        }
        let no_size = "{\"version\": 2, \"width\": 0, \"height\": 12}";
        assert_eq!(Asciicast::parse(no_size), Err(NoAsciicast::NoHeader));
    }
}

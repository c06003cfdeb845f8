//! The form in which key traces are kept in files.
//!
//! ```text
//! <usec> SIZE <columns> <rows>\n
//! <usec> USER <length>\n<bytes>\n
//! <usec> HOST <length>\n<bytes>\n
//! ```
//!
//! Lengths count bytes and the bytes may hold anything, so a file is read by length. The newline
//! behind the bytes is not part of them.

use super::record::{Event, NoTrace, Record, Size, Trace};
use anyhow::{Context as _, Result};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// A header line is never longer: 20 digits, the longest word, two numbers of 20 digits.
const HEADER_MAX: usize = 72;

/// The reason why bytes are no key trace, and the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// A line that is no header.
    #[error(
        "byte {at}: a record begins with '<usec> SIZE <columns> <rows>', '<usec> USER <length>' \
         or '<usec> HOST <length>', not with {found:?}"
    )]
    NoHeader {
        /// The beginning of the line, in bytes from the start of the file.
        at: usize,
        /// The line, as far as it is text, cut where a header would have ended.
        found: String,
    },
    /// The file ends within a record.
    #[error("byte {at}: this record has {wanted} bytes and the file holds {left} more")]
    CutShort {
        /// The beginning of the record's bytes.
        at: usize,
        /// The number of bytes that there should be.
        wanted: usize,
        /// The number of bytes that there are.
        left: usize,
    },
    /// No newline follows the bytes of a record, so the length is wrong.
    #[error("byte {at}: a newline should follow the bytes of the record")]
    NoNewline {
        /// The place where the newline should be.
        at: usize,
    },
    /// The records are well formed and make no trace.
    #[error(transparent)]
    NoTrace(#[from] NoTrace),
}

impl Trace {
    /// Reads a trace from a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or holds something else; the message names the file and the place.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&bytes).with_context(|| format!("{} is no key trace", path.display()))
    }

    /// Reads a trace from the bytes of a file.
    ///
    /// # Errors
    ///
    /// At the first byte that is not as it should be.
    pub fn parse(bytes: &[u8]) -> Result<Self, FormError> {
        let mut reader = Reader { bytes, at: 0 };
        let mut records = Vec::new();
        while reader.at < bytes.len() {
            records.push(reader.record()?);
        }
        Ok(Self::new(records)?)
    }

    /// Returns the bytes of a file that holds this trace.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for record in self.records() {
            record
                .write_to(&mut bytes)
                .expect("writing to memory does not fail");
        }
        bytes
    }
}

impl Record {
    /// Writes this record in the form of a file, in one call of `write_all`.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub(crate) fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        let micros = self.at.as_micros();
        match &self.event {
            Event::Size(size) => {
                writeln!(bytes, "{micros} SIZE {} {}", size.columns, size.rows)?;
            }
            Event::User(user) => body(&mut bytes, micros, "USER", user)?,
            Event::Host(host) => body(&mut bytes, micros, "HOST", host)?,
        }
        writer.write_all(&bytes)
    }
}

fn body(out: &mut Vec<u8>, micros: u128, kind: &str, bytes: &[u8]) -> io::Result<()> {
    writeln!(out, "{micros} {kind} {}", bytes.len())?;
    out.extend_from_slice(bytes);
    out.push(b'\n');
    Ok(())
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The announcement of a header line.
enum Header {
    Size(Size),
    User(usize),
    Host(usize),
}

impl Reader<'_> {
    fn record(&mut self) -> Result<Record, FormError> {
        let (at, header) = self.header()?;
        let event = match header {
            Header::Size(size) => Event::Size(size),
            Header::User(length) => Event::User(self.body(length)?),
            Header::Host(length) => Event::Host(self.body(length)?),
        };
        Ok(Record { at, event })
    }

    fn header(&mut self) -> Result<(Duration, Header), FormError> {
        let rest = &self.bytes[self.at..];
        let window = &rest[..rest.len().min(HEADER_MAX)];
        let end = window.iter().position(|byte| *byte == b'\n');
        let parsed = end
            .and_then(|end| std::str::from_utf8(&window[..end]).ok())
            .and_then(header);
        match (end, parsed) {
            (Some(end), Some(parsed)) => {
                self.at += end + 1;
                Ok(parsed)
            }
            _ => Err(FormError::NoHeader {
                at: self.at,
                found: String::from_utf8_lossy(&window[..end.unwrap_or(window.len())]).into_owned(),
            }),
        }
    }

    fn body(&mut self, length: usize) -> Result<Vec<u8>, FormError> {
        let left = self.bytes.len() - self.at;
        if left < length {
            return Err(FormError::CutShort {
                at: self.at,
                wanted: length,
                left,
            });
        }
        let end = self.at + length;
        if self.bytes.get(end) != Some(&b'\n') {
            return Err(FormError::NoNewline { at: end });
        }
        let body = self.bytes[self.at..end].to_vec();
        self.at = end + 1;
        Ok(body)
    }
}

fn header(line: &str) -> Option<(Duration, Header)> {
    let mut words = line.split(' ');
    let at = Duration::from_micros(number(words.next()?)?);
    let kind = words.next()?;
    let first = number(words.next()?)?;
    let header = match kind {
        "SIZE" => Header::Size(Size {
            columns: u16::try_from(first).ok()?,
            rows: u16::try_from(number(words.next()?)?).ok()?,
        }),
        "USER" => Header::User(usize::try_from(first).ok()?),
        "HOST" => Header::Host(usize::try_from(first).ok()?),
        _ => return None,
    };
    words.next().is_none().then_some((at, header))
}

/// A number as it is written here, without the signs and zeros that the standard library takes.
fn number(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SMALL: &[u8] = b"7 SIZE 80 24\n9 USER 2\na\n\n10 HOST 1\nx\n";

    #[test]
    fn bytes_are_read_by_their_length() {
        let trace = Trace::parse(SMALL).unwrap();
        let (at, bytes) = trace.user().next().unwrap();
        assert_eq!((at, bytes), (Duration::from_micros(9), &b"a\n"[..]));
        assert_eq!(trace.host().count(), 1);
    }

    #[test]
    fn a_trace_is_written_as_it_was_read() {
        assert_eq!(Trace::parse(SMALL).unwrap().to_bytes(), SMALL);
    }

    #[test]
    fn errors_name_the_place() {
        let error = |bytes: &[u8]| Trace::parse(bytes).unwrap_err();
        let said = error(b"7 SIZE 80 24\n9 TYPED 2\nab\n").to_string();
        assert!(
            said.contains("byte 13") && said.contains("9 TYPED 2"),
            "{said}"
        );
        let cut = FormError::CutShort {
            at: 22,
            wanted: 3,
            left: 2,
        };
        assert_eq!(error(b"7 SIZE 80 24\n9 USER 3\nab"), cut);
        let long = FormError::NoNewline { at: 23 };
        assert_eq!(error(b"7 SIZE 80 24\n9 USER 1\nab\n"), long);
        let unended = FormError::NoNewline { at: 24 };
        assert_eq!(error(b"7 SIZE 80 24\n9 USER 2\nab"), unended);
        assert_eq!(
            error(b"9 USER 1\na\n"),
            FormError::NoTrace(NoTrace::SizeMissing)
        );
    }

    #[test]
    fn no_more_is_quoted_than_a_header_could_have() {
        let refused = Trace::parse(&[b'7'; 500]);
        let expected = FormError::NoHeader {
            at: 0,
            found: "7".repeat(HEADER_MAX),
        };
        assert_eq!(refused, Err(expected));
    }

    #[test]
    fn headers_are_strict() {
        for line in [
            "+7 SIZE 80 24",
            "7  SIZE 80 24",
            "7 SIZE 80 24 ",
            "7 SIZE 80",
            "07 SIZE 80 24",
            "-1 USER 1",
        ] {
            let bytes = format!("{line}\n");
            let refused = Trace::parse(bytes.as_bytes());
            assert!(
                matches!(refused, Err(FormError::NoHeader { .. })),
                "{line}: {refused:?}"
            );
        }
    }

    #[test]
    fn a_file_that_is_missing_is_named() {
        let said = format!(
            "{:#}",
            Trace::read(Path::new("/nowhere/trace")).unwrap_err()
        );
        assert!(said.starts_with("cannot read /nowhere/trace: "), "{said}");
    }

    #[test]
    fn a_file_that_is_no_trace_is_named_with_the_place() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "7 SIZE 80 24\n9 TYPED 2\n").unwrap();
        let said = format!("{:#}", Trace::read(file.path()).unwrap_err());
        let expected = format!("{} is no key trace: byte 13: ", file.path().display());
        assert!(said.starts_with(&expected), "{said}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(trace) = Trace::parse(&bytes) {
                prop_assert_eq!(trace.to_bytes(), bytes);
            }
        }

        #[test]
        fn whatever_was_recorded_comes_back(
            bodies in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 1..40)), 0..20)
        ) {
            let mut records = vec![Record {
                at: Duration::ZERO,
                event: Event::Size(Size { columns: 80, rows: 24 }),
            }];
            for (number, (user, bytes)) in bodies.into_iter().enumerate() {
                let event = if user { Event::User(bytes) } else { Event::Host(bytes) };
                records.push(Record { at: Duration::from_micros(number as u64), event });
            }
            let trace = Trace::new(records).unwrap();
            prop_assert_eq!(Trace::parse(&trace.to_bytes()), Ok(trace));
        }
    }
}

//! Finding a client's offer in what comes on standard input.
//!
//! A shell's profile may have taken a part of what the client wrote, and lines for the shell that
//! started us come first: what is not an offer is passed over, and an offer that begins anew counts
//! from there.
//!
//! Source: docs/protocol.md §2.9.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::str::FromStr;

use fulmar_core::Capabilities;
use fulmar_terminal::{ScrollbackLimits, Size};

use super::offer::{BEGIN, BindAddress, END, Offer, split_assignment};
use super::{REQUEST_BYTES_MAX, WIRE_VERSION, percent};
use crate::ports::PortRange;
use crate::session_name::SessionName;
use crate::session_task::SessionTask;

/// The most bytes that are read in all before there is a whole offer: a block of which the end is missing,
/// and the one that the client writes again.
///
/// Source: docs/threat-model.md §6.
const INPUT_BYTES_MAX: usize = 2 * REQUEST_BYTES_MAX;

/// A whole offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedOffer {
    /// The offer that was read.
    pub offer: Offer,
    /// The very bytes in which it said so, for the digest.
    pub text: Vec<u8>,
}

/// The reason why there is no offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OfferError {
    /// The input has ended first.
    #[error("no client has said on standard input what session it wants")]
    Missing,
    /// The input has ended in the middle.
    #[error("what the client wants was cut off on the way")]
    Cut,
    /// More than an offer may have, or too much before it.
    #[error("what the client wants is too long")]
    TooLong,
    /// Of a version that we do not know.
    #[error(
        "the client speaks version {0} of the bootstrap, and this server version {WIRE_VERSION}"
    )]
    Version(u32),
    /// A line of it makes no sense.
    #[error("line {0} of what the client wants makes no sense")]
    Malformed(usize),
}

/// A reader of an offer. It takes bytes as they come and owns no input.
#[derive(Debug, Default)]
pub struct OfferReader {
    /// The line that is not whole; what is longer than any offer is not kept.
    line: Vec<u8>,
    /// The whole lines of an offer that has begun.
    open: Option<Vec<u8>>,
    taken: usize,
}

impl OfferReader {
    /// Takes some bytes. With a whole offer it is done, and what follows the offer is of no interest.
    ///
    /// # Errors
    ///
    /// When there will be no offer that makes sense.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Option<ReceivedOffer>, OfferError> {
        for &byte in bytes {
            self.taken = self.taken.saturating_add(1);
            if self.taken > INPUT_BYTES_MAX {
                return Err(OfferError::TooLong);
            }
            if self.line.len() < REQUEST_BYTES_MAX {
                self.line.push(byte);
            } else if self.open.is_some() {
                return Err(OfferError::TooLong);
            }
            if byte == b'\n'
                && let Some(text) = self.end_line()?
            {
                let offer = parse(&text)?;
                return Ok(Some(ReceivedOffer { offer, text }));
            }
        }
        Ok(None)
    }

    /// Returns what the end of the input means now.
    pub fn end(&self) -> OfferError {
        match self.open {
            Some(_) => OfferError::Cut,
            None => OfferError::Missing,
        }
    }

    /// Looks at the line that is whole now, and returns the text of an offer that it ends.
    fn end_line(&mut self) -> Result<Option<Vec<u8>>, OfferError> {
        let line = std::mem::take(&mut self.line);
        if line.starts_with(BEGIN.as_bytes()) {
            // Also within another offer, of which the end was lost.
            self.open = Some(line);
            return Ok(None);
        }
        let Some(open) = &mut self.open else {
            return Ok(None);
        };
        open.extend_from_slice(&line);
        if open.len() > REQUEST_BYTES_MAX {
            Err(OfferError::TooLong)
        } else if line.strip_suffix(b"\n") == Some(END.as_bytes()) {
            Ok(self.open.take())
        } else {
            Ok(None)
        }
    }
}

/// Reads a whole offer.
fn parse(text: &[u8]) -> Result<Offer, OfferError> {
    let mut lines = text.split(|&byte| byte == b'\n');
    let mut offer = lines
        .next()
        .and_then(first_line)
        .ok_or(OfferError::Malformed(1))?;
    if offer.version != WIRE_VERSION {
        return Err(OfferError::Version(offer.version));
    }
    for (line, number) in lines.zip(2..) {
        if line == END.as_bytes() {
            break;
        }
        let (key, value) = match line.iter().position(|&byte| byte == b' ') {
            Some(blank) => line.split_at(blank),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        wish(key, value, &mut offer).ok_or(OfferError::Malformed(number))?;
    }
    Ok(offer)
}

/// Reads `FULMAR OFFER <version> <capabilities>`.
fn first_line(line: &[u8]) -> Option<Offer> {
    let rest = str::from_utf8(line).ok()?.strip_prefix(BEGIN)?;
    let (version, capabilities) = rest.split_once(' ')?;
    Some(Offer {
        version: number(version)?,
        ..Offer::of(named(capabilities)?)
    })
}

/// Reads the names of capabilities, if that is what they look like.
pub(crate) fn named(text: &str) -> Option<Capabilities> {
    let is_name = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b',');
    let is_fine = !text.is_empty() && text.bytes().all(is_name);
    is_fine.then(|| Capabilities::parse(text))
}

/// Reads a number without sign.
pub(crate) fn number<N: FromStr>(text: &str) -> Option<N> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Notes what one line wishes. Later versions wish for more: that is passed over.
fn wish(key: &[u8], value: &[u8], offer: &mut Offer) -> Option<()> {
    let text = || str::from_utf8(value).ok();
    match key {
        b"size" => {
            let (columns, rows) = text()?.split_once(' ')?;
            // What is no window is no wish: docs/threat-model.md §6.
            offer.size = Size::new(number(rows)?, number(columns)?);
        }
        b"colors" => offer.colors = Some(number(text()?)?),
        b"history" => {
            let (lines, bytes) = text()?.split_once(' ')?;
            offer.history = Some(ScrollbackLimits {
                lines: number(lines)?,
                bytes: number(bytes)?,
            });
        }
        b"bind" => {
            offer.bind = Some(match value {
                b"any" => BindAddress::Any,
                b"ssh" => BindAddress::SshConnection,
                _ => BindAddress::Address(word(value)?),
            });
        }
        b"port" => offer.ports = Some(PortRange::parse(text()?).ok()?),
        b"locale" => offer.locale.push(split_assignment(&word(value)?)?),
        b"word" => offer.command.push(word(value)?),
        b"name" => offer.name = Some(SessionName::parse(text()?).ok()?),
        _ => {
            if let Some(task) = SessionTask::read(key, text().unwrap_or_default()) {
                offer.task = Some(task?);
            }
        }
    }
    Some(())
}

fn word(value: &[u8]) -> Option<OsString> {
    percent::decode(value).map(OsString::from_vec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::offer::BootstrapRequest;
    use proptest::prelude::*;

    const OFFER: &str = "FULMAR OFFER 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal\nsize 80 24\nFULMAR END\n";

    /// Returns a reader's result for `input` that comes in pieces of those lengths, over and over.
    fn read(input: &[u8], pieces: &[usize]) -> Result<ReceivedOffer, OfferError> {
        let mut reader = OfferReader::default();
        let mut rest = input;
        let mut lengths = pieces.iter().cycle();
        while !rest.is_empty() {
            let length = lengths
                .next()
                .map_or(1, |&length| length.clamp(1, rest.len()));
            let (piece, left) = rest.split_at(length);
            if let Some(received) = reader.take(piece)? {
                return Ok(received);
            }
            rest = left;
        }
        Err(reader.end())
    }

    fn offer(input: &str) -> Result<Offer, OfferError> {
        read(input.as_bytes(), &[4096]).map(|received| received.offer)
    }

    #[test]
    fn an_offer_is_found_among_other_lines() {
        let noise =
            "\nFULMAR START\nFULMAR MOSH 'FULMAR OFFER 1 -'\n FULMAR OFFER 1 -\nFULMAR END\n";
        let received = read(format!("{noise}{OFFER}{OFFER}").as_bytes(), &[7]).unwrap();
        assert_eq!(received.text, OFFER.as_bytes());
        let wanted = Offer {
            size: Size::new(24, 80),
            ..Offer::of(Capabilities::ALL)
        };
        assert_eq!(received.offer, wanted);
    }

    #[test]
    fn of_an_offer_without_end_the_next_one_counts() {
        let cut = "FULMAR OFFER 1 -\nword rm\nword -rf\nFULMAR EN";
        for between in ["\n", "D \n"] {
            let received = read(format!("{cut}{between}{OFFER}").as_bytes(), &[11]).unwrap();
            assert_eq!(received.text, OFFER.as_bytes());
            assert!(received.offer.command.is_empty());
        }
    }

    #[test]
    fn without_a_whole_offer_it_is_told_which_half_is_missing() {
        assert_eq!(offer(""), Err(OfferError::Missing));
        assert_eq!(offer("hello\nFULMAR OFFER 1 -"), Err(OfferError::Missing));
        assert_eq!(offer("FULMAR OFFER 1 -\n"), Err(OfferError::Cut));
        assert_eq!(offer("FULMAR OFFER 1 -\nFULMAR END"), Err(OfferError::Cut));
        assert_eq!(
            offer("FULMAR OFFER 1 -\nFULMAR END \n"),
            Err(OfferError::Cut)
        );
        assert_eq!(
            offer("FULMAR OFFER 1 -\nFULMAR END\r\n"),
            Err(OfferError::Cut)
        );
    }

    #[test]
    fn wishes_are_read() {
        let lines = "bind ssh\nport 60001:60999\ncolors 256\nhistory 9 8\nlocale LANG=C%25\nword a%0Ab c\nword\n";
        let read = offer(&format!("FULMAR OFFER 1 -\n{lines}FULMAR END\n")).unwrap();
        let wanted = Offer {
            bind: Some(BindAddress::SshConnection),
            ports: PortRange::parse("60001:60999").ok(),
            colors: Some(256),
            history: Some(ScrollbackLimits { lines: 9, bytes: 8 }),
            locale: vec![("LANG".into(), "C%".into())],
            command: vec!["a\nb c".into(), "".into()],
            ..Offer::of(Capabilities::NONE)
        };
        assert_eq!(read, wanted);
    }

    #[test]
    fn what_later_versions_wish_for_is_passed_over() {
        let read = offer(
            "FULMAR OFFER 1 zzz,attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal\nmood %zz\n\nFULMAR END\n",
        )
        .unwrap();
        assert_eq!(read, Offer::of(Capabilities::ALL));
        assert_eq!(
            offer("FULMAR OFFER 2 exit\nsize\nFULMAR END\n"),
            Err(OfferError::Version(2))
        );
    }

    #[test]
    fn a_line_that_makes_no_sense_is_named() {
        for first in ["", "1", "1 ", "x -", "+1 -", "1 EXIT", "1 a b", "1  -"] {
            let text = format!("FULMAR OFFER {first}\nFULMAR END\n");
            assert_eq!(offer(&text), Err(OfferError::Malformed(1)), "{first:?}");
        }
        for line in [
            "size 80",
            "size 80 24 1",
            "size 80 -24",
            "size 80  24",
            "colors many",
            "colors",
            "history 5",
            "history 5 -1",
            "bind %",
            "port 9:1",
            "locale LANG",
            "word %zz",
            "word a\tb",
            "name a/b",
            "attach a/b",
            "rename a",
        ] {
            let text = format!("FULMAR OFFER 1 -\nword a\n{line}\nFULMAR END\n");
            assert_eq!(offer(&text), Err(OfferError::Malformed(3)), "{line:?}");
        }
    }

    #[test]
    fn a_window_that_is_none_is_no_wish() {
        for size in ["0 0", "80 0", "0 24", "5000 24"] {
            let read = offer(&format!("FULMAR OFFER 1 -\nsize {size}\nFULMAR END\n"));
            assert_eq!(read, Ok(Offer::of(Capabilities::NONE)), "{size}");
        }
    }

    /// An offer whose text has that many bytes.
    fn offer_of_length(length: usize) -> String {
        let (head, tail) = ("FULMAR OFFER 1 -\nword ", "\nFULMAR END\n");
        let word = "x".repeat(length - head.len() - tail.len());
        format!("{head}{word}{tail}")
    }

    #[test]
    fn an_offer_has_a_longest_length() {
        assert!(offer(&offer_of_length(REQUEST_BYTES_MAX)).is_ok());
        let longer = offer_of_length(REQUEST_BYTES_MAX + 1);
        assert_eq!(offer(&longer), Err(OfferError::TooLong));
        // Without a line end it is given up as early.
        let mut reader = OfferReader::default();
        assert_eq!(reader.take(b"FULMAR OFFER 1 -\n"), Ok(None));
        let endless = vec![b'x'; REQUEST_BYTES_MAX + 1];
        assert_eq!(reader.take(&endless), Err(OfferError::TooLong));
    }

    #[test]
    fn what_comes_before_has_a_bound_and_is_not_kept() {
        let mut reader = OfferReader::default();
        let noise = vec![b'x'; INPUT_BYTES_MAX];
        assert_eq!(reader.take(&noise), Ok(None));
        assert_eq!(reader.line.len(), REQUEST_BYTES_MAX);
        assert_eq!(reader.take(b"\n"), Err(OfferError::TooLong));
        let half_a_block = "x".repeat(REQUEST_BYTES_MAX - 1);
        let encoded = offer_of_length(REQUEST_BYTES_MAX);
        assert!(offer(&format!("{half_a_block}\n{encoded}")).is_ok());
    }

    fn value() -> impl Strategy<Value = OsString> {
        prop::collection::vec(1_u8.., 0..20).prop_map(OsString::from_vec)
    }

    fn any_offer() -> impl Strategy<Value = Offer> {
        let size = prop::option::of((1_u16..=200, 1_u16..=200));
        let size = size.prop_map(|size| size.and_then(|(rows, columns)| Size::new(rows, columns)));
        let bind = prop_oneof![
            Just(BindAddress::Any),
            Just(BindAddress::SshConnection),
            "[0-9a-f:.%]{2,20}".prop_map(|address| BindAddress::Address(address.into())),
        ];
        let ports = (1_u16.., 1_u16..).prop_map(|(one, other)| {
            let range = format!("{}:{}", one.min(other), one.max(other));
            PortRange::parse(&range).unwrap()
        });
        let name = "[A-Z_]{1,8}".prop_map(OsString::from);
        (
            any::<bool>().prop_map(|all| {
                if all {
                    Capabilities::ALL
                } else {
                    Capabilities::NONE
                }
            }),
            size,
            any::<Option<u32>>(),
            any::<Option<(usize, usize)>>(),
            prop::option::of(bind),
            prop::option::of(ports),
            prop::collection::vec((name, value()), 0..4),
            prop::collection::vec(value(), 0..4),
            prop::option::of("[a-z][a-z0-9.-]{0,9}"),
        )
            .prop_map(
                |(capabilities, size, colors, history, bind, ports, locale, command, name)| Offer {
                    version: WIRE_VERSION,
                    capabilities,
                    size,
                    colors,
                    history: history.map(|(lines, bytes)| ScrollbackLimits { lines, bytes }),
                    bind,
                    ports,
                    locale,
                    command,
                    name: name
                        .as_deref()
                        .map(|name| SessionName::parse(name).unwrap()),
                    task: name.is_none().then_some(SessionTask::List),
                },
            )
    }

    /// Lines of offers, whole and not, in any order.
    fn muddle() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![
            Just(b"FULMAR OFFER 1 exit\n".to_vec()),
            Just(b"FULMAR END\n".to_vec()),
            Just(b"size 80 24\n".to_vec()),
            Just(b"word %41\n".to_vec()),
            prop::collection::vec(any::<u8>(), 0..12),
        ];
        prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn any_offer_comes_back_however_it_is_cut(
            offer in any_offer(),
            pieces in prop::collection::vec(1_usize..50, 1..5),
            noise in "([a-zA-Z ]{0,20}\n){0,3}",
        ) {
            let request = BootstrapRequest { start: None, fallback: None, offer };
            let encoded = request.encode().unwrap();
            let input = [noise.as_bytes(), encoded.bytes(), encoded.offer()].concat();
            let received = read(&input, &pieces).unwrap();
            prop_assert_eq!(received.text, encoded.offer());
            prop_assert_eq!(received.offer, request.offer);
        }

        #[test]
        fn where_the_input_is_cut_makes_no_difference(
            input in muddle(),
            pieces in prop::collection::vec(1_usize..50, 1..5),
        ) {
            prop_assert_eq!(read(&input, &pieces), read(&input, &[usize::MAX]));
        }
    }
}

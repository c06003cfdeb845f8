//! A request to the server of a session, and its text.
//!
//! Source: docs/protocol.md §2.11.

use std::mem;
use std::net::IpAddr;

use fulmar_datagram::Key;
use fulmar_login::{BindAddress, OfferReader, PortRange, ReceivedOffer, SessionName};
use zeroize::{Zeroize as _, Zeroizing};

use crate::session_key;

/// The beginning of each request.
const BEGIN: &str = "FULMAR CONTROL 1 ";

/// The beginning of the line with a key.
const KEY: &str = "key ";

/// The longest line with a key. Chosen by eye: a key has 22 characters.
const KEY_LINE_BYTES_MAX: usize = 64;

/// The longest first line of a request. Chosen by eye: an address and a range of ports are short.
const LINE_BYTES_MAX: usize = 256;

/// A request to the server of a session.
pub(crate) enum ControlRequest {
    /// Describe the session.
    Status,
    /// End it.
    End,
    /// Give it another name.
    Rename(SessionName),
    /// Take datagrams over the connection from now on, and send some: they are carried to and from a client at that address,
    /// as far as it is known.
    Carry(Option<IpAddr>),
    /// Expect another client.
    Attach(Box<AttachRequest>),
}

/// All that a server has to know of a client that is to take its session.
pub(crate) struct AttachRequest {
    /// The place where the client is to reach it.
    pub(crate) place: AttachPlace,
    /// The client's offer.
    pub(crate) received: ReceivedOffer,
    /// The key, which nobody has used.
    pub(crate) key: Key,
}

/// The address and ports that a client wants a session at, as far as it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AttachPlace {
    /// The address.
    pub(crate) bind: Option<BindAddress>,
    /// The ports.
    pub(crate) ports: Option<PortRange>,
    /// The address from which its ssh has come.
    pub(crate) from: Option<IpAddr>,
}

/// Returns the text that asks for a client to be expected.
pub(crate) fn attach_text(place: &AttachPlace, offer: &[u8], key: &Key) -> Zeroizing<Vec<u8>> {
    let mut line = format!("{BEGIN}attach");
    match &place.bind {
        None | Some(BindAddress::SshConnection) => {}
        Some(BindAddress::Any) => line.push_str(" bind=any"),
        Some(BindAddress::Address(address)) => {
            line.push_str(&format!(" bind={}", address.to_string_lossy()));
        }
    }
    if let Some(ports) = place.ports {
        line.push_str(&format!(" ports={}", ports.as_option()));
    }
    if let Some(from) = place.from {
        line.push_str(&format!(" from={from}"));
    }
    let key = key.to_base64();
    // Enough room from the start: a longer buffer would leave the shorter one behind.
    let length = line.len() + offer.len() + KEY_LINE_BYTES_MAX;
    let mut text = Zeroizing::new(Vec::with_capacity(length));
    for part in [
        line.as_bytes(),
        b"\n",
        offer,
        KEY.as_bytes(),
        key.as_bytes(),
        b"\n",
    ] {
        text.extend_from_slice(part);
    }
    text
}

/// Returns the text of a request that is one line.
pub(crate) fn line_text(request: &str) -> String {
    format!("{BEGIN}{request}\n")
}

/// A request that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MalformedRequest;

/// A reader of one request, which takes bytes as they come.
pub(crate) struct RequestReader {
    stage: Stage,
}

enum Stage {
    /// In the first line, of which this has come.
    Line(Vec<u8>),
    Offer(AttachPlace, OfferReader),
    Key(AttachPlace, Box<ReceivedOffer>, Zeroizing<Vec<u8>>),
    Over,
}

impl Default for RequestReader {
    fn default() -> RequestReader {
        RequestReader {
            stage: Stage::Line(Vec::new()),
        }
    }
}

impl RequestReader {
    /// Takes some bytes. With a whole request it is done. The caller wipes what it has read.
    ///
    /// # Errors
    ///
    /// When there will be none that makes sense.
    pub(crate) fn take(
        &mut self,
        bytes: &[u8],
    ) -> Result<Option<ControlRequest>, MalformedRequest> {
        for byte in bytes {
            if let Some(request) = self.take_byte(*byte)? {
                return Ok(Some(request));
            }
        }
        Ok(None)
    }

    fn take_byte(&mut self, byte: u8) -> Result<Option<ControlRequest>, MalformedRequest> {
        let stage = mem::replace(&mut self.stage, Stage::Over);
        self.stage = match (stage, byte) {
            (Stage::Line(line), b'\n') => match read_line(&line).ok_or(MalformedRequest)? {
                Line::Whole(request) => return Ok(Some(request)),
                Line::Attach(place) => Stage::Offer(place, OfferReader::default()),
            },
            (Stage::Line(mut line), byte) if line.len() < LINE_BYTES_MAX => {
                line.push(byte);
                Stage::Line(line)
            }
            (Stage::Offer(place, mut reader), byte) => {
                match reader.take(&[byte]).map_err(|_| MalformedRequest)? {
                    Some(received) => {
                        let line = Zeroizing::new(Vec::with_capacity(KEY_LINE_BYTES_MAX));
                        Stage::Key(place, Box::new(received), line)
                    }
                    None => Stage::Offer(place, reader),
                }
            }
            (Stage::Key(place, received, line), b'\n') => {
                let key = read_key(&line).ok_or(MalformedRequest)?;
                let received = *received;
                let request = AttachRequest {
                    place,
                    received,
                    key,
                };
                return Ok(Some(ControlRequest::Attach(Box::new(request))));
            }
            (Stage::Key(place, received, mut line), byte) if line.len() < KEY_LINE_BYTES_MAX => {
                line.push(byte);
                Stage::Key(place, received, line)
            }
            _ => return Err(MalformedRequest),
        };
        Ok(None)
    }
}

enum Line {
    Whole(ControlRequest),
    Attach(AttachPlace),
}

fn read_line(line: &[u8]) -> Option<Line> {
    let rest = str::from_utf8(line).ok()?.strip_prefix(BEGIN)?;
    let mut words = rest.split(' ');
    let request = match (words.next()?, words.next(), words.next()) {
        ("status", None, _) => ControlRequest::Status,
        ("end", None, _) => ControlRequest::End,
        ("rename", Some(name), None) => ControlRequest::Rename(SessionName::parse(name).ok()?),
        ("over-ssh", None, _) => ControlRequest::Carry(None),
        ("over-ssh", Some(word), None) => {
            let from = word.strip_prefix("from=")?;
            ControlRequest::Carry(Some(from.parse().ok()?))
        }
        ("attach", first, second) => {
            let mut place = AttachPlace::default();
            for word in first.into_iter().chain(second).chain(words) {
                match word.split_once('=')? {
                    ("bind", "any") => place.bind = Some(BindAddress::Any),
                    ("bind", address) => place.bind = Some(BindAddress::Address(address.into())),
                    ("ports", ports) => place.ports = Some(PortRange::parse(ports).ok()?),
                    ("from", from) => place.from = Some(from.parse().ok()?),
                    // Of a later version.
                    _ => {}
                }
            }
            return Some(Line::Attach(place));
        }
        _ => return None,
    };
    Some(Line::Whole(request))
}

fn read_key(line: &[u8]) -> Option<Key> {
    let text = str::from_utf8(line).ok()?.strip_prefix(KEY)?;
    session_key::read(text).ok()
}

/// A buffer for requests, which is wiped after each use: a key may be in it.
pub(crate) struct RequestBuffer([u8; 4096]);

impl RequestBuffer {
    /// Returns one that is blank.
    pub(crate) fn blank() -> RequestBuffer {
        RequestBuffer([0; 4096])
    }

    /// Returns its memory, to be filled.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for RequestBuffer {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFER: &[u8] = b"FULMAR OFFER 1 attach,exit\nsize 80 24\nattach work\nFULMAR END\n";
    const KEY_TEXT: &str = "c68K8iLyuCr1oEM7Hszyjg";

    fn read(text: &[u8]) -> Result<Option<ControlRequest>, MalformedRequest> {
        let mut reader = RequestReader::default();
        let mut outcome = Ok(None);
        for piece in text.chunks(7) {
            outcome = reader.take(piece);
            if !matches!(outcome, Ok(None)) {
                break;
            }
        }
        outcome
    }

    #[test]
    fn requests_of_one_line_are_read() {
        let status = read(line_text("status").as_bytes());
        assert!(matches!(status, Ok(Some(ControlRequest::Status))));
        let end = read(line_text("end").as_bytes());
        assert!(matches!(end, Ok(Some(ControlRequest::End))));
        let rename = read(line_text("rename play").as_bytes());
        assert!(
            matches!(rename, Ok(Some(ControlRequest::Rename(name))) if name.as_str() == "play")
        );
        for (line, from) in [
            ("over-ssh", None),
            ("over-ssh from=::1", "::1".parse().ok()),
        ] {
            let carry = read(line_text(line).as_bytes());
            assert!(matches!(carry, Ok(Some(ControlRequest::Carry(said))) if said == from));
        }
    }

    #[test]
    fn an_attachment_comes_with_its_place_its_offer_and_a_key() {
        let key = || session_key::read(KEY_TEXT).unwrap();
        for place in [
            AttachPlace::default(),
            AttachPlace {
                bind: Some(BindAddress::Address("fe80::1%eth0".into())),
                ports: PortRange::parse("60001:60010").ok(),
                from: "2001:db8::7".parse().ok(),
            },
            AttachPlace {
                bind: Some(BindAddress::Any),
                ..AttachPlace::default()
            },
        ] {
            let text = attach_text(&place, OFFER, &key());
            let Ok(Some(ControlRequest::Attach(request))) = read(&text) else {
                panic!("{:?}", String::from_utf8_lossy(&text));
            };
            assert_eq!(request.place, place);
            assert_eq!(request.received.text, OFFER);
            assert_eq!(*request.key.to_base64(), KEY_TEXT);
            assert!(text.capacity() >= text.len() && text.capacity() < text.len() + 64);
        }
    }

    #[test]
    fn what_makes_no_sense_or_has_no_end_is_refused() {
        for text in [
            "\n",
            "hello\n",
            "FULMAR CONTROL 2 status\n",
            "FULMAR CONTROL 1 status now\n",
            "FULMAR CONTROL 1 rename a/b\n",
            "FULMAR CONTROL 1 over-ssh from=there\n",
            "FULMAR CONTROL 1 attach ports=9:1\n",
            "FULMAR CONTROL 1 attach\nFULMAR OFFER 2 -\nFULMAR END\n",
            "FULMAR CONTROL 1 attach\nFULMAR OFFER 1 -\nFULMAR END\nkey x\n",
            "FULMAR CONTROL 1 attach\nFULMAR OFFER 1 -\nFULMAR END\nc68K8iLyuCr1oEM7Hszyjg\n",
            &"x".repeat(LINE_BYTES_MAX + 2),
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text:?}");
        }
        let endless = format!(
            "FULMAR CONTROL 1 attach\nFULMAR OFFER 1 -\nFULMAR END\nkey {}",
            "x".repeat(99)
        );
        assert!(read(endless.as_bytes()).is_err());
        assert!(matches!(read(b"FULMAR CONTROL 1 sta"), Ok(None)));
    }
}

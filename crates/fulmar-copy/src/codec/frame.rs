//! The frames that the ends exchange.

use bytes::{BufMut as _, BytesMut};

use super::numbers::{
    CHECKED, DATA, DONE, END, FAILED, FILE, FINISHED, FOLDER, FOUND, GET, HAVE, HELLO, LEAVE, LINK,
    PUT, READY, REFUSED, SETTLED, TROUBLE, ZEROS,
};
use super::reader::Reader;
use super::writer::{self, bytes, number, zigzag};
use crate::digest::{DIGEST_BYTES, Digest};
use crate::entry::{Entry, EntryId, EntryKind, Timestamp};
use crate::entry_error::{EntryError, EntryErrorKind};
use crate::event::{Occupant, Totals};
use crate::limits::{NOTE_BYTES_MAX, OPERANDS_MAX, PATH_BYTES_MAX, SIZE_MAX, WINDOW_ENTRIES};
use crate::path::RelativePath;
use crate::protocol_error::ProtocolError;
use crate::request::{Flags, Request};

/// Every frame but data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Frame {
    /// First of both ends.
    Hello { version: u64, features: u64 },
    /// The requester's request.
    Request(Request),
    /// The request will be done.
    Ready { into_folder: bool },
    /// It will not.
    Refused(EntryError),
    /// A folder, file, link, or the leaving of a folder.
    Entry(EntryId, Entry),
    /// `length` zeros of a file.
    Zeros {
        id: EntryId,
        offset: u64,
        length: u64,
    },
    /// All of a file has been sent, or no more of it will be.
    End { id: EntryId, ending: Ending },
    /// Something that has no entry.
    EntryError(EntryError),
    /// There are that many entries, and no more.
    Finished { entries: u64 },
    /// Digests of chunks that are at the target, from chunk `first` on.
    Have {
        id: EntryId,
        first: u64,
        digests: Vec<Digest>,
    },
    /// The receiver has looked for the first `chunks` chunks of a file: it has those of which it has sent digests, and no others.
    Checked { id: EntryId, chunks: u64 },
    /// These entries are at their places.
    Settled { first: EntryId, count: u64 },
    /// This one is not.
    Failed { id: EntryId, trouble: EntryError },
    /// In a dry run, before an entry is settled: what is at its place.
    Found { id: EntryId, occupant: Occupant },
    /// Everything is settled.
    Done(Totals),
}

/// The way in which the sending of a file ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All was sent.
    Whole {
        size: u64,
        digest: Digest,
        is_changed: bool,
    },
    /// It could not be read to its end.
    Broken(EntryError),
}

impl Frame {
    /// The name in docs/copy-protocol.md §2.
    pub(crate) fn name(&self) -> &'static str {
        name(self.number()).unwrap_or("frame")
    }

    fn number(&self) -> u8 {
        match self {
            Frame::Hello { .. } => HELLO,
            Frame::Request(Request::Put { .. }) => PUT,
            Frame::Request(Request::Get { .. }) => GET,
            Frame::Ready { .. } => READY,
            Frame::Refused(_) => REFUSED,
            Frame::Entry(_, entry) => match entry.kind {
                EntryKind::Folder => FOLDER,
                EntryKind::File { .. } => FILE,
                EntryKind::Link { .. } => LINK,
                EntryKind::Leave => LEAVE,
            },
            Frame::Zeros { .. } => ZEROS,
            Frame::End { .. } => END,
            Frame::EntryError(_) => TROUBLE,
            Frame::Finished { .. } => FINISHED,
            Frame::Have { .. } => HAVE,
            Frame::Checked { .. } => CHECKED,
            Frame::Settled { .. } => SETTLED,
            Frame::Failed { .. } => FAILED,
            Frame::Found { .. } => FOUND,
            Frame::Done(_) => DONE,
        }
    }

    /// Appends the frame. What it holds has been checked: no frame of ours is longer than 64 KiB.
    pub(crate) fn encode(&self, out: &mut BytesMut) {
        writer::frame(out, self.number(), |out| self.encode_body(out));
    }

    fn encode_body(&self, out: &mut BytesMut) {
        match self {
            Frame::Hello { version, features } => numbers(out, &[*version, *features]),
            Frame::Request(request) => encode_request(out, request),
            Frame::Ready { into_folder } => number(out, u64::from(*into_folder)),
            Frame::Refused(trouble) | Frame::EntryError(trouble) => encode_trouble(out, trouble),
            Frame::Entry(id, entry) => encode_entry(out, *id, entry),
            Frame::Zeros { id, offset, length } => numbers(out, &[id.0, *offset, *length]),
            Frame::End { id, ending } => encode_ending(out, *id, ending),
            Frame::Finished { entries } => number(out, *entries),
            Frame::Have { id, first, digests } => {
                numbers(out, &[id.0, *first]);
                digests.iter().for_each(|digest| out.put_slice(&digest.0));
            }
            Frame::Checked { id, chunks } => numbers(out, &[id.0, *chunks]),
            Frame::Settled { first, count } => numbers(out, &[first.0, *count]),
            Frame::Failed { id, trouble } => {
                number(out, id.0);
                encode_trouble(out, trouble);
            }
            Frame::Found { id, occupant } => numbers(out, &[id.0, *occupant as u64]),
            Frame::Done(totals) => {
                let Totals {
                    files,
                    folders,
                    links,
                    bytes,
                    troubles,
                } = totals;
                numbers(out, &[*files, *folders, *links, *bytes, *troubles]);
            }
        }
    }

    /// The frame of that number and body.
    pub(super) fn decode(frame: u8, body: &[u8]) -> Result<Self, ProtocolError> {
        let mut reader = Reader::new(name(frame).ok_or(ProtocolError::UnknownFrame(frame))?, body);
        let decoded = Self::decode_body(frame, &mut reader)?;
        reader.finish()?;
        Ok(decoded)
    }

    fn decode_body(frame: u8, reader: &mut Reader<'_>) -> Result<Self, ProtocolError> {
        Ok(match frame {
            HELLO => Frame::Hello {
                version: reader.number()?,
                features: reader.number()?,
            },
            PUT | GET => Frame::Request(decode_request(frame, reader)?),
            READY => Frame::Ready {
                into_folder: reader.flag()?,
            },
            REFUSED => Frame::Refused(decode_trouble(reader)?),
            FOLDER | FILE | LINK | LEAVE => decode_entry(frame, reader)?,
            ZEROS => decode_zeros(reader)?,
            END => Frame::End {
                id: EntryId(reader.number()?),
                ending: decode_ending(reader)?,
            },
            TROUBLE => Frame::EntryError(decode_trouble(reader)?),
            FINISHED => Frame::Finished {
                entries: reader.number()?,
            },
            HAVE => decode_have(reader)?,
            CHECKED => Frame::Checked {
                id: EntryId(reader.number()?),
                chunks: reader.number()?,
            },
            SETTLED => decode_settled(reader)?,
            FAILED => Frame::Failed {
                id: EntryId(reader.number()?),
                trouble: decode_trouble(reader)?,
            },
            FOUND => decode_found(reader)?,
            DONE => Frame::Done(decode_totals(reader)?),
            _ => return Err(ProtocolError::UnknownFrame(frame)),
        })
    }
}

/// The name of a frame in docs/copy-protocol.md §2.
pub(super) fn name(frame: u8) -> Option<&'static str> {
    Some(match frame {
        HELLO => "Hello",
        PUT => "Put",
        GET => "Get",
        READY => "Ready",
        REFUSED => "Refused",
        FOLDER => "Folder",
        FILE => "File",
        LINK => "Link",
        LEAVE => "Leave",
        DATA => "Data",
        ZEROS => "Zeros",
        END => "End",
        TROUBLE => "EntryError",
        FINISHED => "Finished",
        HAVE => "Have",
        CHECKED => "Checked",
        SETTLED => "Settled",
        FAILED => "Failed",
        FOUND => "Found",
        DONE => "Done",
        _ => return None,
    })
}

fn numbers(out: &mut BytesMut, values: &[u64]) {
    values.iter().for_each(|value| number(out, *value));
}

fn encode_request(out: &mut BytesMut, request: &Request) {
    number(out, u64::from(request.flags().bits()));
    match request {
        Request::Put { target, .. } => bytes(out, target),
        Request::Get { operands, .. } => operands.iter().for_each(|operand| bytes(out, operand)),
    }
}

fn decode_request(frame: u8, reader: &mut Reader<'_>) -> Result<Request, ProtocolError> {
    let flags = Flags::from_bits(reader.number_u32()?).ok_or(reader.fault())?;
    if frame == PUT {
        let target = decode_operand(reader)?;
        return Ok(Request::Put { target, flags });
    }
    let mut operands = Vec::new();
    // What is too much stays in the frame, and is an error at its end.
    while reader.left() > 0 && operands.len() < OPERANDS_MAX {
        operands.push(decode_operand(reader)?);
    }
    if operands.is_empty() {
        return Err(reader.fault());
    }
    Ok(Request::Get { operands, flags })
}

fn decode_operand(reader: &mut Reader<'_>) -> Result<Vec<u8>, ProtocolError> {
    let operand = reader.bytes(PATH_BYTES_MAX)?;
    if operand.contains(&0) {
        Err(reader.fault())
    } else {
        Ok(operand.to_vec())
    }
}

fn encode_trouble(out: &mut BytesMut, trouble: &EntryError) {
    number(out, trouble.kind as u64);
    bytes(out, &trouble.place);
    bytes(out, trouble.note.as_bytes());
}

fn decode_trouble(reader: &mut Reader<'_>) -> Result<EntryError, ProtocolError> {
    let why = usize::try_from(reader.number()?).map_err(|_| reader.fault())?;
    let why = *EntryErrorKind::ALL.get(why).ok_or(reader.fault())?;
    let place = reader.bytes(PATH_BYTES_MAX)?;
    let note = reader.bytes(NOTE_BYTES_MAX)?;
    Ok(EntryError::at(place, why).with_note(&String::from_utf8_lossy(note)))
}

fn encode_entry(out: &mut BytesMut, id: EntryId, entry: &Entry) {
    numbers(out, &[id.0, u64::from(entry.operand)]);
    bytes(out, entry.path.as_bytes());
    let Timestamp {
        seconds,
        nanoseconds,
    } = entry.modified;
    numbers(
        out,
        &[
            u64::from(entry.mode),
            zigzag(seconds),
            u64::from(nanoseconds),
        ],
    );
    match &entry.kind {
        EntryKind::Folder | EntryKind::Leave => {}
        EntryKind::File { size: None } => number(out, 0),
        EntryKind::File { size: Some(size) } => numbers(out, &[1, *size]),
        EntryKind::Link { target } => bytes(out, target),
    }
}

fn decode_entry(frame: u8, reader: &mut Reader<'_>) -> Result<Frame, ProtocolError> {
    let id = EntryId(reader.number()?);
    let operand = reader.number_u32()?;
    // Here, so that nothing behind the decoder ever sees a path that leads elsewhere
    // (docs/threat-model.md §11).
    let path = RelativePath::new(reader.bytes(PATH_BYTES_MAX)?)?;
    let mode = u32::try_from(reader.number_to(0o7777)?).map_err(|_| reader.fault())?;
    let seconds = reader.signed()?;
    let nanoseconds = reader.number_to(999_999_999)?;
    let nanoseconds = u32::try_from(nanoseconds).map_err(|_| reader.fault())?;
    let kind = match frame {
        FOLDER => EntryKind::Folder,
        LEAVE => EntryKind::Leave,
        LINK => EntryKind::Link {
            target: decode_link(reader)?,
        },
        _ if reader.flag()? => EntryKind::File {
            size: Some(reader.number()?),
        },
        _ => EntryKind::File { size: None },
    };
    let modified = Timestamp {
        seconds,
        nanoseconds,
    };
    Ok(Frame::Entry(
        id,
        Entry {
            operand,
            path,
            kind,
            mode,
            modified,
        },
    ))
}

fn decode_link(reader: &mut Reader<'_>) -> Result<Vec<u8>, ProtocolError> {
    let target = reader.bytes(PATH_BYTES_MAX)?;
    if target.is_empty() || target.contains(&0) {
        return Err(reader.fault());
    }
    Ok(target.to_vec())
}

fn decode_zeros(reader: &mut Reader<'_>) -> Result<Frame, ProtocolError> {
    let (id, offset, length) = (
        EntryId(reader.number()?),
        reader.number()?,
        reader.number()?,
    );
    // A number has 62 bits at most, so this does not overflow, and the end of the zeros is a
    // number, too.
    if length == 0 || length > SIZE_MAX - offset {
        return Err(reader.fault());
    }
    Ok(Frame::Zeros { id, offset, length })
}

fn encode_ending(out: &mut BytesMut, id: EntryId, ending: &Ending) {
    number(out, id.0);
    match ending {
        Ending::Whole {
            size,
            digest,
            is_changed,
        } => {
            numbers(out, &[u64::from(*is_changed), *size]);
            out.put_slice(&digest.0);
        }
        Ending::Broken(trouble) => {
            number(out, 2);
            encode_trouble(out, trouble);
        }
    }
}

fn decode_ending(reader: &mut Reader<'_>) -> Result<Ending, ProtocolError> {
    let how = reader.number_to(2)?;
    if how == 2 {
        return Ok(Ending::Broken(decode_trouble(reader)?));
    }
    let size = reader.number()?;
    let digest = decode_digest(reader)?;
    Ok(Ending::Whole {
        size,
        digest,
        is_changed: how == 1,
    })
}

fn decode_digest(reader: &mut Reader<'_>) -> Result<Digest, ProtocolError> {
    let bytes = reader.exactly(DIGEST_BYTES)?;
    let digest = bytes.try_into().map_err(|_| reader.fault())?;
    Ok(Digest(digest))
}

fn decode_have(reader: &mut Reader<'_>) -> Result<Frame, ProtocolError> {
    let (id, first) = (EntryId(reader.number()?), reader.number()?);
    let mut digests = Vec::new();
    while reader.left() > 0 {
        digests.push(decode_digest(reader)?);
    }
    if digests.is_empty() {
        return Err(reader.fault());
    }
    Ok(Frame::Have { id, first, digests })
}

fn decode_settled(reader: &mut Reader<'_>) -> Result<Frame, ProtocolError> {
    let (first, count) = (EntryId(reader.number()?), reader.number_to(WINDOW_ENTRIES)?);
    if count == 0 {
        return Err(reader.fault());
    }
    Ok(Frame::Settled { first, count })
}

fn decode_found(reader: &mut Reader<'_>) -> Result<Frame, ProtocolError> {
    let id = EntryId(reader.number()?);
    let occupant = match reader.number()? {
        0 => Occupant::Nothing,
        1 => Occupant::Another,
        2 => Occupant::Same,
        3 => Occupant::Partial,
        _ => return Err(reader.fault()),
    };
    Ok(Frame::Found { id, occupant })
}

fn decode_totals(reader: &mut Reader<'_>) -> Result<Totals, ProtocolError> {
    Ok(Totals {
        files: reader.number()?,
        folders: reader.number()?,
        links: reader.number()?,
        bytes: reader.number()?,
        troubles: reader.number()?,
    })
}

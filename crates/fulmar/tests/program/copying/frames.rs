//! Writes the frames of a hostile end into the pipes that ssh carries: frames of docs/copy-protocol.md §2 in those
//! of docs/protocol.md §2.10, byte by byte, so that nothing keeps them from being wrong.

/// The mode of a file or a folder.
const MODE: u64 = 0o700;

/// Bytes for one pipe.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames(pub(super) Vec<u8>);

/// The kind of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) enum Thing<'a> {
    Folder,
    File(u64),
    Link(&'a [u8]),
}

impl Frames {
    /// Those of somebody who is asked and agrees.
    pub(super) fn of_answerer() -> Self {
        Self::default().control(0x01, &[1, 0]).control(0x04, &[0])
    }

    /// Those of somebody who asks to send to `target`, with these flags.
    pub(super) fn of_requester(target: &[u8], flags: u64) -> Self {
        let mut body = number(flags);
        body.extend(text(target));
        Self::default().control(0x01, &[1, 0]).control(0x02, &body)
    }

    /// A frame on the control stream.
    pub(super) fn control(self, kind: u8, body: &[u8]) -> Self {
        self.on_stream(0, &frame(kind, body))
    }

    /// A frame on the data stream.
    pub(super) fn data(self, kind: u8, body: &[u8]) -> Self {
        self.on_stream(1, &frame(kind, body))
    }

    /// Bytes on any stream.
    pub(super) fn on_stream(mut self, stream: u8, bytes: &[u8]) -> Self {
        let length = u32::try_from(bytes.len())
            .expect("it is short")
            .to_be_bytes();
        self.0.push(stream);
        self.0.extend(&length[1..]);
        self.0.extend(bytes);
        self
    }

    /// An entry.
    pub(super) fn entry(self, id: u64, path: &[u8], thing: Thing<'_>) -> Self {
        self.entry_of_mode(id, path, thing, MODE)
    }

    /// The same with a mode.
    pub(super) fn entry_of_mode(self, id: u64, path: &[u8], thing: Thing<'_>, mode: u64) -> Self {
        let mut body = [number(id), number(0), text(path), number(mode), vec![0, 0]].concat();
        let kind = match thing {
            Thing::Folder => 0x10,
            Thing::File(size) => {
                body.push(1);
                body.extend(number(size));
                0x11
            }
            Thing::Link(target) => {
                body.extend(text(target));
                0x12
            }
        };
        self.data(kind, &body)
    }

    /// Bytes of a file.
    pub(super) fn bytes(self, id: u64, offset: u64, bytes: &[u8]) -> Self {
        self.data(0x14, &[&number(id), &number(offset), bytes].concat())
    }

    /// The end of a file of so many bytes, with a digest that may be wrong.
    pub(super) fn end(self, id: u64, size: u64, digest: [u8; 32]) -> Self {
        self.data(
            0x16,
            &[number(id), vec![0], number(size), digest.to_vec()].concat(),
        )
    }

    /// A trouble of the other end's, which is about nothing.
    pub(super) fn trouble(self, place: &[u8], note: &[u8]) -> Self {
        self.control(0x20, &[vec![1], text(place), text(note)].concat())
    }

    /// So many entries were all.
    pub(super) fn finished(self, entries: u64) -> Self {
        self.control(0x21, &number(entries)).on_stream(1, &[])
    }
}

/// One frame.
fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], number(body.len() as u64).as_slice(), body].concat()
}

/// A length and as many bytes.
fn text(bytes: &[u8]) -> Vec<u8> {
    [&number(bytes.len() as u64), bytes].concat()
}

/// A number as RFC 9000 §16 writes it.
pub(super) fn number(value: u64) -> Vec<u8> {
    match value {
        0..0x40 => vec![value.to_be_bytes()[7]],
        0x40..0x4000 => (value | 0x4000).to_be_bytes()[6..].to_vec(),
        0x4000..0x4000_0000 => (value | 0x8000_0000).to_be_bytes()[4..].to_vec(),
        _ => (value | 0xc000_0000_0000_0000).to_be_bytes().to_vec(),
    }
}

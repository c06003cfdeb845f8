//! A receiver says what it has of large files (docs/copy-protocol.md §7).

use super::*;
use crate::digest::ChunkDigest;
use crate::streams::Arrived;
use crate::support::tree;

impl Attack {
    /// Returns true if exactly this has been said on the control stream so far, after the greeting and the answer.
    fn has_said(&mut self, frames: &[Frame]) -> bool {
        self.link.deliver_all();
        let mut said = Vec::new();
        while let Arrived::Bytes(bytes) = self.peer.read(StreamId::CONTROL, usize::MAX) {
            said.extend_from_slice(&bytes);
        }
        let ready = Frame::Ready { into_folder: true };
        let ready = encoded(&[ready]).len();
        let hello = Frame::Hello {
            version: 1,
            features: 0,
        };
        said.split_off(encoded(&[hello]).len() + ready) == encoded(frames)
    }
}

#[test]
fn of_each_large_file_it_is_said_what_is_there() {
    let checked = Frame::Checked {
        id: EntryId(0),
        chunks: 2,
    };
    for (flags, said) in [
        (ALL, std::slice::from_ref(&checked)),
        (Flags::RECURSIVE, &[]),
        (ALL | Flags::IN_ORDER, &[]),
    ] {
        let mut attack = Attack::new(flags);
        assert_eq!(attack.run(&[on(1, file(0, LARGE))]), Ok(Poll::Waiting));
        assert!(attack.has_said(said), "{flags:?}");
    }
}

#[test]
fn what_is_there_is_said_before_how_far_was_looked() {
    let mut attack = Attack::new(ALL);
    let bytes = pattern(0, 0, LARGE as usize);
    let node = tree::file(bytes);
    attack.target.tree.insert(path("r/0"), node);
    assert_eq!(attack.run(&[on(1, file(0, LARGE))]), Ok(Poll::Waiting));
    let chunk = |offset: u64, length: u64| {
        let mut digest = ChunkDigest::default();
        digest.update(&pattern(0, offset, length as usize));
        digest.finish()
    };
    let id = EntryId(0);
    let digests = vec![chunk(0, CHUNK), chunk(CHUNK, LARGE - CHUNK)];
    let have = Frame::Have {
        id,
        first: 0,
        digests,
    };
    assert!(attack.has_said(&[have, Frame::Checked { id, chunks: 2 }]));
}

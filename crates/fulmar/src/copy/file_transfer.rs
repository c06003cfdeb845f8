//! The transfer of files once there are streams: either end sends or receives.

use std::os::fd::BorrowedFd;

use bytes::Bytes;
use fulmar_copy::{
    Arrived, CopyEvent, Entry, EntryError, EntryId, ExistingFile, NextEntry, Occupant, PartialFile,
    Piece, Poll, Progress, ProtocolError, Receiver, RelativePath, Sender, Settled, Source,
    StreamId, Streams, Target, Totals,
};
use fulmar_platform::Interest;
use fulmar_quic::Connection;
use fulmar_tree::{PipeSource, PipeTarget, TreeSource, TreeTarget};

use super::ssh_streams::SshStreams;

/// The files that this end sends.
#[derive(Debug)]
pub(super) enum CopySource {
    /// The files that the user has named.
    Tree(TreeSource),
    /// Standard input, and whether it is to be waited for.
    Pipe(PipeSource, bool),
}

/// The place of the files that this end receives.
#[derive(Debug)]
pub(super) enum CopyTarget {
    /// The folder or file that the user has named.
    Tree(TreeTarget),
    /// Standard output.
    Pipe(PipeTarget),
}

/// One end that sends or receives files.
pub(super) enum FileTransfer {
    /// It has the files.
    Sending(Box<Sender>, CopySource),
    /// It gets them.
    Receiving(Box<Receiver>, CopyTarget),
}

impl FileTransfer {
    /// Does what can be done now, within a budget of bytes.
    ///
    /// # Errors
    ///
    /// When the other end breaks the rules.
    pub(super) fn poll(
        &mut self,
        streams: &mut impl Streams,
        budget: usize,
    ) -> Result<Poll, ProtocolError> {
        match self {
            FileTransfer::Sending(sender, source) => sender.poll(source, streams, budget),
            FileTransfer::Receiving(receiver, target) => receiver.poll(target, streams, budget),
        }
    }

    /// Returns the next piece of news.
    pub(super) fn poll_event(&mut self) -> Option<CopyEvent> {
        match self {
            FileTransfer::Sending(sender, _) => sender.poll_event(),
            FileTransfer::Receiving(receiver, _) => receiver.poll_event(),
        }
    }

    /// Returns how far it is.
    pub(super) fn progress(&self) -> Progress {
        match self {
            FileTransfer::Sending(sender, _) => sender.progress(),
            FileTransfer::Receiving(receiver, _) => receiver.progress(),
        }
    }

    /// Returns the name of the file that is being copied.
    pub(super) fn current_file(&self) -> Option<&RelativePath> {
        match self {
            FileTransfer::Sending(_, CopySource::Pipe(..))
            | FileTransfer::Receiving(_, CopyTarget::Pipe(_)) => None,
            FileTransfer::Sending(sender, _) => sender.current_file(),
            FileTransfer::Receiving(receiver, _) => receiver.current_file(),
        }
    }

    /// Returns what it came to, once it is done.
    pub(super) fn totals(&self) -> Option<Totals> {
        match self {
            FileTransfer::Sending(sender, _) => sender.totals(),
            FileTransfer::Receiving(receiver, _) => receiver.totals(),
        }
    }

    /// Ends it as it is. What is there of files is kept for another try.
    pub(super) fn interrupt(&mut self) {
        if let FileTransfer::Receiving(receiver, target) = self {
            receiver.interrupt(target);
        }
    }

    /// Tells if everything that was received is where it belongs.
    pub(super) fn is_written(&mut self) -> bool {
        match self {
            FileTransfer::Sending(..) => true,
            FileTransfer::Receiving(_, target) => target.is_ready(),
        }
    }

    /// Returns what is to be waited for besides the streams.
    pub(super) fn awaited(&mut self) -> Option<(BorrowedFd<'_>, Interest)> {
        match self {
            FileTransfer::Sending(_, CopySource::Pipe(source, true)) => {
                Some((source.pipe(), Interest::Read))
            }
            FileTransfer::Sending(..) => None,
            FileTransfer::Receiving(_, target) => {
                if target.is_ready() {
                    None
                } else {
                    target.pipe().map(|pipe| (pipe, Interest::Write))
                }
            }
        }
    }
}

impl CopyTarget {
    fn pipe(&self) -> Option<BorrowedFd<'_>> {
        match self {
            CopyTarget::Tree(target) => target.pipe(),
            CopyTarget::Pipe(target) => Some(target.pipe()),
        }
    }
}

impl Source for CopySource {
    fn next_entry(&mut self, id: EntryId) -> NextEntry {
        match self {
            CopySource::Tree(source) => source.next_entry(id),
            CopySource::Pipe(source, _) => source.next_entry(id),
        }
    }

    fn read(&mut self, id: EntryId, offset: u64, limit: usize) -> Result<Piece, EntryError> {
        match self {
            CopySource::Tree(source) => source.read(id, offset, limit),
            CopySource::Pipe(source, is_waiting) => {
                let outcome = source.read(id, offset, limit);
                *is_waiting = matches!(outcome, Ok(Piece::NotNow));
                outcome
            }
        }
    }

    fn close(&mut self, id: EntryId) -> Settled {
        match self {
            CopySource::Tree(source) => source.close(id),
            CopySource::Pipe(source, _) => source.close(id),
        }
    }
}

/// Hands a call on to whichever target it is.
macro_rules! either {
    ($either:expr, $target:ident => $call:expr) => {
        match $either {
            CopyTarget::Tree($target) => $call,
            CopyTarget::Pipe($target) => $call,
        }
    };
}

impl Target for CopyTarget {
    fn place(&self, path: &RelativePath) -> Vec<u8> {
        either!(self, target => target.place(path))
    }

    fn is_ready(&mut self) -> bool {
        either!(self, target => target.is_ready())
    }

    fn begin(&mut self, id: EntryId, entry: &Entry) -> Result<ExistingFile, EntryError> {
        either!(self, target => target.begin(id, entry))
    }

    fn write(&mut self, id: EntryId, offset: u64, bytes: &[u8]) -> Result<(), EntryError> {
        either!(self, target => target.write(id, offset, bytes))
    }

    fn zeros(&mut self, id: EntryId, offset: u64, length: u64) -> Result<(), EntryError> {
        either!(self, target => target.zeros(id, offset, length))
    }

    fn read_back(&mut self, id: EntryId, offset: u64, limit: usize) -> Result<Bytes, EntryError> {
        either!(self, target => target.read_back(id, offset, limit))
    }

    fn commit(&mut self, id: EntryId, size: u64) -> Result<(), EntryError> {
        either!(self, target => target.commit(id, size))
    }

    fn keep(&mut self, id: EntryId) -> Result<(), EntryError> {
        either!(self, target => target.keep(id))
    }

    fn abandon(&mut self, id: EntryId, parts: PartialFile) {
        either!(self, target => target.abandon(id, parts));
    }

    fn folder(&mut self, entry: &Entry) -> Result<(), EntryError> {
        either!(self, target => target.folder(entry))
    }

    fn link(&mut self, entry: &Entry) -> Result<(), EntryError> {
        either!(self, target => target.link(entry))
    }

    fn leave(&mut self, entry: &Entry) -> Result<(), EntryError> {
        either!(self, target => target.leave(entry))
    }

    fn look(&mut self, entry: &Entry) -> Result<Occupant, EntryError> {
        either!(self, target => target.look(entry))
    }
}

/// The streams of either transport.
enum TransportStreams<'a> {
    /// QUIC.
    Udp(&'a mut Connection),
    /// ssh's own input and output.
    Ssh(&'a mut SshStreams),
}

/// The streams, and how much has gone over them.
pub(super) struct CountedStreams<'a> {
    streams: TransportStreams<'a>,
    moved: u64,
}

impl<'a> CountedStreams<'a> {
    /// Returns the streams of QUIC.
    pub(super) fn udp(connection: &'a mut Connection) -> CountedStreams<'a> {
        let streams = TransportStreams::Udp(connection);
        CountedStreams { streams, moved: 0 }
    }

    /// Returns the streams of ssh's pipes.
    pub(super) fn ssh(streams: &'a mut SshStreams) -> CountedStreams<'a> {
        let streams = TransportStreams::Ssh(streams);
        CountedStreams { streams, moved: 0 }
    }

    /// Returns how many bytes were written and read.
    pub(super) fn moved(&self) -> u64 {
        self.moved
    }
}

impl Streams for CountedStreams<'_> {
    fn count(&self) -> usize {
        match &self.streams {
            TransportStreams::Udp(connection) => connection.streams(),
            TransportStreams::Ssh(streams) => streams.count(),
        }
    }

    fn room(&mut self, stream: StreamId) -> usize {
        match &mut self.streams {
            TransportStreams::Udp(connection) => connection.room(quic_stream(stream)),
            TransportStreams::Ssh(streams) => streams.room(stream),
        }
    }

    fn write(&mut self, stream: StreamId, bytes: &mut Bytes) {
        let before = bytes.len();
        match &mut self.streams {
            TransportStreams::Udp(connection) => connection.write(quic_stream(stream), bytes),
            TransportStreams::Ssh(streams) => streams.write(stream, bytes),
        }
        self.moved += before.saturating_sub(bytes.len()) as u64;
    }

    fn read(&mut self, stream: StreamId, limit: usize) -> Arrived {
        let arrived = match &mut self.streams {
            TransportStreams::Udp(connection) => {
                match connection.read(quic_stream(stream), limit) {
                    Some(bytes) => Arrived::Bytes(bytes),
                    None if connection.is_ended(quic_stream(stream)) => Arrived::Ended,
                    None => Arrived::Nothing,
                }
            }
            TransportStreams::Ssh(streams) => streams.read(stream, limit),
        };
        if let Arrived::Bytes(bytes) = &arrived {
            self.moved += bytes.len() as u64;
        }
        arrived
    }

    fn finish(&mut self, stream: StreamId) {
        match &mut self.streams {
            TransportStreams::Udp(connection) => connection.finish(quic_stream(stream)),
            TransportStreams::Ssh(streams) => streams.finish(stream),
        }
    }
}

fn quic_stream(stream: StreamId) -> fulmar_quic::StreamId {
    fulmar_quic::StreamId::new(stream.0)
}

use super::super::path_handler::{Handled, Report};
use super::*;

/// Keeps what it is handed; what begins with `g` is authentic.
#[derive(Default)]
struct Handler {
    datagrams: Vec<Vec<u8>>,
}

impl PathHandler for Handler {
    fn handle_datagram(&mut self, arrival: Arrival<'_>) -> Handled {
        self.datagrams.push(arrival.bytes.to_vec());
        Handled {
            is_genuine: arrival.bytes.first() == Some(&b'g'),
            ..Handled::NOTHING
        }
    }

    fn handle_report(&mut self, _report: Report) {}
}

fn path() -> StreamPath {
    StreamPath::new(PathId::new(FIRST_STREAM_PATH), b"")
}

fn batch(bytes: &[u8], segment: usize) -> Batch<'_> {
    Batch {
        path: PathId::new(FIRST_STREAM_PATH),
        ecn: Ecn::NotCapable,
        segment,
        bytes,
        is_whole: false,
    }
}

/// Has the path read all of it, in one turn with room for so many datagrams.
fn receive(path: &mut StreamPath, mut bytes: &[u8], datagrams: usize) -> (Handler, bool) {
    let mut handler = Handler::default();
    let is_genuine = path.receive(&mut TurnBudget::of(datagrams), &mut handler, |buffer| {
        if bytes.is_empty() {
            return Ok(Transfer::WouldBlock);
        }
        Ok(Transfer::Bytes(io::Read::read(&mut bytes, buffer)?))
    });
    (handler, is_genuine)
}

#[test]
fn what_a_turn_sends_is_one_write() {
    let mut sent = path();
    sent.send(&batch(b"aaabbbcc", 3)).unwrap();
    sent.send(&batch(b"g", 1200)).unwrap();
    let mut writes = Vec::new();
    sent.flush(|bytes| {
        writes.push(bytes.to_vec());
        Ok(Transfer::Bytes(bytes.len()))
    });
    assert_eq!(writes, [b"\0\x03aaa\0\x03bbb\0\x02cc\0\x01g"]);
    assert!(!sent.wants_room());
    let (handler, is_genuine) = receive(&mut path(), &writes.concat(), 9);
    assert_eq!(handler.datagrams, [&b"aaa"[..], b"bbb", b"cc", b"g"]);
    assert!(is_genuine);
}

#[test]
fn a_reader_that_is_full_costs_datagrams_and_blocks_nobody() {
    let mut full = path();
    let datagram = [1; 1000];
    let taken = (0..1000).filter(|_| full.send(&batch(&datagram, 1000)).is_ok());
    assert!(taken.count() < 66);
    assert_eq!(full.send(&batch(&datagram, 1000)), Err(SendError::NoRoom));
    full.flush(|_| Ok(Transfer::WouldBlock));
    assert!(full.wants_room() && !full.is_gone());
    full.flush(|bytes| Ok(Transfer::Bytes(bytes.len().min(1500))));
    assert_eq!(full.send(&batch(&datagram, 1000)), Ok(()));
}

#[test]
fn a_flood_takes_several_turns() {
    let mut flooded = path();
    let flood = b"\0\x01x".repeat(100);
    let (handler, _) = receive(&mut flooded, &flood, 64);
    assert_eq!(handler.datagrams.len(), 64);
    assert!(flooded.has_more());
    let (handler, _) = receive(&mut flooded, b"", 64);
    assert_eq!(handler.datagrams.len(), 36);
    assert!(!flooded.has_more());
}

#[test]
fn a_broken_pipe_or_nonsense_is_a_path_that_is_gone() {
    for nonsense in [&b"\0\x01x\0\0"[..], b"\0\x01x\xff\xffxx", b"\0\x01xFULMAR"] {
        let mut read = path();
        let (handler, _) = receive(&mut read, nonsense, 64);
        assert_eq!(handler.datagrams, [b"x"]);
        assert!(read.is_gone() && !read.has_more());
        assert_eq!(read.send(&batch(b"x", 1)), Err(SendError::Unreachable));
    }
    let mut ended = path();
    ended.receive(&mut TurnBudget::of(9), &mut Handler::default(), |_| {
        Ok(Transfer::Closed)
    });
    assert!(ended.is_gone());
    let mut broken = path();
    broken.send(&batch(b"x", 1)).unwrap();
    broken.flush(|_| Err(io::ErrorKind::BrokenPipe.into()));
    assert!(broken.is_gone() && !broken.wants_room());
}

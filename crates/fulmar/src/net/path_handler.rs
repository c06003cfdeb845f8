//! The protocols above UDP: sessions and copies, at either end.

use fulmar_base::{PathId, SendError};
use fulmar_platform::udp::Datagram;
use fulmar_transport::Arrival;

/// A protocol whose datagrams go over paths.
pub(crate) trait PathHandler {
    /// Takes note that datagrams were received, which are handed over next.
    fn note_arrival(&mut self) {}

    /// Takes a datagram.
    fn handle_datagram(&mut self, arrival: Arrival<'_>) -> Handled;

    /// Takes note of an ICMP error.
    fn handle_report(&mut self, report: Report);

    /// Tells if a path is one that the protocol may still send on, and so must not be forgotten.
    fn remembers(&self, _path: PathId) -> bool {
        false
    }
}

/// The outcome of handling a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handled {
    /// True if it was authentic.
    pub(crate) is_genuine: bool,
    /// True if it also proves where the peer is: in a session one that is newer than all before, in a copy any, since
    /// QUIC accepts each packet once.
    pub(crate) is_fresh: bool,
    /// The work that it has made, in units of [`fulmar_transport::WorkBudget`].
    pub(crate) work: u64,
}

impl Handled {
    /// It told nothing.
    pub(crate) const NOTHING: Handled = Handled {
        is_genuine: false,
        is_fresh: false,
        work: 0,
    };
}

/// An ICMP error about a datagram of ours. It may be forged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// The path of the datagram, as far as it is known.
    pub(crate) path: Option<PathId>,
    /// The meaning of the error.
    pub(crate) error: SendError,
    /// True if it comes from the peer's own address.
    pub(crate) is_of_peer: bool,
    /// True if it comes from an address of this machine: the next hop does not answer.
    pub(crate) is_of_this_machine: bool,
    /// True if it concerns every address that the peer may have.
    pub(crate) is_of_all: bool,
}

/// Returns a datagram of the system as one that has come over a path.
pub(super) fn arrival<'a>(path: PathId, datagram: &Datagram<'a>) -> Arrival<'a> {
    Arrival {
        path,
        ecn: datagram.ecn,
        bytes: datagram.bytes,
    }
}

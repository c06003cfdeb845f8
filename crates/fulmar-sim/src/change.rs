//! The changes that can happen during a run, as plain data.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::clock::Jump;
use crate::datagram::HostId;
use crate::host::LinkDirection;
use crate::impairment::Impairment;
use fulmar_base::Hint;

/// One change of the network or of a host.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// New settings for the first stage of that kind on the path, or a new stage at its far end.
    Set(HostId, LinkDirection, Impairment),
    /// The host has this one address in place of those it had.
    Move(HostId, SocketAddr),
    /// The host has some other address in place of those it had, a new one each time.
    MoveOn(HostId),
    /// The host has this address besides those it had, and sends from it.
    Bind(HostId, SocketAddr),
    /// The host gives this address up.
    Unbind(HostId, SocketAddr),
    /// The host's translator forgets its mappings: the next datagram comes from another port.
    RebindNat(HostId),
    /// The host's translator gets another outside address, and forgets its mappings.
    MoveNat(HostId, IpAddr),
    /// Nothing enters or leaves the host any more, in either direction and without a word.
    Cut(HostId),
    /// The host's link works again.
    Restore(HostId),
    /// The host is suspended: what reaches it is lost, its program does nothing, its clock goes on.
    Suspend(HostId),
    /// The host runs again, and its program gets [`Hint::Woke`].
    Wake(HostId),
    /// The host's clock jumps.
    Jump(HostId, Jump),
    /// The host's system tells its program something.
    Hint(HostId, Hint),
}

impl Change {
    /// Returns the host that it is about.
    #[must_use]
    pub fn host(&self) -> HostId {
        match self {
            Self::Set(host, ..)
            | Self::Move(host, _)
            | Self::MoveOn(host)
            | Self::Bind(host, _)
            | Self::Unbind(host, _)
            | Self::RebindNat(host)
            | Self::MoveNat(host, _)
            | Self::Cut(host)
            | Self::Restore(host)
            | Self::Suspend(host)
            | Self::Wake(host)
            | Self::Jump(host, _)
            | Self::Hint(host, _) => *host,
        }
    }
}

/// Says what happens, to be read behind the name of the host.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set(_, LinkDirection::Up, impairment) => write!(f, "way up is {impairment:?}"),
            Self::Set(_, LinkDirection::Down, impairment) => {
                write!(f, "way down is {impairment:?}")
            }
            Self::Move(_, to) => write!(f, "moves to {to}"),
            Self::MoveOn(_) => f.write_str("moves on"),
            Self::Bind(_, address) => write!(f, "binds {address}"),
            Self::Unbind(_, address) => write!(f, "unbinds {address}"),
            Self::RebindNat(_) => f.write_str("translator forgets its mappings"),
            Self::MoveNat(_, outside) => write!(f, "translator moves to {outside}"),
            Self::Cut(_) => f.write_str("link is cut"),
            Self::Restore(_) => f.write_str("link is restored"),
            Self::Suspend(_) => f.write_str("is suspended"),
            Self::Wake(_) => f.write_str("wakes"),
            Self::Jump(_, Jump::Forward(by)) => write!(f, "clock jumps forward by {by:?}"),
            Self::Jump(_, Jump::Backward(by)) => write!(f, "clock jumps back by {by:?}"),
            Self::Hint(_, Hint::Woke { slept }) => write!(f, "learns that it slept {slept:?}"),
            Self::Hint(_, Hint::AddressChanged) => f.write_str("learns of a new address"),
            Self::Hint(_, Hint::LinkUp) => f.write_str("learns that a link is up"),
        }
    }
}

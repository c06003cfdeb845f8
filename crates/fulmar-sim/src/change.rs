//! What can change during a run, as plain data.

use std::net::{IpAddr, SocketAddr};

use crate::clock::Jump;
use crate::datagram::HostId;
use crate::host::Way;
use crate::impairment::Impairment;
use crate::node::Hint;

/// One change of the network or of a host.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// New settings for the first stage of that kind on the path, or a new stage at its far end.
    Set(HostId, Way, Impairment),
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
    /// The host is suspended: what reaches it is lost, its program does nothing, its clock goes on.
    Suspend(HostId),
    /// The host runs again, and its program gets [`Hint::Woke`].
    Wake(HostId),
    /// The host's clock jumps.
    Jump(HostId, Jump),
    /// The host's system tells its program something.
    Hint(HostId, Hint),
}

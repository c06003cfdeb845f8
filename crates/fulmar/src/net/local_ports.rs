//! Sockets for each local port in use.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use fulmar_base::{AddressFamily, PathId};
use fulmar_login::CandidateAddresses;
use fulmar_platform::{Interest, UdpSocket};

use crate::net::listening::Listening;
use crate::reactor::{Registry, Token};

/// Open sockets. Each path is a local port, or one of each family as long as it is not known in which
/// the remote end answers.
#[derive(Debug, Default)]
pub(crate) struct LocalPorts {
    /// The sockets.
    pub(crate) open: Vec<Open>,
    next: u64,
}

/// The socket of a path, for one family of addresses.
#[derive(Debug)]
pub(crate) struct Open {
    /// The path.
    pub(crate) path: PathId,
    /// The family.
    pub(crate) family: AddressFamily,
    /// Its socket.
    pub(crate) listening: Listening,
}

impl LocalPorts {
    /// Opens a path from a local port that was not used before, in the families of the candidates.
    ///
    /// # Errors
    ///
    /// When the system has no port or descriptor left, or none of these families.
    pub(crate) fn open(
        &mut self,
        candidates: &CandidateAddresses,
        bind: impl Fn(SocketAddr) -> io::Result<UdpSocket>,
    ) -> io::Result<PathId> {
        let path = PathId::new(self.next);
        let mut outcome = Err(io::ErrorKind::AddrNotAvailable.into());
        for family in AddressFamily::ALL {
            if !candidates.uses_family(family) {
                continue;
            }
            match bind(anywhere(family)) {
                Ok(socket) => {
                    outcome = Ok(path);
                    self.open.push(Open {
                        path,
                        family,
                        listening: Listening::to(socket),
                    });
                }
                Err(error) if outcome.is_err() => outcome = Err(error),
                Err(error) => tracing::info!(%error, ?family, "no socket of that family"),
            }
        }
        // A number is never used for another path, not even after a failure.
        self.next += 1;
        outcome
    }

    /// Closes a path.
    pub(crate) fn close(&mut self, path: PathId) {
        self.open.retain(|open| open.path != path);
    }

    /// Closes all paths but the last.
    pub(crate) fn close_older(&mut self) {
        let last = self.next.checked_sub(1).map(PathId::new);
        self.open.retain(|open| Some(open.path) == last);
    }

    /// Closes what was only needed as long as the remote end could be anywhere.
    pub(crate) fn settle(&mut self, peer: SocketAddr) {
        let family = AddressFamily::of(peer.ip());
        self.open.retain(|open| open.family == family);
    }

    /// Registers the sockets, each for what is usual on its path.
    pub(crate) fn register<'fd>(
        &'fd self,
        registry: &mut Registry<'fd>,
        usual: impl Fn(PathId) -> Interest,
    ) {
        for (index, open) in self.open.iter().enumerate() {
            let interest = open.listening.interest(usual(open.path));
            registry.add(Token::Socket(index), &open.listening.socket, interest);
        }
    }

    /// Returns the socket that was registered at that place.
    pub(crate) fn at(&mut self, index: usize) -> Option<&mut Open> {
        self.open.get_mut(index)
    }

    /// Returns the socket of a path that reaches an address, if it is open.
    pub(crate) fn socket(&mut self, path: PathId, address: SocketAddr) -> Option<&mut UdpSocket> {
        let family = AddressFamily::of(address.ip());
        let is_way = |open: &&mut Open| open.path == path && open.family == family;
        let open = self.open.iter_mut().find(is_way)?;
        Some(&mut open.listening.socket)
    }
}

fn anywhere(family: AddressFamily) -> SocketAddr {
    let address: IpAddr = match family {
        AddressFamily::Ipv4 => Ipv4Addr::UNSPECIFIED.into(),
        AddressFamily::Ipv6 => Ipv6Addr::UNSPECIFIED.into(),
    };
    (address, 0).into()
}

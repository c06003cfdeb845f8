//! A socket that is listened to as long as that works.

use fulmar_platform::udp::{Inbox, Received};
use fulmar_platform::{Interest, UdpSocket};

/// A bound socket.
#[derive(Debug)]
pub(crate) struct Listening {
    /// The socket, to be sent on and to be put on a list.
    pub(crate) socket: UdpSocket,
    /// Receiving fails for good. It is not tried again, for it would be ready at once for ever.
    has_failed: bool,
}

impl Listening {
    /// Takes over a socket.
    pub(crate) fn to(socket: UdpSocket) -> Listening {
        Listening {
            socket,
            has_failed: false,
        }
    }

    /// Returns what is to be waited for, which is `usual` as long as something can come.
    pub(crate) fn interest(&self, usual: Interest) -> Interest {
        if self.has_failed {
            Interest::Nothing
        } else {
            usual
        }
    }

    /// Receives into `inbox` what has come, at most as many datagrams as the budget has, and takes them
    /// off it. `None` if nothing may be received any more.
    pub(crate) fn receive(&mut self, inbox: &mut Inbox, budget: &mut usize) -> Option<Received> {
        if self.has_failed || *budget == 0 {
            return None;
        }
        match self.socket.receive(inbox, *budget) {
            Ok(received) => {
                *budget = budget.saturating_sub(received.datagrams);
                Some(received)
            }
            Err(error) => {
                tracing::error!(%error, "receiving");
                self.has_failed = true;
                None
            }
        }
    }
}

//! Tells what a refusal of the system means.

use fulmar_base::SendError;
use std::io;

/// The reason why a datagram was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The system's queue is full: try when the socket is writable.
    WouldBlock,
    /// Too long for the link, or for UDP.
    TooBig,
    /// The host has answered that nobody listens on that port.
    Refused,
    /// There is no way to that host from here.
    Unreachable,
    /// The address to send from is not ours.
    SourceGone,
    /// A firewall of this machine, or its policy, forbids it.
    NotPermitted,
    /// The system has no memory or queue space for it: it passes.
    NoBuffers,
    /// Anything else, with the system's number for it.
    Other(i32),
}

impl Refusal {
    pub(super) fn of(error: &io::Error) -> Self {
        match (error.raw_os_error(), error.kind()) {
            (Some(number), _) => Self::of_errno(number),
            (None, io::ErrorKind::WouldBlock) => Self::WouldBlock,
            (None, _) => Self::Other(libc::EIO),
        }
    }

    pub(super) fn of_errno(number: i32) -> Self {
        match number {
            // The two are one number on most systems.
            number if number == libc::EAGAIN || number == libc::EWOULDBLOCK => Self::WouldBlock,
            libc::EMSGSIZE => Self::TooBig,
            libc::ECONNREFUSED => Self::Refused,
            libc::EHOSTUNREACH
            | libc::ENETUNREACH
            | libc::EHOSTDOWN
            | libc::ENETDOWN
            | libc::ENOPROTOOPT
            | libc::EPROTO
            | libc::EAFNOSUPPORT => Self::Unreachable,
            libc::EADDRNOTAVAIL => Self::SourceGone,
            libc::EPERM | libc::EACCES => Self::NotPermitted,
            libc::ENOBUFS | libc::ENOMEM => Self::NoBuffers,
            number => Self::Other(number),
        }
    }

    /// Returns what it means to whoever has no sockets.
    pub(super) fn meaning(self) -> SendError {
        match self {
            Self::TooBig => SendError::TooBig,
            Self::Refused => SendError::Refused,
            Self::Unreachable => SendError::Unreachable,
            Self::SourceGone => SendError::SourceGone,
            Self::NotPermitted => SendError::Forbidden,
            Self::WouldBlock | Self::NoBuffers => SendError::NoRoom,
            Self::Other(_) => SendError::Other,
        }
    }

    /// True when the system may have said this because of an earlier datagram: Linux turns ICMP
    /// messages into these errors.
    pub(super) fn may_be_of_another(self) -> bool {
        match self {
            Self::Refused
            | Self::Unreachable
            | Self::SourceGone
            | Self::TooBig
            | Self::NotPermitted => true,
            Self::WouldBlock | Self::NoBuffers | Self::Other(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_of_sending_is_sorted_by_what_it_means() {
        let table = [
            (libc::EAGAIN, Refusal::WouldBlock),
            (libc::EMSGSIZE, Refusal::TooBig),
            (libc::ECONNREFUSED, Refusal::Refused),
            (libc::EHOSTUNREACH, Refusal::Unreachable),
            (libc::ENETUNREACH, Refusal::Unreachable),
            (libc::ENETDOWN, Refusal::Unreachable),
            (libc::EADDRNOTAVAIL, Refusal::SourceGone),
            (libc::EPERM, Refusal::NotPermitted),
            (libc::EACCES, Refusal::NotPermitted),
            (libc::ENOBUFS, Refusal::NoBuffers),
            (libc::ENOMEM, Refusal::NoBuffers),
            (libc::EBADF, Refusal::Other(libc::EBADF)),
        ];
        for (number, meaning) in table {
            assert_eq!(Refusal::of(&io::Error::from_raw_os_error(number)), meaning);
        }
    }
}

//! Tells what a refusal of the system means.

use std::io;

/// Why a datagram was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The system's queue is full: try when the socket is writable.
    #[error("the send queue is full")]
    WouldBlock,
    /// Too long for the link, or for UDP.
    #[error("the datagram is too long for the network")]
    TooBig,
    /// The host has answered that nobody listens on that port.
    #[error("nothing listens on that port")]
    Refused,
    /// There is no way to that host from here.
    #[error("the host cannot be reached")]
    Unreachable,
    /// A firewall of this machine, or its policy, forbids it.
    #[error("this machine does not permit it")]
    NotPermitted,
    /// The system has no memory or queue space for it: it passes.
    #[error("the system is out of buffers")]
    NoBuffers,
    /// Anything else, with the system's number for it.
    #[error("{}", io::Error::from_raw_os_error(*.0))]
    Other(i32),
}

impl SendError {
    pub(crate) fn of(error: &io::Error) -> Self {
        match (error.raw_os_error(), error.kind()) {
            (Some(number), _) => Self::of_errno(number),
            (None, io::ErrorKind::WouldBlock) => Self::WouldBlock,
            (None, _) => Self::Other(libc::EIO),
        }
    }

    pub(crate) fn of_errno(number: i32) -> Self {
        match number {
            // The two are one number on most systems.
            number if number == libc::EAGAIN || number == libc::EWOULDBLOCK => Self::WouldBlock,
            libc::EMSGSIZE => Self::TooBig,
            libc::ECONNREFUSED => Self::Refused,
            libc::EHOSTUNREACH
            | libc::ENETUNREACH
            | libc::EHOSTDOWN
            | libc::ENETDOWN
            | libc::EADDRNOTAVAIL
            | libc::ENOPROTOOPT
            | libc::EPROTO
            | libc::EAFNOSUPPORT => Self::Unreachable,
            libc::EPERM | libc::EACCES => Self::NotPermitted,
            libc::ENOBUFS | libc::ENOMEM => Self::NoBuffers,
            number => Self::Other(number),
        }
    }

    /// True when the system may have said this because of an earlier datagram: Linux turns ICMP
    /// messages into these errors.
    pub(crate) fn may_be_of_another(self) -> bool {
        match self {
            Self::Refused | Self::Unreachable | Self::TooBig | Self::NotPermitted => true,
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
            (libc::EAGAIN, SendError::WouldBlock),
            (libc::EMSGSIZE, SendError::TooBig),
            (libc::ECONNREFUSED, SendError::Refused),
            (libc::EHOSTUNREACH, SendError::Unreachable),
            (libc::ENETUNREACH, SendError::Unreachable),
            (libc::ENETDOWN, SendError::Unreachable),
            (libc::EADDRNOTAVAIL, SendError::Unreachable),
            (libc::EPERM, SendError::NotPermitted),
            (libc::EACCES, SendError::NotPermitted),
            (libc::ENOBUFS, SendError::NoBuffers),
            (libc::ENOMEM, SendError::NoBuffers),
            (libc::EBADF, SendError::Other(libc::EBADF)),
        ];
        for (number, meaning) in table {
            assert_eq!(
                SendError::of(&io::Error::from_raw_os_error(number)),
                meaning
            );
        }
    }

    #[test]
    fn an_unknown_error_reads_as_the_system_names_it() {
        let text = SendError::Other(libc::EBADF).to_string();
        assert!(text.contains("descriptor"), "{text}");
    }
}

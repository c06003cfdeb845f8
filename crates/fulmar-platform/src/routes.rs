//! Changes of the network that this machine is told of: addresses, links, routes.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;

/// The changes since the last look; there may be several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkChange {
    /// An address has come or gone.
    pub addresses: bool,
    /// A link has come up, or said so again.
    pub link_up: bool,
    /// A route has come or gone.
    pub routes: bool,
}

impl NetworkChange {
    /// True when nothing has changed.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    fn all() -> Self {
        Self {
            addresses: true,
            link_up: true,
            routes: true,
        }
    }
}

/// A socket that is readable when the network has changed.
///
/// It is a hint to look sooner. Who gets none notices the same things by their effects.
#[derive(Debug)]
pub struct RouteSocket {
    fd: OwnedFd,
}

impl RouteSocket {
    /// Opens the socket, or returns `None` where there is no such thing or it is not permitted.
    pub fn open() -> Option<Self> {
        #[cfg(target_os = "linux")]
        return linux::open().ok().map(|fd| Self { fd });
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Returns what has changed since the last call; nothing if the wake-up was for nothing.
    ///
    /// # Errors
    ///
    /// When the socket does not work any more; it is to be dropped then.
    pub fn drain(&self) -> io::Result<NetworkChange> {
        #[cfg(target_os = "linux")]
        return linux::drain(&self.fd);
        #[cfg(not(target_os = "linux"))]
        Ok(NetworkChange::all())
    }
}

impl AsFd for RouteSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::NetworkChange;
    use rustix::fd::OwnedFd;
    use rustix::io::{Errno, read};
    use rustix::net::netlink::SocketAddrNetlink;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with};
    use std::io;

    // Multicast groups and message types of <linux/rtnetlink.h>, flags of <linux/if.h>.
    const GROUP_LINK: u32 = 0x1;
    const GROUP_IPV4_ADDRESS: u32 = 0x10;
    const GROUP_IPV4_ROUTE: u32 = 0x40;
    const GROUP_IPV6_ADDRESS: u32 = 0x100;
    const GROUP_IPV6_ROUTE: u32 = 0x400;
    const NEW_LINK: u16 = 16;
    const NEW_ADDRESS: u16 = 20;
    const DELETED_ADDRESS: u16 = 21;
    const NEW_ROUTE: u16 = 24;
    const DELETED_ROUTE: u16 = 25;
    const LINK_IS_RUNNING: u32 = 0x40;

    /// `struct nlmsghdr`: length of the whole message (4), type (2), flags, sequence, sender.
    ///
    /// Source: netlink(7).
    const HEADER_BYTES: usize = 16;
    /// The offset at which `struct ifinfomsg`, which follows the header, keeps the flags of the link.
    const LINK_FLAGS_AT: usize = HEADER_BYTES + 8;
    /// The longest message that the kernel sends unasked fits into a page.
    ///
    /// Source: `NLMSG_GOODSIZE` of Linux, which is at most 8 KiB.
    const MESSAGE_MAX: usize = 8192;
    /// A machine whose network changes faster than this is read gets the rest in the next turn.
    const READS_PER_CALL: usize = 64;

    pub(super) fn open() -> io::Result<OwnedFd> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // Protocol 0 is that of routes.
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
        let groups = GROUP_LINK
            | GROUP_IPV4_ADDRESS
            | GROUP_IPV4_ROUTE
            | GROUP_IPV6_ADDRESS
            | GROUP_IPV6_ROUTE;
        bind(&socket, &SocketAddrNetlink::new(0, groups))?;
        Ok(socket)
    }

    pub(super) fn drain(socket: &OwnedFd) -> io::Result<NetworkChange> {
        let mut change = NetworkChange::default();
        let mut buffer = [0; MESSAGE_MAX];
        for _ in 0..READS_PER_CALL {
            match read(socket, &mut buffer) {
                Ok(length) => note(&buffer[..length], &mut change),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                // Messages were lost for want of room: it is not known what they said.
                Err(Errno::NOBUFS) => change = NetworkChange::all(),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(change)
    }

    /// Reads the messages of one datagram of the kernel.
    pub(super) fn note(mut messages: &[u8], change: &mut NetworkChange) {
        while let Some((length, kind)) = header(messages) {
            let Some(message) = messages.get(..length) else {
                return;
            };
            match kind {
                NEW_ADDRESS | DELETED_ADDRESS => change.addresses = true,
                NEW_ROUTE | DELETED_ROUTE => change.routes = true,
                NEW_LINK => change.link_up |= is_running(message),
                _ => {}
            }
            // Each message starts at a multiple of 4.
            messages = messages
                .get(length.next_multiple_of(4)..)
                .unwrap_or_default();
        }
    }

    fn header(messages: &[u8]) -> Option<(usize, u16)> {
        let (length, rest) = messages.split_first_chunk::<4>()?;
        let kind = u16::from_ne_bytes(*rest.first_chunk::<2>()?);
        let length = u32::from_ne_bytes(*length) as usize;
        (length >= HEADER_BYTES).then_some((length, kind))
    }

    fn is_running(message: &[u8]) -> bool {
        let flags = message
            .get(LINK_FLAGS_AT..)
            .and_then(|rest| rest.first_chunk::<4>());
        flags.is_some_and(|flags| u32::from_ne_bytes(*flags) & LINK_IS_RUNNING != 0)
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    /// A message with the header that the kernel would give it.
    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let length = (16 + body.len()) as u32;
        let mut message = [
            &length.to_ne_bytes()[..],
            &kind.to_ne_bytes(),
            &[0; 10],
            body,
        ]
        .concat();
        message.resize(message.len().next_multiple_of(4), 0);
        message
    }

    fn link(flags: u32) -> Vec<u8> {
        message(16, &[&[0; 8][..], &flags.to_ne_bytes(), &[0; 4]].concat())
    }

    fn changes(messages: &[u8]) -> NetworkChange {
        let mut change = NetworkChange::default();
        linux::note(messages, &mut change);
        change
    }

    #[test]
    fn each_kind_of_message_says_what_has_changed() {
        let nothing = NetworkChange::default();
        let addresses = NetworkChange {
            addresses: true,
            ..nothing
        };
        let routes = NetworkChange {
            routes: true,
            ..nothing
        };
        let link_up = NetworkChange {
            link_up: true,
            ..nothing
        };
        for (message, expected) in [
            (message(20, &[0; 8]), addresses),
            (message(21, &[0; 8]), addresses),
            (message(24, &[0; 12]), routes),
            (message(25, &[0; 12]), routes),
            (link(0x1043), link_up),
            (link(0x1003), nothing),
            (message(17, &[0; 16]), nothing),
            (message(3, &[]), nothing),
        ] {
            assert_eq!(changes(&message), expected, "{message:?}");
        }
    }

    #[test]
    fn all_messages_of_a_datagram_count() {
        let messages = [link(0x40), message(20, &[0; 5]), message(24, &[0; 12])].concat();
        assert_eq!(changes(&messages), NetworkChange::all());
    }

    #[test]
    fn a_message_cut_short_anywhere_is_left_out() {
        let messages = [message(20, &[0; 8]), link(0x40)].concat();
        let first = message(20, &[0; 8]).len();
        for end in 0..messages.len() {
            let change = changes(&messages[..end]);
            assert_eq!(change.addresses, end >= first, "cut at {end}");
            assert!(!change.link_up, "cut at {end}");
        }
    }

    #[test]
    fn lengths_that_lie_end_the_reading() {
        for length in [0_u32, 1, 15, u32::MAX] {
            let mut lying = message(20, &[0; 8]);
            lying[..4].copy_from_slice(&length.to_ne_bytes());
            assert!(changes(&lying).is_empty());
        }
    }

    #[test]
    fn a_link_that_comes_up_is_reported() {
        use crate::test_support::wait_readable;
        use rustix::thread::{UnshareFlags, unshare_unsafe};
        // In a thread, because that alone gets a network of its own.
        let reported = std::thread::spawn(|| {
            // SAFETY: descriptors stay shared; only the network of this thread is another.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.ok()?;
            let routes = RouteSocket::open().unwrap();
            assert!(routes.drain().unwrap().is_empty());
            bring_up(b"lo");
            wait_readable(&routes);
            Some(routes.drain().unwrap())
        });
        match reported.join().unwrap() {
            // The loopback link comes with its addresses and their routes.
            Some(change) => assert_eq!(change, NetworkChange::all()),
            None => crate::leave_out("only root gets a network of its own"),
        }
    }

    fn bring_up(link: &[u8]) {
        use rustix::fd::AsRawFd;
        let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
        // SAFETY: all zeros is a valid value of this structure of numbers and bytes.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(link) {
            *to = *from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
        // SAFETY: the request is what this ioctl reads, and outlives the call.
        let done =
            unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
        assert_eq!(done, 0, "{}", io::Error::last_os_error());
    }
}

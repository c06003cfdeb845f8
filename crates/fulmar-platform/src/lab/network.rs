//! A network of its own: a namespace without a name.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::io;
use std::panic::resume_unwind;

/// A network namespace: interfaces, addresses and routes apart from all others, at first a loopback
/// device that is down.
///
/// It has no name. It lasts while this value, a process inside or a socket of it does.
#[derive(Debug)]
pub struct Network {
    namespace: OwnedFd,
}

impl Network {
    /// Makes a network.
    ///
    /// # Errors
    ///
    /// Where that is not permitted, or `/proc` is not there.
    pub fn new() -> io::Result<Self> {
        // In a thread, because that alone gets another network.
        in_a_thread(|| {
            // SAFETY: descriptors stay shared; only the network of this thread is another.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            let namespace = open("/proc/thread-self/ns/net", flags, Mode::empty())?;
            Ok(Self { namespace })
        })
    }

    /// Calls `inside` in this network and returns its answer.
    ///
    /// Sockets and devices that it opens belong to this network for good, wherever they are used.
    /// Processes that it starts live in it. It runs in a thread of its own, so a process started
    /// there must not depend on the life of its parent thread.
    ///
    /// # Errors
    ///
    /// Where entering the network is not permitted. A panic inside goes on here.
    pub fn within<T: Send>(&self, inside: impl FnOnce() -> T + Send) -> io::Result<T> {
        in_a_thread(|| {
            let kind = LinkNameSpaceType::Network;
            move_into_link_name_space(self.namespace.as_fd(), Some(kind))?;
            Ok(inside())
        })
    }
}

impl AsFd for Network {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.namespace.as_fd()
    }
}

fn in_a_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::process::Command;

    /// Returns a network, or says that the test is left out.
    pub(crate) fn network() -> Option<Network> {
        let network = Network::new();
        if network.is_err() {
            eprintln!("LEFT OUT: only root gets a network of its own");
        }
        network.ok()
    }

    fn interfaces() -> String {
        std::fs::read_to_string("/proc/thread-self/net/dev").unwrap()
    }

    #[test]
    fn a_new_network_has_a_loopback_device_that_is_down() {
        let Some(network) = network() else { return };
        let (interfaces, sent) = network
            .within(|| {
                let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
                (interfaces(), socket.send_to(b"x", "127.0.0.1:9"))
            })
            .unwrap();
        assert_eq!(interfaces.lines().count(), 3, "{interfaces}");
        assert!(sent.is_err());
    }

    #[test]
    fn the_caller_stays_where_it_is() {
        let Some(network) = network() else { return };
        let before = interfaces();
        network.within(|| ()).unwrap();
        assert_eq!(before.lines().count(), interfaces().lines().count());
    }

    #[test]
    fn a_process_started_inside_lives_there() {
        let Some(network) = network() else { return };
        let link = |path: &str| std::fs::read_link(path).unwrap();
        let inside = network
            .within(|| {
                let process = Command::new("readlink")
                    .arg("/proc/self/ns/net")
                    .output()
                    .unwrap();
                (link("/proc/thread-self/ns/net"), process.stdout)
            })
            .unwrap();
        let process = String::from_utf8(inside.1).unwrap();
        assert_eq!(process.trim_end(), inside.0.to_str().unwrap());
        assert_ne!(inside.0, link("/proc/self/ns/net"));
    }

    #[test]
    #[should_panic(expected = "inside")]
    fn a_panic_inside_is_not_lost() {
        let Some(network) = network() else {
            panic!("left out, as if inside");
        };
        let _ = network.within(|| panic!("inside"));
    }
}

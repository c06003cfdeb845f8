//! A network of its own: a namespace without a name.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, fstat, open, stat};
use rustix::process::{Pid, Signal, kill_process};
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

/// An order to the processes of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// To stop, which none can refuse.
    Stop,
    /// To go on.
    GoOn,
    /// To end, which none can refuse either.
    End,
}

impl Network {
    /// Returns another value for the same network.
    ///
    /// # Errors
    ///
    /// When no descriptor is left.
    pub fn duplicate(&self) -> io::Result<Self> {
        let namespace = self.namespace.try_clone()?;
        Ok(Self { namespace })
    }

    /// Stops or ends all processes that are in this network, or lets them go on, and returns how many.
    ///
    /// A process that is started meanwhile may be missed.
    ///
    /// # Errors
    ///
    /// Where `/proc` is not there.
    pub fn halt(&self, halt: Halt) -> io::Result<usize> {
        let signal = match halt {
            Halt::Stop => Signal::STOP,
            Halt::GoOn => Signal::CONT,
            Halt::End => Signal::KILL,
        };
        let own = fstat(&self.namespace)?;
        let mut halted = 0;
        for entry in std::fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let pid = name.to_str().and_then(|name| name.parse().ok());
            let Some(pid) = pid.and_then(Pid::from_raw) else {
                continue;
            };
            // One that has gone meanwhile, or is not ours to look at, is not there for us.
            let path = format!("/proc/{}/ns/net", pid.as_raw_nonzero());
            let is_in =
                stat(path).is_ok_and(|its| (its.st_dev, its.st_ino) == (own.st_dev, own.st_ino));
            halted += usize::from(is_in && kill_process(pid, signal).is_ok());
        }
        Ok(halted)
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
            crate::leave_out("only root gets a network of its own");
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
    fn all_processes_inside_can_be_halted_and_no_others() {
        use rustix::process::{WaitOptions, waitpid};
        use std::os::unix::process::ExitStatusExt as _;
        let Some(network) = network() else { return };
        let sleeper = || Command::new("sleep").arg("1000").spawn().unwrap();
        let (mut outside, inside) = (sleeper(), network.within(|| [sleeper(), sleeper()]));
        assert_eq!(network.halt(Halt::Stop).unwrap(), 2);
        for child in &inside.as_ref().unwrap()[..] {
            let (_, status) = waitpid(Some(Pid::from_child(child)), WaitOptions::UNTRACED)
                .unwrap()
                .unwrap();
            assert!(status.stopped());
        }
        assert_eq!(network.halt(Halt::GoOn).unwrap(), 2);
        for child in &inside.as_ref().unwrap()[..] {
            let (_, status) = waitpid(Some(Pid::from_child(child)), WaitOptions::CONTINUED)
                .unwrap()
                .unwrap();
            assert!(status.continued());
        }
        assert_eq!(network.halt(Halt::End).unwrap(), 2);
        for mut child in inside.unwrap() {
            assert_eq!(child.wait().unwrap().signal(), Some(9));
        }
        assert_eq!(network.halt(Halt::End).unwrap(), 0);
        outside.kill().unwrap();
        outside.wait().unwrap();
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

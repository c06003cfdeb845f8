//! A network interface whose wire is a descriptor.

use crate::Transfer;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use std::io;

/// A TUN device: what the network sends out on it is read here packet by packet, and what is
/// written here arrives on it.
///
/// Packets are whole IP packets without anything in front. The device is gone when this value is.
#[derive(Debug)]
pub struct Tun {
    descriptor: OwnedFd,
}

impl Tun {
    /// Makes a device of this name in the network of the calling thread; it is down at first.
    ///
    /// # Errors
    ///
    /// Where there is no `/dev/net/tun`, making a device is not permitted, or there is one of that
    /// name. The name has at most 15 bytes.
    pub fn open(name: &str) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let descriptor = open("/dev/net/tun", flags, Mode::empty())?;
        let mut request = request(name)?;
        let kind = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_TUN_EXCL;
        // The kernel reads these 16 bits without a sign.
        request.ifr_ifru.ifru_flags = kind as libc::c_short;
        // SAFETY: the request is what this ioctl reads and writes, and outlives the call.
        let done =
            unsafe { libc::ioctl(descriptor.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { descriptor })
    }

    /// Reads one packet. One that is longer than `buffer` is cut off.
    ///
    /// # Errors
    ///
    /// When the device is gone.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Transfer> {
        Transfer::read(&self.descriptor, buffer)
    }

    /// Lets one packet arrive. [`Transfer::Closed`] means that the device is down.
    ///
    /// # Errors
    ///
    /// When it is no IP packet, or the device is gone.
    pub fn write(&self, packet: &[u8]) -> io::Result<Transfer> {
        Transfer::write(&self.descriptor, packet)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// An interface request that names a device and says nothing else.
fn request(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: all zeros is a valid value of this structure of numbers and bytes.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // One byte stays zero, to end the name.
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Network;
    use crate::test_support::wait_readable;
    use std::net::UdpSocket;
    use std::process::Command;
    use std::time::{Duration, Instant};

    fn ip(arguments: &str) {
        let status = Command::new("ip")
            .args(arguments.split(' '))
            .status()
            .unwrap();
        assert!(status.success(), "ip {arguments}: {status}");
    }

    /// Makes a network with a device that has the address 192.0.2.1/24.
    fn network_with_tun() -> Option<(Network, Tun)> {
        let Ok(network) = Network::new() else {
            crate::leave_out("only root gets a network of its own");
            return None;
        };
        if let Err(error) = Command::new("ip").arg("-V").output() {
            crate::leave_out(&format!("ip cannot be run: {error}"));
            return None;
        }
        let tun = network.within(|| {
            let tun = Tun::open("lab0").unwrap();
            ip("link set lab0 addrgenmode none");
            ip("addr add 192.0.2.1/24 dev lab0");
            ip("link set lab0 up");
            tun
        });
        Some((network, tun.unwrap()))
    }

    #[test]
    fn what_is_sent_is_read_and_what_is_written_arrives() {
        let Some((network, tun)) = network_with_tun() else {
            return;
        };
        let socket = network
            .within(|| UdpSocket::bind("192.0.2.1:0").unwrap())
            .unwrap();
        socket.connect("192.0.2.2:9").unwrap();
        socket.send(b"hello").unwrap();
        wait_readable(&tun);
        let mut packet = [0; 2000];
        assert_eq!(tun.read(&mut packet).unwrap(), Transfer::Bytes(33));
        assert_eq!(&packet[28..33], b"hello");
        assert_eq!(tun.read(&mut packet).unwrap(), Transfer::WouldBlock);

        // With the ends swapped it is the answer; that leaves both checksums as they are.
        let (addresses, ports) = (12..20, 20..24);
        packet[addresses].rotate_left(4);
        packet[ports].rotate_left(2);
        assert_eq!(tun.write(&packet[..33]).unwrap(), Transfer::Bytes(33));
        wait_readable(&socket);
        let mut answer = [0; 10];
        assert_eq!(socket.recv(&mut answer).unwrap(), 5);
    }

    #[test]
    fn a_device_is_gone_with_its_descriptor() {
        let Some((network, tun)) = network_with_tun() else {
            return;
        };
        let devices = || std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
        let is_there = || network.within(devices).unwrap().contains("lab0");
        assert!(is_there());
        drop(tun);
        // A child that a test beside this one has just forked has the descriptor until it runs its program.
        let deadline = Instant::now() + Duration::from_secs(10);
        while is_there() {
            assert!(Instant::now() < deadline, "the device is still there");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_name_that_is_taken_or_too_long_is_refused() {
        let Some((network, _tun)) = network_with_tun() else {
            return;
        };
        let errors = network
            .within(|| ["lab0", "", "sixteen-letters."].map(|name| Tun::open(name).is_err()));
        assert_eq!(errors.unwrap(), [true; 3]);
    }
}

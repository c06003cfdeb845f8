//! Receives datagrams with the time at which the kernel had them.

use rustix::fd::{AsFd, AsRawFd};
use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::time::Duration;

/// A datagram that was received, but for its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// Its length; at most that of the buffer.
    pub length: usize,
    /// The time at which the kernel had it, in [`wall_time`]; `None` where it did not say.
    pub at: Option<Duration>,
}

/// Returns the time of the wall clock since 1970: the clock of the stamps.
pub fn wall_time() -> Duration {
    // The clock of a machine that lives before 1970 is no use here.
    Duration::try_from(clock_gettime(ClockId::Realtime)).unwrap_or_default()
}

/// Asks for a stamp on everything that this socket receives from here on.
///
/// # Errors
///
/// When it is no socket.
pub fn stamp_arrivals(socket: impl AsFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = size_of_val(&on) as libc::socklen_t;
    // SAFETY: the option is a number of this length, which outlives the call.
    let done = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            length,
        )
    };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Gives a socket room for so many bytes, beyond what the system's limit allows.
///
/// # Errors
///
/// Where that is not permitted.
pub fn widen_receive_buffer(socket: impl AsFd, bytes: usize) -> io::Result<()> {
    Ok(set_socket_recv_buffer_size_force(socket, bytes)?)
}

/// Room for one stamp, aligned as the kernel writes it.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Receives one datagram with its stamp; waits as the socket does.
///
/// # Errors
///
/// Those of the socket, also that nothing came in time.
pub fn receive_stamped(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<Stamped> {
    let mut control = Control([0; 64]);
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: all zeros is a valid value: no name, no parts, no control data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control).cast();
    message.msg_controllen = size_of::<Control>() as _;
    // SAFETY: buffer, control data and header are ours, of the lengths given, and outlive the call.
    let length = unsafe { libc::recvmsg(socket.as_fd().as_raw_fd(), &raw mut message, 0) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    Ok(Stamped {
        length: length.min(buffer.len()),
        at: stamp(&message),
    })
}

/// Finds the stamp in the control data that the kernel has written.
fn stamp(message: &libc::msghdr) -> Option<Duration> {
    // SAFETY: the kernel has filled the control data of this header, which is still there, and the
    // macros stay within the length that it has noted.
    unsafe {
        let mut entry = libc::CMSG_FIRSTHDR(message);
        while let Some(header) = entry.as_ref() {
            let kind = (header.cmsg_level, header.cmsg_type);
            if kind == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
                let time: libc::timespec = libc::CMSG_DATA(entry)
                    .cast::<libc::timespec>()
                    .read_unaligned();
                let seconds = u64::try_from(time.tv_sec).ok()?;
                return Some(Duration::new(seconds, u32::try_from(time.tv_nsec).ok()?));
            }
            entry = libc::CMSG_NXTHDR(message, entry);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    fn pair() -> (UdpSocket, UdpSocket) {
        let [sender, receiver] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        (sender, receiver)
    }

    #[test]
    fn a_stamp_is_between_sending_and_receiving() {
        let (sender, receiver) = pair();
        stamp_arrivals(&receiver).unwrap();
        let before = wall_time();
        sender.send(b"hello").unwrap();
        let mut buffer = [0; 10];
        let received = receive_stamped(&receiver, &mut buffer).unwrap();
        let at = received.at.unwrap();
        assert!(before <= at && at <= wall_time(), "{before:?} {at:?}");
        assert_eq!((received.length, &buffer[..5]), (5, &b"hello"[..]));
    }

    #[test]
    fn without_asking_there_is_no_stamp() {
        let (sender, receiver) = pair();
        sender.send(b"hello").unwrap();
        let received = receive_stamped(&receiver, &mut [0; 3]).unwrap();
        assert_eq!(
            received,
            Stamped {
                length: 3,
                at: None
            }
        );
    }

    #[test]
    fn that_nothing_is_there_is_an_error() {
        let (_, receiver) = pair();
        receiver.set_nonblocking(true).unwrap();
        let error = receive_stamped(&receiver, &mut [0; 3]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn a_wide_buffer_holds_what_the_usual_one_would_not() {
        let (sender, receiver) = pair();
        if widen_receive_buffer(&receiver, 16 << 20).is_err() {
            crate::leave_out("only root gets so wide a buffer");
            return;
        }
        for _ in 0..2000 {
            sender.send(&[0; 1000]).unwrap();
        }
        receiver.set_nonblocking(true).unwrap();
        let mut buffer = [0; 1000];
        let received = (0..2000).take_while(|_| receiver.recv(&mut buffer).is_ok());
        assert_eq!(received.count(), 2000);
    }
}

//! Sets up a TCP connection so that it behaves as another system's would.

use rustix::fd::{AsFd, AsRawFd};
use rustix::net::sockopt::{set_socket_recv_buffer_size_force, set_tcp_quickack};
use std::io;

/// The size of a buffer in windows: the kernel counts what a segment takes of memory, which is up to four
/// times its bytes.
///
/// Source: tcp(7), `tcp_adv_win_scale`.
const BUFFER_PER_WINDOW: usize = 4;

/// Lets a connection delay its acknowledgements from here on, as one does that answers whatever it
/// receives. Of itself Linux acknowledges the first segments after a pause at once.
///
/// # Errors
///
/// When it is no TCP socket.
pub fn delay_acks(connection: impl AsFd) -> io::Result<()> {
    Ok(set_tcp_quickack(connection, false)?)
}

/// Lets a connection advertise a receive window of at most so many bytes, and grow to that. What was
/// advertised before is not taken back.
///
/// To be repeated while data come: when Linux learns how much memory segments take, it sets the limit
/// anew, to what the buffer holds.
///
/// # Errors
///
/// Where so large a buffer is not permitted, or it is no TCP socket.
pub fn limit_window(connection: impl AsFd, bytes: u32) -> io::Result<()> {
    // A buffer that was set is not tuned any more, which would move the limit each time.
    let buffer = (bytes as usize).saturating_mul(BUFFER_PER_WINDOW);
    set_socket_recv_buffer_size_force(&connection, buffer)?;
    let most = libc::c_int::try_from(bytes).map_err(io::Error::other)?;
    let length = size_of_val(&most) as libc::socklen_t;
    // SAFETY: the option is a number of this length, which outlives the call.
    let done = unsafe {
        libc::setsockopt(
            connection.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_WINDOW_CLAMP,
            (&raw const most).cast(),
            length,
        )
    };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Write as _};
    use std::net::{TcpListener, TcpStream, UdpSocket};

    fn pair() -> (TcpStream, TcpStream) {
        joined(&TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn joined(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    /// Returns how much a connection takes whose remote end does not read, with room for much here.
    fn taken(near: &mut TcpStream) -> usize {
        near.set_nonblocking(true).unwrap();
        let mut taken = 0;
        loop {
            match near.write(&[0; 4096]) {
                Ok(count) => taken += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return taken,
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn a_limited_window_takes_less() {
        // A window that was advertised is not taken back, so it is limited before.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        if limit_window(&listener, 8192).is_err() {
            crate::leave_out("only root sets the buffer of a window");
            return;
        }
        let (mut near, _far) = joined(&listener);
        rustix::net::sockopt::set_socket_send_buffer_size(&near, 4096).unwrap();
        let limited = taken(&mut near);
        let (mut near, _far) = pair();
        rustix::net::sockopt::set_socket_send_buffer_size(&near, 4096).unwrap();
        let usual = taken(&mut near);
        assert!(limited * 2 < usual, "{limited} and {usual}");
    }

    #[test]
    fn only_tcp_has_acknowledgements_and_windows() {
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert!(delay_acks(&udp).is_err() && limit_window(&udp, 8192).is_err());
        let (near, _far) = pair();
        delay_acks(&near).unwrap();
    }
}

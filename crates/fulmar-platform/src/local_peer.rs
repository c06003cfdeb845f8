//! The user at the other end of a socket on this machine.

use std::io;
use std::os::unix::net::UnixStream;

/// Tells if the process at the other end of a connection is of the user who runs this one, at the time when it connected
/// or began to listen.
///
/// # Errors
///
/// When the system does not tell.
pub fn is_own_peer(stream: &UnixStream) -> io::Result<bool> {
    Ok(peer_user(stream)? == rustix::process::geteuid().as_raw())
}

/// Returns the number of the process at the other end of a connection, or of the one that began to listen there; `None` if the
/// system does not tell.
pub fn peer_process(stream: &UnixStream) -> Option<u32> {
    peer_number(stream).filter(|pid| *pid != 0)
}

#[cfg(target_os = "linux")]
fn peer_user(stream: &UnixStream) -> io::Result<u32> {
    Ok(credentials(stream)?.uid)
}

#[cfg(target_os = "linux")]
fn peer_number(stream: &UnixStream) -> Option<u32> {
    u32::try_from(credentials(stream).ok()?.pid).ok()
}

#[cfg(not(target_os = "linux"))]
fn peer_number(_: &UnixStream) -> Option<u32> {
    None
}

#[cfg(target_os = "linux")]
fn credentials(stream: &UnixStream) -> io::Result<libc::ucred> {
    use std::os::fd::AsRawFd as _;
    let mut peer = libc::ucred {
        pid: 0,
        uid: u32::MAX,
        gid: u32::MAX,
    };
    let size = size_of::<libc::ucred>();
    let mut length = libc::socklen_t::try_from(size).map_err(io::Error::other)?;
    // Past rustix, which has no room for a process that is in no number space of ours.
    // SAFETY: the descriptor is open as long as `stream` is borrowed, and both pointers are to live memory of the length
    // that is given.
    let status = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    match status {
        0 => Ok(peer),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(target_os = "linux"))]
fn peer_user(stream: &UnixStream) -> io::Result<u32> {
    use std::os::fd::AsRawFd as _;
    let (mut user, mut group) = (0, 0);
    // SAFETY: the descriptor is open as long as `stream` is borrowed, and both pointers are to live memory.
    match unsafe { libc::getpeereid(stream.as_raw_fd(), &raw mut user, &raw mut group) } {
        0 => Ok(user),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_pair_are_ours() {
        let (one, other) = UnixStream::pair().unwrap();
        assert!(is_own_peer(&one).unwrap() && is_own_peer(&other).unwrap());
        let pid = peer_process(&one);
        assert!(!cfg!(target_os = "linux") || pid == Some(std::process::id()));
    }
}

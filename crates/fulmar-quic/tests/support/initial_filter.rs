//! The rules that hold for any bytes that come from anywhere.

use std::cell::RefCell;
use std::time::Instant;

use fulmar_base::{Ecn, PathId, Time};
use fulmar_quic::{Connection, ConnectionOptions, DatagramVerdict, Secret};

thread_local! {
    /// Making them takes a thousand times as long as turning a datagram away. What was turned away has not changed
    /// them, so they meet the next one.
    static ENDS: RefCell<Option<[Connection; 2]>> = const { RefCell::new(None) };
}

/// A datagram for a server that waits and for a client that has begun, neither of which it knows.
///
/// # Panics
///
/// Where one of them answers, or takes it for genuine without having been begun by it.
pub(crate) fn check(datagram: &[u8]) {
    let (path, mut buffer) = (PathId::new(0), Vec::new());
    let mut ends = ENDS.take().unwrap_or_else(ends);
    let mut is_fresh = true;
    for end in &mut ends {
        let verdict = end.handle_datagram(Time::ZERO, path, Ecn::NotCapable, datagram);
        let says = end.poll_transmit(Time::ZERO, &mut buffer);
        assert!(
            says.is_none() || verdict == DatagramVerdict::Genuine,
            "an answer"
        );
        assert!(!end.is_open());
        is_fresh &= matches!(verdict, DatagramVerdict::Rejected(_));
    }
    ENDS.set(is_fresh.then_some(ends));
}

fn ends() -> [Connection; 2] {
    #[allow(
        clippy::disallowed_methods,
        clippy::allow_attributes,
        reason = "an instant can be made in no other way"
    )]
    let origin = Instant::now();
    let secret = Secret::from_bytes([1; 32].into());
    let (options, path) = (ConnectionOptions::default(), PathId::new(0));
    let server = Connection::server(&secret, [2; 32], origin, Time::ZERO, &options);
    let mut client = Connection::client(&secret, [3; 32], origin, Time::ZERO, path, &options);
    while client.poll_transmit(Time::ZERO, &mut Vec::new()).is_some() {}
    [server, client]
}

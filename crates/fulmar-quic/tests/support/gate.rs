//! What must hold for any bytes that come from anywhere.

use std::time::Instant;

use fulmar_datagram::{Ecn, Time};
use fulmar_quic::{Connection, Options, Secret, Verdict};
use fulmar_transport::PathId;

/// A datagram for a server that waits and for a client that has begun, neither of which it knows.
///
/// # Panics
///
/// Where one of them answers, or takes it for genuine without having been begun by it.
pub(crate) fn check(datagram: &[u8]) {
    #[allow(
        clippy::disallowed_methods,
        clippy::allow_attributes,
        reason = "an instant can be made in no other way"
    )]
    let origin = Instant::now();
    let secret = Secret::from_bytes([1; 32].into());
    let (options, path) = (Options::default(), PathId::new(0));
    let mut server = Connection::server(&secret, [2; 32], origin, Time::ZERO, &options);
    let mut client = Connection::client(&secret, [3; 32], origin, Time::ZERO, path, &options);
    let mut buffer = Vec::new();
    while client.poll_transmit(Time::ZERO, &mut buffer).is_some() {}
    for end in [&mut server, &mut client] {
        let verdict = end.handle_datagram(Time::ZERO, path, Ecn::NotCapable, datagram);
        let says = end.poll_transmit(Time::ZERO, &mut buffer);
        assert!(says.is_none() || verdict == Verdict::Genuine, "an answer");
        assert!(!end.is_open());
    }
}

//! A second client with the key of a running session, which somebody starts who sets `MOSH_KEY` by
//! hand: docs/decisions/027-first-sequence-number.md.

use std::collections::BTreeSet;

use crate::support::{Make, Pair, Relay, Rules, Session, Setup, Terminal, Wire, for_each_make};

for_each_make! {
    no_nonce_is_repeated_and_the_session_goes_on
    numbers_of_all_sizes_are_accepted
}

/// The sequence number from which a client counts once it has been answered.
const ANSWERED: u64 = 1 << 31;

fn start(server: Make) -> Option<Session> {
    let client = Make::Ours;
    let mut session = Session::with_shell(Pair { server, client }, Wire::Relayed)?;
    session.terminal.type_keys("echo fi\"\"rst\n");
    session.terminal.wait_for_text("first");
    Some(session)
}

fn no_nonce_is_repeated_and_the_session_goes_on(server: Make) {
    let Some(mut session) = start(server) else {
        return;
    };
    let relay = Relay::to(session.server.port);
    let mut command = session.world.spawn(session.world.ours("mosh-client"));
    command
        .arg("127.0.0.1")
        .arg(relay.port().to_string())
        .env("MOSH_KEY", &session.server.key);
    let mut second = Terminal::start(&command, Setup::default().size, Rules::Client);
    second.type_keys("is anybody there?");
    // It gives up, for nobody has answered.
    second.wait_for_end();
    session.terminal.type_keys("echo th\"\"ird\n");
    session.terminal.wait_for_text("third");

    let (first, second) = (session.relay().nonces(), relay.nonces());
    assert!(second.len() > 10, "the second has tried: {}", second.len());
    assert_eq!(relay.down().datagrams, 0, "and was answered");
    let mut all = BTreeSet::new();
    for nonce in first.iter().chain(&second) {
        assert!(
            all.insert(*nonce),
            "{nonce} was used twice: {first:?} {second:?}"
        );
    }
}

/// Both halves of the numbers are tried, up to the last one below 2^32 but for luck.
fn numbers_of_all_sizes_are_accepted(server: Make) {
    let Some(session) = start(server) else {
        return;
    };
    let nonces = session.relay().nonces();
    let (Some(first), Some(last)) = (nonces.first(), nonces.last()) else {
        panic!("nothing was sent");
    };
    assert!(*first < ANSWERED, "{nonces:?}");
    assert!((ANSWERED..2 * ANSWERED + 1000).contains(last), "{nonces:?}");
    assert!(nonces.is_sorted(), "{nonces:?}");
}

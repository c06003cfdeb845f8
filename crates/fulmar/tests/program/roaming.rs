//! The network between the ends loses datagrams, is slow, goes away and comes back, and gives the
//! client other addresses.

use std::net::Ipv4Addr;
use std::time::Duration;

use crate::support::{Make, Pair, Session, Setup, Wire, for_each_pair, holds};

for_each_pair! {
    a_client_at_a_new_address_is_answered_there
    typing_goes_on_while_the_address_changes_all_the_time
    a_third_of_the_datagrams_may_be_lost
    what_is_typed_during_an_outage_arrives_after_it
    a_slow_network_is_only_slow
    the_first_datagram_may_be_lost
}

/// Some address of this machine that the server has not seen before.
fn elsewhere(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 7, 1 + number)
}

fn a_client_at_a_new_address_is_answered_there(pair: Pair) {
    let Some(mut session) = Session::with_shell(pair, Wire::Relayed) else {
        return;
    };
    for number in 0..5 {
        session.relay().move_to(elsewhere(number));
        // The address before is deaf, so what is drawn has come to the new one.
        session
            .terminal
            .type_keys(format!("echo at $((100 + {number}))\n"));
        session
            .terminal
            .wait_for_text(&format!("at {}", 100 + number));
        session.terminal.wait_for_prompt();
    }
}

fn typing_goes_on_while_the_address_changes_all_the_time(pair: Pair) {
    let Some(mut session) = Session::with_shell(pair, Wire::Relayed) else {
        return;
    };
    session.relay().delay(Duration::from_millis(10));
    expect_exact(&mut session, |session, number| {
        session.relay().move_to(elsewhere(number % 8));
    });
}

fn a_third_of_the_datagrams_may_be_lost(pair: Pair) {
    let Some(mut session) = Session::with_shell(pair, Wire::Relayed) else {
        return;
    };
    session.relay().lose(30.0, 1);
    expect_exact(&mut session, |_, _| {});
}

/// Types words into a file, one after the other is seen, with `between` after each, and compares.
fn expect_exact(session: &mut Session, between: impl Fn(&mut Session, u8)) {
    session.terminal.type_keys("cat > typed\n");
    session.terminal.wait_for_text("cat > typed");
    let mut expected = String::new();
    for number in 0..16 {
        let word = format!("word-{number}\n");
        session.terminal.type_keys(&word);
        between(session, number);
        session.terminal.wait_for_text(word.trim_end());
        expected += &word;
    }
    session.terminal.type_keys(b"\x04");
    session.terminal.wait_for_prompt();
    let typed = std::fs::read_to_string(session.world.home().join("typed")).expect("a file");
    assert_eq!(typed, expected);
}

fn what_is_typed_during_an_outage_arrives_after_it(pair: Pair) {
    let Some(mut session) = Session::with_shell(pair, Wire::Relayed) else {
        return;
    };
    session.relay().cut();
    session
        .terminal
        .type_keys("echo typed in $((6 * 7)) seconds\n");
    // Six and a half seconds of nothing.
    session.terminal.wait_for_text(silence(pair.client));
    session.relay().mend();
    session.terminal.wait_for_text("typed in 42 seconds");
    session.terminal.wait_for("the notice to go", |screen| {
        !holds(screen, silence(pair.client))
    });
    session.terminal.wait_for_prompt();
}

/// Returns the words of a client for a server that has not been heard for some time.
fn silence(client: Make) -> &'static str {
    match client {
        Make::Stock => "Last contact",
        Make::Ours => "nothing heard for",
    }
}

fn a_slow_network_is_only_slow(pair: Pair) {
    let Some(mut session) = Session::with_shell(pair, Wire::Relayed) else {
        return;
    };
    session.relay().delay(Duration::from_millis(250));
    session.terminal.type_keys("echo $((6 * 7)) and slow\n");
    session.terminal.wait_for_text("42 and slow");
}

fn the_first_datagram_may_be_lost(pair: Pair) {
    let setup = Setup {
        wire: Wire::LosingTheFirst,
        ..Setup::default()
    };
    let Some(mut session) = Session::start(pair, &setup) else {
        return;
    };
    session.terminal.wait_for_prompt();
    assert!(session.relay().up().datagrams >= 2);
}

//! Networks that let ssh through and not what the session needs.

use super::scene::{FAR, Plan, Scene, Starter, expect_refusal, for_each_starter, leave};
use crate::support::network::{
    Families, LEFT, RIGHT, Way, add_address, block_udp, lose_address, refuse_udp, reject_udp, v4,
};
use crate::support::{Machine, Terminal, holds};

for_each_starter! {
    nothing_arrives_there: fulmar mosh;
    nothing_comes_back: fulmar mosh;
    nothing_passes_either_way: fulmar;
    a_firewall_says_no: fulmar;
    a_firewall_here_forbids_it: fulmar;
    a_firewall_says_that_nothing_listens: fulmar;
    the_wait_ends_by_itself: fulmar;
    ssh_has_ended_when_the_terminal_is_given_back: fulmar;
    nobody_is_at_the_next_hop: fulmar;
}

/// The address at which the server waits, as messages have it.
const WHERE: &str = "192.0.2.2, UDP port 60001";

/// The keys with which a user leaves.
const QUIT: &str = "\x1e.";

/// A login to a machine that does not let UDP in or out.
fn blocked(starter: Starter, block: impl FnOnce(&Machine)) -> Option<(Scene, Terminal)> {
    let plan = Plan {
        families: Families::V4,
        ..Plan::default()
    };
    let scene = Scene::new(&plan)?;
    block(&scene.far);
    let terminal = start(&scene, starter)?;
    Some((scene, terminal))
}

/// Starts a login of which ssh is not to carry the session.
fn start(scene: &Scene, starter: Starter) -> Option<Terminal> {
    let destination = format!("bob@{FAR}");
    match starter {
        Starter::Fulmar => scene.start(starter, &["--transport=udp", &destination]),
        _ => scene.start(starter, &[&destination]),
    }
}

/// Expects that the user is told `words` and where, leaves, and that nothing stays.
fn expect_words(starter: Starter, ways: &[Way], words: &str) {
    let block = |far: &Machine| ways.iter().for_each(|way| block_udp(far, *way));
    let Some((scene, mut terminal)) = blocked(starter, block) else {
        return;
    };
    if starter == Starter::Mosh {
        // Stock cannot know which way it is, and waits until the user gives up.
        terminal.wait_for_text("Nothing received from server on UDP port 60001.");
        return;
    }
    terminal.wait_for(&format!("{words:?} and {WHERE:?}"), |screen| {
        holds(screen, words) && holds(screen, WHERE)
    });
    terminal.type_keys(QUIT);
    expect_refusal(&mut terminal, WHERE);
    scene.expect_nothing_left();
}

fn nothing_arrives_there(starter: Starter) {
    expect_words(starter, &[Way::Out], "nothing arrives there");
}

fn nothing_comes_back(starter: Starter) {
    expect_words(starter, &[Way::Back], "hears us");
}

fn nothing_passes_either_way(starter: Starter) {
    expect_words(starter, &[Way::Out, Way::Back], "nothing arrives there");
}

fn a_firewall_says_no(starter: Starter) {
    let Some((scene, mut terminal)) = blocked(starter, refuse_udp) else {
        return;
    };
    terminal.wait_for_text(&format!("a firewall or router refuses {WHERE}"));
    terminal.type_keys(QUIT);
    expect_refusal(&mut terminal, "refused");
    terminal.wait_for_text("a firewall there or on the way blocks UDP to port 60001: open it");
    scene.expect_nothing_left();
}

/// Nobody else is blamed for it.
fn a_firewall_here_forbids_it(starter: Starter) {
    let plan = Plan {
        families: Families::V4,
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    block_udp(&scene.near, Way::Back);
    let Some(mut terminal) = start(&scene, starter) else {
        return;
    };
    terminal.wait_for_text("a local firewall forbids it");
    terminal.type_keys(QUIT);
    expect_refusal(
        &mut terminal,
        &format!("a firewall on this machine forbids to send to {WHERE}"),
    );
    terminal.wait_for_text("let UDP out to port 60001");
    scene.expect_nothing_left();
}

/// As with a cable that is out: this machine finds that by itself, and nobody refuses anything.
fn nobody_is_at_the_next_hop(starter: Starter) {
    let Some((scene, mut terminal)) = blocked(starter, |_| {}) else {
        return;
    };
    terminal.wait_for_prompt();
    let address = format!("{}/28", v4(0, 2));
    lose_address(&scene.far, LEFT, &address, (&scene.near, RIGHT));
    terminal.type_keys("clear; echo once $((6 * 11))\n");
    terminal.wait_for_text("neither the server nor a router answers");
    add_address(&scene.far, LEFT, &address);
    terminal.wait_for_text("once 66");
    assert_eq!(leave(&mut terminal).code(), Some(7));
    scene.expect_nothing_left();
}

fn a_firewall_says_that_nothing_listens(starter: Starter) {
    let Some((scene, mut terminal)) = blocked(starter, reject_udp) else {
        return;
    };
    // The server runs, but that is not known here.
    terminal.wait_for_text("UDP is rejected: a firewall, or a server that has gone");
    terminal.type_keys(QUIT);
    expect_refusal(&mut terminal, "refused");
    // The last word is on the next row.
    terminal.wait_for_text("or the server has end");
    scene.expect_nothing_left();
}

fn the_wait_ends_by_itself(starter: Starter) {
    let Some((scene, mut terminal)) = blocked(starter, |far| block_udp(far, Way::Out)) else {
        return;
    };
    // It gives up by itself, and says what to try.
    expect_refusal(&mut terminal, WHERE);
    terminal.wait_for_text("firewall");
    scene.expect_nothing_left();
}

/// Or else what the user types echoes before the message.
fn ssh_has_ended_when_the_terminal_is_given_back(starter: Starter) {
    let Some((scene, mut terminal)) = blocked(starter, |far| block_udp(far, Way::Out)) else {
        return;
    };
    terminal.wait_for_text("nothing arrives there");
    terminal.type_keys(QUIT);
    terminal.wait_for("the end of our modes", |screen| {
        !screen.application_cursor()
    });
    let mut left = scene.near.processes();
    left.retain(|(_, line)| line.starts_with("ssh "));
    assert!(left.is_empty(), "{left:?}");
    expect_refusal(&mut terminal, WHERE);
}

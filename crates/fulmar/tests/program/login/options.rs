//! Options of the ssh configuration that are for another kind of session than ours.

use std::net::TcpListener;

use super::scene::{FAR, Plan, Scene, Starter, expect_login, expect_session, for_each_starter};

for_each_starter! {
    a_remote_command: fulmar mosh;
    a_requested_terminal: fulmar mosh ssh;
    a_closed_standard_input: fulmar mosh;
    a_fork_to_the_background: fulmar mosh;
    a_local_forward: fulmar mosh ssh;
    a_local_command: fulmar mosh;
    an_option_that_is_ignored_here: fulmar mosh ssh;
}

fn with_config(starter: Starter, config: &str) {
    let plan = Plan {
        config,
        ..Plan::default()
    };
    expect_login(starter, &plan, |_| {});
}

fn a_remote_command(starter: Starter) {
    let plan = Plan {
        config: "RemoteCommand echo this is not for you\n",
        ..Plan::default()
    };
    if starter != Starter::Mosh {
        return expect_login(starter, &plan, |_| {});
    }
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    if let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) {
        terminal.wait_for_text("Cannot execute command-line and remote command.");
        terminal.wait_for_end();
    }
}

fn a_requested_terminal(starter: Starter) {
    with_config(starter, "RequestTTY force\n");
}

fn a_closed_standard_input(starter: Starter) {
    with_config(starter, "StdinNull yes\n");
}

fn a_fork_to_the_background(starter: Starter) {
    with_config(starter, "ForkAfterAuthentication yes\n");
}

fn a_local_forward(starter: Starter) {
    let plan = Plan {
        config: "LocalForward 127.0.0.1:8080 127.0.0.1:80\nExitOnForwardFailure yes\n",
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    // As if another session of hers had it, which is what it is for.
    let taken = scene.near.inside(|| TcpListener::bind(("127.0.0.1", 8080)));
    let _taken = taken.expect("a port of the machine's own");
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    match starter {
        Starter::Fulmar => expect_session(&scene, starter, &mut terminal),
        Starter::Mosh | Starter::Ssh => {
            terminal.wait_for_text("Could not request local forwarding.");
            terminal.wait_for_end();
        }
    }
}

fn a_local_command(starter: Starter) {
    with_config(
        starter,
        "PermitLocalCommand yes\nLocalCommand echo going to %h\n",
    );
}

fn an_option_that_is_ignored_here(starter: Starter) {
    with_config(starter, "IgnoreUnknown UseKeychain\nUseKeychain yes\n");
}

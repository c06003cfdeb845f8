//! What there is on the far machine to start, and where.

use super::scene::{FAR, Plan, Scene, Starter, expect_login, expect_refusal, for_each_starter};
use crate::peers;
use crate::support::Person;

for_each_starter! {
    a_server_in_a_folder_of_the_home: fulmar;
    only_the_stock_server: fulmar;
    no_server_there_at_all: fulmar mosh;
    a_forced_command: fulmar mosh;
}

/// Our program's place on all machines of the tests.
const OURS: &str = "/usr/local/bin/fulmar";

fn a_server_in_a_folder_of_the_home(starter: Starter) {
    expect_login(starter, &Plan::default(), |scene| {
        let program = std::fs::read(env!("CARGO_BIN_EXE_fulmar")).expect("our program");
        scene.far.hide(OURS.as_ref());
        scene.far.folder(Person::Bob, ".local/bin");
        scene
            .far
            .write_home(Person::Bob, ".local/bin/fulmar", program);
        scene.far.allow_running(Person::Bob, ".local/bin/fulmar");
    });
}

fn only_the_stock_server(starter: Starter) {
    if peers::require("mosh-server").is_none() {
        return;
    }
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    scene.far.hide(OURS.as_ref());
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    terminal.wait_for_prompt();
    super::scene::expect_work(&mut terminal);
    // Stock's server does not tell how the program ended.
    assert_eq!(super::scene::leave(&mut terminal).code(), Some(0));
    scene.expect_nothing_left();
}

fn no_server_there_at_all(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let Some(stock) = peers::require("mosh-server") else {
        return;
    };
    scene.far.hide(OURS.as_ref());
    scene.far.hide(&stock);
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    if starter == Starter::Mosh {
        terminal.wait_for_text("Did not find mosh server startup message.");
        terminal.wait_for_end();
    } else {
        expect_refusal(&mut terminal, "cargo install");
    }
    scene.expect_nothing_left();
}

fn a_forced_command(starter: Starter) {
    expect_login(starter, &Plan::default(), |scene| {
        scene.authorize(match starter {
            // It asks for a terminal, which may not be refused.
            Starter::Mosh => "command=\"mosh-server new\"",
            _ => "restrict,command=\"fulmar server\"",
        });
    });
}

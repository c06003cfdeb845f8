//! What there is on the far machine to start.

use super::scene::{FAR, Plan, Scene, Starter, for_each_starter};
use crate::peers;

for_each_starter! {
    no_server_there_at_all: mosh;
}

fn no_server_there_at_all(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let Some(stock) = peers::require("mosh-server") else {
        return;
    };
    scene.far.hide("/usr/local/bin/fulmar".as_ref());
    scene.far.hide(&stock);
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    terminal.wait_for_text("Did not find mosh server startup message.");
    terminal.wait_for_end();
    scene.expect_nothing_left();
}

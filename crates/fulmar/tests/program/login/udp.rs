//! Networks that let ssh through and not what the session needs.

use super::scene::{FAR, Plan, Scene, Starter, for_each_starter};
use crate::support::network::{Way, block_udp};

for_each_starter! {
    nothing_arrives_there: fulmar mosh;
    nothing_comes_back: fulmar mosh;
}

fn blocked(starter: Starter, way: Way) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    block_udp(&scene.far, way);
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    // Stock cannot know which way it is, and waits until the user gives up.
    terminal.wait_for_text("Nothing received from server on UDP port 60001.");
}

fn nothing_arrives_there(starter: Starter) {
    blocked(starter, Way::Out);
}

fn nothing_comes_back(starter: Starter) {
    blocked(starter, Way::Back);
}

//! Addresses of the remote machine, and how they are found.

use super::scene::{
    FAR, Plan, Scene, Starter, expect_login, expect_refusal, expect_session, for_each_starter,
};
use crate::support::network::{self, Families, LEFT, RIGHT};

for_each_starter! {
    an_ipv6_address: fulmar mosh ssh;
    an_ipv6_address_with_a_zone: fulmar mosh ssh;
    a_server_with_ipv4_only: fulmar mosh;
    a_server_with_ipv6_only: fulmar mosh ssh;
    a_name_of_which_some_addresses_are_dead: fulmar mosh ssh;
    a_family_in_the_configuration: fulmar mosh;
    a_name_without_an_address: fulmar mosh;
    a_machine_without_a_daemon: fulmar mosh;
}

/// Logs in at an address instead of a name.
fn at(starter: Starter, plan: &Plan<'_>, address: &str, prepare: impl FnOnce(&Scene)) {
    let Some(scene) = Scene::new(plan) else {
        return;
    };
    prepare(&scene);
    if let Some(mut terminal) = scene.start(starter, &[&format!("bob@{address}")]) {
        expect_session(&scene, starter, &mut terminal);
    }
}

fn an_ipv6_address(starter: Starter) {
    at(starter, &Plan::default(), &network::v6(0, 2), |_| {});
}

fn an_ipv6_address_with_a_zone(starter: Starter) {
    let address = format!("fe80::fa%{RIGHT}");
    at(starter, &Plan::default(), &address, |scene| {
        network::add_address(&scene.far, LEFT, "fe80::fa/64");
    });
}

fn only(starter: Starter, families: Families) {
    let plan = Plan {
        families,
        ..Plan::default()
    };
    expect_login(starter, &plan, |_| {});
}

fn a_server_with_ipv4_only(starter: Starter) {
    only(starter, Families::V4);
}

fn a_server_with_ipv6_only(starter: Starter) {
    only(starter, Families::V6);
}

fn a_name_of_which_some_addresses_are_dead(starter: Starter) {
    expect_login(starter, &Plan::default(), |scene| {
        // The first in either family.
        let hosts = format!(
            "2001:db8:0::5 {FAR}\n{} {FAR}\n192.0.2.5 {FAR}\n{} {FAR}\n",
            network::v6(0, 2),
            network::v4(0, 2),
        );
        scene.near.write("/etc/hosts", hosts);
        network::kill(&scene.near, &["2001:db8:0::5", "192.0.2.5"]);
    });
}

fn a_family_in_the_configuration(starter: Starter) {
    let plan = Plan {
        config: "AddressFamily inet6\n",
        ..Plan::default()
    };
    // Only IPv6 gets through.
    expect_login(starter, &plan, |scene| {
        network::kill(&scene.near, &[&network::v4(0, 2)]);
    });
}

/// Expects that ssh says `words` and that there is no session.
fn expect_no_way(starter: Starter, destination: &str, words: &str) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let Some(mut terminal) = scene.start(starter, &[destination]) else {
        return;
    };
    match starter {
        Starter::Fulmar => expect_refusal(&mut terminal, words),
        Starter::Mosh | Starter::Ssh => {
            terminal.wait_for_end();
        }
    }
    scene.expect_nothing_left();
}

fn a_name_without_an_address(starter: Starter) {
    expect_no_way(starter, "bob@afar", "Could not resolve hostname afar");
}

fn a_machine_without_a_daemon(starter: Starter) {
    expect_no_way(starter, "bob@localhost", "Connection refused");
}

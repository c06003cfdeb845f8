//! Ways to the remote machine that are not one TCP connection to it: over others, through a program,
//! or along a connection that is there already.

use super::scene::{
    FAR, Plan, Scene, Starter, expect_login, expect_refusal, expect_session,
    expect_work_and_status, for_each_starter,
};
use crate::support::network::{self, Families};
use crate::support::{Daemon, Machine, Person, Terminal, holds};

for_each_starter! {
    over_one_host: fulmar mosh ssh;
    over_two_hosts: fulmar mosh ssh;
    to_a_network_that_only_the_host_between_reaches: fulmar;
    to_a_name_that_only_the_host_between_knows: fulmar mosh ssh;
    through_a_program: fulmar ssh;
    a_shared_connection_that_is_there: fulmar mosh;
    a_shared_connection_that_it_opens: fulmar mosh;
    a_shared_connection_that_stays: fulmar mosh;
}

/// Machines in a row, of which only neighbours let TCP through; UDP passes.
///
/// Each machine between has an account for Alice, whose key it knows.
fn over(starter: Starter, names: &[&'static str], prepare: impl FnOnce(&Scene)) {
    over_and_then(starter, names, prepare, |scene, mut terminal| {
        if starter == Starter::Mosh {
            // Its own ProxyCommand takes the place of the user's ProxyJump.
            terminal.wait_for_text("Did not find remote IP address");
            terminal.wait_for_end();
        } else {
            expect_session(scene, starter, &mut terminal);
        }
    });
}

/// The same, with something else to expect.
fn over_and_then(
    starter: Starter,
    names: &[&'static str],
    prepare: impl FnOnce(&Scene),
    expect: impl FnOnce(&Scene, Terminal),
) {
    let Some(machines) = names
        .iter()
        .map(|name| Machine::start(name))
        .collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let proxies = names.iter().map(|name| format!("alice@{name}"));
    let config = format!(
        "Host {FAR}\nProxyJump {}\n",
        proxies.collect::<Vec<_>>().join(",")
    );
    let plan = Plan {
        config: &config,
        jumps: &machines.iter().collect::<Vec<_>>(),
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    let mut daemons = Vec::new();
    for machine in &machines {
        network::forbid_passing_tcp(machine);
        let Some(daemon) = Daemon::sshd(machine, "") else {
            return;
        };
        scene.authorize_at(machine, Person::Alice, "");
        daemons.push(daemon);
    }
    scene.trust(plan.jumps);
    prepare(&scene);
    let Some(terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    expect(&scene, terminal);
    if starter != Starter::Mosh {
        for daemon in daemons {
            daemon.wait_for("Accepted publickey for alice");
        }
    }
}

fn over_one_host(starter: Starter) {
    over(starter, &["jump"], |_| {});
}

fn over_two_hosts(starter: Starter) {
    over(starter, &["first", "second"], |_| {});
}

fn to_a_network_that_only_the_host_between_reaches(starter: Starter) {
    let forget = |scene: &Scene| {
        for address in [network::v4(1, 2), network::v6(1, 2)] {
            network::forget_route(&scene.near, &address);
        }
    };
    over_and_then(starter, &["jump"], forget, |scene, mut terminal| {
        terminal.wait_for_text("no network leads to the server");
        terminal.type_keys("\x1e.");
        expect_refusal(&mut terminal, "no network leads from here to");
        terminal.wait_for_text("jump host");
        assert!(!holds(terminal.screen(), "firewall"));
        scene.expect_nothing_left();
    });
}

fn to_a_name_that_only_the_host_between_knows(starter: Starter) {
    over(starter, &["jump"], |scene| {
        let hosts = format!("127.0.0.1 localhost\n{} jump\n", network::v4(0, 2));
        scene.near.write("/etc/hosts", hosts);
    });
}

fn through_a_program(starter: Starter) {
    // What netcat does, in what is on every machine of the tests.
    let plan = Plan {
        config: "ProxyCommand bash -c 'exec 3<>/dev/tcp/%h/%p; cat <&3 & exec cat >&3'\n",
        families: Families::V4,
        ..Plan::default()
    };
    expect_login(starter, &plan, |_| {});
}

/// The setting of the socket of the connection that ssh shares.
const SHARED: &str = "ControlPath ~/.ssh/shared-%C\n";

/// Logs in with `config`, and ends the connection that is shared.
fn sharing(starter: Starter, config: &str, prepare: impl FnOnce(&Scene), logins: usize) {
    let config = format!("{SHARED}{config}");
    let plan = Plan {
        config: &config,
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    prepare(&scene);
    let destination = format!("bob@{FAR}");
    let Some(mut terminal) = scene.start(starter, &[&destination]) else {
        return;
    };
    expect_work_and_status(starter, &mut terminal);
    // Whether one is left to be ended is for the test's numbers to say.
    let mut end = scene.near.command(Person::Alice, "ssh");
    end.args(["-O", "exit", &destination]);
    let _ = scene.near.inside(|| end.output());
    scene.expect_nothing_left();
    let accepted = scene.daemon.log().matches("Accepted publickey").count();
    assert_eq!(accepted, logins, "{}", scene.daemon.log());
}

/// Stock opens a connection of its own whatever is there.
fn one_or_own(starter: Starter) -> usize {
    if starter == Starter::Mosh { 2 } else { 1 }
}

fn a_shared_connection_that_is_there(starter: Starter) {
    let open = |scene: &Scene| {
        let mut master = scene.near.command(Person::Alice, "ssh");
        master.args(["-M", "-f", "-N", &format!("bob@{FAR}")]);
        master.stdout(std::process::Stdio::null());
        master.stderr(std::process::Stdio::null());
        let status = scene.near.inside(|| master.status().expect("ssh starts"));
        assert!(status.success());
    };
    sharing(starter, "", open, one_or_own(starter));
}

fn a_shared_connection_that_it_opens(starter: Starter) {
    sharing(starter, "ControlMaster auto\n", |_| {}, 1);
}

fn a_shared_connection_that_stays(starter: Starter) {
    let config = "ControlMaster auto\nControlPersist 600\n";
    sharing(starter, config, |_| {}, 1);
}

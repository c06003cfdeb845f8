//! A session outlives its client, and another client takes it, from wherever ssh leads there.

use std::os::unix::net::UnixListener;
use std::process::Command;

use super::scene::{
    FAR, Plan, Scene, Starter, expect_refusal, expect_work, for_each_starter, leave,
};
use crate::support::network::{Way, block_udp, let_udp_pass};
use crate::support::{DEADLINE, Machine, Person, Process, Rules, Setup, Terminal};
use rustix::process::Signal;

for_each_starter! {
    a_killed_client_and_another_machine: fulmar;
    a_session_that_was_left: fulmar;
    a_login_the_way_of_mosh_names_what_can_be_taken: fulmar;
    a_client_that_sleeps_while_another_takes_its_session: fulmar;
    sessions_are_listed_renamed_and_ended: fulmar;
    a_session_that_does_not_answer: fulmar;
    one_line_for_every_day: fulmar;
    a_name_that_is_taken: fulmar;
    no_such_session: fulmar;
    one_open_port: fulmar;
    a_closed_window: fulmar;
    a_session_that_is_left_in_an_outage: fulmar;
    a_program_that_ends_in_an_outage: fulmar;
    a_program_that_has_ended_without_its_client: fulmar;
    a_session_whose_server_was_killed_is_not_said_to_go_on: fulmar;
    a_session_that_its_machine_does_not_know_any_more: fulmar;
    a_session_of_the_remote_machine_itself: fulmar;
    a_login_that_dies_takes_nothing: fulmar;
    a_forced_program_leads_to_no_session: fulmar;
    another_user_there: fulmar;
    a_strangers_socket_in_place_of_ours: fulmar;
    a_folder_that_was_cleaned: fulmar;
    a_home_that_cannot_be_written: fulmar;
    only_the_stock_server: fulmar;
}

const BOB: &str = "bob@far";

/// The key that detaches.
const DETACH: &str = "\x1ed";

/// The folder of Bob's sockets, on the remote machine.
const RUN: &str = "/home/bob/.local/state/fulmar/run";

/// A scene in which Alice has a session, with these options, and has worked.
fn working(starter: Starter, options: &[&str]) -> Option<(Scene, Terminal)> {
    let scene = Scene::new(&Plan::default())?;
    let mut terminal = scene.start(starter, &[options, &[BOB]].concat())?;
    terminal.wait_for_prompt();
    terminal.type_keys("echo wo''rked\n");
    terminal.wait_for_text("worked");
    terminal.wait_for_prompt();
    Some((scene, terminal))
}

/// Alice types `fulmar attach` with these words.
#[track_caller]
fn attach(scene: &Scene, words: &[&str]) -> Terminal {
    let words = [&["attach"], words].concat();
    scene.start(Starter::Fulmar, &words).expect("ours is there")
}

/// Expects a client that has the session with all that was done in it, and its end with the status of the shell.
#[track_caller]
fn expect_back(scene: &Scene, terminal: &mut Terminal) {
    terminal.wait_for_text("worked");
    terminal.wait_for_prompt();
    expect_work(terminal);
    assert_eq!(leave(terminal).code(), Some(7));
    terminal.expect_restored();
    scene.expect_nothing_left();
}

#[track_caller]
fn detach(terminal: &mut Terminal) {
    terminal.type_keys(DETACH);
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    terminal.expect_restored();
}

fn ours(machine: &Machine, person: Person, words: &[&str]) -> Command {
    let mut command = machine.command(person, "fulmar");
    command.args(words);
    command
}

/// Returns the text that `fulmar` prints to Alice, without a terminal.
fn asked(scene: &Scene, words: &[&str]) -> String {
    scene
        .near
        .output_of(&mut ours(&scene.near, Person::Alice, words))
}

/// The same of one that fails: what it complains of.
fn refused(machine: &Machine, command: &mut Command) -> String {
    let output = machine.inside(|| command.output().expect("it starts"));
    assert_eq!(output.status.code(), Some(255), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn a_killed_client_and_another_machine(starter: Starter) {
    let Some(other) = Machine::start("other") else {
        return;
    };
    let plan = Plan {
        jumps: &[&other],
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    let Some(mut first) = scene.start(starter, &[BOB]) else {
        return;
    };
    first.wait_for_prompt();
    first.type_keys("echo wo''rked\n");
    first.wait_for_text("worked");
    let client = Process::of(first.pid()).expect("the client runs");
    client.signal(Signal::KILL);
    first.wait_for_end();
    // Alice's other machine has the same key.
    other.folder(Person::Alice, ".ssh");
    for name in [".ssh/id_ed25519", ".ssh/known_hosts"] {
        let file = scene.near.read_home(Person::Alice, name);
        other.write_home(Person::Alice, name, file.expect("the near machine has it"));
    }
    let mut command = other.spawn(Person::Alice, "fulmar");
    for word in ["attach", BOB] {
        command.arg(word);
    }
    let mut second = other.terminal(&command, Setup::default().size, Rules::Client);
    expect_back(&scene, &mut second);
}

fn a_session_that_was_left(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &[]) else {
        return;
    };
    detach(&mut first);
    first.wait_for_text("you have left the session, which goes on");
    first.wait_for_text(&format!("to come back: fulmar attach bob@{FAR} far-1"));
    // The next login says so, in one line.
    let mut next = scene.start(starter, &[BOB]).expect("ours is there");
    next.wait_for_text("fulmar: a session waits here: far-1 (fulmar attach, ls, kill)");
    next.wait_for_prompt();
    leave(&mut next);
    expect_back(&scene, &mut attach(&scene, &[BOB, "far-1"]));
}

fn a_login_the_way_of_mosh_names_what_can_be_taken(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &[]) else {
        return;
    };
    detach(&mut first);
    let Some(mut next) = scene.start(Starter::Mosh, &["--server=fulmar server", BOB]) else {
        return;
    };
    next.wait_for_text("fulmar: a session waits here: far-1 (fulmar attach, ls, kill)");
    assert!(!next.screen().contents().contains("To end it: kill"));
    next.wait_for_prompt();
    leave(&mut next);
    expect_back(&scene, &mut attach(&scene, &[BOB, "far-1"]));
}

fn a_client_that_sleeps_while_another_takes_its_session(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &[]) else {
        return;
    };
    let client = Process::of(first.pid()).expect("the client runs");
    client.signal(Signal::STOP);
    let mut second = attach(&scene, &[BOB]);
    second.wait_for_text("worked");
    second.type_keys("echo se''cond\n");
    second.wait_for_text("second");
    first.type_now("echo fi''rst\n");
    client.signal(Signal::CONT);
    assert_eq!(first.wait_for_end().code(), Some(254));
    first.wait_for_text("fulmar: a client at ");
    first.wait_for_text(" has taken the session, which goes on");
    assert!(!second.screen().contents().contains("first"));
    expect_back(&scene, &mut second);
}

fn a_closed_window(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &[]) else {
        return;
    };
    let client = first.close_window();
    assert!(client.wait(DEADLINE));
    expect_back(&scene, &mut attach(&scene, &[BOB]));
}

fn a_session_that_is_left_in_an_outage(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &["--transport=udp"]) else {
        return;
    };
    for way in [Way::Out, Way::Back] {
        block_udp(&scene.far, way);
    }
    first.wait_for_text("nothing heard for");
    first.type_now("echo la''st\n");
    first.type_now(DETACH);
    first.wait_for_text("what you typed has not arrived");
    first.type_now(DETACH);
    assert_eq!(first.wait_for_end().code(), Some(255));
    first.wait_for_text("the last 12 bytes that you typed may not have arrived");
    first.wait_for_text("to come back: fulmar attach bob@far far-1");
    for way in [Way::Out, Way::Back] {
        let_udp_pass(&scene.far, way);
    }
    expect_back(&scene, &mut attach(&scene, &[BOB]));
}

/// Has the shell of the session end in a moment, with nothing that gets through meanwhile.
#[track_caller]
fn end_in_an_outage(scene: &Scene, terminal: &mut Terminal) {
    terminal.type_keys("sleep 3; echo la''st; exit 7\n");
    terminal.wait_for_text("exit 7");
    // The key has arrived, since its answer has.
    for way in [Way::Out, Way::Back] {
        block_udp(&scene.far, way);
    }
    terminal.wait_for_text("nothing heard for");
}

fn a_program_that_ends_in_an_outage(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &["--transport=udp"]) else {
        return;
    };
    end_in_an_outage(&scene, &mut first);
    for way in [Way::Out, Way::Back] {
        let_udp_pass(&scene.far, way);
    }
    assert_eq!(first.wait_for_end().code(), Some(7));
    first.wait_for_bytes(0, b"last");
    first.expect_restored();
    scene.expect_nothing_left();
}

fn a_program_that_has_ended_without_its_client(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &["--transport=udp"]) else {
        return;
    };
    end_in_an_outage(&scene, &mut first);
    drop(first);
    for way in [Way::Out, Way::Back] {
        let_udp_pass(&scene.far, way);
    }
    let mut second = attach(&scene, &[BOB]);
    assert_eq!(second.wait_for_end().code(), Some(7));
    second.wait_for_bytes(0, b"last");
    second.expect_restored();
    scene.expect_nothing_left();
}

/// Returns the number of the process of the only session there.
fn server_pid(scene: &Scene) -> String {
    let json = asked(scene, &["ls", "--json", BOB]);
    let (_, rest) = json.split_once("\"pid\":").expect("a session");
    rest.split(',').next().expect("a number").to_owned()
}

fn a_session_whose_server_was_killed_is_not_said_to_go_on(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &["--transport=udp"]) else {
        return;
    };
    at_far(&scene, &format!("kill -9 {}", server_pid(&scene)));
    first.type_now("x");
    first.wait_for_text("UDP is rejected");
    first.type_now(DETACH);
    first.wait_for_text("what you typed has not arrived");
    first.type_now(DETACH);
    assert_eq!(first.wait_for_end().code(), Some(255));
    first.wait_for_text("the last key that you typed may not have arrived");
    assert!(!first.screen().contents().contains("which goes on"));
}

fn sessions_are_listed_renamed_and_ended(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &["--name", "work"]) else {
        return;
    };
    let list = asked(&scene, &["ls", BOB]);
    assert!(
        list.contains("\nwork  192.0.2.1 ") || list.contains("\nwork  2001:db8"),
        "{list}"
    );
    assert_eq!(asked(&scene, &["ls", "--detached", "--json", BOB]), "[]\n");
    assert_eq!(asked(&scene, &["rename", BOB, "work", "play"]), "");
    detach(&mut first);
    first.wait_for_text("to come back: fulmar attach bob@far work");
    let json = asked(&scene, &["ls", "--detached", "--json", BOB]);
    assert!(
        json.starts_with("[\n{\"name\":\"play\",\"answers\":true,\"pid\":"),
        "{json}"
    );
    assert!(!json.contains("null"), "{json}");
    let mut again = ours(&scene.near, Person::Alice, &["rename", BOB, "far-9", "x"]);
    let complaint = refused(&scene.near, &mut again);
    assert!(
        complaint.contains("there is no session far-9; there is play")
            && !complaint.contains("--or-new"),
        "{complaint}"
    );
    // The name that the client has told is still a way back.
    let mut back = attach(&scene, &[BOB, "work"]);
    // The session's screen may cover it at once.
    back.wait_for_bytes(0, b"session work is called play by now");
    back.wait_for_text("ready$ echo");
    detach(&mut back);
    back.wait_for_text("to come back: fulmar attach bob@far play");
    assert_eq!(asked(&scene, &["kill", BOB, "play"]), "");
    scene.expect_nothing_left();
    assert_eq!(asked(&scene, &["ls", "--json", BOB]), "[]\n");
}

/// ssh is run again for it, and hears that.
fn a_session_that_its_machine_does_not_know_any_more(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &["--transport=ssh"]) else {
        return;
    };
    at_far(&scene, &format!("kill -9 {}", server_pid(&scene)));
    first.wait_for_text("its machine has none of that name any more");
    first.type_now("\x1e.");
    first.wait_for_text("fulmar: the session has ended");
    assert_eq!(first.wait_for_end().code(), Some(255));
    scene.expect_nothing_left();
}

fn a_session_that_does_not_answer(starter: Starter) {
    let Some((scene, _first)) = working(starter, &["--name", "work"]) else {
        return;
    };
    let pid = server_pid(&scene);
    at_far(&scene, &format!("kill -STOP {pid}"));
    let ending = format!("kill -9 {pid} there ends it");
    let list = asked(&scene, &["ls", BOB]);
    assert!(list.contains("\nwork  does not answer"), "{list}");
    assert!(list.contains(&ending), "{list}");
    let json = asked(&scene, &["ls", "--json", BOB]);
    let told = format!("{{\"name\":\"work\",\"answers\":false,\"pid\":{pid},");
    assert!(json.contains(&told), "{json}");
    let mut taking = attach(&scene, &[BOB]);
    taking.wait_for_text("the server of session work does not answer");
    taking.wait_for_text("it has been silent for too long");
    taking.wait_for_text(&format!("kill -9 {pid}"));
    assert_eq!(taking.wait_for_end().code(), Some(255));
    at_far(&scene, &format!("kill -9 {pid}"));
    assert_eq!(asked(&scene, &["ls", "--json", BOB]), "[]\n");
}

fn one_line_for_every_day(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let line = ["--or-new", BOB, "work"];
    let mut first = attach(&scene, &line);
    first.wait_for_prompt();
    first.type_keys("echo wo''rked\n");
    first.wait_for_text("worked");
    assert_eq!(starter, Starter::Fulmar);
    detach(&mut first);
    expect_back(&scene, &mut attach(&scene, &line));
}

fn a_name_that_is_taken(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &["--name", "work"]) else {
        return;
    };
    let second = scene.start(starter, &["--name", "work", BOB]);
    expect_refusal(
        &mut second.expect("ours is there"),
        "the server on bob@far says: there is a session work already",
    );
    expect_work(&mut first);
    leave(&mut first);
    scene.expect_nothing_left();
}

fn no_such_session(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    assert_eq!(starter, Starter::Fulmar);
    let none = "there is no session of yours to attach to";
    expect_refusal(&mut attach(&scene, &[BOB]), none);
    expect_refusal(
        &mut attach(&scene, &[BOB, "work"]),
        "there is no session work",
    );
    scene.expect_nothing_left();
}

fn one_open_port(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &["-p", "60007"]) else {
        return;
    };
    detach(&mut first);
    // The session itself has the port.
    assert!(asked(&scene, &["ls", "-p", "60007", BOB]).contains("far-1"));
    expect_back(&scene, &mut attach(&scene, &["-p", "60007", BOB]));
}

fn a_session_of_the_remote_machine_itself(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    assert_eq!(starter, Starter::Fulmar);
    let mut command = scene.far.spawn(Person::Bob, "fulmar");
    command.arg("--local");
    let mut there = scene
        .far
        .terminal(&command, Setup::default().size, Rules::Client);
    there.wait_for_prompt();
    there.type_keys("echo wo''rked\n");
    there.wait_for_text("worked");
    // Its server listens on loopback, and for this client elsewhere, too.
    let mut here = attach(&scene, &[BOB]);
    here.wait_for_text("worked");
    assert_eq!(there.wait_for_end().code(), Some(254));
    detach(&mut here);
    let mut command = scene.far.spawn(Person::Bob, "fulmar");
    for word in ["attach", "--local", "far-1"] {
        command.arg(word);
    }
    let mut there = scene
        .far
        .terminal(&command, Setup::default().size, Rules::Client);
    expect_back(&scene, &mut there);
}

fn a_login_that_dies_takes_nothing(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &[]) else {
        return;
    };
    // It gets a key and sends nothing, as a client that dies at that moment.
    let script = "mkfifo in out; ssh bob@far fulmar server <in >out & exec 3>in; \
                  printf '%s\\n' 'FULMAR OFFER 1 attach,exit' attach 'FULMAR END' >&3; \
                  grep -m1 AGREED out; exec 3>&-; wait";
    let mut login = scene.near.command(Person::Alice, "sh");
    login.args(["-c", script]);
    let said = scene.near.output_of(&mut login);
    assert_eq!(said, "FULMAR AGREED\n");
    expect_work(&mut first);
    expect_back(&scene, &mut first);
}

fn a_forced_program_leads_to_no_session(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &[]) else {
        return;
    };
    scene.authorize("restrict,command=\"fulmar server -- cat\"");
    expect_refusal(
        &mut attach(&scene, &[BOB]),
        "the command of this server is fixed",
    );
    let mut list = ours(&scene.near, Person::Alice, &["ls", BOB]);
    assert!(refused(&scene.near, &mut list).contains("is fixed"));
    scene.authorize("restrict,command=\"fulmar server\"");
    let mut second = attach(&scene, &[BOB]);
    second.wait_for_text("worked");
    assert_eq!(first.wait_for_end().code(), Some(254));
    expect_back(&scene, &mut second);
}

fn another_user_there(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &["--name", "work"]) else {
        return;
    };
    for person in [Person::Alice, Person::Root] {
        let mut list = ours(&scene.far, person, &["ls", "--local", "--json"]);
        list.env("HOME", "/home/bob");
        assert_eq!(scene.far.output_of(&mut list), "[]\n", "{person:?}");
        let mut kill = ours(&scene.far, person, &["kill", "--local", "work"]);
        kill.env("HOME", "/home/bob");
        let complaint = refused(&scene.far, &mut kill);
        assert!(
            complaint.contains("there is no session work"),
            "{complaint}"
        );
    }
    let mut reach = scene.far.command(Person::Alice, "ls");
    reach.arg(RUN);
    let output = scene.far.inside(|| reach.output().expect("ls starts"));
    assert!(!output.status.success(), "{output:?}");
    expect_work(&mut first);
    expect_back(&scene, &mut first);
}

fn a_strangers_socket_in_place_of_ours(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &["--name", "work"]) else {
        return;
    };
    let path = scene.far.path(&format!("{RUN}/work"));
    std::fs::remove_file(&path).expect("root may");
    let stranger = UnixListener::bind(&path).expect("root may");
    let bob = Some(Person::Bob.number());
    std::os::unix::fs::chown(&path, bob, bob).expect("root may");
    stranger.set_nonblocking(true).expect("a socket");
    // Nothing is said to a process of another user, and the session's server makes its own socket again.
    let mut second = attach(&scene, &[BOB, "work"]);
    second.wait_for_text("worked");
    assert_eq!(first.wait_for_end().code(), Some(254));
    while let Ok((mut stream, _)) = stranger.accept() {
        let mut heard = Vec::new();
        let _ = std::io::Read::read_to_end(&mut stream, &mut heard);
        assert_eq!(String::from_utf8_lossy(&heard), "");
    }
    expect_back(&scene, &mut second);
}

fn a_folder_that_was_cleaned(starter: Starter) {
    let Some((scene, mut first)) = working(starter, &[]) else {
        return;
    };
    std::fs::remove_dir_all(scene.far.path("/home/bob/.local")).expect("root may");
    let mut second = attach(&scene, &[BOB, "far-1"]);
    second.wait_for_text("worked");
    assert_eq!(first.wait_for_end().code(), Some(254));
    expect_back(&scene, &mut second);
}

fn at_far(scene: &Scene, script: &str) -> String {
    let mut command = scene.far.command(Person::Root, "sh");
    scene.far.output_of(command.args(["-c", script]))
}

fn a_home_that_cannot_be_written(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let script = "mount --bind /home/bob /home/bob; mount -o remount,bind,ro /home/bob";
    at_far(&scene, script);
    let mut first = scene.start(starter, &[BOB]).expect("ours is there");
    first.wait_for_prompt();
    first.type_keys("echo wo''rked\n");
    first.wait_for_text("worked");
    let folder = at_far(&scene, "cd /tmp; stat -c '%U %a %n' fulmar-run-*");
    assert!(folder.starts_with("bob 700 fulmar-run-"), "{folder}");
    detach(&mut first);
    let mut second = attach(&scene, &[BOB]);
    second.wait_for_text("worked");
    detach(&mut second);
    // Somebody has cleaned /tmp, and somebody else has made a folder of the same name, and more of them.
    let script = "cd /tmp; name=$(echo fulmar-run-*); rm -r $name; mkdir -m 777 $name fulmar-run-0; \
                  ln -s /root fulmar-run-1; chown alice $name";
    at_far(&scene, script);
    expect_back(&scene, &mut attach(&scene, &[BOB, "far-1"]));
}

fn only_the_stock_server(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    if fulmar_testbed::peers::require("mosh-server").is_none() {
        return;
    }
    assert_eq!(starter, Starter::Fulmar);
    scene
        .far
        .hide(std::path::Path::new("/usr/local/bin/fulmar"));
    let told = "there is no fulmar on bob@far, only mosh-server";
    expect_refusal(&mut attach(&scene, &[BOB]), told);
    let named = scene.start(starter, &["--name", "work", BOB]);
    let mut named = named.expect("ours is there");
    named.wait_for_prompt();
    leave(&mut named);
    named.wait_for_text("the session is not called work: stock's mosh-server knows no names");
    scene.expect_nothing_left();
}

//! Servers that are or are not on the remote machine, and where.

use std::net::UdpSocket;

use super::scene::{
    FAR, Plan, Scene, Starter, expect_login, expect_refusal, expect_session, for_each_starter,
};
use crate::support::Person;
use fulmar_testbed::peers;

for_each_starter! {
    a_server_in_a_folder_of_the_home: fulmar;
    a_server_that_only_a_login_shell_finds: fulmar;
    only_the_stock_server: fulmar;
    only_the_stock_server_and_no_locale_here: fulmar;
    a_server_for_another_processor: fulmar;
    a_server_that_wants_newer_libraries: fulmar;
    no_server_there_that_runs: fulmar;
    no_server_there_at_all: fulmar mosh;
    what_is_advised_without_a_server_helps: fulmar;
    readmes_words_for_stocks_command: fulmar mosh;
    a_forced_command: fulmar mosh;
    a_forced_command_that_gives_a_terminal: fulmar mosh;
    a_forced_command_that_gives_a_terminal_to_a_long_command: fulmar;
    a_forced_command_that_is_something_else: fulmar mosh;
    a_forced_command_that_says_255: fulmar;
    an_account_without_a_shell: fulmar mosh;
    no_port_is_free: fulmar;
    a_program_that_is_not_there: fulmar;
    no_ssh_here: fulmar;
}

/// Whom Alice logs in as, and where.
const BOB: &str = "bob@far";

/// Our program's place on all machines of the tests.
const OURS: &str = "/usr/local/bin/fulmar";

fn a_server_in_a_folder_of_the_home(starter: Starter) {
    expect_login(starter, &Plan::default(), |scene| {
        move_ours(scene, ".local/bin", &our_program());
    });
}

fn our_program() -> Vec<u8> {
    std::fs::read(env!("CARGO_BIN_EXE_fulmar")).expect("our program")
}

/// Hides our program, and puts one with these bytes in a folder of Bob's home in its stead.
fn move_ours(scene: &Scene, folder: &str, program: &[u8]) {
    scene.far.hide(OURS.as_ref());
    scene.far.folder(Person::Bob, folder);
    let path = format!("{folder}/fulmar");
    scene.far.write_home_program(Person::Bob, &path, program);
}

fn a_server_that_only_a_login_shell_finds(starter: Starter) {
    let Some(stock) = peers::require("mosh-server") else {
        return;
    };
    expect_login(starter, &Plan::default(), |scene| {
        move_ours(scene, "own tools", &our_program());
        scene.far.hide(&stock);
        let profile = "echo Welcome\nPATH=\"$HOME/own tools:$PATH\"\nexport PATH\nPS1='ready$ '\n";
        scene.far.write_home(Person::Bob, ".profile", profile);
    });
}

fn only_the_stock_server(starter: Starter) {
    if let Some(scene) = Scene::new(&Plan::default()) {
        scene.far.hide(OURS.as_ref());
        expect_stock_session(
            &scene,
            starter,
            "program's exit status\r\n  copy this program there: ssh bob@far",
        );
    }
}

/// Stock's server does not start without a locale in UTF-8.
fn only_the_stock_server_and_no_locale_here(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    if peers::require("mosh-server").is_none() {
        return;
    }
    scene.far.hide(OURS.as_ref());
    for words in [["env", "LANG=C"], ["env", "LC_ALL=POSIX"]] {
        let destination = format!("bob@{FAR}");
        let Some(command) = scene.command_after(&words, starter, &[&destination]) else {
            return;
        };
        let mut terminal = scene.start_command(starter, &command);
        terminal.wait_for_prompt();
        terminal.type_keys("locale charmap 2>&1\n");
        terminal.wait_for_text("UTF-8");
        terminal.wait_for_prompt();
        super::scene::leave(&mut terminal);
    }
    scene.expect_nothing_left();
}

/// Expects a session with stock's server, of which the user is told with these words, once.
#[track_caller]
fn expect_stock_session(scene: &Scene, starter: Starter, words: &str) {
    if peers::require("mosh-server").is_none() {
        return;
    }
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    terminal.wait_for_prompt();
    super::scene::expect_work(&mut terminal);
    // Stock's server does not tell how the program ended.
    assert_eq!(super::scene::leave(&mut terminal).code(), Some(0));
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    assert_eq!(shown.matches(words).count(), 1, "{shown:?}");
    scene.expect_nothing_left();
}

/// The line that tells the user that our program there does not run.
const DOES_NOT_RUN: &str = "/home/bob/.local/bin/fulmar does not run on bob@far";

/// Our program for a processor that nobody has.
fn foreign_program() -> Vec<u8> {
    let mut program = our_program();
    // The machine in the header of an ELF file.
    program.splice(18..20, [0x7f, 0x7f]);
    program
}

/// Our program as it would be if it had been built beside a C library of the future.
fn program_of_the_future() -> Vec<u8> {
    let mut program = our_program();
    let version = b"GLIBC_2.";
    let places: Vec<usize> = program
        .windows(version.len())
        .enumerate()
        .filter_map(|(at, bytes)| (bytes == version).then_some(at + 6))
        .collect();
    for at in places {
        program.splice(at..=at, *b"9");
    }
    program
}

fn a_server_for_another_processor(starter: Starter) {
    if let Some(scene) = Scene::new(&Plan::default()) {
        move_ours(&scene, ".local/bin", &foreign_program());
        expect_stock_session(&scene, starter, DOES_NOT_RUN);
    }
}

fn a_server_that_wants_newer_libraries(starter: Starter) {
    if let Some(scene) = Scene::new(&Plan::default()) {
        move_ours(&scene, ".local/bin", &program_of_the_future());
        expect_stock_session(&scene, starter, DOES_NOT_RUN);
    }
}

fn no_server_there_that_runs(starter: Starter) {
    let Some(stock) = peers::require("mosh-server") else {
        return;
    };
    if let Some(scene) = Scene::new(&Plan::default()) {
        move_ours(&scene, ".local/bin", &foreign_program());
        scene.far.hide(&stock);
        expect_none(&scene, starter, &[BOB], DOES_NOT_RUN);
    }
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
        expect_refusal(&mut terminal, "or install Mosh");
    }
    scene.expect_nothing_left();
}

fn what_is_advised_without_a_server_helps(starter: Starter) {
    let Some(stock) = peers::require("mosh-server") else {
        return;
    };
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    scene.far.hide(OURS.as_ref());
    scene.far.hide(&stock);
    // The host has this name in no other configuration.
    let config = format!("Host elsewhere\n HostName {FAR}\n User bob\n");
    scene.near.write_home(Person::Alice, "my config", config);
    let arguments = ["-F", "my config", "elsewhere"];
    let Some(mut terminal) = scene.start(starter, &arguments) else {
        return;
    };
    expect_refusal(&mut terminal, "copy this program there:");
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    let (_, told) = shown
        .split_once("copy this program there: ")
        .expect("it is told");
    let line = told.lines().next().unwrap_or_default().trim_end();
    let mut copying = scene.near.command(Person::Alice, "sh");
    scene.near.output_of(copying.args(["-c", line]));
    if let Some(mut terminal) = scene.start(starter, &arguments) {
        expect_session(&scene, starter, &mut terminal);
    }
}

/// README's words for stock's command, with a program that is where README puts it.
fn readmes_words_for_stocks_command(starter: Starter) {
    if let Some(scene) = Scene::new(&Plan::default()) {
        move_ours(&scene, ".local/bin", &our_program());
        let server = "--server=~/.local/bin/fulmar server";
        if let Some(mut terminal) = scene.start(starter, &[server, BOB]) {
            expect_session(&scene, starter, &mut terminal);
        }
    }
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

/// Expects that there is no session, and that the user reads `words`.
#[track_caller]
fn expect_none(scene: &Scene, starter: Starter, arguments: &[&str], words: &str) {
    let Some(mut terminal) = scene.start(starter, arguments) else {
        return;
    };
    if starter == Starter::Mosh {
        terminal.wait_for_text(words);
        terminal.wait_for_end();
    } else {
        expect_refusal(&mut terminal, words);
    }
    scene.expect_nothing_left();
}

/// Records what is said between sshd and the command, on a terminal of its own.
pub(super) const RECORDER: &str = r#"command="script -qefc \"$SSH_ORIGINAL_COMMAND\" log""#;

fn a_forced_command_that_gives_a_terminal(starter: Starter) {
    if peers::require("script").is_some() {
        expect_login(starter, &Plan::default(), |scene| scene.authorize(RECORDER));
    }
}

fn a_forced_command_that_gives_a_terminal_to_a_long_command(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    if peers::require("script").is_none() {
        return;
    }
    scene.authorize(RECORDER);
    // A terminal's lines have 4096 bytes.
    let line = format!(
        "test $# = 1 && echo got ${{#1}}; echo 'ready$ '; read x; : {}",
        "x".repeat(9000)
    );
    let Some(mut terminal) = scene.start(starter, &[BOB, "sh", "-c", &line, "sh", "word"]) else {
        return;
    };
    terminal.wait_for_text("got 4");
    terminal.type_keys("\n");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    scene.expect_nothing_left();
}

fn a_forced_command_that_says_255(starter: Starter) {
    if let Some(scene) = Scene::new(&Plan::default()) {
        scene.authorize("command=\"echo only backups here; exit 255\"");
        expect_none(&scene, starter, &[BOB], "no server was started on bob@far");
    }
}

fn a_forced_command_that_is_something_else(starter: Starter) {
    if let Some(scene) = Scene::new(&Plan::default()) {
        scene.authorize("command=\"echo only backups here\"");
        expect_none(&scene, starter, &[BOB], "only backups here");
    }
}

fn an_account_without_a_shell(starter: Starter) {
    let plan = Plan {
        shell: "/usr/sbin/nologin",
        ..Plan::default()
    };
    if let Some(scene) = Scene::new(&plan) {
        let words = "This account is currently not available.";
        expect_none(&scene, starter, &[BOB], words);
    }
}

fn no_port_is_free(starter: Starter) {
    if let Some(scene) = Scene::new(&Plan::default()) {
        let taken = scene.far.inside(|| UdpSocket::bind(("::", 60_005)));
        let _taken = taken.expect("a port of the machine's own");
        let Some(mut terminal) = scene.start(starter, &["-p", "60005", BOB]) else {
            return;
        };
        expect_refusal(&mut terminal, "cannot listen on UDP port 60005");
    }
}

fn a_program_that_is_not_there(starter: Starter) {
    if let Some(scene) = Scene::new(&Plan::default()) {
        let Some(mut terminal) = scene.start(starter, &[BOB, "--", "no-such-program"]) else {
            return;
        };
        let status = terminal.wait_for_end();
        terminal.wait_for_text("no-such-program");
        assert_eq!(status.code(), Some(127), "as a shell's");
        terminal.expect_restored();
        scene.expect_nothing_left();
    }
}

fn no_ssh_here(starter: Starter) {
    let Some(ssh) = peers::require("ssh") else {
        return;
    };
    if let Some(scene) = Scene::new(&Plan::default()) {
        scene.near.hide(&ssh);
        expect_none(&scene, starter, &[BOB], "cannot start ssh");
    }
}

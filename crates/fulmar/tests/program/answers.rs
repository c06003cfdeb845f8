//! Answers of the terminal go to the program that has asked for them, and are not typed into a shell that
//! reads after it.

use crate::support::{Make, Pair, Session, Setup, World, row_text};
use fulmar_testbed::peers;

const BASH: &[&str] = &["bash", "--norc", "--noprofile", "-i"];
const DASH: &[&str] = &["dash", "-i"];

/// Asks what the terminal is and where its cursor stands, for ever, and reads nothing.
const ASKS: &str = "awk 'BEGIN { for (n = 0; ; n++) { printf \"\\033[c\\033[6n\"; if (n == 3000) print \"as\" \"ked\" } }'";

/// Starts a shell on our server; `None` if the calling test is to return.
#[track_caller]
fn shell(command: &[&str], client: Make) -> Option<Session> {
    peers::require(command.first()?)?;
    let pair = Pair {
        server: Make::Ours,
        client,
    };
    let setup = Setup {
        command,
        ..Setup::default()
    };
    let mut world = World::new();
    if command == DASH {
        // An interrupt may cut a control sequence in two, and CAN ends what is left. bash begins with a
        // sequence of its own.
        world.set("PS1", "\x18ready$ ");
    }
    let mut session = Session::start_in(world, pair, &setup)?;
    session.terminal.wait_for_prompt();
    Some(session)
}

/// Expects that the shell has been typed nothing but this command.
#[track_caller]
fn expect_nothing_typed(session: &mut Session) {
    let terminal = &mut session.terminal;
    terminal.wait_for_prompt();
    terminal.type_keys("clear; echo nothing typed\n");
    terminal.wait_for("a shell that was typed nothing", |screen| {
        row_text(screen, 0) == "nothing typed" && row_text(screen, 1) == "ready$"
    });
}

/// Has `asking` ask, some times over, and interrupts it.
#[track_caller]
fn expect_none_after_interrupts(shell_command: &[&str], client: Make, asking: &str) {
    let Some(mut session) = shell(shell_command, client) else {
        return;
    };
    for _ in 0..5 {
        session.terminal.type_keys(format!("{asking}\n"));
        session.terminal.wait_for_text("asked");
        session.terminal.type_keys(b"\x03");
        expect_nothing_typed(&mut session);
    }
}

#[test]
fn a_program_that_was_interrupted_leaves_none_to_bash() {
    expect_none_after_interrupts(BASH, Make::Ours, ASKS);
}

#[test]
fn nor_to_bash_with_a_stock_client() {
    expect_none_after_interrupts(BASH, Make::Stock, ASKS);
}

#[test]
fn nor_to_dash() {
    expect_none_after_interrupts(DASH, Make::Ours, ASKS);
}

#[test]
fn nor_does_a_pipeline() {
    expect_none_after_interrupts(BASH, Make::Ours, &format!("{ASKS} | cat"));
}

#[test]
fn nor_does_a_subshell() {
    expect_none_after_interrupts(DASH, Make::Ours, &format!("(true; {ASKS}; true)"));
}

#[test]
fn nor_does_a_loop_of_the_shell_itself() {
    let asks = "n=0; while :; do printf '\\033[c'; n=$((n+1)); [ $n = 2000 ] && echo as''ked; done";
    expect_none_after_interrupts(BASH, Make::Ours, asks);
}

#[test]
fn nor_does_a_program_that_could_have_read_each_key() {
    let asks = format!("stty -icanon -echo; {ASKS}");
    expect_none_after_interrupts(BASH, Make::Ours, &asks);
}

#[test]
fn a_file_full_of_questions_leaves_none() {
    for command in [BASH, DASH] {
        let Some(mut session) = shell(command, Make::Ours) else {
            return;
        };
        // A short one has been shown before the server looks, a long one has not. Who asks little and has
        // ended by then cannot be told from a shell that asks.
        for (count, wait) in [(1, "; sleep 0.3"), (100, ""), (50_000, "")] {
            let name = format!("questions-{count}");
            let questions = "\x1b[c\x1b[6n\x1b[>c".repeat(count);
            session.world.write(&name, questions);
            for _ in 0..5 {
                session.terminal.type_keys(format!("(cat {name}{wait})\n"));
                expect_nothing_typed(&mut session);
            }
        }
    }
}

#[test]
fn a_program_that_reads_gets_every_answer() {
    // More questions than a program gets answered that may just have begun: it is seen first, and given a key.
    let script = "old=$(stty -g); stty -icanon -echo min 1; echo begun; dd bs=1 count=1 2>/dev/null; \
        n=0; while [ $n -lt 41 ]; do printf '\\033[5n'; n=$((n+1)); done; \
        dd bs=1 count=164 2>/dev/null | tr '\\033' . > answers; stty \"$old\"; echo all of them";
    let Some(mut session) = shell(DASH, Make::Ours) else {
        return;
    };
    session.world.write("asks", script);
    session.terminal.type_keys("sh asks\n");
    session.terminal.wait_for_text("begun");
    session.terminal.type_keys("g");
    session.terminal.wait_for_text("all of them");
    let answers = std::fs::read_to_string(session.world.home().join("answers"));
    assert_eq!(answers.expect("it was written"), ".[0n".repeat(41));
    expect_nothing_typed(&mut session);
}

//! The status with which a client leaves when the program of its session has ended (docs/protocol.md §13.6).

use fulmar_platform::Spawn;

use crate::support::{Rules, Setup, Terminal, World, adopt_orphans, write_program};

/// Goes on for as long as the test's home is there, whatever becomes of the test.
const STAY: &str = "while [ -e ours ]; do sleep 1; done";

/// Runs `fulmar --local` with that command until it has ended, and returns its status.
#[track_caller]
fn status_of(world: &World, command: &[&str]) -> Option<i32> {
    adopt_orphans();
    let mut fulmar: Spawn = world.spawn(world.ours("fulmar"));
    fulmar.arg("--local").arg("--");
    for word in command {
        fulmar.arg(*word);
    }
    let mut terminal = Terminal::start(&fulmar, Setup::default().size, Rules::Client);
    let status = terminal.wait_for_end();
    terminal.expect_restored();
    status.code()
}

/// Puts a file into the home that may be executed, and returns its path.
fn executable(world: &World, content: &str) -> String {
    let path = world.home().join("program");
    write_program(&path, content);
    path.to_str().expect("text").to_owned()
}

#[test]
fn every_code_arrives_as_it_is() {
    let world = World::new();
    for code in [0, 1, 127, 255] {
        let script = format!("exit {code}");
        assert_eq!(status_of(&world, &["sh", "-c", &script]), Some(code));
    }
}

#[test]
fn a_signal_is_128_and_its_number() {
    let world = World::new();
    for (signal, number) in [("HUP", 1), ("KILL", 9), ("TERM", 15)] {
        let script = format!("kill -{signal} $$");
        let status = status_of(&world, &["sh", "-c", &script]);
        assert_eq!(status, Some(128 + number), "{signal}");
    }
}

#[test]
fn what_was_written_last_and_the_status_both_arrive() {
    let world = World::new();
    adopt_orphans();
    let mut fulmar = world.spawn(world.ours("fulmar"));
    for word in ["--local", "--", "sh", "-c", "echo last words; exit 9"] {
        fulmar.arg(word);
    }
    let mut terminal = Terminal::start(&fulmar, Setup::default().size, Rules::Client);
    assert_eq!(terminal.wait_for_end().code(), Some(9));
    // The screen with them may be gone by the time that it is looked at.
    terminal.wait_for_bytes(0, b"last words");
}

#[test]
fn the_status_is_that_of_the_program_and_not_of_what_it_left_behind() {
    let world = World::new();
    let script = format!("(trap '' HUP; {STAY}) & exit 6");
    assert_eq!(status_of(&world, &["sh", "-c", &script]), Some(6));
}

#[test]
fn a_program_that_lets_go_of_its_terminal_ends_the_session_without_a_status() {
    let world = World::new();
    let script = format!("exec <&- >&- 2>&-; {STAY}");
    assert_eq!(status_of(&world, &["sh", "-c", &script]), Some(0));
}

#[test]
fn a_program_that_cannot_be_started_has_the_status_that_shells_give() {
    let world = World::new();
    let missing = executable(&world, "#!/no/such/interpreter\n");
    assert_eq!(status_of(&world, &[&missing]), Some(127));
    let nonsense = executable(&world, "#!/\n");
    assert_eq!(status_of(&world, &[&nonsense]), Some(126));
}

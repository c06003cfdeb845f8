//! Typed keys are shown before the server has answered, on a real terminal; whether it has answered is
//! certain where nothing gets through.

use crate::support::{
    Make, Pair, Rules, Session, Setup, Terminal, Wire, World, for_each_make, row_text,
};

for_each_make! {
    keys_are_shown_while_nothing_gets_through
    who_wants_no_predictions_waits_for_the_server
    a_password_is_not_shown_while_nothing_gets_through
}

/// Asks in the second row, with echo, and says below when the answer to the first key is long past. Then
/// it asks the same without echo, and shows what it has read.
const ASKS_TWICE: &str = r"
    key() { dd bs=1 count=1 > /dev/null 2>&1; sleep 0.3; }
    below() { printf '\0337\033[%s\0338' $1; }
    printf '\033[H\033[2J\033[2;1Hready$ '
    stty -icanon
    key; below '9;1Hsettled'
    until [ -e go ]; do key; done
    stty -echo icanon
    printf '\r\nready$ '; sleep 0.3; below '10;1Hsilent'
    read -r word; stty echo; printf '\r\n<%s>' $word; read -r word";

/// A prompt behind a network, at which one key was typed and shown.
fn at_a_prompt(server: Make, mode: &str) -> Option<Session> {
    let mut world = World::new();
    world.set("MOSH_PREDICTION_DISPLAY", mode);
    let pair = Pair {
        server,
        client: Make::Ours,
    };
    let setup = Setup {
        wire: Wire::Relayed,
        command: &["sh", "-c", ASKS_TWICE],
        ..Setup::default()
    };
    let mut session = Session::start_in(world, pair, &setup)?;
    session.terminal.wait_for_text("ready$");
    session.terminal.type_keys("e");
    session.terminal.wait_for_text("settled");
    assert_eq!(row_text(session.terminal.screen(), 1), "ready$ e");
    Some(session)
}

/// Has the client say something, so that it has done with all that was typed before.
fn wait_for_notice(terminal: &mut Terminal) {
    terminal.type_keys("\x1e");
    terminal.wait_for_text(". to quit");
}

fn keys_are_shown_while_nothing_gets_through(server: Make) {
    // After a pause of 0.4 s the terminal has to echo again first, and a busy machine may make one.
    let is_shown = (0..5).any(|_| {
        let Some(mut session) = at_a_prompt(server, "always") else {
            return true;
        };
        session.relay().cut();
        session.terminal.type_keys("cho");
        wait_for_notice(&mut session.terminal);
        row_text(session.terminal.screen(), 1) == "ready$ echo"
    });
    assert!(is_shown);
}

fn who_wants_no_predictions_waits_for_the_server(server: Make) {
    let Some(mut session) = at_a_prompt(server, "never") else {
        return;
    };
    session.relay().cut();
    session.terminal.type_keys("cho");
    wait_for_notice(&mut session.terminal);
    assert_eq!(row_text(session.terminal.screen(), 1), "ready$ e");
}

fn a_password_is_not_shown_while_nothing_gets_through(server: Make) {
    let Some(mut session) = at_a_prompt(server, "always") else {
        return;
    };
    session.world.write("go", "");
    session.terminal.type_keys("\r");
    session.terminal.wait_for_text("silent");
    session.relay().cut();
    session.terminal.type_keys("hunter");
    wait_for_notice(&mut session.terminal);
    let shown = String::from_utf8_lossy(session.terminal.shown()).into_owned();
    assert!(!shown.contains("hunt"), "{shown}");
    session.relay().mend();
    session.terminal.type_keys("^\x7f\r");
    session.terminal.wait_for_text("hunter");
}

#[test]
fn a_trace_tells_what_was_decided_and_not_what_was_typed() {
    let world = World::new();
    world.write(".hushlogin", "");
    let trace = world.home().join("trace");
    let mut command = world.spawn(world.ours("fulmar"));
    command
        .arg("--local")
        .arg("--predict=always")
        .arg("--trace")
        .arg(&trace)
        .arg("--")
        .arg("sh")
        .arg("-c")
        .arg("echo go; cat");
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::Client);
    terminal.wait_for_text("go");
    for key in "zebra".chars() {
        terminal.type_keys(key.to_string());
        let typed = "zebra".split_inclusive(key).next().expect("it is a part");
        terminal.wait_for_text(typed);
    }
    terminal.type_keys("\r");
    terminal.wait_for("the answer", |screen| row_text(screen, 2) == "zebra");
    terminal.type_keys("\x04");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    let lines = std::fs::read_to_string(&trace).expect("it was written");
    assert!(lines.starts_with("# fulmar trace 2\n"), "{lines}");
    let typed = lines.matches(" typed key=").count();
    assert_eq!(typed, "zebra\r\x04".len(), "{lines}");
    for class in ["class=print ", "class=enter ", "class=delete "] {
        assert!(lines.contains(class), "{lines}");
    }
    assert!(!lines.contains("zebra"));
}

//! Programs that write to the user's clipboard (OSC 52).

use crate::support::{Make, Pair, Rules, Session, Setup, Terminal, World, adopt_orphans};

/// Writes a short text to the clipboard, and after a line a text of `length`, and tells of each.
fn script(length: usize) -> String {
    format!(
        "copy() {{ printf '\\033]52;c;%s\\007' \"$1\"; }}\n\
         copy aGk=; echo first; read line\n\
         copy $(head -c {length} /dev/zero | tr '\\0' A); echo second; read line"
    )
}

/// Returns what was written to the clipboard of that terminal.
fn written(terminal: &Terminal) -> Vec<String> {
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    let texts = shown.split("\x1b]52;c;").skip(1);
    texts
        .map(|text| text.split('\x07').next().unwrap_or_default().to_owned())
        .collect()
}

/// Follows the script to its end.
#[track_caller]
fn follow(terminal: &mut Terminal) {
    for word in ["first", "second"] {
        terminal.wait_for_text(word);
        terminal.type_keys("\n");
    }
    terminal.wait_for_end();
}

#[test]
fn a_text_that_is_too_long_for_stock_leaves_the_clipboard_as_it_is() {
    for server in [Make::Ours, Make::Stock] {
        let pair = Pair {
            server,
            client: Make::Ours,
        };
        let setup = Setup {
            command: &["sh", "-c", &script(20_001)],
            ..Setup::default()
        };
        let Some(mut session) = Session::start(pair, &setup) else {
            return;
        };
        follow(&mut session.terminal);
        assert_eq!(written(&session.terminal), ["aGk="], "{server:?}");
    }
}

#[test]
fn between_our_own_ends_a_long_text_arrives() {
    adopt_orphans();
    let world = World::new();
    let length = 100_000;
    let mut fulmar = world.spawn(world.ours("fulmar"));
    for word in ["--local", "--", "sh", "-c", &script(length)] {
        fulmar.arg(word);
    }
    let mut terminal = Terminal::start(&fulmar, Setup::default().size, Rules::Client);
    follow(&mut terminal);
    assert_eq!(written(&terminal), ["aGk=".to_owned(), "A".repeat(length)]);
}

#[test]
fn a_text_above_the_cap_leaves_the_clipboard_as_it_is() {
    adopt_orphans();
    let world = World::new();
    let mut fulmar = world.spawn(world.ours("fulmar"));
    for word in ["--local", "--", "sh", "-c", &script(140_000)] {
        fulmar.arg(word);
    }
    let mut terminal = Terminal::start(&fulmar, Setup::default().size, Rules::Client);
    follow(&mut terminal);
    assert_eq!(written(&terminal), ["aGk="]);
}

//! A user's keys reach the program, and the program's answers reach the user's screen.

use fulmar_platform::WindowSize;

use crate::support::{Pair, Session, Setup, Wire, for_each_pair, row_text};

for_each_pair! {
    a_typed_line_and_its_answer_are_drawn_exactly
    every_line_arrives_once_and_in_order
    every_byte_but_the_escape_key_arrives
    a_resize_is_seen_by_the_program
    text_of_all_widths_is_drawn_exactly
}

fn a_typed_line_and_its_answer_are_drawn_exactly(pair: Pair) {
    let Some(mut session) = Session::with_shell(pair, Wire::Direct) else {
        return;
    };
    let terminal = &mut session.terminal;
    let (first, _) = terminal.screen().cursor_position();
    terminal.type_keys("printf '<%s>\\n' 'a  b' c\n");
    terminal.wait_for_text("<c>");
    terminal.wait_for_prompt();
    let rows: Vec<String> = (first..first + 4)
        .map(|row| row_text(terminal.screen(), row))
        .collect();
    let expected = [
        "ready$ printf '<%s>\\n' 'a  b' c",
        "<a  b>",
        "<c>",
        "ready$",
    ];
    assert_eq!(rows, expected);
}

fn every_line_arrives_once_and_in_order(pair: Pair) {
    let Some(mut session) = Session::with_shell(pair, Wire::Direct) else {
        return;
    };
    let lines: String = (0..200)
        .map(|number| format!("line {number} of the text\n"))
        .collect();
    let terminal = &mut session.terminal;
    terminal.type_keys("stty -echo; cat > typed; stty echo; echo all\n");
    terminal.type_keys(&lines);
    terminal.type_keys(b"\x04");
    terminal.wait_for("all", |screen| {
        let (row, _) = screen.cursor_position();
        row > 0 && row_text(screen, row - 1).ends_with("all")
    });
    let typed = std::fs::read_to_string(session.world.home().join("typed")).expect("a file");
    assert_eq!(typed, lines);
}

fn every_byte_but_the_escape_key_arrives(pair: Pair) {
    // Ctrl-^ is for the client. The bytes of one value stand between letters, so that none forms a
    // sequence with its neighbour.
    let keys: Vec<u8> = (0..=255)
        .filter(|byte| *byte != 0x1e)
        .flat_map(|byte| [byte, b'x'])
        .collect();
    let script = format!(
        "stty raw -echo; echo go; head -c {} > typed; echo done; read line",
        keys.len()
    );
    let setup = Setup {
        command: &["sh", "-c", &script],
        ..Setup::default()
    };
    let Some(mut session) = Session::start(pair, &setup) else {
        return;
    };
    session.terminal.wait_for_text("go");
    session.terminal.type_keys(&keys);
    session.terminal.wait_for_text("done");
    let typed = std::fs::read(session.world.home().join("typed")).expect("a file");
    assert_eq!(typed, keys);
}

fn a_resize_is_seen_by_the_program(pair: Pair) {
    let Some(mut session) = Session::with_shell(pair, Wire::Direct) else {
        return;
    };
    let terminal = &mut session.terminal;
    terminal.type_keys("stty size\n");
    terminal.wait_for_text("24 80");
    for (rows, columns) in [(31, 97), (10, 40), (50, 200)] {
        terminal.resize(WindowSize { rows, columns });
        terminal.type_keys("clear; stty size\n");
        terminal.wait_for("the new size", |screen| {
            row_text(screen, 0) == format!("{rows} {columns}")
        });
        terminal.wait_for_prompt();
    }
}

fn text_of_all_widths_is_drawn_exactly(pair: Pair) {
    // Precomposed, combining, wide, right to left; what every table of widths agrees on.
    let text = "žluťoučký e\u{301}a\u{308} 你好 한국 שלום ½ → ┌─┐";
    let Some(mut session) = Session::with_shell(pair, Wire::Direct) else {
        return;
    };
    let terminal = &mut session.terminal;
    terminal.type_keys(format!("clear; echo '{text}'\n"));
    terminal.wait_for("the text", |screen| row_text(screen, 0) == text);
    terminal.wait_for_prompt();

    terminal.type_keys(text);
    terminal.wait_for("the text typed", |screen| {
        row_text(screen, 1) == format!("ready$ {text}")
    });
}

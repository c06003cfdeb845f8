//! Windows that become smaller or larger: text stays, and shells find their line.

use fulmar_platform::WindowSize;
use fulmar_testbed::peers;
use vt100::Screen;

use crate::support::{Make, Pair, Session, Setup, World, for_each_pair, row_text};

for_each_pair! {
    a_shell_in_windows_of_all_sizes
    bash_with_half_a_line
    zsh_with_half_a_line
    fish_with_half_a_line
}

const LINE: &str = "one line of text that is longer than the narrow window of forty columns";

fn window(rows: u16, columns: u16) -> WindowSize {
    WindowSize { rows, columns }
}

/// All rows, of each the text.
fn rows(screen: &Screen) -> Vec<String> {
    let (rows, _) = screen.size();
    (0..rows).map(|row| row_text(screen, row)).collect()
}

/// Returns true if one of these rows stands right below the other.
fn has_rows(screen: &Screen, wanted: &[&str]) -> bool {
    let rows = rows(screen);
    rows.windows(wanted.len()).any(|rows| rows == wanted)
}

/// A shell that draws nothing anew: its prompt is there in each window, and with a server of ours so is the text above it.
fn a_shell_in_windows_of_all_sizes(pair: Pair) {
    let Some(mut session) = Session::start(pair, &Setup::default()) else {
        return;
    };
    let terminal = &mut session.terminal;
    terminal.wait_for_prompt();
    terminal.type_keys(format!("clear; seq 18; echo {LINE}\n"));
    terminal.wait_for("the line above the prompt", |screen| {
        has_rows(screen, &["18", LINE, "ready$"])
    });
    let (first, second) = LINE.split_at(40);
    for (size, wanted) in [
        (window(6, 80), ["17", "18", LINE, "ready$"]),
        (window(24, 80), ["1", "2", "3", "4"]),
        (window(24, 40), ["18", first, second.trim_start(), "ready$"]),
        (window(6, 40), ["18", first, second.trim_start(), "ready$"]),
        (window(24, 120), ["17", "18", LINE, "ready$"]),
    ] {
        terminal.resize(size);
        if pair.server == Make::Ours {
            terminal.wait_for(&format!("{wanted:?}"), |screen| {
                let rows = rows(screen);
                let trimmed: Vec<&str> = rows.iter().map(|row| row.trim()).collect();
                trimmed.windows(wanted.len()).any(|rows| rows == wanted)
            });
        }
        // Stock's shorter window cuts off the prompt, which comes again.
        terminal.type_keys("\x15");
        if pair.server == Make::Stock {
            terminal.type_keys(format!("clear; seq 18; echo {LINE}\n"));
        }
        terminal.wait_for_prompt();
    }
}

fn bash_with_half_a_line(pair: Pair) {
    half_a_line(pair, &["bash", "--norc", "-i"], plain_prompt);
}

fn zsh_with_half_a_line(pair: Pair) {
    half_a_line(pair, &["zsh", "-f", "-i"], plain_prompt);
}

fn fish_with_half_a_line(pair: Pair) {
    // It may answer a key and only then draw its line for the new size. The prompt tells for which size it was drawn.
    let prompt = "function fish_prompt; echo -n $COLUMNS 'ready$ '; end; set -g fish_greeting";
    half_a_line(pair, &["fish", "-i", "-C", prompt], |columns| {
        format!("{columns} ready$")
    });
}

fn plain_prompt(_columns: u16) -> String {
    "ready$".to_owned()
}

/// The window is dragged about while half a line is typed. In the end the line is whole, and so is what stood above it.
fn half_a_line(pair: Pair, command: &[&str], prompt: fn(u16) -> String) {
    // Of what stock's server crops, fish draws a part anew.
    if pair.server == Make::Stock || peers::require(command[0]).is_none() {
        return;
    }
    let setup = Setup {
        command,
        ..Setup::default()
    };
    let Some(mut session) = Session::start_in(World::new(), pair, &setup) else {
        return;
    };
    let terminal = &mut session.terminal;
    let first_prompt = prompt(80);
    let first_line = format!("{first_prompt} seq 3");
    terminal.wait_for_last_row(&first_prompt);
    terminal.type_keys("seq 3\n");
    terminal.wait_for("three lines", |screen| {
        has_rows(screen, &[&first_line, "1", "2", "3", &first_prompt])
    });
    let mut typed = "echo alpha beta gamma delta epsilon zeta eta theta iota kappa ".to_owned();
    terminal.type_keys(&typed);
    terminal.wait_for_text(typed.trim_end());
    let mut state = 1_u32;
    for letter in 'a'..='p' {
        // Numerical Recipes' generator: any sizes will do in which the line can be seen.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let rows = (state >> 8) as u16 % 18 + 6;
        let columns = (state >> 20) as u16 % 90 + 30;
        terminal.resize(window(rows, columns));
        // Its echo tells that the shell has seen the new size.
        terminal.type_keys(letter.to_string());
        typed.push(letter);
        let line = format!("{}{typed}", prompt(columns)).replace(' ', "");
        terminal.wait_for(&line, |screen| {
            let text = rows_text(screen).replace(' ', "");
            text.contains(&line)
        });
    }
    // Not the size of the beginning: stock's client, which may have seen none in between, would not paint the screen anew.
    terminal.resize(window(23, 101));
    terminal.type_keys("q");
    let line = format!("{} {typed}q", prompt(101));
    terminal.wait_for("the whole line", |screen| {
        has_rows(screen, &[&first_line, "1", "2", "3", &line])
    });
}

/// The text of all rows, one behind the other.
fn rows_text(screen: &Screen) -> String {
    rows(screen).concat()
}

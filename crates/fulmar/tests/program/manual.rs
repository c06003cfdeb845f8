//! The texts made from the command line's definition: help, manual.

use std::path::Path;
use std::process::Output;

use crate::support::World;
use fulmar_testbed::peers;

fn run(world: &World, arguments: &[&str]) -> String {
    let mut command = world.command(world.ours("fulmar"));
    let output = command.args(arguments).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    assert_eq!(output.stderr, b"", "{arguments:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn shown(world: &World, man: &Path, page: &str, name: &str) -> Output {
    let file = world.write(name, page);
    let mut command = world.command(man);
    command.env("MANWIDTH", "80").env("MANROFFOPT", "-ww");
    command.arg("--warnings").arg("-Tutf8").arg("-l").arg(file);
    command.output().expect("it starts")
}

#[test]
fn man_shows_every_page_without_a_warning() {
    let Some(man) = peers::require("man") else {
        return;
    };
    let world = World::new();
    let wrong = shown(
        &world,
        &man,
        ".TH X 1\n.SH NAME\n.NOSUCH\nx \\- y\n",
        "wrong.1",
    );
    assert_ne!(wrong.stderr, b"", "what is wrong is told");
    for (part, words) in [
        (
            "fulmar",
            &["EXIT STATUS", "FULMAR_PREDICT", "Ctrl-^ .", "--bind-server"][..],
        ),
        ("server", &["PORT[:PORT2]"]),
        ("client", &["MOSH_KEY", "ADDRESS"]),
        ("config", &["--ssh"]),
    ] {
        let page = run(&world, &["man", part]);
        let output = shown(&world, &man, &page, &format!("{part}.1"));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{part}");
        // Without the bold of old printers: a letter, a step back, the letter.
        let text = String::from_utf8(output.stdout).expect("text");
        let mut plain = String::new();
        for letter in text.chars() {
            match letter {
                '\x08' => drop(plain.pop()),
                letter => plain.push(letter),
            }
        }
        for word in words {
            assert!(plain.contains(word), "no {word} in {plain}");
        }
    }
}

#[test]
fn the_short_help_is_shorter_and_both_fit_the_window() {
    let world = World::new();
    let short = run(&world, &["-h"]);
    let long = run(&world, &["--help"]);
    assert!(short.lines().count() * 2 < long.lines().count());
    for word in ["--predict", "--port", "--local", "--log"] {
        assert!(short.contains(word), "{word}");
    }
    for word in ["Examples:", "--ssh-pty", "--bind-server"] {
        assert!(long.contains(word) && !short.contains(word), "{word}");
    }
}

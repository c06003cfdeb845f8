//! The texts made from the command line's definition: help, manual, completions.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Rules, Setup, Terminal, World};
use fulmar_testbed::peers;

fn run(world: &World, arguments: &[&str]) -> String {
    let mut command = world.command(world.ours("fulmar"));
    let output = command.args(arguments).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    assert_eq!(output.stderr, b"", "{arguments:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Writes what completes our words in a shell.
fn completions(world: &World, shell: &str) -> PathBuf {
    let script = run(world, &["completions", shell]);
    world.write(&format!("script.{shell}"), script)
}

/// Returns what a shell prints that has been given a script, and nothing to complain about.
#[track_caller]
fn told_by(mut shell: Command, script: &str) -> String {
    let output = shell.arg("-c").arg(script).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn bash_completes_options_and_their_words() {
    let Some(bash) = peers::require("bash") else {
        return;
    };
    let world = World::new();
    let file = completions(&world, "bash");
    let ask = |words: &str, place: usize, word: &str, before: &str| {
        let mut shell = world.command(&bash);
        shell.arg("--norc").arg("--noprofile");
        let script = format!(
            "source {}; complete -p fulmar; COMP_WORDS=({words}); COMP_CWORD={place}; \
             _fulmar fulmar '{word}' '{before}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        told_by(shell, &script)
    };
    let options = ask("fulmar --predict-o", 1, "--predict-o", "fulmar");
    assert!(
        options.lines().any(|line| line == "--predict-overwrite"),
        "{options}"
    );
    assert!(options.starts_with("complete "), "{options}");
    let words = ask("fulmar --predict al", 2, "al", "--predict");
    assert!(words.lines().any(|line| line == "always"), "{words}");
    let parts = ask("fulmar comp", 1, "comp", "fulmar");
    assert!(parts.lines().any(|line| line == "completions"), "{parts}");
}

#[test]
fn fish_completes_options_and_their_words() {
    let Some(fish) = peers::require("fish") else {
        return;
    };
    let world = World::new();
    std::fs::create_dir(world.home().join(".ssh")).expect("a folder");
    world.write(".ssh/config", "Host walrus.example.org\n");
    world.write("walnut", "not a host");
    let file = completions(&world, "fish");
    let ask = |line: &str| {
        let mut shell = world.command(&fish);
        shell.arg("--no-config");
        told_by(
            shell,
            &format!("source {}; complete -C '{line}'", file.display()),
        )
    };
    let options = ask("fulmar --predict-");
    assert!(options.starts_with("--predict-overwrite"), "{options}");
    let words = ask("fulmar --predict al");
    assert!(words.starts_with("always"), "{words}");
    let parts = ask("fulmar comp");
    assert!(parts.starts_with("completions"), "{parts}");
    let hosts = ask("fulmar wal");
    assert!(hosts.starts_with("walrus.example.org"), "{hosts}");
}

#[test]
fn zsh_completes_options_and_their_words() {
    let Some(zsh) = peers::require("zsh") else {
        return;
    };
    let world = World::new();
    completions(&world, "zsh");
    let mut shell = world.spawn(zsh);
    shell.arg("-f").arg("-i");
    let mut terminal = Terminal::start(&shell, Setup::default().size, Rules::None);
    terminal.wait_for_prompt();
    terminal.type_keys("autoload -Uz compinit; compinit -D -u; source ./script.zsh; clear\n");
    terminal.wait_for_prompt();
    terminal.type_keys("fulmar --predict-\t");
    terminal.wait_for_text("fulmar --predict-overwrite");
    terminal.type_keys("\x15fulmar --predict al\t");
    terminal.wait_for_text("fulmar --predict always");
    terminal.type_keys("\x15fulmar comp\t");
    terminal.wait_for_text("fulmar completions");
    terminal.type_keys("\x15exit\n");
    terminal.wait_for_end();
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

//! The words that bash, zsh and fish complete, in the real shells on a terminal.

use fulmar_platform::Spawn;
use fulmar_testbed::peers;

use crate::login::scene::{FAR, Plan, Scene};
use crate::support::network::Families;
use crate::support::{PROMPT, Person, Rules, Setup, Terminal, World, row_text};

/// A shell whose user completes words.
#[derive(Clone, Copy, Debug)]
struct Shell {
    name: &'static str,
    /// The options with which it reads no files of anybody's.
    options: &'static [&'static str],
    /// The command that loads the script that `fulmar completions` prints.
    load: &'static str,
}

const BASH: Shell = Shell {
    name: "bash",
    options: &["--norc", "--noprofile", "-i"],
    load: "source <(fulmar completions bash); clear",
};

const ZSH: Shell = Shell {
    name: "zsh",
    options: &["-f", "-i"],
    load: "autoload -Uz compinit; compinit -D -u; source <(fulmar completions zsh); clear",
};

const FISH: Shell = Shell {
    name: "fish",
    options: &[
        "--no-config",
        "-i",
        "-C",
        "set fish_autosuggestion_enabled 0; function fish_prompt; printf 'ready$ '; end",
    ],
    load: "fulmar completions fish | source; clear",
};

impl Shell {
    /// Adds its options, and a prompt, to its name.
    fn arguments(self, command: &mut Spawn) {
        for option in self.options {
            command.arg(*option);
        }
        command.env("PS1", PROMPT);
    }

    /// Has the shell load the script.
    #[track_caller]
    fn prepare(self, terminal: &mut Terminal) {
        terminal.wait_for_prompt();
        terminal.type_keys(format!("{}\n", self.load));
        terminal.wait_for("an empty screen with a prompt", |screen| {
            row_text(screen, 0) == PROMPT.trim_end() && screen.cursor_position().0 == 0
        });
    }
}

/// Types the beginning of a line and the key that completes it, and expects what stands there then. What follows is
/// marked, so that a blank at the end is seen.
#[track_caller]
fn expect(terminal: &mut Terminal, typed: &str, completed: &str) {
    terminal.type_keys(format!("{typed}\tX"));
    let wanted = format!("{PROMPT}{completed}X");
    terminal.wait_for(&format!("{wanted:?}"), |screen| {
        let (row, _) = screen.cursor_position();
        row_text(screen, row) == wanted
    });
    terminal.type_keys("\x15");
    terminal.wait_for_prompt();
}

fn leave(terminal: &mut Terminal) {
    terminal.type_keys("exit\n");
    terminal.wait_for_end();
}

/// The home of somebody who has used ssh.
fn home() -> World {
    let mut world = World::new();
    for folder in [".ssh", "pictures"] {
        std::fs::create_dir(world.home().join(folder)).expect("a folder");
    }
    world.write(
        ".ssh/config",
        "Host walrus.example.org *.net\nInclude more\n",
    );
    world.write(".ssh/more", "Host seal\n");
    let known = "auk,192.0.2.7 ssh-rsa AAAA\n|1|a=|b= ssh-rsa AAAA\n";
    world.write(".ssh/known_hosts", known);
    world.write("report.txt", "");
    world.write("a blank", "");
    let path = format!("{}:/usr/bin:/bin", world.home().join("ours").display());
    world.set("PATH", &path);
    world
}

/// Completes words in a shell that may not be installed.
fn expect_words(shell: Shell) {
    let Some(program) = peers::require(shell.name) else {
        return;
    };
    let world = home();
    let mut command = world.spawn(program);
    shell.arguments(&mut command);
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::None);
    shell.prepare(&mut terminal);
    for (typed, completed) in [
        // Flags and their values.
        ("fulmar --predict-o", "fulmar --predict-overwrite "),
        ("fulmar --predict al", "fulmar --predict always "),
        ("fulmar --predict=al", "fulmar --predict=always "),
        ("fulmar --log rep", "fulmar --log report.txt "),
        ("fulmar --log=rep", "fulmar --log=report.txt "),
        ("fulmar cp --rec", "fulmar cp --recursive "),
        ("fulmar cp --re", "fulmar cp --re"),
        ("fulmar server --tr", "fulmar server --trace "),
        // Subcommands, of which some are not for people.
        ("fulmar compl", "fulmar completions "),
        ("fulmar copy", "fulmar copy"),
        ("fulmar completions zs", "fulmar completions zsh "),
        ("fulmar man cli", "fulmar man client "),
        // Hosts.
        ("fulmar wal", "fulmar walrus.example.org "),
        ("fulmar ada@wal", "fulmar ada@walrus.example.org "),
        ("fulmar -n sea", "fulmar -n seal "),
        ("fulmar au", "fulmar auk "),
        ("fulmar 192", "fulmar 192.0.2.7 "),
        ("fulmar config wal", "fulmar config walrus.example.org "),
        ("fulmar auk re", "fulmar auk re"),
        // Files.
        ("fulmar cp -r rep", "fulmar cp -r report.txt "),
        ("fulmar cp a\\ bl", "fulmar cp a\\ blank "),
        ("fulmar cp pic", "fulmar cp pictures/"),
        ("fulmar cp ./rep", "fulmar cp ./report.txt "),
        ("fulmar cp wal", "fulmar cp walrus.example.org:"),
        (
            "fulmar cp report.txt ada@sea",
            "fulmar cp report.txt ada@seal:",
        ),
        ("fulmar cp -i rep", "fulmar cp -i report.txt "),
    ] {
        // Where several words are possible, they are listed.
        if !(shell.name != "bash" && typed == "fulmar cp --re") {
            expect(&mut terminal, typed, completed);
        }
    }
    leave(&mut terminal);
}

#[test]
fn bash_completes_what_the_user_means() {
    expect_words(BASH);
}

#[test]
fn zsh_completes_what_the_user_means() {
    expect_words(ZSH);
}

#[test]
fn fish_completes_what_the_user_means() {
    expect_words(FISH);
}

/// Completes paths on another machine, before and after there is a connection to it.
fn expect_paths(shell: Shell) {
    let Some(program) = peers::require(shell.name) else {
        return;
    };
    let plan = Plan {
        config: "ControlPath ~/.ssh/master\n",
        families: Families::V4,
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    for folder in ["pictures", "a blank", "a blank/deep", "it's one"] {
        scene.far.folder(Person::Bob, folder);
    }
    scene.far.write_home(Person::Bob, "pictures/fjord.jpg", "");
    let mut command = scene.near.spawn(Person::Alice, program);
    shell.arguments(&mut command);
    let size = Setup::default().size;
    let mut terminal = scene.near.terminal(&command, size, Rules::None);
    shell.prepare(&mut terminal);
    let host = format!("fulmar cp bob@{FAR}");
    let unknown = format!("{host}:pic");
    expect(&mut terminal, &unknown, &unknown);
    terminal.type_keys(format!("ssh -MNf bob@{FAR}; clear\n"));
    terminal.wait_for("an empty screen with a prompt", |screen| {
        row_text(screen, 0) == PROMPT.trim_end()
    });
    for (typed, completed) in [
        (":pic", ":pictures/"),
        (":pictures/f", ":pictures/fjord.jpg "),
        // Zsh quotes the tilde, to the same effect.
        (
            ":~/pic",
            if shell.name == "zsh" {
                ":\\~/pictures/"
            } else {
                ":~/pictures/"
            },
        ),
        (":a\\ b", ":a\\ blank/"),
    ] {
        expect(
            &mut terminal,
            &format!("{host}{typed}"),
            &format!("{host}{completed}"),
        );
    }
    if shell.name == "bash" {
        // Behind a quote that is closed bash replaces all of it.
        for (typed, completed) in [
            ("\"HOST:a blank/\"", "HOST:a\\ blank/deep/"),
            ("'HOST:a blank/'d", "HOST:a\\ blank/deep/"),
            ("HOST:\"a blank/\"", "HOST:a\\ blank/deep/"),
            ("\"HOST:it's o\"", "HOST:it\\'s\\ one/"),
            ("\"HOST:it's o", "\"HOST:it's one/\""),
            ("'HOST:a bl", "'HOST:a blank/'"),
        ] {
            let [typed, completed] = [typed, completed]
                .map(|line| format!("fulmar cp {}", line.replace("HOST", &format!("bob@{FAR}"))));
            expect(&mut terminal, &typed, &completed);
        }
    }
    leave(&mut terminal);
    let mut close = scene.near.command(Person::Alice, "ssh");
    close.args(["-O", "exit", &format!("bob@{FAR}")]);
    scene.near.output_of(&mut close);
    scene.expect_nothing_left();
}

#[test]
fn bash_completes_paths_over_an_open_connection_of_ssh() {
    expect_paths(BASH);
}

#[test]
fn zsh_completes_paths_over_an_open_connection_of_ssh() {
    expect_paths(ZSH);
}

#[test]
fn fish_completes_paths_over_an_open_connection_of_ssh() {
    expect_paths(FISH);
}

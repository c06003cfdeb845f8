//! Login shells, of which some are not POSIX, and what people have in their files.

use super::scene::{
    FAR, Plan, Scene, Starter, expect_login, expect_refusal, expect_session, for_each_starter,
};
use crate::support::Person;
use fulmar_testbed::peers;

for_each_starter! {
    dash: fulmar mosh;
    bash: fulmar mosh;
    zsh: fulmar mosh;
    fish: fulmar mosh;
    tcsh: fulmar mosh;
    rc: fulmar mosh ssh;
    a_shell_that_knows_words_only: fulmar mosh ssh;
    a_bashrc_that_prints: fulmar mosh;
    a_bashrc_that_waits_for_a_line: fulmar;
    a_bashrc_that_takes_all_input: fulmar;
    a_bashrc_that_tries_tmux: fulmar;
    a_bashrc_that_becomes_tmux: fulmar;
    a_bashrc_that_becomes_zsh: fulmar;
    a_bashrc_that_becomes_tcsh: fulmar;
    a_bashrc_that_becomes_fish: fulmar;
    a_bashrc_that_becomes_fish_before_a_copy: fulmar;
    a_bashrc_that_takes_longer_than_fish_is_waited_for: fulmar;
}

/// Logs in to a shell of the distribution whose start file is `file`.
fn with_shell(starter: Starter, shell: &str, file: &str, lines: &str) {
    let Some(program) = peers::require(shell) else {
        return;
    };
    let plan = Plan {
        shell: &program.display().to_string(),
        ..Plan::default()
    };
    expect_login(starter, &plan, |scene| write_start_file(scene, file, lines));
}

fn write_start_file(scene: &Scene, file: &str, lines: &str) {
    if let Some((folder, _)) = file.rsplit_once('/') {
        scene.far.folder(Person::Bob, folder);
    }
    scene.far.write_home(Person::Bob, file, lines);
}

fn dash(starter: Starter) {
    with_shell(starter, "dash", ".profile", "PS1='ready$ '\n");
}

fn bash(starter: Starter) {
    with_shell(starter, "bash", ".bash_profile", "PS1='ready$ '\n");
}

fn zsh(starter: Starter) {
    with_shell(starter, "zsh", ".zshrc", "PS1='ready$ '\n");
}

const FISH_FILE: &str = ".config/fish/config.fish";
const FISH_LINES: &str =
    "function fish_prompt\n    printf 'ready$ '\nend\nset -g fish_greeting ''\n";

fn fish(starter: Starter) {
    with_shell(starter, "fish", FISH_FILE, FISH_LINES);
}

fn tcsh(starter: Starter) {
    with_shell(starter, "tcsh", ".tcshrc", "set prompt = 'ready$ '\n");
}

fn rc(starter: Starter) {
    with_shell(starter, "rc", ".rcrc", "prompt = ('ready$ ' '')\n");
}

/// Cuts a line into words as a POSIX shell would, and does nothing else: no variables, no `;`, no
/// redirection.
const WORDS_ONLY: &str = "#!/usr/bin/python3
import os, shlex, subprocess, sys

def run(line):
    words = shlex.split(line)
    if words[:1] == ['exit']:
        sys.exit(int(words[1]))
    if words:
        return subprocess.call(words)

if sys.argv[1:2] == ['-c']:
    words = shlex.split(sys.argv[2])
    os.execvp(words[0], words)
while True:
    try:
        run(input('ready$ '))
    except EOFError:
        sys.exit(0)
";

fn a_shell_that_knows_words_only(starter: Starter) {
    let plan = Plan {
        shell: "/usr/local/bin/words-only",
        ..Plan::default()
    };
    if peers::require("python3").is_none() {
        return;
    }
    expect_login(starter, &plan, |scene| {
        scene
            .far
            .write_program("/usr/local/bin/words-only", WORDS_ONLY);
    });
}

/// Logs in to a bash whose `.bashrc` begins with these lines; bash reads it for ssh's commands, too.
fn with_bashrc(starter: Starter, lines: &str) {
    let plan = Plan {
        shell: "/bin/bash",
        ..Plan::default()
    };
    expect_login(starter, &plan, |scene| prepare_bash(scene, lines));
}

/// Gives Bob a `.bashrc` with these lines and a prompt, for login shells too.
fn prepare_bash(scene: &Scene, lines: &str) {
    let lines = format!("{lines}\nPS1='ready$ '\n");
    scene.far.write_home(Person::Bob, ".bashrc", lines);
    scene
        .far
        .write_home(Person::Bob, ".bash_profile", ". ~/.bashrc\n");
}

/// Turns red, changes the title and asks for an answer, on both streams.
const PRINTS: &str = "printf 'wel\\033[31mcome\\033]0;title\\a\\n'; printf 'mind\\033[6n\\n' >&2";

fn a_bashrc_that_prints(starter: Starter) {
    let plan = Plan {
        shell: "/bin/bash",
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    prepare_bash(&scene, &format!("shopt -q login_shell || {{ {PRINTS}; }}"));
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    expect_session(&scene, starter, &mut terminal);
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    let (raw, escaped) = (shown.contains("\x1b[6n"), shown.contains("mind\\u{1b}[6n"));
    // Stock, as ssh, passes on what comes.
    assert_eq!(
        (raw, escaped),
        (starter != Starter::Fulmar, starter == Starter::Fulmar),
        "{shown:?}"
    );
}

fn a_bashrc_that_waits_for_a_line(starter: Starter) {
    // In the session, whose shell is one, it would wait for Bob.
    with_bashrc(
        starter,
        "shopt -q login_shell || read -r -p 'press enter ' line",
    );
}

fn a_bashrc_that_takes_all_input(starter: Starter) {
    // head reads as much as there is, not a line.
    with_bashrc(starter, "shopt -q login_shell || head -n 1 >/dev/null");
}

fn a_bashrc_that_tries_tmux(starter: Starter) {
    if peers::require("tmux").is_none() {
        return;
    }
    with_bashrc(
        starter,
        "shopt -q login_shell || tmux new-session -A -s main",
    );
}

fn a_bashrc_that_becomes_tmux(starter: Starter) {
    let plan = Plan {
        shell: "/bin/bash",
        ..Plan::default()
    };
    if peers::require("tmux").is_none() {
        return;
    }
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    prepare_bash(&scene, "exec tmux new-session -A -s main");
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    // tmux says why it cannot; no command can be run there.
    expect_refusal(&mut terminal, "open terminal failed: not a terminal");
    scene.expect_nothing_left();
}

/// Gives Bob a bash that becomes another shell, which reads this file when it starts.
fn becoming(shell: &str, file: &str, lines: &str) -> Option<Scene> {
    peers::require(shell)?;
    let plan = Plan {
        shell: "/bin/bash",
        ..Plan::default()
    };
    let scene = Scene::new(&plan)?;
    prepare_bash(&scene, &format!("exec {shell}"));
    write_start_file(&scene, file, lines);
    Some(scene)
}

fn a_bashrc_that_becomes_zsh(starter: Starter) {
    if let Some(scene) = becoming("zsh", ".zshrc", "PS1='ready$ '\n")
        && let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")])
    {
        expect_session(&scene, starter, &mut terminal);
    }
}

fn a_bashrc_that_becomes_tcsh(starter: Starter) {
    if let Some(scene) = becoming("tcsh", ".tcshrc", "set prompt = 'ready$ '\n")
        && let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")])
    {
        expect_session(&scene, starter, &mut terminal);
    }
}

fn a_bashrc_that_becomes_fish(starter: Starter) {
    // It reads all of its input before it runs any of it: that has to end first.
    if let Some(scene) = becoming("fish", FISH_FILE, FISH_LINES)
        && let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")])
    {
        terminal.wait_for_text("runs another shell (exec fish)");
        expect_session(&scene, starter, &mut terminal);
    }
}

fn a_bashrc_that_becomes_fish_before_a_copy(starter: Starter) {
    let target = format!("bob@{FAR}:");
    if let Some(scene) = becoming("fish", FISH_FILE, FISH_LINES) {
        scene.near.write_home(Person::Alice, "file", "hello");
        let Some(mut terminal) = scene.start(starter, &["cp", "-v", "file", &target]) else {
            return;
        };
        assert_eq!(terminal.wait_for_end().code(), Some(0));
        terminal.wait_for_text("s: ssh is logged in");
        terminal.wait_for_text("runs another shell (exec fish)");
        let copied = scene.far.read_home(Person::Bob, "file");
        assert_eq!(copied.as_deref(), Some("hello"));
        scene.expect_nothing_left();
    }
}

fn a_bashrc_that_takes_longer_than_fish_is_waited_for(starter: Starter) {
    // The input has ended when the server reads it, and the login has not.
    with_bashrc(starter, "shopt -q login_shell || sleep 12");
}

//! Programs that draw whole screens look as they do in a plain terminal.
//!
//! Each program is run twice, in a plain terminal and in a session of the same size, and gets the
//! same keys. Both screens are judged by the same emulator, and are to be the same, cell by cell.

use fulmar_platform::WindowSize;
use vt100::Screen;

use crate::full_screen::{self, changed_text, text};
use crate::support::{
    Pair, Rules, Session, Setup, Terminal, World, for_each_pair, holds, row_text, wait_until_same,
};
use fulmar_testbed::peers;

for_each_pair! {
    vim
    less
    tmux
    htop
    mc
    dialog
    man
    python
    git_diff
}

/// The same program in a plain terminal and in a session.
pub(super) struct Twins {
    plain: Terminal,
    /// Dropped last: both programs live in its home.
    session: Session,
}

impl Twins {
    /// Starts both in one home that was prepared; `None` if the calling test is to return.
    #[track_caller]
    pub(super) fn start(world: World, pair: Pair, command: &[&str]) -> Option<Self> {
        let setup = Setup {
            command,
            ..Setup::default()
        };
        let mut spawn = world.spawn(command[0]);
        for argument in &command[1..] {
            spawn.arg(*argument);
        }
        let session = Session::start_in(world, pair, &setup)?;
        let plain = Terminal::start(&spawn, setup.size, Rules::None);
        Some(Self { plain, session })
    }

    /// The screens of the plain terminal and of the session.
    pub(super) fn screens(&self) -> [&Screen; 2] {
        [self.plain.screen(), self.session.terminal.screen()]
    }

    /// Types `keys` at both and waits until both have changed and show the same, with `text` in it.
    #[track_caller]
    fn after(&mut self, keys: &str, text: &str) {
        self.until(keys, &format!("{text:?}"), |screen| holds(screen, text));
    }

    /// Types `keys` at both and waits until both have changed and show the same, of which
    /// `is_there` holds.
    #[track_caller]
    fn until(&mut self, keys: &str, what: &str, is_there: impl Fn(&Screen) -> bool) {
        let before = self.plain.screen().state_formatted();
        self.plain.type_keys(keys);
        self.session.terminal.type_keys(keys);
        wait_until_same(
            &mut self.plain,
            &mut self.session.terminal,
            what,
            |screen| screen.state_formatted() != before && is_there(screen),
        );
    }

    /// Waits until both show the same, with `text` in it.
    #[track_caller]
    pub(super) fn wait_until_same(&mut self, text: &str) {
        let what = format!("{text:?}");
        wait_until_same(
            &mut self.plain,
            &mut self.session.terminal,
            &what,
            |screen| holds(screen, text),
        );
    }

    /// Changes the size of both and waits until both show the same, with `text` in the given row
    /// from below, where it is not before the program has drawn anew.
    #[track_caller]
    fn resize(&mut self, rows: u16, columns: u16, row_from_below: u16, text: &str) {
        let size = WindowSize { rows, columns };
        self.plain.resize(size);
        self.session.terminal.resize(size);
        let what = format!("{text:?} at the new size");
        wait_until_same(
            &mut self.plain,
            &mut self.session.terminal,
            &what,
            |screen| row_text(screen, rows - 1 - row_from_below).contains(text),
        );
    }

    /// Types `keys` at both, upon which both are to end.
    #[track_caller]
    fn end_after(mut self, keys: &str) {
        self.plain.type_keys(keys);
        self.session.terminal.type_keys(keys);
        self.plain.wait_for_end();
        let status = self.session.terminal.wait_for_end();
        assert_eq!(status.code(), Some(0), "the client's status");
        self.session.terminal.expect_restored();
    }
}

fn vim(pair: Pair) {
    if peers::require("vim").is_none() {
        return;
    }
    let command = [
        "vim",
        "-n",
        "-u",
        "NONE",
        "-i",
        "NONE",
        "-N",
        "--cmd",
        "set ruler showmode t_u7= t_RV=",
        "-c",
        "syntax on",
        "text.c",
    ];
    let world = World::new();
    world.write("text.c", text());
    let Some(mut twins) = Twins::start(world, pair, &command) else {
        return;
    };
    twins.wait_until_same("1,1");
    twins.after("50Gzt", "50,1");
    twins.after("oinserted 한국\x1b", "51,");
    twins.after("/107\r", "107");
    twins.after(":vsplit\r:set number\r", "107 ");
    twins.resize(30, 100, 1, "text.c");
    twins.after("\x15\x15\x05", "text.c");
    twins.end_after(":qa!\r");
}

fn less(pair: Pair) {
    if peers::require("less").is_none() {
        return;
    }
    let world = World::new();
    world.write("text", text());
    let Some(mut twins) = Twins::start(world, pair, &["less", "-M", "text"]) else {
        return;
    };
    twins.wait_until_same("lines 1-");
    twins.after(" ", "return");
    twins.after("G", "(END)");
    twins.after("b", "return");
    twins.after("?107\r", "107");
    twins.after("-S", "Chop long lines");
    twins.after("\r", "107");
    twins.end_after("q");
}

fn tmux(pair: Pair) {
    if peers::require("tmux").is_none() {
        return;
    }
    let world = World::new();
    world.write("tmux.conf", full_screen::TMUX_SETTINGS);
    let Some(mut twins) = Twins::start(world, pair, &full_screen::TMUX) else {
        return;
    };
    twins.wait_until_same("ready$");
    twins.after("echo upper pane\n", "upper pane");
    // What is typed before a shell's first prompt is echoed twice.
    twins.until("\x02\"", "a prompt below", |screen| {
        (1..23).any(|row| {
            row_text(screen, row - 1).contains("───") && row_text(screen, row).contains("ready$")
        })
    });
    twins.after("echo lower pane 你好\n", "lower pane 你好");
    twins.after("\x02%", "│ready$");
    twins.resize(30, 100, 0, "[inside]");
    twins.after("echo after the resize\n", "after the resize");
    twins.until("exit\n", "two panes", |screen| !holds(screen, "┬"));
    twins.until("exit\n", "one pane", |screen| !holds(screen, "───"));
    twins.end_after("exit\n");
}

fn htop(pair: Pair) {
    if peers::require("htop").is_none() {
        return;
    }
    // Its main screen is never the same twice; its help is.
    let Some(mut twins) = Twins::start(World::new(), pair, &["htop", "-d", "100"]) else {
        return;
    };
    for terminal in [&mut twins.plain, &mut twins.session.terminal] {
        terminal.wait_for_text("F10");
        terminal.type_keys("?");
    }
    twins.wait_until_same("trace syscalls");
    for terminal in [&mut twins.plain, &mut twins.session.terminal] {
        terminal.type_keys(" ");
        terminal.wait_for_text("F10");
    }
    twins.end_after("q");
}

fn mc(pair: Pair) {
    if peers::require("mc").is_none() {
        return;
    }
    let world = World::new();
    world.write("ini", full_screen::MC_SETTINGS);
    std::fs::create_dir(world.home().join("folder")).expect("a folder");
    world.write("folder/ein Text", text());
    world.write("folder/žluťoučký 你好", "");
    let Some(mut twins) = Twins::start(world, pair, &full_screen::MC) else {
        return;
    };
    twins.wait_until_same("žluťoučký");
    twins.after("\x1bOB\x1bOR", "return");
    twins.after("\x1b[6~", "return");
    twins.after("\x1b[21~", "žluťoučký");
    twins.after("\x1b[20~", "Left");
    twins.after("\r", "Listing");
    twins.after("\x1b\x1b", "žluťoučký");
    twins.end_after("\x1b[21~");
}

fn dialog(pair: Pair) {
    if peers::require("dialog").is_none() {
        return;
    }
    let Some(mut twins) = Twins::start(World::new(), pair, &full_screen::DIALOG) else {
        return;
    };
    twins.wait_until_same("the third");
    twins.after("\x1bOB", "the second");
    twins.after("\t", "Cancel");
    twins.end_after("\r");
}

fn man(pair: Pair) {
    if peers::require("man").is_none() {
        return;
    }
    let mut world = World::new();
    world.write("fulmar.1", full_screen::manual());
    world.set("MANWIDTH", "78");
    world.set("PAGER", "less");
    let Some(mut twins) = Twins::start(world, pair, &["man", "-l", "fulmar.1"]) else {
        return;
    };
    twins.wait_until_same("SYNOPSIS");
    twins.after(" ", "whatever");
    twins.after("G", "(END)");
    twins.end_after("q");
}

fn python(pair: Pair) {
    if peers::require("python3").is_none() {
        return;
    }
    let Some(mut twins) = Twins::start(World::new(), pair, &["python3", "-q", "-i"]) else {
        return;
    };
    for terminal in [&mut twins.plain, &mut twins.session.terminal] {
        terminal.wait_for_text(">>>");
        // Stock's session does not begin in the first row (docs/protocol.md §2.6).
        terminal.type_keys("\x0c");
    }
    twins.wait_until_same(">>>");
    twins.after("sum(range(101))\n", "5050");
    twins.after(
        "for n in range(30): print('\\x1b[3%dm' % (n % 8), n, '你好')\n\n",
        " 29 ",
    );
    twins.after("print('\\x1b[m')\n", ">>>");
    twins.end_after("exit()\n");
}

fn git_diff(pair: Pair) {
    if peers::require("git").is_none() {
        return;
    }
    let mut world = World::new();
    world.write("before.c", text());
    world.write("after.c", changed_text());
    world.set("GIT_PAGER", "less -R");
    world.set("GIT_CONFIG_NOSYSTEM", "1");
    let command = [
        "git",
        "diff",
        "--no-index",
        "--color=always",
        "--word-diff=color",
        "before.c",
        "after.c",
    ];
    let Some(mut twins) = Twins::start(world, pair, &command) else {
        return;
    };
    twins.wait_until_same("while");
    twins.after(" ", "while");
    twins.after("G", "(END)");
    twins.end_after("q");
}

//! The programs that are looked at, and the keys that they are given.

use super::pages::{self, CURSOR_PAGES};
use super::program::Program;
use crate::full_screen;
use crate::support::World;

/// Writes the files that the commands name.
pub(super) fn prepare(world: &World) {
    let before = full_screen::text();
    world.write("text.c", &before);
    world.write("after.c", full_screen::changed_text());
    std::fs::create_dir(world.home().join("folder")).expect("a folder");
    world.write("folder/ein Text", &before);
    world.write("folder/žluťoučký 你好", "");
    world.write("man.1", full_screen::manual());
    std::fs::create_dir(world.home().join("plugins")).expect("a folder");
    world.write("plugins/.zshrc", ZSH_PLUGINS);
    world.write("card.py", RICH_CARD);
    world.write("widgets.py", TEXTUAL_WIDGETS);
    world.write("ini", full_screen::MC_SETTINGS);
    world.write(".zshrc", ZSH_SETTINGS);
    let tmux = format!(
        "{}set -g destroy-unattached on\n",
        full_screen::TMUX_SETTINGS
    );
    world.write("tmux.conf", tmux);
    for (name, pages) in pages::all() {
        for (number, page) in (1..).zip(pages) {
            world.write(&format!("{name}.{number}"), page);
        }
    }
}

const ZSH_SETTINGS: &str = "autoload -U compinit; compinit -D
PS1='%F{red}%~%f %# ' RPS1='%B%h%b'
";

const ZSH_PLUGINS: &str = "autoload -U compinit; compinit -D
PS1='%F{red}%~%f %# '
ZSH_AUTOSUGGEST_STRATEGY=(history completion)
source /usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh
source /usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh
";

/// The card that `python3 -m rich` shows, page by page and without the time that it took.
const RICH_CARD: &str = r#"
import sys
from rich.__main__ import make_test_card
from rich.console import Console

console = Console(force_terminal=True, color_system="truecolor", width=80)
with console.capture() as card:
    console.print(make_test_card())
lines = card.get().splitlines()
for start in range(0, 60, 20):
    print("\x1b[H\x1b[2J" + "\n".join(lines[start:start + 20]), flush=True)
    sys.stdin.readline()
"#;

const TEXTUAL_WIDGETS: &str = r#"
from textual.app import App
from textual.widgets import (
    Button, Checkbox, DataTable, Footer, Header, Input, ProgressBar, RadioSet, Switch,
)

class Widgets(App):
    BINDINGS = [("f2", "toggle_dark", "Dark"), ("f3", "quit", "End")]

    def compose(self):
        yield Header()
        yield Input("typed 你好")
        yield Checkbox("checked", True)
        yield Switch(True)
        yield RadioSet("one", "two 漢字")
        yield Button("press", variant="success")
        yield DataTable()
        yield Footer()

    def on_mount(self):
        self.query_one(Input).cursor_blink = False
        table = self.query_one(DataTable)
        table.add_columns("number", "name")
        table.add_rows([(number, "žluťoučký 你好") for number in range(30)])

Widgets().run()
"#;

/// Shows a page after each line that is typed.
const PAGES: &str =
    "stty -echo; for page in \"$0\".?; do cat \"$page\"; read -r _; done; read -r _";

const USUAL: Program = Program {
    name: "",
    needs: &[],
    is_usual: true,
    command: &[],
    unseen: None,
    keys: &[],
};

pub(super) const RENDITIONS: Program = Program {
    name: "renditions",
    command: &["sh", "-c", PAGES, "renditions"],
    keys: &["\r", "\r"],
    ..USUAL
};

pub(super) const DISPUTED: Program = Program {
    name: "disputed",
    command: &["sh", "-c", PAGES, "disputed"],
    ..USUAL
};

pub(super) const UNDERLINES: Program = Program {
    name: "underlines",
    command: &["sh", "-c", PAGES, "underlines"],
    ..USUAL
};

pub(super) const CHARACTERS: Program = Program {
    name: "characters",
    command: &["sh", "-c", PAGES, "characters"],
    keys: &["\r", "\r"],
    ..USUAL
};

pub(super) const CURSORS: Program = Program {
    name: "cursors",
    command: &["sh", "-c", PAGES, "cursor"],
    keys: &["\r"; CURSOR_PAGES - 1],
    ..USUAL
};

pub(super) const VIM: Program = Program {
    name: "vim",
    needs: &["vim"],
    command: &[
        "vim",
        "-n",
        "-u",
        "NONE",
        "-i",
        "NONE",
        "-N",
        "--cmd",
        "set ruler showmode",
        "-c",
        "syntax on",
        "-c",
        "set number hlsearch laststatus=2",
        "text.c",
    ],
    keys: &[
        "50Gzt",
        "oinserted 한국\x1b",
        "/107\r",
        ":vsplit\r",
        "V3j",
        "\x1b\x06",
    ],
    ..USUAL
};

pub(super) const VIM_COLORS: Program = Program {
    name: "vim in 24-bit colours",
    needs: &["vim"],
    command: &[
        "vim",
        "-n",
        "-u",
        "NONE",
        "-i",
        "NONE",
        "-N",
        "-c",
        "syntax on",
        "-c",
        "set bg=dark termguicolors cursorline number | colorscheme habamax",
        "text.c",
    ],
    keys: &[":vsplit\r", "Gkk", "\x15"],
    ..USUAL
};

pub(super) const LESS: Program = Program {
    name: "less",
    needs: &["less"],
    command: &["less", "-M", "-N", "text.c"],
    keys: &[" ", "G", "b", "?107\r", "-S\r", "\x1b)"],
    ..USUAL
};

pub(super) const NANO: Program = Program {
    name: "nano",
    needs: &["nano"],
    command: &["nano", "--ignorercfiles", "-l", "text.c"],
    keys: &["\x1b[6~", "typed 你好", "\x17", "107\r"],
    ..USUAL
};

pub(super) const TMUX: Program = Program {
    name: "tmux",
    needs: &["tmux"],
    command: &full_screen::TMUX,
    keys: &[
        "ls folder\r",
        "\x02%",
        "echo 你好\r",
        "\x02\"",
        "\x02[",
        "\x1b[A\x1b[A",
    ],
    ..USUAL
};

pub(super) const HTOP: Program = Program {
    name: "htop",
    needs: &["htop"],
    command: &["htop", "-d", "100"],
    unseen: Some("?"),
    ..USUAL
};

pub(super) const MC: Program = Program {
    name: "mc",
    needs: &["mc"],
    command: &full_screen::MC,
    keys: &["\x1bOB\x1bOR", "\x1b[6~", "\x1b[21~", "\x1b[20~", "\r"],
    ..USUAL
};

pub(super) const DIALOG: Program = Program {
    name: "dialog",
    needs: &["dialog"],
    command: &full_screen::DIALOG,
    keys: &["\x1bOB", "\t"],
    ..USUAL
};

pub(super) const MAN: Program = Program {
    name: "man",
    needs: &["man"],
    command: &["sh", "-c", "MANWIDTH=78 PAGER=less exec man -l man.1"],
    keys: &[" ", "G"],
    ..USUAL
};

pub(super) const GIT: Program = Program {
    name: "git diff",
    needs: &["git", "less"],
    command: &[
        "git",
        "-c",
        "core.pager=less -R",
        "diff",
        "--no-index",
        "--color=always",
        "--word-diff=color",
        "text.c",
        "after.c",
    ],
    keys: &[" ", "G"],
    ..USUAL
};

pub(super) const BASH: Program = Program {
    name: "bash",
    needs: &["bash"],
    command: &["bash", "--norc"],
    keys: &["ls fol\t", "\r", "\x12ls", "\x07"],
    ..USUAL
};

pub(super) const ZSH: Program = Program {
    name: "zsh",
    needs: &["zsh"],
    command: &["sh", "-c", "ZDOTDIR=$PWD exec zsh -d"],
    keys: &["ls te\t", " fol\t\t", "\r"],
    ..USUAL
};

pub(super) const ZSH_WITH_PLUGINS: Program = Program {
    name: "zsh with plugins",
    needs: &[
        "zsh",
        "/usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh",
        "/usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh",
    ],
    command: &["sh", "-c", "ZDOTDIR=$PWD/plugins exec zsh -d"],
    keys: &[
        "echo 'a word' > /dev/null; ls nowhere | cat",
        "\r",
        "echo",
        "\x1b[C",
        "\r",
        "if [[ x ]] { ls te\t",
        " )\x1b[D\x1b[D\x7f",
    ],
    ..USUAL
};

pub(super) const RICH: Program = Program {
    name: "rich",
    needs: &["python3", "/usr/lib/python3/dist-packages/rich/__init__.py"],
    command: &["sh", "-c", "stty -echo; exec /usr/bin/python3 card.py"],
    keys: &["\r", "\r"],
    ..USUAL
};

pub(super) const FISH: Program = Program {
    name: "fish",
    needs: &["fish"],
    command: &["fish", "--private", "-N"],
    keys: &["ls fol", "\t", "\r", "ls te\t"],
    ..USUAL
};

pub(super) const PYTHON: Program = Program {
    name: "python",
    needs: &["python3"],
    command: &["python3", "-q"],
    keys: &[
        "1+1\r",
        "for n in range(30): print('\\x1b[3%dm' % (n % 8), n, '你好')\r\r",
    ],
    ..USUAL
};

/// Those that need not be installed.
const OTHER: Program = Program {
    is_usual: false,
    ..USUAL
};

pub(super) const NEOVIM: Program = Program {
    name: "neovim",
    needs: &["nvim"],
    command: &[
        "nvim",
        "-n",
        "-i",
        "NONE",
        "-u",
        "NONE",
        "-c",
        "syntax on",
        "-c",
        "set number cursorline",
        "text.c",
    ],
    keys: &["50Gzt", "oinserted 한국\x1b", "/107\r", ":vsplit\r", "V3j"],
    ..OTHER
};

pub(super) const NEOVIM_COLORS: Program = Program {
    name: "neovim in 24-bit colours",
    needs: &["nvim"],
    command: &[
        "nvim",
        "-n",
        "-i",
        "NONE",
        "-u",
        "NONE",
        "-c",
        "set termguicolors bg=dark",
        "-c",
        "colorscheme habamax",
        "text.c",
    ],
    keys: &[":vsplit\r", "Gkk"],
    ..OTHER
};

pub(super) const EMACS: Program = Program {
    name: "emacs",
    needs: &["emacs"],
    command: &[
        "emacs",
        "-Q",
        "-nw",
        "--eval",
        "(setq create-lockfiles nil)",
        "text.c",
    ],
    keys: &["\x1b>", "abc", "\x182", "\x18b\t"],
    ..OTHER
};

pub(super) const FZF: Program = Program {
    name: "fzf",
    needs: &["fzf"],
    command: &["sh", "-c", "seq 300 | fzf --multi --preview 'echo {}'"],
    keys: &["12", "\t", "\x0b"],
    ..OTHER
};

pub(super) const TIG: Program = Program {
    name: "tig",
    needs: &["tig", "git"],
    // The same history for both.
    command: &[
        "sh",
        "-c",
        "cd $(mktemp -d -p .); export GIT_AUTHOR_DATE='2020-02-02 02:02:02' \
         GIT_COMMITTER_DATE='2020-02-02 02:02:02' GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.c \
         GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.c; git init -q -b main; \
         for file in text.c after.c; do cp ../$file file; git add file; \
         git commit -q -m \"as in $file\"; done; exec tig",
    ],
    keys: &["j", "\r", "\x1b[6~"],
    ..OTHER
};

pub(super) const BAT: Program = Program {
    name: "bat",
    needs: &["batcat"],
    command: &["batcat", "--paging=always", "--color=always", "text.c"],
    keys: &[" ", "G"],
    ..OTHER
};

pub(super) const DELTA: Program = Program {
    name: "delta",
    needs: &["delta"],
    command: &["sh", "-c", "delta --paging=always text.c after.c"],
    keys: &[" ", "G"],
    ..OTHER
};

pub(super) const TEXTUAL: Program = Program {
    name: "textual",
    needs: &["textual"],
    // Its Python is beside it, as in each environment of Python.
    command: &[
        "sh",
        "-c",
        "TEXTUAL_ANIMATIONS=none; export TEXTUAL_ANIMATIONS; \
         exec \"$(dirname \"$(command -v textual)\")\"/python3 widgets.py",
    ],
    keys: &["abc", "\t ", "\t\t\x1b[B", "\t\t\x1b[B\x1b[B", "\x1bOQ"],
    ..OTHER
};

pub(super) const WEECHAT: Program = Program {
    name: "weechat",
    needs: &["weechat"],
    command: &[
        "weechat",
        "-t",
        "-r",
        "/set weechat.look.buffer_time_format \"\";/set weechat.look.item_time_format \"\";\
         /buffer clear",
    ],
    keys: &["/set weechat.color.*\r", "/help\r"],
    ..OTHER
};

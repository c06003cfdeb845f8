//! The programs that are looked at, and the keys that they are given.

use super::pages::{self, CURSOR_PAGES};
use super::program::Program;
use crate::support::World;

/// Writes the files that the commands name.
pub(super) fn prepare(world: &World) {
    std::fs::create_dir(world.home().join("folder")).expect("a folder");
    world.write("folder/žluťoučký 你好", "");
    for (name, pages) in pages::all() {
        for (number, page) in (1..).zip(pages) {
            world.write(&format!("{name}.{number}"), page);
        }
    }
}

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

pub(super) const BASH: Program = Program {
    name: "bash",
    needs: &["bash"],
    command: &["bash", "--norc"],
    keys: &["ls fol\t", "\r", "\x12ls", "\x07"],
    ..USUAL
};

//! The programs that are looked at, and the keys that they are given.

use super::program::Program;
use crate::support::World;

/// Writes the files that the commands name.
pub(super) fn prepare(world: &World) {
    std::fs::create_dir(world.home().join("folder")).expect("a folder");
    world.write("folder/žluťoučký 你好", "");
}

const USUAL: Program = Program {
    name: "",
    needs: &[],
    is_usual: true,
    command: &[],
    unseen: None,
    keys: &[],
};

pub(super) const BASH: Program = Program {
    name: "bash",
    needs: &["bash"],
    command: &["bash", "--norc"],
    keys: &["ls fol\t", "\r", "\x12ls", "\x07"],
    ..USUAL
};

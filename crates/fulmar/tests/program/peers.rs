//! Programs that are not ours and that a test drives: stock Mosh, sshd, vim.
//!
//! ```text
//! let Some(server) = peers::require("mosh-server") else { return };
//! ```
//!
//! Where the program is missing, `FULMAR_TEST_PEERS` decides. `required` fails the test. `optional`,
//! or no such variable, leaves the test out: `require` returns `None`, and the test is written to
//! the file named by `FULMAR_TEST_SKIPPED`, if there is one, because libtest hides what a passing
//! test prints. `cargo xtask test` sets both variables and lists that file at its end; the Debian
//! package of each program stands in `xtask/src/peers.rs`.

use std::path::PathBuf;

/// Folders beside those of `PATH`: daemons, the helper of libutempter, and modules of PAM. Ordinary
/// users do not have these in their `PATH`.
const MORE_FOLDERS: &[&str] = &[
    "/usr/local/sbin",
    "/usr/sbin",
    "/sbin",
    "/usr/lib/x86_64-linux-gnu/utempter",
    "/usr/lib/aarch64-linux-gnu/utempter",
    "/usr/lib/utempter",
    "/usr/libexec/utempter",
    "/lib/x86_64-linux-gnu/security",
    "/lib/aarch64-linux-gnu/security",
];

/// Returns where `program` is, or `None` if the calling test is to return at once.
///
/// # Panics
///
/// When the program is missing and `FULMAR_TEST_PEERS` is `required`.
#[track_caller]
pub(crate) fn require(program: &str) -> Option<PathBuf> {
    let found = find(program);
    if found.is_none() {
        leave_out(&format!("{program} is not installed"));
    }
    found
}

/// Says that the calling test cannot run here, which is a failure if everything is `required`.
///
/// For what is not a program: a right, a kernel's feature, a file system.
#[track_caller]
pub(crate) fn leave_out(reason: &str) {
    let required = std::env::var_os("FULMAR_TEST_PEERS").is_some_and(|peers| peers == "required");
    assert!(!required, "{reason}, and FULMAR_TEST_PEERS=required");
    fulmar_platform::leave_out(reason);
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(MORE_FOLDERS.iter().map(PathBuf::from));
    folders
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

#[test]
fn a_program_is_found_by_its_name() {
    let shell = require("sh").expect("there is a shell");
    assert!(
        shell.is_absolute() && shell.ends_with("sh"),
        "{}",
        shell.display()
    );
    assert_eq!(find("a program that nobody has"), None);
}

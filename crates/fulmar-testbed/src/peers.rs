//! Programs that are not ours and that tests and measurements drive: stock Mosh, sshd, vim.
//!
//! ```no_run
//! use fulmar_testbed::peers;
//!
//! let Some(server) = peers::require("mosh-server") else { return };
//! ```
//!
//! Where the program is missing, `FULMAR_TEST_PEERS` decides. `required` fails the test. `optional`,
//! or no such variable, leaves the test out: [`require`] returns `None`, and the test is written to
//! the file named by `FULMAR_TEST_SKIPPED`, if there is one, because libtest hides what a passing
//! test prints. `cargo xtask test` sets both variables and lists that file at its end; the Debian
//! package of each program stands in `xtask/src/peers.rs`.

use std::ffi::OsString;
use std::path::PathBuf;

/// Folders of programs that ordinary users may not have in their `PATH`.
const PROGRAM_FOLDERS: &[&str] = &[
    "/usr/local/sbin",
    "/usr/sbin",
    "/sbin",
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
];

/// Folders of the helper of libutempter and of modules of PAM, which no `PATH` has.
const LIBRARY_FOLDERS: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu/utempter",
    "/usr/lib/aarch64-linux-gnu/utempter",
    "/usr/lib/utempter",
    "/usr/libexec/utempter",
    "/lib/x86_64-linux-gnu/security",
    "/lib/aarch64-linux-gnu/security",
];

/// Returns every file that is found as `program`, the one that is run first.
pub fn files_of(program: &str) -> impl Iterator<Item = PathBuf> {
    let libraries = LIBRARY_FOLDERS.iter().map(PathBuf::from);
    let folders = program_folders().chain(libraries);
    let files = folders.map(move |folder| folder.join(program));
    files.filter(|file| file.is_absolute() && file.is_file())
}

/// Returns where `program` is, or `None` if it is not installed.
#[must_use]
pub fn find(program: &str) -> Option<PathBuf> {
    files_of(program).next()
}

/// Returns the folders in which programs are looked for, as the value of `PATH`.
///
/// # Panics
///
/// Never: folders of a `PATH` can be joined to one.
#[must_use]
pub fn search_path() -> OsString {
    std::env::join_paths(program_folders()).expect("folders of a PATH have no colon")
}

fn program_folders() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let more = PROGRAM_FOLDERS.iter().map(PathBuf::from);
    folders.into_iter().chain(more)
}

/// Returns where `program` is, or `None` if the calling test is to return at once.
///
/// # Panics
///
/// When the program is missing and `FULMAR_TEST_PEERS` is `required`.
#[track_caller]
#[must_use]
pub fn require(program: &str) -> Option<PathBuf> {
    let found = find(program);
    if found.is_none() {
        leave_out(&format!("{program} is not installed"));
    }
    found
}

/// Says that the calling test cannot run here, which is a failure if everything is `required`.
///
/// For what is not a program: a right, a kernel's feature, a file system.
///
/// # Panics
///
/// When `FULMAR_TEST_PEERS` is `required`.
#[track_caller]
pub fn leave_out(reason: &str) {
    let required = std::env::var_os("FULMAR_TEST_PEERS").is_some_and(|peers| peers == "required");
    assert!(!required, "{reason}, and FULMAR_TEST_PEERS=required");
    fulmar_platform::leave_out(reason);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_its_name() {
        let shell = require("sh").expect("there is a shell");
        assert!(
            shell.is_absolute() && shell.ends_with("sh"),
            "{}",
            shell.display()
        );
        assert_eq!(find("a program that nobody has"), None);
        let path = search_path();
        assert!(std::env::split_paths(&path).any(|folder| folder.join("sh") == shell));
    }
}

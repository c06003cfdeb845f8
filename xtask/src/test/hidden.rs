//! Running a command as if programs were not installed.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::workspace;

/// Puts an empty device in the place of each file up to `--`, and becomes the rest.
const SCRIPT: &str = "while [ \"$1\" != -- ]; do mount --bind /dev/null \"$1\" || exit 1; shift; done; shift; exec \"$@\"";

/// Returns true if files can be hidden here: it takes root and the kernel's permission.
pub(super) fn is_possible() -> bool {
    let mut unshare = in_own_files();
    unshare
        .arg("true")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    unshare.status().is_ok_and(|status| status.success())
}

/// Returns `command` as it is to be run where these files are nobody's programs: nobody finds them, by
/// whatever path, and whoever runs one regardless fails.
///
/// The files are what others see only of a space of file systems that ends with the command.
pub(super) fn hiding(files: &[PathBuf], command: &Command) -> Command {
    let mut hiding = in_own_files();
    hiding
        .args(["sh", "-c", SCRIPT, "sh"])
        .args(files)
        .arg("--");
    workspace::wrapped(hiding, command)
}

fn in_own_files() -> Command {
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--propagation", "private"]);
    unshare
}

/// Returns the files to hide for so many programs, each once however many names it has. One that is `sh` as well,
/// which everything needs, is not among them, and `mount`, which hides the others, is the last.
pub(super) fn files(
    programs: impl IntoIterator<Item = &'static str>,
    files_of: impl Fn(&str) -> Vec<PathBuf>,
) -> Vec<PathBuf> {
    let identity = |file: &Path| file.metadata().map(|found| (found.dev(), found.ino())).ok();
    let kept: Vec<_> = files_of("sh").iter().map(|file| identity(file)).collect();
    let mut programs: Vec<&str> = programs.into_iter().collect();
    programs.sort_by_key(|program| *program == "mount");
    let mut hidden = Vec::new();
    let mut files = Vec::new();
    for file in programs.into_iter().flat_map(files_of) {
        let known = identity(&file);
        if !kept.contains(&known) && !hidden.contains(&known) {
            hidden.push(known);
            files.push(file);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_file_of_several_names_is_hidden_once_and_a_shell_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["dash", "vim.basic", "mount", "nft"] {
            fs::write(at(name), "").unwrap();
        }
        for (name, of) in [("sh", "dash"), ("vi", "vim.basic"), ("vim", "vim.basic")] {
            symlink(at(of), at(name)).unwrap();
        }
        let files_of = |name: &str| Vec::from_iter(Some(at(name)).filter(|file| file.is_file()));
        let hidden = files(["mount", "dash", "vi", "vim", "absent", "nft"], files_of);
        assert_eq!(hidden, ["vi", "nft", "mount"].map(at));
    }

    #[test]
    fn a_hidden_program_is_not_found_and_does_not_run_and_others_do() {
        let folder = tempfile::tempdir().unwrap();
        let [program, other] = ["program", "other"].map(|name| folder.path().join(name));
        for file in [&program, &other] {
            fs::write(file, "#!/bin/sh\necho here\n").unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        if !is_possible() {
            fulmar_platform::leave_out("files cannot be hidden here");
            return;
        }
        let mut shell = Command::new("sh");
        let script = "cd \"$FOLDER\" && test ! -f program && ! ./program && ./other";
        shell.args(["-c", script]).env("FOLDER", folder.path());
        let output = hiding(std::slice::from_ref(&program), &shell)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(output.stdout, b"here\n");
        assert!(program.is_file(), "it is still there for others");
    }
}

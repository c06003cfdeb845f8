//! A newcomer's first day, as a script that anybody with root can run.

use std::path::Path;
use std::process::Command;

use fulmar_testbed::peers;

#[test]
fn a_newcomer_gets_along_with_readme_alone() {
    for program in [
        "ssh",
        "sshd",
        "ssh-keygen",
        "tmux",
        "ip",
        "unshare",
        "pgrep",
    ] {
        if peers::require(program).is_none() {
            return;
        }
    }
    if !rustix::process::geteuid().is_root() {
        return peers::leave_out("the script makes machines of its own, which takes root");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let programs = Path::new(env!("CARGO_BIN_EXE_fulmar")).parent();
    let output = Command::new(root.join("scripts/newcomer.sh"))
        .arg(programs.expect("a program is in a folder"))
        .output()
        .expect("the script starts");
    let told = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && told.contains("all well"),
        "{told}\n{complaints}"
    );
}

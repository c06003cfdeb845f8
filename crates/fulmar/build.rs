//! Tells the program its version, which names the commit if it is built in a git checkout of this workspace.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let package = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let version = match commit() {
        Some(commit) => format!("{package} ({commit})"),
        None => package,
    };
    println!("cargo::rustc-env=FULMAR_VERSION={version}");
}

/// Returns the commit of the workspace, shortened; none for sources that were unpacked elsewhere, perhaps inside
/// another project's checkout.
fn commit() -> Option<String> {
    let workspace = Path::new("../..");
    if !workspace.join("crates/fulmar/build.rs").exists() || !workspace.join(".git").exists() {
        return None;
    }
    // A log of what HEAD was changes with each commit and checkout, HEAD itself only with the branch.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "--short=10", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

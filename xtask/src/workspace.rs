//! The checkout that the commands work on, and running programs in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// The root of the checkout that this program was built from.
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The workspace whose member this program is.
    pub(crate) fn of_this_checkout() -> Self {
        let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = xtask.parent().expect("xtask is a folder of the workspace");
        Self {
            root: root.to_owned(),
        }
    }

    /// The workspace in a folder.
    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The folder of the workspace's `Cargo.toml`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A call of the cargo that runs this program, in the root.
    pub(crate) fn cargo<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(args).current_dir(&self.root);
        // What cargo told *this* program about its own package would rebuild build scripts.
        for variable in [
            "CARGO_MANIFEST_DIR",
            "CARGO_MANIFEST_PATH",
            "CARGO_PKG_NAME",
        ] {
            command.env_remove(variable);
        }
        command
    }

    /// Returns what `cargo metadata --no-deps` says about the members.
    pub(crate) fn metadata(&self) -> Result<serde_json::Value> {
        let json = output_of(&mut self.cargo(["metadata", "--no-deps", "--format-version", "1"]))?;
        serde_json::from_str(&json).context("reading the answer of cargo metadata")
    }

    /// The files that git tracks or would track, as paths relative to the root, in order.
    ///
    /// A file that is new and not yet added counts: a rule should speak before the commit.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        let mut git = Command::new("git");
        git.args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        let names = output_of(git.current_dir(&self.root))?;
        let mut files: Vec<PathBuf> = names
            .split_terminator('\0')
            .map(PathBuf::from)
            .filter(|file| self.root.join(file).is_file())
            .collect();
        files.sort();
        files.dedup();
        Ok(files)
    }
}

/// Returns the command that runs `command` by way of `wrapper`, a program that becomes what it is given as its last words.
pub(crate) fn wrapped(mut wrapper: Command, command: &Command) -> Command {
    wrapper.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapper.env(name, value),
            None => wrapper.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        wrapper.current_dir(folder);
    }
    wrapper
}

/// Returns what runs a command that gives way to others, by so many of the 19 steps there are.
pub(crate) fn nice(steps: &str) -> Command {
    let mut nice = Command::new("nice");
    nice.args(["-n", steps]);
    nice
}

/// Runs `command` to its end with our own output, and fails if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("starting {}", shown(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs `command` and returns what it wrote to its standard output.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("starting {}", shown(command)))?;
    if !output.status.success() {
        bail!("{} ended with {}", shown(command), output.status);
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("reading the output of {}", shown(command)))
}

/// The command as a person would type it, without its folder.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["fmt", "--all"]);
        assert_eq!(shown(&command), "cargo fmt --all");
    }

    #[test]
    fn a_wrapped_command_keeps_its_words_variables_and_folder() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $0 $WORD; pwd", "zero"]);
        command.env("WORD", "one").current_dir("/");
        let output = output_of(&mut wrapped(Command::new("env"), &command)).unwrap();
        assert_eq!(output, "zero one\n/\n");
    }

    #[test]
    fn the_files_of_the_checkout_include_this_one() {
        let files = Workspace::of_this_checkout().files().unwrap();
        assert!(files.contains(&PathBuf::from("xtask/src/workspace.rs")));
    }
}

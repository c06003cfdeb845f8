//! The scripts that make shells complete our words.

use clap::{CommandFactory as _, ValueEnum};
use clap_complete::Shell;

use super::Cli;

/// A shell that can complete our words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompletedShell {
    /// For ~/.local/share/bash-completion/completions/fulmar
    Bash,
    /// For a file _fulmar in a folder of fpath
    Zsh,
    /// For ~/.config/fish/completions/fulmar.fish
    Fish,
}

/// Hosts for fish, which else offers the files that are around: clap has its scripts complete no
/// positional words.
const FISH_HOSTS: &str = "complete -c fulmar -n \"__fish_fulmar_needs_command\" \
                          -f -a \"(__fish_print_hostnames)\"\n";

/// Returns clap's script for fish with hosts, and with the words of flags: where a flag still lacks
/// its word, the script takes the line for one that needs nothing more.
fn for_fish(script: &str) -> String {
    script.replacen("or return\n", "or return 0\n", 1) + FISH_HOSTS
}

impl CompletedShell {
    /// Returns the script for this shell.
    pub(crate) fn script(self) -> String {
        let shell = match self {
            CompletedShell::Bash => Shell::Bash,
            CompletedShell::Zsh => Shell::Zsh,
            CompletedShell::Fish => Shell::Fish,
        };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "fulmar", &mut script);
        let script = String::from_utf8_lossy(&script);
        match self {
            CompletedShell::Fish => for_fish(&script),
            CompletedShell::Bash | CompletedShell::Zsh => script.into_owned(),
        }
    }
}

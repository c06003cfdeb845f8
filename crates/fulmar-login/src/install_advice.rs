//! Advice on getting a server to a machine that has none.

use std::ffi::{OsStr, OsString};

use crate::shell_words::quoted;
use crate::ssh::SshCommand;

/// Says how this program gets to a host of that system: by the command that copies it, where the system is of the same
/// kind, else by building it there.
pub fn install_advice(system: &str, copying: Option<&str>) -> String {
    match copying.filter(|_| is_like_here(system)) {
        Some(copying) => format!("copy this program there: {copying}"),
        None => "install Fulmar there: cargo build --release in its source, then cp target/release/fulmar \
                 ~/.local/bin/"
            .to_owned(),
    }
}

/// The command with which a remote shell makes a program of its input.
const TAKING: &str = "mkdir -p .local/bin && cat >.local/bin/fulmar && chmod +x .local/bin/fulmar";

/// Returns the command that copies the file `here` of this program to the host, over the very ssh of the login. scp would
/// want other flags.
pub fn copying_command(ssh: &SshCommand, here: &str) -> String {
    let words = ssh.command_line(&[TAKING.into()]);
    let words: Vec<OsString> = words.iter().map(|word| as_typed(word)).collect();
    let line = words.join(OsStr::new(" "));
    let here = as_typed(here.as_ref());
    format!("{} <{}", line.to_string_lossy(), here.to_string_lossy())
}

/// Returns a word as somebody types it for a shell: in quotes only if it needs them.
fn as_typed(word: &OsStr) -> OsString {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._:+-=@,".contains(byte);
    if !word.is_empty() && word.as_encoded_bytes().iter().all(is_plain) {
        word.to_owned()
    } else {
        quoted(word)
    }
}

/// Tells if a program that runs here runs on a system of that name, too, as far as the name says.
fn is_like_here(system: &str) -> bool {
    let mut words = system.split_ascii_whitespace();
    let kernel = match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "Darwin",
        "freebsd" => "FreeBSD",
        "openbsd" => "OpenBSD",
        "netbsd" => "NetBSD",
        _ => return false,
    };
    let is_arch = |machine: &str| match std::env::consts::ARCH {
        "x86_64" => ["x86_64", "amd64"].contains(&machine),
        "aarch64" => ["aarch64", "arm64"].contains(&machine),
        other => other == machine,
    };
    words.next() == Some(kernel) && words.next().is_some_and(is_arch)
}

#[cfg(test)]
mod tests {
    use fulmar_base::AddressFamily;

    use super::*;
    use crate::ssh::Destination;

    /// Returns what `uname -sm` says here, as far as is_like_here is concerned.
    fn system() -> String {
        let output = std::process::Command::new("uname")
            .arg("-sm")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn ssh(words: &[&str], destination: &str) -> SshCommand {
        SshCommand {
            words: words.iter().map(OsString::from).collect(),
            destination: Destination::parse(destination.as_ref()).unwrap(),
            family: None,
        }
    }

    #[test]
    fn the_program_is_copied_to_a_system_of_its_own_kind() {
        let system = format!("{} debian", system().trim());
        let told = install_advice(&system, Some("the command"));
        assert_eq!(told, "copy this program there: the command");
    }

    #[test]
    fn the_host_is_reached_as_by_the_login() {
        for (words, destination, here, told) in [
            (
                ["ssh"].as_slice(),
                "ada@host",
                "/opt/a b/fulmar",
                "ssh ada@host 'T' <'/opt/a b/fulmar'",
            ),
            (
                &["ssh", "-F", "my config", "-p", "2222", "-o", "User=it's"],
                "fe80::1%eth0",
                "/opt/fulmar",
                r"ssh -F 'my config' -p 2222 -o 'User=it'\''s' 'fe80::1%eth0' 'T' </opt/fulmar",
            ),
            (
                &["ssh"],
                "ssh://ada@host:2222",
                "/f",
                "ssh ssh://ada@host:2222 'T' </f",
            ),
        ] {
            let told = told.replace('T', TAKING);
            assert_eq!(copying_command(&ssh(words, destination), here), told);
        }
        let ssh = SshCommand {
            family: Some(AddressFamily::Ipv6),
            ..ssh(&["ssh"], "host")
        };
        assert!(copying_command(&ssh, "/f").starts_with("ssh -6 host "));
    }

    #[test]
    fn elsewhere_it_is_built() {
        for system in ["", "Linux", "Linux riscv128 debian", "Plan9 x86_64"] {
            let told = install_advice(system, Some("the command"));
            assert!(told.contains("cargo build --release"), "{told}");
        }
        assert!(install_advice(&system(), None).contains("cargo build"));
    }
}

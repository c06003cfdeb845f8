//! Advice on getting a server to a machine that has none.

use crate::remote_command::is_shell_safe;
use crate::shell_words::quoted;

/// Says how this program, whose file is `here`, gets to a host of that system: by copying it, where the system is of the
/// same kind, else by building it there.
pub fn install_advice(host: &str, system: &str, here: Option<&str>) -> String {
    match here.filter(|_| is_like_here(system)) {
        Some(here) => format!("copy this program there: {}", copying(host, here)),
        None => "install Fulmar there: cargo build --release in its source, then cp target/release/fulmar \
                 ~/.local/bin/"
            .to_owned(),
    }
}

/// Returns the command that copies it.
fn copying(host: &str, here: &str) -> String {
    let here = if is_shell_safe(here) && !here.contains(' ') {
        here.to_owned()
    } else {
        quoted(here.as_ref()).to_string_lossy().into_owned()
    };
    let (user, name) = host
        .rsplit_once('@')
        .map_or(("", host), |(user, name)| (user, name));
    let at = if user.is_empty() { "" } else { "@" };
    // A colon would end the host's name.
    let name = if name.contains(':') && !name.starts_with('[') {
        format!("[{name}]")
    } else {
        name.to_owned()
    };
    format!("ssh {host} mkdir -p .local/bin && scp {here} {user}{at}{name}:.local/bin/fulmar")
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
    use super::*;

    /// Returns what `uname -sm` says here, as far as is_like_here is concerned.
    fn system() -> String {
        let output = std::process::Command::new("uname")
            .arg("-sm")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn the_program_is_copied_to_a_system_of_its_own_kind() {
        let told = |host| {
            install_advice(
                host,
                &format!("{} debian", system().trim()),
                Some("/opt/a b/fulmar"),
            )
        };
        assert_eq!(
            told("ada@host"),
            "copy this program there: ssh ada@host mkdir -p .local/bin && scp '/opt/a b/fulmar' \
             ada@host:.local/bin/fulmar"
        );
        assert!(told("fe80::1%eth0").ends_with(" [fe80::1%eth0]:.local/bin/fulmar"));
    }

    #[test]
    fn elsewhere_it_is_built() {
        for system in ["", "Linux", "Linux riscv128 debian", "Plan9 x86_64"] {
            let told = install_advice("host", system, Some("/opt/fulmar"));
            assert!(told.contains("cargo build --release"), "{told}");
        }
        assert!(install_advice("host", &system(), None).contains("cargo build"));
    }
}

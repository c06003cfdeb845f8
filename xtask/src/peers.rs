//! The programs that tests drive and that are not ours, and how to get them.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use fulmar_testbed::peers::find;

use crate::workspace;

/// A Debian package that tests need something of.
struct Package {
    name: &'static str,
    /// The programs of it that the tests run, by the names that they give to `peers::require`: their own, or for what is
    /// not in a folder of programs, the whole path.
    programs: &'static [&'static str],
}

/// Everything that tests need and that a bare Debian may lack.
///
/// | package | the tests that need it |
/// |---|---|
/// | mosh | interop, either end and `mosh`; figures beside stock |
/// | openssh-server, openssh-client | interop: `mosh` over ssh to a real sshd on loopback; the lab |
/// | libpam-oath | login with a password and a code |
/// | dropbear-bin | login to a dropbear, and by its client |
/// | dash, bash, zsh, fish, tcsh, rc | login to somebody who has this shell; completion in bash, zsh and fish |
/// | util-linux, mount, iproute2, nftables | machines of the tests' own and the network between them; hosts of the lab |
/// | bsdutils | login by a forced command that gives a terminal |
/// | libutempter0 | the utmp entry of a session |
/// | chromium | the lab's report in a browser; by far the largest, 124 MB to fetch |
/// | rsync | bulk of the lab |
/// | nodejs, npm, python3 | the reference terminal of the suite in `testdata/fidelity` |
/// | xterm, xvfb, xauth | the lines that a terminal emulator keeps; what programs draw, pixel by pixel |
/// | procps | children and signals seen from outside |
/// | the others | programs whose screens are carried by a session |
const PACKAGES: &[Package] = &[
    Package {
        name: "mosh",
        programs: &["mosh", "mosh-client", "mosh-server"],
    },
    Package {
        name: "openssh-server",
        programs: &["sshd"],
    },
    Package {
        name: "openssh-client",
        programs: &["ssh", "ssh-agent", "ssh-add", "ssh-keygen", "scp", "sftp"],
    },
    Package {
        name: "dropbear-bin",
        programs: &["dropbear", "dropbearkey", "dbclient"],
    },
    Package {
        name: "libpam-oath",
        programs: &["pam_oath.so"],
    },
    Package {
        name: "dash",
        programs: &["dash"],
    },
    Package {
        name: "bash",
        programs: &["bash"],
    },
    Package {
        name: "zsh",
        programs: &["zsh"],
    },
    Package {
        name: "zsh-autosuggestions",
        programs: &["/usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh"],
    },
    Package {
        name: "zsh-syntax-highlighting",
        programs: &["/usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh"],
    },
    Package {
        name: "fish",
        programs: &["fish"],
    },
    Package {
        name: "tcsh",
        programs: &["tcsh"],
    },
    Package {
        name: "rc",
        programs: &["rc"],
    },
    Package {
        name: "util-linux",
        programs: &["nsenter", "unshare"],
    },
    Package {
        name: "bsdutils",
        programs: &["script"],
    },
    Package {
        name: "mount",
        programs: &["mount"],
    },
    Package {
        name: "iproute2",
        programs: &["ip"],
    },
    Package {
        name: "nftables",
        programs: &["nft"],
    },
    Package {
        name: "xterm",
        programs: &["xterm"],
    },
    Package {
        name: "xvfb",
        programs: &["Xvfb", "xvfb-run"],
    },
    Package {
        name: "xauth",
        programs: &["xauth"],
    },
    Package {
        name: "tmux",
        programs: &["tmux"],
    },
    Package {
        name: "vim",
        programs: &["vim"],
    },
    Package {
        name: "nano",
        programs: &["nano"],
    },
    Package {
        name: "less",
        programs: &["less"],
    },
    Package {
        name: "man-db",
        programs: &["man"],
    },
    Package {
        name: "htop",
        programs: &["htop"],
    },
    Package {
        name: "mc",
        programs: &["mc"],
    },
    Package {
        name: "dialog",
        programs: &["dialog"],
    },
    Package {
        name: "python3",
        programs: &["python3"],
    },
    Package {
        name: "python3-rich",
        programs: &["/usr/lib/python3/dist-packages/rich/__init__.py"],
    },
    Package {
        name: "nodejs",
        programs: &["node"],
    },
    Package {
        name: "npm",
        programs: &["npm"],
    },
    Package {
        name: "git",
        programs: &["git"],
    },
    Package {
        name: "rsync",
        programs: &["rsync"],
    },
    Package {
        name: "procps",
        programs: &["ps", "pgrep"],
    },
    Package {
        name: "chromium",
        programs: &["chromium"],
    },
    Package {
        name: "libutempter0",
        programs: &["utempter"],
    },
];

/// Returns whether `program` is one that a test may ask for.
pub(crate) fn is_listed(program: &str) -> bool {
    PACKAGES
        .iter()
        .any(|package| package.programs.contains(&program))
}

/// All programs that a test may ask for.
pub(crate) fn programs() -> impl Iterator<Item = &'static str> {
    PACKAGES
        .iter()
        .flat_map(|package| package.programs)
        .copied()
}

/// Returns true if packages can be installed here: this is root, and there is apt.
pub(crate) fn can_install() -> bool {
    let is_root = Path::new("/proc/self")
        .metadata()
        .is_ok_and(|process| process.uid() == 0);
    is_root && is_present("apt-get")
}

/// The command that installs what is missing, or `None` if nothing is.
pub(crate) fn install_command() -> Option<String> {
    let missing = missing(&is_present);
    (!missing.is_empty()).then(|| {
        format!(
            "apt-get update && {}",
            workspace::shown(&apt_get_install(&missing))
        )
    })
}

/// Installs the packages whose programs are missing, if any.
///
/// # Errors
///
/// When they cannot be installed: not Debian, not root, no network.
pub(crate) fn install_missing() -> Result<()> {
    let missing = missing(&is_present);
    if missing.is_empty() {
        return Ok(());
    }
    let context = || format!("installing {} for the tests", missing.join(", "));
    workspace::run(Command::new("apt-get").arg("update")).with_context(context)?;
    workspace::run(&mut apt_get_install(&missing)).with_context(context)?;
    let still_missing = self::missing(&is_present);
    if !still_missing.is_empty() {
        bail!(
            "installed, but without the programs expected: {}",
            still_missing.join(", ")
        );
    }
    Ok(())
}

fn apt_get_install(packages: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
        .args(["install", "-y", "--no-install-recommends"])
        .args(packages);
    command
}

/// The packages of which at least one program is not there.
fn missing(is_present: &dyn Fn(&str) -> bool) -> Vec<&'static str> {
    let lacks_one = |package: &&Package| !package.programs.iter().all(|name| is_present(name));
    PACKAGES
        .iter()
        .filter(lacks_one)
        .map(|package| package.name)
        .collect()
}

fn is_present(program: &str) -> bool {
    find(program).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_missing_when_one_of_its_programs_is() {
        assert_eq!(missing(&|program| program != "mosh-client"), ["mosh"]);
        assert_eq!(missing(&|_| true), [""; 0]);
    }

    #[test]
    fn the_command_names_every_package() {
        let command = workspace::shown(&apt_get_install(&["mosh", "tmux"]));
        assert_eq!(
            command,
            "apt-get install -y --no-install-recommends mosh tmux"
        );
    }

    #[test]
    fn each_program_comes_from_one_package() {
        let mut programs: Vec<_> = PACKAGES
            .iter()
            .flat_map(|package| package.programs)
            .collect();
        let all = programs.len();
        programs.sort();
        programs.dedup();
        assert_eq!(programs.len(), all);
    }

    #[test]
    fn the_shell_is_present_and_nonsense_is_not() {
        assert!(is_present("sh"));
        assert!(!is_present("a program that nobody has"));
    }
}

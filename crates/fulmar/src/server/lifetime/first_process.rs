//! A container, where its first process is the login itself: with that everything in it ends.

use std::fs;

/// The most ancestors that are looked at. Chosen by eye.
const ANCESTORS_MAX: usize = 64;

/// Shells: one that is the first process of a container ends with what it was started for.
const SHELLS: [&str; 10] = [
    "sh", "ash", "bash", "dash", "fish", "ksh", "mksh", "tcsh", "csh", "zsh",
];

/// The options of sshd(8) that have an argument.
const SSHD_ARGUMENTS: &str = "CEcfghopu";

/// The options of dropbear(8) that have one.
const DROPBEAR_ARGUMENTS: &str = "bcdDGIKpPrTW";

/// A process from which ours descends, or ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ancestor {
    /// Its number, as we see it.
    pub(super) pid: u32,
    /// The name of its program, as the kernel cuts it.
    name: String,
    /// Its arguments, or the title that it has given itself.
    arguments: Vec<String>,
}

impl Ancestor {
    /// Returns this process and its ancestors as far as they can be seen, ours first.
    pub(super) fn ours() -> Vec<Ancestor> {
        let mut ancestors = Vec::new();
        let mut next = Some(std::process::id());
        while let Some(pid) = next.filter(|&pid| pid > 0 && ancestors.len() < ANCESTORS_MAX) {
            let read = |file| fs::read(format!("/proc/{pid}/{file}"));
            let stat = read("stat").unwrap_or_default();
            let Some((name, parent)) = name_and_parent(&String::from_utf8_lossy(&stat)) else {
                break;
            };
            let arguments = read("cmdline").unwrap_or_default();
            let arguments = String::from_utf8_lossy(&arguments).into_owned();
            ancestors.push(Ancestor {
                pid,
                name,
                arguments: arguments
                    .split_terminator('\0')
                    .map(str::to_owned)
                    .collect(),
            });
            next = Some(parent);
        }
        ancestors
    }

    fn is_shell(&self) -> bool {
        SHELLS.contains(&self.name.as_str())
    }

    /// Tells if it is a daemon that serves a single login and ends with it.
    fn is_one_login(&self) -> bool {
        let serves_input = |with_argument| {
            let mut words = self.arguments.iter().skip(1);
            words.any(|word| has_flag(word, 'i', with_argument))
        };
        let title = self.arguments.first().map_or("", String::as_str);
        match self.name.as_str() {
            // A listening one waits for others.
            "sshd" => title.contains(" [priv]") || serves_input(SSHD_ARGUMENTS),
            "sshd-session" => true,
            "dropbear" => serves_input(DROPBEAR_ARGUMENTS),
            _ => false,
        }
    }
}

/// Tells if a word such as `-ei` has that letter. What follows one of the letters `with_argument` is
/// none.
fn has_flag(word: &str, letter: char, with_argument: &str) -> bool {
    let flags = word.strip_prefix('-').unwrap_or_default();
    let mut flags = flags
        .chars()
        .take_while(|flag| !with_argument.contains(*flag));
    flags.any(|flag| flag == letter)
}

/// Reads `1 (name) S 0 …`; the name may hold anything, also brackets.
fn name_and_parent(stat: &str) -> Option<(String, u32)> {
    let (before, after) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let parent = after.split_whitespace().nth(1)?;
    Some((name.to_owned(), parent.parse().ok()?))
}

/// Says that the container ends with the login, if that is certain.
pub(super) fn warning(ancestors: &[Ancestor]) -> Option<String> {
    let (first, descendants) = ancestors.split_last()?;
    let is_login = match descendants {
        // The parent of our daemon leaves as soon as all is well.
        [] => true,
        [_ours, between @ ..] => {
            let only_shells = first.is_shell() && between.iter().all(Ancestor::is_shell);
            only_shells || first.is_one_login()
        }
    };
    (first.pid == 1 && is_login).then(|| {
        format!(
            "this container ends with its first process ({}), and that with this login; start the \
             container with one that stays, such as an init, sshd -D or sleep infinity",
            first.name
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of command lines, ours first, of which the last is that of process 1.
    fn chain(lines: &[&str]) -> Vec<Ancestor> {
        let pids = (1..=u32::try_from(lines.len()).unwrap()).rev();
        let ancestors = pids.zip(lines).map(|(pid, line)| Ancestor {
            pid,
            name: line.split([' ', ':']).next().unwrap_or_default().to_owned(),
            arguments: if line.contains(':') {
                vec![(*line).to_owned()]
            } else {
                line.split(' ').map(str::to_owned).collect()
            },
        });
        ancestors.collect()
    }

    #[test]
    fn a_container_that_is_the_login_is_told() {
        for lines in [
            &["fulmar server"][..],
            &["fulmar server", "sh -c fulmar"],
            &["fulmar server", "bash", "sh /entry"],
            &["fulmar server", "sshd -i"],
            &[
                "fulmar server",
                "zsh",
                "sshd: ada@notty",
                "sshd: ada [priv]",
            ],
            &["fulmar server", "sh", "dropbear -Fei"],
        ] {
            let told = warning(&chain(lines));
            assert!(
                told.is_some_and(|told| told.contains("container")),
                "{lines:?}"
            );
        }
    }

    #[test]
    fn a_container_or_a_machine_that_stays_is_not() {
        for lines in [
            &["fulmar server", "bash", "systemd --switched-root"][..],
            &[
                "fulmar server",
                "bash",
                "sshd: ada@notty",
                "sshd: ada [priv]",
                "tini -- sshd",
            ],
            &[
                "fulmar server",
                "bash",
                "sshd: ada [priv]",
                "sshd: /usr/sbin/sshd -D [listener]",
            ],
            &["fulmar server", "bash", "sshd -D -e"],
            &["fulmar server", "bash", "sshd -DoPermitRootLogin=no -f /i"],
            &["fulmar server", "sh", "dropbear -F", "sh /entry"],
            &["fulmar server", "sh", "dropbear -F -p 2222"],
            &["fulmar server", "sleep infinity"],
        ] {
            assert_eq!(warning(&chain(lines)), None, "{lines:?}");
        }
    }

    #[test]
    fn ancestors_that_cannot_be_seen_say_nothing() {
        let mut entered = chain(&["fulmar server", "bash", "sh"]);
        entered.pop();
        assert_eq!(warning(&entered), None);
        assert_eq!(warning(&[]), None);
    }

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let read = |stat| name_and_parent(stat);
        assert_eq!(read("7 (a) S 3 7 7"), Some(("a".to_owned(), 3)));
        assert_eq!(read("7 (a) b (c) S 0 7"), Some(("a) b (c".to_owned(), 0)));
        for other in ["", "7", "7 (a", "7 (a) S", "7 (a) S x", ") ("] {
            assert_eq!(read(other), None, "{other:?}");
        }
    }

    #[test]
    fn our_own_ancestors_begin_with_us_and_end() {
        let ancestors = Ancestor::ours();
        assert_eq!(ancestors[0].pid, std::process::id());
        assert!(ancestors.len() <= ANCESTORS_MAX);
        let first = ancestors.first().map(|own| own.arguments.is_empty());
        assert_eq!(first, Some(false));
    }
}

//! systemd-logind, where it ends the programs of a login with the login.
//!
//! What is left of a login is in the control group of its session, `session-3.scope`, and is ended with
//! it if the rules for that user say so. What was started by way of the user's own manager is in
//! `user@1000.service`, which stays after the last login if the user lingers. (logind.conf(5),
//! loginctl(1))

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The paths that the main file may have; the first one that is there counts.
const MAIN_FILES: [&str; 4] = [
    "/etc/systemd/logind.conf",
    "/run/systemd/logind.conf",
    "/usr/local/lib/systemd/logind.conf",
    "/usr/lib/systemd/logind.conf",
];

/// The longest file that is read. Chosen by eye: such a file has a few hundred lines.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// The place of a process, as the login manager sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessScope {
    /// In the scope of a login.
    Login,
    /// Under the user's own manager.
    UserManager,
    /// Anywhere else.
    Elsewhere,
}

impl ProcessScope {
    /// Returns where this process is.
    pub(super) fn ours() -> ProcessScope {
        ProcessScope::of(&fs::read_to_string("/proc/self/cgroup").unwrap_or_default())
    }

    /// Reads the list of a process's control groups, lines of the form `0::/a/b`.
    fn of(cgroups: &str) -> ProcessScope {
        // That of systemd, if others have hierarchies too.
        let is_systemds = |line: &&str| line.starts_with("0::") || line.contains(":name=systemd:");
        let paths = cgroups.lines().filter(is_systemds);
        let mut parts = paths.flat_map(|path| path.split('/'));
        let place = parts.find_map(|part| {
            let is = |start, end| part.starts_with(start) && part.ends_with(end);
            match () {
                () if is("session-", ".scope") => Some(ProcessScope::Login),
                () if is("user@", ".service") => Some(ProcessScope::UserManager),
                () => None,
            }
        });
        place.unwrap_or(ProcessScope::Elsewhere)
    }
}

/// The rules that say whose programs end with a login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rules {
    /// Everybody's but for the lists.
    all: bool,
    /// If there are any, theirs and nobody else's.
    only: Vec<String>,
    /// Never theirs; without a word root's.
    exclude: Option<Vec<String>>,
}

impl Rules {
    /// Returns what the files of this machine say.
    pub(super) fn of_this_machine() -> Rules {
        let main = MAIN_FILES.iter().find_map(|path| read(Path::new(path)));
        let mut drop_ins = BTreeMap::new();
        // Of files with one name the last one counts, which is that of the administrator.
        for main_file in MAIN_FILES.iter().rev() {
            let folder = PathBuf::from(format!("{main_file}.d"));
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            for path in entries.map(|entry| entry.path()) {
                if path
                    .extension()
                    .is_some_and(|extension| extension == "conf")
                {
                    drop_ins.insert(path.file_name().map(ToOwned::to_owned), path);
                }
            }
        }
        let drop_ins: Vec<String> = drop_ins.values().filter_map(|path| read(path)).collect();
        Rules::of(&main.unwrap_or_default(), &drop_ins)
    }

    /// Reads the main file and the others, in their order.
    fn of(main: &str, drop_ins: &[String]) -> Rules {
        let mut rules = Rules::default();
        // What the program was made with stands there as a comment.
        for line in main.lines() {
            if let Some(("KillUserProcesses", value)) = line.strip_prefix('#').and_then(pair) {
                rules.all = is_yes(value);
            }
        }
        for text in [main]
            .into_iter()
            .chain(drop_ins.iter().map(String::as_str))
        {
            rules.read(text);
        }
        rules
    }

    fn read(&mut self, text: &str) {
        let mut is_ours = false;
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                is_ours = line == "[Login]";
            }
            match pair(line).filter(|_| is_ours) {
                Some(("KillUserProcesses", value)) => self.all = is_yes(value),
                Some(("KillOnlyUsers", value)) => add(&mut self.only, value),
                Some(("KillExcludeUsers", value)) => {
                    add(self.exclude.get_or_insert_default(), value);
                }
                _ => {}
            }
        }
    }

    /// Tells if the programs of that user end with a login.
    fn end(&self, user: &str) -> bool {
        let is_in = |list: &[String]| list.iter().any(|name| name == user);
        let is_excluded = self.exclude.as_deref().map_or(user == "root", is_in);
        let is_meant = match self.only[..] {
            [] => self.all,
            _ => is_in(&self.only),
        };
        is_meant && !is_excluded
    }
}

/// Splits `key=value`; other lines, and comments, are none.
fn pair(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    Some((key.trim(), value.trim()))
}

fn is_yes(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    matches!(value.as_str(), "1" | "yes" | "y" | "true" | "t" | "on")
}

/// Adds names to a list; no names at all empty it.
fn add(list: &mut Vec<String>, names: &str) {
    if names.is_empty() {
        list.clear();
    }
    list.extend(names.split_whitespace().map(str::to_owned));
}

/// Tells if the user's manager stays after the last login.
pub(super) fn lingers(user: &str) -> bool {
    !user.contains('/') && Path::new("/var/lib/systemd/linger").join(user).exists()
}

/// Says what is going to happen, and what would help.
pub(super) fn warning(
    place: ProcessScope,
    rules: &Rules,
    user: &str,
    lingers: impl Fn() -> bool,
) -> Option<String> {
    match place {
        ProcessScope::Login if rules.end(user) => Some(
            "systemd-logind ends this session with the login that started it; run loginctl \
             enable-linger there once, and fulmar with --server 'systemd-run --user --scope -q \
             fulmar server', or set KillUserProcesses=no in /etc/systemd/logind.conf"
                .to_owned(),
        ),
        ProcessScope::UserManager if !lingers() => Some(
            "systemd ends this session with your last login there; run loginctl enable-linger there \
             once"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Reads a file; a pipe or a device is none.
fn read(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    fs::metadata(path).ok().filter(Metadata::is_file)?;
    let file = fs::File::open(path).ok()?;
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_group_tells_the_place() {
        for (cgroups, place) in [
            (
                "0::/user.slice/user-1000.slice/session-3.scope\n",
                ProcessScope::Login,
            ),
            (
                "5:cpu:/\n1:name=systemd:/user.slice/user-0.slice/session-c1.scope\n0::/\n",
                ProcessScope::Login,
            ),
            (
                "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope\n",
                ProcessScope::UserManager,
            ),
            ("0::/system.slice/ssh.service\n", ProcessScope::Elsewhere),
            ("4:memory:/session-3.scope\n0::/\n", ProcessScope::Elsewhere),
            ("0::/\n", ProcessScope::Elsewhere),
            ("", ProcessScope::Elsewhere),
        ] {
            assert_eq!(ProcessScope::of(cgroups), place, "{cgroups:?}");
        }
    }

    /// Returns whether programs of ada, and of root, end with a login.
    fn ends(main: &str, drop_ins: &[&str]) -> (bool, bool) {
        let drop_ins: Vec<String> = drop_ins.iter().copied().map(str::to_owned).collect();
        let rules = Rules::of(main, &drop_ins);
        (rules.end("ada"), rules.end("root"))
    }

    #[test]
    fn by_default_it_is_what_the_comment_says() {
        assert_eq!(ends("", &[]), (false, false));
        assert_eq!(
            ends("[Login]\n#KillUserProcesses=no\n", &[]),
            (false, false)
        );
        assert_eq!(
            ends("[Login]\n#KillUserProcesses=yes\n", &[]),
            (true, false)
        );
    }

    #[test]
    fn the_last_word_counts() {
        let yes = "[Login]\nKillUserProcesses = Yes\n";
        let no = "[Login]\nKillUserProcesses=0\n";
        assert_eq!(ends(yes, &[]), (true, false));
        assert_eq!(ends(no, &[yes]), (true, false));
        assert_eq!(ends(yes, &[yes, no]), (false, false));
        let elsewhere = "[Other]\nKillUserProcesses=no\n# KillUserProcesses=no\n";
        assert_eq!(ends(yes, &[elsewhere]), (true, false));
    }

    #[test]
    fn users_can_be_named() {
        let yes = "[Login]\nKillUserProcesses=yes\n";
        let also = |line: &str| format!("[Login]\n{line}\n");
        for (line, wanted) in [
            ("KillExcludeUsers=bob ada", (false, true)),
            ("KillExcludeUsers=", (true, true)),
            ("KillOnlyUsers=bob", (false, false)),
            ("KillOnlyUsers=bob ada root", (true, false)),
            ("KillOnlyUsers=bob\nKillOnlyUsers=", (true, false)),
        ] {
            assert_eq!(ends(yes, &[&also(line)]), wanted, "{line}");
        }
        assert_eq!(ends("", &[&also("KillOnlyUsers=ada")]), (true, false));
    }

    #[test]
    fn a_warning_names_the_remedy_and_comes_only_where_it_helps() {
        let all = Rules {
            all: true,
            ..Rules::default()
        };
        let none = Rules::default();
        let told = |place, rules, lingers| warning(place, rules, "ada", || lingers);
        let login = told(ProcessScope::Login, &all, true).unwrap();
        assert!(login.contains("enable-linger") && login.contains("systemd-run --user --scope"));
        let manager = told(ProcessScope::UserManager, &none, false).unwrap();
        assert!(manager.contains("enable-linger"));
        assert_eq!(told(ProcessScope::Login, &none, false), None);
        assert_eq!(told(ProcessScope::UserManager, &all, true), None);
        assert_eq!(told(ProcessScope::Elsewhere, &all, false), None);
    }

    #[test]
    fn any_text_can_be_read() {
        for text in [
            "=",
            "[",
            "[Login]\n=\nKillUserProcesses\n#=\n",
            "\u{0}",
            "#",
        ] {
            assert_eq!(ends(text, &[text]), (false, false), "{text:?}");
        }
    }
}

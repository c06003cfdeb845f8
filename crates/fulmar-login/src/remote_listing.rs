//! The names of files on another machine, over a connection that somebody else has opened, to complete one that is
//! being typed.

use std::ffi::{OsStr, OsString};

use crate::shell_words::quoted;
use crate::ssh::SshCommand;

/// The options that keep ssh from asking, and from becoming anything but one command of a connection that there is.
const QUIETLY: [&str; 7] = [
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ControlMaster=no",
    "-o",
    "RemoteCommand=none",
];

impl SshCommand {
    /// Returns the command line that succeeds if there is an open connection to the host which others may share.
    pub fn master_query(&self) -> Vec<OsString> {
        let mut line = self.words.clone();
        line.extend(["-O", "check"].map(OsString::from));
        line.extend(self.destination.port_option());
        line.push("--".into());
        line.push(self.destination.word().to_owned());
        line
    }

    /// Returns the command line that lists the files there whose paths begin so. The answer is read by [`listed`].
    pub fn listing(&self, typed: &str) -> Vec<OsString> {
        let mut line = self.words.clone();
        line.extend(QUIETLY.map(OsString::from));
        line.extend(self.destination.port_option());
        line.push("--".into());
        line.push(self.destination.word().to_owned());
        // The shell in between may be of any kind, and ends its own way what it does not understand.
        let mut command = OsString::from("sh -c 'ls -1dLp -- \"$0\"*; true' ");
        command.push(quoted(OsStr::new(without_home(typed))));
        line.push(command);
        line
    }
}

/// Returns a path as seen from the home folder, in which commands start.
fn without_home(typed: &str) -> &str {
    typed.strip_prefix("~/").unwrap_or(typed)
}

/// Returns the paths in an answer that continue what was typed; folders end with a slash. A name with control
/// characters is left out: it would reach the user's terminal.
pub fn listed(typed: &str, answer: &[u8]) -> Vec<String> {
    let seen = without_home(typed);
    let home = &typed[..typed.len() - seen.len()];
    let lines = answer.split(|&byte| byte == b'\n');
    let names = lines.filter_map(|line| std::str::from_utf8(line).ok());
    names
        .filter(|name| {
            !name.is_empty() && name.starts_with(seen) && !name.contains(char::is_control)
        })
        .map(|name| format!("{home}{name}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ssh::Destination;

    fn ssh() -> SshCommand {
        SshCommand {
            words: vec!["ssh".into(), "-F".into(), "x".into()],
            destination: Destination::parse(OsStr::new("ada@host")).unwrap(),
            family: None,
        }
    }

    fn spaced(line: Vec<OsString>) -> String {
        line.join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn what_is_asked_can_neither_ask_back_nor_open_a_connection_for_others() {
        assert_eq!(
            spaced(ssh().master_query()),
            "ssh -F x -O check -- ada@host"
        );
        let listing = spaced(ssh().listing("~/it's"));
        assert!(listing.contains("-o BatchMode=yes -o ControlMaster=no"));
        assert!(
            listing.ends_with(r#"-- ada@host sh -c 'ls -1dLp -- "$0"*; true' 'it'\''s'"#),
            "{listing}"
        );
    }

    #[test]
    fn of_an_answer_only_what_was_asked_for_counts() {
        let answer = b"pictures/\npic.txt\nother\npi\x1bc\npi\xff\n\n";
        assert_eq!(listed("pi", answer), ["pictures/", "pic.txt"]);
        assert_eq!(listed("~/pi", answer), ["~/pictures/", "~/pic.txt"]);
        assert_eq!(listed("", b"a\nb/\n"), ["a", "b/"]);
    }
}

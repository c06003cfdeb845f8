//! A session as it is listed.

use std::net::IpAddr;
use std::time::Duration;

use crate::bootstrap::percent;
use crate::session_name::SessionName;

/// The most that is told of a session's command. Chosen by eye: a line of a terminal; a whole description fits into a line
/// of a login.
const COMMAND_BYTES_MAX: usize = 96;

/// The description of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its name.
    pub name: SessionName,
    /// The names that it had before, the last one first.
    pub former: Vec<SessionName>,
    /// The number of its server's process; 0 if it is not known.
    pub pid: u32,
    /// The time since it began, in whole seconds.
    pub age: Duration,
    /// The address of its client, or of the last one, if any was there.
    pub client: Option<IpAddr>,
    /// The time since its last client was heard of; `None` while there is one.
    pub away: Option<Duration>,
    /// The time after which it ends if no client comes; `None` if never.
    pub expires: Option<Duration>,
    /// True if its server does not answer: then only the name is known, and perhaps the process.
    pub is_silent: bool,
    /// The program that it runs, cut if that is long; empty for the user's shell.
    pub command: String,
}

impl SessionInfo {
    /// The most former names that are known.
    ///
    /// Chosen by eye: nobody remembers more.
    pub const FORMER_MAX: usize = 3;

    /// Returns a session whose server does not answer.
    pub fn silent(name: SessionName, pid: Option<u32>) -> SessionInfo {
        SessionInfo {
            name,
            former: Vec::new(),
            pid: pid.unwrap_or_default(),
            age: Duration::ZERO,
            client: None,
            away: None,
            expires: None,
            is_silent: true,
            command: String::new(),
        }
    }

    /// Returns the words that describe it, with one blank between two.
    pub fn words(&self) -> String {
        let mut words = vec![
            format!("name={}", self.name),
            format!("pid={}", self.pid),
            format!("age={}", self.age.as_secs()),
        ];
        let former = self.former.iter().take(SessionInfo::FORMER_MAX);
        words.extend(former.map(|name| format!("was={name}")));
        words.extend(self.client.map(|client| format!("client={client}")));
        for (key, time) in [("away", self.away), ("expires", self.expires)] {
            words.extend(time.map(|time| format!("{key}={}", time.as_secs())));
        }
        if self.is_silent {
            words.push("silent=yes".to_owned());
        }
        if !self.command.is_empty() {
            let mut end = self.command.len().min(COMMAND_BYTES_MAX);
            while !self.command.is_char_boundary(end) {
                end -= 1;
            }
            let mut encoded = Vec::new();
            let cut = self.command.get(..end).unwrap_or_default();
            percent::encode(cut.as_bytes(), &mut encoded);
            let encoded = String::from_utf8_lossy(&encoded).replace(' ', "%20");
            words.push(format!("command={encoded}"));
        }
        words.join(" ")
    }

    /// Reads such words. Those that a later version has more are passed over; `None` if one makes no sense, or too few are
    /// there.
    pub fn parse(words: &str) -> Option<SessionInfo> {
        let (mut name, mut pid, mut age) = (None, None, None);
        let (mut client, mut away, mut expires) = (None, None, None);
        let mut command = String::new();
        let mut former = Vec::new();
        let mut is_silent = false;
        for word in words.split(' ') {
            let (key, value) = word.split_once('=')?;
            match key {
                "name" => name = Some(SessionName::parse(value).ok()?),
                "was" if former.len() < SessionInfo::FORMER_MAX => {
                    former.push(SessionName::parse(value).ok()?);
                }
                "pid" => pid = Some(value.parse().ok()?),
                "age" => age = Some(seconds(value)?),
                "client" => client = Some(value.parse().ok()?),
                "away" => away = Some(seconds(value)?),
                "expires" => expires = Some(seconds(value)?),
                "silent" => is_silent = true,
                "command" => {
                    let decoded = percent::decode(value.as_bytes())?;
                    command = String::from_utf8_lossy(&decoded).into_owned();
                }
                _ => {}
            }
        }
        Some(SessionInfo {
            name: name?,
            former,
            pid: pid?,
            age: age?,
            client,
            away,
            expires,
            is_silent,
            command,
        })
    }
}

fn seconds(text: &str) -> Option<Duration> {
    text.parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn info() -> SessionInfo {
        SessionInfo {
            name: SessionName::parse("work").unwrap(),
            former: Vec::new(),
            pid: 12,
            age: Duration::from_secs(100),
            client: None,
            away: Some(Duration::from_secs(7)),
            expires: None,
            is_silent: false,
            command: "vim a\u{1b}b 100%".to_owned(),
        }
    }

    #[test]
    fn it_is_read_as_it_is_written_and_what_is_new_is_passed_over() {
        let words = "name=work pid=12 age=100 away=7 command=vim%20a%1Bb%20100%25";
        assert_eq!(info().words(), words);
        assert_eq!(
            SessionInfo::parse(&format!("{words} mood=fine")),
            Some(info())
        );
        let attended = SessionInfo {
            client: "fe80::1".parse().ok(),
            away: None,
            expires: Some(Duration::from_secs(u64::MAX)),
            command: String::new(),
            ..info()
        };
        assert_eq!(SessionInfo::parse(&attended.words()), Some(attended));
    }

    #[test]
    fn one_that_does_not_answer_is_told_as_such() {
        let name = SessionName::parse("work").unwrap();
        for pid in [None, Some(7)] {
            let silent = SessionInfo::silent(name.clone(), pid);
            assert_eq!(SessionInfo::parse(&silent.words()), Some(silent));
        }
    }

    #[test]
    fn names_that_it_had_come_along() {
        let renamed = SessionInfo {
            former: ["play", "far-1"]
                .map(|name| SessionName::parse(name).unwrap())
                .into(),
            ..info()
        };
        let words = renamed.words();
        assert!(words.contains(" was=play was=far-1 "), "{words}");
        assert_eq!(SessionInfo::parse(&words), Some(renamed));
    }

    #[test]
    fn what_makes_no_sense_is_no_description() {
        for words in [
            "",
            "name=work",
            "name=a/b pid=1 age=1",
            "name=work pid=-1 age=1",
            "name=work pid=1 age=1 client=here",
            "name=work pid=1 age=1 command=%x",
            "name=work  pid=1 age=1",
        ] {
            assert_eq!(SessionInfo::parse(words), None, "{words:?}");
        }
    }

    proptest! {
        #[test]
        fn any_command_fits_into_a_line(command in any::<String>()) {
            let told = SessionInfo { command, ..info() };
            prop_assert!(told.words().len() < 900);
            prop_assert!(SessionInfo::parse(&told.words()).is_some() || told.command.contains('\0'));
        }
    }
}

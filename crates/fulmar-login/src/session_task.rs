//! Wishes about sessions that are there.

use crate::session_name::SessionName;

/// A wish about sessions that are there, in place of a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionTask {
    /// Let the client take a session.
    Attach {
        /// Its name; without one it is the only one, or the one that was left last.
        name: Option<SessionName>,
        /// Begin a new session where there is none to take, as the rest of the offer says.
        or_new: bool,
    },
    /// Describe all of them.
    List,
    /// End that one.
    End(SessionName),
    /// Give one another name.
    Rename {
        /// The name that it has.
        from: SessionName,
        /// The name that it is to have.
        to: SessionName,
    },
    /// Have this ssh carry datagrams between that session and the client that it has.
    OverSsh(SessionName),
}

impl SessionTask {
    /// Returns the line of an offer for it, without its end.
    pub(crate) fn line(&self) -> String {
        match self {
            SessionTask::Attach { name, or_new } => {
                let key = if *or_new { "attach-or-new" } else { "attach" };
                match name {
                    Some(name) => format!("{key} {name}"),
                    None => key.to_owned(),
                }
            }
            SessionTask::List => "sessions".to_owned(),
            SessionTask::End(name) => format!("end {name}"),
            SessionTask::Rename { from, to } => format!("rename {from} {to}"),
            SessionTask::OverSsh(name) => format!("over-ssh {name}"),
        }
    }

    /// Reads the line of an offer that has this key. `None` if another key is meant; `Some(None)` if the value makes no
    /// sense.
    pub(crate) fn read(key: &[u8], value: &str) -> Option<Option<SessionTask>> {
        let name = |text: &str| SessionName::parse(text).ok();
        let attach = |or_new| match value {
            "" => Some(SessionTask::Attach { name: None, or_new }),
            value => name(value).map(|name| SessionTask::Attach {
                name: Some(name),
                or_new,
            }),
        };
        Some(match key {
            b"attach" => attach(false),
            b"attach-or-new" => attach(true),
            b"sessions" => value.is_empty().then_some(SessionTask::List),
            b"end" => name(value).map(SessionTask::End),
            b"over-ssh" => name(value).map(SessionTask::OverSsh),
            b"rename" => value.split_once(' ').and_then(|(from, to)| {
                let (from, to) = (name(from)?, name(to)?);
                Some(SessionTask::Rename { from, to })
            }),
            _ => return None,
        })
    }

    /// Tells if the client takes a session, or may.
    pub fn is_attach(&self) -> bool {
        matches!(self, SessionTask::Attach { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_read_as_it_is_written() {
        for line in [
            "attach",
            "attach work",
            "attach-or-new",
            "attach-or-new work",
            "sessions",
            "end work",
            "rename work play",
        ] {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            let task = SessionTask::read(key.as_bytes(), value).unwrap().unwrap();
            assert_eq!(task.line(), line);
            assert_eq!(task.is_attach(), line.starts_with("attach"));
        }
        assert_eq!(SessionTask::read(b"mood", "fine"), None);
        for (key, value) in [
            ("attach", "a/b"),
            ("sessions", "x"),
            ("end", ""),
            ("end", "a b"),
            ("rename", "a"),
            ("rename", "a b c"),
        ] {
            assert_eq!(
                SessionTask::read(key.as_bytes(), value),
                Some(None),
                "{key}"
            );
        }
    }
}

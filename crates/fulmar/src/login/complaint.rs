//! Recognises an error of ssh by its last words.
//!
//! They were shown to the user; this only chooses the line about what to try next.

/// A reason for which ssh did not get in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SshComplaint {
    /// The host's name has no address.
    UnknownHost,
    /// Nobody listens at the port.
    Refused,
    /// No way leads there, or nobody answers.
    Unreachable,
    /// The host's key is not the known one, or was not accepted.
    HostKey,
    /// No key and no password was right.
    Denied,
    /// ssh does not understand its configuration or options.
    Configuration,
    /// The connection has ended in the middle.
    Lost,
    /// Anything else.
    Other,
}

/// Words of OpenSSH and Dropbear; the first that is found counts.
const WORDS: &[(&str, SshComplaint)] = &[
    ("could not resolve hostname", SshComplaint::UnknownHost),
    ("error resolving", SshComplaint::UnknownHost),
    ("host key verification failed", SshComplaint::HostKey),
    ("host identification has changed", SshComplaint::HostKey),
    ("host key mismatch", SshComplaint::HostKey),
    ("didn't validate host key", SshComplaint::HostKey),
    ("permission denied", SshComplaint::Denied),
    ("too many authentication failures", SshComplaint::Denied),
    ("no auth methods could be used", SshComplaint::Denied),
    ("bad configuration option", SshComplaint::Configuration),
    ("bad owner or permissions", SshComplaint::Configuration),
    ("bad configuration", SshComplaint::Configuration),
    ("unknown option", SshComplaint::Configuration),
    ("illegal option", SshComplaint::Configuration),
    ("connection refused", SshComplaint::Refused),
    ("timed out", SshComplaint::Unreachable),
    ("no route to host", SshComplaint::Unreachable),
    ("network is unreachable", SshComplaint::Unreachable),
    ("connection closed", SshComplaint::Lost),
    ("connection reset", SshComplaint::Lost),
    ("broken pipe", SshComplaint::Lost),
];

impl SshComplaint {
    /// Reads ssh's last words.
    pub(crate) fn of(words: &str) -> SshComplaint {
        let words = words.to_lowercase();
        let known = WORDS.iter().find(|(known, _)| words.contains(known));
        known.map_or(SshComplaint::Other, |(_, complaint)| *complaint)
    }

    /// Says what to try.
    pub(crate) fn advice(self, host: &str) -> String {
        match self {
            SshComplaint::UnknownHost => {
                "check the spelling, and Host and HostName in ~/.ssh/config".to_owned()
            }
            SshComplaint::Refused => {
                "check that sshd runs there, and at that port: Port in ~/.ssh/config".to_owned()
            }
            SshComplaint::Unreachable => {
                "check the network, and that a firewall lets ssh through".to_owned()
            }
            SshComplaint::HostKey => {
                "ask whoever runs the machine for its key; ssh says above how to accept a new one"
                    .to_owned()
            }
            SshComplaint::Denied => format!("check the user's name and the key: ssh -v {host}"),
            SshComplaint::Configuration => {
                "correct what ssh names above: a file, or what --ssh says".to_owned()
            }
            SshComplaint::Lost | SshComplaint::Other => {
                format!("see that ssh {host} works by itself")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_ssh_are_understood() {
        for (words, complaint) in [
            (
                "ssh: Could not resolve hostname hots: Name or service not known\n",
                SshComplaint::UnknownHost,
            ),
            (
                "ssh: connect to host h port 22: Connection refused\n",
                SshComplaint::Refused,
            ),
            (
                "ssh: connect to host h port 22: Connection timed out\n",
                SshComplaint::Unreachable,
            ),
            ("Host key verification failed.\n", SshComplaint::HostKey),
            (
                "ada@h: Permission denied (publickey,password).\n",
                SshComplaint::Denied,
            ),
            (
                "/etc/x: line 1: Bad configuration option: foo\n",
                SshComplaint::Configuration,
            ),
            (
                "Connection closed by 192.0.2.1 port 22\n",
                SshComplaint::Lost,
            ),
            ("", SshComplaint::Other),
        ] {
            assert_eq!(SshComplaint::of(words), complaint, "{words}");
        }
    }

    #[test]
    fn there_is_always_something_to_try() {
        for (_, complaint) in WORDS {
            assert!(complaint.advice("host").len() > 10);
        }
        assert!(SshComplaint::Other.advice("host").contains("ssh host"));
    }
}

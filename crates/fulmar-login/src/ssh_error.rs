//! Recognises an error of ssh by its last words.
//!
//! They were shown to the user; this only chooses the line about what to try next.

/// A reason for which ssh did not get in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SshError {
    /// The host's name has no address.
    UnknownHost,
    /// No name has an address at the moment: no name server answers.
    NoNameServer,
    /// The same, on the host through which ssh goes.
    UnknownToJump,
    /// Nobody listens at the port.
    Refused,
    /// No way leads there, or nobody answers.
    Unreachable,
    /// The host's key is not the known one, or was not accepted.
    HostKey,
    /// No key and no password was right.
    Denied,
    /// ssh does not understand a file of its configuration, or its flags.
    Configuration,
    /// ssh does not understand an option on its command line.
    Option,
    /// A command was named with `-o`, where ssh gets one already.
    RemoteCommand,
    /// The file that `-F` names cannot be read.
    ConfigurationMissing,
    /// The connection has ended in the middle.
    Lost,
    /// Anything else.
    Other,
}

/// Words of OpenSSH and Dropbear; the first that is found counts.
const WORDS: &[(&str, SshError)] = &[
    (
        "open failed: connect failed: temporary failure in name resolution",
        SshError::UnknownToJump,
    ),
    (
        "open failed: connect failed: name or service not known",
        SshError::UnknownToJump,
    ),
    (
        "temporary failure in name resolution",
        SshError::NoNameServer,
    ),
    ("could not resolve hostname", SshError::UnknownHost),
    ("error resolving", SshError::UnknownHost),
    ("host key verification failed", SshError::HostKey),
    ("host identification has changed", SshError::HostKey),
    ("host key mismatch", SshError::HostKey),
    ("didn't validate host key", SshError::HostKey),
    ("permission denied", SshError::Denied),
    ("too many authentication failures", SshError::Denied),
    ("no auth methods could be used", SshError::Denied),
    (
        "can't open user config file",
        SshError::ConfigurationMissing,
    ),
    (
        "cannot execute command-line and remote command",
        SshError::RemoteCommand,
    ),
    ("command-line: line", SshError::Option),
    ("command-line line", SshError::Option),
    ("bad configuration option", SshError::Configuration),
    ("bad owner or permissions", SshError::Configuration),
    ("bad configuration", SshError::Configuration),
    ("unknown option", SshError::Configuration),
    ("illegal option", SshError::Configuration),
    ("connection refused", SshError::Refused),
    ("timed out", SshError::Unreachable),
    ("no route to host", SshError::Unreachable),
    ("network is unreachable", SshError::Unreachable),
    ("connection closed", SshError::Lost),
    ("connection reset", SshError::Lost),
    ("broken pipe", SshError::Lost),
    ("not responding", SshError::Lost),
];

impl SshError {
    /// Reads ssh's last words.
    pub fn of(words: &str) -> SshError {
        let words = words.to_lowercase();
        let known = WORDS.iter().find(|(known, _)| words.contains(known));
        known.map_or(SshError::Other, |(_, error)| *error)
    }

    /// Tells if the connection was lost.
    pub fn is_of_connection(self) -> bool {
        matches!(self, SshError::Lost | SshError::Unreachable)
    }

    /// Says what to try.
    pub fn advice(self, host: &str) -> String {
        match self {
            SshError::UnknownHost => {
                "check the spelling, and Host and HostName in ~/.ssh/config".to_owned()
            }
            SshError::UnknownToJump => {
                "the jump host looks the name up, and does not find it: name the host as the jump host knows it, or by its address"
                    .to_owned()
            }
            SshError::NoNameServer => {
                "check the network: no name server answers; then the spelling, and Host and HostName in ~/.ssh/config"
                    .to_owned()
            }
            SshError::Refused => {
                "check that sshd runs there, and at that port: Port in ~/.ssh/config".to_owned()
            }
            SshError::Unreachable => {
                "check the network, and that a firewall lets ssh through".to_owned()
            }
            SshError::HostKey => {
                "ask whoever runs the machine for its key; ssh says above how to accept a new one"
                    .to_owned()
            }
            SshError::Denied => format!(
                "check the user's name and the key: run ssh -v {host}, with the options for ssh that you gave here"
            ),
            SshError::Configuration => {
                "correct what ssh names above: a file, or the value of --ssh".to_owned()
            }
            SshError::Option => {
                "correct the option that ssh names above: it comes from -o, -J or --ssh".to_owned()
            }
            SshError::RemoteCommand => {
                "leave RemoteCommand out of -o and --ssh, and write the command behind the host; one in ~/.ssh/config is not run"
                    .to_owned()
            }
            SshError::ConfigurationMissing => {
                "check the path behind -F: it names a configuration file of ssh; without -F ssh reads ~/.ssh/config"
                    .to_owned()
            }
            SshError::Lost | SshError::Other => {
                format!(
                    "check that ssh {host} works on its own, with the options for ssh that you gave here"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_ssh_are_understood() {
        for (words, error) in [
            (
                "ssh: Could not resolve hostname hots: Name or service not known\n",
                SshError::UnknownHost,
            ),
            (
                "ssh: Could not resolve hostname hots: Temporary failure in name resolution\n",
                SshError::NoNameServer,
            ),
            (
                "channel 0: open failed: connect failed: Temporary failure in name resolution\n\
                 stdio forwarding failed\nConnection closed by UNKNOWN port 65535\n",
                SshError::UnknownToJump,
            ),
            (
                "channel 0: open failed: connect failed: Name or service not known\n",
                SshError::UnknownToJump,
            ),
            (
                "ssh: connect to host h port 22: Connection refused\n",
                SshError::Refused,
            ),
            (
                "ssh: connect to host h port 22: Connection timed out\n",
                SshError::Unreachable,
            ),
            ("Host key verification failed.\n", SshError::HostKey),
            (
                "ada@h: Permission denied (publickey,password).\n",
                SshError::Denied,
            ),
            (
                "/etc/x: line 1: Bad configuration option: foo\n",
                SshError::Configuration,
            ),
            (
                "command-line: line 0: Bad configuration option: foo\n",
                SshError::Option,
            ),
            (
                "Cannot execute command-line and remote command.\n",
                SshError::RemoteCommand,
            ),
            (
                "Can't open user config file nope: No such file or directory\n",
                SshError::ConfigurationMissing,
            ),
            ("Connection closed by 192.0.2.1 port 22\n", SshError::Lost),
            ("", SshError::Other),
        ] {
            assert_eq!(SshError::of(words), error, "{words}");
        }
    }

    #[test]
    fn there_is_always_something_to_try() {
        for (_, error) in WORDS {
            assert!(error.advice("host").len() > 10);
        }
        assert!(SshError::Other.advice("host").contains("ssh host"));
        // Who was denied may be somebody else without -l or -i.
        for error in [SshError::Denied, SshError::Other] {
            assert!(error.advice("host").contains("with the options for ssh"));
        }
    }
}

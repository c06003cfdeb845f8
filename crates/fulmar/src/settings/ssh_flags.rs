//! Flags that are handed on to ssh.

use std::ffi::OsString;

use clap::{Args, ValueHint};

/// The options that are handed on to ssh, under the letters of ssh and scp.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Passed on to ssh")]
pub(crate) struct SshFlags {
    /// The port of sshd
    #[arg(id = "ssh-port", short = 'P', value_name = "PORT", value_parser = port)]
    port: Option<u16>,
    /// A key to log in with
    #[arg(id = "ssh-identity", short = 'i', value_name = "FILE", value_hint = ValueHint::FilePath)]
    identity: Vec<OsString>,
    /// A configuration file for ssh
    #[arg(id = "ssh-config", short = 'F', value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<OsString>,
    /// A jump host
    #[arg(id = "ssh-jump", short = 'J', value_name = "[USER@]HOST[:PORT]", value_hint = ValueHint::Hostname)]
    jump: Option<OsString>,
    /// An option as in ssh_config
    #[arg(id = "ssh-option", short = 'o', value_name = "OPTION")]
    options: Vec<OsString>,
}

/// Reads the port of sshd.
fn port(text: &str) -> Result<u16, &'static str> {
    let port = text.parse().ok().filter(|port| *port != 0);
    port.ok_or("the port of sshd is a number from 1 to 65535")
}

impl SshFlags {
    /// Returns the words for ssh.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let port = self.port.map(|port| OsString::from(port.to_string()));
        let lists: [(&str, Vec<&OsString>); 5] = [
            ("-p", port.iter().collect()),
            ("-i", self.identity.iter().collect()),
            ("-F", self.config.iter().collect()),
            ("-J", self.jump.iter().collect()),
            ("-o", self.options.iter().collect()),
        ];
        let mut words = Vec::new();
        for (letter, values) in lists {
            for value in values {
                words.extend([letter.into(), value.clone()]);
            }
        }
        words
    }

    /// Returns the words as they are given to us.
    pub(crate) fn own_words(&self) -> Vec<OsString> {
        let mut words = self.words();
        // ssh has another letter for the port. It is the first.
        if let Some(letter) = words.first_mut().filter(|_| self.port.is_some()) {
            *letter = "-P".into();
        }
        words
    }

    /// Returns these with others that were given later: what can only be once is taken from the later ones.
    pub(crate) fn followed_by(self, later: SshFlags) -> SshFlags {
        SshFlags {
            port: later.port.or(self.port),
            identity: [self.identity, later.identity].concat(),
            config: later.config.or(self.config),
            jump: later.jump.or(self.jump),
            options: [later.options, self.options].concat(),
        }
    }

    /// Returns the first flag that was given, if any was.
    pub(crate) fn first(&self) -> Option<String> {
        let words = self.own_words();
        words
            .first()
            .map(|word| word.to_string_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        flags: SshFlags,
    }

    fn given(line: &str) -> SshFlags {
        let words = std::iter::once("x").chain(line.split_whitespace());
        Line::try_parse_from(words).unwrap().flags
    }

    #[test]
    fn ssh_gets_its_own_letters() {
        let words = given("-o A=b -P 2222 -i x -i y -J gw -F z").words();
        let wanted = "-p 2222 -i x -i y -F z -J gw -o A=b";
        assert_eq!(
            words,
            wanted.split(' ').map(OsString::from).collect::<Vec<_>>()
        );
        assert!(given("").words().is_empty());
    }

    #[test]
    fn a_port_that_sshd_cannot_have_is_refused_in_plain_words() {
        for port in ["0", "abc", "65536", "-1", ""] {
            let refused = Line::try_parse_from(["x", &format!("-P={port}")]).unwrap_err();
            let told = refused.to_string();
            assert!(told.contains("a number from 1 to 65535"), "{port}: {told}");
        }
    }

    #[test]
    fn later_flags_count_before_earlier_ones() {
        let both = given("-P 1 -i x -o A=b").followed_by(given("-P 2 -i y -o A=c"));
        let wanted = "-p 2 -i x -i y -o A=c -o A=b";
        assert_eq!(
            both.words(),
            wanted.split(' ').map(OsString::from).collect::<Vec<_>>()
        );
        assert_eq!(given("-P 1").first().as_deref(), Some("-P"));
        assert_eq!(given("").first(), None);
    }
}

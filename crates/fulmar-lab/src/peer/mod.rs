//! Peers: what carries a session from a user's terminal to the host, by name or as a command template.
//!
//! A template is a line for `sh`, which runs on the client's host with the user's terminal as its
//! own. It has to start a session that runs `{command}` on the server's host.
//!
//! | in a template | is replaced by |
//! |---|---|
//! | `{command}` | the remote command, a few words that no shell changes; every template has it |
//! | `{host}`, `{port}` | where the server's sshd is: an address, 22 |
//! | `{ssh}` | ssh with what it needs to get in: several words |
//! | `{fulmar}`, `{mosh-server}` | where that program is |
//!
//! Those with a name are templates as well:
//!
//! | name | what |
//! |---|---|
//! | `ssh` | OpenSSH, its escape key off |
//! | `mosh`, `mosh-a`, `mosh-n` | stock Mosh; predictions adaptive, always, never |
//! | `fulmar`, `fulmar-a`, `fulmar-n` | our program; predictions adaptive, always, never |

mod costs;
mod lab_sshd;
mod programs;
mod session_files;
mod template;

use anyhow::{Result, bail, ensure};

pub(crate) use costs::{Cost, Costs, costs};
pub(crate) use lab_sshd::LabSshd;
pub(crate) use programs::{NotInstalled, require};
pub(crate) use session_files::{SessionFiles, own_files};
pub(crate) use template::{Values, plain};

/// A program, or several, that carries a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its name, of lower-case letters, digits and `-`.
    pub name: String,
    /// The line that begins a session.
    template: String,
    /// The programs whose costs count.
    programs: Programs,
    /// See [`Peer::may_predict`].
    may_predict: bool,
}

/// The names of processes, on the client's host and on the server's, that are the peer's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Programs {
    /// These.
    Named(&'static [&'static str], &'static [&'static str]),
    /// All but shells, and but ssh and sshd where there are others.
    Others,
}

const SSH: Programs = Programs::Named(&["ssh"], &["sshd", "sshd-session"]);
const MOSH: Programs = Programs::Named(&["mosh-client"], &["mosh-server"]);
const FULMAR: Programs = Programs::Named(&["fulmar"], &["fulmar"]);

macro_rules! mosh {
    ($predict:literal) => {
        concat!(
            "MOSH_ESCAPE_KEY= exec mosh --predict=",
            $predict,
            " --ssh='{ssh}' --server={mosh-server} {host} -- {command}"
        )
    };
}

macro_rules! fulmar {
    ($predict:literal) => {
        concat!(
            "exec {fulmar} --config none --escape-key none --predict ",
            $predict,
            " --ssh '{ssh}' --server '{fulmar} server' {host} -- {command}"
        )
    };
}

/// The peers that need no template of the user's: name, template, and whose costs count.
const KNOWN: [(&str, &str, Programs); 7] = [
    ("ssh", "exec {ssh} -e none -t {host} {command}", SSH),
    ("mosh", mosh!("adaptive"), MOSH),
    ("mosh-a", mosh!("always"), MOSH),
    ("mosh-n", mosh!("never"), MOSH),
    ("fulmar", fulmar!("adaptive"), FULMAR),
    ("fulmar-a", fulmar!("always"), FULMAR),
    ("fulmar-n", fulmar!("never"), FULMAR),
];

/// The end of the name of a known peer that predicts nothing.
const NEVER: &str = "-n";

impl Peer {
    /// Reads a known name, or `NAME=TEMPLATE`.
    ///
    /// # Errors
    ///
    /// Where the name is not known, or the template says something that has no meaning.
    pub fn parse(text: &str) -> Result<Self> {
        let Some((name, template)) = text.split_once('=') else {
            return Self::known(text);
        };
        let is_plain = |character: char| {
            character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-'
        };
        ensure!(
            !name.is_empty() && name.chars().all(is_plain),
            "the name of a peer is of lower-case letters, digits and “-”, not “{name}”"
        );
        template::check(template)?;
        Ok(Self {
            name: name.to_owned(),
            template: template.to_owned(),
            programs: Programs::Others,
            may_predict: true,
        })
    }

    fn known(name: &str) -> Result<Self> {
        let Some((name, template, programs)) = KNOWN.iter().find(|(known, ..)| *known == name)
        else {
            let names = KNOWN.map(|(name, ..)| name);
            bail!(
                "there is no peer “{name}”; there are {}, and NAME=TEMPLATE for any other, such \
                 as plain='{{ssh}} -t {{host}} {{command}}'",
                names.join(", ")
            );
        };
        Ok(Self {
            name: (*name).to_owned(),
            template: (*template).to_owned(),
            programs: *programs,
            may_predict: *programs != SSH && !name.ends_with(NEVER),
        })
    }

    /// Returns the line for `sh` that begins a session.
    ///
    /// # Errors
    ///
    /// Where a program that the template names is not there.
    pub(crate) fn line(&self, values: &Values) -> Result<String> {
        template::filled(&self.template, values)
    }

    /// Tells whether it is ssh itself.
    pub(crate) fn is_ssh(&self) -> bool {
        self.programs == SSH
    }

    /// Tells whether what it shows may be a guess. Nobody knows it of a template.
    pub(crate) fn may_predict(&self) -> bool {
        self.may_predict
    }

    /// Returns whose costs count.
    pub(crate) fn programs(&self) -> Programs {
        self.programs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_known_peer_has_a_template_that_can_be_read() {
        for (name, ..) in KNOWN {
            let peer = Peer::parse(name).unwrap();
            assert_eq!(peer.name, name);
            template::check(&peer.template).unwrap();
        }
    }

    #[test]
    fn of_known_peers_it_is_known_which_predict() {
        let predict = |name| Peer::parse(name).unwrap().may_predict();
        assert!(
            ["mosh", "mosh-a", "fulmar", "fulmar-a", "any={command}"]
                .into_iter()
                .all(predict)
        );
        assert!(!["ssh", "mosh-n", "fulmar-n"].into_iter().any(predict));
    }

    #[test]
    fn a_template_makes_a_peer_of_its_name() {
        let peer = Peer::parse("plain-2={ssh} -o A=b {host} {command}").unwrap();
        assert_eq!(peer.name, "plain-2");
        assert_eq!(peer.template, "{ssh} -o A=b {host} {command}");
        assert_eq!(peer.programs(), Programs::Others);
    }

    #[test]
    fn what_is_no_peer_is_refused_with_what_would_be_one() {
        for (text, said) in [
            ("mush", "there are ssh, mosh, mosh-a"),
            ("", "there are ssh"),
            ("Plain=ssh {command}", "lower-case"),
            ("=ssh {command}", "lower-case"),
            ("plain=ssh {host}", "{command} is missing"),
            ("plain=ssh {hots} {command}", "“hots” is not known"),
            ("plain=ssh {command", "has no end"),
        ] {
            let error = format!("{:#}", Peer::parse(text).unwrap_err());
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}

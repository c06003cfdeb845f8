//! The command line of `mosh-client`, as stock reads it.
//!
//! Source: docs/protocol.md §2.8.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// The request of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoshClientRequest {
    /// To join a server.
    Connect {
        /// Its address, still unchecked.
        address: OsString,
        /// Its UDP port.
        port: u16,
    },
    /// To print how many colours the terminal has.
    Colors,
    /// To print a text on standard output and leave with 0.
    Print(String),
    /// Nothing that can be done: complain on standard error and leave with 1.
    Refuse(String),
}

const USAGE: &str = "Usage: mosh-client [-# 'ARGS'] IP PORT\n       mosh-client -c\n";

fn version_text() -> String {
    format!(
        "mosh-client (mosh 1.4.0) [build mosh 1.4.0]\n{}",
        crate::program::STAND_IN_TEXT
    )
}

fn full_usage() -> String {
    format!("{}\n{USAGE}", version_text())
}

impl MoshClientRequest {
    /// Reads the words after the program's name.
    pub fn parse(words: &[OsString]) -> MoshClientRequest {
        if words.iter().any(|word| word == "--version") {
            return MoshClientRequest::Print(version_text());
        }
        if words.iter().any(|word| word == "--help") {
            return MoshClientRequest::Print(full_usage());
        }
        let mut operands = Vec::new();
        let mut wants_colors = false;
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let letters = match word.as_bytes() {
                b"--" => {
                    operands.extend(rest.by_ref());
                    break;
                }
                [b'-', letters @ ..] if !letters.is_empty() => letters,
                _ => {
                    operands.push(word);
                    continue;
                }
            };
            for (place, letter) in letters.iter().enumerate() {
                match letter {
                    b'c' => wants_colors = true,
                    b'v' => {}
                    // What follows is for people who look at the list of processes.
                    b'#' => {
                        if place + 1 == letters.len() {
                            rest.next();
                        }
                        break;
                    }
                    unknown => return refuse_option(*unknown),
                }
            }
        }
        match operands.as_slice() {
            _ if wants_colors => MoshClientRequest::Colors,
            [address, port] => connect(address, port),
            _ => MoshClientRequest::Refuse(full_usage()),
        }
    }
}

fn refuse_option(letter: u8) -> MoshClientRequest {
    let letter = char::from(letter).escape_default();
    let usage = full_usage();
    MoshClientRequest::Refuse(format!("mosh-client: unknown option -{letter}\n{usage}"))
}

fn connect(address: &OsStr, port: &OsStr) -> MoshClientRequest {
    match port.to_str().and_then(port_of) {
        Some(port) => MoshClientRequest::Connect {
            address: address.to_owned(),
            port,
        },
        None => MoshClientRequest::Refuse(format!(
            "mosh-client: Bad UDP port ({})\n\n{}",
            port.display(),
            full_usage()
        )),
    }
}

fn port_of(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&port| is_number && port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> MoshClientRequest {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        MoshClientRequest::parse(&words)
    }

    #[test]
    fn the_command_line_of_mosh_is_understood() {
        let wanted = MoshClientRequest::Connect {
            address: "192.0.2.7".into(),
            port: 60001,
        };
        for words in [
            &["-#", "host -x |", "192.0.2.7", "60001"] as &[_],
            &["192.0.2.7", "60001"],
            &["-v", "192.0.2.7", "-v", "60001"],
            &["-v#-x", "192.0.2.7", "60001"],
            &["--", "192.0.2.7", "60001"],
        ] {
            assert_eq!(parsed(words), wanted, "{words:?}");
        }
    }

    #[test]
    fn mosh_asks_for_colours() {
        assert_eq!(parsed(&["-c"]), MoshClientRequest::Colors);
        assert_eq!(
            parsed(&["-c", "192.0.2.7", "60001"]),
            MoshClientRequest::Colors
        );
    }

    #[test]
    fn help_and_version_are_printed() {
        let MoshClientRequest::Print(version) = parsed(&["x", "--version"]) else {
            panic!("no version")
        };
        let first = version.lines().next();
        assert_eq!(first, Some("mosh-client (mosh 1.4.0) [build mosh 1.4.0]"));
        assert!(
            matches!(parsed(&["--help"]), MoshClientRequest::Print(text) if text.contains("Usage: "))
        );
    }

    #[test]
    fn everything_else_is_refused() {
        for words in [
            &[] as &[_],
            &["192.0.2.7"],
            &["192.0.2.7", "60001", "x"],
            &["-x", "192.0.2.7", "60001"],
            &["-h"],
        ] {
            assert!(
                matches!(parsed(words), MoshClientRequest::Refuse(_)),
                "{words:?}"
            );
        }
        for port in ["y", "+5", "70000", "0", ""] {
            let MoshClientRequest::Refuse(text) = parsed(&["192.0.2.7", port]) else {
                panic!("{port:?} was accepted")
            };
            assert!(text.contains("Bad UDP port ("), "{text}");
        }
    }
}

//! Hints for command lines that are understood otherwise than they were meant.

use std::ffi::{OsStr, OsString};

use fulmar_login::PortRange;
use fulmar_settings::nearest;

/// Names that other programs have for what our subcommands do.
const OF_OTHERS: [(&str, &str); 5] = [
    ("copy", "cp"),
    ("scp", "cp"),
    ("rsync", "cp"),
    ("sftp", "cp"),
    ("version", "--version"),
];

/// The words behind `fulmar` that are no host.
const OURS: [&str; 8] = [
    "cp",
    "server",
    "client",
    "config",
    "man",
    "completions",
    "help",
    "mosh",
];

/// The shortest word that may be a misspelt one of ours. Chosen by eye: shorter ones are near to too much.
const MISSPELT_BYTES_MIN: usize = 3;

/// Returns a hint if a host that ssh does not know is called much like one of our subcommands, or written as a place for
/// copies.
pub(crate) fn of_unknown_host(destination: &OsStr, words: &[OsString]) -> Option<String> {
    let word = destination.to_str()?;
    if let ("ssh", [host, ..]) = (word, words) {
        return Some(format!("did you mean fulmar {}?", host.display()));
    }
    // Several colons are an IPv6 address, or a URI with a port.
    if let Some((host, path)) = word.split_once(':').filter(|(_, path)| !path.contains(':'))
        && !path.starts_with("//")
    {
        return Some(format!(
            "to log in, write {host} without a colon; fulmar cp copies {host}:{path}"
        ));
    }
    let of_others = OF_OTHERS.iter().find(|(others, _)| *others == word);
    let ours = of_others.map(|(_, ours)| *ours).or_else(|| {
        let is_long = word.len() >= MISSPELT_BYTES_MIN;
        nearest(word, OURS.into_iter()).filter(|_| is_long)
    })?;
    Some(format!("did you mean fulmar {ours}?"))
}

/// The flags of ssh that have a value and that people write behind the host.
const VALUED: [&str; 7] = ["-p", "-P", "-l", "-i", "-J", "-F", "-o"];

/// Returns a hint if a command that does not exist there begins like an option.
pub(crate) fn of_missing_command(destination: &OsStr, words: &[OsString]) -> Option<String> {
    let option = words.first()?.to_str()?;
    let value = words.get(1).filter(|_| VALUED.contains(&option));
    let value = value.map_or_else(String::new, |value| format!(" {}", value.display()));
    let (option, port) = match option {
        "-p" => ("-P", ", and ssh's port is -P"),
        option => (option, ""),
    };
    let destination = destination.display();
    option
        .starts_with('-')
        .then(|| format!("options go before the host{port}: fulmar {option}{value} {destination}"))
}

/// Returns a hint if a login has failed for which a single UDP port was named that servers do not use unless they are told
/// to: ssh has the same letter for its port.
pub(crate) fn of_port(port: &OsStr, destination: &OsStr) -> Option<String> {
    let number = PortRange::parse(port.to_str()?).ok()?.single()?;
    let is_usual = (60_000..61_000).contains(&number);
    let destination = destination.display();
    (!is_usual).then(|| {
        format!("-p {number} is the session's UDP port; if it is ssh's, write fulmar -P {number} {destination}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_is_called_like_a_subcommand_is_noticed() {
        for (word, meant) in [
            ("copy", Some("cp")),
            ("scp", Some("cp")),
            ("hlep", Some("help")),
            ("sever", Some("server")),
            ("confg", Some("config")),
            ("cop", Some("cp")),
            ("version", Some("--version")),
            ("ma", None),
            ("ada@hlep", None),
            ("example.org", None),
        ] {
            let hint = meant.map(|meant| format!("did you mean fulmar {meant}?"));
            assert_eq!(of_unknown_host(word.as_ref(), &[]), hint, "{word}");
        }
    }

    #[test]
    fn a_place_for_copies_is_noticed() {
        let hint = of_unknown_host("far:".as_ref(), &[]);
        let told = "to log in, write far without a colon; fulmar cp copies far:";
        assert_eq!(hint.as_deref(), Some(told));
        for word in ["ssh://far", "ssh://far:22", "2001:db8::1"] {
            assert_eq!(of_unknown_host(word.as_ref(), &[]), None, "{word}");
        }
    }

    #[test]
    fn a_command_that_begins_like_an_option_is_noticed() {
        let hint = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            of_missing_command("ada@host".as_ref(), &words)
        };
        let told = hint(&["-v", "x"]).unwrap();
        assert_eq!(told, "options go before the host: fulmar -v ada@host");
        assert_eq!((hint(&[]), hint(&["ls", "-v"])), (None, None));
        let told = hint(&["-p", "2223", "ls"]).unwrap();
        assert!(
            told.ends_with("ssh's port is -P: fulmar -P 2223 ada@host"),
            "{told}"
        );
    }

    #[test]
    fn ssh_before_the_host_is_noticed() {
        let hint = of_unknown_host("ssh".as_ref(), &["ada@far".into()]);
        assert_eq!(hint.as_deref(), Some("did you mean fulmar ada@far?"));
    }

    #[test]
    fn a_port_that_may_be_sshs_is_noticed() {
        let hint = of_port("2223".as_ref(), "ada@far".as_ref()).unwrap();
        assert!(hint.ends_with("write fulmar -P 2223 ada@far"), "{hint}");
        for usual in ["60001", "2223:2230", "0", "x"] {
            assert_eq!(of_port(usual.as_ref(), "far".as_ref()), None, "{usual}");
        }
    }
}

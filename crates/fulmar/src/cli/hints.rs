//! Hints for command lines that are understood otherwise than they were meant.

use std::ffi::{OsStr, OsString};

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
pub(crate) fn of_unknown_host(destination: &OsStr) -> Option<String> {
    let word = destination.to_str()?;
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

/// Returns a hint if a command that does not exist there begins like an option.
pub(crate) fn of_missing_command(destination: &OsStr, words: &[OsString]) -> Option<String> {
    let option = words.first()?.to_str()?;
    let destination = destination.display();
    option
        .starts_with('-')
        .then(|| format!("options go before the host: fulmar {option} {destination}"))
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
            assert_eq!(of_unknown_host(word.as_ref()), hint, "{word}");
        }
    }

    #[test]
    fn a_place_for_copies_is_noticed() {
        let hint = of_unknown_host("far:".as_ref());
        let told = "to log in, write far without a colon; fulmar cp copies far:";
        assert_eq!(hint.as_deref(), Some(told));
        for word in ["ssh://far", "ssh://far:22", "2001:db8::1"] {
            assert_eq!(of_unknown_host(word.as_ref()), None, "{word}");
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
    }
}

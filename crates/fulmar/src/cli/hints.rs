//! Hints for command lines that are understood otherwise than they were meant.

use std::ffi::{OsStr, OsString};
use std::ops::RangeInclusive;

use fulmar_login::PortRange;
use fulmar_settings::{FlagSet, instead_of, is_valued_of_ssh, nearest, quoted};

use super::Cli;

/// Names that other programs have for what our subcommands do.
const OF_OTHERS: [(&str, &str); 10] = [
    ("copy", "cp"),
    ("scp", "cp"),
    ("rsync", "cp"),
    ("sftp", "cp"),
    ("reattach", "attach"),
    ("resume", "attach"),
    ("list", "ls"),
    ("mosh-client", "client"),
    ("mosh-server", "server"),
    ("version", "--version"),
];

/// The words behind `fulmar` that are no host.
const OURS: [&str; 12] = [
    "attach",
    "ls",
    "kill",
    "rename",
    "cp",
    "server",
    "client",
    "config",
    "man",
    "completions",
    "help",
    "mosh",
];

/// The ports that are a session's rather than ssh's. Chosen by eye: those that servers use unless they are told to use
/// others, with both ends of the thousand.
const SESSION_PORTS: RangeInclusive<u16> = 60_000..=61_000;

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

/// Returns a hint if a command that does not exist there begins like an option.
pub(crate) fn of_missing_command(destination: &OsStr, words: &[OsString]) -> Option<String> {
    let option = words.first()?.to_str()?;
    if !option.starts_with('-') {
        return None;
    }
    let value = words.get(1).map(OsString::as_os_str);
    let (option, port) = match option {
        "-p" if !value.is_some_and(is_session_port) => ("-P", ", and ssh's port is -P"),
        option => (option, ""),
    };
    // Of what follows, only what belongs to the option: the rest may be a command.
    let only = vec!["fulmar".into(), option.into(), destination.to_owned()];
    let mut with_value = only.clone();
    with_value.splice(2..2, value.map(OsStr::to_owned));
    let accepted = [only, with_value].into_iter().find(|line| {
        let read = Cli::parse_words(line);
        read.is_ok_and(|cli| cli.command.is_none() && cli.words == [destination])
    });
    if let Some(line) = accepted {
        let line: Vec<String> = line.iter().map(|word| quoted(word)).collect();
        return Some(format!(
            "options go before the host{port}: {}",
            line.join(" ")
        ));
    }
    // A flag may have its value in the same word.
    let flag: String = option.chars().take(2).collect();
    let line = [OsString::new()]
        .iter()
        .chain(words)
        .cloned()
        .collect::<Vec<_>>();
    let (value, _) = around_foreign_flag(&flag, &line);
    let instead = instead_of(FlagSet::Login, &flag, value.as_deref(), Some(destination))?;
    Some(format!("{flag} is not a flag of fulmar: {instead}"))
}

/// Returns the value that a flag of ssh has on a command line, and the host if it is what comes next: what other flags
/// are among them is not known.
pub(crate) fn around_foreign_flag<'w>(
    flag: &str,
    words: &'w [OsString],
) -> (Option<OsString>, Option<&'w OsStr>) {
    let is_word = |word: &&OsString| !word.as_encoded_bytes().starts_with(b"-");
    let is_valued = is_valued_of_ssh(flag);
    let mut words = words.iter().skip(1);
    let Some(joined) = words.find_map(|word| word.to_str()?.strip_prefix(flag)) else {
        return (None, None);
    };
    let value = match joined {
        _ if !is_valued => None,
        "" => words.next().filter(is_word).cloned(),
        joined => Some(joined.into()),
    };
    let host = words.next().filter(is_word).map(OsString::as_os_str);
    (value, host)
}

/// Tells if a value of `-p` is a port or a range of ports that sessions use unless they are told otherwise: ssh has the
/// same letter for its port.
fn is_session_port(value: &OsStr) -> bool {
    let ports = value.to_str().and_then(|text| PortRange::parse(text).ok());
    ports.is_some_and(|ports| {
        ports
            .single()
            .is_none_or(|port| SESSION_PORTS.contains(&port))
    })
}

/// Returns a hint if a login has failed for which a single UDP port was named that servers do not use unless they are told
/// to: ssh has the same letter for its port.
pub(crate) fn of_port(port: &OsStr, destination: &OsStr) -> Option<String> {
    let number = PortRange::parse(port.to_str()?).ok()?.single()?;
    let is_usual = SESSION_PORTS.contains(&number);
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
            ("mosh-client", Some("client")),
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
    fn only_what_is_accepted_before_the_host_is_told_to_go_there() {
        for (words, hint) in [
            ("-X", "-X is not a flag of fulmar: fulmar forwards no X11"),
            (
                "-E log ls",
                "-E is not a flag of fulmar: this is a flag of ssh; write --ssh 'ssh -E log'",
            ),
            (
                "-L1:x:2",
                "-L is not a flag of fulmar: fulmar forwards no ports; keep one open beside the session with ssh -N -L 1:x:2 ada@host",
            ),
            ("-4", "options go before the host: fulmar -4 ada@host"),
            (
                "-P 22 ls",
                "options go before the host: fulmar -P 22 ada@host",
            ),
            (
                "-i key",
                "options go before the host: fulmar -i key ada@host",
            ),
            (
                "--predict never",
                "options go before the host: fulmar --predict never ada@host",
            ),
            (
                "-p 60001",
                "options go before the host: fulmar -p 60001 ada@host",
            ),
            (
                "-p 7000:7009",
                "options go before the host: fulmar -p 7000:7009 ada@host",
            ),
            (
                "-p 61001",
                "options go before the host, and ssh's port is -P: fulmar -P 61001 ada@host",
            ),
        ] {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            let told = of_missing_command("ada@host".as_ref(), &words).unwrap();
            assert!(told.starts_with(hint), "{words:?}: {told}");
        }
        let words = ["-o".into(), "ProxyCommand nc %h %p".into()];
        assert_eq!(
            of_missing_command("host".as_ref(), &words).as_deref(),
            Some("options go before the host: fulmar -o 'ProxyCommand nc %h %p' host")
        );
        let nonsense = of_missing_command("ada@host".as_ref(), &["--nonsense".into()]);
        assert_eq!(nonsense, None);
    }

    #[test]
    fn the_value_and_the_host_are_found_about_a_flag_of_ssh() {
        for (line, flag, value, host) in [
            ("fulmar -E log srv", "-E", Some("log"), Some("srv")),
            ("fulmar -Elog srv ls", "-E", Some("log"), Some("srv")),
            ("fulmar -n -L 1:x:2 srv", "-L", Some("1:x:2"), Some("srv")),
            ("fulmar -X srv", "-X", None, Some("srv")),
            ("fulmar -E log -p 7 srv", "-E", Some("log"), None),
            ("fulmar -E", "-E", None, None),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let found = around_foreign_flag(flag, &words);
            assert_eq!(
                found,
                (value.map(OsString::from), host.map(OsStr::new)),
                "{line}"
            );
        }
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

//! Flags of ssh, scp and rsync that are none of ours, and what to do instead.

use std::ffi::OsStr;

use fulmar_login::shell_words;

use crate::flags::FlagSet;

/// Advice for flags of ssh that have no place in a session.
const OF_LOGINS: [(&str, &str); 8] = [
    (
        "A",
        "fulmar forwards no agent, because ssh ends once the session runs; use ssh -A for commands that need it",
    ),
    (
        "XY",
        "fulmar forwards no X11; use ssh for programs with windows",
    ),
    (
        "T",
        "a session always has a terminal; use ssh for a command without one",
    ),
    (
        "Nf",
        "a session runs a program in the foreground; use ssh instead",
    ),
    (
        "GQ",
        "it has ssh print something instead of logging in: use ssh; fulmar config HOST prints our settings",
    ),
    ("V", "fulmar --version tells the version"),
    // Where it reaches ssh it is known.
    (
        "F",
        "our own configuration file is named with --config; ssh -G HOST prints what ssh's says",
    ),
    (
        "e",
        "name the escape key with --escape-key, or switch it off with --escape-key none",
    ),
];

/// The other flags of ssh. Source: ssh(1).
const OF_SSH: &str = "BbCcDEgIKkMmOqSsxy";

/// Advice for flags of scp and rsync.
const OF_COPIES: [(&str, &str); 10] = [
    (
        "A",
        "fulmar cp needs no agent over there, and copies no access control lists",
    ),
    (
        "D",
        "fulmar cp speaks to no SFTP server, and copies no devices",
    ),
    (
        "X",
        "fulmar cp speaks to no SFTP server that could have options, and copies no extended attributes",
    ),
    (
        "3R",
        "fulmar cp does not copy between two other machines; log in to one of them and copy from there",
    ),
    ("B", "write -o BatchMode=yes"),
    ("c", "write -o Ciphers=NAME; it concerns only the login"),
    ("Se", "name the program with --ssh"),
    ("f", "fulmar cp replaces what is there without asking"),
    ("n", "write --dry-run"),
    (
        "u",
        "fulmar cp compares no times; --dry-run shows what would be replaced, and of a file that is the same \
         nearly nothing is sent",
    ),
];

/// Advice for long flags of rsync.
const LONG_OF_COPIES: [(&str, &str); 5] = [
    (
        "--bwlimit",
        "write --limit with a unit, such as --limit 1MB: rsync's number is in KiB a second, and that of --limit, as scp's, in Kbit",
    ),
    ("--delete", "fulmar cp removes nothing; use rsync"),
    ("--exclude", "fulmar cp copies all of a folder; use rsync"),
    (
        "--progress",
        "fulmar cp shows progress on every terminal; --json is for programs",
    ),
    (
        "--partial",
        "fulmar cp always keeps what has arrived, and continues there",
    ),
];

/// The flags of ssh that forward ports, each with a value that shows how to write one.
const OF_FORWARDINGS: [(&str, &str); 4] = [
    ("L", "8080:localhost:80"),
    ("R", "8080:localhost:80"),
    ("D", "1080"),
    ("w", "any"),
];

/// The flags of ssh, of those that we do not have, with a value. Source: ssh(1).
const VALUED_OF_SSH: &str = "BbcDEIeLmOQRSWw";

/// Tells if a flag that is not ours, such as `-E`, has a value if it is given to ssh.
pub fn is_valued_of_ssh(flag: &str) -> bool {
    let letter = flag.strip_prefix('-').filter(|letter| letter.len() == 1);
    letter.is_some_and(|letter| VALUED_OF_SSH.contains(letter))
}

/// Returns what to do instead of a flag that is not in the set, such as `-A`, if it is one that others have. What it
/// says is a whole command as far as the flag's value and the host are known.
pub fn instead_of(
    set: FlagSet,
    flag: &str,
    value: Option<&OsStr>,
    host: Option<&OsStr>,
) -> Option<String> {
    if set == FlagSet::Copy
        && let Some((_, what)) = LONG_OF_COPIES.iter().find(|(long, _)| *long == flag)
    {
        return Some((*what).to_owned());
    }
    let letter = flag.strip_prefix('-').filter(|letter| letter.len() == 1)?;
    let known = |list: &[(&str, &str)]| {
        let found = list.iter().find(|(letters, _)| letters.contains(letter));
        found.map(|(_, what)| (*what).to_owned())
    };
    match set {
        FlagSet::Login => known(&OF_LOGINS)
            .or_else(|| forwarding(letter, value, host))
            .or_else(|| {
                let value = value.filter(|_| VALUED_OF_SSH.contains(letter));
                let value = value.map_or_else(String::new, |value| format!(" {}", quoted(value)));
                let line = format!("ssh {flag}{value}");
                let line = quoted(line.as_ref());
                let is_sshs = OF_SSH.contains(letter);
                is_sshs.then(|| format!("this is a flag of ssh; write --ssh {line}"))
            }),
        FlagSet::Copy => known(&OF_COPIES),
        FlagSet::Client => None,
    }
}

/// Returns how ssh forwards a port beside a session.
fn forwarding(letter: &str, value: Option<&OsStr>, host: Option<&OsStr>) -> Option<String> {
    // With it ssh is a pipe, and nothing is beside it.
    if letter == "W" {
        return Some("fulmar forwards no ports".to_owned());
    }
    let (_, example) = OF_FORWARDINGS.iter().find(|(flag, _)| *flag == letter)?;
    let value = value.map_or_else(|| (*example).to_owned(), quoted);
    let host = host.map_or_else(|| "HOST".to_owned(), quoted);
    Some(format!(
        "fulmar forwards no ports; keep one open beside the session with ssh -N -{letter} {value} {host}"
    ))
}

/// Returns a word as a shell takes it: in quotes only if it needs them.
pub fn quoted(word: &OsStr) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"@%+=:,./_-".contains(byte);
    if !word.is_empty() && word.as_encoded_bytes().iter().all(is_plain) {
        return word.display().to_string();
    }
    shell_words::quoted(word).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_other_programs_have_an_answer_and_nonsense_has_none() {
        for (set, flag, words) in [
            (FlagSet::Login, "-A", "no agent"),
            (FlagSet::Login, "-L", "no ports"),
            (FlagSet::Login, "-G", "fulmar config"),
            (FlagSet::Login, "-M", "--ssh 'ssh -M'"),
            (FlagSet::Login, "-e", "--escape-key"),
            (FlagSet::Copy, "-3", "two other machines"),
            (FlagSet::Copy, "-f", "without asking"),
            (FlagSet::Copy, "-n", "--dry-run"),
            (FlagSet::Copy, "--delete", "use rsync"),
            (FlagSet::Copy, "-A", "no agent"),
            (FlagSet::Copy, "--bwlimit", "--limit 1MB"),
        ] {
            let said = instead_of(set, flag, None, None).unwrap_or_default();
            assert!(said.contains(words), "{flag}: {said}");
        }
        for flag in ["--A", "-", "-Z", "-ü", "A"] {
            assert_eq!(instead_of(FlagSet::Login, flag, None, None), None, "{flag}");
        }
        assert_eq!(instead_of(FlagSet::Client, "-A", None, None), None);
    }

    #[test]
    fn what_is_told_of_a_flag_with_a_value_can_be_typed() {
        let said = |flag: &str, value: &str| {
            let value = Some(OsStr::new(value)).filter(|value| !value.is_empty());
            instead_of(FlagSet::Login, flag, value, Some("srv".as_ref())).unwrap_or_default()
        };
        for (flag, value, line) in [
            ("-L", "8080:localhost:80", "ssh -N -L 8080:localhost:80 srv"),
            ("-R", "", "ssh -N -R 8080:localhost:80 srv"),
            ("-D", "9000", "ssh -N -D 9000 srv"),
            ("-E", "log", "--ssh 'ssh -E log'"),
            ("-K", "x", "--ssh 'ssh -K'"),
        ] {
            let said = said(flag, value);
            assert!(said.ends_with(line), "{flag}: {said}");
        }
        // The words are taken apart by a shell, and once more by us.
        let words = said("-E", "a b");
        let line = words.split_once("--ssh ").unwrap().1;
        let line = shell_words::split(line.as_ref()).unwrap().remove(0);
        assert_eq!(shell_words::split(&line).unwrap(), ["ssh", "-E", "a b"]);
        assert!(!said("-W", "a:22").contains("ssh"));
        let unknown = instead_of(FlagSet::Login, "-L", None, None).unwrap();
        assert!(unknown.ends_with("8080:localhost:80 HOST"), "{unknown}");
    }
}

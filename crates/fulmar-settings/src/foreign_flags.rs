//! Flags of ssh, scp and rsync that are none of ours, and what to do instead.

use crate::flags::FlagSet;

/// Advice for flags of ssh that have no place in a session.
const OF_LOGINS: [(&str, &str); 8] = [
    (
        "A",
        "fulmar forwards no agent, because ssh ends once the session runs; use ssh -A for commands that need it",
    ),
    (
        "LRDWw",
        "fulmar forwards no ports; keep one open beside the session with ssh -N",
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
const OF_SSH: &str = "BbCcDEGgIKkMmOQqSsxy";

/// Advice for flags of scp and rsync.
const OF_COPIES: [(&str, &str); 6] = [
    (
        "3R",
        "fulmar cp does not copy between two other machines; log in to one of them and copy from there",
    ),
    ("B", "write -o BatchMode=yes"),
    ("c", "write -o Ciphers=NAME; it concerns only the login"),
    ("Se", "name the program with --ssh"),
    ("n", "write --dry-run"),
    (
        "u",
        "fulmar cp compares no times; --dry-run shows what would be replaced, and of a file that is the same \
         nearly nothing is sent",
    ),
];

/// Advice for long flags of rsync.
const LONG_OF_COPIES: [(&str, &str); 4] = [
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

/// Returns what to do instead of a flag that is not in the set, such as `-A`, if it is one that others have.
pub fn instead_of(set: FlagSet, flag: &str) -> Option<String> {
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
        FlagSet::Login => known(&OF_LOGINS).or_else(|| {
            let is_sshs = OF_SSH.contains(letter);
            is_sshs.then(|| format!("this is a flag of ssh; write --ssh 'ssh {flag}'"))
        }),
        FlagSet::Copy => known(&OF_COPIES),
        FlagSet::Client => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_other_programs_have_an_answer_and_nonsense_has_none() {
        for (set, flag, words) in [
            (FlagSet::Login, "-A", "no agent"),
            (FlagSet::Login, "-L", "no ports"),
            (FlagSet::Login, "-M", "--ssh 'ssh -M'"),
            (FlagSet::Login, "-e", "--escape-key"),
            (FlagSet::Copy, "-3", "two other machines"),
            (FlagSet::Copy, "-n", "--dry-run"),
            (FlagSet::Copy, "--delete", "use rsync"),
        ] {
            let said = instead_of(set, flag).unwrap_or_default();
            assert!(said.contains(words), "{flag}: {said}");
        }
        for flag in ["--A", "-", "-Z", "-ü", "A"] {
            assert_eq!(instead_of(FlagSet::Login, flag), None, "{flag}");
        }
        assert_eq!(instead_of(FlagSet::Client, "-A"), None);
    }
}

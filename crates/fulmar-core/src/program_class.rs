//! Classifies the program that has the terminal, by its name.

use fulmar_predict::ProgramClass;

/// Returns the class of a program of that name, as the kernel keeps it (15 bytes at most). `words` is
/// its command line, each word with a zero byte behind it; nothing if it is not known.
///
/// A shell or an interpreter that was given something to run is not one that somebody edits lines in.
/// What is no name of the table is [`ProgramClass::Other`].
///
/// Source: docs/protocol.md §13.7.
pub fn program_class(name: &[u8], words: &[u8]) -> ProgramClass {
    let Ok(name) = std::str::from_utf8(name) else {
        return ProgramClass::Other;
    };
    if name.is_empty() {
        return ProgramClass::Unknown;
    }
    let is_in = |names: &[&str]| names.contains(&name);
    if is_in(RELAYS) || is_relay_of_many_names(name) {
        ProgramClass::Relay
    } else if is_in(SHELLS) {
        or_other(ProgramClass::Shell, is_interactive(words))
    } else if is_in(EDITORS) || name.starts_with("vim.") || name.starts_with("emacs-") {
        ProgramClass::Editor
    } else if is_in(LINE_EDITORS) {
        ProgramClass::LineEditor
    } else if is_in(INTERPRETERS) || name.starts_with("python3.") {
        or_other(ProgramClass::LineEditor, is_interactive(words))
    } else {
        ProgramClass::Other
    }
}

fn or_other(class: ProgramClass, is_it: bool) -> ProgramClass {
    if is_it { class } else { ProgramClass::Other }
}

/// tmux names its client and its server, and many machines are called by a prefix.
fn is_relay_of_many_names(name: &str) -> bool {
    ["tmux", "fulmar", "mosh", "qemu-", "docker"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// Returns true if a shell or an interpreter was given no file, text or module to run, as far as its words
/// tell. Nothing said is nothing known: not interactive.
fn is_interactive(words: &[u8]) -> bool {
    let mut words = words.split(|&byte| byte == 0);
    let has_name = words.next().is_some_and(|name| !name.is_empty());
    let mut arguments = words.filter(|word| !word.is_empty());
    has_name && arguments.all(is_harmless_option)
}

/// Returns true if a word is an option that gives nothing to run. `-c` and `-m` do, alone or at the end of
/// other letters, and `-e` and `-s` may.
fn is_harmless_option(word: &[u8]) -> bool {
    match word {
        [b'-', b'-', name @ ..] => !matches!(name, b"" | b"eval" | b"command" | b"print"),
        [b'-' | b'+', letters @ ..] if !letters.is_empty() => {
            letters.len() <= 8 && !letters.iter().any(|letter| b"cmeps".contains(letter))
        }
        _ => false,
    }
}

/// Programs that hand keys on to a program on another terminal, or may begin to: what their own
/// terminal is set to tells nothing.
const RELAYS: &[&str] = &[
    "SCREEN",
    "abduco",
    "adb",
    "asciinema",
    "autossh",
    "aws",
    "bwrap",
    "byobu",
    "chroot",
    "conmon",
    "crictl",
    "ctr",
    "cu",
    "distrobox",
    "doas",
    "dtach",
    "dvtm",
    "et",
    "expect",
    "firejail",
    "flatpak",
    "gcloud",
    "incus",
    "kubectl",
    "login",
    "lxc",
    "lxc-attach",
    "lxc-console",
    "machinectl",
    "minicom",
    "nc",
    "ncat",
    "nerdctl",
    "nsenter",
    "oc",
    "picocom",
    "pkexec",
    "plink",
    "podman",
    "rlogin",
    "rlwrap",
    "rsh",
    "run0",
    "runc",
    "runuser",
    "screen",
    "script",
    "scriptlive",
    "slogin",
    "snap",
    "socat",
    "ssh",
    "sshpass",
    "su",
    "sudo",
    "sudoedit",
    "systemd-nspawn",
    "systemd-run",
    "telnet",
    "tio",
    "tmate",
    "toolbox",
    "unbuffer",
    "unshare",
    "vagrant",
    "virsh",
    "zellij",
];

const SHELLS: &[&str] = &[
    "ash", "bash", "csh", "dash", "elvish", "es", "fish", "ksh", "ksh93", "mksh", "nu", "oksh",
    "osh", "pwsh", "rbash", "rc", "sh", "tcsh", "xonsh", "yash", "ysh", "zsh",
];

const EDITORS: &[&str] = &[
    "amp", "dte", "e3", "emacs", "helix", "hx", "jed", "jmacs", "joe", "jove", "jpico", "jstar",
    "kak", "mcedit", "mg", "micro", "nano", "ne", "nvim", "pico", "rnano", "rvim", "tilde", "vi",
    "view", "vim", "vimdiff", "vis", "zile",
];

/// Programs that read lines with an editor of their own, whatever they are started with.
const LINE_EDITORS: &[&str] = &[
    "bpython",
    "ftp",
    "gdb",
    "ghci",
    "gnuplot",
    "iex",
    "ipython",
    "ipython3",
    "irb",
    "jdb",
    "lftp",
    "litecli",
    "lldb",
    "mariadb",
    "maxima",
    "mongosh",
    "mycli",
    "mysql",
    "pgcli",
    "pry",
    "psql",
    "ptpython",
    "redis-cli",
    "sftp",
    "sqlite3",
    "utop",
];

/// Programs that do so if they are given nothing to run.
const INTERPRETERS: &[&str] = &[
    "R", "bun", "clisp", "deno", "erl", "gp", "guile", "julia", "lua", "luajit", "node", "nodejs",
    "ocaml", "octave", "php", "python", "python2", "python3", "racket", "sbcl", "scala", "swipl",
    "tclsh",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn class(words: &[&str]) -> ProgramClass {
        let name = words.first().expect("a program has a name");
        let name = name.rsplit('/').next().expect("a part is always there");
        let line: String = words.iter().map(|word| format!("{word}\0")).collect();
        program_class(name.as_bytes(), line.as_bytes())
    }

    #[test]
    fn programs_are_known_by_their_names() {
        use ProgramClass::{Editor, LineEditor, Other, Relay, Shell};
        for (words, wanted) in [
            (["bash", "-i"], Shell),
            (["zsh", "-l"], Shell),
            (["vim.basic", "notes"], Editor),
            (["emacs-nox", "notes"], Editor),
            (["psql", "shop"], LineEditor),
            (["python3.13", "-q"], LineEditor),
            (["ssh", "example.org"], Relay),
            (["tmux: client", ""], Relay),
            (["mosh-client", "192.0.2.7"], Relay),
            (["sudo", "-i"], Relay),
            (["less", "notes"], Other),
            (["top", ""], Other),
        ] {
            assert_eq!(class(&words), wanted, "{words:?}");
        }
    }

    #[test]
    fn who_runs_a_script_edits_no_lines() {
        for words in [
            ["bash", "script.sh"],
            ["sh", "-c"],
            ["bash", "-lc"],
            ["bash", "--"],
            ["python3", "ask.py"],
            ["python3", "-m"],
            ["node", "--eval"],
            ["fish", "-"],
        ] {
            assert_eq!(class(&words), ProgramClass::Other, "{words:?}");
        }
        for words in [["-bash", ""], ["bash", "--norc"], ["sh", "+o"]] {
            let name = words[0].trim_start_matches('-');
            let line = format!("{}\0{}\0", words[0], words[1]);
            let class = program_class(name.as_bytes(), line.as_bytes());
            assert_eq!(class, ProgramClass::Shell, "{words:?}");
        }
    }

    #[test]
    fn without_its_words_a_shell_is_not_believed() {
        assert_eq!(program_class(b"bash", b""), ProgramClass::Other);
        assert_eq!(program_class(b"vim", b""), ProgramClass::Editor);
    }

    #[test]
    fn any_bytes_are_a_name() {
        assert_eq!(program_class(b"", b"bash\0"), ProgramClass::Unknown);
        assert_eq!(program_class(b"\xff\xfe", b"x\0"), ProgramClass::Other);
        assert_eq!(program_class(b"bash\0", b"bash\0"), ProgramClass::Other);
    }

    #[test]
    fn the_tables_are_in_order_and_have_no_name_twice() {
        let all = [RELAYS, SHELLS, EDITORS, LINE_EDITORS, INTERPRETERS];
        for table in all {
            assert!(table.is_sorted_by(|one, next| one < next), "{table:?}");
        }
        let mut names: Vec<&str> = all.concat();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}

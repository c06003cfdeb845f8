//! The one command that ssh is asked to run on the remote side.
//!
//! It is a constant: it holds nothing of the user's, and no character that login shells read
//! differently. What is to happen is told on its standard input (docs/protocol.md §2.9), or by plain words
//! behind it.

use std::ffi::OsStr;

/// Looks for `fulmar` and, in these words, for what else there may be; the `PATH` is as before then.
///
/// Where nothing is found in the folders in which people put programs, a login shell may know others. It is asked
/// last, as what it reads may take its time, and say anything.
macro_rules! finding {
    ($others:literal, $found:literal) => {
        concat!(
            r#"h=$HOME; p=$PATH; PATH=$p:$h/.local/bin:$h/bin:$h/.cargo/bin:/usr/local/bin:/opt/homebrew/bin:/home"#,
            // Where Linux has brew.
            "/linuxbrew/.linuxbrew/bin",
            r#":/opt/local/bin:/usr/pkg/bin:$h/.nix-profile/bin:/nix/var/nix/profiles/default/bin:"#,
            r#"/run/current-system/sw/bin; s() { f=$(command -v fulmar); "#,
            $others,
            r#"}; s; test -n ""#,
            $found,
            r#"" || { PATH=$PATH:$({ "${SHELL:-sh}" -lc env </dev/null | sed -n "/^PATH=/{s///p;q;}"; } 2>/dev/null); "#,
            r#"s; }; PATH=$p; "#
        )
    };
}

/// Says that it reads and where `fulmar` is, and with the word [`RUNNING`] runs the words behind it, with [`ASKING`]
/// what it is told. On a terminal it sets [`TERMINAL_VARIABLE`], and begins a line: what a client wrote may have been echoed there.
macro_rules! asking {
    () => {
        concat!(
            r#"w() { while IFS= read -r l; do "#,
            r#"case $l in "FULMAR $1"*) l=${l#"FULMAR $1"}; return;; esac; done; exit 1; }; "#,
            r#"test -t 0 && export FULMAR_TTY=1 && echo; echo "FULMAR READY $f"; case $0 in run) exec "$@";; "#,
            r#"server) w "START "; eval "$l"; exit;; esac; "#
        )
    };
}

/// Says what system it is that has no `fulmar`, or none that runs.
macro_rules! missing {
    () => {
        concat!(
            r#"ID=; test -r /etc/os-release && . /etc/os-release; echo "FULMAR NONE $(uname -sm) $ID"; "#,
            r#"test -n "$SSH_CONNECTION" && echo "MOSH SSH_CONNECTION $SSH_CONNECTION"; "#
        )
    };
}

/// Starts `fulmar server` there, or what else there is.
///
/// One word in single quotes is the same to `sh`, bash, zsh, fish, csh and tcsh, as long as it has no
/// `'`, `!`, `\` or end of line inside. In it a POSIX shell
///
/// 1. looks for `fulmar` and `mosh-server` along `PATH` and where people put programs that are not
///    in the `PATH` of a login without terminal, and if there is neither, along the `PATH` of a login shell; the
///    programs get the `PATH` that was;
/// 2. says `FULMAR READY`. A start-up file may have read what came first: it is sent again then;
/// 3. becomes the words behind [`RUNNING`] if that is behind the command; with the word [`ASKING`]
///    there reads up to `FULMAR START`, and runs what follows that; or
/// 4. starts `fulmar server`, without having read anything: what is written to sshd arrives a round
///    trip after the command began, and nobody is to wait for that, or
/// 5. where there is none, or none that runs, says `FULMAR NONE`, the system and `MOSH SSH_CONNECTION`, ends with the
///    status [`STATUS_NO_SERVER`] if there is no `mosh-server`, and else becomes that, with the arguments
///    that `FULMAR MOSH` says.
///
/// A program that does not run there ends with 126 if it is for another processor, with 1 or 127 if it wants other
/// libraries, with 2 if the shell takes it for a script, and with 132 if the processor is too old. No server of
/// ours ends with any of these.
///
/// `read` takes no byte beyond the line, so the rest is there for the program.
const REMOTE_COMMAND: &str = concat!(
    "sh -c '",
    finding!(r#"m=$(command -v mosh-server); "#, "$f$m"),
    asking!(),
    r#"if test -n "$f"; then "$f" server; case $? in [12]|12[67]|132) ;; *) exit;; esac; fi; "#,
    missing!(),
    r#"test -n "$m" || exit 127; w "MOSH "; eval "set -- $l"; exec "$m" "$@""#,
    "'"
);

/// Starts `fulmar copy-server` there, with the words behind the command: the same without another
/// program to fall back on (docs/protocol.md §2.10).
const COPY_COMMAND: &str = concat!(
    "sh -c '",
    finding!("", "$f"),
    asking!(),
    r#"test -n "$f" && exec "$f" copy-server "$@"; "#,
    missing!(),
    r#"exit 127"#,
    "'"
);

/// The variable that tells a server that the terminal which it reads is not a user's: something between sshd and the
/// command, such as a recorder of sessions, has made it, and passes on what a client writes.
pub const TERMINAL_VARIABLE: &str = "FULMAR_TTY";

/// The word behind the command that has it ask what to run. A shell there puts it before its complaints about that.
const ASKING: &str = " server";

/// The word behind the command that has it run the words that follow.
const RUNNING: &str = " run ";

/// Tells if every shell reads that line alike, as a program outside of the `PATH` and its arguments. Such a
/// line can stand behind the command; to ask for it costs a round trip.
pub fn is_shell_safe(line: &str) -> bool {
    let is_shell_safe = |byte: u8| byte.is_ascii_alphanumeric() || b" /._:+-".contains(&byte);
    let program = line.split(' ').next().unwrap_or_default();
    line.bytes().all(is_shell_safe) && program.contains('/') && !program.starts_with('-')
}

/// Returns the command, for a remote side that runs what it has there, or `start`.
pub fn remote_command(start: Option<&OsStr>) -> String {
    let Some(start) = start else {
        return REMOTE_COMMAND.to_owned();
    };
    match start.to_str().filter(|line| is_shell_safe(line)) {
        Some(line) => [REMOTE_COMMAND, RUNNING, line].concat(),
        None => [REMOTE_COMMAND, ASKING].concat(),
    }
}

/// Returns the command for a copy, for a remote side that runs what it has there, or `program`, with these
/// words, which hold nothing but letters, digits, dots, dashes and colons. A program that is not
/// [plain](is_shell_safe) is asked for.
pub fn copy_command(program: Option<&str>, words: &[String]) -> String {
    let name = match program {
        None => " fulmar".to_owned(),
        Some(program) if is_shell_safe(program) => format!("{RUNNING}{program} copy-server"),
        Some(_) => return [COPY_COMMAND, ASKING].concat(),
    };
    let words = words.iter().map(|word| format!(" {word}"));
    [COPY_COMMAND.to_owned(), name]
        .into_iter()
        .chain(words)
        .collect()
}

/// The exit status of the command when there is no server of any make: that of a shell that finds no program.
pub(crate) const STATUS_NO_SERVER: i32 = 127;

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use std::process::{Command, Output, Stdio};

    use tempfile::TempDir;

    use super::*;

    /// Login shells that people have. Where one is not installed the others are tried.
    const SHELLS: [&str; 9] = [
        "sh", "dash", "bash", "zsh", "fish", "tcsh", "csh", "ksh", "busybox",
    ];

    /// Writes through another process: a file that we had open ourselves could not be run for as
    /// long as a child that another test makes meanwhile has it, too.
    fn write_program(path: &Path, script: &str) {
        let mut writer = Command::new("sh");
        writer
            .args(["-c", "cat > \"$0\"; chmod 755 \"$0\""])
            .arg(path);
        let mut writer = writer.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = writer.stdin.take().unwrap();
        stdin.write_all(script.as_bytes()).unwrap();
        drop(stdin);
        assert!(writer.wait().unwrap().success());
    }

    /// A remote side with these programs, each of which prints its name, its arguments and a line of its
    /// input.
    struct FarSide(TempDir);

    impl FarSide {
        fn with(programs: &[&str]) -> FarSide {
            let folder = TempDir::new().unwrap();
            for program in programs {
                let path = folder.path().join(program);
                let file = path.file_name().unwrap().to_str().unwrap();
                let script = format!(
                    "#!/bin/sh\nread -r line\necho \"{file} runs: $# $*, $line, $PATH\"\nexit 7\n"
                );
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                write_program(&path, &script);
            }
            FarSide(folder)
        }

        /// A `PATH` with no programs but these, and what the command itself needs.
        fn path(&self) -> String {
            let folder = |name: &str| self.0.path().join(name);
            let _ = std::fs::create_dir(folder("tools"));
            for tool in ["sh", "uname", "env", "sed"] {
                let program = ["/bin", "/usr/bin"].map(|place| Path::new(place).join(tool));
                let program = program.iter().find(|program| program.exists());
                let _ = symlink(program.unwrap(), folder("tools").join(tool));
            }
            format!("{}:{}", folder("path").display(), folder("tools").display())
        }

        /// The line by which the command says that it reads, and that this is the server.
        fn ready(&self, program: &str) -> String {
            format!("FULMAR READY {}\n", self.0.path().join(program).display())
        }

        /// Has each shell run the command as sshd would, with that input.
        fn run_in_all_shells(&self, input: &str, judge: impl Fn(&str, &str, &Output)) {
            self.run_command_in_all_shells(&remote_command(None), input, judge);
        }

        /// The same for either form of the command.
        fn run_command_in_all_shells(
            &self,
            command: &str,
            input: &str,
            judge: impl Fn(&str, &str, &Output),
        ) {
            let mut tried = 0;
            for shell in SHELLS {
                if let Some(output) = self.run(shell, command, input) {
                    let printed = String::from_utf8(output.stdout.clone()).unwrap();
                    judge(shell, &printed, &output);
                    tried += 1;
                }
            }
            assert!(tried > 0);
        }

        fn run(&self, shell: &str, remote: &str, input: &str) -> Option<Output> {
            let folders = ["/bin", "/usr/bin", "/usr/local/bin"];
            let mut shells = folders.iter().map(|folder| Path::new(folder).join(shell));
            let mut command = Command::new(shells.find(|shell| shell.exists())?);
            if shell == "busybox" {
                command.arg("sh");
            }
            command
                .args(["-c", remote])
                .env_clear()
                .env("PATH", self.path())
                .env("HOME", self.0.path())
                .env("SHELL", self.0.path().join("login-shell"))
                .env("SSH_CONNECTION", "192.0.2.1 5 192.0.2.2 22")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            // The command may have ended, and not wanted all of it.
            let _ = stdin.write_all(input.as_bytes());
            drop(stdin);
            Some(child.wait_with_output().unwrap())
        }
    }

    /// Returns true if the machine that tests run on has one of its own where the command always looks.
    fn is_found_anyway(program: &str) -> bool {
        let always = REMOTE_COMMAND.split([' ', ';', ':']);
        let always = always.filter(|word| word.starts_with('/'));
        let mut places = always.map(|folder| Path::new(folder).join(program));
        places.any(|place| place.exists())
    }

    #[test]
    fn it_is_one_quoted_word_of_characters_that_all_shells_read_alike() {
        for command in [REMOTE_COMMAND, COPY_COMMAND] {
            let word = command.strip_prefix("sh -c '").unwrap();
            expect_one_word(word.strip_suffix('\'').unwrap());
        }
    }

    fn expect_one_word(word: &str) {
        for bad in ['\'', '!', '\\', '\n', '\r'] {
            assert!(!word.contains(bad), "{bad:?}");
        }
        assert!(word.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        assert!(word.contains(&format!("export {TERMINAL_VARIABLE}=")));
        // Old shells of the csh family have words of at most 1024 bytes.
        assert!(word.len() < 1000, "{}", word.len());
    }

    #[test]
    fn a_server_that_is_there_is_started_and_finds_the_rest_of_the_input() {
        let far = FarSide::with(&["path/fulmar", "path/mosh-server"]);
        let path = far.path();
        far.run_in_all_shells("next\n", |shell, printed, output| {
            let ready = far.ready("path/fulmar");
            let wanted = format!("{ready}fulmar runs: 1 server, next, {path}\n");
            assert_eq!(printed, wanted, "{shell}");
            assert_eq!(output.status.code(), Some(7), "{shell}");
        });
    }

    #[test]
    fn the_remote_end_of_a_copy_gets_its_words() {
        let far = FarSide::with(&["path/fulmar"]);
        let words = ["-p", "60001:60010", "-i", "2001:db8::7"].map(str::to_owned);
        let command = copy_command(None, &words);
        far.run_command_in_all_shells(&command, "next\n", |shell, printed, output| {
            let runs = "fulmar runs: 5 copy-server -p 60001:60010 -i 2001:db8::7, next, ";
            let wanted = far.ready("path/fulmar") + runs;
            assert!(printed.starts_with(&wanted), "{shell}: {printed}");
            assert_eq!(output.status.code(), Some(7), "{shell}");
        });
    }

    #[test]
    fn a_server_outside_of_the_path_is_found_and_the_path_is_not_changed() {
        for folder in [".local/bin", "bin", ".cargo/bin", ".nix-profile/bin"] {
            let far = FarSide::with(&[&format!("{folder}/fulmar")]);
            let path = far.path();
            far.run_in_all_shells("next\n", |shell, printed, _| {
                let wanted = format!("fulmar runs: 1 server, next, {path}\n");
                assert!(printed.ends_with(&wanted), "{shell}: {printed}");
            });
        }
    }

    #[test]
    fn a_login_shell_is_asked_for_its_path_where_nothing_is_found() {
        if is_found_anyway("fulmar") || is_found_anyway("mosh-server") {
            return;
        }
        for (program, ending) in [("fulmar", "1 server, next"), ("mosh-server", "1 new, next")] {
            let far = FarSide::with(&[&format!("odd folder/{program}")]);
            let shell = "#!/bin/sh\necho Welcome; PATH=\"$HOME/odd folder:$PATH\"; export PATH\n\
                         test \"$1\" = -lc && eval \"$2\"; cat\n";
            write_program(&far.0.path().join("login-shell"), shell);
            let path = far.path();
            let input = match program {
                "fulmar" => "next\n",
                _ => "FULMAR MOSH new\nnext\n",
            };
            far.run_in_all_shells(input, |shell, printed, output| {
                let wanted = format!("{program} runs: {ending}, {path}\n");
                assert!(printed.ends_with(&wanted), "{shell}: {printed}");
                assert!(output.stderr.is_empty(), "{shell}");
            });
        }
    }

    /// The beginning of a program for a processor that nobody has.
    const FOREIGN_PROGRAM: &str = "\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x7f\x7f\x01\0\0\0";

    #[test]
    fn a_server_that_does_not_run_there_gives_way_to_a_mosh_server() {
        let statuses =
            ["1", "2", "126", "127", "132"].map(|status| format!("#!/bin/sh\nexit {status}\n"));
        let programs = statuses.into_iter().chain([FOREIGN_PROGRAM.to_owned()]);
        for program in programs {
            let far = FarSide::with(&["path/mosh-server"]);
            write_program(&far.0.path().join("path/fulmar"), &program);
            let input = "FULMAR MOSH 'new'\nnext\n";
            far.run_in_all_shells(input, |shell, printed, output| {
                let ready = far.ready("path/fulmar");
                assert!(printed.starts_with(&ready), "{shell}: {printed}");
                assert!(
                    printed.contains("\nFULMAR NONE Linux "),
                    "{shell}: {printed}"
                );
                let runs = "\nmosh-server runs: 1 new, next, ";
                assert!(printed.contains(runs), "{shell}: {printed}");
                assert_eq!(output.status.code(), Some(7), "{shell}");
            });
        }
    }

    #[test]
    fn a_server_that_has_failed_is_not_followed_by_another() {
        for status in [0, 101, 137, 255] {
            let far = FarSide::with(&["path/mosh-server"]);
            let program = format!("#!/bin/sh\nexit {status}\n");
            write_program(&far.0.path().join("path/fulmar"), &program);
            far.run_in_all_shells("FULMAR MOSH 'new'\n", |shell, printed, output| {
                assert_eq!(printed, far.ready("path/fulmar"), "{shell}");
                assert_eq!(output.status.code(), Some(status), "{shell}");
            });
        }
    }

    #[test]
    fn a_command_line_of_the_users_is_run_instead() {
        let far = FarSide::with(&["path/fulmar", "path/other"]);
        let input = "taken by a start-up file\n\nFULMAR START FOLDER=x; other \"$FOLDER y\" 'it'\\''s' z\nnext\n";
        let asking = remote_command(Some("other \"x\"".as_ref()));
        far.run_command_in_all_shells(&asking, input, |shell, printed, output| {
            let wanted = far.ready("path/fulmar") + "other runs: 3 x y it's z, next, ";
            assert!(printed.starts_with(&wanted), "{shell}: {printed}");
            assert_eq!(output.status.code(), Some(7), "{shell}");
        });
    }

    #[test]
    fn plain_words_are_run_without_asking() {
        let far = FarSide::with(&["path/fulmar", "other/fulmar-1.2_x"]);
        let program = far.0.path().join("other/fulmar-1.2_x");
        let program = program.to_str().unwrap();
        let line = format!("{program} server -p 60001:60010");
        let words = ["-i", "2001:db8::7"].map(str::to_owned);
        for (command, runs) in [
            (
                remote_command(Some(line.as_ref())),
                "3 server -p 60001:60010",
            ),
            (
                copy_command(Some(program), &words),
                "3 copy-server -i 2001:db8::7",
            ),
        ] {
            far.run_command_in_all_shells(&command, "next\n", |shell, printed, output| {
                let ready = far.ready("path/fulmar");
                let wanted = format!("{ready}fulmar-1.2_x runs: {runs}, next, ");
                assert!(printed.starts_with(&wanted), "{shell}: {printed}");
                assert_eq!(output.status.code(), Some(7), "{shell}");
            });
        }
    }

    #[test]
    fn what_a_shell_might_read_otherwise_is_asked_for() {
        for line in [
            "/opt/fulmar",
            "./fulmar server -p 60001:60010",
            "a/b+c_d-e x",
        ] {
            assert!(is_shell_safe(line), "{line}");
        }
        let special = "'\"\\!$`~*?[]{}()<>|&;#%^=@,\t\n".chars();
        let special = special.map(|character| format!("/opt/fulmar a{character}b"));
        let other = ["", "fulmar", "fulmar /x", "-/x", " /x", "/ö"].map(str::to_owned);
        for line in special.chain(other) {
            assert!(!is_shell_safe(&line), "{line}");
        }
    }

    #[test]
    fn without_ours_a_mosh_server_gets_its_words() {
        if is_found_anyway("fulmar") {
            return;
        }
        let far = FarSide::with(&["path/mosh-server"]);
        let input = "FULMAR MOSH 'new' 'a b' 'it'\\''s' '$HOME'\nnext\n";
        far.run_in_all_shells(input, |shell, printed, output| {
            let mut lines = printed.lines();
            assert_eq!(lines.next(), Some("FULMAR READY "), "{shell}");
            let system = lines.next().unwrap();
            assert!(
                system.starts_with("FULMAR NONE Linux "),
                "{shell}: {system}"
            );
            let connection = "MOSH SSH_CONNECTION 192.0.2.1 5 192.0.2.2 22";
            assert_eq!(lines.next(), Some(connection), "{shell}");
            let runs = lines.next().unwrap();
            let wanted = "mosh-server runs: 4 new a b it's $HOME, next, ";
            assert!(runs.starts_with(wanted), "{shell}: {runs}");
            assert_eq!(output.status.code(), Some(7), "{shell}");
        });
    }

    #[test]
    fn without_any_server_it_says_so() {
        if is_found_anyway("fulmar") || is_found_anyway("mosh-server") {
            return;
        }
        let far = FarSide::with(&[]);
        far.run_in_all_shells("FULMAR MOSH 'new'\n", |shell, _, output| {
            assert_eq!(output.status.code(), Some(STATUS_NO_SERVER), "{shell}");
            assert!(output.stderr.is_empty(), "{shell}");
        });
    }

    #[test]
    fn input_that_ends_early_ends_it() {
        let far = FarSide::with(&["path/fulmar"]);
        for input in ["", "FULMAR", "hello\n"] {
            let asking = remote_command(Some("fulmar".as_ref()));
            far.run_command_in_all_shells(&asking, input, |shell, printed, output| {
                assert_eq!(printed, far.ready("path/fulmar"), "{shell}");
                assert_eq!(output.status.code(), Some(1), "{shell}");
            });
        }
    }
}

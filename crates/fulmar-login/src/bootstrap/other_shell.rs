//! The lines for a shell that a start-up file has started in the command's stead: it reads as a script what is written to
//! the command, and is to become it.
//!
//! fish is a case of its own: it runs nothing before its input has ended, and then the command has no input. Its line holds
//! all that the command is to read.
//!
//! Source: docs/protocol.md §2.9.

/// The line that is written before an end of the input that is not the end of the login.
///
/// Source: docs/protocol.md §2.9.
pub(crate) const INPUT_ENDS_LINE: &str = "FULMAR INPUT ENDS\n";

/// The longest text that fish's line holds, so that its length as a word of a command is possible: 128 KiB on Linux, if each
/// byte is written as five.
///
/// Source: execve(2), limits on the size of arguments.
const TOLD_BYTES_MAX: usize = 24 * 1024;

/// Returns the lines by which a shell becomes `command`, which then reads `told`. The first is empty, for a start-up file
/// that waits for the return key.
pub(crate) fn becoming(command: &str, told: &[u8]) -> Vec<u8> {
    let fish = fish_line(command, told).unwrap_or_default();
    format!("\n{fish}exec {command}\n").into_bytes()
}

/// Returns the line for fish, which other shells pass over: to fish alone `'\\'` is one character.
fn fish_line(command: &str, told: &[u8]) -> Option<String> {
    let script_and_words = command.strip_prefix("sh -c ")?;
    if told.len() > TOLD_BYTES_MAX {
        return None;
    }
    let told: String = [told, INPUT_ENDS_LINE.as_bytes()]
        .concat()
        .iter()
        .map(|&byte| for_printf(byte))
        .collect();
    Some(format!(
        r#"test '\\' = \\ && exec sh -c 'printf "%b" "$0" | sh -c "$@"' '{told}' {script_and_words}
"#
    ))
}

/// Returns a byte as `printf %b` reads it in all shells, in single quotes, which some shells look into.
fn for_printf(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b" ,-./:=_".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("\\0{byte:03o}")
    }
}

/// Looks for the line that announces the end of the input in what a remote end reads.
#[derive(Debug, Default)]
pub struct InputEndWatcher {
    /// The last bytes, in which the line may have begun.
    tail: Vec<u8>,
    is_announced: bool,
}

impl InputEndWatcher {
    /// Takes some bytes, as they come.
    pub fn take(&mut self, bytes: &[u8]) {
        let line = INPUT_ENDS_LINE.as_bytes();
        self.tail.extend_from_slice(bytes);
        self.is_announced |= self.tail.windows(line.len()).any(|window| window == line);
        let excess = self.tail.len().saturating_sub(line.len());
        self.tail.drain(..excess);
    }

    /// Tells if an end of the input is not the end of the login.
    pub fn is_announced(&self) -> bool {
        self.is_announced
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::process::{Command, Stdio};

    use super::*;

    /// The shells that a start-up file may start. Where one is not installed the others are tried.
    const SHELLS: [&str; 9] = [
        "sh", "dash", "bash", "zsh", "fish", "tcsh", "csh", "ksh", "busybox",
    ];

    /// The command prints its words, and two lines that it reads.
    const COMMAND: &str =
        "sh -c 'echo $0 $1; IFS= read -r a; IFS= read -r b; echo \"$a/$b\"; exit 7' run x";

    /// Returns what the command reads under such a shell, if there is one, which is told this once the command runs: a
    /// shell may read more at once than a line.
    fn read_under(shell: &str, told: &[u8]) -> Option<String> {
        let mut command = Command::new(shell);
        if shell == "busybox" {
            command.arg("sh");
        }
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.spawn().ok()?;
        let mut input = child.stdin.take().expect("it is piped");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        input.write_all(&becoming(COMMAND, told)).expect("it reads");
        let mut words = String::new();
        if shell == "fish" {
            input.write_all(told).expect("it reads");
            drop(input);
            output.read_line(&mut words).expect("it is text");
        } else {
            output.read_line(&mut words).expect("it is text");
            input.write_all(told).expect("it reads");
        }
        assert_eq!(words, "run x\n", "{shell}");
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("it is text");
        assert_eq!(child.wait().expect("it ends").code(), Some(7), "{shell}");
        Some(rest)
    }

    #[test]
    fn every_shell_becomes_the_command_which_reads_what_it_is_told() {
        let told = b"FULMAR MOSH 'new' 'it'\\''s' '$HOME!'\nword 100%25\n";
        for shell in SHELLS {
            if let Some(read) = read_under(shell, told) {
                let wanted = "FULMAR MOSH 'new' 'it'\\''s' '$HOME!'/word 100%25\n";
                assert_eq!(read, wanted, "{shell}");
            }
        }
    }

    #[test]
    fn what_is_too_long_for_a_word_is_not_for_fish() {
        let line = |length: usize| fish_line("sh -c x", &vec![b'\n'; length]);
        let longest = line(TOLD_BYTES_MAX).expect("it is short enough");
        assert!(longest.len() < 128 * 1024);
        assert_eq!(line(TOLD_BYTES_MAX + 1), None);
    }

    #[test]
    fn an_end_of_the_input_is_announced_by_a_line_that_comes_in_pieces() {
        let mut watcher = InputEndWatcher::default();
        watcher.take(b"FULMAR END\nFULMAR INPUT ");
        watcher.take(b"EN");
        assert!(!watcher.is_announced());
        watcher.take(b"DS\n");
        watcher.take(b"more");
        assert!(watcher.is_announced());
    }
}

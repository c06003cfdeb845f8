//! Telling the user, in words that no terminal obeys.

use std::fmt::Display;
use std::io::Write as _;

use fulmar_core::Names;

use crate::errors::Failure;

/// Prints what went wrong and what to try, and returns the status to leave with.
pub(crate) fn failure(failure: &Failure, program: &str, names: Names) -> u8 {
    if !matches!(failure, Failure::Told) {
        for line in failure.told() {
            complain(program, line);
        }
        for line in failure
            .advice(names)
            .iter()
            .flat_map(|advice| advice.lines())
        {
            print_to_stderr(&format!("  {}\n", escaped(line)));
        }
    }
    failure.status(names)
}

/// Prints a line about something that is not as it should be.
pub(crate) fn complain(program: &str, what: impl Display) {
    print_to_stderr(&format!("{program}: {}\n", escaped(&what.to_string())));
}

/// Prints text as it is. Whoever closed standard error does not want to hear of it.
pub(crate) fn print_to_stderr(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Prints text as it is.
pub(crate) fn print_to_stdout(text: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Returns `text` with its control characters spelled out: part of it may come from elsewhere.
pub(crate) fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut line, character| {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
        line
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(escaped("a\x1b[2Jb\u{9b}ü\n"), "a\\u{1b}[2Jb\\u{9b}ü\\n");
    }
}

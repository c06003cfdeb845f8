//! Telling the user, in words that no terminal obeys.

use std::fmt::Display;
use std::io::{self, Write as _};

use fulmar_core::Names;

use crate::errors::Failure;

/// What is being done when [`try_print`] fails.
pub(crate) const PRINTING: &str = "writing to standard output";

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
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints text as it is, that nobody has asked for.
pub(crate) fn print_to_stdout(text: &str) {
    let _ = try_print(text);
}

/// Prints text that was asked for, as it is.
///
/// # Errors
///
/// When it cannot be written. Whoever has closed the other end has what it wants.
pub(crate) fn try_print(text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    unless_unwanted(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Returns how something was written, where it is no failure that nobody reads.
///
/// # Errors
///
/// When it failed for any other reason.
pub(crate) fn unless_unwanted(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

/// True for what may change how the text around it is shown: control characters, those that turn the
/// direction of writing, and separators of lines and paragraphs.
///
/// Source: Unicode Standard Annex 9, sections 2.1 to 2.6; the Unicode Standard, section 23.2.
pub(crate) fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Returns `text` with its harmful characters spelled out: part of it may come from elsewhere.
pub(crate) fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut line, character| {
        if is_harmful(character) {
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
        assert_eq!(
            escaped("שלום \u{202e}x\u{2066}"),
            "שלום \\u{202e}x\\u{2066}"
        );
    }
}

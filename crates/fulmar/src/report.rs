//! Telling the user, in words that no terminal obeys.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};

use fulmar_core::CompatMode;
use fulmar_login::SpoofFilter;
pub(crate) use fulmar_login::{escaped, needs_escape};
use fulmar_platform::Signal;
use fulmar_platform::tty::is_terminal;

use crate::advice::Advice;

/// The words that others have said through us: their streams end on one terminal.
static OTHERS: Mutex<SpoofFilter> = Mutex::new(SpoofFilter::new());

/// The name of the action when [`try_print`] fails.
pub(crate) const PRINTING: &str = "writing to standard output";

/// Prints what went wrong and what to try, and returns the status to leave with.
pub(crate) fn failure(failure: &dyn Advice, program: &str, compat: CompatMode) -> u8 {
    for line in failure.told() {
        complain(program, line);
    }
    advise(failure.advice(compat));
    failure.status(compat)
}

/// Prints what to try, below a line about what went wrong.
pub(crate) fn advise(advice: Option<String>) {
    for line in advice.unwrap_or_default().lines() {
        print_to_stderr(&format!("  {}\n", escaped(line)));
    }
}

/// Prints a line about something that is not as it should be.
pub(crate) fn complain(program: &str, what: impl Display) {
    let others = end_of_others();
    let what = in_plain_words(&what.to_string());
    print_to_stderr(&format!("{others}{program}: {what}\n"));
}

/// Returns a line about an error as a user reads it.
pub(crate) fn in_plain_words(what: &str) -> String {
    escaped(&without_error_numbers(what))
}

/// Returns text without the numbers with which Rust ends the system's errors, as in `Permission denied (os error 13)`.
fn without_error_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.parse::<u32>().is_ok() => plain.push_str(rest),
            _ => {
                plain.push_str(" (os error ");
                plain.push_str(part);
            }
        }
    }
    plain
}

/// Begins a line on a terminal where a key has sent that signal: what it shows of the key, such as `^C`, stands at the end
/// of a line.
pub(crate) fn begin_line_after(signal: Signal) {
    let is_typed = matches!(signal, Signal::Interrupt | Signal::Quit);
    if is_typed && is_terminal(io::stderr()) {
        print_to_stderr("\n");
    }
}

/// Prints what others say, such as ssh. Control characters are spelled out in it already, and what could be taken for
/// ours gets a mark.
pub(crate) fn print_others(text: &str) {
    print_to_stderr(&of_others(text));
}

/// Returns what others say as it is to be shown by now.
pub(crate) fn of_others(text: &str) -> String {
    OTHERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take(text)
}

/// Returns the rest of what others have said: a line of ours follows.
pub(crate) fn end_of_others() -> String {
    OTHERS.lock().unwrap_or_else(PoisonError::into_inner).end()
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

/// Returns text as a string of JSON.
pub(crate) fn json_text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            // Also those that a terminal would obey, if one shows it.
            _ if needs_escape(character) => {
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    quoted.push_str(&format!("\\u{unit:04x}"));
                }
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_have_no_numbers() {
        for (text, plain) in [
            (
                "reading x: Permission denied (os error 13)",
                "reading x: Permission denied",
            ),
            ("a (os error 2), b (os error 13)!", "a, b!"),
            ("file (os error x)", "file (os error x)"),
            ("file (os error 1", "file (os error 1"),
        ] {
            assert_eq!(without_error_numbers(text), plain);
        }
        let denied = io::Error::from_raw_os_error(13).to_string();
        assert!(!without_error_numbers(&denied).contains("13"), "{denied}");
    }
}

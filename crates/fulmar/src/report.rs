//! Telling the user, in words that no terminal obeys.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};

use fulmar_core::CompatMode;
use fulmar_login::SpoofFilter;
pub(crate) use fulmar_login::{escaped, needs_escape};

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
    for line in failure.advice(compat).unwrap_or_default().lines() {
        print_to_stderr(&format!("  {}\n", escaped(line)));
    }
    failure.status(compat)
}

/// Prints a line about something that is not as it should be.
pub(crate) fn complain(program: &str, what: impl Display) {
    let others = end_of_others();
    let what = escaped(&what.to_string());
    print_to_stderr(&format!("{others}{program}: {what}\n"));
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

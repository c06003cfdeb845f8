//! A bug of ours must not leave the user's terminal in raw mode.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`. If it panics, nothing is printed, and the message is returned instead: to be told
/// when the terminal can be written on again.
///
/// # Errors
///
/// The message and place of a panic.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        MESSAGE.with_borrow_mut(|message| *message = Some(in_one_line(&info.to_string())));
    }));
    // What `work` had its hands on is only asked to give the terminal back, under this same guard.
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(usual);
    outcome.map_err(|_| {
        let message = MESSAGE.with_borrow_mut(Option::take);
        message.unwrap_or_else(|| "no message".to_owned())
    })
}

/// The library puts place and message in lines of their own.
fn in_one_line(message: &str) -> String {
    message.lines().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_message() {
        assert_eq!(caught(|| 7), Ok(7));
        let told = caught(|| -> u8 { panic!("impossible state") }).unwrap_err();
        assert!(
            told.contains("impossible state") && told.contains("crash.rs") && !told.contains('\n'),
            "{told}"
        );
    }
}

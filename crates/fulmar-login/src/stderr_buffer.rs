//! Keeps back the messages of ssh until it is known which program it is.

/// The most bytes of ssh's messages that are kept back as long as it is not known which program it is.
///
/// Chosen by eye.
const HELD_BYTES_MAX: usize = 16 * 1024;

/// The messages of ssh. They are kept back at first: they may be about words that it does not understand, and it
/// is called without.
#[derive(Debug)]
pub(crate) struct StderrBuffer(Option<String>);

impl StderrBuffer {
    /// Returns messages that are kept back.
    pub(crate) fn holding() -> StderrBuffer {
        StderrBuffer(Some(String::new()))
    }

    /// Takes what was printed, and returns what is to be shown now.
    pub(crate) fn add(&mut self, text: &str) -> String {
        match &mut self.0 {
            Some(held) if held.len() < HELD_BYTES_MAX => {
                held.push_str(text);
                String::new()
            }
            Some(_) => self.release() + text,
            None => text.to_owned(),
        }
    }

    /// Keeps nothing back any more, and returns what was.
    pub(crate) fn release(&mut self) -> String {
        self.0.take().unwrap_or_default()
    }

    /// Tells if they are kept back.
    pub(crate) fn is_holding(&self) -> bool {
        self.0.is_some()
    }
}

//! The outcome of a step of `check`.

/// The outcome of a step that did not fail.
pub(crate) enum Outcome {
    /// All of it was checked and is good.
    Passed,
    /// It could not be checked here, for this reason.
    NotDone(String),
}

//! What the tests of the report share, and what they check of the whole.

mod contrast;
pub(super) mod fixture;

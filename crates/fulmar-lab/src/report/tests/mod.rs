//! Data that the tests of the report share, and tests of the whole report.

mod contrast;
pub(super) mod fixture;

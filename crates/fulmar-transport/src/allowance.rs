//! Limits what a path may get.

/// The amount that may be sent on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// It is validated, or we chose it ourselves.
    Unlimited,
    /// It is not validated and may get so many bytes more.
    Bytes(usize),
}

//! The cells that a change of attributes reaches.

/// DECSACE: the cells that DECCARA and DECRARA change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AttributeExtent {
    /// From the first place to the last one, as text runs.
    #[default]
    Stream = 1,
    /// Those of the rectangle.
    Rectangle = 2,
}

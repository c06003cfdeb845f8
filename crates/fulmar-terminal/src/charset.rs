//! Character sets that a program may put in place of ASCII.

/// What the codes 20-7E stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Charset {
    #[default]
    Ascii,
    /// DEC special graphics, the line drawing of `ESC ( 0`.
    DecGraphics,
    /// ASCII with a pound sign in place of the number sign, `ESC ( A`.
    British,
}

/// The four sets a program has loaded and which of them is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charsets {
    loaded: [Charset; 4],
    /// The set in use until further notice.
    locked: u8,
    /// The set in use for one character (SS2, SS3).
    single: Option<u8>,
}

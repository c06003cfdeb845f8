//! The user's settings of prediction.

/// The predictions that are shown. The words are stock's, which tells near links from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PredictionMode {
    /// Those of confirmed epochs, on every link.
    #[default]
    Adaptive,
    /// The same.
    Always,
    /// None; nothing is computed either.
    Never,
    /// Those of confirmed epochs; also of keys that have a rule but no record of their own yet.
    Experimental,
}

/// The user's wishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictionConfig {
    /// The predictions that are shown.
    pub mode: PredictionMode,
    /// A character typed inside text replaces what is there instead of moving it.
    pub overwrite: bool,
}

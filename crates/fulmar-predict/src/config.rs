//! The user's settings of prediction.

/// The links on which predictions are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PredictionMode {
    /// When the link is slow enough for it to help.
    #[default]
    Adaptive,
    /// On every link; never what is not confirmed.
    Always,
    /// Never; nothing is computed either.
    Never,
    /// As `Always`; also what has a rule but no record of its own yet.
    Experimental,
}

/// The user's wishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictionConfig {
    /// When guesses are shown.
    pub preference: PredictionMode,
    /// A character typed inside text replaces what is there instead of moving it.
    pub overwrite: bool,
}

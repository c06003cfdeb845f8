//! The user's settings of prediction.

/// The links on which predictions are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PredictionMode {
    /// Predictions are shown when the link is slow enough for them to help.
    #[default]
    Adaptive,
    /// On every link; never what is not confirmed.
    Always,
    /// Never; nothing is computed either.
    Never,
    /// As `Always`; also keys that have a rule but no record of their own yet.
    Experimental,
}

/// The user's wishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictionConfig {
    /// The links on which predictions are shown.
    pub mode: PredictionMode,
    /// A character typed inside text replaces what is there instead of moving it.
    pub overwrite: bool,
}

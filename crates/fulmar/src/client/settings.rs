//! What the environment says about a client.
//!
//! Source: docs/protocol.md §2.8.

use std::os::unix::ffi::OsStrExt as _;

use fulmar_core::{EscapeKey, Names};

use crate::environment::Environment;
use crate::errors::Failure;

/// When keys are to be shown before the server has answered. All words are understood; none has an
/// effect as long as there is no prediction.
const PREDICTION_MODES: [&str; 4] = ["adaptive", "always", "never", "experimental"];

/// A client's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The key that commands the client.
    pub(crate) escape_key: EscapeKey,
    /// What is put before a window's title.
    pub(crate) title_prefix: String,
    /// Whether the terminal is switched to its second screen.
    pub(crate) screen: Alternate,
}

/// Whether a client draws on the terminal's second screen, so that the first comes back at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alternate {
    /// Where there is one.
    Used,
    /// Never.
    Unused,
}

impl Settings {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// Under the stock name, for an unknown prediction mode.
    pub(crate) fn of(environment: &Environment, names: Names) -> Result<Settings, Failure> {
        let mode = environment.get("MOSH_PREDICTION_DISPLAY");
        if let Some(mode) = mode
            && names == Names::Stock
            && !PREDICTION_MODES.iter().any(|known| mode == *known)
        {
            let mode = mode.to_owned();
            return Err(Failure::PredictionMode { mode });
        }
        let escape_key = environment.get("MOSH_ESCAPE_KEY");
        let is_set = |name| environment.get(name).is_some();
        Ok(Settings {
            escape_key: escape_key.map_or_else(EscapeKey::default, |setting| {
                EscapeKey::from_setting(setting.as_bytes())
            }),
            title_prefix: match is_set("MOSH_TITLE_NOPREFIX") {
                true => String::new(),
                false => format!("[{}] ", names.program()),
            },
            screen: match is_set("MOSH_NO_TERM_INIT") {
                true => Alternate::Unused,
                false => Alternate::Used,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Settings {
        Settings::of(&variables.iter().copied().collect(), Names::Stock).unwrap()
    }

    #[test]
    fn without_variables_everything_is_as_usual() {
        let usual = settings(&[]);
        assert_eq!(usual.escape_key, EscapeKey::default());
        assert_eq!(usual.title_prefix, "[mosh] ");
        assert_eq!(usual.screen, Alternate::Used);
    }

    #[test]
    fn variables_count_even_if_empty() {
        let changed = settings(&[
            ("MOSH_ESCAPE_KEY", ""),
            ("MOSH_TITLE_NOPREFIX", ""),
            ("MOSH_NO_TERM_INIT", ""),
            ("MOSH_PREDICTION_DISPLAY", "never"),
            ("MOSH_PREDICTION_OVERWRITE", "yes"),
        ]);
        assert_eq!(changed.escape_key, EscapeKey::DISABLED);
        assert_eq!(changed.title_prefix, "");
        assert_eq!(changed.screen, Alternate::Unused);
    }

    #[test]
    fn an_unknown_prediction_mode_is_an_error_under_the_stock_name() {
        let environment = Environment::from_iter([("MOSH_PREDICTION_DISPLAY", "sometimes")]);
        let outcome = Settings::of(&environment, Names::Stock);
        assert!(matches!(outcome, Err(Failure::PredictionMode { .. })));
        assert!(Settings::of(&environment, Names::Own).is_ok());
    }
}

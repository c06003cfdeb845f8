//! The settings in force for one session.

use std::ffi::OsString;
use std::path::PathBuf;

use fulmar_core::{CompatMode, EscapeKey, EventWishes, WayPreference};
use fulmar_login::{AddressPreference, AddressSource, PortRange};
use fulmar_predict::{PredictionConfig, PredictionMode};
use tracing_subscriber::filter::Targets;

use crate::error::SettingsError;
use crate::layers::SettingLayers;
use crate::records::RecordFiles;
use crate::table;
use crate::values::{BindServer, Scrollback, TrueColor};

/// The settings in force for one session.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// For whoever logs in.
    pub login: LoginSettings,
    /// The mode for showing keys before the server has answered.
    pub predict: PredictionMode,
    /// True if predictions replace what is under them.
    pub predict_overwrite: bool,
    /// The key that commands the client.
    pub escape_key: EscapeKey,
    /// True if window titles begin with our name.
    pub title_prefix: bool,
    /// True if the terminal's second screen is used where there is one.
    pub init: bool,
    /// The choice of sending colours of 24 bits to the terminal.
    pub true_color: TrueColor,
    /// True if the terminal is asked what it can do.
    pub probe: bool,
    /// True if lines of text are cut anew where the window's width changes.
    pub reflow: bool,
    /// True if programs may ask for checksums of the screen.
    pub checksums: bool,
    /// The lines that leave the program's screen are to enter the terminal's scrollback, or not.
    pub scrollback: Scrollback,
    /// The most of such lines that the server keeps.
    pub history_lines: usize,
    /// The most bytes of them.
    pub history_bytes: usize,
    /// The events that the terminal is told.
    pub events: EventWishes,
    /// The files that are written.
    pub records: RecordFiles,
    /// The parts of the program that are logged, and how closely.
    pub log_filter: Targets,
}

impl Settings {
    /// Returns when keys are shown before the server has answered, and how.
    pub fn prediction(&self) -> PredictionConfig {
        PredictionConfig {
            mode: self.predict,
            overwrite: self.predict_overwrite,
        }
    }

    /// Returns true if lines that leave the screen are wanted in the scrollback of a terminal that keeps them well, or does not.
    pub fn wants_scrollback(&self, is_trusted: bool) -> bool {
        let is_wanted = match self.scrollback {
            Scrollback::Auto => is_trusted,
            Scrollback::On => true,
            Scrollback::Off => false,
        };
        is_wanted && self.history_lines > 0 && self.history_bytes > 0
    }
}

/// The settings of the login and of the addresses to send to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginSettings {
    /// The program that logs in, and the words that come before ours; never empty.
    pub ssh: Vec<OsString>,
    /// A shell command line that starts the server, if the usual one will not do.
    pub server: Option<String>,
    /// Another client to give the session to, as stock's launcher does.
    pub client: Option<PathBuf>,
    /// The server's UDP ports, if not of its choice.
    pub port: Option<PortRange>,
    /// The address on which the server listens.
    pub bind_server: BindServer,
    /// The addresses of a name that are used.
    pub addresses: AddressPreference,
    /// The source of the server's address.
    pub remote_ip: AddressSource,
    /// The carrier of a session.
    pub transport: WayPreference,
}

impl SettingLayers<'_> {
    /// Returns what is in force.
    ///
    /// # Errors
    ///
    /// When a value makes no sense.
    pub fn settings(&self) -> Result<Settings, SettingsError> {
        let predict = self.value(&table::PREDICT);
        Ok(Settings {
            predict: predict.map_err(|failure| in_stocks_words(failure, self.compat_mode()))?,
            login: LoginSettings {
                ssh: self.value(&table::SSH)?,
                server: self.value(&table::SERVER)?,
                client: self.value(&table::CLIENT)?,
                port: self.value(&table::PORT)?,
                bind_server: self.value(&table::BIND_SERVER)?,
                addresses: self.value(&table::FAMILY)?,
                remote_ip: self.value(&table::REMOTE_IP)?,
                transport: self.value(&table::TRANSPORT)?,
            },
            predict_overwrite: self.value(&table::PREDICT_OVERWRITE)?,
            escape_key: self.value(&table::ESCAPE_KEY)?,
            title_prefix: self.value(&table::TITLE_PREFIX)?,
            init: self.value(&table::INIT)?,
            true_color: self.value(&table::TRUE_COLOR)?,
            probe: self.value(&table::PROBE)?,
            reflow: self.value(&table::REFLOW)?,
            checksums: self.value(&table::SCREEN_CHECKSUMS)?,
            scrollback: self.value(&table::SCROLLBACK)?,
            history_lines: self.value(&table::HISTORY_LINES)?,
            history_bytes: self.value(&table::HISTORY_BYTES)?,
            events: EventWishes {
                notifications: self.value(&table::NOTIFICATIONS)?,
                progress: self.value(&table::PROGRESS)?,
                directory: self.value(&table::WORKING_DIRECTORY)?,
                commands: self.value(&table::COMMAND_MARKS)?,
                // As the clipboard, where the terminal has one.
                selections: true,
            },
            records: RecordFiles {
                trace: self.value(&table::TRACE)?,
                log: self.value(&table::LOG)?,
            },
            log_filter: self.value(&table::LOG_FILTER)?,
        })
    }
}

/// Returns a failure as stock would tell it: docs/protocol.md §2.8.
fn in_stocks_words(failure: SettingsError, compat: CompatMode) -> SettingsError {
    match failure {
        SettingsError::Setting { value, .. } if compat == CompatMode::Mosh => {
            SettingsError::PredictionMode { mode: value }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::GivenFlags;
    use crate::layers::SettingSources;

    fn stock(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        let environment = variables.iter().copied().collect();
        SettingSources::stock()
            .layers(&environment, None)
            .settings()
    }

    #[test]
    fn without_variables_everything_is_as_usual() {
        let usual = stock(&[]).unwrap();
        assert_eq!(usual.escape_key, EscapeKey::default());
        assert_eq!(usual.predict, PredictionMode::Adaptive);
        assert!(usual.title_prefix && usual.init && !usual.predict_overwrite);
        assert_eq!(usual.records, RecordFiles::default());
        assert_eq!(usual.login.ssh, ["ssh"]);
    }

    #[test]
    fn variables_of_stock_count_even_if_empty() {
        let changed = stock(&[
            ("MOSH_ESCAPE_KEY", ""),
            ("MOSH_TITLE_NOPREFIX", ""),
            ("MOSH_NO_TERM_INIT", ""),
            ("MOSH_PREDICTION_DISPLAY", "never"),
            ("MOSH_PREDICTION_OVERWRITE", "yes"),
        ]);
        let changed = changed.unwrap();
        assert_eq!(changed.escape_key, EscapeKey::DISABLED);
        assert_eq!(changed.predict, PredictionMode::Never);
        assert!(!changed.title_prefix && !changed.init && changed.predict_overwrite);
    }

    #[test]
    fn under_stocks_name_nothing_else_counts() {
        let same = stock(&[
            ("FULMAR_ESCAPE_KEY", "none"),
            ("FULMAR_PREDICT", "sometimes"),
            ("FULMAR_CONFIG", "/no/such/file"),
            ("MOSH_PREDICTION_OVERWRITE", "1"),
        ]);
        assert_eq!(same.unwrap(), stock(&[]).unwrap());
    }

    #[test]
    fn an_unknown_prediction_mode_is_an_error() {
        let variables = [("MOSH_PREDICTION_DISPLAY", "sometimes")];
        let outcome = stock(&variables);
        assert!(
            matches!(outcome, Err(SettingsError::PredictionMode { mode }) if mode == "sometimes")
        );
        let sources = SettingSources::own(GivenFlags::default(), None, None);
        let environment = variables.into_iter().collect();
        let own = sources.layers(&environment, None).settings();
        assert!(matches!(own, Err(SettingsError::Setting { .. })));
    }
}

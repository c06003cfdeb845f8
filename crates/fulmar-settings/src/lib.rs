//! The user's settings: by flags, in the environment, in a file.
//!
//! [`SETTINGS`] is one table of all settings, with the flags, the variables and the key of each, its default and a line of
//! help. Command line, help, manual, completions and documents are made of it. [`SettingSources`] are a command line and
//! what it names. Together with an [`Environment`] and a [`ConfigFile`] they are [`SettingLayers`], of which
//! flags count first, then our variables, then those of stock, then the file; [`Settings`] are what is in force.
//!
//! ```text
//!  what a parser found on the command line ─► GivenFlags ─► SettingSources ─► ConfigLocation
//!                                                                │                 │ (somebody reads the file)
//!  the process's environment ────────────► Environment ──────────┤                 ▼
//!                                                                ▼            ConfigFile
//!                                                          SettingLayers ◄─────────┘
//!                                                                └─► Settings, a listing, or a SettingsError
//! ```
//!
//! Not here, on purpose: files, the process's own environment, and the parser of the command line. Text comes in, values go out.
//!
//! # Example
//!
//! ```
//! use fulmar_predict::PredictionMode;
//! use fulmar_settings::{Environment, GivenFlags, SettingSources};
//!
//! let host = Some("ada@example.org".as_ref());
//! let sources = SettingSources::own(GivenFlags::default(), None, host);
//! let environment = Environment::from_iter([("HOME", "/home/ada"), ("FULMAR_SSH", "ssh -v")]);
//!
//! let location = sources.config_location(&environment).expect("a usual place");
//! assert_eq!(location.path().to_str(), Some("/home/ada/.config/fulmar/config.toml"));
//! let file = location.parse(Some(b"[[host]]\nmatch = '*.org'\npredict = 'never'\n".to_vec()))?;
//!
//! let layers = sources.layers(&environment, Some(file));
//! let settings = layers.settings()?;
//! assert_eq!(settings.predict, PredictionMode::Never);
//! assert_eq!(settings.login.ssh, ["ssh", "-v"]);
//! # Ok::<(), fulmar_settings::SettingsError>(())
//! ```
//!
//! Source: docs/configuration.md, docs/decisions/011-toml.md, docs/decisions/034-settings-crate.md.

#![forbid(unsafe_code)]

mod config_file;
mod document;
mod environment;
mod error;
mod file_fault;
mod flags;
mod foreign_flags;
mod layers;
mod listing;
mod pattern;
mod records;
mod server_timeouts;
mod setting;
mod settings;
mod source;
mod table;
mod values;
mod variables;

pub use config_file::{ConfigFile, ConfigLocation, FileStatus};
pub use document::{ConfigError, nearest};
pub use environment::Environment;
pub use error::SettingsError;
pub use file_fault::{CONFIG_BYTES_MAX, FileFault};
pub use flags::{FlagForm, FlagSet, GivenFlags, GivenSetting};
pub use foreign_flags::{instead_of, is_valued_of_ssh, quoted};
pub use layers::{SettingLayers, SettingSources};
pub use records::RecordFiles;
pub use server_timeouts::ServerTimeouts;
pub use setting::{AnySetting, SettingGroup, SettingInfo, ShortFlag, StockVariable, ValueForm};
pub use settings::{LoginSettings, Settings};
pub use source::ValueSource;
pub use table::{LOG_FILTER_DEFAULT, LOG_FILTER_VARIABLE, SETTINGS};
pub use values::{BindServer, Scrollback, TrueColor};
pub use variables::OTHER_VARIABLES;

//! The user's settings: by flags, in the environment, in a file.
//!
//! One table has all settings, with the flag, the variables and the key of each, its default and a line of help.
//! Everything here is a function of values that are handed in, except `reading`, which opens the file.

mod arguments;
mod config_file;
#[cfg(test)]
mod configuration_page;
mod document;
mod error;
mod file_fault;
mod flags;
mod layers;
mod listing;
mod pattern;
mod reading;
mod records;
mod setting;
mod settings;
mod source;
mod table;
mod values;
mod variables;

use fulmar_core::Names;

pub(crate) use self::arguments::{ClientFlags, ConfigArg, CopyFlags, LoginFlags, RecordArgs};
#[cfg(test)]
pub(crate) use self::config_file::ConfigLocation;
pub(crate) use self::error::SettingsError;
#[cfg(test)]
pub(crate) use self::file_fault::FileFault;

pub(crate) use self::layers::{SettingLayers, SettingSources};
pub(crate) use self::records::RecordFiles;
pub(crate) use self::setting::SettingInfo;
pub(crate) use self::settings::{LoginSettings, Settings};
#[cfg(test)]
pub(crate) use self::source::ValueSource;
pub(crate) use self::table::SETTINGS;
pub(crate) use self::values::BindServer;
pub(crate) use self::variables::OTHER_VARIABLES;
use crate::advice::Advice;
use crate::environment::Environment;

/// Reads the file that the sources name, if any, and puts all of them together.
///
/// # Errors
///
/// When there is a file and it cannot be used.
pub(crate) fn layers<'a>(
    sources: &'a SettingSources,
    environment: &'a Environment,
) -> Result<SettingLayers<'a>, SettingsError> {
    let location = sources.config_location(environment);
    let config = location.map(reading::read).transpose()?;
    Ok(sources.layers(environment, config))
}

/// Returns the settings that the sources and the file that they name have.
///
/// # Errors
///
/// When a value makes no sense, or there is a file and it cannot be used.
pub(crate) fn resolve(
    sources: &SettingSources,
    environment: &Environment,
) -> Result<Settings, SettingsError> {
    layers(sources, environment)?.settings()
}

impl Advice for SettingsError {
    fn told(&self) -> Vec<String> {
        self.lines()
    }

    fn advice(&self, _names: Names) -> Option<String> {
        Some(SettingsError::advice(self))
    }
}

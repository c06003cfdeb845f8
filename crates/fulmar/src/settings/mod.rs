//! The user's settings, as the program gets them: clap parses the flags, and the configuration file is opened.
//!
//! What they mean is decided in the crate `fulmar_settings`.

mod arguments;
#[cfg(test)]
mod configuration_page;
mod reading;
mod ssh_flags;

use fulmar_core::CompatMode;
use fulmar_settings::{Environment, SettingLayers, SettingSources, Settings, SettingsError};

pub(crate) use self::arguments::{ClientFlags, ConfigArg, CopyFlags, LoginFlags, RecordArgs};
pub(crate) use self::ssh_flags::SshFlags;
use crate::advice::Advice;

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

    fn advice(&self, _compat: CompatMode) -> Option<String> {
        Some(SettingsError::advice(self))
    }
}

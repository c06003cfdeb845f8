//! The content of a configuration file.

use std::ffi::OsStr;
use std::path::PathBuf;

use fulmar_settings::{Environment, GivenFlags, SettingSources, SettingsError};

/// Reads the bytes as a configuration file, for a host and for none.
///
/// # Panics
///
/// Where nothing is said of what is wrong with it.
pub(crate) fn check(bytes: &[u8]) {
    let environment = Environment::default();
    for host in [None, Some(OsStr::new("user@host.example"))] {
        let file = Some(PathBuf::from("/config.toml"));
        let sources = SettingSources::own(GivenFlags::default(), file, host);
        let location = sources.config_location(&environment);
        let location = location.expect("it was named");
        match location.parse(Some(bytes.to_vec())) {
            Ok(config) => {
                let layers = sources.layers(&environment, Some(config));
                if let Err(error) = layers.settings() {
                    expect_words(&error);
                }
            }
            Err(error) => expect_words(&error),
        }
    }
}

fn expect_words(error: &SettingsError) {
    let lines = error.lines();
    assert!(!lines.is_empty());
    for line in lines.iter().chain([&error.advice()]) {
        // Control characters in it are escaped where it is printed.
        assert!(!line.is_empty());
    }
}

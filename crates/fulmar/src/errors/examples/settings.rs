//! Examples of settings and of what is logged.

use std::path::PathBuf;

use fulmar_settings::{ConfigLocation, Environment, FileFault, SettingsError, ValueSource};

use super::{FULMAR, MOSH, Row, row};
use crate::log::LogError;

pub(super) fn rows() -> Vec<Row> {
    let path = || PathBuf::from("/home/ada/.config/fulmar/config.toml");
    let file = |fault| SettingsError::ConfigFile {
        path: path(),
        fault,
    };
    vec![
        row(
            misspelt(path()),
            FULMAR,
            "the configuration file has a fault there; each has a line of its own",
        ),
        row(
            file(FileFault::System("No such file or directory".to_owned())),
            FULMAR,
            "the file was named by --config or FULMAR_CONFIG and cannot be read",
        ),
        row(
            file(FileFault::NotAFile),
            FULMAR,
            "a folder, a pipe or a device has the name of the file",
        ),
        row(
            file(FileFault::OthersWrite(0o664)),
            FULMAR,
            "the group or all may write the file, and it names programs that are run",
        ),
        row(
            file(FileFault::OthersOwn),
            FULMAR,
            "the file belongs neither to the user nor to root",
        ),
        row(
            file(FileFault::TooLong),
            FULMAR,
            "most likely the wrong file",
        ),
        row(
            file(FileFault::NotText(3)),
            FULMAR,
            "the file is in another encoding, or is not text",
        ),
        row(
            SettingsError::Setting {
                name: "predict",
                value: "sometimes".into(),
                place: ValueSource::Variable("FULMAR_PREDICT"),
                why: "it is one of adaptive, always, never, experimental".to_owned(),
            },
            FULMAR,
            "a flag or a variable has a value that makes no sense",
        ),
        row(
            SettingsError::PredictionMode {
                mode: "sometimes".into(),
            },
            MOSH,
            "MOSH_PREDICTION_DISPLAY has a value that makes no sense",
        ),
        row(
            LogError::Filter("invalid filter".to_owned()),
            FULMAR,
            "FULMAR_LOG of a server makes no sense",
        ),
    ]
}

/// The failure over a file with a misspelt setting.
fn misspelt(path: PathBuf) -> SettingsError {
    let location = ConfigLocation::find(Some(&path), &Environment::default());
    let content = b"\n\npredcit = \"never\"".to_vec();
    let parsed = location.expect("a name").parse(Some(content));
    parsed.expect_err("there is no such setting")
}

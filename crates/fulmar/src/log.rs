//! Logs: off unless asked for, and never a word of what was typed or shown.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fulmar_core::CompatMode;
use fulmar_platform::{PrivateFileError, Unfit, create_private};
use fulmar_settings::{Environment, LOG_FILTER_DEFAULT, LOG_FILTER_VARIABLE};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::advice::{Advice, remedy};

/// The place that the log is written to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Log<'a> {
    /// Nowhere.
    Off,
    /// Into this file.
    File(&'a Path),
    /// To standard error, which stays open.
    Stderr,
}

/// The reason why a log or another record cannot be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    /// A file of the user's choice.
    #[error("cannot write {}: {error}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A file of the user's choice that is there, and that others have a hand in.
    #[error("will not write to {}: {why}", path.display())]
    UnfitFile {
        /// Its path.
        path: PathBuf,
        /// The reason why it is not written to.
        why: Unfit,
    },
    /// `FULMAR_LOG` is not a filter.
    #[error("FULMAR_LOG is not understood: {0}")]
    Filter(String),
}

impl Advice for LogError {
    fn advice(&self, _compat: CompatMode) -> Option<String> {
        Some(match self {
            LogError::UnfitFile {
                path,
                why: Unfit::OpenToOthers,
            } => {
                format!(
                    "remove it or name another file; or: chmod go= {}",
                    path.display()
                )
            }
            LogError::UnfitFile { .. } => "remove it, or name another file".to_owned(),
            LogError::File { error, .. } => remedy(error)
                .unwrap_or("name a file in a folder that is there and that you may write to")
                .to_owned(),
            LogError::Filter(_) => {
                "write it like this: info, or fulmar=debug,fulmar_core=trace".to_owned()
            }
        })
    }
}

/// Begins to log what the environment says.
///
/// # Errors
///
/// When the file cannot be written, or the filter in the environment makes no sense.
pub(crate) fn begin(log: Log<'_>, environment: &Environment) -> Result<(), LogError> {
    let filter = environment
        .get_text(LOG_FILTER_VARIABLE)
        .unwrap_or(LOG_FILTER_DEFAULT);
    match (log, filter.parse()) {
        (Log::Off, _) => Ok(()),
        (log, Ok(filter)) => begin_filtered(log, filter),
        (_, Err(error)) => Err(LogError::Filter(format!("{error}"))),
    }
}

/// Begins to log.
///
/// # Errors
///
/// When the file cannot be written.
pub(crate) fn begin_filtered(log: Log<'_>, filter: Targets) -> Result<(), LogError> {
    let writer = match log {
        Log::Off => return Ok(()),
        Log::File(path) => BoxMakeWriter::new(Mutex::new(create(path)?)),
        Log::Stderr => BoxMakeWriter::new(io::stderr),
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(writer);
    // A second attempt in one process would be a bug that costs a log and nothing else.
    let _ = tracing_subscriber::registry()
        .with(filter)
        .with(lines)
        .try_init();
    Ok(())
}

/// Opens a file that nobody else may read, empty. One that is there has to be as private, and a link is not followed.
///
/// # Errors
///
/// When the system refuses, or others have a hand in what is there.
pub(crate) fn create(path: &Path) -> Result<File, LogError> {
    let path_of = || path.to_owned();
    create_private(path).map_err(|error| match error {
        PrivateFileError::System(error) => LogError::File {
            path: path_of(),
            error,
        },
        PrivateFileError::Unfit(why) => LogError::UnfitFile {
            path: path_of(),
            why,
        },
    })
}

/// Returns the file for the other end of a session on one machine.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".server");
    name.into()
}

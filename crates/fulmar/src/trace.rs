//! The file behind `--trace`.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use fulmar_base::{PathId, SendError, Time};
use fulmar_core::trace;
use fulmar_predict::PredictionDecision;
use fulmar_transport::{Received, Transmit};

use crate::log;
use crate::log::LogError;

/// A timeline of datagrams and of what was predicted that is being written, if one was asked for.
///
/// A disk that is full or gone is no reason to disturb a session: then the timeline just ends.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    file: Option<File>,
    lines: String,
}

impl Trace {
    /// Begins a timeline at `path`, or one that nobody reads.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub(crate) fn begin(path: Option<&Path>) -> Result<Trace, LogError> {
        Ok(Trace {
            file: path.map(log::create).transpose()?,
            lines: trace::HEADER.to_owned(),
        })
    }

    /// Tells if anybody reads it.
    pub(crate) fn is_written(&self) -> bool {
        self.file.is_some()
    }

    /// Notes what prediction has decided.
    pub(crate) fn decided(&mut self, at: Time, decision: &PredictionDecision) {
        if self.file.is_some() {
            trace::decided(&mut self.lines, at, decision);
        }
    }

    /// Notes what was sent.
    pub(crate) fn sent(&mut self, now: Time, transmit: &Transmit) {
        if self.file.is_some() {
            trace::sent(&mut self.lines, now, transmit);
        }
    }

    /// Notes what came.
    pub(crate) fn received(&mut self, now: Time, path: PathId, bytes: usize, received: &Received) {
        if self.file.is_some() {
            trace::received(&mut self.lines, now, path, bytes, received);
        }
    }

    /// Notes what was refused.
    pub(crate) fn send_failed(&mut self, now: Time, path: PathId, error: SendError) {
        if self.file.is_some() {
            trace::send_failed(&mut self.lines, now, path, error);
        }
    }

    /// Writes down what was noted. Once a turn is often enough, and leaves whole lines if we crash.
    pub(crate) fn flush(&mut self) {
        let Some(file) = &mut self.file else { return };
        if self.lines.is_empty() {
            return;
        }
        if file.write_all(self.lines.as_bytes()).is_err() {
            self.file = None;
        }
        self.lines.clear();
    }
}

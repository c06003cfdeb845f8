//! The parser of all that ssh writes on its standard output.
//!
//! Source: docs/protocol.md §2.9, §2.10, docs/threat-model.md §6.

use crate::bootstrap::{LineSplitter, OutputLine, ReadKey};
use crate::diagnostics::Diagnostics;
use crate::output_error::{OutputError, READY_LINE};
use crate::output_event::OutputEvent;
use crate::remote_service::RemoteService;

/// A parser that knows the lines of one service. It owns no pipe and waits for nothing.
pub struct LoginOutput<S> {
    splitter: LineSplitter,
    read_key: ReadKey,
    has_said: bool,
    diagnostics: Diagnostics,
    service: S,
}

impl<S: RemoteService> LoginOutput<S> {
    /// Returns one that has read nothing. Keys are read by `read_key`.
    pub fn new(service: S, read_key: ReadKey) -> LoginOutput<S> {
        LoginOutput {
            splitter: LineSplitter::new(),
            read_key,
            has_said: false,
            diagnostics: Diagnostics::default(),
            service,
        }
    }

    /// Takes what has come off the front of `bytes`, and appends what it says. What stands behind the line that
    /// begins frames is left.
    ///
    /// # Errors
    ///
    /// When the login cannot go on. It was read up to there.
    pub fn read(
        &mut self,
        bytes: &mut &[u8],
        events: &mut Vec<OutputEvent>,
    ) -> Result<(), OutputError> {
        self.has_said |= !bytes.is_empty();
        while !bytes.is_empty() {
            match self.splitter.take(bytes) {
                Ok(Some(line)) => self.take_line(&line, events)?,
                Ok(None) => {}
                Err(_) => return Err(OutputError::TooMuchText),
            }
            if events.last() == Some(&OutputEvent::OverSsh) {
                break;
            }
        }
        Ok(())
    }

    /// Takes note that nothing more will come: what was not ended by then is a line, too.
    ///
    /// # Errors
    ///
    /// As for [`read`](LoginOutput::read).
    pub fn end(&mut self, events: &mut Vec<OutputEvent>) -> Result<(), OutputError> {
        match self.splitter.rest() {
            Some(line) => self.take_line(&line, events),
            None => Ok(()),
        }
    }

    /// Tells if anything has come at all.
    pub fn has_said_anything(&self) -> bool {
        self.has_said
    }

    /// Returns what was said of troubles.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Returns the service.
    pub fn service(&self) -> &S {
        &self.service
    }

    /// Returns the same, to take something out of it.
    pub fn service_mut(&mut self) -> &mut S {
        &mut self.service
    }

    fn take_line(
        &mut self,
        line: &OutputLine,
        events: &mut Vec<OutputEvent>,
    ) -> Result<(), OutputError> {
        if let Some(program) = program_of_ready(line.bytes()) {
            self.diagnostics.note_program(program);
            events.extend(self.service.take_ready());
            return Ok(());
        }
        // A start-up file has printed text, and did not end its line.
        if let Some((text, ready)) = line.behind_text(READY_LINE)
            && let Some(program) = program_of_ready(ready)
        {
            self.take_line(&text, events)?;
            self.diagnostics.note_program(program);
            events.extend(self.service.take_ready());
            return Ok(());
        }
        match line.parse(self.read_key) {
            Err(_) => return Err(OutputError::Malformed),
            Ok(Some(line)) => {
                if let Some(other) = self.service.take_line(line, events)? {
                    let warning = self.diagnostics.take(other)?;
                    events.extend(warning.map(OutputEvent::Warning));
                }
            }
            Ok(None) if self.service.has_written(line.bytes(), line.is_cut()) => {}
            Ok(None) if self.service.shows_others() => {
                events.push(OutputEvent::Other(line.shown()));
            }
            Ok(None) => {}
        }
        Ok(())
    }
}

/// Returns where the remote shell has found `fulmar`, empty if nowhere, if this is the line in which it says so.
fn program_of_ready(line: &[u8]) -> Option<&[u8]> {
    match line.strip_prefix(READY_LINE)? {
        [] => Some(&[]),
        rest => rest.strip_prefix(b" "),
    }
}

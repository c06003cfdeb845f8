//! A kind of remote end that a login can start.

use std::time::Duration;

use crate::bootstrap::BootstrapLine;
use crate::diagnostics::Diagnostics;
use crate::login_error::{LoginError, SshExit};
use crate::output_error::OutputError;
use crate::output_event::OutputEvent;
use crate::ssh::SshImplementation;

/// The side of a login that depends on what is started: its lines, what it takes to reach it, and how it fails.
///
/// A service takes lines until its remote end can be reached, and some after that. Everything else about a login is the same for all
/// services, and in [`Login`](crate::Login).
pub trait RemoteService {
    /// All that it takes to reach the remote end, but its address.
    type Params;

    /// A failure of such a login.
    type Error: From<LoginError>;

    /// True if text that comes after the connection parameters is kept: somebody else has the terminal by then.
    const KEEPS_TEXT: bool;

    /// True if nothing can be done with connection parameters without an address.
    const NEEDS_ADDRESS: bool;

    /// The time that a remote end has to be heard over its own connection once ssh has ended too early, if it is the
    /// login that looks after this.
    const LOST_WITHIN: Option<Duration>;

    /// Returns what is written to the remote side at once.
    fn request(&self) -> &[u8];

    /// Returns what is written once more when that has been heard: something on the way may have taken it.
    fn repeated(&self, event: &OutputEvent) -> &[u8];

    /// Takes note that the remote shell has begun to read.
    fn take_ready(&mut self) -> Option<OutputEvent>;

    /// Takes a line and appends what it says, or gives it back: then it is a diagnostic, or out of place.
    ///
    /// # Errors
    ///
    /// When the login cannot go on.
    fn take_line(
        &mut self,
        line: BootstrapLine,
        events: &mut Vec<OutputEvent>,
    ) -> Result<Option<BootstrapLine>, OutputError>;

    /// Tells if lines of others are for the user.
    fn shows_others(&self) -> bool;

    /// Tells if that line, or one that begins so, was written to the remote side: a terminal on the way may send it back.
    fn has_written(&self, line: &[u8], is_cut: bool) -> bool;

    /// Tells if the remote side is at work, so that its silence is one.
    fn has_begun(&self, diagnostics: &Diagnostics) -> bool;

    /// Tells if the remote end reads what it is for, and is to answer that.
    fn has_greeted(&self) -> bool;

    /// Tells if the remote end has not said yet that it has read what it is for.
    fn awaits_agreement(&self) -> bool;

    /// Tells if the remote end can be reached: it is where it stays.
    fn is_reachable(&self) -> bool;

    /// Returns the connection parameters, once.
    fn take_params(&mut self) -> Option<Self::Params>;

    /// Returns the UDP port in connection parameters.
    fn port(params: &Self::Params) -> u16;

    /// Tells if the remote end leaves with ssh.
    fn needs_ssh(&self) -> bool;

    /// Returns as a failure that the remote side cannot be what it is to be, if that is so.
    fn mismatch(&self, host: &str, diagnostics: &Diagnostics) -> Option<Self::Error>;

    /// Returns an error of the output as a failure.
    fn failure_of_output(host: &str, error: OutputError) -> Self::Error;

    /// Tells if an error of the output still counts once the remote end can be reached.
    fn is_fatal_later(error: OutputError) -> bool;

    /// Returns the end of ssh as a failure.
    fn failure_of_exit(&self, facts: &ExitFacts<'_>) -> Self::Error;
}

/// All that is known of an ssh that has ended too early.
pub struct ExitFacts<'a> {
    /// The destination, as the user wrote it.
    pub host: &'a str,
    /// The exit itself.
    pub exit: SshExit,
    /// The implementation of ssh.
    pub implementation: SshImplementation,
    /// True if anything has come on its standard output.
    pub has_said: bool,
    /// The warnings and errors of the remote side.
    pub diagnostics: &'a Diagnostics,
    /// The end of ssh's own words.
    pub last_words: &'a str,
    /// The command that copies this program there, if its file is known.
    pub copying: Option<&'a str>,
}

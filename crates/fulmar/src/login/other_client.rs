//! Another client in our place: it gets the key and the address, as from stock's `mosh`.
//!
//! Source: docs/protocol.md §2.2, §2.8.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command};

use fulmar_platform::resolve::numeric;
use fulmar_platform::{Signal, process};
use fulmar_predict::PredictionMode;
use fulmar_settings::Settings;

use super::error::SessionError;
use crate::client::ConnectParams;
use crate::reactor::{Reactor, ReactorEvent};
use crate::system::{cannot_start, while_doing};

/// Runs the client to its end, and returns its status. It joins the likeliest of the addresses, for
/// it takes one only; the ssh that has started the server stays for as long as it wants.
///
/// # Errors
///
/// When the client cannot be started.
pub(super) fn run(
    program: &Path,
    settings: &Settings,
    params: ConnectParams,
) -> Result<u8, SessionError> {
    let address = params.candidates.likeliest();
    let key = params.key.to_base64();
    let mut command = Command::new(program);
    command.env("MOSH_KEY", key.as_str());
    command.envs(variables(settings));
    if let Some(address) = address {
        command.args([numeric(address), address.port().to_string()]);
    }
    let client = command.spawn().map_err(cannot_start(program.as_os_str()))?;
    // What holds the key's text goes as soon as the client has it.
    drop((command, key));
    let status = wait(client, params.reactor);
    if let Some(mut login) = params.login {
        if login.is_running() {
            login.hear_out();
            login.release();
        }
        login.tell();
    }
    status
}

/// Returns what the client is told in its environment.
fn variables(settings: &Settings) -> Vec<(&'static str, OsString)> {
    let predict = match settings.predict {
        PredictionMode::Adaptive => "adaptive",
        PredictionMode::Always => "always",
        PredictionMode::Never => "never",
        PredictionMode::Experimental => "experimental",
    };
    let mut variables = vec![("MOSH_PREDICTION_DISPLAY", predict.into())];
    if settings.predict_overwrite {
        variables.push(("MOSH_PREDICTION_OVERWRITE", "yes".into()));
    }
    if !settings.title_prefix {
        variables.push(("MOSH_TITLE_NOPREFIX", "1".into()));
    }
    if !settings.init {
        variables.push(("MOSH_NO_TERM_INIT", "1".into()));
    }
    variables
}

/// Waits for the client, and asks it to end if we are asked to.
fn wait(mut client: Child, mut reactor: Reactor) -> Result<u8, SessionError> {
    let waiting = || while_doing("waiting for the client");
    loop {
        if let Some(status) = client.try_wait().map_err(waiting())? {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            return Ok(code.unwrap_or(255));
        }
        reactor.wait(None, |_| {}).map_err(waiting())?;
        while let Some(event) = reactor.poll_event() {
            if let ReactorEvent::Signal(Signal::Terminate | Signal::HangUp) = event {
                // It may have another user by now, or have ended; there is nothing more to do then.
                let _ = process::send_signal(client.id(), Signal::Terminate);
            }
        }
    }
}

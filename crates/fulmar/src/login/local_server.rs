//! A server that is started beside the client, on the same machine.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use fulmar_login::LoginError;
use fulmar_settings::Settings;

use super::error::SessionError;
use crate::log;

/// Returns an order to start a server: this very program, also if its file is gone since.
///
/// # Errors
///
/// When the system does not tell where that is.
pub(crate) fn order(settings: &Settings) -> io::Result<Command> {
    let records = &settings.records;
    let file = std::env::current_exe()?;
    let program = if file.exists() {
        file
    } else {
        PathBuf::from("/proc/self/exe")
    };
    let mut server = Command::new(program);
    // The name decides which program we are. Only this machine can reach it.
    server.arg0("fulmar").args(["server", "-i", "127.0.0.1"]);
    if let Some(ports) = settings.login.port {
        server.args(["-p", &ports.as_option()]);
    }
    for (option, file) in [("--trace", &records.trace), ("--log", &records.log)] {
        if let Some(file) = file {
            server.arg(option).arg(log::beside(file));
        }
    }
    Ok(server)
}

/// Returns why there is no server, in its own words if it had any.
pub(crate) fn in_its_words(failure: LoginError) -> SessionError {
    match failure {
        LoginError::Refused { what, advice, .. } => SessionError::OfServer { what, advice },
        LoginError::ProgramMissing { what, advice, .. } => {
            SessionError::ProgramMissing { what, advice }
        }
        _ => SessionError::LocalServer,
    }
}

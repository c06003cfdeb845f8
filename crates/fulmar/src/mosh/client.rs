//! The client that this process becomes.
//!
//! Source: docs/protocol.md §2.2, §2.8.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use fulmar_compat::{MoshOptions, ServerLine};
use fulmar_settings::Environment;

use super::error::MoshError;
use crate::client::capabilities;
use crate::system::{cannot_start, while_doing};

/// More than the digits of any number of colours.
///
/// Chosen by eye.
const COLORS_BYTES_MAX: u64 = 64;

/// Returns how many colours the client sees, in digits: 0 if it does not know.
///
/// # Errors
///
/// When the client does not run.
pub(crate) fn colors(wishes: &MoshOptions, environment: &Environment) -> Result<String, MoshError> {
    let Some(program) = &wishes.client else {
        let term = environment.get_text("TERM").unwrap_or_default();
        let count = capabilities::colors(term).unwrap_or(0).max(0);
        return Ok(count.to_string());
    };
    let printed = ask_for_colors(program)?;
    let digits = printed.strip_suffix('\n').unwrap_or(&printed);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    Ok(if is_number { digits } else { "0" }.to_owned())
}

fn ask_for_colors(program: &OsStr) -> Result<String, MoshError> {
    let mut command = Command::new(program);
    command
        .arg("-c")
        .env_remove(PREDICTION)
        .stdout(Stdio::piped());
    let mut child = command.spawn().map_err(cannot_start(program))?;
    let mut printed = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        let mut stdout = stdout.take(COLORS_BYTES_MAX);
        stdout
            .read_to_end(&mut printed)
            .map_err(while_doing("asking the client for its colours"))?;
    }
    let status = child
        .wait()
        .map_err(while_doing("waiting for the client"))?;
    if status.success() {
        Ok(String::from_utf8_lossy(&printed).into_owned())
    } else {
        Err(MoshError::ClientFailed {
            program: program.to_owned(),
            status,
        })
    }
}

/// The variable that ssh does not see and the client does.
pub(crate) const PREDICTION: &str = "MOSH_PREDICTION_DISPLAY";

/// Returns the client with all that it needs to join the server.
///
/// # Errors
///
/// When we do not find ourselves.
pub(crate) fn command(
    wishes: &MoshOptions,
    words: &[OsString],
    address: &str,
    server_line: &ServerLine,
) -> Result<Command, MoshError> {
    let mut command = match &wishes.client {
        Some(program) => Command::new(program),
        None => {
            let mut command = Command::new(super::our_file()?);
            // The name decides which program we are.
            command.arg0("mosh-client");
            command
        }
    };
    command.env("MOSH_KEY", server_line.key.as_str());
    command.env(PREDICTION, &wishes.prediction);
    if !wishes.initializes {
        command.env("MOSH_NO_TERM_INIT", "1");
    }
    command
        .arg(label(words))
        .arg(address)
        .arg(&server_line.port);
    Ok(command)
}

/// Becomes the client: it has our process number, and its status is ours. What is returned is why
/// it does not run.
pub(crate) fn become_it(
    mut command: Command,
    variables: impl IntoIterator<Item = (&'static str, String)>,
) -> MoshError {
    let error = command.envs(variables).exec();
    cannot_start(command.get_program())(error).into()
}

/// Returns a word that shows in a list of processes what was asked for.
fn label(words: &[OsString]) -> OsString {
    let mut label = OsString::from("-# ");
    label.push(words.join(OsStr::new(" ")));
    label.push(" |");
    label
}

//! The commands of the program, one file each.

pub mod cast;
mod data;
pub mod film;
pub mod judge;
pub mod link;
pub mod list;
pub mod load;
pub mod measure;
pub mod pairs;
pub mod play;
pub mod predict;
pub mod record;
pub mod redraws;
pub mod replay;
mod replay_options;
pub mod report;
pub mod run;
mod run_session;
pub mod selfcheck;
pub mod simulate;
pub mod tinygrams;
pub mod traces;

use std::path::Path;
use std::process::{ExitCode, ExitStatus};

use anyhow::{Context as _, Result};
pub use data::DataOptions;
use fulmar_platform::lab::{PidNamespace, enter_pid_namespace};
pub use replay_options::ReplayOptions;
pub use run_session::RunOptions;
use serde_json::Value;

/// Moves into a process namespace that ends with this process; to be called before any thread is started.
fn into_pid_namespace() -> Result<PidNamespace> {
    enter_pid_namespace().context(
        "making a process namespace for the lab, for which root or user namespaces are needed",
    )
}

/// Writes a value into a file, for people to read too.
fn write_json(file: &Path, value: &Value) -> Result<()> {
    std::fs::write(file, format!("{value:#}\n"))
        .with_context(|| format!("writing {}", file.display()))
}

/// Returns the status with which a program has ended, for ours to end with.
fn exit_code_of(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Returns the status of a command that has found something good, or not.
fn exit_code(is_good: bool) -> ExitCode {
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;

    #[test]
    fn we_end_as_a_program_did_and_fail_where_a_signal_ended_it() {
        let ended = |raw| format!("{:?}", exit_code_of(ExitStatus::from_raw(raw)));
        let ours = |code: u8| format!("{:?}", ExitCode::from(code));
        assert_eq!((ended(0), ended(23 << 8)), (ours(0), ours(23)));
        assert_eq!(ended(9), ours(1));
        assert_eq!(format!("{:?}", exit_code(true)), ours(0));
        assert_eq!(format!("{:?}", exit_code(false)), ours(1));
    }

    #[test]
    fn values_are_written_for_people_and_errors_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("value.json");
        write_json(&file, &serde_json::json!({"a": 1})).unwrap();
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            "{\n  \"a\": 1\n}\n"
        );
        let said = write_json(folder.path(), &Value::Null)
            .unwrap_err()
            .to_string();
        assert_eq!(said, format!("writing {}", folder.path().display()));
    }
}

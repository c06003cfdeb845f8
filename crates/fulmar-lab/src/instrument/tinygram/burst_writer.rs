//! The remote end: a program that writes bursts on its terminal.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};

use super::burst::{Burst, BurstShape, WriteSpan};
use super::run::{KEY, LAST_KEY};
use crate::played::{CLEAR, READY, RawTerminal};

/// Writes a burst on the terminal behind descriptor 0 for each Enter, until the last key is received or
/// the terminal is gone. In the log each burst has a line.
///
/// # Errors
///
/// Where that is no terminal, or the log cannot be written.
pub fn write_on_terminal(shape: BurstShape, seed: u64, log: &Path) -> Result<()> {
    let terminal = RawTerminal::take()?;
    let mut log = File::create(log).with_context(|| format!("making {}", log.display()))?;
    let write = |bytes: &[u8]| {
        if terminal.write(bytes)? {
            Ok(())
        } else {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    };
    write(format!("{CLEAR}{READY}\r\n").as_bytes())?;
    let mut number = 0;
    while let Some(keys) = terminal.await_keys()? {
        for key in keys {
            if [key] == LAST_KEY {
                return Ok(());
            }
            if [key] == KEY {
                let burst = Burst::new(seed, number, shape);
                writeln!(log, "{}", serde_json::to_string(&burst.write(write)?)?)?;
                number += 1;
            }
        }
    }
    Ok(())
}

/// Reads a log: one line for each burst.
pub(super) fn read_log(log: &Path) -> Result<Vec<WriteSpan>> {
    let text = fs::read_to_string(log).context("the far end has noted nothing")?;
    let lines = text.lines().map(serde_json::from_str);
    Ok(lines.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn each_line_of_a_log_is_a_burst_and_a_cut_one_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let spans = [(1, 5), (2000, 2004)].map(|(began, ended)| WriteSpan {
            began: Duration::from_millis(began),
            ended: Duration::from_millis(ended),
        });
        let lines = spans.map(|span| serde_json::to_string(&span).unwrap() + "\n");
        fs::write(file.path(), lines.concat()).unwrap();
        assert_eq!(read_log(file.path()).unwrap(), spans);
        fs::write(file.path(), &lines.concat()[..lines[0].len() + 9]).unwrap();
        assert!(read_log(file.path()).is_err());
        fs::write(file.path(), "").unwrap();
        assert_eq!(read_log(file.path()).unwrap(), []);
        let error = read_log(Path::new("/nowhere/log")).unwrap_err();
        assert!(error.to_string().contains("noted nothing"), "{error}");
    }
}

//! The remote end: a program that writes bursts on its terminal.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use fulmar_platform::{Interest, Transfer, Tty, wait_for};

use super::burst::{Burst, BurstShape, WriteSpan};
use super::run::{KEY, LAST_KEY};
use crate::played::{CLEAR, READY};

/// Writes a burst on the terminal behind descriptor 0 for each Enter, until the last key is received or
/// the terminal is gone. In the log each burst has a line.
///
/// # Errors
///
/// Where that is no terminal, or the log cannot be written.
pub fn write_on_terminal(shape: BurstShape, seed: u64, log: &Path) -> Result<()> {
    let tty = Tty::open(io::stdin()).context("standard input is no terminal")?;
    let _raw = tty.raw_mode().context("setting the terminal")?;
    let mut log = File::create(log).with_context(|| format!("making {}", log.display()))?;
    write_all(&tty, format!("{CLEAR}{READY}\r\n").as_bytes())?;
    let mut number = 0;
    while let Some(keys) = read(&tty)? {
        for key in keys {
            if [key] == LAST_KEY {
                return Ok(());
            }
            if [key] == KEY {
                let burst = Burst::new(seed, number, shape);
                let written = burst.write(|line| write_all(&tty, line))?;
                writeln!(log, "{}", serde_json::to_string(&written)?)?;
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

/// Waits for keys; `None` where the terminal is gone.
fn read(tty: &Tty) -> io::Result<Option<Vec<u8>>> {
    let mut buffer = vec![0; 4096];
    loop {
        wait_for(tty, Interest::Read, None)?;
        match tty.read(&mut buffer)? {
            Transfer::Bytes(count) => {
                buffer.truncate(count);
                return Ok(Some(buffer));
            }
            Transfer::WouldBlock => {}
            Transfer::Closed => return Ok(None),
        }
    }
}

fn write_all(tty: &Tty, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match tty.write(bytes)? {
            Transfer::Bytes(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Transfer::Closed => return Err(io::ErrorKind::BrokenPipe.into()),
            Transfer::WouldBlock => {
                wait_for(tty, Interest::Write, None)?;
            }
        }
    }
    Ok(())
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

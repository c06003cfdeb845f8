//! Reads what ssh and the server print, line by line.
//!
//! Source: docs/protocol.md §2.4.

use std::ffi::OsStr;
use std::io::{BufRead, Read as _};

use fulmar_compat::MoshLoginOutput;
use zeroize::Zeroizing;

use super::error::MoshError;
use crate::address;
use crate::system::while_doing;

/// The longest line that can mean something. What is longer is shown in pieces.
///
/// Source: docs/threat-model.md §6.
const LINE_BYTES_MAX: u64 = 1024;

/// Reads until the server's line or the end, and gives the lines that are not for us to `show`, without what
/// ends them. Nothing is kept of them, so there may be any number.
///
/// # Errors
///
/// When a line is like one of ours and is none, or when `input` cannot be read.
pub(crate) fn listen(
    output: &mut MoshLoginOutput,
    mut input: impl BufRead,
    mut show: impl FnMut(&[u8]),
) -> Result<(), MoshError> {
    // Room for any line from the start: a longer buffer would leave the shorter one behind.
    let mut line = Zeroizing::new(Vec::with_capacity(LINE_BYTES_MAX as usize));
    let mut begins = true;
    while !output.is_complete() {
        line.clear();
        let mut piece = (&mut input).take(LINE_BYTES_MAX);
        let count = piece.read_until(b'\n', &mut line);
        if count.map_err(while_doing("listening to ssh"))? == 0 {
            break;
        }
        let ends = line.ends_with(b"\n");
        let is_whole = begins && (ends || (line.len() as u64) < LINE_BYTES_MAX);
        begins = ends;
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if !(is_whole && output.handle_line(text)?) {
            show(without_returns(text));
        }
    }
    Ok(())
}

/// Returns a line without the carriage returns that a server, and a terminal on the way, put before its end.
fn without_returns(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|byte| *byte != b'\r');
    line.split_at(end.map_or(0, |at| at + 1)).0
}

/// Tells if a word is an address in numbers, whose scope, if any, there is here.
pub(crate) fn is_address(word: &str) -> bool {
    address::parse(OsStr::new(word), 0).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";

    /// Listens to `said`, and returns if the server's line was there, what was shown, and how much was not read.
    fn heard(said: &str) -> (bool, Vec<String>, usize) {
        let mut output = MoshLoginOutput::new(None, is_address);
        let mut input = said.as_bytes();
        let mut shown = Vec::new();
        let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
        let outcome = listen(&mut output, &mut input, |line| shown.push(text(line)));
        outcome.unwrap_or_else(|failure| panic!("{failure}"));
        (output.is_complete(), shown, input.len())
    }

    #[test]
    fn after_the_servers_line_nothing_is_read() {
        let said = format!("hello\r\r\n\r\r\nMOSH IP ::1 \r\nMOSH CONNECT 60001 {KEY} \t\r\nafter");
        let (is_complete, shown, left) = heard(&said);
        assert!(is_complete);
        assert_eq!(shown, ["hello", ""]);
        assert_eq!(left, "after".len());
    }

    #[test]
    fn the_last_line_need_not_end() {
        let (is_complete, shown, _) = heard(&format!("MOSH CONNECT 7 {KEY}"));
        assert!(is_complete && shown.is_empty());
        assert_eq!(heard("half").1, ["half"]);
    }

    #[test]
    fn a_line_that_is_almost_ours_is_a_failure() {
        let mut output = MoshLoginOutput::new(None, is_address);
        let outcome = listen(&mut output, &b"x\nMOSH IP -v\n"[..], |_| {});
        assert!(matches!(outcome, Err(MoshError::MoshLogin(_))));
    }

    #[test]
    fn a_long_line_is_shown_in_pieces_and_none_of_them_counts() {
        let limit = usize::try_from(LINE_BYTES_MAX).unwrap();
        let noise = "x".repeat(limit);
        let line = format!("MOSH CONNECT 7 {KEY}");
        let (is_complete, shown, _) = heard(&format!("{noise}{line}\nMOSH IP ::2\n"));
        assert!(!is_complete);
        assert_eq!(shown, [noise.as_str(), line.as_str()]);
        let blanks = " ".repeat(limit);
        assert!(!heard(&format!("{line}{blanks}\n")).0);
    }

    #[test]
    fn any_amount_of_noise_may_come_before() {
        let noise = "noise\n".repeat(200_000);
        let (is_complete, shown, _) = heard(&format!("{noise}MOSH CONNECT 7 {KEY}\n"));
        assert!(is_complete);
        assert_eq!(shown.len(), 200_000);
    }
}

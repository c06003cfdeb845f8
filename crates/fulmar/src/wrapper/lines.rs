//! Reads the lines that ssh and the server print: some of it is for us, the rest for the user.
//!
//! Source: docs/protocol.md §2.4.

use std::ffi::OsStr;
use std::io::{BufRead, Read as _};

use zeroize::Zeroizing;

use super::error::Failure;
use super::starter_error::StarterError;
use crate::address;
use crate::system::while_doing;

/// The longest line that can mean something. What is longer is shown in pieces.
///
/// Source: docs/threat-model.md §6.
const LINE_BYTES_MAX: u64 = 1024;

/// The content of the server's line, as it is handed to a client: docs/protocol.md §2.8 has it checked there.
pub(crate) struct ServerLine {
    /// Digits.
    pub(crate) port: String,
    /// 22 characters.
    pub(crate) key: Zeroizing<String>,
}

/// The parts that were understood of the lines so far.
#[derive(Default)]
pub(crate) struct StarterOutput {
    /// The address that ssh has connected to; or the one that we know by ourselves.
    pub(crate) address: Option<String>,
    /// The address at which ssh has arrived, as the far side tells.
    pub(crate) address_over_there: Option<String>,
    /// The server did not like its ports.
    pub(crate) ports_are_bad: bool,
    pub(crate) invitation: Option<ServerLine>,
}

impl StarterOutput {
    /// Reads until the server's line or the end, and gives the other lines to `show`, without what
    /// ends them. Nothing is kept of them, so there may be any number.
    ///
    /// # Errors
    ///
    /// When a line is like one of ours and is none, or when `input` cannot be read.
    pub(crate) fn listen(
        &mut self,
        mut input: impl BufRead,
        mut show: impl FnMut(&[u8]),
    ) -> Result<(), Failure> {
        // Room for any line from the start: a longer buffer would leave the shorter one behind.
        let mut line = Zeroizing::new(Vec::with_capacity(LINE_BYTES_MAX as usize));
        let mut begins = true;
        while self.invitation.is_none() {
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
            if !(is_whole && self.understand(text)?) {
                show(text.strip_suffix(b"\r").unwrap_or(text));
            }
        }
        Ok(())
    }

    /// Takes what is for us, and returns whether it was.
    fn understand(&mut self, line: &[u8]) -> Result<bool, StarterError> {
        // The words of a message of the server's.
        const BAD_PORTS: &[u8] = b"Bad UDP port";
        if let Some(rest) = line.strip_prefix(b"MOSH IP ") {
            if self.address.is_some() {
                return Err(StarterError::SecondAddress);
            }
            let address = numeric(text(rest).trim_ascii_end());
            self.address = Some(address.ok_or_else(|| bad_line("MOSH IP"))?);
        } else if line.starts_with(b"MOSH SSH_CONNECTION ") {
            let line = text(line);
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let address = match words.as_slice() {
                [_, _, _, _, server, _] => numeric(server),
                _ => None,
            };
            let address = address.ok_or_else(|| bad_line("MOSH SSH_CONNECTION"))?;
            self.address_over_there = Some(address);
        } else if let Some(rest) = line.strip_prefix(b"MOSH CONNECT ") {
            let invitation = str::from_utf8(rest).ok().and_then(invitation);
            self.invitation = Some(invitation.ok_or_else(|| bad_line("MOSH CONNECT"))?);
        } else {
            self.ports_are_bad |= line.windows(BAD_PORTS.len()).any(|part| part == BAD_PORTS);
            return Ok(false);
        }
        Ok(true)
    }
}

/// Returns an address if it is in numbers. Stock hands any word on to the client, where one with a
/// dash would be an option.
fn numeric(word: &str) -> Option<String> {
    address::parse(OsStr::new(word), 0).map(|_| word.to_owned())
}

fn invitation(rest: &str) -> Option<ServerLine> {
    let (port, key) = rest.trim_ascii_end().split_once(' ')?;
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    let is_port = digits && port.parse::<u16>().is_ok_and(|port| port > 0);
    let in_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let is_key = key.len() == 22 && key.bytes().all(in_key);
    (is_port && is_key).then(|| ServerLine {
        port: port.to_owned(),
        key: Zeroizing::new(key.to_owned()),
    })
}

fn bad_line(begins: &'static str) -> StarterError {
    StarterError::BadLine { begins }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";

    /// Listens to `said`, and returns what was understood and shown, and how much was not read.
    fn heard_from(
        mut hearing: StarterOutput,
        said: &str,
    ) -> (Result<StarterOutput, Failure>, Vec<String>, usize) {
        let mut input = said.as_bytes();
        let mut shown = Vec::new();
        let outcome = hearing.listen(&mut input, |line| shown.push(text(line)));
        (outcome.map(|()| hearing), shown, input.len())
    }

    fn heard(said: &str) -> (Result<StarterOutput, Failure>, Vec<String>, usize) {
        heard_from(StarterOutput::default(), said)
    }

    #[test]
    fn a_session_is_understood_and_the_rest_is_shown() {
        let said = format!(
            "hello\r\n\nMOSH IP 192.0.2.7 \r\n MOSH IP 1\nMOSH IP\nMOSH SSH_CONNECTION a 1  ::1 2\n\
             MOSH CONNECT 60001 {KEY} \t\r\nafter"
        );
        let (hearing, shown, left) = heard(&said);
        let hearing = hearing.unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(hearing.address.as_deref(), Some("192.0.2.7"));
        assert_eq!(hearing.address_over_there.as_deref(), Some("::1"));
        let invitation = hearing.invitation.expect("a server's line");
        assert_eq!(
            (invitation.port.as_str(), invitation.key.as_str()),
            ("60001", KEY)
        );
        assert_eq!(shown, ["hello", "", " MOSH IP 1", "MOSH IP"]);
        assert_eq!(left, "after".len());
    }

    #[test]
    fn a_port_at_the_limit_is_one() {
        for port in ["1", "65535", "0065535"] {
            let (hearing, ..) = heard(&format!("MOSH CONNECT {port} {KEY}\n"));
            let invitation = hearing.unwrap_or_default().invitation;
            assert_eq!(invitation.expect("a server's line").port, port);
        }
    }

    #[test]
    fn the_last_line_need_not_end() {
        let (hearing, shown, _) = heard(&format!("MOSH CONNECT 7 {KEY}"));
        assert!(hearing.is_ok_and(|hearing| hearing.invitation.is_some()));
        assert!(shown.is_empty());
        assert_eq!(heard("half").1, ["half"]);
    }

    #[test]
    fn a_line_that_is_almost_ours_ends_it() {
        for said in [
            "MOSH CONNECT \n".to_owned(),
            "MOSH CONNECT 60001 short\n".to_owned(),
            format!("MOSH CONNECT 0 {KEY}\n"),
            format!("MOSH CONNECT 65536 {KEY}\n"),
            format!("MOSH CONNECT 60001 {KEY}A\n"),
            format!("MOSH CONNECT 60001 {KEY} x\n"),
            format!("MOSH CONNECT  60001 {KEY}\n"),
            format!("MOSH CONNECT +1 {KEY}\n"),
            format!("MOSH CONNECT 1 {}=\n", &KEY[1..]),
            "MOSH SSH_CONNECTION 1 2 ::1\n".to_owned(),
            "MOSH SSH_CONNECTION 1 2 ::1 3 4\n".to_owned(),
            "MOSH SSH_CONNECTION 1 2 -v 4\n".to_owned(),
            "MOSH IP \n".to_owned(),
            "MOSH IP a b\n".to_owned(),
            "MOSH IP  ::1\n".to_owned(),
            "MOSH IP -v\n".to_owned(),
        ] {
            let (outcome, shown, _) = heard(&said);
            assert!(
                matches!(outcome, Err(Failure::Starter(StarterError::BadLine { .. }))),
                "{said}"
            );
            assert!(shown.is_empty(), "{said}");
        }
    }

    #[test]
    fn an_address_is_told_once_and_not_at_all_if_it_is_known() {
        let (outcome, ..) = heard("MOSH IP ::1\nMOSH IP ::1\n");
        assert!(matches!(
            outcome,
            Err(Failure::Starter(StarterError::SecondAddress))
        ));
        let known = StarterOutput {
            address: Some("192.0.2.7".to_owned()),
            ..StarterOutput::default()
        };
        let (outcome, ..) = heard_from(known, "MOSH IP nonsense\n");
        assert!(matches!(
            outcome,
            Err(Failure::Starter(StarterError::SecondAddress))
        ));
    }

    #[test]
    fn bad_ports_are_noticed_and_shown() {
        let (hearing, shown, _) = heard("mosh-server: Bad UDP port range (9:1)\n");
        assert!(hearing.is_ok_and(|hearing| hearing.ports_are_bad));
        assert_eq!(shown.len(), 1);
        assert!(
            heard("Bad UDP\n")
                .0
                .is_ok_and(|hearing| !hearing.ports_are_bad)
        );
    }

    #[test]
    fn a_long_line_is_shown_in_pieces_and_none_of_them_counts() {
        let limit = usize::try_from(LINE_BYTES_MAX).unwrap();
        let noise = "x".repeat(limit);
        let (hearing, shown, _) = heard(&format!("{noise}MOSH IP ::1\nMOSH IP ::2\n"));
        assert_eq!(shown, [noise.as_str(), "MOSH IP ::1"]);
        assert_eq!(hearing.unwrap_or_default().address.as_deref(), Some("::2"));
        let blanks = " ".repeat(limit);
        let (hearing, ..) = heard(&format!("MOSH IP ::1{blanks}\n"));
        assert!(hearing.is_ok_and(|hearing| hearing.address.is_none()));
    }

    #[test]
    fn any_amount_of_noise_may_come_before() {
        let noise = "noise\n".repeat(200_000);
        let (hearing, shown, _) = heard(&format!("{noise}MOSH IP ::1\n"));
        assert!(hearing.is_ok_and(|hearing| hearing.address.is_some()));
        assert_eq!(shown.len(), 200_000);
    }
}

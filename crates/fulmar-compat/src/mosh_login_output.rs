//! Reads the lines that ssh and the server print: some are for `mosh`, the rest for the user.
//!
//! Source: docs/protocol.md §2.4.

use zeroize::Zeroizing;

use crate::mosh::MoshOptions;
use crate::mosh_login_error::MoshLoginError;

/// The content of the server's line, as it is handed to a client: docs/protocol.md §2.8 has it checked there.
pub struct ServerLine {
    /// Digits.
    pub port: String,
    /// 22 characters.
    pub key: Zeroizing<String>,
}

/// The address to which datagrams go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAddress {
    /// The one that was known here, or that ssh has connected to.
    Reached(String),
    /// The one by which the remote side calls itself.
    Claimed(String),
}

/// The parts that were understood of the lines so far.
pub struct MoshLoginOutput {
    /// Tells if a word is an address in numbers, with a scope that there is here.
    is_address: fn(&str) -> bool,
    /// The address that ssh has connected to; or the one that was known from the start.
    address: Option<String>,
    /// The address at which ssh has arrived, as the remote side tells.
    address_over_there: Option<String>,
    /// The server did not like its ports.
    ports_are_bad: bool,
    server_line: Option<ServerLine>,
}

impl MoshLoginOutput {
    /// Returns the output of a login that has said nothing yet. `address` is the server's, if it is known without
    /// ssh; `is_address` tells if a word is an address in numbers.
    pub fn new(address: Option<String>, is_address: fn(&str) -> bool) -> MoshLoginOutput {
        MoshLoginOutput {
            is_address,
            address,
            address_over_there: None,
            ports_are_bad: false,
            server_line: None,
        }
    }

    /// True once the server's line was there.
    pub fn is_complete(&self) -> bool {
        self.server_line.is_some()
    }

    /// Takes a whole line, without its line end, and returns whether it was for us. After the server's line nothing is
    /// for us any more.
    ///
    /// # Errors
    ///
    /// When the line is like one of ours and is none, or when it tells an address that is known.
    pub fn handle_line(&mut self, line: &[u8]) -> Result<bool, MoshLoginError> {
        // The words of a message of the server's.
        const BAD_PORTS: &[u8] = b"Bad UDP port";
        if let Some(rest) = line.strip_prefix(b"MOSH IP ") {
            if self.address.is_some() {
                return Err(MoshLoginError::SecondAddress);
            }
            let address = self.numeric(text(rest).trim_ascii_end());
            self.address = Some(address.ok_or_else(|| bad_line("MOSH IP"))?);
        } else if line.starts_with(b"MOSH SSH_CONNECTION ") {
            let line = text(line);
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let address = match words.as_slice() {
                [_, _, _, _, server, _] => self.numeric(server),
                _ => None,
            };
            let address = address.ok_or_else(|| bad_line("MOSH SSH_CONNECTION"))?;
            self.address_over_there = Some(address);
        } else if let Some(rest) = line.strip_prefix(b"MOSH CONNECT ") {
            let line = str::from_utf8(rest).ok().and_then(server_line);
            self.server_line = Some(line.ok_or_else(|| bad_line("MOSH CONNECT"))?);
        } else {
            self.ports_are_bad |= line.windows(BAD_PORTS.len()).any(|part| part == BAD_PORTS);
            return Ok(false);
        }
        Ok(true)
    }

    /// Returns an address if it is in numbers. Stock hands any word on to the client, where one with a
    /// dash would be an option.
    fn numeric(&self, word: &str) -> Option<String> {
        (self.is_address)(word).then(|| word.to_owned())
    }

    /// Returns where to go with which key.
    ///
    /// # Errors
    ///
    /// When something of it was not said.
    pub fn conclude(
        self,
        wishes: &MoshOptions,
    ) -> Result<(ServerAddress, ServerLine), MoshLoginError> {
        let host = || wishes.host.clone();
        let has_range = wishes
            .ports
            .as_ref()
            .is_some_and(|ports| ports.contains(':'));
        let server_line = match self.server_line {
            Some(server_line) => server_line,
            None if self.ports_are_bad && has_range => return Err(MoshLoginError::NoPortRanges),
            None => return Err(MoshLoginError::NoServerLine { host: host() }),
        };
        let address = match (self.address, self.address_over_there) {
            (Some(address), _) => ServerAddress::Reached(address),
            (None, Some(address)) => ServerAddress::Claimed(address),
            (None, None) => return Err(MoshLoginError::NoServerAddress { host: host() }),
        };
        Ok((address, server_line))
    }
}

fn server_line(rest: &str) -> Option<ServerLine> {
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

fn bad_line(begins: &'static str) -> MoshLoginError {
    MoshLoginError::BadLine { begins }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::net::IpAddr;

    use fulmar_settings::Environment;

    use super::*;
    use crate::mosh::MoshRequest;

    const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";

    fn output(address: Option<&str>) -> MoshLoginOutput {
        let is_address = |word: &str| word.parse::<IpAddr>().is_ok();
        MoshLoginOutput::new(address.map(str::to_owned), is_address)
    }

    /// Hands lines over, and returns what was understood and the lines that are the user's.
    fn heard_from(
        mut output: MoshLoginOutput,
        said: &str,
    ) -> (Result<MoshLoginOutput, MoshLoginError>, Vec<String>) {
        let mut shown = Vec::new();
        for line in said.lines() {
            match output.handle_line(line.as_bytes()) {
                Ok(true) => {}
                Ok(false) => shown.push(line.to_owned()),
                Err(error) => return (Err(error), shown),
            }
        }
        (Ok(output), shown)
    }

    fn heard(said: &str) -> MoshLoginOutput {
        let (outcome, shown) = heard_from(output(None), said);
        assert_eq!(shown, [""; 0]);
        outcome.unwrap_or_else(|error| panic!("{said}: {error}"))
    }

    fn options(line: &str) -> MoshOptions {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        match MoshRequest::parse(&words, &Environment::default()) {
            Ok(MoshRequest::Session(options)) => *options,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_session_is_understood_and_the_rest_is_shown() {
        let said = format!(
            "hello\n\nMOSH IP 192.0.2.7 \n MOSH IP 1\nMOSH IP\nMOSH SSH_CONNECTION a 1  ::1 2\n\
             MOSH CONNECT 60001 {KEY} \t\n"
        );
        let (output, shown) = heard_from(output(None), &said);
        let output = output.unwrap_or_else(|error| panic!("{error}"));
        assert!(output.is_complete());
        assert_eq!(shown, ["hello", "", " MOSH IP 1", "MOSH IP"]);
        let (address, line) = output
            .conclude(&options("host"))
            .unwrap_or_else(|_| panic!());
        assert_eq!(address, ServerAddress::Reached("192.0.2.7".to_owned()));
        assert_eq!((line.port.as_str(), line.key.as_str()), ("60001", KEY));
    }

    #[test]
    fn what_the_remote_side_calls_itself_counts_if_nobody_knows_better() {
        let said = format!("MOSH SSH_CONNECTION a 1 ::1 2\nMOSH CONNECT 7 {KEY}\n");
        let concluded = heard(&said).conclude(&options("host"));
        let address = concluded.map(|(address, _)| address);
        assert_eq!(address, Ok(ServerAddress::Claimed("::1".to_owned())));
    }

    #[test]
    fn what_was_not_said_is_told() {
        let told = |said: &str, line: &str| {
            let (output, _) = heard_from(output(None), said);
            let concluded = output.and_then(|output| output.conclude(&options(line)));
            concluded.map(|(address, _)| address).unwrap_err()
        };
        let host = || "host".into();
        let connect = format!("MOSH CONNECT 7 {KEY}\n");
        assert_eq!(
            told("", "host"),
            MoshLoginError::NoServerLine { host: host() }
        );
        let no_address = MoshLoginError::NoServerAddress { host: host() };
        assert_eq!(told(&connect, "host"), no_address);
        let bad_ports = "mosh-server: Bad UDP port range (9:1)\n";
        assert_eq!(told(bad_ports, "-p 1:9 host"), MoshLoginError::NoPortRanges);
        let no_line = MoshLoginError::NoServerLine { host: host() };
        assert_eq!(told(bad_ports, "-p 9 host"), no_line);
        assert_eq!(told("Bad UDP\n", "-p 1:9 host"), no_line);
    }

    #[test]
    fn a_port_at_the_limit_is_one() {
        for port in ["1", "65535", "0065535"] {
            let output = heard(&format!("MOSH CONNECT {port} {KEY}\n"));
            assert_eq!(output.server_line.expect("a server's line").port, port);
        }
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
            let (outcome, shown) = heard_from(output(None), &said);
            assert!(
                matches!(outcome, Err(MoshLoginError::BadLine { .. })),
                "{said}"
            );
            assert!(shown.is_empty(), "{said}");
        }
    }

    #[test]
    fn an_address_is_told_once_and_not_at_all_if_it_is_known() {
        let (outcome, _) = heard_from(output(None), "MOSH IP ::1\nMOSH IP ::1\n");
        assert_eq!(outcome.map(drop), Err(MoshLoginError::SecondAddress));
        let (outcome, _) = heard_from(output(Some("192.0.2.7")), "MOSH IP nonsense\n");
        assert_eq!(outcome.map(drop), Err(MoshLoginError::SecondAddress));
    }
}

//! Command lines for which our starter does otherwise than stock's, and why.

use super::fakes::{Case, KEY, SESSION, Status, both};

fn case<'a>(words: &'a [&'a str], said: &'a str) -> Case<'a> {
    Case {
        words,
        said,
        ..Case::default()
    }
}

/// A server could draw, or have the terminal type.
#[test]
fn control_characters_are_spelled_out() {
    let said = format!("wor\x1b[31mld\tx\u{9b}y\r\n{SESSION}");
    let Some([ours, stock]) = both(&case(&["host"], &said)) else {
        return;
    };
    assert_eq!(stock.printed, "wor\x1b[31mld\tx\u{9b}y\r\n");
    assert_eq!(ours.printed, "wor\\u{1b}[31mld\tx\\u{9b}y\n");
    assert_eq!(ours.client, stock.client);
}

/// The client gets the word before its operands end, so one with a dash is an option.
#[test]
fn an_address_that_a_server_names_has_to_be_one() {
    for line in ["MOSH IP -c", "MOSH IP host", "MOSH SSH_CONNECTION a 1 -c 2"] {
        let said = format!("{line}\nMOSH CONNECT 60001 c68K8iLyuCr1oEM7Hszyjg\n");
        let Some([ours, stock]) = both(&case(&["host"], &said)) else {
            return;
        };
        assert!(
            stock.client.is_some() || stock.status == Status::Success,
            "{line}"
        );
        assert!(ours.client.is_none(), "{line}");
        assert_eq!(ours.status, Status::Failure, "{line}");
    }
}

/// The client would refuse it as a word of its command line, which nobody has typed.
#[test]
fn a_port_that_a_server_names_has_to_be_one() {
    for port in ["0", "000", "65536", "99999999", "18446744073709551617"] {
        let said = format!("MOSH IP 192.0.2.7\nMOSH CONNECT {port} {KEY}\n");
        let Some([ours, stock]) = both(&case(&["host"], &said)) else {
            return;
        };
        assert_eq!(stock.status, Status::Client, "{port}");
        assert!(ours.client.is_none() && ours.complained, "{port}");
        assert_eq!(ours.status, Status::Failure, "{port}");
    }
}

/// ssh would take `-oProxyCommand=…` for an option, which runs any command, and older ones put any
/// host into the proxy's command line as it is.
#[test]
fn a_host_is_nothing_that_a_program_could_take_for_something_else() {
    for host in ["-x", "host with blanks", "$(id)", "ada;id@host"] {
        let Some([ours, stock]) = both(&case(&["--", host], SESSION)) else {
            return;
        };
        let ssh = stock.ssh.expect("stock starts ssh");
        assert!(ssh.words.iter().any(|word| word == host), "{host}");
        assert!(ours.ssh.is_none() && ours.complained, "{host}");
        assert_eq!(ours.status, Status::Failure, "{host}");
    }
}

/// A line for ssh that does not end, or begins, is told as such. Stock starts nothing, and blames the
/// proxy.
#[test]
fn a_line_for_ssh_that_makes_no_sense_is_told() {
    for line in ["ssh 'a", "ssh a\\", " ", ""] {
        let Some([ours, stock]) = both(&case(&["--ssh", line, "host"], SESSION)) else {
            return;
        };
        for outcome in [ours, stock] {
            assert!(outcome.ssh.is_none() && outcome.complained, "{line}");
            assert_eq!(outcome.status, Status::Failure, "{line}");
        }
    }
}

/// With `--local` there is no address to be found; stock treats its own line as an attack.
#[test]
fn a_server_here_needs_no_way_to_its_address() {
    let words = &["--local", "--experimental-remote-ip=local", "127.0.0.1"];
    let said = "MOSH CONNECT 60001 c68K8iLyuCr1oEM7Hszyjg\n";
    let Some([ours, stock]) = both(&case(words, said)) else {
        return;
    };
    assert_eq!(stock.status, Status::Failure);
    assert_eq!(ours.status, Status::Client);
}

/// A line break after the number reaches the server's command line as it is.
#[test]
fn a_port_is_nothing_but_digits() {
    let Some([ours, stock]) = both(&case(&["-p", "5\n", "host"], SESSION)) else {
        return;
    };
    assert_eq!(
        (ours.status, stock.status),
        (Status::Failure, Status::Client)
    );
}

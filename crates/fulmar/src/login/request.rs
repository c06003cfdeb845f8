//! Writes the request to the far side: the offer for a server of ours, and the words for stock's.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use fulmar_core::Capabilities;
use fulmar_login::shell_words::{quoted, split};
use fulmar_login::{Bind, Offer, Opening};
use fulmar_settings::{Environment, LoginSettings};
use fulmar_terminal::Size;

/// A terminal that a session is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Its size.
    pub(crate) size: Size,
    /// The number of its colours.
    pub(crate) colors: u32,
}

/// Returns all that is written to the far side, for a session with `command`, or with a shell if
/// that is empty.
pub(crate) fn opening(
    login: &LoginSettings,
    command: Vec<OsString>,
    window: Window,
    environment: &Environment,
) -> Opening {
    let offer = Offer {
        size: Some(window.size),
        colors: Some(window.colors),
        bind: login.bind_server.request(),
        ports: login.port,
        locale: environment.locale(),
        command,
        ..Offer::of(Capabilities::ALL)
    };
    let stock = stock_words(&offer, window.colors);
    Opening {
        start: login.server.as_deref().map(|server| start(server, &stock)),
        // A line holds no line ends. Without it stock's server is not started.
        fallback: (!stock.as_bytes().iter().any(u8::is_ascii_control)).then_some(stock),
        offer,
    }
}

/// Returns the command whose words the user gave, as the far side is to run it.
///
/// Several words are a program and its arguments, each as it is. One word alone in which a shell
/// would find something to do is a line for the user's shell there, as ssh has it.
pub(crate) fn command(words: &[OsString]) -> Vec<OsString> {
    match words {
        [line] if is_for_a_shell(line) => {
            // The shell's own variable, so that any shell can be a login shell.
            let run = "exec \"${SHELL:-/bin/sh}\" -c \"$0\"";
            vec!["sh".into(), "-c".into(), run.into(), line.clone()]
        }
        words => words.to_vec(),
    }
}

fn is_for_a_shell(line: &OsStr) -> bool {
    let means_something =
        |byte: &u8| byte.is_ascii_whitespace() || b"|&;<>()$`\\\"'*?[#~=%!{}".contains(byte);
    line.as_bytes().iter().any(means_something)
}

/// Returns the arguments of a `mosh-server` for the same session, in stock's order, quoted.
///
/// Source: docs/protocol.md §2.3.
fn stock_words(offer: &Offer, colors: u32) -> OsString {
    let mut words: Vec<OsString> = vec!["new".into(), "-c".into(), colors.to_string().into()];
    match &offer.bind {
        None | Some(Bind::SshConnection) => words.push("-s".into()),
        Some(Bind::Any) => {}
        Some(Bind::Address(address)) => words.extend(["-i".into(), address.clone()]),
    }
    if let Some(ports) = offer.ports {
        words.extend(["-p".into(), ports.as_option().into()]);
    }
    for (name, value) in &offer.locale {
        words.extend(["-l".into(), [name.as_os_str(), value].join(OsStr::new("="))]);
    }
    if !offer.command.is_empty() {
        words.push("--".into());
        words.extend(offer.command.iter().cloned());
    }
    let words: Vec<OsString> = words.iter().map(|word| quoted(word)).collect();
    words.join(OsStr::new(" "))
}

/// Returns the line that starts the server which the user has named. One that only names a program
/// gets the words that make it a server.
fn start(server: &str, stock: &OsStr) -> OsString {
    let words = split(OsStr::new(server)).unwrap_or_default();
    let program = words.last().and_then(|word| Path::new(word).file_name());
    let mut line = OsString::from(server);
    match program.and_then(OsStr::to_str) {
        Some("mosh-server") => {
            line.push(" ");
            line.push(stock);
        }
        Some("fulmar") => line.push(" server"),
        _ => {}
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_settings::{BindServer, SettingSources};

    fn made(change: impl FnOnce(&mut LoginSettings), command: &[&str]) -> Opening {
        let environment = [("LC_CTYPE", "C.UTF-8"), ("LANG", "de it's")];
        let environment: Environment = environment.into_iter().collect();
        let sources = SettingSources::stock();
        let settings = sources.layers(&environment, None).settings();
        let mut login = settings.unwrap().login;
        change(&mut login);
        let command = command.iter().map(OsString::from).collect();
        let window = Window {
            size: Size::default(),
            colors: 256,
        };
        opening(&login, command, window, &environment)
    }

    fn fallback(opening: &Opening) -> &str {
        opening.fallback.as_ref().unwrap().to_str().unwrap()
    }

    #[test]
    fn stock_gets_its_words_in_stocks_order() {
        let all = made(
            |login| {
                login.port = fulmar_login::PortRange::parse("60500:60510").ok();
                login.bind_server = BindServer::Address("2001:db8::7".parse().unwrap());
            },
            &["vim", "a b"],
        );
        assert_eq!(
            fallback(&all),
            "'new' '-c' '256' '-i' '2001:db8::7' '-p' '60500:60510' '-l' 'LANG=de it'\\''s' \
             '-l' 'LC_CTYPE=C.UTF-8' '--' 'vim' 'a b'"
        );
        assert_eq!(all.offer.bind, Some(Bind::Address("2001:db8::7".into())));
        let plain = made(|_| {}, &[]);
        assert!(fallback(&plain).starts_with("'new' '-c' '256' '-s' '-l'"));
        assert_eq!((&plain.start, &plain.offer.bind), (&None, &None));
        let any = made(|login| login.bind_server = BindServer::Any, &[]);
        assert!(!fallback(&any).contains("'-s'"));
    }

    #[test]
    fn a_command_with_line_ends_is_for_a_server_of_ours_only() {
        let opening = made(|_| {}, &["sh", "-c", "a\nb"]);
        assert_eq!(opening.fallback, None);
        assert!(opening.block().is_ok());
    }

    #[test]
    fn a_server_that_is_only_named_becomes_one() {
        let start = |server: &str| {
            let opening = made(|login| login.server = Some(server.to_owned()), &[]);
            opening.start.unwrap().into_string().unwrap()
        };
        assert_eq!(start("fulmar server -p 7"), "fulmar server -p 7");
        assert_eq!(
            start("env A=b '/a b/fulmar'"),
            "env A=b '/a b/fulmar' server"
        );
        let stock = start("nice /opt/mosh-server");
        assert!(stock.starts_with("nice /opt/mosh-server 'new' '-c' '256' '-s'"));
    }

    #[test]
    fn one_word_may_be_a_line_for_the_shell() {
        let made = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            command(&words)
        };
        assert_eq!(made(&["vim", "a b", "$x"]), ["vim", "a b", "$x"]);
        assert_eq!(made(&["htop"]), ["htop"]);
        assert_eq!(made(&["/usr/bin/top-2_x"]), ["/usr/bin/top-2_x"]);
        assert!(made(&[]).is_empty());
        assert_eq!(made(&["ls", "--", "-l"]), ["ls", "--", "-l"]);
        for line in [
            "ls | wc",
            "cd /x; make",
            "echo $HOME",
            "~/x",
            "A=b",
            "ls\t-l",
        ] {
            let words = made(&[line]);
            assert_eq!(words.len(), 4, "{line}");
            assert_eq!((&words[0], &words[3]), (&"sh".into(), &line.into()));
        }
    }
}

//! Puts together what a session asks of the remote side: the offer for a server of ours, and the words for stock's.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use fulmar_core::Capabilities;
use fulmar_terminal::Size;

use crate::bootstrap::{BindAddress, BootstrapRequest, Offer};
use crate::ports::PortRange;
use crate::shell_words::{quoted, split};

/// The session that the remote side is asked for.
#[derive(Clone, Debug)]
pub struct SessionRequest<'a> {
    /// A shell command line that starts the server, if the usual one will not do.
    pub server: Option<&'a str>,
    /// The address on which the server listens, if not of its choice.
    pub bind: Option<BindAddress>,
    /// The server's UDP ports, if not of its choice.
    pub ports: Option<PortRange>,
    /// Locale variables.
    pub locale: Vec<(OsString, OsString)>,
    /// The size of the terminal.
    pub size: Size,
    /// The number of its colours, [`DIRECT_COLORS`](crate::DIRECT_COLORS) if it takes any.
    pub colors: u32,
    /// The program and its arguments; the user's shell if empty.
    pub command: Vec<OsString>,
}

impl SessionRequest<'_> {
    /// Returns all that is written to the remote side.
    pub fn bootstrap(self) -> BootstrapRequest {
        let offer = Offer {
            size: Some(self.size),
            colors: Some(self.colors),
            bind: self.bind,
            ports: self.ports,
            locale: self.locale,
            command: self.command,
            ..Offer::of(Capabilities::OFFERED)
        };
        // Stock knows no more.
        let stock = stock_words(&offer, self.colors.min(256));
        BootstrapRequest {
            start: self.server.map(|server| start(server, &stock)),
            // A line holds no line ends. Without it stock's server is not started.
            fallback: (!stock.as_bytes().iter().any(u8::is_ascii_control)).then_some(stock),
            offer,
        }
    }
}

/// Returns the command whose words the user gave, as the remote side is to run it.
///
/// Several words are a program and its arguments, each as it is. One word alone in which a shell
/// would find something to do is a line for the user's shell there, as ssh has it.
pub fn session_command(words: &[OsString]) -> Vec<OsString> {
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
        None | Some(BindAddress::SshConnection) => words.push("-s".into()),
        Some(BindAddress::Any) => {}
        Some(BindAddress::Address(address)) => words.extend(["-i".into(), address.clone()]),
    }
    if let Some(ports) = offer.ports {
        words.extend(["-p".into(), ports.as_option().into()]);
    }
    for (name, value) in in_utf8(&offer.locale) {
        words.extend([
            "-l".into(),
            [name.as_os_str(), &value].join(OsStr::new("=")),
        ]);
    }
    if !offer.command.is_empty() {
        words.push("--".into());
        words.extend(offer.command.iter().cloned());
    }
    let words: Vec<OsString> = words.iter().map(|word| quoted(word)).collect();
    words.join(OsStr::new(" "))
}

/// Returns the same variables with `LC_CTYPE` in UTF-8, if these are of no locale in UTF-8: without one, stock's server does not
/// start. It looks at them only if its own environment has none.
fn in_utf8(locale: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let value_of = |name: &&str| locale.iter().find(|(known, _)| known == *name);
    let deciding = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(value_of);
    let is_utf8 = deciding.is_some_and(|(_, value)| {
        let value = value.to_string_lossy().to_ascii_lowercase();
        value.ends_with("utf-8") || value.ends_with("utf8")
    });
    let mut locale = locale.to_vec();
    if !is_utf8 {
        locale.retain(|(name, _)| name != "LC_ALL" && name != "LC_CTYPE");
        locale.push(("LC_CTYPE".into(), "C.UTF-8".into()));
    }
    locale
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

    fn request_of(server: Option<&str>) -> SessionRequest<'_> {
        let locale = [("LANG", "de it's"), ("LC_CTYPE", "C.UTF-8")];
        SessionRequest {
            server,
            bind: None,
            ports: None,
            locale: locale
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
            size: Size::default(),
            colors: 256,
            command: Vec::new(),
        }
    }

    fn made(change: impl FnOnce(&mut SessionRequest<'_>), command: &[&str]) -> BootstrapRequest {
        let mut request = request_of(None);
        request.command = command.iter().map(OsString::from).collect();
        change(&mut request);
        request.bootstrap()
    }

    fn fallback(request: &BootstrapRequest) -> &str {
        request.fallback.as_ref().unwrap().to_str().unwrap()
    }

    #[test]
    fn stock_gets_a_locale_in_utf_8_also_from_a_user_who_has_none() {
        for (locale, words) in [
            (vec![], "'-s' '-l' 'LC_CTYPE=C.UTF-8'"),
            (vec![("LANG", "C")], "'-l' 'LANG=C' '-l' 'LC_CTYPE=C.UTF-8'"),
            (
                vec![("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")],
                "'-s' '-l' 'LANG=de_DE.UTF-8' '-l' 'LC_CTYPE=C.UTF-8'",
            ),
            (vec![("LANG", "de_DE.utf8")], "'-s' '-l' 'LANG=de_DE.utf8'"),
        ] {
            let pair = |(name, value): (&str, &str)| (name.into(), value.into());
            let locale = locale.into_iter().map(pair).collect();
            let request = made(|request| request.locale = locale, &[]);
            assert!(
                fallback(&request).ends_with(words),
                "{}",
                fallback(&request)
            );
            assert!(
                !request
                    .offer
                    .locale
                    .iter()
                    .any(|(_, value)| value == "C.UTF-8")
            );
        }
    }

    #[test]
    fn stock_gets_its_words_in_stocks_order() {
        let all = made(
            |request| {
                request.ports = PortRange::parse("60500:60510").ok();
                request.bind = Some(BindAddress::Address("2001:db8::7".into()));
            },
            &["vim", "a b"],
        );
        assert_eq!(
            fallback(&all),
            "'new' '-c' '256' '-i' '2001:db8::7' '-p' '60500:60510' '-l' 'LANG=de it'\\''s' \
             '-l' 'LC_CTYPE=C.UTF-8' '--' 'vim' 'a b'"
        );
        assert_eq!(
            all.offer.bind,
            Some(BindAddress::Address("2001:db8::7".into()))
        );
        let plain = made(|_| {}, &[]);
        assert!(fallback(&plain).starts_with("'new' '-c' '256' '-s' '-l'"));
        assert_eq!((&plain.start, &plain.offer.bind), (&None, &None));
        let direct = made(|request| request.colors = crate::DIRECT_COLORS, &[]);
        assert!(fallback(&direct).starts_with("'new' '-c' '256'"));
        assert_eq!(direct.offer.colors, Some(crate::DIRECT_COLORS));
        let any = made(|request| request.bind = Some(BindAddress::Any), &[]);
        assert!(!fallback(&any).contains("'-s'"));
    }

    #[test]
    fn a_command_with_line_ends_is_for_a_server_of_ours_only() {
        let request = made(|_| {}, &["sh", "-c", "a\nb"]);
        assert_eq!(request.fallback, None);
        assert!(request.encode().is_ok());
    }

    #[test]
    fn a_server_that_is_only_named_becomes_one() {
        let start = |server: &str| {
            let request = request_of(Some(server)).bootstrap();
            request.start.unwrap().into_string().unwrap()
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
            session_command(&words)
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

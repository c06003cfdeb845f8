//! The values of settings, and how they are written.
//!
//! A reader returns, instead of a value, how values are written: the end of a sentence about what was there.

use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, Ipv6Addr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use fulmar_base::AddressFamily;
use fulmar_core::{EscapeKey, NotificationForm, Way, WayPreference};
use fulmar_login::{AddressPreference, AddressSource, BindAddress, PortRange, shell_words};
use fulmar_predict::PredictionMode;
use tracing_subscriber::filter::Targets;

/// The address on which a server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindServer {
    /// All addresses if it is ours, and the one at which ssh was reached if it is stock's.
    Auto,
    /// All addresses.
    Any,
    /// The address at which ssh was reached.
    Ssh,
    /// This one.
    Address(IpAddr),
}

impl BindServer {
    /// Returns what a server is asked for; `None` leaves it to the server.
    pub fn request(self) -> Option<BindAddress> {
        match self {
            BindServer::Auto => None,
            BindServer::Any => Some(BindAddress::Any),
            BindServer::Ssh => Some(BindAddress::SshConnection),
            BindServer::Address(address) => Some(BindAddress::Address(address.to_string().into())),
        }
    }
}

/// The choice of sending colours of 24 bits to the user's terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrueColor {
    /// If nothing says that it has none.
    #[default]
    Auto,
    /// Whatever is known of it.
    Always,
    /// They become the nearest of fewer colours.
    Never,
}

/// The choice of drawing a session on the terminal's main screen, so that lines enter its scrollback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scrollback {
    /// If the terminal is one that keeps them well.
    #[default]
    Auto,
    /// Whatever the terminal is.
    On,
    /// Never.
    Off,
}

/// The word that turns off a setting that is otherwise a text.
const NONE: &str = "none";

/// The port of ssh, which nobody means for a session.
const SSH_PORT: &str = "22";

/// The port with which mosh-server has the system choose one, far from those that firewalls let through.
const ANY_PORT: &str = "0";

/// The word that leaves a choice to the program.
const AUTO: &str = "auto";

fn text(text: &OsStr) -> Result<&str, String> {
    text.to_str().ok_or_else(|| "it is not UTF-8".to_owned())
}

/// Finds the value that goes with a word.
fn one_of<T: Copy>(word: &OsStr, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(known, _)| word == *known);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
        format!("it is one of {}", words.join(", "))
    })
}

pub(crate) fn predict(word: &OsStr) -> Result<PredictionMode, String> {
    let choices = [
        ("adaptive", PredictionMode::Adaptive),
        ("always", PredictionMode::Always),
        ("never", PredictionMode::Never),
        ("experimental", PredictionMode::Experimental),
    ];
    one_of(word, &choices)
}

pub(crate) fn true_color(word: &OsStr) -> Result<TrueColor, String> {
    let choices = [
        (AUTO, TrueColor::Auto),
        ("always", TrueColor::Always),
        ("never", TrueColor::Never),
    ];
    one_of(word, &choices)
}

pub(crate) fn notifications(word: &OsStr) -> Result<Option<NotificationForm>, String> {
    let choices = [
        ("off", None),
        ("osc9", Some(NotificationForm::Osc9)),
        ("osc99", Some(NotificationForm::Osc99)),
        ("osc777", Some(NotificationForm::Osc777)),
    ];
    one_of(word, &choices)
}

pub(crate) fn family(word: &OsStr) -> Result<AddressPreference, String> {
    let choices = [
        ("inet", AddressPreference::Only(AddressFamily::Ipv4)),
        ("inet6", AddressPreference::Only(AddressFamily::Ipv6)),
        ("all", AddressPreference::All),
        ("auto", AddressPreference::All),
        (
            "prefer-inet",
            AddressPreference::Prefer(AddressFamily::Ipv4),
        ),
        (
            "prefer-inet6",
            AddressPreference::Prefer(AddressFamily::Ipv6),
        ),
    ];
    // In either case, as stock.
    one_of(&word.to_ascii_lowercase(), &choices)
}

pub(crate) fn remote_ip(word: &OsStr) -> Result<AddressSource, String> {
    let choices = [
        ("proxy", AddressSource::Proxy),
        ("local", AddressSource::Local),
        ("remote", AddressSource::Remote),
    ];
    one_of(word, &choices)
}

pub(crate) fn transport(word: &OsStr) -> Result<WayPreference, String> {
    let choices = [
        ("auto", WayPreference::Auto),
        ("udp", WayPreference::Only(Way::Udp)),
        ("ssh", WayPreference::Only(Way::Ssh)),
    ];
    one_of(word, &choices)
}

pub(crate) fn switch(word: &OsStr) -> Result<bool, String> {
    match word.to_ascii_lowercase().as_bytes() {
        b"true" | b"yes" | b"on" | b"1" => Ok(true),
        b"false" | b"no" | b"off" | b"0" => Ok(false),
        _ => Err("it is true or false".to_owned()),
    }
}

pub(crate) fn scrollback(word: &OsStr) -> Result<Scrollback, String> {
    if word.eq_ignore_ascii_case(AUTO) {
        return Ok(Scrollback::Auto);
    }
    match switch(word) {
        Ok(true) => Ok(Scrollback::On),
        Ok(false) => Ok(Scrollback::Off),
        Err(_) => Err("it is true, false or auto".to_owned()),
    }
}

pub(crate) fn count(number: &OsStr) -> Result<usize, String> {
    let digits = text(number)?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let count = digits.parse().ok().filter(|_| is_number);
    count.ok_or_else(|| "it is a number".to_owned())
}

pub(crate) fn bytes(size: &OsStr) -> Result<usize, String> {
    let size = text(size)?.to_ascii_uppercase();
    let unit = match size.as_bytes().last() {
        Some(b'K') => 1 << 10,
        Some(b'M') => 1 << 20,
        Some(b'G') => 1 << 30,
        _ => 1,
    };
    let digits = size.trim_end_matches(['K', 'M', 'G']);
    let is_one_letter = size.len() - digits.len() <= 1;
    let count = count(OsStr::new(digits)).ok().filter(|_| is_one_letter);
    let bytes = count.and_then(|count| count.checked_mul(unit));
    bytes.ok_or_else(|| "it is a number of bytes, such as 500000 or 64M".to_owned())
}

pub(crate) fn bind_server(word: &OsStr) -> Result<BindServer, String> {
    match word.to_ascii_lowercase().as_bytes() {
        b"auto" => Ok(BindServer::Auto),
        b"any" => Ok(BindServer::Any),
        b"ssh" => Ok(BindServer::Ssh),
        _ => match address(word) {
            Some(address) => Ok(BindServer::Address(address)),
            None => Err("it is auto, any, ssh or a numeric address".to_owned()),
        },
    }
}

/// Reads an address of the server's machine. A scope, after `%`, names an interface there, which nobody can look up
/// here; it is dropped.
fn address(text: &OsStr) -> Option<IpAddr> {
    let text = text.to_str()?;
    match text.split_once('%') {
        None => text.parse().ok(),
        Some((_, "")) => None,
        Some((address, _)) => address.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
    }
}

pub(crate) fn ports(word: &OsStr) -> Result<Option<PortRange>, String> {
    match text(word)? {
        AUTO => Ok(None),
        "" => Err("it is PORT or LOW:HIGH, or auto".to_owned()),
        ANY_PORT => Err(format!(
            "it is PORT or LOW:HIGH; leave it out, or write auto, for the lowest free port of {}",
            PortRange::DEFAULT.as_option()
        )),
        SSH_PORT => Err(
            "it is the server's UDP port; ssh's port is given with -P, or with ssh://host:22"
                .to_owned(),
        ),
        ports => PortRange::parse(ports)
            .map(Some)
            .map_err(|error| error.to_string()),
    }
}

/// Reads words as a shell does, without doing anything else that a shell does.
pub(crate) fn words(line: &OsStr) -> Result<Vec<OsString>, String> {
    let words = shell_words::split(line).map_err(|error| error.to_string())?;
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err("it begins with the name of a program".to_owned()),
    }
}

/// Reads a line for a shell. It travels as a line, so it has to be one.
pub(crate) fn command(line: &OsStr) -> Result<Option<String>, String> {
    match text(line)?.trim() {
        AUTO => Ok(None),
        "" => Err("it is a command, or auto".to_owned()),
        line if line.contains(char::is_control) => {
            Err("a command is one line, without control characters".to_owned())
        }
        line => Ok(Some(line.to_owned())),
    }
}

pub(crate) fn path(path: &OsStr) -> Result<Option<PathBuf>, String> {
    match path {
        path if path == NONE => Ok(None),
        path if path.is_empty() => Err("it is a path, or none".to_owned()),
        path => Ok(Some(path.into())),
    }
}

pub(crate) fn filter(filter: &OsStr) -> Result<Targets, String> {
    let parsed = text(filter)?.parse();
    parsed.map_err(|_| "it reads like info, or fulmar=debug,fulmar_core=trace".to_owned())
}

/// Reads a key: itself, `^` and a character for Ctrl with it, or `none`.
pub(crate) fn escape_key(key: &OsStr) -> Result<EscapeKey, String> {
    let byte = match key.as_bytes() {
        b"" | b"none" => return Ok(EscapeKey::DISABLED),
        [byte] => *byte,
        [b'^', b'?'] => 0x7F,
        [b'^', letter @ (b'@'..=b'_' | b'a'..=b'z')] => letter & 0x1F,
        _ => {
            let how = "it is one character, ^ and a character for Ctrl with it, or none";
            return Err(how.to_owned());
        }
    };
    let key = EscapeKey::from_setting(&[byte]);
    if key == EscapeKey::default() && byte != DEFAULT_ESCAPE_KEY {
        Err("this key is needed for other things, or there is none such".to_owned())
    } else {
        Ok(key)
    }
}

/// Ctrl-^: docs/protocol.md §9.2.
const DEFAULT_ESCAPE_KEY: u8 = 0x1E;

/// Returns in our words which key stock takes a text for.
pub(crate) fn escape_key_of_stock(text: &OsStr) -> String {
    let key = EscapeKey::from_setting(text.as_bytes());
    match (key == EscapeKey::DISABLED, text.as_bytes()) {
        (true, _) => NONE.to_owned(),
        (false, &[byte]) if key != EscapeKey::default() => match byte {
            0x7F => "^?".to_owned(),
            byte if byte.is_ascii_control() => format!("^{}", char::from(byte ^ 0x40)),
            byte => char::from(byte).to_string(),
        },
        _ => "^^".to_owned(),
    }
}

/// Returns a text that stock writes as we do.
pub(crate) fn as_it_is(text: &OsStr) -> String {
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(text: &str) -> &OsStr {
        OsStr::new(text)
    }

    #[test]
    fn words_are_read_as_a_shell_reads_them() {
        let read = words(os(r#"ssh -o "A=b c" -i 'x y' z\ z"#)).unwrap();
        assert_eq!(read, ["ssh", "-o", "A=b c", "-i", "x y", "z z"]);
        for bad in ["", "  ", "ssh 'a", "'' x"] {
            assert!(words(os(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_command_is_one_line() {
        let read = |text| command(os(text));
        assert_eq!(read("auto"), Ok(None));
        let line = "env A='b c' mosh-server";
        assert_eq!(read(line), Ok(Some(line.to_owned())));
        for bad in ["", " ", "a\nb", "a\x1bb", "a\u{9b}b"] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_escape_key_is_written_as_people_write_it() {
        let key = |byte| Ok(EscapeKey::from_setting(&[byte]));
        for (text, wanted) in [
            ("^^", key(0x1E)),
            ("^]", key(0x1D)),
            ("^a", key(1)),
            ("^A", key(1)),
            ("^?", key(0x7F)),
            ("~", key(b'~')),
            ("^", key(b'^')),
            ("\x1d", key(0x1D)),
            ("none", Ok(EscapeKey::DISABLED)),
            ("", Ok(EscapeKey::DISABLED)),
        ] {
            assert_eq!(escape_key(os(text)), wanted, "{text:?}");
        }
        for bad in [
            "^C", "^L", "^D", "^M", "^J", "^@", "\n", "ab", "Ctrl-A", "ü", "^1",
        ] {
            assert!(escape_key(os(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn stocks_key_means_the_same_in_our_words() {
        for byte in 0..=255_u8 {
            let text = OsStr::from_bytes(std::slice::from_ref(&byte));
            let ours = escape_key_of_stock(text);
            let key = escape_key(os(&ours));
            assert_eq!(key, Ok(EscapeKey::from_setting(&[byte])), "{byte} {ours}");
        }
        assert_eq!(escape_key_of_stock(os("")), "none");
        assert_eq!(escape_key_of_stock(os("ab")), "^^");
    }

    #[test]
    fn addresses_and_ports_are_checked() {
        let bind = |text| bind_server(os(text));
        assert_eq!(bind("ANY"), Ok(BindServer::Any));
        assert_eq!(bind("::1"), Ok(BindServer::Address("::1".parse().unwrap())));
        let asked = |text| bind(text).map(BindServer::request);
        assert_eq!(asked("auto"), Ok(None));
        assert_eq!(asked("ssh"), Ok(Some(BindAddress::SshConnection)));
        let address = BindAddress::Address("2001:db8::7".into());
        assert_eq!(asked("2001:DB8:0::7"), Ok(Some(address)));
        let of_link = Ok(BindServer::Address("fe80::1".parse().unwrap()));
        assert_eq!(bind("fe80::1%1"), of_link);
        assert_eq!(bind("fe80::1%an-interface-over-there"), of_link);
        for bad in ["example.org", "fe80::1%", "192.0.2.7%1", "%1"] {
            assert!(bind(bad).is_err(), "{bad}");
        }
        assert_eq!(ports(os("auto")), Ok(None));
        assert_eq!(ports(os("7:9")), Ok(Some(PortRange::parse("7:9").unwrap())));
        assert_eq!(
            ports(os("9:7")).unwrap_err(),
            "the first port is above the last"
        );
        assert!(ports(os("")).is_err());
        assert!(ports(os("22")).unwrap_err().contains("-P"));
        assert!(ports(os("0")).unwrap_err().contains("60001:60999"));
    }

    #[test]
    fn switches_and_words_are_read_in_either_case_where_stock_does() {
        assert_eq!(switch(os("Yes")), Ok(true));
        assert_eq!(switch(os("0")), Ok(false));
        assert!(switch(os("")).is_err());
        assert_eq!(scrollback(os("auto")), Ok(Scrollback::Auto));
        assert_eq!(scrollback(os("no")), Ok(Scrollback::Off));
        assert!(scrollback(os("some")).is_err());
        assert_eq!(
            family(os("INET6")),
            Ok(AddressPreference::Only(AddressFamily::Ipv6))
        );
        assert_eq!(family(os("auto")), Ok(AddressPreference::All));
        assert!(predict(os("Always")).is_err());
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes(os("64M")), Ok(64 << 20));
        assert_eq!(bytes(os("3k")), Ok(3072));
        assert_eq!(bytes(os("0")), Ok(0));
        assert_eq!(count(os("10000")), Ok(10_000));
        for wrong in [
            "",
            "M",
            "1MK",
            "-1",
            "1.5M",
            "99999999999999999999",
            "9999999999999G",
        ] {
            assert!(bytes(os(wrong)).is_err(), "{wrong}");
        }
        assert!(count(os("+1")).is_err());
    }

    #[test]
    fn text_that_is_none_is_refused_where_text_is_needed() {
        let noise = OsStr::from_bytes(b"\xFF");
        assert_eq!(path(noise), Ok(Some(PathBuf::from(noise))));
        assert!(command(noise).is_err() && ports(noise).is_err());
        assert!(predict(noise).is_err() && switch(noise).is_err() && filter(noise).is_err());
    }
}

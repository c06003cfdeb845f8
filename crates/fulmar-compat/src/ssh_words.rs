//! The words with which ssh is called.
//!
//! Source: docs/protocol.md §2.3, §2.4.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use fulmar_login::shell_words::{quoted, split};

use crate::mosh::{MoshOptions, MoshRoute};
use crate::mosh_login_error::MoshLoginError;

/// Returns ssh and all of its words, never none. `host` is as ssh is to have it, `ourselves` are the words that start
/// this program as `mosh`, and `server` is the command line that starts the server.
///
/// # Errors
///
/// When the user's line for ssh is not finished, or begins with no program.
pub fn ssh_words(
    wishes: &MoshOptions,
    host: &OsStr,
    ourselves: &[OsString],
    server: &OsStr,
) -> Result<Vec<OsString>, MoshLoginError> {
    let mut words = split(&wishes.ssh).map_err(MoshLoginError::SshCommand)?;
    if words.is_empty() {
        return Err(MoshLoginError::NoSshCommand);
    }
    words.push("-n".into());
    if wishes.has_tty {
        words.push("-tt".into());
    }
    match wishes.route {
        MoshRoute::Proxy => {
            // A master connection would make none of its own, and our proxy would see no address.
            words.extend(["-S", "none", "-o"].map(OsString::from));
            words.push(proxy_option(ourselves, &wishes.family));
        }
        MoshRoute::SshConnection if wishes.family == "inet" => words.push("-4".into()),
        MoshRoute::SshConnection if wishes.family == "inet6" => words.push("-6".into()),
        MoshRoute::SshConnection | MoshRoute::Resolved | MoshRoute::ThisMachine => {}
    }
    words.extend([host.to_owned(), "--".into(), server.to_owned()]);
    Ok(words)
}

/// Returns the option that makes us ssh's way to the server.
fn proxy_option(ourselves: &[OsString], family: &OsStr) -> OsString {
    let mut wish = OsString::from("--family=");
    wish.push(family);
    let mut option = OsString::from("ProxyCommand=");
    for word in ourselves.iter().chain([&wish]) {
        option.push(without_percent(&quoted(word)));
        option.push(" ");
    }
    option.push("--fake-proxy -- %h %p");
    option
}

/// Doubles percent signs, which mean something to ssh.
fn without_percent(word: &OsStr) -> OsString {
    let mut doubled = Vec::with_capacity(word.len());
    for &byte in word.as_bytes() {
        doubled.extend_from_slice(if byte == b'%' {
            b"%%"
        } else {
            std::slice::from_ref(&byte)
        });
    }
    OsString::from_vec(doubled)
}

#[cfg(test)]
mod tests {
    use fulmar_settings::Environment;

    use super::*;
    use crate::mosh::MoshRequest;

    fn words(line: &str) -> Result<Vec<String>, MoshLoginError> {
        let words: Vec<OsString> = line.split('|').map(OsString::from).collect();
        let Ok(MoshRequest::Session(options)) = MoshRequest::parse(&words, &Environment::default())
        else {
            panic!("{line} is no session")
        };
        let ourselves = ["/a b/100%/fulmar".into(), "mosh".into()];
        let words = ssh_words(
            &options,
            &options.host,
            &ourselves,
            OsStr::new("the server"),
        )?;
        let text = |word: OsString| word.into_string().expect("UTF-8");
        Ok(words.into_iter().map(text).collect())
    }

    #[test]
    fn the_proxy_is_named_so_that_ssh_and_a_shell_read_it_alike() {
        let proxy =
            "ProxyCommand='/a b/100%%/fulmar' 'mosh' '--family=prefer-inet' --fake-proxy -- %h %p";
        let wanted = [
            "ssh", "-n", "-tt", "-S", "none", "-o", proxy, "ada@host", "--",
        ];
        let said = words("ada@host").unwrap();
        assert_eq!(said[..9], wanted);
        assert_eq!(said[9..], ["the server"]);
    }

    #[test]
    fn a_family_is_sshs_matter_where_the_remote_side_tells_its_address() {
        let remote = "--experimental-remote-ip=remote";
        for (line, wanted) in [
            (format!("{remote}|host"), "ssh -n -tt host -- the server"),
            (
                format!("{remote}|-4|host"),
                "ssh -n -tt -4 host -- the server",
            ),
            (
                format!("{remote}|-6|--no-ssh-pty|host"),
                "ssh -n -6 host -- the server",
            ),
            (
                "--experimental-remote-ip=local|-4|host".to_owned(),
                "ssh -n -tt host -- the server",
            ),
            (
                format!("{remote}|--ssh=a 'b c' d|host"),
                "a b c d -n -tt host -- the server",
            ),
        ] {
            assert_eq!(words(&line).unwrap().join(" "), wanted, "{line}");
        }
    }

    #[test]
    fn a_line_for_ssh_has_to_begin_with_a_program() {
        assert_eq!(words("--ssh= |host"), Err(MoshLoginError::NoSshCommand));
        let unfinished = words("--ssh=ssh 'a|host");
        assert!(matches!(unfinished, Err(MoshLoginError::SshCommand(_))));
    }
}

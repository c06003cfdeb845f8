//! The command line that starts the server over there.
//!
//! Source: docs/protocol.md §2.3.

use std::ffi::{OsStr, OsString};

use fulmar_login::shell_words::quoted;
use fulmar_settings::Environment;

use crate::mosh::{MoshBind, MoshOptions, MoshRoute};

/// Says where ssh has come to, in any shell that a user may have there: it is one command with one
/// word in quotes.
const TELL_ADDRESS: &str = "sh -c 'test -z \"$SSH_CONNECTION\" || { echo; echo \"MOSH SSH_CONNECTION $SSH_CONNECTION\"; }' ; ";

/// Returns the command line for a terminal of that many colours, in digits.
pub fn server_command(wishes: &MoshOptions, colors: &str, environment: &Environment) -> OsString {
    let mut line = OsString::new();
    if wishes.route == MoshRoute::SshConnection {
        line.push(TELL_ADDRESS);
    }
    line.push(&wishes.server);
    for word in words(wishes, colors, environment) {
        line.push(" ");
        line.push(quoted(&word));
    }
    line
}

fn words(wishes: &MoshOptions, colors: &str, environment: &Environment) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["new".into(), "-c".into(), colors.into()];
    match (&wishes.bind, wishes.route) {
        (MoshBind::Ssh, MoshRoute::ThisMachine) => words.extend(["-i".into(), wishes.host.clone()]),
        (MoshBind::Ssh, _) => words.push("-s".into()),
        (MoshBind::Any, _) => {}
        (MoshBind::Address(address), _) => words.extend(["-i".into(), address.clone()]),
    }
    if let Some(ports) = &wishes.ports {
        words.extend(["-p".into(), ports.into()]);
    }
    for (name, value) in environment.locale() {
        words.extend(["-l".into(), [name, value].join(OsStr::new("="))]);
    }
    if !wishes.command.is_empty() {
        words.push("--".into());
        words.extend(wishes.command.iter().cloned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mosh::MoshRequest;

    fn command(line: &str, variables: &[(&str, &str)]) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let environment = variables.iter().copied().collect();
        let Ok(MoshRequest::Session(wishes)) = MoshRequest::parse(&words, &environment) else {
            panic!("{line} is no session")
        };
        let command = server_command(&wishes, "256", &environment);
        command.into_string().unwrap()
    }

    #[test]
    fn words_are_in_stocks_order() {
        let variables = [
            ("LC_ALL", ""),
            ("LC_CTYPE", "C.UTF-8"),
            ("LC_FOO", "x"),
            ("LANG", "de"),
        ];
        assert_eq!(
            command("-p 60500:60510 host vim it's", &variables),
            "mosh-server 'new' '-c' '256' '-s' '-p' '60500:60510' '-l' 'LANG=de' \
             '-l' 'LC_CTYPE=C.UTF-8' '-l' 'LC_ALL=' '--' 'vim' 'it'\\''s'"
        );
        assert_eq!(
            command("--server=env$A=b --bind-server=any host", &[]),
            "env$A=b 'new' '-c' '256'"
        );
    }

    #[test]
    fn where_the_server_listens_follows_the_options_and_the_way() {
        for (line, bind) in [
            ("host", " '-s'"),
            ("--bind-server=any host", ""),
            ("--bind-server=::1 host", " '-i' '::1'"),
            ("--local ::2", " '-i' '::2'"),
            ("--local --bind-server=any ::2", ""),
            ("--local --bind-server=::1 ::2", " '-i' '::1'"),
        ] {
            let wanted = format!("mosh-server 'new' '-c' '256'{bind}");
            assert_eq!(command(line, &[]), wanted, "{line}");
        }
    }

    #[test]
    fn the_remote_side_is_asked_for_its_address_in_words_that_all_shells_read_alike() {
        let line = command("--experimental-remote-ip=remote host", &[]);
        let (ask, server) = line.split_once(" ; ").expect("two commands");
        assert!(server.starts_with("mosh-server 'new'"), "{line}");
        let script = ask
            .strip_prefix("sh -c '")
            .and_then(|ask| ask.strip_suffix('\''));
        let script = script.expect("one word in quotes");
        assert!(!script.contains(['\'', '\\', '!', '\n']), "{script}");
    }
}

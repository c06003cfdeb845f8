//! The words after `mosh`, `mosh-server` and `mosh-client`, and the lines that their login reads.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use fulmar_compat::{
    MoshClientRequest, MoshLoginOutput, MoshOptions, MoshRequest, MoshServerRequest,
    server_command, ssh_words,
};
use fulmar_login::shell_words;
use fulmar_settings::Environment;

/// Reads the bytes as words, one a line, of one of the programs; or as the lines of a login.
///
/// # Panics
///
/// Where the server's command line, read by a shell, has other words than were meant.
pub(crate) fn check(bytes: &[u8]) {
    let Some((&kind, rest)) = bytes.split_first() else {
        return;
    };
    let words: Vec<OsString> = rest
        .split(|byte| *byte == b'\n')
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect();
    match kind % 5 {
        0 => mosh(&words, &Environment::default()),
        1 => {
            let variables = [("POSIXLY_CORRECT", "1"), ("LC_ALL", "C.UTF-8")];
            mosh(&words, &variables.into_iter().collect());
        }
        2 => drop(MoshServerRequest::parse(&words)),
        3 => drop(MoshClientRequest::parse(&words)),
        _ => {
            let mut output =
                MoshLoginOutput::new(None, |word| word.parse::<std::net::IpAddr>().is_ok());
            for word in &words {
                if output.handle_line(word.as_bytes()).is_err() {
                    return;
                }
            }
        }
    }
}

fn mosh(words: &[OsString], environment: &Environment) {
    let Ok(MoshRequest::Session(options)) = MoshRequest::parse(words, environment) else {
        return;
    };
    let command = server_command(&options, "256", environment);
    let ourselves = [OsString::from("mosh")];
    let host: &OsStr = &options.host;
    if let Ok(ssh) = ssh_words(&options, host, &ourselves, &command) {
        assert_eq!(ssh.last(), Some(&command));
        assert_eq!(
            ssh[ssh.len() - 3..ssh.len() - 1],
            [options.host.clone(), "--".into()]
        );
    }
    expect_whole(&options, &command);
}

/// Whatever the words hold, a shell over there reads them as they are.
fn expect_whole(options: &MoshOptions, command: &OsStr) {
    if options.server != "mosh-server" || options.command.is_empty() {
        return;
    }
    let Ok(words) = shell_words::split(command) else {
        panic!("no shell reads {command:?}");
    };
    assert!(words.ends_with(&options.command), "{command:?}");
}

//! The errors that follow from a command line of `mosh` and from what ssh prints.

use std::ffi::OsString;

use fulmar_login::shell_words::UnclosedQuote;

use crate::mosh::UsageError;

/// The reason why `mosh` has not found a server to join. Its text says what happened and to whom,
/// [`advice`](MoshLoginError::advice) what to try.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoshLoginError {
    /// The words after `mosh` make no sense.
    #[error("{0}")]
    Usage(UsageError),
    /// The line with which ssh is to begin is not one.
    #[error("the command line for ssh makes no sense: {0}")]
    SshCommand(UnclosedQuote),
    /// The line with which ssh is to begin has no word in it.
    #[error("the command line for ssh is empty")]
    NoSshCommand,
    /// There are addresses of both families, and the user wants to be told.
    #[error("{} has addresses of both IPv4 and IPv6", host.display())]
    MixedFamilies {
        /// As it was named.
        host: OsString,
    },
    /// A line that is for us, but makes no sense. It may have a key in it, so it is not repeated.
    #[error("ssh or the server has printed a line that begins with {begins} and makes no sense")]
    BadLine {
        /// The beginning of the line.
        begins: &'static str,
    },
    /// Somebody besides us has said where the server is.
    #[error("ssh or the server has printed an address, and it was known already")]
    SecondAddress,
    /// ssh has ended, and we do not know where it was.
    #[error("ssh did not say at which address it reached {}", host.display())]
    NoServerAddress {
        /// As the user wrote it.
        host: OsString,
    },
    /// ssh has ended without a word of a server.
    #[error("no server was started on {}", host.display())]
    NoServerLine {
        /// As the user wrote it.
        host: OsString,
    },
    /// The server is too old for a range of ports.
    #[error("the server does not understand a range of ports")]
    NoPortRanges,
}

impl MoshLoginError {
    /// Says what to try next.
    pub fn advice(&self) -> String {
        match self {
            MoshLoginError::Usage(UsageError::NoHost) => {
                "type where to log in, as in mosh ada@example.org; mosh --help lists the options".to_owned()
            }
            MoshLoginError::Usage(_) => "mosh --help lists the options".to_owned(),
            MoshLoginError::SshCommand(_) | MoshLoginError::NoSshCommand => {
                "write it like this: --ssh='ssh -p 2222 -i \"my key\"'".to_owned()
            }
            MoshLoginError::MixedFamilies { .. } => {
                "choose with --family, or with -4 or -6".to_owned()
            }
            MoshLoginError::BadLine { .. } | MoshLoginError::SecondAddress => {
                "something on the other machine imitates a server; look at what ssh prints on its own"
                    .to_owned()
            }
            MoshLoginError::NoServerAddress { .. } => {
                "if ssh cannot connect, it has said why; if it uses no proxy of ours, try \
                 --experimental-remote-ip=remote or local"
                    .to_owned()
            }
            MoshLoginError::NoServerLine { host } => {
                let host = host.display();
                format!(
                    "if ssh works on its own, check that mosh-server or fulmar is installed on {host}, and in \
                     the PATH of a command there, or name it with --server"
                )
            }
            MoshLoginError::NoPortRanges => "give it a single port with -p PORT".to_owned(),
        }
    }
}

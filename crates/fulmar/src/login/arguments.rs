//! The command lines about sessions that are there.

use std::ffi::{OsStr, OsString};

use clap::{ArgAction, Args, ValueHint};
use fulmar_login::SessionName;
use fulmar_settings::FlagSet;

use crate::settings::{ConfigArg, LoginFlags, SshFlags};
use crate::steps::Verbosity;

/// The ways to write each command about sessions.
pub(crate) const ATTACH_USAGE: &str =
    "fulmar attach [OPTIONS] [USER@]HOST [NAME]\n       fulmar attach [OPTIONS] --local [NAME]";
pub(crate) const LS_USAGE: &str =
    "fulmar ls [OPTIONS] [USER@]HOST\n       fulmar ls [OPTIONS] --local";
pub(crate) const KILL_USAGE: &str =
    "fulmar kill [OPTIONS] [USER@]HOST NAME\n       fulmar kill [OPTIONS] --local NAME";
pub(crate) const RENAME_USAGE: &str =
    "fulmar rename [OPTIONS] [USER@]HOST NAME NEW\n       fulmar rename [OPTIONS] --local NAME NEW";

/// The options of a login, by whatever command it is made.
#[derive(Debug, Default, Args)]
pub(crate) struct LoginArgs {
    #[command(flatten)]
    pub(crate) flags: LoginFlags,
    #[command(flatten)]
    pub(crate) ssh: SshFlags,
    /// The user to log in as
    #[arg(
        id = "ssh-user",
        short = 'l',
        value_name = "USER",
        help_heading = "Passed on to ssh"
    )]
    pub(crate) user: Option<OsString>,
    /// Show the steps of the login with their times; for ssh's own messages, use --ssh 'ssh -v'
    #[arg(short = 'v', long, action = ArgAction::Count, help_heading = "Login")]
    pub(crate) verbose: u8,
    #[command(flatten)]
    pub(crate) file: ConfigArg,
}

impl LoginArgs {
    /// Returns the words for ssh.
    pub(crate) fn ssh_words(&self) -> Vec<OsString> {
        let mut words = self.ssh.words();
        if let Some(user) = &self.user {
            words.extend(["-l".into(), user.clone()]);
        }
        words
    }

    /// Returns what was given of the way to a machine, as it is given to us: another command takes the same way.
    pub(crate) fn way_words(&self) -> Vec<OsString> {
        let mut words = self.ssh.own_words();
        if let Some(user) = &self.user {
            words.extend(["-l".into(), user.clone()]);
        }
        for (name, flag) in [("ssh", "--ssh"), ("server", "--server")] {
            if let Some(given) = self.flags.0.find(name) {
                words.extend([flag.into(), given.text.clone()]);
            }
        }
        if let Some(file) = &self.file.path {
            words.extend(["--config".into(), file.into()]);
        }
        words
    }

    /// Returns whether the user is told of the steps of a login.
    pub(crate) fn verbosity(&self) -> Verbosity {
        Verbosity::of_count(self.verbose)
    }

    /// Returns the options `self` with those that were given after them, of which the last counts where there is to be one.
    ///
    /// # Errors
    ///
    /// The flag of `self` that a login does not have.
    pub(crate) fn followed_by(self, later: LoginArgs) -> Result<LoginArgs, String> {
        Ok(LoginArgs {
            flags: LoginFlags(self.flags.0.followed_by(later.flags.0, FlagSet::Login)?),
            ssh: self.ssh.followed_by(later.ssh),
            user: later.user.or(self.user),
            verbose: self.verbose + later.verbose,
            file: ConfigArg {
                path: later.file.path.or(self.file.path),
            },
        })
    }
}

/// The machine with the sessions, and the login there.
#[derive(Debug, Args)]
pub(crate) struct MachineArgs {
    /// The sessions of this machine, without ssh
    #[arg(long, help_heading = "Login")]
    pub(crate) local: bool,
    #[command(flatten)]
    pub(crate) login: LoginArgs,
}

impl MachineArgs {
    /// Splits the operands into the host, which this machine is without, and the rest. `None` if there is no
    /// host, or less or more behind it than `rest`.
    pub(crate) fn split<'w>(
        &self,
        words: &'w [OsString],
        rest: std::ops::RangeInclusive<usize>,
    ) -> Option<(Option<&'w OsStr>, &'w [OsString])> {
        let (host, names) = match words.split_first() {
            _ if self.local => (None, words),
            Some((host, names)) => (Some(host.as_os_str()), names),
            None => return None,
        };
        rest.contains(&names.len()).then_some((host, names))
    }
}

/// Reads the name of a session.
pub(crate) fn session_name(text: &str) -> Result<SessionName, String> {
    SessionName::parse(text).map_err(|error| error.to_string())
}

/// The options of taking a session.
#[derive(Debug, Args)]
#[command(
    override_usage = ATTACH_USAGE,
    after_help = "Without a name it is the only session there, or the one that was left last. Its client before is told, \
                  and ends with status 254."
)]
pub(crate) struct AttachArgs {
    /// Begin a session of that name if there is none
    #[arg(long, help_heading = "Login")]
    pub(crate) or_new: bool,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// The host, and the name of the session
    #[arg(value_name = "HOST", value_hint = ValueHint::Hostname, help_heading = None::<&'static str>)]
    pub(crate) words: Vec<OsString>,
}

/// The options of listing sessions.
#[derive(Debug, Args)]
#[command(override_usage = LS_USAGE)]
pub(crate) struct LsArgs {
    /// Print a JSON array, with times in seconds
    #[arg(long, help_heading = "Login")]
    pub(crate) json: bool,
    /// Only those without a client
    #[arg(long, help_heading = "Login")]
    pub(crate) detached: bool,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// The host
    #[arg(value_name = "HOST", value_hint = ValueHint::Hostname, help_heading = None::<&'static str>)]
    pub(crate) words: Vec<OsString>,
}

/// The options of ending a session.
#[derive(Debug, Args)]
#[command(
    override_usage = KILL_USAGE
)]
pub(crate) struct KillArgs {
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// The host, and the name of the session
    #[arg(value_name = "HOST", value_hint = ValueHint::Hostname, help_heading = None::<&'static str>)]
    pub(crate) words: Vec<OsString>,
}

/// The options of renaming a session.
#[derive(Debug, Args)]
#[command(
    override_usage = RENAME_USAGE
)]
pub(crate) struct RenameArgs {
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// The host, the name of the session, and its new name
    #[arg(value_name = "HOST", value_hint = ValueHint::Hostname, help_heading = None::<&'static str>)]
    pub(crate) words: Vec<OsString>,
}

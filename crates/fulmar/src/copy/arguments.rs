//! The command line of a copy, and that of its remote end.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, ValueHint};
use fulmar_copy::{RateLimit, parse_memory_size};
use fulmar_login::{BindAddress, PortRange};

use crate::server::listen_args::ListenArgs;
use crate::settings::{ConfigArg, CopyFlags, SshFlags};

/// The options of a copy.
#[derive(Debug, Args)]
#[command(
    override_usage = "fulmar cp [OPTIONS] SOURCE... TARGET",
    after_help = "A file on another machine is [USER@]HOST:PATH. An IPv6 address goes in brackets, \
                  and - is standard input or output."
)]
pub(crate) struct CopyArgs {
    #[command(flatten)]
    pub(crate) wishes: CopyOptions,
    #[command(flatten)]
    pub(crate) ssh: SshFlags,
    #[command(flatten)]
    pub(crate) flags: CopyFlags,
    #[command(flatten)]
    pub(crate) file: ConfigArg,
    /// The files to copy, and last the target
    #[arg(required = true, num_args = 2.., value_name = "FILE", value_hint = ValueHint::AnyPath, help_heading = None::<&'static str>)]
    pub(crate) operands: Vec<OsString>,
}

impl CopyArgs {
    /// Returns the same in the letters of scp alone.
    pub(crate) fn expanded(mut self) -> CopyArgs {
        self.wishes.recursive |= self.wishes.archive;
        self.wishes.preserve |= self.wishes.archive;
        self
    }
}

/// The options of a copy.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Copying")]
pub(crate) struct CopyOptions {
    /// Copy folders with everything in them; a target folder that is missing is made
    #[arg(short = 'r', long)]
    pub(crate) recursive: bool,
    /// Keep times and modes
    #[arg(short = 'p', long)]
    pub(crate) preserve: bool,
    /// Show no progress, and no messages except errors
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
    /// Show the steps of the login with their times; for ssh's own messages, use --ssh 'ssh -v'
    #[arg(short = 'v', long, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Limit the rate: in Kbit/s as for scp, or 10M (Mbit/s), 2MB (megabytes per second)
    #[arg(short = 'l', long, value_name = "RATE", value_parser = RateLimit::parse)]
    pub(crate) limit: Option<RateLimit>,
    /// Print what would be copied, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Start from the beginning, even if a copy was interrupted
    #[arg(long)]
    pub(crate) no_resume: bool,
    /// Report what happens on standard output, one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// The same as -rp, as in rsync
    // The manual takes no text from what the short help leaves out, unless it is a long one.
    #[arg(
        short = 'a',
        hide_short_help = true,
        long_help = "The same as -rp, as in rsync"
    )]
    archive: bool,
    /// Accepted because scp and rsync have them, without effect
    #[arg(short = 'C', short_aliases = ['z', 'O', 's', 'T'], hide = true, action = ArgAction::Count)]
    _accepted: u8,
    /// Keep at most this much sent data in memory, such as 64M [default: what the path takes]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory_size)]
    pub(crate) window_max: Option<u64>,
}

/// The options of a copy's remote end, which ssh starts.
#[derive(Debug, Args)]
pub(crate) struct CopyServerArgs {
    #[command(flatten)]
    listen: ListenArgs,
    /// Write a log
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Send no more than this
    #[arg(short = 'l', long, value_name = "RATE", value_parser = RateLimit::parse)]
    pub(crate) limit: Option<RateLimit>,
    /// Leave when so many seconds have passed without the near end
    #[arg(long, value_name = "SECONDS")]
    pub(crate) idle: Option<u64>,
}

impl CopyServerArgs {
    /// Returns where to listen.
    pub(crate) fn bind(&self) -> BindAddress {
        self.listen.bind().unwrap_or(BindAddress::Any)
    }

    /// Returns at which ports.
    pub(crate) fn ports(&self) -> PortRange {
        self.listen.ports.unwrap_or(PortRange::DEFAULT)
    }
}

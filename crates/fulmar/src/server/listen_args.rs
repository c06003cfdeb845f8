//! The options of command lines that say where to listen.

use std::ffi::OsString;

use clap::Args;
use fulmar_login::{BindAddress, PortRange};

/// The address and the ports on which a server listens, or the remote end of a copy.
#[derive(Debug, Args)]
pub(crate) struct ListenArgs {
    /// Listen on the address that ssh reached
    #[arg(short = 's', conflicts_with = "address")]
    ssh: bool,
    /// Listen on this numeric address
    #[arg(short = 'i', value_name = "ADDRESS")]
    address: Option<OsString>,
    /// Listen on this UDP port, or the lowest free one of a range [default: 60001:60999]
    #[arg(short = 'p', value_name = "PORT[:PORT2]", value_parser = PortRange::parse)]
    pub(crate) ports: Option<PortRange>,
}

impl ListenArgs {
    /// Returns the address, if one is asked for.
    pub(crate) fn bind(&self) -> Option<BindAddress> {
        match &self.address {
            Some(address) => Some(BindAddress::Address(address.clone())),
            None => self.ssh.then_some(BindAddress::SshConnection),
        }
    }
}

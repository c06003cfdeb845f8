//! The lookup of a host's addresses while ssh logs in: which ssh it is, what its configuration means for the host, and
//! which addresses the host's name has.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::{AddressFamily, Time};

use crate::candidates::AddressSource;
use crate::ssh::{SshCommand, SshImplementation, SshSettings};

/// The time that a program has to tell its version. One that takes longer is a wrapper that waits for something else.
///
/// Chosen by eye: ssh takes 10 ms.
const VERSION_WITHIN: Duration = Duration::from_secs(2);

/// The most that is read of a query's output. Chosen by eye: `ssh -G` says 10 kB.
const QUERY_BYTES_MAX: usize = 256 * 1024;

/// An order of the lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LookupOrder {
    /// Run this, and hand over what it writes and how it ends.
    QuerySsh(Vec<OsString>),
    /// Nobody waits for that any more.
    EndQuery,
    /// Ask the system for the addresses of this name, in that family if there is one.
    Resolve(OsString, Option<AddressFamily>),
    /// Take note that ssh's configuration is known.
    NoteSettings,
    /// Take note that the addresses are known.
    NoteAddresses,
}

/// A stream that a queried program writes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryStream {
    /// Its standard output.
    Output,
    /// Its standard error.
    Errors,
}

/// The queries, one after the other.
pub(crate) struct HostLookup {
    ssh: Option<SshCommand>,
    source: AddressSource,
    implementation: Option<SshImplementation>,
    is_sure: bool,
    stage: LookupStage,
    version_due: Time,
    /// True while a program is being asked: what comes later belongs to no query.
    is_querying: bool,
    query: QueryOutput,
    orders: VecDeque<LookupOrder>,
}

enum LookupStage {
    /// The release of ssh, or that it is another program.
    Version,
    /// The meaning of its configuration for the host.
    Settings,
    /// The addresses of the name.
    Addresses,
    /// All is known.
    Known(Vec<SocketAddr>),
}

/// The words of a program so far.
#[derive(Default)]
struct QueryOutput {
    output: Vec<u8>,
    errors: Vec<u8>,
}

impl HostLookup {
    /// Begins to ask.
    pub(crate) fn begin(now: Time, ssh: SshCommand, source: AddressSource) -> HostLookup {
        let first = LookupOrder::QuerySsh(ssh.version_query());
        HostLookup {
            ssh: Some(ssh),
            source,
            implementation: None,
            is_sure: true,
            stage: LookupStage::Version,
            version_due: now + VERSION_WITHIN,
            is_querying: false,
            query: QueryOutput::default(),
            orders: VecDeque::from([first]),
        }
    }

    /// Returns one that has nothing to ask.
    pub(crate) fn known(now: Time, addresses: Vec<SocketAddr>) -> HostLookup {
        HostLookup {
            ssh: None,
            source: AddressSource::Local,
            implementation: Some(SshImplementation::LIKELY),
            is_sure: true,
            stage: LookupStage::Known(addresses),
            version_due: now,
            is_querying: false,
            query: QueryOutput::default(),
            orders: VecDeque::new(),
        }
    }

    /// Returns the implementation of ssh, as soon as it is known.
    pub(crate) fn implementation(&self) -> Option<SshImplementation> {
        self.implementation
    }

    /// Tells if it has said so itself.
    pub(crate) fn is_sure(&self) -> bool {
        self.is_sure
    }

    /// Returns the addresses of the host, as soon as they are known; none if there are none.
    pub(crate) fn addresses(&self) -> Option<&[SocketAddr]> {
        match &self.stage {
            LookupStage::Known(addresses) => Some(addresses),
            _ => None,
        }
    }

    /// Returns when a query is given up.
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        matches!(self.stage, LookupStage::Version).then_some(self.version_due)
    }

    /// Returns what is to be done next.
    pub(crate) fn poll_order(&mut self) -> Option<LookupOrder> {
        let order = self.orders.pop_front();
        self.is_querying |= matches!(order, Some(LookupOrder::QuerySsh(_)));
        order
    }

    /// Takes what a program that was asked has written.
    pub(crate) fn handle_query_output(&mut self, stream: QueryStream, bytes: &[u8]) {
        if !self.is_querying {
            return;
        }
        let text = match stream {
            QueryStream::Output => &mut self.query.output,
            QueryStream::Errors => &mut self.query.errors,
        };
        let room = QUERY_BYTES_MAX.saturating_sub(text.len());
        text.extend_from_slice(bytes.get(..bytes.len().min(room)).unwrap_or_default());
        if bytes.len() > room {
            // Somebody who writes without end is no ssh.
            self.orders.push_back(LookupOrder::EndQuery);
            self.handle_query_end(false);
        }
    }

    /// Tells if a program is being asked, and has not written too much.
    pub(crate) fn wants_query_output(&self) -> bool {
        self.is_querying
    }

    /// Takes note that a program that was asked has ended, well or not. All that it wrote was handed over before.
    pub(crate) fn handle_query_end(&mut self, is_success: bool) {
        if !std::mem::take(&mut self.is_querying) {
            return;
        }
        let query = std::mem::take(&mut self.query);
        match self.stage {
            LookupStage::Version => self.conclude_version(query, true),
            LookupStage::Settings => {
                self.orders.push_back(LookupOrder::NoteSettings);
                self.resolve(if is_success {
                    SshSettings::parse(&query.output)
                } else {
                    SshSettings::default()
                });
            }
            LookupStage::Addresses | LookupStage::Known(_) => {}
        }
    }

    /// Takes note that a program cannot be asked.
    pub(crate) fn handle_query_error(&mut self) {
        self.is_querying = false;
        match self.stage {
            LookupStage::Version => {
                self.implementation = Some(SshImplementation::Other);
                self.stage = LookupStage::Known(Vec::new());
            }
            LookupStage::Settings => self.resolve(SshSettings::default()),
            LookupStage::Addresses | LookupStage::Known(_) => {}
        }
    }

    /// Takes the addresses, none if the name has none; `None` if the system cannot be asked.
    pub(crate) fn handle_addresses(&mut self, addresses: Option<Vec<SocketAddr>>) {
        if matches!(self.stage, LookupStage::Addresses) {
            if addresses.is_some() {
                self.orders.push_back(LookupOrder::NoteAddresses);
            }
            self.stage = LookupStage::Known(addresses.unwrap_or_default());
        }
    }

    /// Gives up a query that has taken too long.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if matches!(self.stage, LookupStage::Version) && self.version_due <= now {
            if std::mem::take(&mut self.is_querying) {
                self.orders.push_back(LookupOrder::EndQuery);
            }
            let query = std::mem::take(&mut self.query);
            self.conclude_version(query, false);
        }
    }

    fn conclude_version(&mut self, query: QueryOutput, is_sure: bool) {
        // OpenSSH tells its version on standard error.
        let text = [query.output, query.errors].concat();
        let implementation = SshImplementation::of_version_text(&text);
        self.implementation = Some(implementation);
        self.is_sure = is_sure;
        // With `remote` the remote side names its address (docs/protocol.md §2.4).
        let Some(ssh) = self
            .ssh
            .as_ref()
            .filter(|_| self.source != AddressSource::Remote)
        else {
            self.stage = LookupStage::Known(Vec::new());
            return;
        };
        if implementation.tells_settings() {
            let line = ssh.settings_query(implementation);
            self.stage = LookupStage::Settings;
            self.orders.push_back(LookupOrder::QuerySsh(line));
        } else {
            self.resolve(SshSettings::default());
        }
    }

    /// Asks for the addresses. A host of which ssh says nothing is called as the user calls it.
    fn resolve(&mut self, settings: SshSettings) {
        let Some(ssh) = &self.ssh else { return };
        let as_written = ssh.destination.host();
        let host = settings
            .host_name
            .map_or_else(|| as_written.to_owned(), OsString::from);
        let family = ssh.family.or(settings.family);
        self.stage = LookupStage::Addresses;
        self.orders.push_back(LookupOrder::Resolve(host, family));
    }
}

//! The session's entry in the records of who is logged in.
//!
//! Source: docs/protocol.md §2.6.

use std::ffi::CString;
use std::net::IpAddr;

use fulmar_core::CompatMode;
use fulmar_platform::process::{process_name, set_process_name};
use fulmar_platform::{Master, Utempter};

use crate::process_title::PortUse;

/// Keeps the entry of one terminal. Where the system has no helper for it, only the name of the process tells.
#[derive(Debug)]
pub(crate) struct LoginRecord {
    /// The name of the process while there is a client.
    attached_title: Option<CString>,
    /// Its name while there is none. It tells where there are no login records.
    detached_title: CString,
    helper: Option<Utempter>,
    pid: u32,
    is_present: bool,
}

impl LoginRecord {
    /// Returns the keeper for the server of that process number, which listens on that port.
    pub(crate) fn new(pid: u32, port: u16, compat: CompatMode) -> LoginRecord {
        LoginRecord {
            attached_title: match compat {
                CompatMode::Fulmar => Some(PortUse::Session.process_title(port)),
                // People look for mosh-server.
                CompatMode::Mosh => process_name().ok(),
            },
            detached_title: PortUse::DetachedSession.process_title(port),
            helper: Utempter::find(),
            pid,
            is_present: false,
        }
    }

    /// Says that the client is at that address.
    pub(crate) fn attached(&mut self, terminal: &Master, address: IpAddr) {
        self.name_attached();
        let host = format!("{} via {}", address.to_canonical(), detached_host(self.pid));
        self.record(terminal, &host);
    }

    /// Returns the number of the server's process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Has lists of processes tell that there is a client, or that one is waited for.
    pub(crate) fn name_attached(&self) {
        if let Some(title) = &self.attached_title {
            note("naming the process", set_process_name(title));
        }
    }

    /// Says that no client is there.
    pub(crate) fn detached(&mut self, terminal: &Master) {
        note("naming the process", set_process_name(&self.detached_title));
        let host = detached_host(self.pid);
        self.record(terminal, &host);
    }

    /// Says that the session is over.
    pub(crate) fn remove(&mut self, terminal: &Master) {
        if let Some(helper) = &self.helper
            && self.is_present
        {
            note("removing the login record", helper.remove(terminal));
            self.is_present = false;
        }
    }

    fn record(&mut self, terminal: &Master, host: &str) {
        if let Some(helper) = &self.helper {
            let outcome = helper.add(terminal, host);
            self.is_present |= outcome.is_ok();
            note("writing the login record", outcome);
        }
    }
}

/// Returns the host text of a session without client.
fn detached_host(pid: u32) -> String {
    format!("mosh [{pid}]")
}

/// The records are a courtesy: a system that does not keep them is no reason to complain.
fn note(what: &str, outcome: std::io::Result<()>) {
    if let Err(error) = outcome {
        tracing::debug!(%error, "{what}");
    }
}

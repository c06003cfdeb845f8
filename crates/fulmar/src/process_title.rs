//! The names by which lists of processes know what listens on a UDP port: `fulmar-60001`.
//!
//! Who finds the port taken learns from them by what. The descriptors of a process that leaves no core dump are
//! for nobody else to read, and its name is.

use std::ffi::{CStr, CString};
use std::fmt;

use fulmar_platform::process::own_processes;

/// The use that a process makes of the port on which it listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortUse {
    /// A session.
    Session,
    /// A session without a client.
    DetachedSession,
    /// The far end of a copy.
    Copy,
}

impl PortUse {
    const ALL: [PortUse; 3] = [PortUse::Session, PortUse::DetachedSession, PortUse::Copy];

    /// Returns the beginning of the names. With five digits the longest has the 15 bytes that Linux keeps.
    const fn prefix(self) -> &'static str {
        match self {
            PortUse::Session => "fulmar-",
            PortUse::DetachedSession => "fulmar-d-",
            PortUse::Copy => "fulmar-cp-",
        }
    }

    /// Returns the name of a process that does this on that port.
    pub(crate) fn process_title(self, port: u16) -> CString {
        CString::new(format!("{}{port}", self.prefix())).unwrap_or_default()
    }
}

impl fmt::Display for PortUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PortUse::Session => "a session of yours",
            PortUse::DetachedSession => "a session of yours without a client",
            PortUse::Copy => "a copy of yours",
        })
    }
}

/// A process of this user that listens on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PortHolder {
    /// Its number.
    pub(crate) pid: u32,
    /// Its use of the port.
    pub(crate) port_use: PortUse,
    /// The port.
    pub(crate) port: u16,
}

impl PortHolder {
    /// Returns those that there are now, in the order of their numbers.
    pub(crate) fn all() -> Vec<PortHolder> {
        let processes = own_processes().into_iter();
        let holder = |(pid, title): (u32, CString)| {
            let (port_use, port) = parse(&title)?;
            Some(PortHolder {
                pid,
                port_use,
                port,
            })
        };
        processes.filter_map(holder).collect()
    }

    /// Returns the one on that port.
    pub(crate) fn at(port: u16) -> Option<PortHolder> {
        Self::all().into_iter().find(|holder| holder.port == port)
    }
}

impl fmt::Display for PortHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, process {}", self.port_use, self.pid)
    }
}

fn parse(title: &CStr) -> Option<(PortUse, u16)> {
    let title = title.to_str().ok()?;
    PortUse::ALL.into_iter().find_map(|port_use| {
        let port = title.strip_prefix(port_use.prefix())?.parse().ok()?;
        Some((port_use, port))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_is_called_tells_its_port_and_fits() {
        for port_use in PortUse::ALL {
            let title = port_use.process_title(u16::MAX);
            assert!(title.to_bytes().len() <= 15, "{title:?}");
            assert_eq!(parse(&title), Some((port_use, u16::MAX)));
        }
        for other in [c"fulmar", c"fulmar-", c"fulmar-x-1", c"fulmar-70000"] {
            assert_eq!(parse(other), None, "{other:?}");
        }
    }
}

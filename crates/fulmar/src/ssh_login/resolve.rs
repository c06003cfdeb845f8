//! Asking the system for the addresses of a name, without waiting for it.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use fulmar_base::AddressFamily;
use fulmar_platform::resolve::resolve;

/// A question to the system's resolver, which may take its time. The answer is fetched when the
/// descriptor is readable.
///
/// The system has no question that can be asked without waiting, so a thread asks it. It is done, or
/// forgotten, before a session begins.
#[derive(Debug)]
pub(crate) struct Resolver {
    answer: Receiver<Vec<SocketAddr>>,
    /// The thread's end is closed after the answer was given.
    done: PipeReader,
}

impl Resolver {
    /// Begins to ask for the addresses of `host`, a name or a numeric address with or without zone.
    ///
    /// # Errors
    ///
    /// When the system has no descriptors or no thread left.
    pub(crate) fn ask(host: OsString, family: Option<AddressFamily>) -> io::Result<Resolver> {
        let (done, asking) = io::pipe()?;
        let (give, answer) = channel();
        let ask = move || {
            // The port means nothing here; whoever uses the address has one.
            let found = resolve(&host, OsStr::new("0"), family);
            if let Err(error) = &found {
                tracing::info!(?host, %error, "no address here");
            }
            // Nobody may want to know any more.
            let _ = give.send(found.unwrap_or_default());
            drop(asking);
        };
        thread::Builder::new()
            .name("resolver".to_owned())
            .spawn(ask)?;
        Ok(Resolver { answer, done })
    }

    /// Returns the addresses, none if the name has none; `None` as long as there is no answer.
    pub(crate) fn answer(&self) -> Option<Vec<SocketAddr>> {
        match self.answer.try_recv() {
            Ok(addresses) => Some(addresses),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Vec::new()),
        }
    }
}

impl AsFd for Resolver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.done.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use fulmar_platform::{Interest, wait_for};

    use super::*;

    fn resolved(host: &str) -> Vec<String> {
        let resolver = Resolver::ask(host.into(), None).unwrap();
        wait_for(&resolver, Interest::Read, None).unwrap();
        let addresses = resolver.answer().unwrap();
        addresses.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn numbers_resolve_to_themselves_and_keep_their_zone() {
        assert_eq!(resolved("192.0.2.7"), ["192.0.2.7:0"]);
        assert_eq!(resolved("2001:db8::7"), ["[2001:db8::7]:0"]);
        assert_eq!(resolved("fe80::1%1"), ["[fe80::1%1]:0"]);
    }

    #[test]
    fn what_has_no_address_resolves_to_nothing() {
        // No name: no server is asked.
        assert!(resolved("").is_empty());
        assert!(resolved("fe80::1%no-such-link").is_empty());
        assert!(resolved("a\0b").is_empty());
    }
}

//! Shows what has left the screen in the user's pager, while the session goes on.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Child, Command};

use fulmar_base::Time;
use fulmar_platform::{PrivateFileError, Signal, create_private, signals};

use super::EventLoop;
use crate::environment;

/// The pager of those who have named none.
const USUAL_PAGER: &str = "less -R";

impl EventLoop {
    /// Lends the terminal to the user's pager.
    pub(super) fn open_pager(&mut self, now: Time) {
        if self.pager.is_some() {
            return;
        }
        let Some(text) = self.client.scrollback_text() else {
            return;
        };
        let file = match private_copy(&text) {
            Ok(file) => file,
            Err(error) => return self.client.tell(now, format!("no pager: {error}")),
        };
        self.give_back();
        self.terminal.lend();
        let environment = environment::current();
        let pager = environment.get_filled("PAGER");
        let pager = pager.unwrap_or(OsStr::new(USUAL_PAGER));
        // As other programs do, which let the variable have arguments.
        let begun = Command::new("/bin/sh")
            .arg("-c")
            .arg(pager)
            .stdin(file)
            .spawn();
        match begun {
            Ok(pager) => self.pager = Some(pager),
            Err(error) => {
                self.client.tell(now, format!("no pager: {error}"));
                self.take_back_from_pager(now);
            }
        }
    }

    /// Takes the terminal back as soon as the pager has ended.
    pub(super) fn attend_pager(&mut self, now: Time) {
        let has_ended = |pager: &mut Child| !matches!(pager.try_wait(), Ok(None));
        if self.pager.as_mut().is_some_and(has_ended) {
            self.pager = None;
            self.take_back_from_pager(now);
        }
    }

    /// Waits for the end of the pager when the session is over. If a signal has ended that, the pager is ended, too.
    pub(super) fn end_pager(&mut self, now: Time) {
        let Some(mut pager) = self.pager.take() else {
            return;
        };
        if self.ended_by.is_some() {
            // It may have ended by itself.
            let _ = pager.kill();
        }
        let _ = pager.wait();
        self.take_back_from_pager(now);
        if self.terminal.wants_frame() {
            let client = &mut self.client;
            self.terminal.draw(|out| client.draw(now, out));
        }
    }

    /// Tells if a signal is the pager's affair, which the terminal sends to both.
    pub(super) fn is_for_pager(&mut self, signal: Signal) -> bool {
        if self.pager.is_none() {
            return false;
        }
        match signal {
            Signal::Interrupt | Signal::Quit | Signal::Continue => true,
            Signal::Suspend => signals::stop().is_ok(),
            _ => false,
        }
    }

    fn take_back_from_pager(&mut self, now: Time) {
        if self.terminal.take_back() {
            self.resume(now);
        }
    }
}

/// Returns a file with this text, from its beginning, that nobody else can read and that has no name any more.
fn private_copy(text: &[u8]) -> io::Result<File> {
    let folder = std::env::temp_dir();
    let mut name = [0; 8];
    fulmar_platform::random(&mut name)?;
    let path = folder.join(format!("fulmar-lines-{:016x}", u64::from_le_bytes(name)));
    let mut file = create_private(&path).map_err(reason)?;
    let copied = file.write_all(text).and_then(|()| File::open(&path));
    remove(&path);
    copied
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        tracing::warn!(%error, path = %path.display(), "removing lines for a pager");
    }
}

fn reason(error: PrivateFileError) -> io::Error {
    match error {
        PrivateFileError::System(error) => error,
        PrivateFileError::Unfit(unfit) => io::Error::other(unfit.to_string()),
    }
}

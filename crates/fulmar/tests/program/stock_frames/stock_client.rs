//! Stock's client on a terminal of its own.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use fulmar_platform::{Spawn, WindowSize};
use fulmar_testbed::PtyProgram;

use super::eye::Eye;
use super::libc_widths::LibcWidths;

/// A running `mosh-client`. Dropping it ends it.
pub(crate) struct StockClient {
    program: PtyProgram,
    eye: Eye,
    /// All that it has written.
    written: Vec<u8>,
}

impl StockClient {
    /// Starts a client of the server at a port of this machine.
    pub(crate) fn start(program: &Path, port: u16, key: &str, widths: LibcWidths) -> StockClient {
        let (rows, columns) = (24, 80);
        let mut command = Spawn::new(program);
        command
            .arg("127.0.0.1")
            .arg(port.to_string())
            .env("PATH", "/usr/bin:/bin")
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("MOSH_KEY", key)
            .env("MOSH_PREDICTION_DISPLAY", "never")
            .env("MOSH_TITLE_NOPREFIX", "1");
        let size = WindowSize { rows, columns };
        StockClient {
            program: PtyProgram::start(&command, size).expect("the client starts"),
            eye: Eye::new(rows, columns, widths),
            written: Vec::new(),
        }
    }

    /// Returns the screen that its user sees.
    pub(crate) fn eye(&self) -> &Eye {
        &self.eye
    }

    /// All that it has written.
    pub(crate) fn written(&self) -> &[u8] {
        &self.written
    }

    /// Changes the size of its window.
    pub(crate) fn resize(&mut self, rows: u16, columns: u16) {
        self.eye.resize(rows, columns);
        let size = WindowSize { rows, columns };
        self.program.resize(size).expect("a pty has a size");
    }

    /// Types.
    pub(crate) fn type_keys(&mut self, keys: &[u8]) {
        self.program.type_keys(keys);
        self.program.type_now().expect("a pty can be typed at");
        assert!(!self.program.has_keys(), "a few keys fit");
    }

    /// Reads all that is there.
    pub(crate) fn turn(&mut self) {
        loop {
            let bytes = self.program.transfer().expect("a pty can be read");
            if bytes.is_empty() {
                break;
            }
            self.eye.read(bytes);
            self.written.extend_from_slice(bytes);
        }
        if self.program.is_closed() {
            let said = String::from_utf8_lossy(&self.written);
            panic!("the client has ended: {:?}", said.lines().last());
        }
    }
}

impl AsFd for StockClient {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.program.master().as_fd()
    }
}

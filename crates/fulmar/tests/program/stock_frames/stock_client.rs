//! Stock's client on a terminal of its own.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use fulmar_platform::{Child, Master, Spawn, Transfer, WindowSize, pty};

use super::eye::Eye;
use super::libc_widths::LibcWidths;

/// A running `mosh-client`. Dropping it ends it.
pub(crate) struct StockClient {
    master: Master,
    child: Child,
    eye: Eye,
    /// All that it has written.
    written: Vec<u8>,
}

impl StockClient {
    /// Starts a client of the server at a port of this machine.
    pub(crate) fn start(program: &Path, port: u16, key: &str, widths: LibcWidths) -> StockClient {
        let (rows, columns) = (24, 80);
        let (master, slave) = pty::open(WindowSize { rows, columns }).expect("a pty");
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
        let child = slave.spawn(&command).expect("the client starts");
        StockClient {
            master,
            child,
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
        self.master.resize(size).expect("a pty has a size");
    }

    /// Types.
    pub(crate) fn type_keys(&mut self, keys: &[u8]) {
        let taken = self.master.write(keys).expect("a pty can be typed at");
        assert_eq!(taken, Transfer::Bytes(keys.len()), "a few keys fit");
    }

    /// Reads all that is there.
    pub(crate) fn turn(&mut self) {
        let mut buffer = [0; 16_384];
        loop {
            match self.master.read(&mut buffer).expect("a pty can be read") {
                Transfer::Bytes(length) => {
                    self.eye.read(&buffer[..length]);
                    self.written.extend_from_slice(&buffer[..length]);
                }
                Transfer::WouldBlock => return,
                Transfer::Closed => {
                    let said = String::from_utf8_lossy(&self.written);
                    panic!("the client has ended: {:?}", said.lines().last());
                }
            }
        }
    }
}

impl AsFd for StockClient {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.master.as_fd()
    }
}

impl Drop for StockClient {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.child.kill(&self.master);
        let _ = self.child.wait();
    }
}

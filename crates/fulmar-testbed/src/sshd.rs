//! A real sshd on loopback that lets one key in, as the user who runs the tests.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use fulmar_platform::own_user_id;

use crate::SshFiles;
use crate::peers::require;

/// An sshd on a port of loopback, which lets one key in. It answers connections until it is dropped.
///
/// sshd cannot be told to take any free port, so the port is ours, and an sshd is started for each
/// connection, as inetd does it.
#[derive(Debug)]
pub struct Sshd {
    port: u16,
    files: SshFiles,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Sshd {
    /// Makes keys and configurations in a folder and opens a port; `None` if the calling test is to return.
    ///
    /// # Panics
    ///
    /// When OpenSSH is there and does not work, and where [`require`] does.
    #[track_caller]
    #[must_use]
    pub fn start(folder: &Path) -> Option<Self> {
        let sshd = require("sshd")?;
        require("ssh-keygen")?;
        require("ssh")?;
        make_run_folder();
        let files = SshFiles::make(folder, "", "").expect("keys are made");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("a bound socket").port();
        let is_over = Arc::new(AtomicBool::new(false));
        let config = files.server_config();
        let thread = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || serve(&listener, &is_over, &sshd, &config)
        });
        Some(Self {
            port,
            files,
            is_over,
            thread: Some(thread),
        })
    }

    /// Returns the command that reaches it, but for the host.
    #[must_use]
    pub fn ssh_command(&self) -> String {
        let config = self.files.client_config();
        format!("ssh -F {} -p {}", config.display(), self.port)
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread; if that fails, so has its listener.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// As root, sshd wants a folder that the system's start script makes.
fn make_run_folder() {
    if own_user_id() == 0 {
        std::fs::create_dir_all("/run/sshd").expect("root can make a folder in /run");
    }
}

fn serve(listener: &TcpListener, is_over: &AtomicBool, sshd: &Path, config: &Path) {
    let mut servers: Vec<Child> = Vec::new();
    for connection in listener.incoming() {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let connection = connection.expect("a connection");
        let both_ways = connection.try_clone().expect("a free descriptor");
        let mut command = Command::new(sshd);
        command.arg("-i").arg("-f").arg(config);
        command.stdin(Stdio::from(OwnedFd::from(connection)));
        command.stdout(Stdio::from(OwnedFd::from(both_ways)));
        command.stderr(Stdio::null());
        servers.push(command.spawn().expect("sshd starts"));
    }
    for mut server in servers {
        // It may have ended with its connection.
        let _ = server.kill();
        let _ = server.wait();
    }
}

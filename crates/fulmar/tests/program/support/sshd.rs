//! A real sshd on loopback that lets one key in, as the user who runs the tests.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use super::World;
use fulmar_testbed::peers;

/// Answers connections until it is dropped.
///
/// sshd cannot be told to take any free port, so the port is ours, and an sshd is started for each
/// connection, as inetd does it.
pub(crate) struct Sshd {
    port: u16,
    /// The configuration for ssh to get in.
    client_config: PathBuf,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Sshd {
    /// Makes keys and opens a port; `None` if the calling test is to return.
    #[track_caller]
    pub(crate) fn start(world: &World) -> Option<Self> {
        let sshd = peers::require("sshd")?;
        let keygen = peers::require("ssh-keygen")?;
        peers::require("ssh")?;
        make_run_folder();
        let [host_key, user_key] = ["host_key", "user_key"].map(|name| world.home().join(name));
        for key in [&host_key, &user_key] {
            make_key(world, &keygen, key);
        }
        let server_config = world.write("sshd_config", server_config(&host_key, &user_key));
        let client_config = world.write("ssh_config", client_config(&user_key));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("a bound socket").port();
        let is_over = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || serve(&listener, &is_over, &sshd, &server_config)
        });
        Some(Self {
            port,
            client_config,
            is_over,
            thread: Some(thread),
        })
    }

    /// The command that reaches it.
    pub(crate) fn ssh_command(&self) -> String {
        format!("ssh -F {} -p {}", self.client_config.display(), self.port)
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
    if rustix::process::geteuid().is_root() {
        std::fs::create_dir_all("/run/sshd").expect("root can make a folder in /run");
    }
}

fn make_key(world: &World, keygen: &Path, path: &Path) {
    let mut command = world.command(keygen);
    command
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "a test", "-f"])
        .arg(path);
    assert!(command.status().expect("ssh-keygen starts").success());
}

fn server_config(host_key: &Path, user_key: &Path) -> String {
    // StrictModes would mind that the keys' folder is in /tmp.
    format!(
        "HostKey {}\nAuthorizedKeysFile {}.pub\nStrictModes no\nUsePAM no\nPidFile none\n\
         PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n\
         PrintMotd no\nPrintLastLog no\n",
        host_key.display(),
        user_key.display()
    )
}

fn client_config(user_key: &Path) -> String {
    format!(
        "Host *\nIdentityFile {}\nIdentitiesOnly yes\nBatchMode yes\nStrictHostKeyChecking no\n\
         UserKnownHostsFile /dev/null\nGlobalKnownHostsFile /dev/null\nLogLevel ERROR\n",
        user_key.display()
    )
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

//! The kit of a session on disk, in a folder of its own: keys, configurations, a name for everything.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use fulmar_testbed::peers::find;
use tempfile::TempDir;

use super::programs::{lab, require};
use super::template::{Values, plain};
use crate::scenario::SERVER_IP;

/// The port of the private sshd: the usual one, in a network where there is no other.
pub(super) const PORT: u16 = 22;

/// The source of a file system of the lab's own, as the table of mounts names it.
pub(crate) const MOUNT_SOURCE: &str = "fulmar-lab";

/// The folder where such a file system lies: every Linux has it, and no peer uses it.
pub(crate) const MOUNT_POINT: &str = "/dev/shm";

/// The folder of one session. It goes with this value; in a process namespace with files of its own
/// ([`own_files`]) also when the process is killed.
pub(crate) struct Kit {
    folder: TempDir,
}

impl Kit {
    /// Makes a folder with all that a session of this recording needs.
    ///
    /// # Errors
    ///
    /// Where the disk or ssh-keygen fails.
    pub(crate) fn new(recording: &Path) -> Result<Self> {
        let base = if has_own_files() {
            PathBuf::from(MOUNT_POINT)
        } else {
            std::env::temp_dir()
        };
        let folder = tempfile::Builder::new()
            .prefix("fulmar-lab-")
            .tempdir_in(&base)
            .with_context(|| format!("making a folder in {}", base.display()))?;
        let kit = Self { folder };
        plain(kit.folder.path())?;
        for home in [kit.home(), kit.server_home()] {
            fs::create_dir(home)?;
        }
        // Links, so that no path of the user's has to go through a shell.
        symlink(lab()?, kit.at("lab"))?;
        let recording = fs::canonicalize(recording)
            .with_context(|| format!("looking for {}", recording.display()))?;
        symlink(recording, kit.at("recording"))?;
        kit.make_ssh()?;
        Ok(kit)
    }

    /// Returns what is put into templates.
    ///
    /// # Errors
    ///
    /// Where ssh is missing.
    pub(crate) fn values(&self, fulmar: &Path) -> Result<Values> {
        let text = |name| plain(&self.at(name));
        Ok(Values {
            host: SERVER_IP.to_string(),
            port: PORT,
            command: format!(
                "{} play --log {} {}",
                text("lab")?,
                text("log")?,
                text("recording")?
            ),
            ssh: format!("{} -F {}", plain(&require("ssh")?)?, text("ssh_config")?),
            fulmar: fulmar.to_owned(),
            mosh_server: find("mosh-server"),
        })
    }

    /// The home of the user on the client's host.
    pub(crate) fn home(&self) -> PathBuf {
        self.at("home")
    }

    /// The home of the user on the server's host: what the start-up files of whoever runs the lab take is no part of
    /// what is measured.
    fn server_home(&self) -> PathBuf {
        self.at("server-home")
    }

    /// Returns the file in which the played host notes what it receives and writes.
    pub(crate) fn log(&self) -> PathBuf {
        self.at("log")
    }

    /// Returns the file that tells sshd what to do.
    pub(super) fn sshd_config(&self) -> PathBuf {
        self.at("sshd_config")
    }

    /// Returns the file in which sshd says what is wrong.
    pub(super) fn sshd_errors(&self) -> PathBuf {
        self.at("sshd_errors")
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.at(name);
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    }

    fn make_ssh(&self) -> Result<()> {
        for name in ["host_key", "user_key"] {
            self.make_key(name)?;
        }
        let host_key = fs::read_to_string(self.at("host_key.pub"))?;
        self.write("known_hosts", &format!("{SERVER_IP} {host_key}"))?;
        let path = |name| plain(&self.at(name));
        // The folder's own rights are enough, though it is in one that everybody may write.
        let server = format!(
            "Port {PORT}\nListenAddress {SERVER_IP}\nHostKey {}\nAuthorizedKeysFile {}.pub\n\
             StrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nPermitRootLogin yes\nPrintMotd no\n\
             PrintLastLog no\nUseDNS no\nLoginGraceTime 0\nSetEnv FULMAR_CONFIG=none HOME={}\n\
             Subsystem sftp internal-sftp\n",
            path("host_key")?,
            path("user_key")?,
            path("server-home")?,
        );
        self.write("sshd_config", &server)?;
        let client = format!(
            "Host *\nPort {PORT}\nIdentityFile {}\nIdentitiesOnly yes\nBatchMode yes\n\
             StrictHostKeyChecking yes\nUserKnownHostsFile {}\nGlobalKnownHostsFile /dev/null\n\
             LogLevel ERROR\n",
            path("user_key")?,
            path("known_hosts")?,
        );
        self.write("ssh_config", &client)
    }

    fn make_key(&self, name: &str) -> Result<()> {
        let mut keygen = Command::new(require("ssh-keygen")?);
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", "fulmar-lab", "-f"]);
        keygen.arg(self.at(name)).stdin(Stdio::null());
        let made = keygen.status().context("starting ssh-keygen")?;
        ensure!(made.success(), "ssh-keygen ended with {made}");
        Ok(())
    }
}

/// Gives the process namespace that this process is in a file system of its own for the folders of sessions, so
/// that they are gone with it. Where that is not permitted they lie with other temporary files.
pub(crate) fn own_files() {
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "mode=1777", MOUNT_SOURCE, MOUNT_POINT]);
    mount.stdin(Stdio::null()).stdout(Stdio::null());
    // The next that looks sees whether it worked.
    let _ = mount.stderr(Stdio::null()).status();
}

fn has_own_files() -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let ours = format!("{MOUNT_SOURCE} {MOUNT_POINT} ");
    mounts.lines().any(|mount| mount.starts_with(&ours))
}

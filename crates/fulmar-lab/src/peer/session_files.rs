//! The files of a session, in a folder of its own: keys, configurations, a name for everything.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use fulmar_testbed::SshFiles;
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

/// The home of the user on the server's host: what the start-up files of whoever runs the lab take is no part of
/// what is measured.
const SERVER_HOME: &str = "server-home";

/// The folder of one session. It goes with this value; in a process namespace with files of its own
/// ([`own_files`]) also when the process is killed.
pub(crate) struct SessionFiles {
    folder: TempDir,
    ssh: SshFiles,
}

impl SessionFiles {
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
        let home = plain(&folder.path().join(SERVER_HOME))?;
        let server = format!(
            "Port {PORT}\nListenAddress {SERVER_IP}\nLoginGraceTime 0\nSubsystem sftp internal-sftp\n\
             SetEnv FULMAR_CONFIG=none HOME={home}\n"
        );
        let ssh = SshFiles::make(folder.path(), &server, &format!("Port {PORT}\n"))?;
        let files = Self { folder, ssh };
        for home in [files.home(), files.server_home()] {
            fs::create_dir(home)?;
        }
        // Links, so that no path of the user's has to go through a shell.
        symlink(lab()?, files.at("lab"))?;
        let recording = fs::canonicalize(recording)
            .with_context(|| format!("looking for {}", recording.display()))?;
        symlink(recording, files.at("recording"))?;
        Ok(files)
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
            ssh: format!(
                "{} -F {}",
                plain(&require("ssh")?)?,
                plain(&self.ssh.client_config())?
            ),
            fulmar: fulmar.to_owned(),
            mosh_server: find("mosh-server"),
        })
    }

    /// The home of the user on the client's host.
    pub(crate) fn home(&self) -> PathBuf {
        self.at("home")
    }

    /// The home of the user on the server's host.
    pub(crate) fn server_home(&self) -> PathBuf {
        self.at(SERVER_HOME)
    }

    /// Returns the file in which the played host notes what it receives and writes.
    pub(crate) fn log(&self) -> PathBuf {
        self.at("log")
    }

    /// Returns the file that tells sshd what to do.
    pub(super) fn sshd_config(&self) -> PathBuf {
        self.ssh.server_config()
    }

    /// Returns the file in which sshd says what is wrong.
    pub(super) fn sshd_errors(&self) -> PathBuf {
        self.at("sshd_errors")
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
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

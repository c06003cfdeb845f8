//! Keys and configurations for an sshd and for the ssh that logs in to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::peers::find;

/// Keys and configurations in one folder. They let the user in who runs sshd, by key, and nobody is asked anything.
#[derive(Clone, Debug)]
pub struct SshFiles {
    folder: PathBuf,
}

impl SshFiles {
    /// Makes the files in a folder that is there. `server` and `client` are more lines of the two configurations.
    ///
    /// # Errors
    ///
    /// Where ssh-keygen is not installed or fails, or the folder cannot be written.
    pub fn make(folder: &Path, server: &str, client: &str) -> Result<Self> {
        let files = Self {
            folder: folder.to_owned(),
        };
        make_key(&files.at("host_key"))?;
        make_key(&files.at("user_key"))?;
        let host_key = fs::read_to_string(files.at("host_key.pub"))?;
        files.write("known_hosts", &format!("* {host_key}"))?;
        let folder = folder.display();
        // StrictModes would mind that the folder is in /tmp; its own rights are enough.
        let common = format!(
            "HostKey {folder}/host_key\nAuthorizedKeysFile {folder}/user_key.pub\nStrictModes no\nUsePAM no\n\
             PidFile none\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n\
             PrintMotd no\nPrintLastLog no\nUseDNS no\n"
        );
        files.write("sshd_config", &(common + server))?;
        let common = format!(
            "Host *\nIdentityFile {folder}/user_key\nIdentitiesOnly yes\nBatchMode yes\n\
             StrictHostKeyChecking yes\nUserKnownHostsFile {folder}/known_hosts\n\
             GlobalKnownHostsFile /dev/null\nLogLevel ERROR\n"
        );
        files.write("ssh_config", &(common + client))?;
        Ok(files)
    }

    /// Returns the file for `sshd -f`.
    #[must_use]
    pub fn server_config(&self) -> PathBuf {
        self.at("sshd_config")
    }

    /// Returns the file for `ssh -F`.
    #[must_use]
    pub fn client_config(&self) -> PathBuf {
        self.at("ssh_config")
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.at(name);
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    }
}

/// Makes a pair of keys without a passphrase: `path`, and `path.pub`.
fn make_key(path: &Path) -> Result<()> {
    let mut keygen = Command::new(find("ssh-keygen").context("ssh-keygen is not installed")?);
    keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", "fulmar", "-f"]);
    let made = keygen.arg(path).stdin(Stdio::null()).status();
    let made = made.context("starting ssh-keygen")?;
    ensure!(made.success(), "ssh-keygen ended with {made}");
    Ok(())
}

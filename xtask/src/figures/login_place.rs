//! Prepares logins: keys, configurations, and a user with a prompt of ours.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::workspace;

/// The prompt of the shell there.
pub(super) const PROMPT: &str = "#PROMPT#";

/// A folder with everything. The user is root, who may start an sshd with a prepared account.
pub(super) struct Place {
    folder: PathBuf,
}

impl Place {
    /// Prepares it, with `fulmar` where the account has its own programs.
    ///
    /// # Errors
    ///
    /// When somebody else than root measures, or OpenSSH is missing.
    pub(super) fn prepare(folder: &Path, fulmar: &Path) -> Result<Self> {
        let place = Self {
            folder: folder.join("login"),
        };
        let id = workspace::output_of(Command::new("id").arg("-u"))?;
        if id.trim() != "0" {
            bail!("the figure login needs an sshd of its own, and so root");
        }
        let programs = place.path("home/.local/bin");
        fs::create_dir_all(&programs)?;
        fs::create_dir_all(place.path("near"))?;
        symlink(fulmar, programs.join("fulmar"))?;
        symlink(fulmar, place.path("fulmar"))?;
        for key in ["host_key", "user_key"] {
            let mut generate = Command::new("ssh-keygen");
            generate.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
            workspace::run(generate.arg(place.path(key)))?;
        }
        place.write_configurations()?;
        place.write_account()?;
        Ok(place)
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The command for a shell that becomes the sshd. In it the account has our home and shell.
    pub(super) fn server_command(&self) -> String {
        let folder = self.folder.display();
        format!(
            "exec unshare --mount sh -c 'mount --bind {folder}/passwd /etc/passwd; \
             mkdir -p /run/sshd; exec \"$(command -v sshd || echo /usr/sbin/sshd)\" -D -f \
             {folder}/sshd_config'"
        )
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn write_configurations(&self) -> Result<()> {
        let folder = self.folder.display();
        // StrictModes would mind that the folder is in /tmp.
        let server = format!(
            "HostKey {folder}/host_key\nAuthorizedKeysFile {folder}/user_key.pub\nStrictModes no\n\
             UsePAM no\nPidFile none\nPasswordAuthentication no\nPermitRootLogin yes\nUseDNS no\n\
             KbdInteractiveAuthentication no\nPrintMotd no\nPrintLastLog no\nMaxStartups 100\n"
        );
        fs::write(self.path("sshd_config"), server)?;
        let client = format!(
            "User root\nIdentityFile {folder}/user_key\nIdentitiesOnly yes\nBatchMode yes\n\
             UserKnownHostsFile {folder}/known_hosts\nGlobalKnownHostsFile /dev/null\n\
             LogLevel ERROR\n"
        );
        fs::write(self.path("ssh_config"), client)?;
        let key = fs::read_to_string(self.path("host_key.pub"))?;
        fs::write(self.path("known_hosts"), format!("* {key}"))?;
        Ok(())
    }

    fn write_account(&self) -> Result<()> {
        let home = self.path("home");
        let accounts: String = fs::read_to_string("/etc/passwd")?
            .lines()
            .filter(|line| !line.starts_with("root:"))
            .map(|line| format!("{line}\n"))
            .collect();
        let root = format!("root:x:0:0:root:{}:/bin/sh\n", home.display());
        fs::write(self.path("passwd"), root + &accounts)?;
        fs::write(home.join(".profile"), format!("PS1='{PROMPT} '\n"))?;
        // Otherwise somebody prints a message of the day.
        fs::write(home.join(".hushlogin"), "").context("writing .hushlogin")
    }
}

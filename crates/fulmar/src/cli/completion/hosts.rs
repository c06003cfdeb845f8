//! The hosts that the user's files for ssh name.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use fulmar_login::{SshConfigNames, continuing, known_host_names};
use fulmar_tree::Pattern;

/// The most that is read of a file. Chosen by eye: forty thousand known hosts.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The most configuration files that are read, as they may include each other. Chosen by eye.
const CONFIGS_MAX: usize = 64;

/// The files of known hosts that ssh reads if nothing else is said.
///
/// Source: ssh_config(5), UserKnownHostsFile, GlobalKnownHostsFile.
const KNOWN_HOSTS: [&str; 4] = [
    "~/.ssh/known_hosts",
    "~/.ssh/known_hosts2",
    "/etc/ssh/ssh_known_hosts",
    "/etc/ssh/ssh_known_hosts2",
];

/// Returns the hosts whose names begin so, in order. The words before may name another configuration file for ssh.
pub(super) fn hosts_with_prefix(before: &[OsString], typed: &str) -> BTreeSet<String> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let files = HostFiles {
        home: home.unwrap_or_default(),
    };
    continuing(typed, files.names(&configs(before)))
}

/// Returns the configuration files that ssh begins with.
fn configs(before: &[OsString]) -> Vec<OsString> {
    let named = before.windows(2).rfind(|pair| pair[0] == "-F");
    match named {
        Some(pair) => vec![pair[1].clone()],
        None => vec!["~/.ssh/config".into(), "/etc/ssh/ssh_config".into()],
    }
}

struct HostFiles {
    home: PathBuf,
}

impl HostFiles {
    fn names(&self, configs: &[OsString]) -> Vec<String> {
        let mut names = Vec::new();
        let mut known_hosts: Vec<PathBuf> = KNOWN_HOSTS
            .iter()
            .map(|path| self.at_home(Path::new(path)))
            .collect();
        let mut left: Vec<PathBuf> = configs
            .iter()
            .rev()
            .map(|path| self.at_home(Path::new(path)))
            .collect();
        for _ in 0..CONFIGS_MAX {
            let Some(path) = left.pop() else { break };
            let said = SshConfigNames::parse(&content(&path));
            names.extend(said.hosts);
            let included = said.includes.iter();
            left.extend(included.flat_map(|name| self.included(&path, name)));
            let more = said.known_hosts.iter();
            known_hosts.extend(more.map(|name| self.at_home(Path::new(name))));
        }
        for path in known_hosts {
            names.extend(known_host_names(&content(&path)));
        }
        names
    }

    /// Returns the files that a file includes by a name or a pattern. What is relative is in the user's folder, or in
    /// that of the system if the system's file includes it.
    fn included(&self, by: &Path, name: &str) -> Vec<PathBuf> {
        let folder = if by.starts_with("/etc/ssh") {
            PathBuf::from("/etc/ssh")
        } else {
            self.home.join(".ssh")
        };
        let path = folder.join(self.at_home(Path::new(name)));
        let (Some(folder), Some(last)) = (path.parent(), path.file_name()) else {
            return Vec::new();
        };
        let pattern = Pattern::parse(last.as_encoded_bytes());
        if !pattern.is_wild() {
            return vec![path];
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name());
        let is_meant = |name: &OsString| {
            let bytes = name.as_encoded_bytes();
            !bytes.starts_with(b".") && pattern.matches(bytes)
        };
        names
            .filter(is_meant)
            .map(|name| folder.join(name))
            .collect()
    }

    fn at_home(&self, path: &Path) -> PathBuf {
        match path.strip_prefix("~") {
            Ok(rest) => self.home.join(rest),
            Err(_) => path.to_owned(),
        }
    }
}

/// Returns what a file holds, nothing if it cannot be read or is no file: a pipe would be waited for.
fn content(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if path.metadata().is_ok_and(|metadata| metadata.is_file())
        && let Ok(file) = File::open(path)
    {
        // What was read before an error is as good.
        let _ = file.take(FILE_BYTES_MAX).read_to_end(&mut bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_all_the_files_that_ssh_would_read() {
        let home = tempfile::tempdir().unwrap();
        let ssh = home.path().join(".ssh");
        fs::create_dir_all(ssh.join("conf.d")).unwrap();
        for (name, text) in [
            (
                "config",
                "Host walrus\nInclude conf.d/* ~/.ssh/more\nUserKnownHostsFile ~/.ssh/known\n",
            ),
            ("conf.d/a", "Host seal\nInclude config\n"),
            ("conf.d/.hidden", "Host whale\n"),
            ("more", "Host otter\n"),
            ("known", "penguin ssh-rsa A\n"),
            ("known_hosts", "auk ssh-rsa A\n"),
        ] {
            fs::write(ssh.join(name), text).unwrap();
        }
        let files = HostFiles {
            home: home.path().to_owned(),
        };
        let names: BTreeSet<String> = files.names(&["~/.ssh/config".into()]).into_iter().collect();
        for name in ["walrus", "seal", "otter", "penguin", "auk"] {
            assert!(names.contains(name), "{name} {names:?}");
        }
        assert!(!names.contains("whale"));
    }

    #[test]
    fn another_configuration_of_ssh_counts_if_it_is_named() {
        let words = ["cp", "-F", "x", "a"].map(OsString::from);
        assert_eq!(configs(&words), ["x"]);
        assert_eq!(configs(&[]).len(), 2);
        assert_eq!(configs(&["-F".into()]).len(), 2);
    }
}

//! The names of hosts that the user's files for ssh mention, to complete one that is being typed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::net::IpAddr;

use crate::shell_words::split;
use crate::ssh::Destination;

/// The names in a configuration file of ssh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SshConfigNames {
    /// The names of its `Host` lines, without patterns.
    pub hosts: Vec<String>,
    /// The files that it includes: paths that may begin with `~/`, and patterns.
    pub includes: Vec<String>,
    /// The files of known hosts that it names.
    pub known_hosts: Vec<String>,
}

impl SshConfigNames {
    /// Reads a file as in ssh_config(5). What else it says is ignored.
    pub fn parse(text: &[u8]) -> SshConfigNames {
        let mut names = SshConfigNames::default();
        for line in String::from_utf8_lossy(text).lines() {
            let line = line.trim();
            let Some(end) = line.find(|c: char| c.is_whitespace() || c == '=') else {
                continue;
            };
            let (keyword, values) = line.split_at(end);
            let values = values.trim_start();
            let values = words(values.strip_prefix('=').unwrap_or(values));
            match keyword.to_ascii_lowercase().as_str() {
                "host" => names
                    .hosts
                    .extend(values.into_iter().filter(|name| is_name(name))),
                "include" => names.includes.extend(values),
                "userknownhostsfile" | "globalknownhostsfile" => names.known_hosts.extend(values),
                _ => {}
            }
        }
        names
    }
}

/// Returns the words of a line, up to a comment.
fn words(line: &str) -> Vec<String> {
    let words = split(OsStr::new(line)).unwrap_or_default();
    let words = words.into_iter().filter_map(|word| word.into_string().ok());
    words.take_while(|word| !word.starts_with('#')).collect()
}

/// Returns the names in a file of known hosts. Hashed ones cannot be read.
pub fn known_host_names(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let lists = text.lines().filter_map(|line| match line.trim_start() {
        line if line.starts_with(['#', '@', '|']) => None,
        line => line.split_whitespace().next(),
    });
    let names = lists.flat_map(|list| list.split(',')).map(without_port);
    names
        .filter(|name| is_name(name))
        .map(str::to_owned)
        .collect()
}

/// Returns the host of `[host]:port`.
fn without_port(name: &str) -> &str {
    let inner = name.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    inner.map_or(name, |(host, _)| host)
}

/// True for a host's name or address, as opposed to a pattern.
fn is_name(word: &str) -> bool {
    !word.contains(['*', '?', '!', '|', '@', '%', '/'])
        && Destination::parse(OsStr::new(word)).is_ok()
}

/// Returns which of the names continue what was typed, each once, in order. Numeric addresses are left out until
/// somebody begins to type one.
pub fn continuing(typed: &str, names: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    let is_wanted = |name: &String| {
        name.starts_with(typed) && (!typed.is_empty() || name.parse::<IpAddr>().is_err())
    };
    names.into_iter().filter(is_wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_names_hosts_and_other_files() {
        let names = SshConfigNames::parse(
            b"# Host remark\nHost walrus seal.example.org *.example.com !bad # and so on\n\
              \thostname elsewhere\nHOST=\"otter\"\nHost penguin? -x $(x)\n\
              Include conf.d/* ~/.ssh/more\nUserKnownHostsFile ~/.ssh/known /dev/null\nMatch host a\n\xff\n",
        );
        assert_eq!(names.hosts, ["walrus", "seal.example.org", "otter"]);
        assert_eq!(names.includes, ["conf.d/*", "~/.ssh/more"]);
        assert_eq!(names.known_hosts, ["~/.ssh/known", "/dev/null"]);
    }

    #[test]
    fn of_known_hosts_those_are_read_that_are_not_hashed() {
        let names = known_host_names(
            b"# remark\nwalrus,192.0.2.7 ssh-ed25519 AAAA\n[seal]:2222 ssh-rsa AAAA\n\
              |1|abc=|def= ssh-rsa AAAA\n@cert-authority *.example.org ssh-rsa AAAA\n\
              *.example.org ssh-rsa AAAA\n[2001:db8::7]:22 x\n\na\x1bb ssh-rsa A\n",
        );
        assert_eq!(names, ["walrus", "192.0.2.7", "seal", "2001:db8::7"]);
    }

    #[test]
    fn names_are_offered_once_and_addresses_to_whoever_types_one() {
        let names = || ["walrus", "192.0.2.7", "seal", "walrus"].map(str::to_owned);
        assert!(continuing("", names()).iter().eq(["seal", "walrus"]));
        assert!(continuing("w", names()).iter().eq(["walrus"]));
        assert!(continuing("19", names()).iter().eq(["192.0.2.7"]));
        assert!(continuing("x", names()).is_empty());
    }
}

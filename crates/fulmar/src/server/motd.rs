//! The text before a login shell: the message of the day, and a word on sessions left behind.
//!
//! Source: docs/protocol.md §2.6.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use fulmar_core::CompatMode;
use fulmar_login::SessionInfo;
use fulmar_platform::process::may_signal;
use fulmar_platform::utmp::{LoginEntry, UTMP_PATH, list_utmp_user_processes};

use crate::process_title::{PortHolder, PortUse};

/// The most of one file that is shown. Chosen by eye: some hundred full rows.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Returns what to show before the first prompt, in the form that a terminal wants. This
/// session is that of the process `own`; others that have no client and can be taken are `detached`.
pub(crate) fn greeting(
    home: Option<&Path>,
    user: &str,
    own: u32,
    detached: &[SessionInfo],
    compat: CompatMode,
) -> Vec<u8> {
    let is_hushed = home.is_some_and(|home| home.join(".hushlogin").symlink_metadata().is_ok());
    if is_hushed {
        return Vec::new();
    }
    let mut text = read("/run/motd.dynamic")
        .or_else(|| read("/var/run/motd.dynamic"))
        .unwrap_or_default();
    text.extend(read("/etc/motd").unwrap_or_default());
    let mut shown = with_carriage_returns(&text);
    let records = list_utmp_user_processes(Path::new(UTMP_PATH)).unwrap_or_default();
    // A server that was killed has left its record.
    let is_terminal = |line: &str| Path::new("/dev").join(line).exists();
    let mut left = left_behind(&records, user, is_terminal, may_signal);
    // Where there are no login records, or nobody may write them.
    let holders = PortHolder::all().into_iter();
    let holders = holders.filter(|holder| holder.port_use == PortUse::DetachedSession);
    left.extend(holders.map(|holder| holder.pid));
    left.remove(&own);
    left.retain(|pid| detached.iter().all(|session| session.pid != *pid));
    shown.extend(offer(detached).into_bytes());
    shown.extend(notice(&left, compat).into_bytes());
    shown
}

fn read(path: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes))
        .ok()?;
    Some(bytes)
}

/// The text does not pass a pty, which would do this.
fn with_carriage_returns(text: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(text.len() + 64);
    for &byte in text {
        if byte == b'\n' {
            lines.push(b'\r');
        }
        lines.push(byte);
    }
    lines
}

/// Returns the processes of this user's sessions whose client is away, by the records.
fn left_behind(
    records: &[LoginEntry],
    user: &str,
    is_terminal: impl Fn(&str) -> bool,
    is_running: impl Fn(u32) -> bool,
) -> BTreeSet<u32> {
    records
        .iter()
        .filter(|record| record.user == user)
        .filter(|record| record.host.starts_with("mosh "))
        .filter(|record| is_terminal(&record.line))
        .filter_map(|record| server_pid(&record.host))
        .filter(|pid| is_running(*pid))
        .collect()
}

/// Returns the line about sessions that can be taken.
fn offer(detached: &[SessionInfo]) -> String {
    let names: Vec<&str> = detached
        .iter()
        .map(|session| session.name.as_str())
        .collect();
    let what = match names.as_slice() {
        [] => return String::new(),
        [_] => "a session waits",
        _ => "sessions wait",
    };
    let names = names.join(", ");
    format!("\x1b[37;44mfulmar: {what} here: {names} (fulmar attach, ls, kill)\x1b[m\r\n\r\n")
}

fn notice(left: &BTreeSet<u32>, compat: CompatMode) -> String {
    let program = compat.program();
    let name = |pid: &u32| match compat {
        CompatMode::Fulmar => format!("process {pid}"),
        CompatMode::Mosh => format!("mosh [{pid}]"),
    };
    let names: Vec<String> = left.iter().map(name).collect();
    let ending = left
        .iter()
        .fold("kill".to_owned(), |line, pid| format!("{line} {pid}"));
    let body = match names.as_slice() {
        [] => return String::new(),
        [one] => format!(
            "{program}: a session of yours is running here without a client ({one}).\r\nTo end it: {ending}"
        ),
        several => {
            let count = several.len();
            let list = several.join("\r\n  ");
            format!(
                "{program}: {count} sessions of yours are running here without a client:\r\n  {list}\r\n\
                 To end all of them: {ending}"
            )
        }
    };
    format!("\x1b[37;44m{body}\x1b[m\r\n\r\n")
}

/// Returns the number of the server in the host text of a session: `mosh [11]`.
fn server_pid(host: &str) -> Option<u32> {
    let pid = host.strip_suffix(']')?.rsplit_once('[')?.1;
    let is_number = pid.bytes().all(|byte| byte.is_ascii_digit());
    pid.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(user: &str, line: &str, host: &str) -> LoginEntry {
        LoginEntry {
            pid: 1,
            line: line.to_owned(),
            user: user.to_owned(),
            host: host.to_owned(),
        }
    }

    #[test]
    fn only_this_users_detached_sessions_that_run_are_left_behind() {
        let records = [
            record("ada", "pts/1", "mosh [11]"),
            record("ada", "pts/2", "192.0.2.7 via mosh [12]"),
            record("bob", "pts/3", "mosh [13]"),
            record("ada", "pts/4", "mosh [14]"),
            record("ada", "pts/5", "mosh [15]"),
            record("ada", "pts/6", "192.0.2.7"),
            record("ada", "pts/7", "mosh [16]"),
        ];
        let is_terminal = |line: &str| line != "pts/4";
        let left = left_behind(&records, "ada", is_terminal, |pid| pid != 16);
        assert_eq!(left, BTreeSet::from([11, 15]));
    }

    #[test]
    fn one_session_is_named_and_several_are_listed() {
        assert_eq!(notice(&BTreeSet::new(), CompatMode::Fulmar), "");
        let one = notice(&BTreeSet::from([1]), CompatMode::Fulmar);
        assert!(
            one.starts_with("\x1b[37;44mfulmar: ")
                && one.contains("(process 1).\r\nTo end it: kill 1\x1b[m"),
            "{one}"
        );
        let two = notice(&BTreeSet::from([1, 2]), CompatMode::Mosh);
        assert!(two.starts_with("\x1b[37;44mmosh: 2 sessions"), "{two}");
        assert!(
            two.contains("\r\n  mosh [1]\r\n  mosh [2]\r\nTo end all of them: kill 1 2\x1b[m\r\n"),
            "{two}"
        );
    }

    #[test]
    fn sessions_that_can_be_taken_are_named_in_one_line() {
        let session =
            |name: &str| SessionInfo::parse(&format!("name={name} pid=1 age=1 away=1")).unwrap();
        assert_eq!(offer(&[]), "");
        let one = offer(&[session("work")]);
        assert!(
            one.contains("a session waits here: work (fulmar attach"),
            "{one}"
        );
        let two = offer(&[session("work"), session("far-1")]);
        assert!(two.contains("sessions wait here: work, far-1 ("), "{two}");
        assert_eq!(two.matches('\n').count(), 2);
    }

    #[test]
    fn lines_begin_at_the_left() {
        assert_eq!(with_carriage_returns(b"a\n\nb"), b"a\r\n\r\nb");
    }
}

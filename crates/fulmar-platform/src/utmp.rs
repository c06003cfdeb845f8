//! The records of who is logged in (`/run/utmp`).

use std::io::{self, Read};
use std::path::Path;

/// The path at which Linux systems keep the records, if they do.
pub const UTMP_PATH: &str = "/run/utmp";

/// One terminal that somebody is logged in on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginEntry {
    /// The process that the record belongs to.
    pub pid: u32,
    /// The terminal, without `/dev/`, such as `pts/3`.
    pub line: String,
    /// The login name.
    pub user: String,
    /// The host that the user came from, or whatever the program wrote there.
    pub host: String,
}

// `struct utmp` of the GNU C library, which is also how musl programs find the file on a GNU
// system. Times are 4 bytes where 32-bit programs of the same processor share the file.
//
//   0        4     8           40   44          76           332   336
//   | type   | pid | line (32) | id | user (32) | host (256) | exit | session, time, address ...
const KIND_AT: usize = 0;
const PID_AT: usize = 4;
const LINE: std::ops::Range<usize> = 8..40;
const USER: std::ops::Range<usize> = 44..76;
const HOST: std::ops::Range<usize> = 76..332;
/// Bytes of a record. Source: utmp(5).
const RECORD_BYTES: usize = if cfg!(any(
    target_arch = "aarch64",
    target_arch = "loongarch64",
    target_arch = "s390x"
)) {
    400
} else {
    384
};

/// `USER_PROCESS`: the other kinds are of boot, run level, and logins that ended.
const USER_PROCESS: i16 = 7;

/// The most that is read: 4096 records, far beyond the terminals of any machine.
///
/// Chosen by eye.
const FILE_BYTES_MAX: u64 = 4096 * RECORD_BYTES as u64;

/// Returns the records of users who are logged in, in the order of the file. A system without the
/// file has none.
///
/// # Errors
///
/// When the file is there and cannot be read.
pub fn list_utmp_user_processes(path: &Path) -> io::Result<Vec<LoginEntry>> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes
        .as_chunks::<RECORD_BYTES>()
        .0
        .iter()
        .filter_map(entry)
        .collect())
}

fn entry(record: &[u8; RECORD_BYTES]) -> Option<LoginEntry> {
    let kind = i16::from_ne_bytes(*record[KIND_AT..].first_chunk()?);
    let pid = i32::from_ne_bytes(*record[PID_AT..].first_chunk()?);
    (kind == USER_PROCESS).then_some(LoginEntry {
        pid: u32::try_from(pid).ok()?,
        line: text(&record[LINE]),
        user: text(&record[USER]),
        host: text(&record[HOST]),
    })
}

/// A field ends at its first zero byte, or without one where it is full.
fn text(field: &[u8]) -> String {
    let text = field.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn record(kind: i16, pid: i32, line: &[u8], user: &[u8], host: &[u8]) -> Vec<u8> {
        let mut record = vec![0; RECORD_BYTES];
        record[KIND_AT..][..2].copy_from_slice(&kind.to_ne_bytes());
        record[PID_AT..][..4].copy_from_slice(&pid.to_ne_bytes());
        record[LINE][..line.len()].copy_from_slice(line);
        record[USER][..user.len()].copy_from_slice(user);
        record[HOST][..host.len()].copy_from_slice(host);
        record
    }

    fn entries_of(bytes: &[u8]) -> Vec<LoginEntry> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        list_utmp_user_processes(file.path()).unwrap()
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn the_record_is_that_of_the_c_library() {
        use std::mem::offset_of;
        assert_eq!(size_of::<libc::utmpx>(), RECORD_BYTES);
        assert_eq!(offset_of!(libc::utmpx, ut_pid), PID_AT);
        assert_eq!(offset_of!(libc::utmpx, ut_line), LINE.start);
        assert_eq!(offset_of!(libc::utmpx, ut_user), USER.start);
        assert_eq!(offset_of!(libc::utmpx, ut_host), HOST.start);
        assert_eq!(offset_of!(libc::utmpx, ut_exit), HOST.end);
        assert_eq!(libc::USER_PROCESS, USER_PROCESS);
    }

    #[test]
    fn only_users_who_are_logged_in_are_listed() {
        let file = [
            record(2, 0, b"~", b"reboot", b"6.1"),
            record(7, 4711, b"pts/3", b"ada", b"192.0.2.7 via mosh [4711]"),
            record(8, 4712, b"pts/4", b"", b""),
            record(7, 4713, b"pts/5", b"bob", b"mosh [4713]"),
        ]
        .concat();
        let entries = entries_of(&file);
        assert_eq!(entries.len(), 2);
        assert_eq!(
            entries[0],
            LoginEntry {
                pid: 4711,
                line: "pts/3".into(),
                user: "ada".into(),
                host: "192.0.2.7 via mosh [4711]".into(),
            }
        );
        assert_eq!(entries[1].host, "mosh [4713]");
    }

    #[test]
    fn full_fields_and_bad_text_are_read_to_their_ends() {
        let entries = entries_of(&record(7, 1, &[b'l'; 32], &[0xff, b'u'], &[b'h'; 256]));
        assert_eq!(entries[0].line, "l".repeat(32));
        assert_eq!(entries[0].user, "\u{fffd}u");
        assert_eq!(entries[0].host, "h".repeat(256));
    }

    #[test]
    fn a_record_cut_short_or_of_no_process_is_left_out() {
        let mut file = record(7, -1, b"pts/1", b"ada", b"");
        file.extend(record(7, 1, b"pts/2", b"ada", b""));
        file.truncate(2 * RECORD_BYTES - 1);
        assert_eq!(entries_of(&file), []);
    }

    #[test]
    fn a_system_without_the_file_has_no_records() {
        let nowhere = tempfile::tempdir().unwrap();
        assert_eq!(
            list_utmp_user_processes(&nowhere.path().join("utmp")).unwrap(),
            []
        );
        assert!(
            list_utmp_user_processes(nowhere.path()).is_err(),
            "a folder is no such file"
        );
    }
}

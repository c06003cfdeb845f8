//! The user's entry in the password database.

use std::ffi::{CStr, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A user, as the password database has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The login name.
    pub name: String,
    /// The home directory.
    pub home: PathBuf,
    /// The login shell; empty where the database leaves it to the system.
    pub shell: PathBuf,
}

/// The entry must fit into this many bytes: 64 times what the C library suggests at most.
///
/// Chosen by eye.
const ENTRY_MAX: usize = 1 << 20;

impl User {
    /// Returns the entry of the user who runs this process, or `None` if there is none.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn current() -> io::Result<Option<Self>> {
        Self::of_id(own_user_id())
    }

    fn of_id(id: libc::uid_t) -> io::Result<Option<Self>> {
        let mut strings = vec![0_u8; 1024];
        loop {
            match lookup(id, &mut strings) {
                Err(error) if error.raw_os_error() == Some(libc::ERANGE) => {
                    if strings.len() >= ENTRY_MAX {
                        return Err(error);
                    }
                    let longer = strings.len() * 4;
                    strings.resize(longer, 0);
                }
                outcome => return outcome,
            }
        }
    }
}

/// Returns the number of the user who runs this process: the real one.
pub fn own_user_id() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Looks a user up, with room in `strings` for what the entry points to.
fn lookup(id: libc::uid_t, strings: &mut [u8]) -> io::Result<Option<User>> {
    let mut entry = MaybeUninit::<libc::passwd>::uninit();
    let mut found = std::ptr::null_mut();
    // SAFETY: all pointers are to live memory of the lengths given, and nothing is kept.
    let status = unsafe {
        libc::getpwuid_r(
            id,
            entry.as_mut_ptr(),
            strings.as_mut_ptr().cast(),
            strings.len(),
            &raw mut found,
        )
    };
    match status {
        0 if found.is_null() => Ok(None),
        // SAFETY: with a result the entry is filled in, and its strings lie in `strings`.
        0 => Ok(Some(unsafe { copy_of(entry.assume_init_ref()) })),
        // Some databases say "no such thing" for "no such user".
        libc::ENOENT | libc::ESRCH => Ok(None),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// # Safety
///
/// The pointers of the entry must be null or to strings that end with a zero byte.
unsafe fn copy_of(entry: &libc::passwd) -> User {
    let bytes = |text: *const libc::c_char| {
        if text.is_null() {
            return &[][..];
        }
        // SAFETY: not null, so the caller vouches for it; it is copied before the buffer goes.
        unsafe { CStr::from_ptr(text) }.to_bytes()
    };
    let path = |text| PathBuf::from(OsStr::from_bytes(bytes(text)));
    User {
        name: String::from_utf8_lossy(bytes(entry.pw_name)).into_owned(),
        home: path(entry.pw_dir),
        shell: path(entry.pw_shell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_is_that_of_the_password_file() {
        let id = rustix::process::getuid().as_raw().to_string();
        let file = std::fs::read_to_string("/etc/passwd").unwrap();
        let line = file
            .lines()
            .find(|line| line.split(':').nth(2) == Some(&id));
        let Some(line) = line else {
            crate::leave_out("this user is not in /etc/passwd");
            return;
        };
        let fields: Vec<&str> = line.split(':').collect();
        let user = User::current().unwrap().unwrap();
        assert_eq!(user.name, fields[0]);
        assert_eq!(user.home, PathBuf::from(fields[5]));
        assert_eq!(user.shell, PathBuf::from(fields[6]));
    }

    #[test]
    fn nobody_has_an_unused_number() {
        assert_eq!(User::of_id(3_999_999_999).unwrap(), None);
    }

    #[test]
    fn too_little_room_is_told_from_no_user() {
        let Some(user) = User::current().unwrap() else {
            return crate::leave_out("this user has no entry");
        };
        let id = rustix::process::getuid().as_raw();
        let error = lookup(id, &mut [0; 1]).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ERANGE));
        assert_eq!(lookup(id, &mut [0; 4096]).unwrap(), Some(user));
    }
}

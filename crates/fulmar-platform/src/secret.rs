//! Memory and randomness for keys, and the way of a key out of the environment.

use crate::process::refuse_threads;
use rustix::mm::{MapFlags, ProtFlags, mlock, mmap_anonymous, munmap};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::ptr::NonNull;
use zeroize::{Zeroize, Zeroizing};

/// Fills `bytes` with randomness fit for keys.
///
/// # Errors
///
/// When the system has none, which ends everything that needed it.
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    getrandom::fill(bytes).map_err(io::Error::from)
}

/// `N` secret bytes in pages of their own, which are not dumped, not inherited and, if the limit
/// on locked memory allows, not swapped out. They are overwritten when this is dropped.
///
/// ```text
/// | secret, N bytes | unused, to the end of the page |
/// ```
///
/// After a fork the child finds zeros here (Linux 4.14 and later): a hole in its memory would be
/// hit by code that is otherwise sound. A process that forks makes its keys afterwards.
pub struct SecretBytes<const N: usize> {
    page: NonNull<[u8; N]>,
    mapped: usize,
}

// SAFETY: the memory belongs to this value alone, and is changed only through a unique reference.
unsafe impl<const N: usize> Send for SecretBytes<N> {}
// SAFETY: as above; shared references only read.
unsafe impl<const N: usize> Sync for SecretBytes<N> {}

impl<const N: usize> SecretBytes<N> {
    /// Makes a secret of what `fill` writes over zeros, so that it lies nowhere else.
    ///
    /// # Errors
    ///
    /// When there is no memory.
    pub fn new(fill: impl FnOnce(&mut [u8; N])) -> io::Result<Self> {
        let mut secret = Self::zeroed()?;
        fill(secret.expose_mut());
        Ok(secret)
    }

    /// Makes a random secret.
    ///
    /// # Errors
    ///
    /// When there is no memory, or no randomness.
    pub fn random() -> io::Result<Self> {
        let mut secret = Self::zeroed()?;
        random(secret.expose_mut())?;
        Ok(secret)
    }

    /// Lends the secret.
    pub fn expose(&self) -> &[u8; N] {
        // SAFETY: the page is mapped, readable, initialised by the kernel and aligned as long as
        // this value lives, and holds N bytes.
        unsafe { self.page.as_ref() }
    }

    fn expose_mut(&mut self) -> &mut [u8; N] {
        // SAFETY: as for `expose`; it is writable too, and nothing else refers to it.
        unsafe { self.page.as_mut() }
    }

    fn zeroed() -> io::Result<Self> {
        const { assert!(N > 0, "a secret has at least one byte") };
        let mapped = N.next_multiple_of(rustix::param::page_size());
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses where; no memory in use is replaced.
        let page =
            unsafe { mmap_anonymous(std::ptr::null_mut(), mapped, protection, MapFlags::PRIVATE)? };
        let page = NonNull::new(page.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let secret = Self { page, mapped };
        secret.protect();
        Ok(secret)
    }

    /// What is refused here leaves a secret that works, and is kept a little less well.
    fn protect(&self) {
        let page = self.page.as_ptr().cast();
        // SAFETY: the range is exactly the one mapped for this value, and locking changes neither
        // its contents nor its protection.
        let _ = unsafe { mlock(page, self.mapped) };
        #[cfg(target_os = "linux")]
        for advice in [
            rustix::mm::Advice::LinuxDontDump,
            rustix::mm::Advice::LinuxWipeOnFork,
        ] {
            // SAFETY: as above. Both act on dumps and children only; in a child the bytes are
            // zeros, which are as valid as any.
            let _ = unsafe { rustix::mm::madvise(page, self.mapped, advice) };
        }
    }
}

impl<const N: usize> Drop for SecretBytes<N> {
    fn drop(&mut self) {
        self.expose_mut().zeroize();
        // SAFETY: the range is exactly the one mapped for this value, to which nothing refers any
        // more. Unmapping such a range cannot fail.
        let _ = unsafe { munmap(self.page.as_ptr().cast(), self.mapped) };
    }
}

/// Takes a variable out of the environment and leaves no trace of its value in this process.
///
/// Removing a variable leaves its bytes in the block that the process was started with, which the
/// user's other processes can read; here they are overwritten first. The value is returned as it
/// is, and overwritten when it is dropped. `None` means that there is no such variable.
///
/// # Errors
///
/// When other threads run: they could be reading the environment. It is to be called at the start.
pub fn take_env_secret(name: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    refuse_threads()?;
    let Some(value) = std::env::var_os(name) else {
        return Ok(None);
    };
    let value = Zeroizing::new(value.into_vec());
    // SAFETY: no other thread runs, so nobody reads or changes the environment meanwhile, and no
    // reference into it outlives the calls of the standard library, which copies.
    unsafe {
        overwrite_env_values(name.as_bytes());
        std::env::remove_var(OsStr::from_bytes(name.as_bytes()));
    }
    Ok(Some(value))
}

/// Overwrites the values of all variables called `name` with zeros, in place.
///
/// # Safety
///
/// Nobody else may use the environment meanwhile. Its strings must be writable; those that the
/// kernel and `setenv` make are.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
unsafe fn overwrite_env_values(name: &[u8]) {
    unsafe extern "C" {
        static mut environ: *mut *mut libc::c_char;
    }
    // SAFETY: the list ends with a null pointer, and each string with a zero byte. No pointer
    // passes those ends: a string is read on only while its bytes are those of the name, which has
    // no zero byte, and then up to its own.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            let mut byte = (*entry).cast::<u8>();
            if name.iter().chain(b"=").all(|wanted| {
                let is_equal = *byte == *wanted;
                byte = byte.add(usize::from(is_equal));
                is_equal
            }) {
                while *byte != 0 {
                    byte.write_volatile(0);
                    byte = byte.add(1);
                }
            }
            entry = entry.add(1);
        }
    }
}

/// Elsewhere the process's first environment is reached by other ways, or not at all.
#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
unsafe fn overwrite_env_values(_name: &[u8]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_holds_what_was_written() {
        let secret = SecretBytes::<16>::new(|bytes| bytes.copy_from_slice(b"0123456789abcdef"));
        assert_eq!(secret.unwrap().expose(), b"0123456789abcdef");
    }

    #[test]
    fn a_secret_may_be_longer_than_a_page() {
        let secret = SecretBytes::<10_000>::new(|bytes| bytes.fill(7)).unwrap();
        assert!(secret.expose().iter().all(|byte| *byte == 7));
    }

    #[test]
    fn random_secrets_differ() {
        let (one, other) = (SecretBytes::<32>::random(), SecretBytes::<32>::random());
        assert_ne!(one.unwrap().expose(), other.unwrap().expose());
    }

    /// The flags of the mapping that holds `address`, as the kernel lists them, or `None` if none
    /// does.
    #[cfg(target_os = "linux")]
    fn mapping_flags(address: usize) -> Option<Vec<String>> {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut is_ours = false;
        for line in maps.lines() {
            let first = line.split_whitespace().next().unwrap_or_default();
            let bounds = first.split_once('-').and_then(|(start, end)| {
                let parse = |text| usize::from_str_radix(text, 16).ok();
                Some((parse(start)?, parse(end)?))
            });
            if let Some((start, end)) = bounds {
                is_ours = (start..end).contains(&address);
            } else if is_ours && first == "VmFlags:" {
                return Some(line.split_whitespace().skip(1).map(str::to_owned).collect());
            }
        }
        None
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_secret_is_neither_dumped_nor_inherited() {
        let secret = SecretBytes::<16>::random().unwrap();
        let flags = mapping_flags(secret.expose().as_ptr() as usize).unwrap();
        for flag in ["dd", "wf"] {
            assert!(
                flags.iter().any(|have| have == flag),
                "{flag} is not in {flags:?}"
            );
        }
        // Locking is refused by a low limit; the default one has room for some pages.
        if flags.iter().any(|flag| flag == "lo") {
            return;
        }
        let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock).current;
        assert!(
            limit.is_some_and(|bytes| bytes < 65_536),
            "not locked: {flags:?}"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_dropped_secret_gives_its_pages_back() {
        let address = {
            let secret = SecretBytes::<16>::random().unwrap();
            secret.expose().as_ptr() as usize
        };
        // Another thread may have mapped something there meanwhile, but nothing of this kind.
        let flags = mapping_flags(address).unwrap_or_default();
        assert!(!flags.iter().any(|flag| flag == "wf"), "{flags:?}");
    }

    #[test]
    fn threads_are_refused() {
        // The test runner has some.
        assert!(take_env_secret("PATH").is_err());
        assert!(std::env::var_os("PATH").is_some());
    }
}

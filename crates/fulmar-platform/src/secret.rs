//! Memory and randomness for keys, and the way of a key out of the environment.

use crate::threads::refuse_threads;
use rustix::mm::{MapFlags, ProtFlags, mlock, mmap_anonymous, munmap};
use std::alloc::{Layout, handle_alloc_error};
use std::ffi::{OsStr, c_void};
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use zeroize::{Zeroize, Zeroizing};

/// Fills `bytes` with randomness fit for keys.
///
/// # Errors
///
/// When the system has none, which ends everything that needed it.
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    getrandom::fill(bytes).map_err(io::Error::from)
}

/// The number of [`SecretBox`]es in this process.
static SECRETS: AtomicUsize = AtomicUsize::new(0);

/// A secret in pages of its own, which are not dumped, not inherited and, if the limit on locked
/// memory allows, not swapped out. They are overwritten when this is dropped.
///
/// ```text
/// | secret | unused, to the end of the page |
/// ```
///
/// It is used like a [`Box`]: what is put into it is moved there, and what is made of it by
/// reference stays. After a fork the child finds zeros here (Linux 4.14 and later), which need not
/// be a valid `T`; so a process does not [`fork`](crate::process::fork) while it has any. Children
/// that only run another program, as [`Spawn`](crate::Spawn) and the standard library start them, do
/// not look.
pub struct SecretBox<T> {
    place: NonNull<T>,
    mapped: usize,
    owner: PhantomData<T>,
}

// SAFETY: the memory belongs to this value alone, like that of a Box.
unsafe impl<T: Send> Send for SecretBox<T> {}
// SAFETY: as above; shared references give out shared references only.
unsafe impl<T: Sync> Sync for SecretBox<T> {}

impl<T> SecretBox<T> {
    /// Moves `value` to pages of its own. Moving may leave a copy behind, so this is to be a blank
    /// one, which is filled by reference.
    ///
    /// Where there is no memory this ends the process, as [`Box::new`] does.
    pub fn new(value: T) -> SecretBox<T> {
        const { assert!(size_of::<T>() > 0, "a secret has at least one byte") };
        const { assert!(align_of::<T>() <= 4096, "pages are aligned no better") };
        let mapped = size_of::<T>().next_multiple_of(rustix::param::page_size());
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses where; no memory in use is replaced.
        let place =
            unsafe { mmap_anonymous(std::ptr::null_mut(), mapped, protection, MapFlags::PRIVATE) };
        let place = place.ok().and_then(|place| NonNull::new(place.cast::<T>()));
        let Some(place) = place else {
            handle_alloc_error(Layout::new::<T>())
        };
        protect(place.as_ptr().cast(), mapped);
        // SAFETY: the place is mapped, writable, large and aligned enough, and nobody else's.
        unsafe { place.write(value) };
        SECRETS.fetch_add(1, Ordering::Relaxed);
        SecretBox {
            place,
            mapped,
            owner: PhantomData,
        }
    }
}

/// Protects the pages of a secret as well as the system lets us. A secret works without that, and is kept a
/// little less well.
fn protect(pages: *mut c_void, mapped: usize) {
    // SAFETY: the range is exactly the one mapped for a secret, and locking changes neither its
    // contents nor its protection.
    let _ = unsafe { mlock(pages, mapped) };
    #[cfg(target_os = "linux")]
    for advice in [
        rustix::mm::Advice::LinuxDontDump,
        rustix::mm::Advice::LinuxWipeOnFork,
    ] {
        // SAFETY: as above. Both act on dumps and children only; no code of ours goes on in a child
        // of a process that has secrets, for `fork` refuses.
        let _ = unsafe { rustix::mm::madvise(pages, mapped, advice) };
    }
}

/// Tells if there are secrets in this process, which a child would find overwritten.
pub(crate) fn are_secrets_held() -> bool {
    SECRETS.load(Ordering::Relaxed) > 0
}

impl<T> Deref for SecretBox<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: a valid T was written to the place, which is mapped as long as this value lives.
        unsafe { self.place.as_ref() }
    }
}

impl<T> DerefMut for SecretBox<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as for `deref`; it is writable too, and nothing else refers to it.
        unsafe { self.place.as_mut() }
    }
}

impl<T> Drop for SecretBox<T> {
    fn drop(&mut self) {
        // SAFETY: the value is valid, and not used again. The bytes behind it are mapped, writable
        // and of a type for which anything is valid. The range is exactly the one mapped for this
        // value, and unmapping such a range cannot fail.
        unsafe {
            self.place.drop_in_place();
            let bytes = self.place.cast::<MaybeUninit<u8>>().as_ptr();
            std::slice::from_raw_parts_mut(bytes, self.mapped).zeroize();
            let _ = munmap(self.place.as_ptr().cast(), self.mapped);
        }
        SECRETS.fetch_sub(1, Ordering::Relaxed);
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

    /// A secret that was filled where it is.
    fn secret<const N: usize>(byte: u8) -> SecretBox<[u8; N]> {
        let mut secret = SecretBox::new([0; N]);
        secret.fill(byte);
        secret
    }

    #[test]
    fn a_secret_holds_what_was_written() {
        let mut secret = SecretBox::new([0; 16]);
        secret.copy_from_slice(b"0123456789abcdef");
        assert_eq!(&*secret, b"0123456789abcdef");
    }

    #[test]
    fn a_secret_may_be_longer_than_a_page() {
        assert!(secret::<10_000>(7).iter().all(|byte| *byte == 7));
    }

    #[test]
    fn a_secret_is_dropped_once() {
        let counted = std::rc::Rc::new(());
        let secret = SecretBox::new(counted.clone());
        assert_eq!(std::rc::Rc::strong_count(&secret), 2);
        drop(secret);
        assert_eq!(std::rc::Rc::strong_count(&counted), 1);
    }

    #[test]
    fn random_bytes_differ() {
        let (mut one, mut other) = ([0; 32], [0; 32]);
        random(&mut one).unwrap();
        random(&mut other).unwrap();
        assert_ne!(one, other);
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
        let secret = secret::<16>(7);
        let flags = mapping_flags(secret.as_ptr() as usize).unwrap();
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
        const LENGTH: usize = 1 << 17;
        let middle = {
            let secret = SecretBox::new([0; LENGTH]);
            secret.as_ptr() as usize + LENGTH / 2
        };
        // Tests beside this one may have mapped secrets there meanwhile. Theirs are of a few pages,
        // and so lie near an end of what was given back.
        let flags = mapping_flags(middle).unwrap_or_default();
        assert!(!flags.iter().any(|flag| flag == "wf"), "{flags:?}");
    }

    #[test]
    fn threads_are_refused() {
        // The test runner has some.
        assert!(take_env_secret("PATH").is_err());
        assert!(std::env::var_os("PATH").is_some());
    }
}

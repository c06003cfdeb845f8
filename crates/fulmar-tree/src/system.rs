//! Every system call that the crate makes on files, in one place.
//!
//! Each call asks [`step`] first. In tests that is where a second actor comes in between two calls, and
//! where the process is "killed": from then on every call fails and does nothing.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use fulmar_copy::Timestamp;
use rustix::buffer::spare_capacity;
use rustix::fs::{self, AtFlags, Dir, FileType, Gid, Mode, OFlags, Timespec, Timestamps, Uid};
pub(crate) use rustix::io::Errno;

pub(crate) type Result<T> = std::result::Result<T, Errno>;

/// The flags with which a folder is opened when only names below it are wanted.
#[cfg(target_os = "linux")]
pub(crate) const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
pub(crate) const SEARCH: OFlags = OFlags::RDONLY;

/// The facts that the system knows about a file, in types that are the same everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) kind: FileType,
    /// Permission bits with set-id and sticky, 12 bits.
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) links: u64,
    pub(crate) owner: u32,
    pub(crate) group: u32,
    pub(crate) modified: Timestamp,
    pub(crate) changed: Timestamp,
    /// Bytes that it takes on the disk.
    pub(crate) stored: u64,
}

impl Facts {
    #[expect(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the widths differ from system to system"
    )]
    fn of(stat: &fs::Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            kind: FileType::from_raw_mode(stat.st_mode.into()),
            mode: stat.st_mode as u32 & 0o7777,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            links: stat.st_nlink as u64,
            owner: stat.st_uid,
            group: stat.st_gid,
            modified: Timestamp {
                seconds: stat.st_mtime as i64,
                nanoseconds: u32::try_from(stat.st_mtime_nsec).unwrap_or(0),
            },
            changed: Timestamp {
                seconds: stat.st_ctime as i64,
                nanoseconds: u32::try_from(stat.st_ctime_nsec).unwrap_or(0),
            },
            // In units of 512 bytes, whatever the file system's are.
            stored: (stat.st_blocks as u64).saturating_mul(512),
        }
    }

    /// Returns true if both are about one and the same file.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.kind == FileType::Directory
    }

    pub(crate) fn is_regular(&self) -> bool {
        self.kind == FileType::RegularFile
    }

    pub(crate) fn is_link(&self) -> bool {
        self.kind == FileType::Symlink
    }
}

/// A name or path of bytes as the system wants it.
pub(crate) fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Opens `name` with `flags`; never lets a child of ours inherit it, nor makes it our terminal.
pub(crate) fn open(folder: impl AsFd, name: &[u8], flags: OFlags, mode: u32) -> Result<OwnedFd> {
    step()?;
    let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
    fs::openat(folder, path(name), flags, Mode::from_raw_mode(mode as _))
}

/// Opens the folder `name` itself, not one that a link there leads to.
pub(crate) fn open_folder(folder: impl AsFd, name: &[u8], access: OFlags) -> Result<OwnedFd> {
    open(
        folder,
        name,
        access | OFlags::DIRECTORY | OFlags::NOFOLLOW,
        0,
    )
}

/// Opens a folder some levels below another in one call, which fails for every link on the way.
///
/// # Errors
///
/// `NOSYS` where the system has no such call; `LOOP` for a link; `XDEV` for a path that leads out.
#[cfg(target_os = "linux")]
pub(crate) fn open_beneath(folder: impl AsFd, below: &[u8], access: OFlags) -> Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    step()?;
    fs::openat2(
        folder,
        path(below),
        access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
    )
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open_beneath(_: impl AsFd, _: &[u8], _: OFlags) -> Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// Facts about what `name` is itself.
pub(crate) fn facts_at(folder: impl AsFd, name: &[u8]) -> Result<Facts> {
    step()?;
    fs::statat(folder, path(name), AtFlags::SYMLINK_NOFOLLOW).map(|stat| Facts::of(&stat))
}

/// Facts about what `name` leads to, along links. Only for names that the user gave.
pub(crate) fn facts_along(folder: impl AsFd, name: &[u8]) -> Result<Facts> {
    step()?;
    fs::statat(folder, path(name), AtFlags::empty()).map(|stat| Facts::of(&stat))
}

pub(crate) fn facts(file: impl AsFd) -> Result<Facts> {
    step()?;
    fs::fstat(file).map(|stat| Facts::of(&stat))
}

pub(crate) fn make_folder(folder: impl AsFd, name: &[u8], mode: u32) -> Result<()> {
    step()?;
    fs::mkdirat(folder, path(name), Mode::from_raw_mode(mode as _))
}

pub(crate) fn make_link(text: &[u8], folder: impl AsFd, name: &[u8]) -> Result<()> {
    step()?;
    fs::symlinkat(path(text), folder, path(name))
}

pub(crate) fn remove(folder: impl AsFd, name: &[u8]) -> Result<()> {
    step()?;
    fs::unlinkat(folder, path(name), AtFlags::empty())
}

/// Gives `from` the name `to`, in one folder; what had that name is gone.
pub(crate) fn rename(folder: impl AsFd, from: &[u8], to: &[u8]) -> Result<()> {
    step()?;
    fs::renameat(&folder, path(from), &folder, path(to))
}

/// The same, unless something has that name: then `EXIST`. `NOSYS` where the system or file system cannot tell.
#[cfg(target_os = "linux")]
pub(crate) fn rename_unless_taken(folder: impl AsFd, from: &[u8], to: &[u8]) -> Result<()> {
    step()?;
    let flags = fs::RenameFlags::NOREPLACE;
    match fs::renameat_with(&folder, path(from), &folder, path(to), flags) {
        Err(Errno::INVAL) => Err(Errno::NOSYS),
        done => done,
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn rename_unless_taken(_: impl AsFd, _: &[u8], _: &[u8]) -> Result<()> {
    Err(Errno::NOSYS)
}

/// The text of a link.
pub(crate) fn read_link(folder: impl AsFd, name: &[u8]) -> Result<Vec<u8>> {
    step()?;
    fs::readlinkat(folder, path(name), Vec::new()).map(std::ffi::CString::into_bytes)
}

/// Checks that this process may write to `name`, by the rights it acts with.
pub(crate) fn may_write(folder: impl AsFd, name: &[u8]) -> Result<()> {
    step()?;
    let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
    match fs::accessat(folder, path(name), fs::Access::WRITE_OK, flags) {
        // Writing will tell.
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => Ok(()),
        answer => answer,
    }
}

pub(crate) fn set_mode(file: impl AsFd, mode: u32) -> Result<()> {
    step()?;
    #[cfg(test)]
    tests_hook::check_owner()?;
    fs::fchmod(file, Mode::from_raw_mode(mode as _))
}

/// Sets the mode, and returns `false` where that is not for us to do: a file system that maps owners (vfat, CIFS, NFS, sshfs)
/// has modes of its own.
pub(crate) fn set_mode_if_own(file: impl AsFd, mode: u32) -> Result<bool> {
    match set_mode(&file, mode) {
        Err(Errno::PERM) if facts(&file)?.owner != user() => Ok(false),
        done => done.map(|()| true),
    }
}

/// Gives an open file to a user.
pub(crate) fn set_owner(file: impl AsFd, owner: u32) -> Result<()> {
    step()?;
    fs::fchown(file, Some(Uid::from_raw(owner)), None)
}

/// Gives an open file to a group.
pub(crate) fn set_group(file: impl AsFd, group: u32) -> Result<()> {
    step()?;
    fs::fchown(file, None, Some(Gid::from_raw(group)))
}

/// Sets the time of the last change and leaves the time of the last access as it is.
pub(crate) fn set_modified(file: impl AsFd, moment: Timestamp) -> Result<()> {
    step()?;
    #[cfg(test)]
    tests_hook::check_owner()?;
    fs::futimens(file, &times(moment))
}

/// The same for a link itself, where the system can. What has come into the place of the link stays as it is.
#[cfg(target_os = "linux")]
pub(crate) fn set_modified_of_link(
    folder: impl AsFd,
    name: &[u8],
    moment: Timestamp,
) -> Result<()> {
    let link = open(folder, name, SEARCH | OFlags::NOFOLLOW, 0)?;
    if !facts(&link)?.is_link() {
        return Err(Errno::EXIST);
    }
    step()?;
    match fs::utimensat(link, c"", &times(moment), AtFlags::EMPTY_PATH) {
        // Before Linux 5.8.
        Err(Errno::INVAL | Errno::NOENT) => Ok(()),
        done => done,
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn set_modified_of_link(_: impl AsFd, _: &[u8], _: Timestamp) -> Result<()> {
    Ok(())
}

fn times(moment: Timestamp) -> Timestamps {
    Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: fs::UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: moment.seconds,
            tv_nsec: moment.nanoseconds.into(),
        },
    }
}

/// Reads at most `limit` bytes at `offset`; none at the end. A signal in between is no error.
pub(crate) fn read_at(file: impl AsFd, limit: usize, offset: u64) -> Result<Vec<u8>> {
    step()?;
    let mut bytes = Vec::with_capacity(limit);
    again(|| rustix::io::pread(&file, spare_capacity(&mut bytes), offset))?;
    Ok(bytes)
}

/// Reads at most `limit` bytes from a pipe; none at its end.
pub(crate) fn read(file: impl AsFd, limit: usize) -> Result<Vec<u8>> {
    step()?;
    let mut bytes = Vec::with_capacity(limit);
    again(|| rustix::io::read(&file, spare_capacity(&mut bytes)))?;
    Ok(bytes)
}

/// Writes all of `bytes` at `offset`.
pub(crate) fn write_at(file: impl AsFd, mut bytes: &[u8], mut offset: u64) -> Result<()> {
    while !bytes.is_empty() {
        step()?;
        let written = again(|| rustix::io::pwrite(&file, bytes, offset))?;
        bytes = bytes.get(written..).ok_or(Errno::IO)?;
        offset += written as u64;
        if written == 0 {
            return Err(Errno::IO);
        }
    }
    Ok(())
}

/// Writes to a pipe what it takes, at least one byte.
pub(crate) fn write(file: impl AsFd, bytes: &[u8]) -> Result<usize> {
    step()?;
    match again(|| rustix::io::write(&file, bytes))? {
        0 => Err(Errno::IO),
        written => Ok(written),
    }
}

/// The stretch of data at or after `offset`, if there is any before the end.
///
/// Where holes cannot be asked for, everything is data.
pub(crate) fn next_data(file: impl AsFd, offset: u64, size: u64) -> Result<Option<(u64, u64)>> {
    step()?;
    let start = match fs::seek(&file, fs::SeekFrom::Data(offset)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return Ok(None),
        Err(Errno::INVAL | Errno::NOTSUP | Errno::NOTTY | Errno::NOSYS) => offset,
        Err(error) => return Err(error),
    };
    if start >= size {
        return Ok(None);
    }
    step()?;
    let end = fs::seek(&file, fs::SeekFrom::Hole(start)).unwrap_or(size);
    Ok(Some((start, end.clamp(start, size))))
}

/// Goes back to the beginning of a file that is read step by step.
pub(crate) fn rewind(file: impl AsFd) -> Result<()> {
    step()?;
    fs::seek(&file, fs::SeekFrom::Start(0)).map(drop)
}

pub(crate) fn set_size(file: impl AsFd, size: u64) -> Result<()> {
    step()?;
    fs::ftruncate(file, size)
}

/// Makes a stretch of a file a hole. `false` where the file system cannot.
#[cfg(target_os = "linux")]
pub(crate) fn punch(file: impl AsFd, offset: u64, length: u64) -> Result<bool> {
    step()?;
    #[cfg(test)]
    if tests_hook::is_without_holes() {
        return Ok(false);
    }
    let flags = fs::FallocateFlags::PUNCH_HOLE | fs::FallocateFlags::KEEP_SIZE;
    match fs::fallocate(file, flags, offset, length) {
        Ok(()) => Ok(true),
        Err(Errno::NOTSUP | Errno::NOSYS) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn punch(_: impl AsFd, _: u64, _: u64) -> Result<bool> {
    Ok(false)
}

/// Takes the lock of an open file, unless somebody else has it: then `WOULDBLOCK`.
pub(crate) fn lock(file: impl AsFd) -> Result<()> {
    step()?;
    fs::flock(file, fs::FlockOperation::NonBlockingLockExclusive)
}

/// Reads an open folder from its beginning.
pub(crate) fn list(folder: OwnedFd) -> Result<Dir> {
    step()?;
    Dir::new(folder)
}

/// The next name in a folder but `.` and `..`, and what it is if the folder tells.
pub(crate) fn next_name(listing: &mut Dir) -> Option<Result<(Vec<u8>, FileType)>> {
    loop {
        if let Err(error) = step() {
            return Some(Err(error));
        }
        match listing.read()? {
            Ok(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => {}
            Ok(entry) => {
                return Some(Ok((
                    entry.file_name().to_bytes().to_vec(),
                    entry.file_type(),
                )));
            }
            Err(error) => return Some(Err(error)),
        }
    }
}

/// The user that this process acts as.
pub(crate) fn user() -> u32 {
    #[cfg(test)]
    if let Some(user) = tests_hook::user() {
        return user;
    }
    rustix::process::geteuid().as_raw()
}

/// The permission bits that new files of this process do not get.
///
/// Asking means setting for a moment, so ask before there are threads.
#[must_use]
pub fn umask() -> u32 {
    let mask = rustix::process::umask(Mode::from_raw_mode(0o077));
    rustix::process::umask(mask);
    mask.as_raw_mode() as u32
}

/// The folder that relative names start at: the working folder of this process.
pub(crate) fn here() -> BorrowedFd<'static> {
    fs::CWD
}

fn again<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}

#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "tests make it fail")]
#[inline]
fn step() -> Result<()> {
    Ok(())
}

#[cfg(test)]
fn step() -> Result<()> {
    tests_hook::step()
}

/// The actions of tests between two system calls.
#[cfg(test)]
pub(crate) mod tests_hook {
    use std::cell::{Cell, RefCell};

    use super::{Errno, Result};

    type Hook = Box<dyn FnMut() -> Result<()>>;

    thread_local! {
        static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
        static WITHOUT_HOLES: Cell<bool> = const { Cell::new(false) };
        static USER: Cell<Option<u32>> = const { Cell::new(None) };
    }

    pub(super) fn user() -> Option<u32> {
        USER.get()
    }

    /// Modes and times are the owner's to change.
    pub(super) fn check_owner() -> Result<()> {
        USER.get().map_or(Ok(()), |_| Err(Errno::PERM))
    }

    /// Runs `inside` as where every file is somebody else's, whoever makes it.
    pub(crate) fn with_mapped_owners<T>(inside: impl FnOnce() -> T) -> T {
        USER.set(Some(super::user().wrapping_add(1)));
        let result = inside();
        USER.set(None);
        result
    }

    pub(super) fn is_without_holes() -> bool {
        WITHOUT_HOLES.get()
    }

    /// Runs `inside` as where no holes can be punched into a file.
    pub(crate) fn without_holes<T>(inside: impl FnOnce() -> T) -> T {
        WITHOUT_HOLES.set(true);
        let result = inside();
        WITHOUT_HOLES.set(false);
        result
    }

    pub(super) fn step() -> Result<()> {
        // Taken out while it runs: what the hook itself calls is not interrupted.
        let Some(mut hook) = HOOK.with(|place| place.borrow_mut().take()) else {
            return Ok(());
        };
        let result = hook();
        HOOK.with(|place| *place.borrow_mut() = Some(hook));
        result
    }

    /// Runs `inside` with `hook` before each of this thread's calls.
    pub(crate) fn with<T>(
        hook: impl FnMut() -> Result<()> + 'static,
        inside: impl FnOnce() -> T,
    ) -> T {
        HOOK.with(|place| *place.borrow_mut() = Some(Box::new(hook)));
        let result = inside();
        HOOK.with(|place| *place.borrow_mut() = None);
        result
    }
}

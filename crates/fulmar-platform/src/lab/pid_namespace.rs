//! A process namespace that ends with the program in it.

use crate::process::{Forked, fork};
use crate::{Interest, wait_for};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getegid, geteuid, set_parent_process_death_signal, wait,
    waitpid,
};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io::{self, PipeReader};
use std::time::Duration;

/// The rights of root that a new process namespace comes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PidNamespace {
    /// We have the rights of root.
    Root,
    /// We have them over what is inside only (a user namespace).
    RootInside,
}

/// Moves the rest of this program, and all that it starts, into a process namespace of its own. When the program
/// ends, however it does, every process inside is killed, also one that has left its session.
///
/// ```text
///   caller ── waits, ends as the program does
///     └ init ── process 1 of the namespace: reaps orphans. Dies with the caller
///         └ program ── returns from this function
/// ```
///
/// The kernel ends a process namespace with its first process. A mount namespace comes with it, so
/// that `/proc` shows what is inside. A terminal's interrupt reaches the program
/// and is left to it.
///
/// # Errors
///
/// When other threads run, or such namespaces are not permitted.
pub fn enter_pid_namespace() -> io::Result<PidNamespace> {
    crate::threads::refuse_threads()?;
    let kind = leave()?;
    let (caller_lives, held_by_caller) = io::pipe()?;
    match fork()? {
        Forked::Parent { child } => {
            drop(caller_lives);
            end_as(child);
        }
        Forked::Child => {
            drop(held_by_caller);
            run_as_init(&caller_lives)?;
            Ok(kind)
        }
    }
}

/// Leaves the namespaces that this process is in; its children will be in the new one of processes.
fn leave() -> io::Result<PidNamespace> {
    let namespaces = UnshareFlags::NEWPID | UnshareFlags::NEWNS;
    // SAFETY: descriptors stay shared, and no other thread runs.
    match unsafe { unshare_unsafe(namespaces) } {
        Ok(()) => Ok(PidNamespace::Root),
        Err(Errno::PERM) => {
            let (user, group) = (geteuid().as_raw(), getegid().as_raw());
            // SAFETY: as above.
            unsafe { unshare_unsafe(namespaces | UnshareFlags::NEWUSER) }?;
            std::fs::write("/proc/self/setgroups", "deny")?;
            std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
            std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))?;
            Ok(PidNamespace::RootInside)
        }
        Err(error) => Err(error.into()),
    }
}

/// Waits for the init and ends with its status. The terminal's interrupts are for the program.
fn end_as(init: u32) -> ! {
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: SIG_IGN is a valid disposition and installs no code of ours.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let init = i32::try_from(init).ok().and_then(Pid::from_raw);
    loop {
        match waitpid(init, WaitOptions::empty()) {
            Ok(Some((_, status))) => std::process::exit(code_of(status)),
            Ok(None) | Err(Errno::INTR) => {}
            Err(_) => std::process::exit(1),
        }
    }
}

/// Stays as the first process of the namespace, and returns in the program, its child.
fn run_as_init(caller_lives: &PipeReader) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The caller may have died before we asked to be told.
    let readiness = wait_for(caller_lives, Interest::Nothing, Some(Duration::ZERO))?;
    if readiness.is_hung_up() {
        std::process::exit(1);
    }
    show_what_is_inside();
    let program = match fork()? {
        Forked::Child => return Ok(()),
        Forked::Parent { child } => child,
    };
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get().unsigned_abs() == program => {
                std::process::exit(code_of(status));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => std::process::exit(1),
        }
    }
}

/// Lets `/proc` show the processes of the namespace. Where that is not permitted, as in some containers,
/// it goes on showing all; programs that look themselves up there then find somebody else.
fn show_what_is_inside() {
    let ours_alone = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let _ =
        mount_change("/", ours_alone).and_then(|()| mount("proc", "/proc", "proc", flags, None));
}

/// As shells report it.
fn code_of(status: WaitStatus) -> i32 {
    status
        .exit_status()
        .or_else(|| Some(128 + status.terminating_signal()?))
        .unwrap_or(1)
}

//! Signals as something to poll for.

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use signal_hook::SigId;
use signal_hook::low_level::{pipe, unregister};
use std::io::{self, PipeReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals that the program deals with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Signal {
    /// `SIGHUP`: the terminal is gone.
    HangUp = libc::SIGHUP,
    /// `SIGINT`: the interrupt key, or somebody asks to end.
    Interrupt = libc::SIGINT,
    /// `SIGQUIT`: the quit key.
    Quit = libc::SIGQUIT,
    /// `SIGPIPE`: a write to nobody.
    Pipe = libc::SIGPIPE,
    /// `SIGTERM`: somebody asks to end.
    Terminate = libc::SIGTERM,
    /// `SIGUSR1`: an idle server is asked to end.
    User1 = libc::SIGUSR1,
    /// `SIGUSR2`: free for use.
    User2 = libc::SIGUSR2,
    /// `SIGALRM`: an alarm that somebody set.
    Alarm = libc::SIGALRM,
    /// `SIGVTALRM`: an alarm on the time spent in the program itself.
    VirtualAlarm = libc::SIGVTALRM,
    /// `SIGPROF`: an alarm on processor time.
    Profile = libc::SIGPROF,
    /// `SIGXCPU`: the limit on processor time is reached.
    ProcessorLimit = libc::SIGXCPU,
    /// `SIGXFSZ`: the limit on the size of files is reached.
    FileLimit = libc::SIGXFSZ,
    /// `SIGABRT`: somebody wants a crash.
    Abort = libc::SIGABRT,
    /// `SIGSYS`: a system call that is not allowed.
    BadCall = libc::SIGSYS,
    /// `SIGTRAP`: a debugger's trap without a debugger.
    Trap = libc::SIGTRAP,
    /// `SIGCHLD`: a child has ended or stopped.
    Child = libc::SIGCHLD,
    /// `SIGTSTP`: the suspend key.
    Suspend = libc::SIGTSTP,
    /// `SIGCONT`: we run again after a stop.
    Continue = libc::SIGCONT,
    /// `SIGWINCH`: the window has another size.
    WindowChange = libc::SIGWINCH,
}

impl Signal {
    /// Returns the system's number of the signal.
    pub fn number(self) -> i32 {
        self as i32
    }
}

/// A subscription to some signals, with a descriptor that is readable when one has come.
///
/// The handlers write to a pipe and set a flag, nothing more. A signal that comes twice before it
/// is drained is reported once.
///
/// Dropping the subscription does not restore what the signals did before: they are then ignored.
#[derive(Debug)]
pub struct SignalPipe {
    /// Dropped before the reader: a handler that writes to nobody raises SIGPIPE, of which the handler
    /// writes to nobody, and so on for ever.
    subscriptions: Vec<Subscription>,
    reader: PipeReader,
}

#[derive(Debug)]
struct Subscription {
    signal: Signal,
    has_come: Arc<AtomicBool>,
    handlers: [SigId; 2],
}

impl Drop for Subscription {
    fn drop(&mut self) {
        for handler in self.handlers {
            unregister(handler);
        }
    }
}

impl SignalPipe {
    /// Subscribes to `signals`.
    ///
    /// # Errors
    ///
    /// When no descriptor is left, or the system refuses a handler.
    pub fn new(signals: &[Signal]) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        fcntl_setfl(&reader, fcntl_getfl(&reader)? | OFlags::NONBLOCK)?;
        let subscriptions = signals
            .iter()
            .map(|signal| {
                let has_come = Arc::new(AtomicBool::new(false));
                // The flag goes first: who sees the byte must find it set.
                let flag = signal_hook::flag::register(signal.number(), Arc::clone(&has_come))?;
                let byte = pipe::register(signal.number(), writer.try_clone()?)?;
                Ok(Subscription {
                    signal: *signal,
                    has_come,
                    handlers: [flag, byte],
                })
            })
            .collect::<io::Result<_>>()?;
        Ok(Self {
            subscriptions,
            reader,
        })
    }

    /// True when a signal has come since the last [`drain`](Self::drain).
    ///
    /// A wait that ends with a signal may miss it on the descriptor: what is ready is looked at
    /// before the handler runs.
    pub fn has_come(&self) -> bool {
        let mut subscriptions = self.subscriptions.iter();
        subscriptions.any(|subscription| subscription.has_come.load(Ordering::SeqCst))
    }

    /// Returns the signals that have come since the last call, in the order of subscription.
    pub fn drain(&mut self) -> impl Iterator<Item = Signal> + '_ {
        // Bytes first, flags after: a signal in between leaves a byte for the next turn.
        let mut bytes = [0; 64];
        while matches!(rustix::io::read(&self.reader, &mut bytes), Ok(read) if read > 0) {}
        self.subscriptions
            .iter()
            .filter(|subscription| subscription.has_come.swap(false, Ordering::SeqCst))
            .map(|subscription| subscription.signal)
    }
}

impl AsFd for SignalPipe {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

/// Makes the process, and the programs it starts by other means than [`Spawn`](crate::Spawn),
/// ignore a signal.
///
/// # Errors
///
/// None that the system documents for these signals.
pub fn ignore(signal: Signal) -> io::Result<()> {
    // SAFETY: this disposition is valid for every signal and runs no code of ours.
    match unsafe { libc::signal(signal.number(), libc::SIG_IGN) } {
        libc::SIG_ERR => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Stops all processes of our group, as the suspend key does; returns when we are continued.
///
/// # Errors
///
/// None that the system documents for our own group.
pub fn stop_process_group() -> io::Result<()> {
    Ok(rustix::process::kill_current_process_group(
        rustix::process::Signal::STOP,
    )?)
}

/// Stops this process alone, as the suspend key does; returns when it is continued.
///
/// # Errors
///
/// None that the system documents for ourselves.
pub fn stop() -> io::Result<()> {
    let ourselves = rustix::process::getpid();
    Ok(rustix::process::kill_process(
        ourselves,
        rustix::process::Signal::STOP,
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{in_child, is_readable, run_in_child, wait_readable};
    use signal_hook::low_level::raise;

    #[test]
    fn signals_are_drained_once_in_the_order_of_subscription() {
        let mut signals = SignalPipe::new(&[Signal::WindowChange, Signal::User2]).unwrap();
        assert_eq!(signals.drain().count(), 0);
        raise(libc::SIGUSR2).unwrap();
        raise(libc::SIGWINCH).unwrap();
        raise(libc::SIGUSR2).unwrap();
        wait_readable(&signals);
        let come: Vec<Signal> = signals.drain().collect();
        assert_eq!(come, [Signal::WindowChange, Signal::User2]);
        assert!(!is_readable(&signals), "the loop would spin");
        assert_eq!(signals.drain().count(), 0);
    }

    #[test]
    fn a_signal_is_known_without_the_descriptor_until_it_is_drained() {
        let mut signals = SignalPipe::new(&[Signal::VirtualAlarm]).unwrap();
        assert!(!signals.has_come());
        raise(libc::SIGVTALRM).unwrap();
        assert!(signals.has_come());
        assert_eq!(signals.drain().collect::<Vec<_>>(), [Signal::VirtualAlarm]);
        assert!(!signals.has_come());
    }

    #[test]
    fn thousands_of_signals_neither_block_nor_get_lost() {
        let mut signals = SignalPipe::new(&[Signal::Continue]).unwrap();
        // More than a pipe holds: 64 KiB on Linux.
        for _ in 0..70_000 {
            raise(libc::SIGCONT).unwrap();
        }
        assert_eq!(signals.drain().collect::<Vec<_>>(), [Signal::Continue]);
        raise(libc::SIGCONT).unwrap();
        assert_eq!(signals.drain().collect::<Vec<_>>(), [Signal::Continue]);
    }

    #[test]
    fn signals_that_come_while_a_subscription_ends_do_no_harm() {
        if in_child() {
            // A handler that never ends cannot be waited for: then this ends the process.
            // SAFETY: it takes a number and touches nothing of ours.
            unsafe { libc::alarm(30) };
            let is_done = Arc::new(AtomicBool::new(false));
            let rounds = Arc::clone(&is_done);
            let own = rustix::process::getpid();
            let sender = std::thread::spawn(move || {
                while !rounds.load(Ordering::SeqCst) {
                    let sent = rustix::process::kill_process(own, rustix::process::Signal::CHILD);
                    sent.unwrap();
                }
            });
            for _ in 0..2000 {
                drop(SignalPipe::new(&[Signal::Child, Signal::Pipe]).unwrap());
            }
            is_done.store(true, Ordering::SeqCst);
            sender.join().unwrap();
            return;
        }
        let name = "signals::tests::signals_that_come_while_a_subscription_ends_do_no_harm";
        let (status, output) = run_in_child(name);
        assert!(status.success(), "{status}: {output}");
    }

    #[test]
    fn an_ignored_signal_does_nothing() {
        if in_child() {
            ignore(Signal::HangUp).unwrap();
            raise(libc::SIGHUP).unwrap();
            println!("still here");
            return;
        }
        let name = "signals::tests::an_ignored_signal_does_nothing";
        let (status, output) = run_in_child(name);
        assert!(status.success(), "{status}: {output}");
        assert!(output.contains("still here"), "{output}");
    }
}

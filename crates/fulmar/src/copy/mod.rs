//! Copying files: `fulmar cp`, and its remote end.
//!
//! ```text
//!  operands ─► plan ─► CopyLogin ══ ssh ══► `fulmar copy-server`
//!                         └─► CopyConnection ═ QUIC over UDP, or ssh's own pipes ═► RemoteEnd
//!  FileTransfer (fulmar-tree) ───── streams ─┘                                           └─ FileTransfer
//! ```
//!
//! Source: docs/protocol.md §2.10, docs/copy-protocol.md, docs/threat-model.md §11.

mod arguments;
mod connection;
mod copy_login;
mod copy_server;
mod entry_error_text;
mod error;
mod file_transfer;
mod json;
mod local_end;
mod local_sockets;
mod operand;
mod outgoing;
mod plan;
mod printer;
mod progress;
mod remote_end;
mod remote_sockets;
mod remote_task;
mod reporter;
mod request;
mod ssh_streams;
mod udp_connection;
mod unreachable_detector;

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io;
use std::time::Duration;

use fulmar_copy::{RateLimit, RateLimiter, Totals};
use fulmar_login::StandardStream;
use fulmar_platform::{Interest, SavedModes, Signal, Tty, forbid_core_dumps, signals, was_closed};
use fulmar_settings::SettingSources;

use self::arguments::CopyOptions;
pub(crate) use self::arguments::{CopyArgs, CopyServerArgs};
use self::connection::CopyConnection;
use self::copy_login::{CopyLogin, check_ending};
pub(crate) use self::copy_server::run as run_copy_server;
pub(crate) use self::error::CopyError;
use self::local_end::LocalEnd;
#[cfg(test)]
pub(crate) use self::operand::BadOperand;
pub(crate) use self::operand::{Operand, remote_path_at};
use self::plan::{Job, JobKind, plan};
use self::reporter::Reporter;
use crate::clock::now;
use crate::environment;
use crate::log::{self, Log};
use crate::reactor::{Reactor, ReactorEvent, Token};
use crate::report;
use crate::settings;
use crate::steps::Verbosity;
use crate::system::while_doing;

/// Datagrams that one turn of a loop takes from its sockets.
///
/// Source: docs/threat-model.md §6.
const DATAGRAMS_PER_TURN: usize = 256;

/// Bytes of files that one turn of a loop reads or writes.
///
/// Source: docs/threat-model.md §6.
const WORK_BYTES_PER_TURN: usize = 256 * 1024;

/// The shortest silence that is shown. Chosen by eye.
const SILENCE_SHOWN: Duration = Duration::from_secs(3);

/// The shortest silence of which a line tells that stays. Chosen by eye: short ones need no words.
const SILENCE_NOTED: Duration = Duration::from_secs(10);

/// The signals that a copy deals with: those that would end it, and those that change what it draws.
const SIGNALS: [Signal; 7] = [
    Signal::WindowChange,
    Signal::Continue,
    Signal::Child,
    Signal::HangUp,
    Signal::Interrupt,
    Signal::Quit,
    Signal::Terminate,
];

/// Copies, and returns the status to leave with.
///
/// # Errors
///
/// When not all of it was copied.
pub(crate) fn run(arguments: &CopyArgs) -> Result<u8, CopyError> {
    let operands = &arguments.operands;
    run_jobs(arguments).map_err(|failure| {
        let failure = failure.with_local_file(operands);
        failure.with_port(arguments.wishes.preserve, operands)
    })
}

fn run_jobs(arguments: &CopyArgs) -> Result<u8, CopyError> {
    let jobs = plan(&arguments.operands)?;
    let wishes = &arguments.wishes;
    let writes_stdout = |job: &Job| matches!(job.kind, JobKind::DownloadStdout { .. });
    if wishes.json && jobs.iter().any(writes_stdout) {
        return Err(CopyError::TwoOutputs);
    }
    let reads_stdin = |job: &Job| matches!(job.kind, JobKind::UploadStdin { .. });
    if jobs.iter().any(reads_stdin) && was_closed(io::stdin()) {
        return Err(CopyError::NotOpen(StandardStream::Input));
    }
    if jobs.iter().any(writes_stdout) && was_closed(io::stdout()) {
        return Err(CopyError::NotOpen(StandardStream::Output));
    }
    forbid_core_dumps().map_err(while_doing("switching core dumps off"))?;
    // A file that may not grow is an error like others.
    signals::ignore(Signal::FileLimit).map_err(while_doing("ignoring a signal"))?;
    // Before the first child, of whose end it tells.
    let mut reactor = Reactor::new(&SIGNALS).map_err(while_doing("watching for signals"))?;
    let mut reporter = Reporter::new(wishes, &jobs, now());
    let outcome = copy_all(arguments, &jobs, &mut reactor, &mut reporter);
    // Who interrupts us does not wait for who reads what we tell.
    let delivered = if outcome.as_ref().is_err_and(is_final) {
        Ok(())
    } else {
        deliver(&mut reactor, &mut reporter)
    };
    // Why nothing was copied says more than that nobody has read it.
    match outcome? {
        0 => delivered.map(|()| 0),
        troubles => Err(CopyError::Incomplete {
            troubles,
            is_dry_run: wishes.dry_run,
        }),
    }
}

/// Copies one after the other, and returns how many troubles there were.
fn copy_all(
    arguments: &CopyArgs,
    jobs: &[Job],
    reactor: &mut Reactor,
    reporter: &mut Reporter,
) -> Result<u64, CopyError> {
    let began = now();
    let mut all = Totals::default();
    let mut failed = None;
    for job in jobs {
        match copy(arguments, job, jobs.len(), reactor, reporter) {
            Ok(totals) => add(&mut all, totals),
            // The others may be reached, or not be asked for any more.
            Err(failure) if is_final(&failure) => return Err(failure),
            Err(failure) => failed = note(failed, failure),
        }
    }
    if let Some(failure) = failed {
        return Err(failure);
    }
    let now = now();
    reporter.done(now, &all, now.since(began));
    Ok(all.troubles)
}

/// Waits until what was told has been taken.
fn deliver(reactor: &mut Reactor, reporter: &mut Reporter) -> Result<(), CopyError> {
    while let Some(output) = reporter.awaited() {
        let waited = reactor.wait(None, |registry| {
            registry.add_borrowed(Token::Output, output, Interest::Write);
        });
        waited.map_err(while_doing("waiting for standard output"))?;
        while let Some(event) = reactor.poll_event() {
            if let ReactorEvent::Signal(signal) = event {
                check_ending(signal)?;
            }
        }
        reporter.look_after_output();
    }
    match reporter.take_output_error() {
        Some(error) => Err(while_doing("writing to standard output")(error).into()),
        None => Ok(()),
    }
}

fn copy(
    arguments: &CopyArgs,
    job: &Job,
    jobs: usize,
    reactor: &mut Reactor,
    reporter: &mut Reporter,
) -> Result<Totals, CopyError> {
    reporter.begin(&job.kind);
    let settings = settings_for(arguments, &job.destination)?;
    let wishes = &arguments.wishes;
    let task = request::task(&job.kind, wishes, jobs)?;
    let words = arguments.ssh.words();
    let opening = CopyLogin::begin(
        &settings,
        &job.destination,
        &words,
        limit_there(job, wishes),
        Verbosity::of_count(wishes.verbose),
        arguments.flags.0.find("server").is_some(),
    )?;
    let modes = terminal_modes();
    let found = opening.finish(reactor, reporter);
    if let (Err(_), Some(modes)) = (&found, modes) {
        // ssh may have been killed while it asked for a password.
        let _ = modes.restore();
    }
    let connection = CopyConnection::begin(
        now(),
        found?,
        settings.transport,
        window_max(wishes),
        task.resumes(),
    )?;
    let pace = RateLimiter::new(wishes.limit, now());
    LocalEnd::new(reactor, reporter, connection, task, pace).run()
}

/// Returns the modes of the terminal at which ssh asks, if there is one.
fn terminal_modes() -> Option<SavedModes> {
    let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty");
    Tty::open(terminal.ok()?).ok()?.modes().ok()
}

/// Returns what the remote end keeps to, if it is the one that sends.
fn limit_there(job: &Job, wishes: &CopyOptions) -> Option<RateLimit> {
    match job.kind {
        JobKind::Download { .. } | JobKind::DownloadStdout { .. } => wishes.limit,
        JobKind::Upload { .. } | JobKind::UploadStdin { .. } => None,
    }
}

fn settings_for(
    arguments: &CopyArgs,
    destination: &OsStr,
) -> Result<fulmar_settings::LoginSettings, CopyError> {
    let host = crate::login::host_of(destination)?;
    let flags = arguments.flags.0.clone();
    let sources = SettingSources::own(flags, arguments.file.path.clone(), Some(&host));
    let settings = settings::resolve(&sources, &environment::current())?;
    let log = settings.records.log.as_deref().map_or(Log::Off, Log::File);
    log::begin_filtered(log, settings.log_filter)?;
    Ok(settings.login)
}

/// Returns the cap of what is under way. A bound on the rate is one on that, too: half a second of it, so that what
/// was sent before it is slowed down is not much.
fn window_max(wishes: &CopyOptions) -> Option<u64> {
    let of_rate = wishes.limit.map(|rate| rate.bytes_per_second() / 2);
    let cap = [wishes.window_max, of_rate].into_iter().flatten().min();
    cap.map(|cap| cap.max(WINDOW_BYTES_MIN))
}

/// The least cap: some datagrams for each stream.
///
/// Chosen by eye.
const WINDOW_BYTES_MIN: u64 = 256 * 1024;

fn add(all: &mut Totals, one: Totals) {
    all.files += one.files;
    all.folders += one.folders;
    all.links += one.links;
    all.bytes += one.bytes;
    all.troubles += one.troubles;
}

/// Tells of the failure before this one.
fn note(before: Option<CopyError>, failure: CopyError) -> Option<CopyError> {
    if let Some(before) = before {
        report::failure(&before, "fulmar", fulmar_core::CompatMode::Fulmar);
    }
    Some(failure)
}

/// Tells if nothing further is to be tried.
fn is_final(failure: &CopyError) -> bool {
    matches!(failure, CopyError::Interrupted { .. })
}

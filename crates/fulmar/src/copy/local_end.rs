//! The event loop of the local end of a copy.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_copy::{
    Allowed, Answer, CopyEnd, CopyEvent, EntryError, Flags, Poll, Progress, ProtocolError,
    RateLimiter, Receiver, Request, Requester, Sender, Totals,
};
use fulmar_login::SilenceTimer;
use fulmar_platform::{Interest, Signal};

use super::WORK_BYTES_PER_TURN;
use super::connection::CopyConnection;
use super::copy_login::ending;
use super::entry_error_text::entry_error_text;
use super::error::CopyError;
use super::file_transfer::{CopySource, CopyTarget, FileTransfer};
use super::progress::Snapshot;
use super::reporter::Reporter;
use crate::clock::now;
use crate::reactor::{Reactor, ReactorEvent, Token};
use crate::report::escaped;
use crate::system::while_doing;

/// The longest wait, once the copy is over, for the remote end to have all that we have written.
///
/// Chosen by eye.
const DELIVERED_WITHIN: Duration = Duration::from_secs(5);

/// The task of a local end.
pub(super) enum LocalTask {
    /// Files to send.
    Upload(Request, CopySource),
    /// A place for files, and what they may be called.
    Download(Request, CopyTarget, Allowed),
}

impl LocalTask {
    /// Tells if what has arrived of files is kept when this one is interrupted.
    pub(super) fn leaves_parts(&self) -> bool {
        let request = match self {
            // What comes through a pipe does not come again.
            LocalTask::Upload(_, CopySource::Pipe(..)) => return false,
            LocalTask::Upload(request, _) | LocalTask::Download(request, ..) => request,
        };
        !request.flags().contains(Flags::DRY_RUN) && !request.flags().contains(Flags::IN_ORDER)
    }

    /// Tells if the same command goes on where this one is interrupted.
    pub(super) fn resumes(&self) -> bool {
        let (LocalTask::Upload(request, _) | LocalTask::Download(request, ..)) = self;
        let flags = request.flags();
        flags.contains(Flags::RESUME) && !flags.contains(Flags::DRY_RUN)
    }
}

/// The stage that a copy has reached.
enum CopyStage {
    /// There are no streams yet.
    Ready(Box<LocalTask>),
    /// The remote end was asked.
    Asking(Requester, CopyTarget, Allowed),
    /// It works.
    Working(FileTransfer),
    /// It has come to this; the remote end may not know yet.
    Over(FileTransfer, Totals, Time),
    /// Between two of these.
    Void,
}

/// The local end of one copy.
pub(super) struct LocalEnd<'a> {
    pub(super) reactor: &'a mut Reactor,
    pub(super) reporter: &'a mut Reporter,
    connection: CopyConnection,
    stage: CopyStage,
    pace: RateLimiter,
    /// The time for which nothing has gone over the streams.
    silence: SilenceTimer,
    /// True if the same command would go on from here.
    resumes: bool,
    /// True if what has arrived is kept.
    leaves_parts: bool,
    /// The part that the other machine has in the copy.
    remote_end: CopyEnd,
}

impl<'a> LocalEnd<'a> {
    /// Returns one that has not begun.
    pub(super) fn new(
        reactor: &'a mut Reactor,
        reporter: &'a mut Reporter,
        connection: CopyConnection,
        task: LocalTask,
        pace: RateLimiter,
    ) -> LocalEnd<'a> {
        let (resumes, leaves_parts) = (task.resumes(), task.leaves_parts());
        let remote_end = match &task {
            LocalTask::Upload(..) => CopyEnd::Target,
            LocalTask::Download(..) => CopyEnd::Source,
        };
        LocalEnd {
            reactor,
            reporter,
            connection,
            stage: CopyStage::Ready(Box::new(task)),
            pace,
            silence: SilenceTimer::from(now()),
            resumes,
            leaves_parts,
            remote_end,
        }
    }

    /// Copies, and returns what it came to.
    ///
    /// # Errors
    ///
    /// When it came to nothing, or was interrupted. What is there of files is kept for another try.
    pub(super) fn run(mut self) -> Result<Totals, CopyError> {
        let outcome = self.go_on();
        let progress = self.progress();
        self.reporter.ended(&progress);
        if outcome.is_err()
            && let CopyStage::Working(transfer) = &mut self.stage
        {
            transfer.interrupt();
        }
        self.connection.close(now(), outcome.is_ok());
        outcome.map_err(|failure| failure.resuming(self.resumes))
    }

    fn go_on(&mut self) -> Result<Totals, CopyError> {
        let mut has_more = true;
        loop {
            has_more |= self.connection.transmit()?;
            self.wait(has_more)
                .map_err(while_doing("waiting for the far end"))?;
            let now = now();
            has_more = self.take_in(now)?;
            has_more |= self.work(now)?;
            if let Some(totals) = self.look_for_end(now) {
                return Ok(totals);
            }
            self.tell(now);
            self.notice_silence(now);
        }
    }

    /// Tells of a remote end whose connection is there and that has come to a halt. It may be hashing what it has.
    fn notice_silence(&mut self, now: Time) {
        let waits_for_us = match &mut self.stage {
            CopyStage::Working(transfer) => transfer.awaited().is_some(),
            CopyStage::Ready(_) | CopyStage::Asking(..) => false,
            CopyStage::Over(..) | CopyStage::Void => return,
        };
        // What is on the way and does not arrive is told elsewhere.
        if waits_for_us || self.reporter.is_behind() || self.connection.silent(now).is_some() {
            return self.silence.restart(now);
        }
        if let Some(told) = self.silence.notice(now, self.connection.host(), false) {
            self.reporter.note(&told);
        }
    }

    fn deadline(&self) -> Option<Time> {
        let stage = match &self.stage {
            CopyStage::Over(_, _, since) => Some(*since + DELIVERED_WITHIN),
            CopyStage::Working(_) if !self.reporter.is_behind() => self.pace.next(),
            _ => None,
        };
        let silence = match &self.stage {
            CopyStage::Over(..) | CopyStage::Void => None,
            _ => self.silence.deadline(),
        };
        let [connection, reporter] = [self.connection.deadline(), self.reporter.deadline()];
        [stage, silence, connection, reporter]
            .into_iter()
            .flatten()
            .min()
    }

    fn wait(&mut self, has_more: bool) -> std::io::Result<()> {
        let deadline = self.deadline();
        let is_behind = self.reporter.is_behind();
        let copied = match &mut self.stage {
            CopyStage::Working(transfer) | CopyStage::Over(transfer, ..) if !is_behind => {
                transfer.awaited()
            }
            _ => None,
        };
        self.reactor.wait(deadline, |registry| {
            if has_more {
                registry.add_ready(Token::Backlog);
            }
            self.connection.register(registry);
            if let Some((descriptor, interest)) = copied {
                registry.add_borrowed(Token::Copied, descriptor, interest);
            }
            if let Some(output) = self.reporter.awaited() {
                registry.add_borrowed(Token::Output, output, Interest::Write);
            }
        })
    }

    /// Hands over what has come. Returns whether there may be more at once.
    fn take_in(&mut self, now: Time) -> Result<bool, CopyError> {
        self.connection.begin_turn();
        while let Some(event) = self.reactor.poll_event() {
            match event {
                ReactorEvent::Hint(hint) => self.connection.handle_hint(now, hint),
                ReactorEvent::Signal(signal) => self.handle_signal(now, signal)?,
                ReactorEvent::Ready(token, readiness) if readiness.is_readable() => {
                    self.connection.handle_ready(now, token);
                }
                // Room is used in each turn.
                ReactorEvent::Ready(..) => {}
            }
        }
        self.reporter.look_after_output();
        self.connection.end_turn(now, self.reporter)
    }

    fn handle_signal(&mut self, now: Time, signal: Signal) -> Result<(), CopyError> {
        if let Some(signal) = ending(signal) {
            let has_begun = self.progress().bytes > 0;
            return Err(CopyError::Interrupted {
                signal,
                resumes: self.resumes && has_begun,
                is_kept: !self.resumes && has_begun && self.leaves_parts,
            });
        }
        if matches!(signal, Signal::WindowChange | Signal::Continue) {
            self.reporter.redraw(now);
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        match &self.stage {
            CopyStage::Working(transfer) | CopyStage::Over(transfer, ..) => transfer.progress(),
            _ => Progress::default(),
        }
    }

    /// Returns how many bytes the remote end has acknowledged of what is sent to it.
    fn acknowledged(&self) -> Option<u64> {
        match &self.stage {
            CopyStage::Working(FileTransfer::Sending(..)) => self.connection.acknowledged(),
            _ => None,
        }
    }

    /// Returns the name of the file that is being copied, for the user's eyes.
    fn current_file(&self) -> Option<String> {
        let CopyStage::Working(transfer) = &self.stage else {
            return None;
        };
        let name = String::from_utf8_lossy(transfer.current_file()?.as_bytes());
        Some(escaped(&name))
    }

    fn tell(&mut self, now: Time) {
        if self.reporter.deadline().is_some_and(|at| at <= now) {
            let snapshot = Snapshot {
                progress: arrived(self.progress(), self.acknowledged()),
                name: self.current_file(),
                path: self.connection.path(),
                silent: self.connection.silent(now),
            };
            self.reporter.progress(now, &snapshot);
        }
    }

    /// Does what there is to do. Returns whether there is more at once.
    fn work(&mut self, now: Time) -> Result<bool, CopyError> {
        // Who reads what we tell decides how fast that is.
        let Some(mut streams) = self
            .connection
            .streams()
            .filter(|_| !self.reporter.is_behind())
        else {
            return Ok(false);
        };
        match std::mem::replace(&mut self.stage, CopyStage::Void) {
            CopyStage::Ready(task) => {
                self.stage = begin(*task)?;
                self.tell_connected(now);
                Ok(true)
            }
            CopyStage::Asking(mut requester, target, allowed) => {
                let answer = requester.poll(&mut streams);
                if streams.moved() > 0 {
                    self.silence.restart(now);
                }
                let answer = answer.map_err(|wrong| self.wrong(wrong))?;
                self.stage = match answer {
                    None => CopyStage::Asking(requester, target, allowed),
                    Some(Answer::Refused(trouble)) => return Err(self.refused(&trouble)),
                    Some(Answer::Ready { into_folder }) => {
                        if into_folder {
                            expect_folder(&target)?;
                        }
                        let receiver = Box::new(Receiver::new(requester, allowed));
                        CopyStage::Working(FileTransfer::Receiving(receiver, target))
                    }
                };
                Ok(matches!(self.stage, CopyStage::Working(_)))
            }
            CopyStage::Working(mut transfer) => {
                let turn = match self.pace.allows(now, WORK_BYTES_PER_TURN) {
                    0 => Ok(Poll::Waiting),
                    budget => transfer.poll(&mut streams, budget),
                };
                let is_bounded = self.pace.next().is_some_and(|next| next > now);
                if streams.moved() > 0 || is_bounded || matches!(turn, Ok(Poll::More)) {
                    self.silence.restart(now);
                }
                self.pace.spend(streams.moved());
                self.after_turn(now, transfer, turn)
            }
            over @ (CopyStage::Over(..) | CopyStage::Void) => {
                self.stage = over;
                Ok(false)
            }
        }
    }

    fn after_turn(
        &mut self,
        now: Time,
        mut transfer: FileTransfer,
        turn: Result<Poll, ProtocolError>,
    ) -> Result<bool, CopyError> {
        let mut refusal = None;
        while let Some(event) = transfer.poll_event() {
            if let CopyEvent::Answered(Answer::Refused(trouble)) = &event {
                refusal = Some(self.refused(trouble));
            }
            self.reporter.event(&event);
        }
        let totals = transfer.totals();
        self.stage = CopyStage::Working(transfer);
        // First, as it explains whatever else has gone wrong in this turn.
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        let turn = turn.map_err(|wrong| self.wrong(wrong))?;
        if turn == Poll::Done
            && let CopyStage::Working(transfer) =
                std::mem::replace(&mut self.stage, CopyStage::Void)
        {
            self.stage = CopyStage::Over(transfer, totals.unwrap_or_default(), now);
        }
        Ok(turn == Poll::More)
    }

    fn look_for_end(&mut self, now: Time) -> Option<Totals> {
        let CopyStage::Over(transfer, totals, since) = &mut self.stage else {
            return None;
        };
        if !transfer.is_written() {
            // Whoever reads our output decides how long that takes.
            *since = now;
            return None;
        }
        let is_late = *since + DELIVERED_WITHIN <= now;
        (is_late || self.connection.is_delivered()).then_some(*totals)
    }

    fn tell_connected(&mut self, now: Time) {
        if let Some(path) = self.connection.path() {
            let peer = self.connection.peer();
            let host = self.connection.host();
            self.reporter.connected(now, host, &path, peer);
            self.reporter.remote_end_is(self.remote_end, host);
        }
    }

    fn wrong(&self, wrong: ProtocolError) -> CopyError {
        CopyError::ProtocolError {
            host: self.connection.host().to_owned(),
            what: wrong.to_string(),
        }
    }

    fn refused(&self, error: &EntryError) -> CopyError {
        let what = entry_error_text(self.remote_end, Some(self.connection.host()), error);
        CopyError::Refused { what }
    }
}

/// Returns the progress where files go to: bytes that wait here to be sent, or are on their way, are not there.
fn arrived(mut progress: Progress, acknowledged: Option<u64>) -> Progress {
    let carried = acknowledged.map_or(progress.bytes_carried, |acknowledged| {
        acknowledged.min(progress.bytes_carried)
    });
    progress.bytes -= progress.bytes.min(progress.bytes_carried - carried);
    progress.bytes_carried = carried;
    progress
}

/// Refuses a target that is no folder, before anything is written to it.
fn expect_folder(target: &CopyTarget) -> Result<(), CopyError> {
    let CopyTarget::Tree(target) = target else {
        return Ok(());
    };
    let refused = |error| CopyError::Refused {
        what: entry_error_text(CopyEnd::Target, None, &error),
    };
    target.expect_folder().map_err(refused)
}

/// Asks the remote end; who sends need not wait for the answer.
fn begin(task: LocalTask) -> Result<CopyStage, CopyError> {
    let ask = |request| {
        // Its names and numbers are too long or too many for any remote end.
        Requester::new(request).map_err(|trouble| {
            let what = trouble.to_string();
            CopyError::Refused { what }
        })
    };
    Ok(match task {
        LocalTask::Upload(request, source) => CopyStage::Working(FileTransfer::Sending(
            Box::new(Sender::new(ask(request)?)),
            source,
        )),
        LocalTask::Download(request, target, allowed) => {
            CopyStage::Asking(ask(request)?, target, allowed)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_acknowledged_has_not_arrived() {
        let progress = Progress {
            bytes: 170,
            bytes_held: 70,
            bytes_carried: 100,
            ..Progress::default()
        };
        let shown = |acknowledged| {
            let shown = arrived(progress, acknowledged);
            (shown.bytes, shown.bytes_carried)
        };
        assert_eq!(shown(None), (170, 100));
        assert_eq!(shown(Some(0)), (70, 0));
        assert_eq!(shown(Some(40)), (110, 40));
        // Heads of packets are acknowledged, too.
        assert_eq!(shown(Some(104)), (170, 100));
    }
}

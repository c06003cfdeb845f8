//! The task of a remote end, as it was requested.

use fulmar_copy::{Answer, Answerer, EntryError, Flags, Receiver, Request, Sender};
use fulmar_platform::User;
use fulmar_tree::{OperandContext, SourceOptions, TargetOptions, TreeSource, TreeTarget, umask};

use super::file_transfer::{CopySource, CopyTarget, FileTransfer};

/// The task of a remote end.
pub(super) enum RemoteTask {
    /// It waits for the request.
    Answering(Answerer),
    /// It looks for what a pattern stands for.
    Expanding(Answerer, Box<TreeSource>),
    /// It says that it will not be done.
    Refusing(Answerer),
    /// It sends or receives.
    Working(Box<FileTransfer>),
    /// There is nothing more to do.
    Done,
}

impl RemoteTask {
    /// Answers a request, and begins with it.
    pub(super) fn begin(mut answerer: Answerer, request: Request) -> RemoteTask {
        let context = OperandContext::remote(home);
        let flags = request.flags();
        match request {
            Request::Get { operands, .. } => {
                let options = SourceOptions {
                    recursive: flags.contains(Flags::RECURSIVE),
                    follow: flags.contains(Flags::FOLLOW),
                };
                let source = TreeSource::new(context, operands, options);
                RemoteTask::Expanding(answerer, Box::new(source))
            }
            Request::Put { target, .. } => {
                match TreeTarget::open(&context, &target, written(flags)) {
                    Ok(target) => {
                        let into_folder = target.is_folder();
                        answerer.answer(&Answer::Ready { into_folder });
                        // The sender is the user's own.
                        let receiver = Receiver::answering(answerer, Box::new(|_, _| true));
                        RemoteTask::Working(Box::new(FileTransfer::Receiving(
                            Box::new(receiver),
                            CopyTarget::Tree(target),
                        )))
                    }
                    Err(trouble) => refuse(answerer, trouble),
                }
            }
        }
    }
}

/// Goes on looking for what is to be sent, and begins to send once it is known whether that is several roots.
pub(super) fn expand(mut answerer: Answerer, mut source: Box<TreeSource>) -> RemoteTask {
    let Some(into_folder) = source.poll_several() else {
        return RemoteTask::Expanding(answerer, source);
    };
    answerer.answer(&Answer::Ready { into_folder });
    RemoteTask::Working(Box::new(FileTransfer::Sending(
        Box::new(Sender::answering(answerer)),
        CopySource::Tree(*source),
    )))
}

fn refuse(mut answerer: Answerer, trouble: EntryError) -> RemoteTask {
    tracing::info!(%trouble, "refused");
    answerer.answer(&Answer::Refused(trouble));
    RemoteTask::Refusing(answerer)
}

/// Returns how a tree is written, as the flags say.
pub(super) fn written(flags: Flags) -> TargetOptions {
    TargetOptions {
        recursive: flags.contains(Flags::RECURSIVE),
        preserve: flags.contains(Flags::PRESERVE),
        resume: flags.contains(Flags::RESUME),
        dry_run: flags.contains(Flags::DRY_RUN),
        into_folder: flags.contains(Flags::INTO_FOLDER),
        in_order: flags.contains(Flags::IN_ORDER),
        umask: umask(),
    }
}

/// Returns somebody's home folder: our own, as the others' are no business of a copy.
fn home(user: Option<&[u8]>) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStringExt as _;
    let own = User::current().ok().flatten();
    match user {
        Some(name) => {
            let own = own.filter(|own| own.name.as_bytes() == name)?;
            Some(own.home.into_os_string().into_vec())
        }
        None => match std::env::var_os("HOME").filter(|home| !home.is_empty()) {
            Some(home) => Some(home.into_vec()),
            None => Some(own?.home.into_os_string().into_vec()),
        },
    }
}

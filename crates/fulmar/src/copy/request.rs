//! Makes a job into a request to the remote end and a task of this end.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;

use fulmar_copy::{Allowed, CopyEnd, Flags, Request};
use fulmar_tree::{
    Named, OperandContext, PipeSource, PipeTarget, SourceOptions, TargetOptions, TreeSource,
    TreeTarget,
};

use super::arguments::CopyOptions;
use super::entry_error_text::entry_error_text;
use super::error::CopyError;
use super::file_transfer::{CopySource, CopyTarget};
use super::local_end::LocalTask;
use super::plan::JobKind;
use super::remote_task::written;

/// Returns what is to be done at this end and asked of the other.
///
/// # Errors
///
/// When it cannot be done at this end.
pub(super) fn task(
    kind: &JobKind,
    wishes: &CopyOptions,
    jobs: usize,
) -> Result<LocalTask, CopyError> {
    let flags = flags(kind, wishes, jobs);
    match kind {
        JobKind::Upload { sources, target } => {
            let options = SourceOptions {
                recursive: wishes.recursive,
                follow: true,
            };
            let source = TreeSource::new(OperandContext::local(), bytes(sources), options);
            Ok(LocalTask::Upload(
                put(target, flags),
                CopySource::Tree(source),
            ))
        }
        JobKind::UploadStdin { target } => {
            let input = io::stdin().as_fd().try_clone_to_owned().map_err(here)?;
            let source = CopySource::Pipe(PipeSource::new(input), false);
            Ok(LocalTask::Upload(put(target, flags), source))
        }
        JobKind::Download { sources, target } => {
            let operands = bytes(sources);
            // What needs it is only known with the target, and then it is asked for.
            let options = TargetOptions {
                in_order: true,
                ..written(flags)
            };
            let target = TreeTarget::open(&OperandContext::local(), target.as_bytes(), options);
            let target = target.map_err(|error| CopyError::Refused {
                what: entry_error_text(CopyEnd::Target, None, &error),
            })?;
            let flags = if target.is_pipe() {
                (flags - Flags::RESUME) | Flags::IN_ORDER
            } else {
                flags
            };
            let allowed = allowed(&operands);
            let request = Request::Get { operands, flags };
            Ok(LocalTask::Download(
                request,
                CopyTarget::Tree(target),
                allowed,
            ))
        }
        JobKind::DownloadStdout { sources } => {
            let operands = bytes(sources);
            let output = io::stdout().as_fd().try_clone_to_owned().map_err(here)?;
            let allowed = allowed(&operands);
            let target = CopyTarget::Pipe(PipeTarget::new(output));
            Ok(LocalTask::Download(
                Request::Get { operands, flags },
                target,
                allowed,
            ))
        }
    }
}

/// Tells if parts are kept at all.
fn is_resumable(kind: &JobKind) -> bool {
    matches!(kind, JobKind::Upload { .. } | JobKind::Download { .. })
}

fn put(target: &OsString, flags: Flags) -> Request {
    let target = target.as_bytes().to_vec();
    Request::Put { target, flags }
}

fn flags(kind: &JobKind, wishes: &CopyOptions, jobs: usize) -> Flags {
    let sources = match kind {
        JobKind::Upload { sources, .. }
        | JobKind::Download { sources, .. }
        | JobKind::DownloadStdout { sources } => sources.as_slice(),
        JobKind::UploadStdin { .. } => &[],
    };
    // What is in a folder has no one name.
    let is_contents = |source: &OsString| matches!(Named::by(source.as_bytes()), Named::Contents);
    let into_folder = sources.len() > 1 || jobs > 1 || sources.iter().any(is_contents);
    let to_stdout = matches!(kind, JobKind::DownloadStdout { .. });
    [
        (wishes.recursive, Flags::RECURSIVE),
        (wishes.preserve, Flags::PRESERVE),
        (!wishes.no_resume && is_resumable(kind), Flags::RESUME),
        (wishes.dry_run, Flags::DRY_RUN),
        (into_folder && !to_stdout, Flags::INTO_FOLDER),
        (to_stdout, Flags::IN_ORDER),
        // As scp.
        (true, Flags::FOLLOW),
    ]
    .into_iter()
    .filter(|(is_wanted, _)| *is_wanted)
    .fold(Flags::empty(), |flags, (_, flag)| flags | flag)
}

fn bytes(sources: &[OsString]) -> Vec<Vec<u8>> {
    sources
        .iter()
        .map(|source| source.as_bytes().to_vec())
        .collect()
}

/// Returns what the remote end may call what it sends: what the user has named, by that name, and what the
/// user's patterns stand for.
///
/// Source: docs/threat-model.md §11.
fn allowed(operands: &[Vec<u8>]) -> Allowed {
    let named: Vec<(Vec<u8>, Named)> = operands
        .iter()
        .map(|operand| (operand.clone(), Named::by(operand)))
        .collect();
    Box::new(move |operand, name| {
        let found = usize::try_from(operand).ok().and_then(|at| named.get(at));
        match found {
            // What is in it may have any name.
            Some((_, Named::Contents)) => true,
            Some((operand, named)) => named.allows(operand, name),
            None => false,
        }
    })
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn here(error: io::Error) -> CopyError {
    CopyError::Refused {
        what: format!("a standard stream is not open: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the flags of the request when a file is fetched to a target here.
    fn asked(target: &str) -> Flags {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            wishes: CopyOptions,
        }
        let Line { wishes } = clap::Parser::parse_from(["cp"]);
        let kind = JobKind::Download {
            sources: vec!["a".into()],
            target: target.into(),
        };
        match task(&kind, &wishes, 1) {
            Ok(LocalTask::Download(request, ..)) => request.flags(),
            _ => panic!("nothing is asked for"),
        }
    }

    /// A pipe cannot take the chunks of a large file as they come.
    #[test]
    fn for_a_device_data_is_asked_for_in_order() {
        let both = Flags::IN_ORDER | Flags::RESUME;
        assert_eq!(asked("/dev/null") & both, Flags::IN_ORDER);
        assert_eq!(asked("/") & both, Flags::RESUME);
    }

    fn may(operand: &str, name: &str) -> bool {
        allowed(&[operand.as_bytes().to_vec()])(0, name.as_bytes())
    }

    #[test]
    fn the_remote_end_may_bring_what_was_named_and_nothing_else() {
        for (operand, name, may_come) in [
            ("a", "a", true),
            ("x/a", "a", true),
            ("a", "b", false),
            ("a", ".bashrc", false),
            ("*.c", "x.c", true),
            ("*.c", "x.h", false),
            ("*", "a", true),
            ("*", ".bashrc", false),
            ("dir/.", "anything", true),
            ("", "anything", true),
        ] {
            assert_eq!(may(operand, name), may_come, "{operand} {name}");
        }
        assert!(!allowed(&[b"a".to_vec()])(1, b"a"), "there is no operand 1");
    }
}

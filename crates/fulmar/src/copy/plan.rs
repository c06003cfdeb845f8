//! Makes jobs of operands: what is to be copied from where to where.

use std::ffi::{OsStr, OsString};

use super::error::CopyError;
use super::operand::{Operand, Remote};

/// One copy over one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    /// `[user@]host`, for ssh.
    pub(crate) destination: OsString,
    /// The files and the direction.
    pub(crate) kind: JobKind,
}

/// The files of a job and the direction in which they go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JobKind {
    /// From here to there.
    Upload {
        /// Files here.
        sources: Vec<OsString>,
        /// The target there.
        target: OsString,
    },
    /// The bytes of standard input go into a file there.
    UploadStdin {
        /// The file.
        target: OsString,
    },
    /// From there to here.
    Download {
        /// Files or patterns there.
        sources: Vec<OsString>,
        /// The target here.
        target: OsString,
    },
    /// Files from there go to standard output, one after the other.
    DownloadStdout {
        /// Files or patterns there.
        sources: Vec<OsString>,
    },
}

/// Returns what is to be done, in order; at least one job. Sources that stand beside each other and
/// are on one machine go over one connection.
///
/// # Errors
///
/// When that is not something that a copy is.
pub(crate) fn plan(words: &[OsString]) -> Result<Vec<Job>, CopyError> {
    let operands = words.iter().map(|word| read(word));
    let mut operands = operands.collect::<Result<Vec<Operand>, CopyError>>()?;
    let Some(target) = operands.pop() else {
        return Err(CopyError::NothingNamed);
    };
    match target {
        Operand::Remote(target) => upload(operands, target).map(|job| vec![job]),
        Operand::Local(target) => download(operands, &LocalTarget::File(target)),
        Operand::Stdio => download(operands, &LocalTarget::Stdout),
    }
}

fn read(word: &OsStr) -> Result<Operand, CopyError> {
    Operand::parse(word).map_err(|why| CopyError::Operand {
        text: word.to_owned(),
        why,
    })
}

fn upload(operands: Vec<Operand>, target: Remote) -> Result<Job, CopyError> {
    let kind = match operands.as_slice() {
        [Operand::Stdio] => JobKind::UploadStdin {
            target: target.path,
        },
        _ => JobKind::Upload {
            sources: operands.into_iter().map(local).collect::<Result<_, _>>()?,
            target: target.path,
        },
    };
    Ok(Job {
        destination: target.destination,
        kind,
    })
}

fn local(operand: Operand) -> Result<OsString, CopyError> {
    match operand {
        Operand::Local(path) => Ok(path),
        Operand::Remote(_) => Err(CopyError::BothThere),
        Operand::Stdio => Err(CopyError::StdioAmongOthers),
    }
}

/// The target of files on this machine.
enum LocalTarget {
    File(OsString),
    Stdout,
}

fn download(operands: Vec<Operand>, place: &LocalTarget) -> Result<Vec<Job>, CopyError> {
    let is_remote = |operand: &Operand| matches!(operand, Operand::Remote(_));
    if !operands.iter().any(is_remote) {
        return Err(CopyError::BothHere);
    }
    let mut groups: Vec<(OsString, Vec<OsString>)> = Vec::new();
    for operand in operands {
        let source = match operand {
            Operand::Remote(source) => source,
            Operand::Local(path) => return Err(CopyError::Mixed { path }),
            Operand::Stdio => return Err(CopyError::StdioAmongOthers),
        };
        match groups.last_mut() {
            Some((destination, paths)) if *destination == source.destination => {
                paths.push(source.path);
            }
            _ => groups.push((source.destination, vec![source.path])),
        }
    }
    let job = |(destination, sources)| Job {
        destination,
        kind: match place {
            LocalTarget::File(target) => JobKind::Download {
                sources,
                target: target.clone(),
            },
            LocalTarget::Stdout => JobKind::DownloadStdout { sources },
        },
    };
    Ok(groups.into_iter().map(job).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(line: &str) -> Result<Vec<Job>, CopyError> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        plan(&words)
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_target_says_which_way_it_goes() {
        let up = Job {
            destination: "h".into(),
            kind: JobKind::Upload {
                sources: words("a b"),
                target: "c".into(),
            },
        };
        assert_eq!(planned("a b h:c").unwrap(), [up]);
        let down = Job {
            destination: "u@h".into(),
            kind: JobKind::Download {
                sources: words("a b"),
                target: ".".into(),
            },
        };
        assert_eq!(planned("u@h:a u@h:b .").unwrap(), [down]);
        let stdin = JobKind::UploadStdin { target: "x".into() };
        assert_eq!(planned("- h:x").unwrap()[0].kind, stdin);
        let stdout = JobKind::DownloadStdout {
            sources: words("x"),
        };
        assert_eq!(planned("h:x -").unwrap()[0].kind, stdout);
    }

    #[test]
    fn sources_of_several_hosts_are_several_jobs_in_their_order() {
        let jobs = planned("h:a h:b i:c h:d .").unwrap();
        let hosts: Vec<_> = jobs.iter().map(|job| job.destination.to_str()).collect();
        assert_eq!(hosts, [Some("h"), Some("i"), Some("h")]);
    }

    #[test]
    fn what_is_no_copy_between_two_machines_is_refused() {
        assert!(matches!(planned("a b"), Err(CopyError::BothHere)));
        assert!(matches!(planned("a -"), Err(CopyError::BothHere)));
        assert!(matches!(planned("h:a i:b"), Err(CopyError::BothThere)));
        assert!(matches!(planned("h:a b ."), Err(CopyError::Mixed { .. })));
        assert!(matches!(planned("h:a h:"), Err(CopyError::BothThere)));
        let stdin = planned("a - h:b");
        assert!(matches!(stdin, Err(CopyError::StdioAmongOthers)));
    }
}

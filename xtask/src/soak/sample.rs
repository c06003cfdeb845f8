//! The resources of a process, as Linux counts them.

use std::fs;
use std::path::{Path, PathBuf};

/// The resources that a process has at a moment, or has taken until then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    /// Its memory that is not swapped out, KiB.
    pub(super) memory: f64,
    pub(super) descriptors: f64,
    /// The times that it has begun to wait, and so has woken up or will.
    pub(super) wakes: f64,
    /// The processor time, in seconds.
    pub(super) seconds: f64,
}

impl Sample {
    /// Looks at a process; `None` if it has ended.
    pub(super) fn of(pid: u32) -> Option<Sample> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let status = fs::read_to_string(folder.join("status")).ok()?;
        let mut sample = Sample {
            memory: number_behind(&status, "VmRSS:")?,
            descriptors: fs::read_dir(folder.join("fd")).ok()?.count() as f64,
            ..Sample::default()
        };
        for thread in fs::read_dir(folder.join("task")).ok()?.flatten() {
            sample.add_thread(&thread.path());
        }
        Some(sample)
    }

    /// A thread may end meanwhile.
    fn add_thread(&mut self, folder: &Path) {
        let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
        self.wakes += number_behind(&status, "voluntary_ctxt_switches:").unwrap_or(0.0);
        let times = fs::read_to_string(folder.join("schedstat")).unwrap_or_default();
        let nanoseconds: Option<f64> = times
            .split_whitespace()
            .next()
            .and_then(|word| word.parse().ok());
        self.seconds += nanoseconds.unwrap_or(0.0) / 1e9;
    }
}

fn number_behind(status: &str, title: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(title))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_sees_itself() {
        let sample = Sample::of(std::process::id()).unwrap();
        assert!(sample.memory > 100.0, "{sample:?}");
        assert!(sample.descriptors >= 3.0, "{sample:?}");
        assert!(sample.seconds > 0.0, "{sample:?}");
        assert_eq!(number_behind("a: 7 kB\nb: 8\n", "b:"), Some(8.0));
    }
}

//! The files of a transfer.

use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use fulmar_sim::Random;
use tempfile::TempDir;

/// The folder in which files lie in memory, on every Linux.
const MEMORY: &str = "/dev/shm";

/// The bytes that are made and compared at once.
const PIECE: usize = 1 << 20;

/// A source, and the folder of its copy, in memory. They go with this value.
pub(in crate::instrument) struct TransferFiles(TempDir);

impl TransferFiles {
    pub(in crate::instrument) fn new() -> Result<Self> {
        let folder = TempDir::with_prefix_in("fulmar-lab-", MEMORY);
        let files = Self(folder.context("making a folder in memory")?);
        fs::create_dir(files.far())?;
        Ok(files)
    }

    /// Returns files whose source is one file in which no tool would find a pattern.
    pub(in crate::instrument) fn random(bytes: u64) -> Result<Self> {
        let files = Self::new()?;
        let file = File::create(files.source()).context("making a file in memory")?;
        let mut file = BufWriter::with_capacity(PIECE, file);
        // What the link does follows from the seed; what is carried may be the same each time.
        let mut random = Random::stream(1, 0);
        for at in (0..bytes).step_by(8) {
            let word = random.bits().to_le_bytes();
            let length = (bytes - at).min(8) as usize;
            let written = file.write_all(word.get(..length).unwrap_or_default());
            written.context("filling a file in memory")?;
        }
        file.flush().context("filling a file in memory")?;
        Ok(files)
    }

    pub(in crate::instrument) fn source(&self) -> PathBuf {
        self.0.path().join("source")
    }

    /// The target, alone in its folder.
    pub(in crate::instrument) fn target(&self) -> PathBuf {
        self.far().join("target")
    }

    /// The folder of the target.
    pub(super) fn far(&self) -> PathBuf {
        self.0.path().join("far")
    }

    /// Tells whether the target is there and is as the source.
    pub(in crate::instrument) fn are_same(&self) -> Result<bool> {
        are_same(&self.source(), &self.target())
    }
}

/// Tells whether two files are the same; one that is not there is not.
fn are_same(one: &Path, other: &Path) -> Result<bool> {
    let (Ok(mut one), Ok(mut other)) = (File::open(one), File::open(other)) else {
        return Ok(false);
    };
    let (mut left, mut right) = (vec![0; PIECE], vec![0; PIECE]);
    loop {
        let count = one.read(&mut left)?;
        if count == 0 {
            return Ok(other.read(&mut right)? == 0);
        }
        let (mine, theirs) = (&left[..count], &mut right[..count]);
        if other.read_exact(theirs).is_err() || mine != theirs {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_is_short_long_or_changed_is_not_the_same() {
        let bytes = PIECE as u64 + 5;
        let files = TransferFiles::random(bytes).unwrap();
        let source = fs::read(files.source()).unwrap();
        assert_eq!(source.len() as u64, bytes);
        assert!(!files.are_same().unwrap(), "there is none yet");
        let same = |target: &[u8]| {
            fs::write(files.target(), target).unwrap();
            files.are_same().unwrap()
        };
        assert!(same(&source));
        assert!(!same(&source[..PIECE]) && !same(&source[..PIECE + 4]) && !same(&[]));
        assert!(!same(&[source.as_slice(), &[0]].concat()));
        for at in [0, PIECE - 1, PIECE, PIECE + 4] {
            let mut changed = source.clone();
            changed[at] ^= 1;
            assert!(!same(&changed), "{at}");
        }
    }

    #[test]
    fn what_is_carried_has_no_block_twice() {
        let files = TransferFiles::random(3 * PIECE as u64).unwrap();
        let source = fs::read(files.source()).unwrap();
        let mut blocks: Vec<&[u8]> = source.chunks(4096).collect();
        let count = blocks.len();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), count);
    }
}

//! A copy of the checkout, in which files may be changed.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Makes the folder `to` hold exactly these files of `from`. What is the same already is not touched, so that it is not
/// built again.
pub(crate) fn mirror(from: &Path, files: &[PathBuf], to: &Path) -> Result<()> {
    let wanted: BTreeSet<PathBuf> = files.iter().map(|file| to.join(file)).collect();
    fs::create_dir_all(to)?;
    remove_others(to, &wanted).with_context(|| to.display().to_string())?;
    for file in files {
        let (source, copy) = (from.join(file), to.join(file));
        copy_if_different(&source, &copy).with_context(|| source.display().to_string())?;
    }
    Ok(())
}

fn copy_if_different(source: &Path, copy: &Path) -> io::Result<()> {
    let is_same = fs::read(copy).is_ok_and(|held| fs::read(source).is_ok_and(|new| new == held));
    if is_same {
        return Ok(());
    }
    if let Some(folder) = copy.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(source, copy).map(drop)
}

fn remove_others(folder: &Path, wanted: &BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            remove_others(&path, wanted)?;
        } else if !wanted.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_gets_what_has_changed_and_loses_what_is_gone() {
        let [from, to] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let write = |folder: &tempfile::TempDir, name: &str, text: &str| {
            fs::create_dir_all(folder.path().join("src")).unwrap();
            fs::write(folder.path().join(name), text).unwrap();
        };
        write(&from, "a", "new");
        write(&from, "src/b", "same");
        write(&from, "untracked", "");
        write(&to, "a", "old");
        write(&to, "src/b", "same");
        write(&to, "src/gone", "");
        let touched = |folder: &tempfile::TempDir| {
            let same = fs::metadata(folder.path().join("src/b")).unwrap();
            same.modified().unwrap()
        };
        let before = touched(&to);
        mirror(from.path(), &["a".into(), "src/b".into()], to.path()).unwrap();
        assert_eq!(fs::read_to_string(to.path().join("a")).unwrap(), "new");
        assert_eq!(touched(&to), before);
        for name in ["src/gone", "untracked"] {
            assert!(!to.path().join(name).exists(), "{name}");
        }
    }
}

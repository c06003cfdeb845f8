//! `cargo xtask tidy`: the project's own rules about its sources, those that no compiler knows.
//!
//! | rule | where |
//! |---|---|
//! | no `unsafe` outside fulmar-platform, no ignored test, nothing left to do | [`words`] |
//! | a file past 800 lines is a question: which noun is missing? (a warning) | [`words`] |
//! | no path of one person's machine | [`words`] |
//! | a program that a test needs is in the table that installs it | [`words`] |
//! | a limit, and a time, says where it comes from | [`numbers`] |
//! | a cited section exists | [`citations`] |
//! | a doc comment begins with a statement | [`doc_lines`] |
//! | a link between documents leads somewhere | [`links`] |
//! | the table of logins names all tests of them, and no others | [`logins`] |
//! | crates depend only on whom they may | [`arrows`] |
//! | the lab uses what it judges in one folder only | [`arrows`] |
//! | what is a dependency is used, and there once | [`dependencies`] |
//! | the table of caps is that of the constants, and their tests exist | [`caps`] |
//! | no modules of a crate import each other in a circle | [`circles`] |
//! | a part of the program uses only parts on the floors below | [`floors`] |

mod arrows;
mod caps;
mod circles;
mod citations;
mod dependencies;
mod doc_lines;
mod floors;
mod links;
mod logins;
mod modules;
mod numbers;
mod source;
mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, bail};

pub(crate) use self::numbers::{begins_tests, is_of_tests};
pub(crate) use self::source::Source;
use crate::workspace::Workspace;

/// Something a rule says about one line.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    file: PathBuf,
    /// Counted from 1; 0 speaks of the file as a whole.
    line: usize,
    severity: Severity,
    message: String,
}

/// The severity of a finding: an error stops a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Severity {
    Error,
    Warning,
}

impl Finding {
    fn error(file: impl Into<PathBuf>, line: usize, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line,
            severity: Severity::Error,
            message: message.into(),
        }
    }

    fn warning(file: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        let severity = Severity::Warning;
        Self {
            file: file.into(),
            line: 0,
            severity,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {severity}: {}", self.message)
    }
}

/// The text files of the checkout by path. A rule needs no file system, so its tests need none.
type Files = BTreeMap<PathBuf, String>;

/// The file that `target` means in `from`, from the root; `None` if it is outside.
fn resolve(from: &Path, target: &str) -> Option<PathBuf> {
    let mut path = from.parent()?.to_owned();
    for component in Path::new(target).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// Runs every rule and prints what they find.
///
/// # Errors
///
/// When a rule is broken. Warnings are printed and stop nothing.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut files = read(workspace)?;
    if std::env::var_os("FULMAR_WRITE_DOCUMENTS").is_some()
        && let Some(text) = caps::renewed(&files)
    {
        std::fs::write(workspace.root().join(caps::DOCUMENT), &text)?;
        files.insert(caps::DOCUMENT.into(), text);
    }
    let mut findings = words::findings(&files);
    findings.extend(citations::findings(&files));
    findings.extend(doc_lines::findings(&files));
    findings.extend(links::findings(&files));
    findings.extend(logins::findings(&files));
    findings.extend(numbers::findings(&files));
    let metadata = workspace.metadata()?;
    findings.extend(arrows::findings(&metadata)?);
    findings.extend(dependencies::duplicates(&files));
    findings.extend(dependencies::unused(&metadata, &files, workspace.root())?);
    findings.extend(arrows::independence(&files));
    findings.extend(caps::findings(&files));
    findings.extend(circles::findings(&files));
    findings.extend(floors::findings(&files));

    for finding in &findings {
        eprintln!("{finding}");
    }
    let errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .count();
    if errors > 0 {
        bail!("{errors} findings");
    }
    println!("tidy: {} files, {} warnings", files.len(), findings.len());
    Ok(())
}

/// Reads all files; one that is not UTF-8 is listed with no text.
fn read(workspace: &Workspace) -> Result<Files> {
    let mut files = Files::new();
    for file in workspace.files()? {
        let bytes = std::fs::read(workspace.root().join(&file))
            .with_context(|| format!("reading {}", file.display()))?;
        files.insert(file, String::from_utf8(bytes).unwrap_or_default());
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_like_a_compilers() {
        let error = Finding::error("a/b.rs", 3, "why");
        assert_eq!(error.to_string(), "a/b.rs:3: error: why");
        assert_eq!(
            Finding::warning("b.rs", "long").to_string(),
            "b.rs: warning: long"
        );
    }
}

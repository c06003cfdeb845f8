//! The ledger of campaigns, `docs/campaigns.md`: what was run, when, and what it found.

use std::fs;

use anyhow::{Context as _, Result};

use crate::workspace::{self, Workspace};

/// Path of the ledger.
pub(crate) const LEDGER: &str = "docs/campaigns.md";

/// Adds a row to the table below that heading.
///
/// # Errors
///
/// When there is no such table.
pub(crate) fn enter(workspace: &Workspace, heading: &str, cells: &[String]) -> Result<()> {
    let path = workspace.root().join(LEDGER);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let row = format!("| {} |", cells.join(" | "));
    let text = with_row(&text, heading, &row).with_context(|| format!("{heading} in {LEDGER}"))?;
    fs::write(&path, text).with_context(|| path.display().to_string())
}

/// Returns the day and the commit at which something is run.
///
/// # Errors
///
/// When git cannot tell.
pub(crate) fn occasion(workspace: &Workspace) -> Result<[String; 2]> {
    let mut git = std::process::Command::new("git");
    git.args(["rev-parse", "--short=10", "HEAD"]);
    let commit = workspace::output_of(git.current_dir(workspace.root()))?;
    let day = workspace::output_of(std::process::Command::new("date").args(["-u", "+%F"]))?;
    Ok([day, commit].map(|text| text.trim().to_owned()))
}

/// Puts a row behind the last one of the table below a heading.
fn with_row(text: &str, heading: &str, row: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let title = lines.iter().position(|line| *line == heading)?;
    let table = title
        + lines[title..]
            .iter()
            .position(|line| line.starts_with('|'))?;
    let rows = lines[table..]
        .iter()
        .take_while(|line| line.starts_with('|'));
    let end = table + rows.count();
    lines.insert(end, row);
    Some(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_comes_behind_the_last_one_of_its_table() {
        let text = "# T\n\n## A\n\ntext\n\n| x |\n|---|\n| 1 |\n\n## B\n\n| y |\n|---|\n";
        let with = with_row(text, "## A", "| 2 |").unwrap();
        assert_eq!(with, text.replace("| 1 |\n", "| 1 |\n| 2 |\n"));
        assert!(
            with_row(text, "## B", "| 3 |")
                .unwrap()
                .ends_with("|---|\n| 3 |\n")
        );
        assert_eq!(with_row(text, "## C", "| 4 |"), None);
    }
}

//! Links between documents: every relative target is a file of the repository, every `#anchor` a
//! heading of it.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Files, Finding, resolve};

/// Checks the links of all Markdown files.
pub(super) fn findings(files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in files {
        if !is_markdown(path) {
            continue;
        }
        for (line, target) in links(text) {
            if let Some(message) = fault(path, target, files) {
                findings.push(Finding::error(path, line, message));
            }
        }
    }
    findings
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// Returns the fault of a link to `target` in the document `from`.
fn fault(from: &Path, target: &str, files: &Files) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let to = if file.is_empty() {
        Some(from.to_owned())
    } else {
        resolve(from, file)
    };
    let Some(to) = to else {
        return Some(format!("the link {target} leaves the repository"));
    };
    let Some(text) = files.get(&to) else {
        let is_folder = files.keys().any(|file| file.starts_with(&to));
        return (!is_folder).then(|| format!("the link {target} leads nowhere"));
    };
    if anchor.is_empty() || !is_markdown(&to) || anchors(text).contains(anchor) {
        return None;
    }
    Some(format!("{} has no heading #{anchor}", to.display()))
}

/// The targets of `[text](target)` and `[name]: target` with their lines, outside code.
fn links(markdown: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (number, line) in prose(markdown) {
        let mut in_code = false;
        for part in line.split('`') {
            if !in_code {
                let targets = part
                    .split("](")
                    .skip(1)
                    .filter_map(|rest| rest.split(')').next());
                links.extend(targets.map(|target| (number, without_title(target))));
            }
            in_code = !in_code;
        }
        if let Some((_, target)) = line.split_once("]: ").filter(|_| line.starts_with('[')) {
            links.push((number, without_title(target)));
        }
    }
    links
}

/// The `a.md` of `a.md "its title"`.
fn without_title(target: &str) -> &str {
    target.split_whitespace().next().unwrap_or("")
}

/// The anchors of a document's headings, made as the usual viewers make them: lower case,
/// punctuation dropped, spaces as hyphens, and `-1` after the second of two equal ones.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(markdown) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title
            .trim()
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String = kept
            .map(|c| if c == ' ' { '-' } else { c })
            .flat_map(char::to_lowercase)
            .collect();
        let again = (1..).map(|n| format!("{anchor}-{n}"));
        let mut names = std::iter::once(anchor.clone()).chain(again);
        names.find(|name| anchors.insert(name.clone()));
    }
    anchors
}

/// The numbered lines outside fenced code.
fn prose(markdown: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(markdown.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the findings about a document in `docs/` that holds `text`.
    fn said(text: &str) -> Vec<String> {
        let files = Files::from([
            (
                "README.md".into(),
                "# Read me\n## What's *in* it?\n## Twice\n## Twice\n".to_owned(),
            ),
            ("docs/decisions/0001-a.md".into(), String::new()),
            ("docs/a.md".into(), text.to_owned()),
        ]);
        findings(&files)
            .iter()
            .map(|finding| finding.to_string())
            .collect()
    }

    #[test]
    fn links_that_lead_somewhere_are_fine() {
        for fine in [
            "[a](../README.md) and [b](decisions/) [c](decisions/0001-a.md \"title\")",
            "[a](../README.md#whats-in-it) [b](../README.md#twice-1)",
            "# Own heading\n[a](#own-heading)",
            "[a](https://example.org/b.md#c) [d](mailto:alice@example.org)",
            "`[a](gone.md)`\n```\n[a](gone.md)\n```",
            "[a]: ../README.md",
        ] {
            assert_eq!(said(fine), [""; 0], "{fine}");
        }
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        assert_eq!(
            said("\n[a](gone.md)"),
            ["docs/a.md:2: error: the link gone.md leads nowhere"]
        );
        assert_eq!(said("[a]: gone.md").len(), 1);
        let expected = ["docs/a.md:1: error: README.md has no heading #gone"];
        assert_eq!(said("[a](../README.md#gone)"), expected);
        assert_eq!(said("```\n# Code\n```\n[a](#code)").len(), 1);
    }

    #[test]
    fn links_that_leave_the_repository_are_found() {
        let expected = ["docs/a.md:1: error: the link ../../b.md leaves the repository"];
        assert_eq!(said("[a](../../b.md)"), expected);
        assert_eq!(said("[a](/etc/motd)").len(), 1);
    }
}

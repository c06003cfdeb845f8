//! Data that are not there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::selection::SelectedCell;
use crate::experiment::Surroundings;
use crate::trace::ORIGIN;

/// Says which experiments need which files that are not there, and where they are to be had; `None`
/// where all are.
pub fn missing(chosen: &[SelectedCell], around: &Surroundings) -> Option<String> {
    let mut lacking: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for one in chosen {
        let needs = one.cell.work.needs().into_iter();
        let absent: Vec<String> = needs.filter(|file| !is_there(file, around)).collect();
        if !absent.is_empty() {
            lacking.entry(one.experiment).or_default().extend(absent);
        }
    }
    if lacking.is_empty() {
        return None;
    }
    let mut text = match &around.data {
        Some(folder) => format!("some files are not in {}:\n", folder.display()),
        None => "no folder of data is named, and these need one:\n".to_owned(),
    };
    for (experiment, files) in lacking {
        let files: Vec<String> = files.into_iter().collect();
        text += &format!("  {experiment}: {}\n", files.join(", "));
    }
    text += ORIGIN;
    text += " The recordings agd-* and h2o-* are in the same repository (folder key-traces here). \
             Or let generated links and our own recordings stand in, under names of their own, \
             with --generated.";
    Some(text)
}

/// Looks where links and replays look: in the folder's own folder, or in it.
fn is_there(file: &str, around: &Surroundings) -> bool {
    let Some(data) = &around.data else {
        return false;
    };
    let path = Path::new(file);
    data.join(path).is_file()
        || path
            .file_name()
            .is_some_and(|name| data.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::catalogue;
    use crate::run::Selection;

    #[test]
    fn it_is_said_who_needs_what_and_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let selection = Selection {
            names: vec!["evdo".to_owned(), "loss".to_owned(), "trouble".to_owned()],
            peers: vec!["ssh".to_owned()],
        };
        let mut around = Surroundings::default();
        let text = |around: &Surroundings| {
            missing(&selection.choose(&catalogue::ALL, around).unwrap(), around)
        };
        let said = text(&around).unwrap();
        assert!(said.starts_with("no folder"), "{said}");
        assert!(said.contains("link-traces/Verizon-LTE-short.up"), "{said}");
        assert!(said.contains("  loss: key-traces/agd-trace-01\n"), "{said}");
        assert!(
            said.contains("github.com") && !said.contains("trouble"),
            "{said}"
        );

        std::fs::write(folder.path().join("agd-trace-01"), "").unwrap();
        around.data = Some(folder.path().to_owned());
        let said = text(&around).unwrap();
        assert!(
            !said.contains("  loss:") && said.contains("  evdo:"),
            "{said}"
        );

        around.is_generated = true;
        assert_eq!(text(&around), None);
    }
}

//! `fulmar-lab list`: what can be measured.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use super::DataOptions;
use crate::experiment::{Cell, Experiment, Published, catalogue};

/// Lists the experiments, or tells all about those that are named.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The experiments to tell all about; without any, all are listed.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the text of the command")]
    pub data: DataOptions,
}

/// Prints.
///
/// # Errors
///
/// Where there is no such experiment.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let setup = arguments.data.setup()?;
    let mut text = String::new();
    for name in &arguments.names {
        let experiment = catalogue::named(name).with_context(|| unknown(name))?;
        text += &told(experiment, &(experiment.cells)(&setup));
    }
    if arguments.names.is_empty() {
        for experiment in &catalogue::ALL {
            let cells = (experiment.cells)(&setup).len();
            let (name, title) = (experiment.name, experiment.title);
            writeln!(text, "{name:<13} {cells:>3} cells  {title}")?;
        }
        text += "\n`fulmar-lab list NAME` tells more. `fulmar-lab run paper` measures what the Mosh \
                 paper and its reproduction did.\n";
    }
    let written = std::io::stdout().lock().write_all(text.as_bytes());
    written.context("writing the list")?;
    Ok(ExitCode::SUCCESS)
}

/// Says that there is no such experiment, and which there are.
pub(super) fn unknown(name: &str) -> String {
    let names: Vec<&str> = catalogue::ALL
        .iter()
        .map(|experiment| experiment.name)
        .collect();
    format!(
        "there is no experiment “{name}”; there are {}, and paper and all for several of them",
        names.join(", ")
    )
}

fn told(experiment: &Experiment, cells: &[Cell]) -> String {
    let mut text = format!(
        "{}: {}\n\n{}\n\nSource: {}\n",
        experiment.name,
        experiment.title,
        folded(experiment.about),
        experiment.source
    );
    text += &table(experiment.published);
    for cell in cells {
        let alone = if cell.is_alone { ", by itself" } else { "" };
        text += &format!(
            "\n{} ({})\n  {:<10} {}\n  {:<10} about {} s each{alone}\n",
            cell.name,
            cell.title,
            "peers",
            cell.peers.join(" "),
            "takes",
            cell.takes.as_secs()
        );
        for (name, value) in cell.work.parameters() {
            text += &format!("  {name:<10} {value}\n");
        }
        let needs = cell.work.needs();
        if !needs.is_empty() {
            text += &format!("  {:<10} {}\n", "needs", needs.join(" "));
        }
    }
    text + "\n"
}

fn table(published: &[Published]) -> String {
    if published.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\nPublished, ms:\n  {:<11} {:<7} {:<24} {:>7} {:>7} {:>7}\n",
        "by", "peer", "cells", "median", "mean", "sd"
    );
    for row in published {
        text += &format!(
            "  {:<11} {:<7} {:<24} {:>7} {:>7} {:>7}\n",
            row.by, row.peer, row.cells, row.median, row.mean, row.deviation
        );
    }
    text
}

/// Breaks a text into lines of at most 88 columns.
fn folded(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one");
        if line.is_empty() {
            line.push_str(word);
        } else if line.len() + word.len() < 88 {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_before_a_line_has_89_columns() {
        let word = "x".repeat(43);
        assert_eq!(
            folded(&format!("{word} {word} y")),
            format!("{word} {word}\ny")
        );
        let wide = "x".repeat(44);
        assert_eq!(
            folded(&format!("{word}\n  {wide}")),
            format!("{word} {wide}")
        );
        assert_eq!(folded(&format!("{wide} {wide}")), format!("{wide}\n{wide}"));
        assert_eq!(folded(&"x".repeat(200)), "x".repeat(200));
    }

    #[test]
    fn an_experiment_that_is_not_there_is_answered_with_those_that_are() {
        let said = unknown("evdos");
        assert!(said.starts_with("there is no experiment “evdos”; there are evdo, download, "));
        assert!(
            said.ends_with(", worlds, and paper and all for several of them"),
            "{said}"
        );
    }

    #[test]
    fn an_experiment_is_told_with_its_figures_and_its_cells() {
        let experiment = catalogue::named("transoceanic").unwrap();
        let cells = (experiment.cells)(&crate::experiment::LabSetup::default());
        let text = told(experiment, &cells[..1]);
        let expected = "\
transoceanic: Across an ocean, wired

A good link with a round trip of 273 ms: nothing is lost, nothing waits, so that what
differs is what is predicted.

Source: Mosh paper, table of section 4: MIT to Singapore

Published, ms:
  by          peer    cells                     median    mean      sd
  Mosh paper  mosh    rtt-273ms-closed-trace-01     < 5      86     132
  Mosh paper  ssh     rtt-273ms-closed-trace-01     273     272       9

rtt-273ms-closed-trace-01 (273 ms, closed loop, agd-trace-01)
  peers      ssh mosh fulmar
  takes      about 167 s each
  link       both delay 136.5ms
  user       closed loop
  recording  agd-trace-01
  ends       after 300 keys or 480 s
  needs      key-traces/agd-trace-01

";
        assert_eq!(text, expected);
    }

    #[test]
    fn without_published_figures_there_is_no_table_of_them() {
        assert_eq!(table(&[]), "");
    }
}

//! `fulmar-lab traces`: what links are like, measured and generated.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::trace::links::{KINDS, LINES, LinkTraces, ORIGIN, Statistics, measured};

/// Prints the statistics of generated links beside those of the measured ones that they are like.
///
/// Those of the measured ones are known; with a folder of traces those of its files are computed and
/// printed too. A scenario names a generated link as "trace like-lte-down:7", with 7 for the seed.
#[derive(Debug, Default, clap::Args)]
pub struct Arguments {
    /// The folder of link traces; otherwise that of FULMAR_LAB_DATA.
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// The seed of the generated ones.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// Writes this trace (a generated one, or a file) in Mahimahi's format to the output instead.
    #[arg(long, value_name = "NAME")]
    pub write: Option<String>,
}

/// Prints the table, or the trace.
///
/// # Errors
///
/// Where a trace cannot be read.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let traces = LinkTraces::of(arguments.data.as_deref());
    let mut output = std::io::stdout().lock();
    if let Some(name) = &arguments.write {
        let trace = traces.get(name)?;
        write!(output, "{trace}").context("writing the trace")?;
        return Ok(ExitCode::SUCCESS);
    }
    let files = traces.names()?;
    for kind in &KINDS {
        let mut columns = Vec::new();
        if let Some(known) = measured(kind.like) {
            columns.push(("as published".to_owned(), known));
        }
        if files.iter().any(|file| file == kind.like) {
            columns.push((
                "the file".to_owned(),
                Statistics::of(&*traces.get(kind.like)?),
            ));
        }
        let name = format!("{}:{}", kind.name, arguments.seed);
        columns.push((name.clone(), Statistics::of(&*traces.get(&name)?)));
        writeln!(output, "{}\n{}", kind.like, drawn(&columns))?;
    }
    writeln!(output, "{ORIGIN}")?;
    Ok(ExitCode::SUCCESS)
}

fn drawn(columns: &[(String, Statistics)]) -> String {
    let heads = columns.iter().map(|(name, _)| format!("{name:>18}"));
    let mut drawn = format!("  {:<28}{}\n", "", heads.collect::<String>());
    for (name, value, decimals) in LINES {
        let cells = columns.iter().map(|(_, statistics)| value(statistics));
        let cells = cells.map(|cell| format!("{cell:>18.decimals$}"));
        drawn += &format!("  {name:<28}{}\n", cells.collect::<String>());
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_statistic_has_its_line_and_its_decimals() {
        let known = measured("Verizon-LTE-short.up").unwrap();
        let columns = [
            ("as published".to_owned(), known.clone()),
            ("a".to_owned(), known),
        ];
        let expected = "
                                    as published                 a
  period, s                                140.0             140.0
  mean rate, Mbit/s                        5.946             5.946
  rate of a second, 10 %                   2.292             2.292
  … 50 %                                   5.652             5.652
  … 90 %                                  10.596            10.596
  deviation / mean, 0.1 s                  0.594             0.594
  autocorrelation, 0.1 s                   0.868             0.868
  … 0.5 s                                  0.689             0.689
  … 1 s                                    0.559             0.559
  … 5 s                                    0.191             0.191
  … 10 s                                   0.124             0.124
  in the same ms, %                        35.48             35.48
  gaps over 0.1 s, per min                  6.43              6.43
  time in gaps over 0.1 s, %                3.07              3.07
  time in gaps over 1 s, %                  1.23              1.23
  longest gap, s                           1.718             1.718
";
        assert_eq!(format!("\n{}", drawn(&columns)), expected);
    }
}

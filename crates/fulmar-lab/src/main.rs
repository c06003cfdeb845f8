//! The command of the lab: reads the command line and calls the library.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use fulmar_lab::command::{
    cast, film, judge, link, list, load, measure, pairs, play, predict, record, redraws, replay,
    report, run, selfcheck, simulate, tinygrams, traces,
};

/// Emulated links between real hosts, to try and measure remote shells on.
///
/// Nothing of the system is changed: networks and devices have no names, and are gone with this
/// process. Root is needed, or user namespaces and a /dev/net/tun that is open to all.
#[derive(Parser)]
#[command(name = "fulmar-lab", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Cast(cast::Arguments),
    Film(film::Arguments),
    Judge(judge::Arguments),
    Link(Box<link::Arguments>),
    List(list::Arguments),
    #[command(hide = true)]
    Load(load::Arguments),
    #[command(hide = true)]
    Measure(measure::Arguments),
    Pairs(pairs::Arguments),
    Play(play::Arguments),
    Predict(predict::Arguments),
    Record(record::Arguments),
    Redraws(redraws::Arguments),
    Replay(Box<replay::Arguments>),
    Report(report::Arguments),
    Run(run::Arguments),
    Selfcheck(selfcheck::Arguments),
    Simulate(simulate::Arguments),
    Tinygrams(tinygrams::Arguments),
    Traces(traces::Arguments),
}

fn main() -> ExitCode {
    let ended = match Arguments::parse().command {
        Command::Cast(arguments) => cast::run(&arguments),
        Command::Film(arguments) => film::run(&arguments),
        Command::Judge(arguments) => judge::run(&arguments),
        Command::Link(arguments) => link::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Load(arguments) => load::run(&arguments),
        Command::Measure(arguments) => measure::run(&arguments),
        Command::Pairs(arguments) => pairs::run(&arguments),
        Command::Play(arguments) => play::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Record(arguments) => record::run(&arguments),
        Command::Redraws(arguments) => redraws::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Selfcheck(arguments) => selfcheck::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Tinygrams(arguments) => tinygrams::run(&arguments),
        Command::Traces(arguments) => traces::run(&arguments),
    };
    match ended {
        Ok(code) => code,
        Err(error) => {
            eprintln!("fulmar-lab: {error:#}");
            ExitCode::FAILURE
        }
    }
}

//! Runs by the dozen: what is to be measured, in which order, how long it takes, and that it is done.
//!
//! ```text
//!   Selection ─► Plan ─► run_plan ─► Folder of outcomes ─► report
//!   names, peers   order      └ Runner: a process for each run, in a namespace of its own
//! ```
//!
//! Every outcome is written as soon as it is there. The same plan with the same folder goes on where it
//! was interrupted: runs with an outcome are not made again, those that failed are.
//!
//! # Order
//!
//! Seed by seed; within a seed the cells that take longest come first, so that nothing long is left over
//! at the end; within a cell all peers follow each other, another one first for each seed. So whatever
//! this machine goes through meanwhile, all peers of a cell do. Cells that must have the machine for
//! themselves come last.

mod pairs;
mod plan;
mod progress;
mod runner;
mod scheduler;
mod selection;

pub use pairs::{PAIRS, PairComparison, PairReport, PairSeries, RunPair, compare_pairs, pairs};
pub use plan::{PlannedRun, RunPlan, forecast, minutes};
pub use progress::ProgressDisplay;
pub use runner::{Interrupted, ProcessRunner, Runner, outcome};
pub use scheduler::{RunCounts, RunEvent, RunObserver, run_plan};
pub use selection::{SelectedCell, Selection, missing};

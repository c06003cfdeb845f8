//! Plans of work that is not done, but counted.

use super::*;
use crate::experiment::{Cell, LabSetup, Measured, Work};
use crate::outcome::RunId;
use crate::run::{SelectedCell, forecast};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

/// The notes that the works of a test share.
#[derive(Default)]
struct Ledger {
    /// Peer and seed of each run, in the order of their beginnings.
    begun: Vec<String>,
    under_way: usize,
    under_way_max: usize,
    /// The most that were under way together with a run that is to be alone.
    beside_alone: usize,
    /// Those that fail.
    failing: Vec<String>,
    /// After so many somebody interrupts.
    interrupt_after: Option<(usize, Sender<RunEvent>)>,
}

struct Counted {
    name: &'static str,
    is_alone: bool,
    ledger: Arc<Mutex<Ledger>>,
}

impl Work for Counted {
    fn measure(&self, peer: &str, seed: u64, _around: &LabSetup) -> Result<Measured> {
        let name = format!("{} {peer} {seed}", self.name);
        let must_fail = {
            let mut ledger = self.ledger.lock().unwrap();
            ledger.begun.push(name.clone());
            ledger.under_way += 1;
            ledger.under_way_max = ledger.under_way_max.max(ledger.under_way);
            if self.is_alone {
                ledger.beside_alone = ledger.beside_alone.max(ledger.under_way);
            }
            if let Some((after, sender)) = &ledger.interrupt_after
                && ledger.begun.len() == *after
            {
                sender.send(RunEvent::Interrupted).unwrap();
            }
            ledger.failing.contains(&name)
        };
        std::thread::yield_now();
        self.ledger.lock().unwrap().under_way -= 1;
        anyhow::ensure!(!must_fail, "no answer");
        Ok(Measured::default())
    }
}

/// Makes runs in this process.
struct InProcessRunner(LabSetup);

impl Runner for InProcessRunner {
    fn make(&self, plan: &RunPlan, run: &PlannedRun) -> Result<Outcome> {
        let measured = plan.cells[run.cell]
            .cell
            .work
            .measure(&run.peer, run.id.seed, &self.0);
        Ok(outcome(run.id.clone(), measured))
    }

    fn stop(&self, _run: &RunId) {}
}

struct Nobody;

impl RunObserver for Nobody {
    fn begins(&mut self, _run: &PlannedRun) {}
    fn is_over(&mut self, _run: &PlannedRun, _outcome: &Outcome) {}
    fn looks(&mut self, _under_way: &[(&PlannedRun, Duration)], _waiting: &[&PlannedRun]) {}
}

struct Scene {
    ledger: Arc<Mutex<Ledger>>,
    plan: RunPlan,
    folder: OutcomeFolder,
    events: (Sender<RunEvent>, Receiver<RunEvent>),
    _place: tempfile::TempDir,
}

impl Scene {
    /// Two cells beside others, of 10 and 60 s, and one alone, of 30 s; three peers each.
    fn new(seeds: u64) -> Self {
        let ledger = Arc::new(Mutex::new(Ledger::default()));
        let cell = |name: &'static str, takes, is_alone| SelectedCell {
            experiment: "fake",
            cell: Cell {
                name: name.to_owned(),
                title: String::new(),
                peers: Vec::new(),
                takes: Duration::from_secs(takes),
                is_alone,
                work: Box::new(Counted {
                    name,
                    is_alone,
                    ledger: Arc::clone(&ledger),
                }),
            },
            peers: ["ssh", "mosh", "fulmar"].map(str::to_owned).to_vec(),
        };
        let cells = vec![
            cell("short", 10, false),
            cell("alone", 30, true),
            cell("long", 60, false),
        ];
        let place = tempfile::tempdir().unwrap();
        Self {
            ledger,
            plan: RunPlan::new(cells, seeds),
            folder: OutcomeFolder::open(place.path()).unwrap(),
            events: channel(),
            _place: place,
        }
    }

    fn run(&self, jobs: usize) -> RunCounts {
        let left = self.plan.left(&self.folder);
        let runner = InProcessRunner(LabSetup::default());
        let ended = run_plan(
            &self.plan,
            &left,
            &self.folder,
            &runner,
            jobs,
            &self.events,
            &mut Nobody,
        );
        ended.unwrap()
    }

    fn ledger(&self) -> std::sync::MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap()
    }
}

#[test]
fn peers_follow_each_other_the_long_come_first_and_who_is_alone_last() {
    let scene = Scene::new(2);
    scene.run(1);
    let expected = [
        "long ssh 1",
        "long mosh 1",
        "long fulmar 1",
        "short mosh 1",
        "short fulmar 1",
        "short ssh 1",
        "long mosh 2",
        "long fulmar 2",
        "long ssh 2",
        "short fulmar 2",
        "short ssh 2",
        "short mosh 2",
        "alone fulmar 1",
        "alone ssh 1",
        "alone mosh 1",
        "alone ssh 2",
        "alone mosh 2",
        "alone fulmar 2",
    ];
    assert_eq!(scene.ledger().begun, expected);
}

#[test]
fn no_more_run_than_may_and_who_is_alone_is() {
    let scene = Scene::new(5);
    let ended = scene.run(4);
    assert_eq!((ended.complete, ended.failed), (45, 0));
    let outcomes = scene.folder.all().unwrap();
    assert_eq!(outcomes.len(), 45);
    let ledger = scene.ledger();
    assert!(ledger.under_way_max <= 4 && ledger.beside_alone == 1);
    let most = outcomes.iter().map(|one| one.facts.side_by_side).max();
    assert!(most <= Some(4));
    let alone = outcomes.iter().filter(|one| one.run.cell == "alone");
    assert!(
        alone
            .map(|one| one.facts.side_by_side)
            .all(|count| count == 1)
    );
}

#[test]
fn an_interrupted_plan_goes_on_where_it_was() {
    let scene = Scene::new(2);
    scene.ledger().interrupt_after = Some((5, scene.events.0.clone()));
    let ended = scene.run(1);
    assert!(ended.is_interrupted);
    // The fifth was under way, and had an outcome before it could be stopped.
    assert_eq!(
        (ended.complete, scene.plan.left(&scene.folder).len()),
        (5, 13)
    );
    scene.ledger().interrupt_after = None;
    let ended = scene.run(1);
    assert_eq!((ended.complete, ended.is_interrupted), (13, false));
    let begun = &scene.ledger().begun;
    let mut once = begun.clone();
    once.sort();
    once.dedup();
    assert_eq!((begun.len(), once.len()), (18, 18), "{begun:?}");
}

#[test]
fn what_has_failed_is_kept_with_its_reason_and_tried_again() {
    let scene = Scene::new(1);
    scene.ledger().failing = vec!["short ssh 1".to_owned()];
    let ended = scene.run(2);
    assert_eq!((ended.complete, ended.failed), (8, 1));
    let run = RunId {
        experiment: "fake".to_owned(),
        cell: "short".to_owned(),
        peer: "ssh".to_owned(),
        seed: 1,
    };
    let outcome = scene.folder.get(&run).unwrap();
    assert_eq!(outcome.end, RunEnd::Failed("no answer".to_owned()));
    scene.ledger().failing.clear();
    let ended = scene.run(2);
    assert_eq!((ended.complete, ended.failed), (1, 0));
    assert_eq!(scene.folder.get(&run).unwrap().end, RunEnd::Complete);
    assert_eq!(scene.ledger().begun.len(), 10);
}

/// Does nothing until it is stopped, and then has no outcome.
struct Stuck(Mutex<Vec<RunId>>, std::sync::Condvar);

impl Runner for Stuck {
    fn make(&self, _plan: &RunPlan, run: &PlannedRun) -> Result<Outcome> {
        let mut stopped = self.0.lock().unwrap();
        while !stopped.contains(&run.id) {
            stopped = self.1.wait(stopped).unwrap();
        }
        anyhow::bail!("killed")
    }

    fn stop(&self, run: &RunId) {
        self.0.lock().unwrap().push(run.clone());
        self.1.notify_all();
    }
}

#[test]
fn what_is_under_way_is_stopped_by_an_interrupt_and_leaves_nothing() {
    let scene = Scene::new(1);
    scene.events.0.send(RunEvent::Interrupted).unwrap();
    let stuck = Stuck(Mutex::default(), std::sync::Condvar::new());
    let left = scene.plan.left(&scene.folder);
    let (plan, folder) = (&scene.plan, &scene.folder);
    let ended = run_plan(plan, &left, folder, &stuck, 3, &scene.events, &mut Nobody);
    let expected = RunCounts {
        is_interrupted: true,
        ..RunCounts::default()
    };
    assert_eq!(ended.unwrap(), expected);
    assert_eq!(stuck.0.lock().unwrap().len(), 3);
    assert!(folder.all().unwrap().is_empty());
}

/// Hears of a signal in its first run, and is stuck in the others.
struct Struck(Stuck, RunId);

impl Runner for Struck {
    fn make(&self, plan: &RunPlan, run: &PlannedRun) -> Result<Outcome> {
        if run.id == self.1 {
            anyhow::bail!(Interrupted);
        }
        self.0.make(plan, run)
    }

    fn stop(&self, run: &RunId) {
        self.0.stop(run);
    }
}

#[test]
fn an_interrupt_that_a_run_hears_first_is_one_for_all() {
    let scene = Scene::new(1);
    let (plan, folder) = (&scene.plan, &scene.folder);
    let left = plan.left(folder);
    let stuck = Stuck(Mutex::default(), std::sync::Condvar::new());
    let struck = Struck(stuck, plan.runs[left[0]].id.clone());
    let ended = run_plan(plan, &left, folder, &struck, 3, &scene.events, &mut Nobody);
    let expected = RunCounts {
        is_interrupted: true,
        ..RunCounts::default()
    };
    assert_eq!(ended.unwrap(), expected);
    assert!(folder.all().unwrap().is_empty());
}

#[test]
fn a_forecast_adds_up() {
    let scene = Scene::new(1);
    let seconds = |jobs, under_way: &[u64]| {
        let under_way: Vec<Duration> = under_way
            .iter()
            .map(|time| Duration::from_secs(*time))
            .collect();
        forecast(&scene.plan.runs, &under_way, jobs).as_secs()
    };
    // 3 of 60, 3 of 10 and 3 of 30 alone.
    assert_eq!(seconds(1, &[]), 300);
    // Two of 60, then one beside the three of 10, then those alone.
    assert_eq!(seconds(2, &[]), 120 + 90);
    assert_eq!(seconds(6, &[]), 60 + 90);
    assert_eq!(seconds(3, &[100]), 60 + 40 + 90 + 20);
    assert_eq!(forecast(&[], &[Duration::from_secs(7)], 2).as_secs(), 7);
}

#[test]
fn times_of_runs_that_were_made_replace_estimates() {
    let mut scene = Scene::new(2);
    scene.run(1);
    let mut outcomes = scene.folder.all().unwrap();
    outcomes.retain(|one| one.run.cell == "long" && one.run.seed == 1);
    for outcome in &mut outcomes {
        outcome.facts.took = 20.0;
    }
    scene.plan.learn(&outcomes);
    let takes = |cell: &str| {
        let mut runs = scene.plan.runs.iter();
        runs.rfind(|run| run.id.cell == cell).unwrap().takes
    };
    assert_eq!(
        (takes("long").as_secs(), takes("short").as_secs()),
        (20, 10)
    );
}

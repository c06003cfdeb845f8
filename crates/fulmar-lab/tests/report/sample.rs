//! Outcomes as runs might leave them, made by a seeded generator: for tests of the page alone.

use std::collections::BTreeMap;
use std::time::Duration;

use fulmar_sim::Random;

use fulmar_lab::judge::{Delivery, KeyVerdict, RunVerdict};
use fulmar_lab::outcome::{Figure, Outcome, RunEnd, RunFacts, RunId};
use fulmar_lab::stats::Observation;

/// A peer's habit of answering keys.
#[derive(Clone, Copy)]
struct Habit {
    peer: &'static str,
    /// The share of keys shown at once.
    at_once: f64,
    /// The round trip in seconds.
    round_trip: f64,
    /// The chance that a packet is lost and an answer comes late.
    loss: f64,
}

const HABITS: [Habit; 3] = [
    habit("ssh", 0.0, 0.503, 0.05),
    habit("mosh", 0.70, 0.48, 0.03),
    habit("fulmar", 0.72, 0.46, 0.03),
];

const fn habit(peer: &'static str, at_once: f64, round_trip: f64, loss: f64) -> Habit {
    Habit {
        peer,
        at_once,
        round_trip,
        loss,
    }
}

/// Returns outcomes of typed and of other experiments, some of them failed.
pub(crate) fn outcomes(seed: u64) -> Vec<Outcome> {
    let mut all = Vec::new();
    for (cell, slower) in [("lte-500ms-closed", 1.0), ("evdo-200ms-open", 0.55)] {
        for (number, habit) in HABITS.into_iter().enumerate() {
            for run in 1..=3 {
                let mut random = Random::stream(seed + run, number as u64);
                let habit = Habit {
                    round_trip: habit.round_trip * slower,
                    ..habit
                };
                all.push(typed(cell, habit, run, &mut random));
            }
        }
    }
    all.extend((1..=3).flat_map(|run| tinygrams(seed, run)));
    all.push(failed());
    all
}

fn id(experiment: &str, cell: &str, peer: &str, seed: u64) -> RunId {
    RunId {
        experiment: experiment.to_owned(),
        cell: cell.to_owned(),
        peer: peer.to_owned(),
        seed,
    }
}

fn facts(peer: &str) -> RunFacts {
    RunFacts {
        scenario: "up trace Verizon-LTE-short.up queue endless\ndown delay 250ms, loss <1%"
            .to_owned(),
        commands: vec![
            format!("{peer} user@203.0.113.1 -- fulmar-lab play own-shell-vi.json"),
            "sshd -D -f config".to_owned(),
        ],
        began: 1_790_000_000,
        took: 212.5,
        side_by_side: 2,
        ..RunFacts::default()
    }
}

fn typed(cell: &str, habit: Habit, seed: u64, random: &mut Random) -> Outcome {
    let mut keys = Vec::new();
    let mut now = 0.4;
    let mut lost = Vec::new();
    for _ in 0..150 {
        let (key, answer) = key(now, habit, random);
        if answer > habit.round_trip * 1.8 {
            lost.push((now + habit.round_trip / 2.0, 1.0));
        }
        keys.push(key);
        let pause = 0.08 - 0.25 * (1.0 - random.unit()).ln();
        now += if cell.ends_with("closed") {
            answer
        } else {
            0.0
        } + pause;
    }
    let figures = figures(now, random);
    Outcome {
        run: id("lte", cell, habit.peer, seed),
        facts: RunFacts {
            typing: Some(
                if cell.ends_with("closed") {
                    "closed"
                } else {
                    "open"
                }
                .to_owned(),
            ),
            recording: Some("own-shell-vi".to_owned()),
            ..facts(habit.peer)
        },
        end: RunEnd::Complete,
        figures,
        series: [
            ("lost_down".to_owned(), lost),
            ("lost_up".to_owned(), vec![(5.0, 1.0), (40.0, 1.0)]),
            ("queue_down".to_owned(), queue(now, random)),
            (
                "queue_up".to_owned(),
                vec![(0.0, 0.0), (9.0, 2.0), (9.4, 0.0)],
            ),
        ]
        .into(),
        verdict: Some(verdict(keys, now)),
    }
}

/// A key, and when its answer came in seconds.
fn key(now: f64, habit: Habit, random: &mut Random) -> (KeyVerdict, f64) {
    let mut answer = habit.round_trip * (1.0 + 0.3 * random.unit().powi(3));
    while random.unit() < habit.loss {
        answer += 0.25 + habit.round_trip * 2.0 * random.unit();
    }
    let own = if random.unit() < habit.at_once {
        0.0004 + 0.002 * random.unit().powi(2)
    } else {
        answer
    };
    let after = |seconds| Observation::After(Duration::from_secs_f64(seconds));
    let is_never = random.unit() < 0.003;
    let own = if is_never {
        Observation::Censored(Duration::from_secs(9))
    } else {
        after(own)
    };
    let key = KeyVerdict {
        typed: Duration::from_secs_f64(now),
        own: Some(own),
        whole: Some(after(answer * 1.05)),
        first_output: after(own.waited().as_secs_f64().min(answer)),
        wrong: usize::from(random.unit() < habit.at_once * 0.01),
    };
    (key, answer)
}

fn verdict(keys: Vec<KeyVerdict>, length: f64) -> RunVerdict {
    let waits = keys.iter().filter_map(|key| key.whole);
    RunVerdict {
        longest_stall: waits.map(Observation::waited).max().unwrap_or_default(),
        delivery: Delivery {
            typed: keys.len(),
            received: keys.len(),
            ..Delivery::default()
        },
        keys,
        wrongs: Vec::new(),
        length: Duration::from_secs_f64(length),
        is_stamped: true,
        is_settled: true,
        differences_at_end: 0,
        screens_not_restored: 0,
    }
}

fn figures(length: f64, random: &mut Random) -> BTreeMap<String, Figure> {
    let mut figure = |size: f64, unit: &str| Figure::new(size * (0.9 + 0.2 * random.unit()), unit);
    [
        ("bytes_down", figure(64_000.0, "B")),
        ("bytes_up", figure(41_000.0, "B")),
        ("packets_down", figure(620.0, "packets")),
        ("packets_up", figure(540.0, "packets")),
        ("client_cpu", figure(length / 900.0, "s")),
        ("server_cpu", figure(length / 1500.0, "s")),
        ("client_memory", figure(4e6, "B")),
        ("to_prompt", figure(1900.0, "ms")),
        ("acks_on_data", figure(0.8, "share")),
    ]
    .into_iter()
    .map(|(name, figure)| (name.to_owned(), figure))
    .collect()
}

fn queue(length: f64, random: &mut Random) -> Vec<(f64, f64)> {
    let mut depth: f64 = 0.0;
    (0..(length * 20.0) as usize)
        .map(|step| {
            depth = (depth + (random.unit() - 0.52) * 3.0).clamp(0.0, 40.0);
            (step as f64 / 20.0, depth.round())
        })
        .collect()
}

fn tinygrams(seed: u64, run: u64) -> Vec<Outcome> {
    let peers = [
        ("nodelay", 34.0),
        ("nagle", 4.0),
        ("ssh", 30.0),
        ("mosh", 3.0),
        ("fulmar", 3.0),
    ];
    let mut random = Random::stream(seed, 99 + run);
    peers
        .into_iter()
        .map(|(peer, packets)| Outcome {
            run: id("tinygram", "queue-24p", peer, run),
            facts: facts(peer),
            end: RunEnd::Complete,
            figures: [
                ("packets_down".to_owned(), Figure::new(packets, "packets")),
                (
                    "lines_right".to_owned(),
                    Figure::new(80.0 + packets * 30.0 * random.unit(), "ms"),
                ),
            ]
            .into(),
            series: [(
                "lines_shown".to_owned(),
                (0..=34)
                    .map(|line| (0.05 + f64::from(line) * packets / 800.0, f64::from(line)))
                    .collect(),
            )]
            .into(),
            verdict: None,
        })
        .collect()
}

/// A run that failed, with words that must not become part of the page.
fn failed() -> Outcome {
    Outcome {
        run: id("tinygram", "queue-24p", "rsh", 7),
        facts: facts("rsh"),
        end: RunEnd::Failed("no <b>prompt</b> & \"nothing\" after 60 s".to_owned()),
        figures: BTreeMap::new(),
        series: BTreeMap::new(),
        verdict: None,
    }
}

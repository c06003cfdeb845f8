//! `fulmar-lab simulate`: sessions of Fulmar in virtual time, typed and judged.

use std::process::ExitCode;

use anyhow::Result;
use fulmar_platform::boot_time;
use fulmar_testbed::median;
use serde_json::json;

use super::{DataOptions, ReplayOptions};
use crate::simulated::{VirtualReplay, VirtualRun};
use crate::stats::{AT_ONCE, Observation, Summary, share_within};

/// Types a recording to Fulmar in virtual time, with as many seeds as you like, and says what
/// became of the keys.
///
/// It is what `replay --peer fulmar` does, without links, processes and waiting: the program's state
/// machines on a simulated network, with the same user and the same judge. No root is needed.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The user, the recording, and the link.
    #[command(flatten)]
    pub session: ReplayOptions,
    /// The first seed of the link.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// The number of seeds.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seeds: u64,
    /// Shows nothing before the server has sent it.
    #[arg(long)]
    pub no_prediction: bool,
    /// The folders of recordings and traces.
    #[command(flatten)]
    pub data: DataOptions,
}

/// The results of a seed that are kept.
struct SeedResult {
    own: Vec<Observation>,
    whole: Vec<Observation>,
    first_output: Vec<Observation>,
    wrong: usize,
    datagrams: [u64; 2],
    bytes: [u64; 2],
}

/// Runs all seeds and prints figures over the keys of all of them, as JSON.
///
/// # Errors
///
/// Where an argument has no meaning, or a seed brings no session about.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let replay = arguments.session.replay()?;
    let setup = arguments.data.setup()?;
    let began = boot_time();
    let mut replay = VirtualReplay::new(&replay, &setup)?;
    if arguments.no_prediction {
        replay = replay.without_prediction();
    }
    let seeds = arguments.seed..arguments.seed.saturating_add(arguments.seeds);
    let kept = replay.run_all(seeds, SeedResult::of)?;
    let mut report = told(&kept);
    report["took_s"] = (boot_time() - began).as_secs_f64().into();
    println!("{report:#}");
    Ok(ExitCode::SUCCESS)
}

impl SeedResult {
    fn of(VirtualRun { run, verdict }: VirtualRun) -> Self {
        Self {
            own: verdict.own(),
            whole: verdict.whole(),
            first_output: verdict.first_output(),
            wrong: verdict.keys.iter().filter(|key| key.wrong > 0).count(),
            datagrams: [run.up.sent, run.down.sent],
            bytes: [run.up.sent_bytes, run.down.sent_bytes],
        }
    }
}

/// Returns the figures over all keys, and how the median of a seed's confirmed times is spread.
fn told(kept: &[SeedResult]) -> serde_json::Value {
    let all = |waits: fn(&SeedResult) -> &Vec<Observation>| -> Vec<Observation> {
        kept.iter().flat_map(waits).copied().collect()
    };
    let own = all(|kept| &kept.own);
    let mut medians: Vec<f64> = kept
        .iter()
        .filter_map(|kept| Summary::of(&kept.whole).median)
        .map(|median| median.as_secs_f64() * 1e3)
        .collect();
    medians.sort_by(f64::total_cmp);
    let datagrams = |way: usize| kept.iter().map(|kept| kept.datagrams[way]).sum::<u64>();
    let bytes = |way: usize| kept.iter().map(|kept| kept.bytes[way]).sum::<u64>();
    json!({
        "seeds": kept.len(),
        "own": Summary::of(&own).to_json(),
        "own_at_once": share_within(&own, AT_ONCE),
        "whole": Summary::of(&all(|kept| &kept.whole)).to_json(),
        "first_output": Summary::of(&all(|kept| &kept.first_output)).to_json(),
        "wrong_keys": kept.iter().map(|kept| kept.wrong).sum::<usize>(),
        "datagrams_up": datagrams(0),
        "datagrams_down": datagrams(1),
        "bytes_up": bytes(0),
        "bytes_down": bytes(1),
        "median_of_a_seed_ms": {
            "least": medians.first(),
            "middle": median(medians.iter().copied()),
            "most": medians.last(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn result(wait: u64, wrong: usize, datagrams: [u64; 2]) -> SeedResult {
        let after = |ms| vec![Observation::After(Duration::from_millis(ms))];
        SeedResult {
            own: after(wait / 50),
            whole: after(wait),
            first_output: after(wait / 10),
            wrong,
            datagrams,
            bytes: datagrams.map(|count| count * 100),
        }
    }

    #[test]
    fn figures_are_over_the_keys_of_all_seeds() {
        let told = told(&[
            result(100, 1, [10, 20]),
            result(300, 2, [1, 2]),
            result(200, 0, [5, 6]),
        ]);
        assert_eq!(
            (&told["seeds"], &told["wrong_keys"]),
            (&json!(3), &json!(3))
        );
        assert_eq!(told["datagrams_up"], 16);
        assert_eq!(told["datagrams_down"], 28);
        assert_eq!(
            (&told["bytes_up"], &told["bytes_down"]),
            (&json!(1600), &json!(2800))
        );
        let medians = json!({"least": 100.0, "middle": 200.0, "most": 300.0});
        assert_eq!(told["median_of_a_seed_ms"], medians);
        for (waits, median) in [("own", 4.0), ("whole", 200.0), ("first_output", 20.0)] {
            assert_eq!(told[waits]["count"], 3);
            assert_eq!(told[waits]["median_ms"], median, "{waits}");
        }
        let at_once = told["own_at_once"].as_f64().unwrap();
        assert!((at_once - 2.0 / 3.0).abs() < 1e-9, "{at_once}");
    }

    #[test]
    fn without_seeds_there_are_no_medians() {
        let told = told(&[]);
        assert_eq!(told["seeds"], 0);
        let none = serde_json::Value::Null;
        assert_eq!(told["median_of_a_seed_ms"]["middle"], none);
        assert_eq!(told["own_at_once"], none);
    }
}

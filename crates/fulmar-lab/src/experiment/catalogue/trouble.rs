//! The troubles of real networks: bursts of loss, other addresses, outages, sleep.

use std::sync::LazyLock;

use super::super::{Cell, Experiment, LabSetup};
use super::recording::OWN_BASH;
use super::response::Response;
use super::route::Route;
use super::typed::Setting;
use crate::typing::TypingLoop;

pub(super) const TROUBLE: Experiment = Experiment {
    name: "trouble",
    title: "Moves, outages, sleep",
    source: "our own",
    about: "A round trip of 100 ms, with what a laptop meets: loss in bursts, a path that is dead \
        for the last sixth of each 1.2 s, another address every 5 s, two networks that overlap, a translator that forgets, 10 s and 60 s without any network while somebody \
        types on, and half a minute of sleep. The session ought to be there afterwards, all keys \
        in it once and in order; an ssh whose address changes cannot be.",
    published: &[],
    quoted: &[],
    why: "",
    cells: trouble,
};

/// A path that is good for a second and dead for 0.2 s, in turns.
///
/// Two minutes of it: longer than the recording is typed.
static DEAD_SIXTH: LazyLock<String> = LazyLock::new(|| {
    let turns = (0..100).map(|turn| {
        let (dead, good) = (1200 * turn + 1000, 1200 * turn + 1200);
        format!("\nat {dead}ms both loss 100%, delay 50ms\nat {good}ms both loss 0%, delay 50ms")
    });
    format!("both loss 0%, delay 50ms{}", turns.collect::<String>())
});

/// Two networks that overlap: as somebody meets them who goes from one room to the next, and back.
const TWO_NETWORKS: &str = "both delay 50ms
at 5s every 10s client sends from 198.51.100.7
at 7s every 10s client loses 192.0.2.1
at 10s every 10s client sends from 192.0.2.1
at 12s every 10s client loses 198.51.100.7";

/// Changes count from the start of the typing: the session is up then.
fn trouble(setup: &LabSetup) -> Vec<Cell> {
    let setting = |name, title, lines, response| {
        let user = match name {
            // Nobody types at a computer that sleeps: this user waits for each answer.
            "sleep-30s" => TypingLoop::Closed,
            _ => TypingLoop::Open,
        };
        Setting::new(name, title, Route::plain(lines), response).cell(user, &OWN_BASH, setup)
    };
    let usual = Response::millis(150, 40);
    let for_good = usual.tcp(30_000);
    let all = vec![
        setting(
            "burst-loss",
            "5 % loss in bursts of 4",
            "both burst-loss 5% run 4, delay 50ms",
            usual.tcp(300),
        ),
        setting(
            "dead-sixth",
            "1 s good, 0.2 s dead",
            &DEAD_SIXTH,
            usual.tcp(700),
        ),
        setting(
            "roaming",
            "another address every 5 s",
            "both delay 50ms\nevery 5s client moves",
            for_good,
        ),
        setting(
            "rebinding",
            "a translator that forgets every 5 s",
            "both delay 50ms\nnat 198.51.100.9 filter port\nevery 5s nat rebinds",
            for_good,
        ),
        setting(
            "two-networks",
            "the next network 2 s before the last one ends, every 5 s",
            TWO_NETWORKS,
            for_good,
        ),
        setting(
            "outage-10s",
            "10 s without a network",
            "both delay 50ms\nat 20s link cut\nat 30s link restored",
            usual.tcp(500),
        ),
        setting(
            "outage-60s",
            "60 s without a network",
            "both delay 50ms\nat 20s link cut\nat 80s link restored",
            Response::millis(1500, 1400).tcp(2500),
        ),
        setting(
            "sleep-30s",
            "the client sleeps for 30 s",
            "both delay 50ms\nat 20s client sleeps\nat 50s client wakes",
            usual.tcp(200),
        ),
    ];
    // What ssh does not survive.
    let is_meant = |cell: &Cell| !setup.is_quick || cell.name.starts_with("roaming");
    all.into_iter().filter(is_meant).collect()
}

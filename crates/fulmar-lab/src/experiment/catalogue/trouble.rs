//! The troubles of real networks: bursts of loss, other addresses, outages, sleep.

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
    about: "A round trip of 100 ms, with what a laptop meets: loss in bursts, another address \
        every 10 s, a translator that forgets, 10 s and 60 s without any network while somebody \
        types on, and half a minute of sleep. The session ought to be there afterwards, all keys \
        in it once and in order; an ssh whose address changes cannot be.",
    published: &[],
    quoted: &[],
    why: "",
    cells: trouble,
};

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
            "roaming",
            "another address every 10 s",
            "both delay 50ms\nevery 10s client moves",
            for_good,
        ),
        setting(
            "rebinding",
            "a translator that forgets every 10 s",
            "both delay 50ms\nnat 198.51.100.9 filter port\nevery 10s nat rebinds",
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

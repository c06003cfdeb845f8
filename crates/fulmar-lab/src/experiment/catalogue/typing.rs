//! The experiments in which somebody types: those of the Mosh paper and of its reproduction.

use super::super::{Cell, Experiment, LabSetup, Published, Quoted};
use super::recording::{OWN_BASH, OWN_LESS, PAGING, Recording, SHORT, TRACE_01, ZIPPY};
use super::response::Response;
use super::route::{EVDO as EVDO_TRACES, LTE, Route};
use super::typed::{SHELLS, Setting};
use crate::typing::TypingLoop;

const PAPER: &str = "Mosh paper";
const CS244: &str = "CS244";

/// Both users.
const USERS: [TypingLoop; 2] = [TypingLoop::Closed, TypingLoop::Open];

/// The recordings of people at a shell.
const INTERACTIVE: [&Recording; 3] = [&TRACE_01, &SHORT, &ZIPPY];

const EVDO_QUOTED: &[Quoted] = &[
    at_once(PAPER, "about 70 %", "evdo-200ms-closed"),
    at_once(CS244, "about 70 %", "lte-500ms-closed"),
];

const HIGH_DELAY_QUOTED: &[Quoted] = &[at_once(CS244, "about 20 %", "rtt-5000ms-closed")];

/// The share of mosh's keys whose first output came at once.
const fn at_once(by: &'static str, said: &'static str, cells: &'static str) -> Quoted {
    Quoted {
        by,
        what: "first outputs at once",
        said,
        cells,
        peer: "mosh",
        figure: "first_at_once",
    }
}

pub(super) const EVDO: Experiment = Experiment {
    name: "evdo",
    title: "Typing over a cellular link",
    source: "K. Winstein and H. Balakrishnan, Mosh (USENIX ATC 2012), figure 2; and C. Ho and \
        A. Duffy, CS244 (Stanford, 2017), figure 2",
    about: "Response times over measured cellular links, with the delay that the least round trip \
        needs. CS244 ran the LTE trace at 500 ms in place of the paper's live EV-DO network, whose \
        round trip was about that; the EV-DO trace comes with 200 ms here, and the rest of its \
        delay from the link itself. Both published studies typed in closed loop and took the first \
        output for the response.",
    published: &[
        published(PAPER, "mosh", "evdo-200ms-closed", "< 5", "173", "-"),
        published(PAPER, "ssh", "evdo-200ms-closed", "503", "515", "-"),
        published(CS244, "mosh", "lte-500ms-closed", "1.52", "94.3", "250"),
        published(CS244, "ssh", "lte-500ms-closed", "509", "529", "195"),
    ],
    quoted: EVDO_QUOTED,
    why: include_str!("../why/evdo.txt"),
    cells: evdo,
};

fn evdo(setup: &LabSetup) -> Vec<Cell> {
    let lte = Setting::new(
        "lte-500ms",
        "LTE, at least 500 ms",
        Route::traced(LTE, "up {up}\ndown {down}\nboth delay 250ms"),
        Response::millis(530, 120),
    );
    let evdo = Setting::new(
        "evdo-200ms",
        "EV-DO, at least 200 ms",
        Route::traced(EVDO_TRACES, "up {up}\ndown {down}\nboth delay 100ms"),
        Response::millis(600, 180),
    );
    let mut all = cells(lte, &USERS, &INTERACTIVE, setup);
    all.extend(cells(evdo, users(setup), &INTERACTIVE, setup));
    all
}

pub(super) const DOWNLOAD: Experiment = Experiment {
    name: "download",
    title: "Typing beside a download",
    source: "Mosh paper, table of section 4: Verizon LTE with one concurrent TCP download",
    about: "A TCP connection of its own fills the queue of the link from server to client, and \
        every answer waits in that queue. How deep the paper's queue was is not known; here it \
        holds 3.4 MB, which the link empties in about as long as the paper's ssh took to answer. \
        Such a network is bad by its queue, not by its rate.",
    published: &[
        published(PAPER, "mosh", "lte-download-closed", "< 5", "1700", "2600"),
        published(PAPER, "ssh", "lte-download-closed", "5360", "5030", "2140"),
    ],
    quoted: &[],
    why: include_str!("../why/download.txt"),
    cells: download,
};

fn download(setup: &LabSetup) -> Vec<Cell> {
    let lte = Setting {
        has_download: true,
        ..Setting::new(
            "lte-download",
            "LTE, with a download",
            Route::traced(LTE, "up {up}\ndown {down} queue 3400kB\nboth delay 25ms"),
            Response::millis(5000, 1700),
        )
    };
    cells(lte, users(setup), &[&TRACE_01], setup)
}

pub(super) const HIGH_DELAY: Experiment = Experiment {
    name: "high-delay",
    title: "A round trip of five seconds",
    source: "CS244 (2017): high delay, 2.5 s each way",
    about: "In CS244 only about 20 % of the keys were shown at once here, and the median was 1000 ms. \
        Neither the limit of mosh, which measures no round trip above 5 s (4.8 s beside it), nor its \
        choice when to predict (mosh-a) makes the difference. A client shows predictions after a key \
        that it was not sure of only when one has been confirmed. That takes a round trip, in which \
        somebody who types goes on for 25 keys, and not 2 as at 500 ms. And the published measure is \
        the first output: it is then mostly a frame that an earlier key led to, for which the \
        closed loop takes it and types on. So first_is_own, the share of keys whose first output \
        shows their own effect, is small, the median of the first output is well below a round \
        trip, and that of the own effect is a whole one.",
    published: &[
        published(CS244, "mosh", "rtt-5000ms-closed", "1000", "1836", "4751"),
        published(CS244, "ssh", "rtt-5000ms-closed", "5013", "5389", "4324"),
    ],
    quoted: HIGH_DELAY_QUOTED,
    why: include_str!("../why/high-delay.txt"),
    cells: high_delay,
};

fn high_delay(setup: &LabSetup) -> Vec<Cell> {
    let at = |name, title, lines| Setting {
        peers: &["ssh", "mosh", "fulmar", "mosh-a", "fulmar-a"],
        ..Setting::new(
            name,
            title,
            Route::plain(lines),
            Response::millis(5000, 1500),
        )
    };
    let below = Setting {
        peers: &["mosh", "fulmar"],
        ..at("rtt-4800ms", "4.8 s", "both delay 2400ms")
    };
    let exactly = at("rtt-5000ms", "5 s", "both delay 2500ms");
    if setup.is_quick {
        let fewer = Setting {
            peers: SHELLS,
            ..exactly
        };
        return cells(fewer, &[TypingLoop::Closed], &[&TRACE_01], setup);
    }
    let mut all = cells(exactly, &USERS, &[&TRACE_01], setup);
    all.extend(cells(below, &[TypingLoop::Closed], &[&TRACE_01], setup));
    all
}

pub(super) const TRANSOCEANIC: Experiment = Experiment {
    name: "transoceanic",
    title: "Across an ocean, wired",
    source: "Mosh paper, table of section 4: MIT to Singapore",
    about: "A good link with a round trip of 273 ms: nothing is lost, nothing waits, so that what \
        differs is what is predicted.",
    published: &[
        published(
            PAPER,
            "mosh",
            "rtt-273ms-closed-trace-01",
            "< 5",
            "86",
            "132",
        ),
        published(PAPER, "ssh", "rtt-273ms-closed-trace-01", "273", "272", "9"),
    ],
    quoted: &[],
    why: include_str!("../why/transoceanic.txt"),
    cells: transoceanic,
};

fn transoceanic(setup: &LabSetup) -> Vec<Cell> {
    let wired = Setting::new(
        "rtt-273ms",
        "273 ms",
        Route::plain("both delay 136.5ms"),
        Response::millis(280, 90),
    );
    let recordings = with_own(&TRACE_01, &OWN_BASH, setup);
    cells(wired, users(setup), &recordings, setup)
}

pub(super) const LOSS: Experiment = Experiment {
    name: "loss",
    title: "29 % loss each way",
    source: "Mosh paper, table of section 4 (netem); CS244 (2017): high loss",
    about: "A round trip of 100 ms, and of the packets of either way 29 % are lost, each for \
        itself. The published figures are without prediction (mosh-n, fulmar-n): what is compared \
        is how quickly a lost packet is made good. The same with prediction beside it.",
    published: &[
        published(PAPER, "mosh-n", "loss-29-closed", "222", "329", "1630"),
        published(PAPER, "ssh", "loss-29-closed", "416", "16 800", "52 200"),
        published(CS244, "mosh-n", "loss-29-closed", "139", "348", "1734"),
        published(CS244, "ssh", "loss-29-closed", "509", "1426", "5761"),
    ],
    quoted: &[],
    why: include_str!("../why/loss.txt"),
    cells: loss,
};

fn loss(setup: &LabSetup) -> Vec<Cell> {
    let lossy = Setting {
        peers: &["ssh", "mosh-n", "fulmar-n", "mosh", "fulmar"],
        ..Setting::new(
            "loss-29",
            "29 % loss, 100 ms",
            Route::plain("both loss 29%, delay 50ms"),
            Response::millis(350, 120).tcp(1500),
        )
    };
    cells(lossy, users(setup), &[&TRACE_01], setup)
}

pub(super) const ADVERSARIAL: Experiment = Experiment {
    name: "adversarial",
    title: "Paging, which nothing can predict",
    source: "CS244 (2017): adversarial replay",
    about: "Page after page of a large file in `less` at a round trip of 200 ms: every key changes \
        the whole screen, so prediction gains nothing and the frames of a screen are all that \
        counts.",
    published: &[
        published(
            CS244,
            "mosh",
            "rtt-200ms-closed-paging",
            "221",
            "240",
            "128",
        ),
        published(CS244, "ssh", "rtt-200ms-closed-paging", "208", "230", "139"),
    ],
    quoted: &[],
    why: include_str!("../why/adversarial.txt"),
    cells: adversarial,
};

fn adversarial(setup: &LabSetup) -> Vec<Cell> {
    let paged = Setting::new(
        "rtt-200ms",
        "200 ms",
        Route::plain("both delay 100ms"),
        Response::millis(230, 230),
    );
    let recordings = with_own(&PAGING, &OWN_LESS, setup);
    cells(paged, users(setup), &recordings, setup)
}

/// A recording of others beside one that comes with the project, which anybody can measure; one of them where it is to
/// be quick, and where stand-ins would make both the same.
fn with_own(
    theirs: &'static Recording,
    own: &'static Recording,
    setup: &LabSetup,
) -> Vec<&'static Recording> {
    if setup.is_generated {
        vec![own]
    } else if setup.is_quick {
        vec![theirs]
    } else {
        vec![theirs, own]
    }
}

/// Both users, or the paper's where it is to be quick.
fn users(setup: &LabSetup) -> &'static [TypingLoop] {
    if setup.is_quick {
        &[TypingLoop::Closed]
    } else {
        &USERS
    }
}

/// Returns the cells of all users and recordings; of one recording where it is to be quick.
fn cells(
    setting: Setting,
    users: &[TypingLoop],
    recordings: &[&'static Recording],
    setup: &LabSetup,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    // The middle one is the shortest.
    let recordings = match recordings {
        [_, short, _] if setup.is_quick => &[*short],
        all => all,
    };
    for user in users {
        for recording in recordings {
            cells.push(setting.cell(*user, recording, setup));
        }
    }
    cells
}

const fn published(
    by: &'static str,
    peer: &'static str,
    cells: &'static str,
    median: &'static str,
    mean: &'static str,
    deviation: &'static str,
) -> Published {
    Published {
        by,
        peer,
        cells,
        median,
        mean,
        deviation,
    }
}

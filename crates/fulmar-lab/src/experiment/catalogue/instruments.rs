//! The experiments that have instruments of their own.

use super::super::{Cell, Experiment, Surroundings};
use crate::instrument::{agreement, bulk, collection, lan, tinygram};

pub(super) const COLLECTION: Experiment = Experiment {
    name: "collection",
    title: "How long to collect output before a frame",
    source: "Mosh paper, figure 3",
    about: "What a program writes at once arrives in pieces. A server that waits a little before \
        it sends a frame sends fewer frames and shows fewer screens that are half drawn; one that \
        waits long delays. Swept from 0.1 to 100 ms over recorded writes: the delay that is added \
        against the frames that are sent. Our rule is a point in the same plot, taken from our \
        server itself. The paper's curve had its minimum at 8 ms.",
    published: &[],
    cells: collection_cells,
};

pub(super) const TINYGRAMS: Experiment = Experiment {
    name: "tinygrams",
    title: "34 short lines through a queue of 24 packets",
    source: "a post to the list of OpenSSH's developers, June 2004",
    about: "A program writes 34 lines of about 80 bytes within 4 ms, and the bottleneck of the path \
        (100 ms) holds 24 packets. Who sends each line in a packet of its own loses the last ones, \
        and with too few packets after them waits for a time-out: about 1.3 s then. Nagle's \
        algorithm sends fewer packets and waits for delayed acknowledgements instead, 100 ms each. \
        Plain TCP connections with and without it are the controls.",
    published: &[],
    cells: tinygram_cells,
};

pub(super) const BULK: Experiment = Experiment {
    name: "bulk",
    title: "Bulk: windows and ciphers",
    source: "HPN-SSH: the pages of SWITCH (2005 to 2010) and PSC (2004)",
    about: "300 MB from memory over long paths, by one TCP stream with fixed and with automatic \
        windows, and by scp, sftp and rsync: a window of W cannot carry more than W a round trip. \
        And what a byte costs with each cipher on this machine. Published, in MB/s: over 45 ms \
        (SWITCH) 1.5 with stock OpenSSH 4.3, whose window is 64 KiB, and 50 with a patched one and \
        aes128-ctr, 55 to 70 without a cipher; over 40 ms and 1 Gbit/s (PSC, two Pentium III) 1.3 \
        to 1.9 with a stock one and any cipher, 2.8 (3des-cbc) to 24.4 (arcfour) with a patched one.",
    published: &[],
    cells: bulk_cells,
};

pub(super) const LAN: Experiment = Experiment {
    name: "lan",
    title: "What the tool itself costs",
    source: "our own",
    about: "Round trips of 0, 1 and 20 ms: what an echo costs beyond the network. A flood of \
        output and the time from Ctrl-C to a usable prompt. The time to the first prompt over 20, \
        100 and 300 ms, of which the slope is the number of round trips. And the packets of a \
        minute in which nothing happens.",
    published: &[],
    cells: lan_cells,
};

pub(super) const WORLDS: Experiment = Experiment {
    name: "worlds",
    title: "Real time and virtual time",
    source: "our own",
    about: "The same recording, typed by the same user over the same link with the same seed: by our \
        program over a real link, and by its state machines in virtual time. How much the \
        confirmed times differ says how far thousands of seeds in virtual time stand for real runs.",
    published: &[],
    cells: worlds_cells,
};

fn worlds_cells(around: &Surroundings) -> Vec<Cell> {
    kept(agreement::cells(around), &["clear"], around)
}

/// They compute all the time: what is timed beside them would wait for a core.
fn collection_cells(around: &Surroundings) -> Vec<Cell> {
    let few = ["own-200ms"];
    let mut cells = kept(collection::cells(around), &few, around);
    for cell in &mut cells {
        cell.is_alone = true;
    }
    cells
}

fn tinygram_cells(around: &Surroundings) -> Vec<Cell> {
    kept(tinygram::cells(around), &["folder", "short"], around)
}

fn bulk_cells(around: &Surroundings) -> Vec<Cell> {
    kept(bulk::cells(around), &["40ms"], around)
}

fn lan_cells(around: &Surroundings) -> Vec<Cell> {
    let few = ["echo-1ms", "flood-yes-20ms", "start", "idle"];
    kept(lan::cells(around), &few, around)
}

/// Returns the cells, or only these where it is to be quick.
fn kept(mut cells: Vec<Cell>, few: &[&str], around: &Surroundings) -> Vec<Cell> {
    cells.retain(|cell| !around.is_quick || few.contains(&cell.name.as_str()));
    cells
}

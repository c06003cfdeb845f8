//! The experiments that have instruments of their own.

use super::super::{Cell, Experiment, LabSetup, Quoted};
use crate::instrument::{agreement, bulk, collection, copy, lan, load, tinygram};

const LIST: &str = "OpenSSH list, 2004";
const SWITCH: &str = "SWITCH, 2005 to 2010";
const PSC: &str = "PSC, 2004";
const PSC_CIPHERS: &str = "PSC, 2004, patched, with";

const COLLECTION_QUOTED: &[Quoted] = &[quoted(
    "Mosh paper",
    "the interval that delays least",
    "8 ms",
    ["", "model", "best_interval"],
)];

const TINYGRAMS_QUOTED: &[Quoted] = &[
    quoted(
        LIST,
        "of 34 packets so many found the queue full",
        "10",
        ["folder-wide", "tcp-nodelay", "lost_down_a_burst"],
    ),
    quoted(
        LIST,
        "the wait for a time-out then",
        "1.3 s",
        ["folder-wide", "tcp-nodelay", "longest_pause"],
    ),
    quoted(
        LIST,
        "the wait for a delayed acknowledgement, with Nagle's algorithm",
        "100 ms",
        ["short", "tcp-nagle-delayed-acks", "longest_pause"],
    ),
];

const BULK_QUOTED: &[Quoted] = &[
    quoted(
        SWITCH,
        "a window of 64 KiB over 45 ms: OpenSSH 4.3",
        "1.5 MB/s",
        ["45ms", "tcp-64k", "goodput_steady"],
    ),
    quoted(
        SWITCH,
        "a window that grows over 45 ms: OpenSSH 5.1 with HPN patches, aes128-ctr; here 2 MiB, and a path of 25 MB/s",
        "50 MB/s",
        ["45ms", "ssh", "goodput_steady"],
    ),
    quoted(
        PSC,
        "a window of 64 KiB over 40 ms: stock OpenSSH, aes128-ctr",
        "1.9 MB/s",
        ["40ms", "tcp-64k", "goodput_steady"],
    ),
    quoted(
        PSC,
        "a window that grows over 40 ms, aes128-ctr, two Pentium III; here 2 MiB, and a path of 25 MB/s",
        "12.7 MB/s",
        ["40ms", "ssh", "goodput_steady"],
    ),
    cipher("3des-cbc", "2.8 MB/s"),
    cipher("arcfour", "24.4 MB/s"),
    cipher("aes192-cbc", "13.3 MB/s"),
    cipher("aes256-cbc", "11.7 MB/s"),
    cipher("aes128-ctr", "12.7 MB/s"),
    cipher("aes192-ctr", "11.7 MB/s"),
    cipher("aes256-ctr", "11.3 MB/s"),
    cipher("blowfish-cbc", "16.3 MB/s"),
    cipher("cast128-cbc", "7.9 MB/s"),
];

const COPY_QUOTED: &[Quoted] = &[
    quoted(
        SWITCH,
        "stock over 45 ms: OpenSSH 3.9 and 4.3",
        "1.5 MB/s",
        ["45ms-clear", "scp", "rate"],
    ),
    quoted(
        SWITCH,
        "OpenSSH 5.1 with HPN patches at both ends over 45 ms: aes128-ctr; aes128-cbc 35, without a cipher 55 to 70",
        "50 MB/s",
        ["45ms-clear", "fulmar", "rate"],
    ),
    quoted(
        PSC,
        "stock over 40 ms and 1 Gbit/s: aes128-ctr",
        "1.9 MB/s",
        ["40ms-clear", "scp", "rate"],
    ),
    quoted(
        PSC,
        "patched over 40 ms and 1 Gbit/s: aes128-ctr; 2.8 with 3des-cbc to 24.4 with arcfour",
        "12.7 MB/s",
        ["40ms-clear", "fulmar", "rate"],
    ),
];

/// The goodput with a cipher: patched and over 40 ms there, over loopback here.
const fn cipher(name: &'static str, said: &'static str) -> Quoted {
    quoted(PSC_CIPHERS, name, said, ["ciphers", name, "goodput"])
}

const fn quoted(
    by: &'static str,
    what: &'static str,
    said: &'static str,
    [cells, peer, figure]: [&'static str; 3],
) -> Quoted {
    Quoted {
        by,
        what,
        said,
        cells,
        peer,
        figure,
    }
}

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
    quoted: COLLECTION_QUOTED,
    why: "",
    cells: |setup| kept(collection::cells, &["own-200ms"], setup),
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
    quoted: TINYGRAMS_QUOTED,
    why: "",
    cells: |setup| kept(tinygram::cells, &["folder", "short"], setup),
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
    quoted: BULK_QUOTED,
    why: "",
    cells: |setup| kept(bulk::cells, &["40ms"], setup),
};

pub(super) const COPY: Experiment = Experiment {
    name: "copy",
    title: "Copies: who fills the path",
    source: "HPN-SSH: the pages of SWITCH (2005 to 2010) and PSC (2004); all else our own",
    about: "300 MB of random bytes from memory to memory over 500 Mbit/s, by our own copy command, scp, \
        sftp and rsync, and by one stream of plain TCP whose buffers hold the path: the size over the \
        time of the whole command, login included. The queue holds what the path does. Then ten \
        thousand small files, measured cellular links, the keys of a session while somebody \
        copies, and the share of a copy beside a TCP stream in one queue.",
    published: &[],
    quoted: COPY_QUOTED,
    why: "",
    cells: |setup| kept(copy::cells, &["45ms-clear"], setup),
};

const LAN_FEW: &[&str] = &["echo-1ms", "flood-yes-20ms", "start", "idle"];

pub(super) const LAN: Experiment = Experiment {
    name: "lan",
    title: "What the tool itself costs",
    source: "our own",
    about: "Round trips of 0, 1 and 20 ms: what an echo costs beyond the network. A flood of \
        output and the time from Ctrl-C to a usable prompt. The time to the first prompt over 20, \
        100 and 300 ms, of which the slope is the number of round trips. And the packets of a \
        minute in which nothing happens.",
    published: &[],
    quoted: &[],
    why: "",
    cells: |setup| kept(lan::cells, LAN_FEW, setup),
};

pub(super) const LOADS: Experiment = Experiment {
    name: "loads",
    title: "What a session carries besides keys",
    source: "our own",
    about: "Much text, a screen that changes all the time, a paste of 8 MB, and 3000 keys typed in an \
        outage of a minute, over a link that adds no delay and has no limit: what the programs \
        themselves can do, and what they send. The terminal is read as fast as this machine can, and \
        nobody draws it. A peer that sends every byte shows all of a flood, and one that sends \
        screens shows the last one.",
    published: &[],
    quoted: &[],
    why: "",
    cells: |setup| kept(load::cells, &["yes"], setup),
};

pub(super) const WORLDS: Experiment = Experiment {
    name: "worlds",
    title: "Real time and virtual time",
    source: "our own",
    about: "The same recording, typed by the same user over the same link with the same seed: by our \
        program over a real link, and by its state machines in virtual time. How much the \
        confirmed times differ says how far thousands of seeds in virtual time stand for real runs.",
    published: &[],
    quoted: &[],
    why: "",
    cells: |setup| kept(agreement::cells, &["clear"], setup),
};

/// Returns the cells, or only these where it is to be quick.
fn kept(cells: fn(&LabSetup) -> Vec<Cell>, few: &[&str], setup: &LabSetup) -> Vec<Cell> {
    let mut cells = cells(setup);
    cells.retain(|cell| !setup.is_quick || few.contains(&cell.name.as_str()));
    cells
}

//! All figures of the page.

use super::table::Quantity;

/// A figure and how it comes about.
pub(super) struct Figure {
    pub(super) name: &'static str,
    /// One sentence under the heading.
    pub(super) about: &'static str,
    pub(super) source: Source,
}

/// The source of a figure.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// A cell of an experiment of the lab.
    Cell {
        name: &'static str,
        quantities: &'static [Quantity],
    },
    /// Copies, whose tables are their own.
    Copies,
    /// Everybody who typed in the experiments of the lab.
    Typed,
    /// One cell of them, which the README shows.
    Setting {
        name: &'static str,
        /// Its title in the table of everybody who typed.
        title: &'static str,
        /// True if the README has its drawing, too.
        is_drawn: bool,
    },
    /// An example of one of our crates, whose output is the figure.
    Example {
        package: &'static str,
        example: &'static str,
    },
    /// Logins over ssh, by the lab.
    Logins,
    /// Predictions in virtual time.
    Predictions,
    /// The model of stock's predictor beside the real one.
    StockModel,
}

/// Figures as the outcomes have them: bytes, milliseconds, seconds, packets.
const fn quantity(
    name: &'static str,
    figure: &'static str,
    digits: usize,
    wanted: &'static str,
) -> Quantity {
    Quantity {
        name,
        figure,
        factor: 1.0,
        digits,
        wanted,
    }
}

impl Quantity {
    const fn times(self, factor: f64) -> Self {
        Self { factor, ..self }
    }
}

const AT_MOST_STOCK: &str = "at most mosh's";

const KILO: f64 = 1e-3;
const MEGA: f64 = 1e-6;

const TRAFFIC: &[Quantity] = &[
    quantity("kB to the client", "bytes_down", 1, AT_MOST_STOCK).times(KILO),
    quantity("kB to the server", "bytes_up", 1, AT_MOST_STOCK).times(KILO),
    quantity("server, processor ms", "server_cpu", 0, AT_MOST_STOCK),
    quantity("client, processor ms", "client_cpu", 0, AT_MOST_STOCK),
];

const SHARES: &[Quantity] = &[
    quantity("share of the session", "share", 2, "at most half"),
    quantity("kB/s of the session", "rate", 1, "").times(KILO),
    quantity("kB/s of the stream", "rate_beside", 1, "").times(KILO),
];

/// The processor time of the server for all of a text.
const TEXT_COST: Quantity = quantity(
    "server, processor s",
    "server_cpu",
    2,
    "at most a fifth of mosh's",
)
.times(KILO);

const STORM: &[Quantity] = &[
    quantity("kB/s", "rate", 0, "at least mosh's").times(KILO),
    quantity("Ctrl-C, ms", "to_interrupt", 0, "under 200"),
];

pub(super) const ALL: &[Figure] = &[
    Figure {
        name: "typing",
        about: "Typing over bad networks: the median time, in ms, until a key's own effect is right on the screen, \
                and the share of keys at once, that is within 5 ms. The lab's report has the experiments, the \
                distributions and the confidence intervals.",
        source: Source::Typed,
    },
    Figure {
        name: "ocean",
        about: "A shell over a good link with a round trip of 273 ms, in the recorded rhythm: the recording comes with \
                the project. The median time, in ms, until a key's own effect is right on the screen, and the share \
                of keys at once, that is within 5 ms.",
        source: Source::Setting {
            name: "transoceanic/rtt-273ms-open-own-bash",
            title: "273 ms, open loop, own-bash-plain",
            is_drawn: true,
        },
    },
    Figure {
        name: "lan-echo",
        about: "The echo of keys over a round trip of 1 ms, where nothing is predicted: the median time, in ms, until it \
                is on the screen, and the share within 5 ms. ssh is the fastest here, since it sends each key and each \
                echo as it is.",
        source: Source::Setting {
            name: "lan/echo-1ms",
            title: "echo, round trip 1 ms, nothing predicted",
            is_drawn: false,
        },
    },
    Figure {
        name: "prediction",
        about: "Recorded keys, typed at the recorded times over simulated links. Each cell has three parts. \
                Instant: keys whose right effect is on the screen within 5 ms, in % of the keys that have an \
                effect. Wrong: keys that caused something wrong on the screen for 30 ms or longer, in % of all \
                keys. Wait, in ms: its mean, then p50, p90 and p99. The lab's report has the groups of programs \
                over all links.",
        source: Source::Predictions,
    },
    Figure {
        name: "stock-model",
        about: "The model of stock's predictor and the real mosh-client, over a round trip of 100 ms, judged by \
                the same rules: keys whose effect is on the screen within 5 ms, and wrong keys, in %. The model is \
                accepted while the two differ by at most 2 points. For keys beside text that stays in place, a few \
                milliseconds decide what stock does, so no two real runs are the same.",
        source: Source::StockModel,
    },
    Figure {
        name: "throughput",
        about: "`cat` of 200 MB of text in a session of 24 x 80, until the end of the text is on the screen; and \
                the same in a pty whose output is read and thrown away. ssh sends all of the text through the \
                emulated link.",
        source: Source::Cell {
            name: "loads/throughput",
            quantities: &[
                quantity(
                    "session, MB/s",
                    "rate",
                    1,
                    "at least 3 x mosh's; aim: 5 x, or 0.9 x the pty",
                )
                .times(MEGA),
                quantity("pty alone, MB/s", "pty_rate", 0, "").times(MEGA),
                TEXT_COST,
            ],
        },
    },
    Figure {
        name: "yes-lines",
        about: "`cat` of 20 MB of what `yes` writes, in a session of 24 x 80, until its end is on the screen.",
        source: Source::Cell {
            name: "loads/yes-lines",
            quantities: &[
                quantity("session, MB/s", "rate", 1, "at least mosh's").times(MEGA),
                TEXT_COST,
            ],
        },
    },
    Figure {
        name: "idle",
        about: "A session in which nothing happens, over a round trip of 20 ms, observed for 60 s after a pause of \
                10 s. Bytes are those of packets with all headers. Memory is the peak resident size.",
        source: Source::Cell {
            name: "lan/idle",
            quantities: &[
                quantity(
                    "server, memory, MB",
                    "server_memory",
                    1,
                    "at most mosh's; aim: 5",
                )
                .times(MEGA),
                quantity(
                    "client, memory, MB",
                    "client_memory",
                    1,
                    "at most mosh's; aim: 7",
                )
                .times(MEGA),
                quantity(
                    "server, processor s per hour",
                    "server_cpu_an_hour",
                    3,
                    "at most mosh's; aim: 0.1",
                ),
                quantity(
                    "client, processor s per hour",
                    "client_cpu_an_hour",
                    3,
                    "at most mosh's; aim: 0.1",
                ),
                quantity(
                    "packets to the server per minute",
                    "packets_up_a_minute",
                    0,
                    AT_MOST_STOCK,
                ),
                quantity(
                    "packets to the client per minute",
                    "packets_down_a_minute",
                    0,
                    AT_MOST_STOCK,
                ),
                quantity(
                    "bytes to the server per minute",
                    "bytes_up_a_minute",
                    0,
                    AT_MOST_STOCK,
                ),
                quantity(
                    "bytes to the client per minute",
                    "bytes_down_a_minute",
                    0,
                    AT_MOST_STOCK,
                ),
            ],
        },
    },
    Figure {
        name: "full-screen",
        about: "A program redraws the whole screen 20 times a second for 8 s. Bytes are those of packets with all \
                headers.",
        source: Source::Cell {
            name: "loads/full-screen",
            quantities: TRAFFIC,
        },
    },
    Figure {
        name: "repaint-80x24",
        about: "A program redraws the whole screen 50 times a second for 20 s. Processor times are those of user \
                and system together.",
        source: Source::Cell {
            name: "loads/repaint-80x24",
            quantities: TRAFFIC,
        },
    },
    Figure {
        name: "repaint-200x60",
        about: "As repaint-80x24, in a larger window.",
        source: Source::Cell {
            name: "loads/repaint-200x60",
            quantities: TRAFFIC,
        },
    },
    Figure {
        name: "yes",
        about: "`yes` runs for 3 s. Bytes are those of packets with all headers.",
        source: Source::Cell {
            name: "loads/yes",
            quantities: TRAFFIC,
        },
    },
    Figure {
        name: "beside-1mbit",
        about: "A screen of 200x60 is redrawn 50 times a second over a link of 1 Mbit/s with a round trip of 40 ms and a \
                queue of half a second, beside a TCP stream with Cubic that was there before. Rates are those of packets \
                with all headers, over 30 s.",
        source: Source::Cell {
            name: "loads/beside-1mbit",
            quantities: SHARES,
        },
    },
    Figure {
        name: "beside-4mbit",
        about: "As beside-1mbit, over 4 Mbit/s.",
        source: Source::Cell {
            name: "loads/beside-4mbit",
            quantities: SHARES,
        },
    },
    Figure {
        name: "storm-repeat",
        about: "A program writes 400 kB that cost a terminal much work, in a window of 400x100: a wide character \
                repeated by REP. Stock ignores this repetition and draws nothing. Then the program writes the same \
                without end, until Ctrl-C is typed after 2 s. The second row is the time from Ctrl-C until the end \
                of the program is on the screen.",
        source: Source::Cell {
            name: "loads/storm-repeat",
            quantities: STORM,
        },
    },
    Figure {
        name: "storm-shift",
        about: "As storm-repeat, but with DECALN and SL, which fill the screen and shift all of it.",
        source: Source::Cell {
            name: "loads/storm-shift",
            quantities: STORM,
        },
    },
    Figure {
        name: "storm-lines",
        about: "As storm-repeat, but with IL and DL, which move all rows down and up.",
        source: Source::Cell {
            name: "loads/storm-lines",
            quantities: STORM,
        },
    },
    Figure {
        name: "paste",
        about: "8 MB typed at once into a program that checks each byte. A run is stopped after 60 s.",
        source: Source::Cell {
            name: "loads/paste",
            quantities: &[
                quantity(
                    "until all has arrived, s",
                    "to_arrive",
                    1,
                    "exact, at most mosh's",
                )
                .times(KILO),
                quantity("client, most memory, MB", "client_memory", 1, "under 64").times(MEGA),
                quantity("server, most memory, MB", "server_memory", 1, AT_MOST_STOCK).times(MEGA),
            ],
        },
    },
    Figure {
        name: "outage",
        about: "3000 keys typed during an outage of 60 s: the time from the end of the outage until the answer to \
                the last key is on the screen. A run is stopped after 60 s.",
        source: Source::Cell {
            name: "loads/outage",
            quantities: &[quantity(
                "ms to catch up",
                "to_catch_up",
                0,
                "exact, at most mosh's; aim: 300",
            )],
        },
    },
    Figure {
        name: "start",
        about: "The time from the command to the prompt on the screen. The login uses a key, through a real sshd. \
                The number of round trips is the slope of a straight line through the three times.",
        source: Source::Cell {
            name: "lan/start",
            quantities: &[
                quantity("over 20 ms, ms", "to_prompt_20ms", 0, "ssh's and 50"),
                quantity("over 100 ms, ms", "to_prompt_100ms", 0, "ssh's and 130"),
                quantity("over 300 ms, ms", "to_prompt_300ms", 0, "ssh's and 330"),
                quantity("round trips", "round_trips", 2, "ssh's and 1"),
            ],
        },
    },
    Figure {
        name: "login",
        about: "The time from the command to the prompt on the screen. The login uses a key, through a real sshd, \
                and starts a shell whose start-up file sets the prompt. The link has no delay besides its round \
                trip. The second table shows what `--log` recorded of one more login of ours in each round.",
        source: Source::Logins,
    },
    Figure {
        name: "copying",
        about: "300 MB of random bytes are copied from memory to memory, over 500 Mbit/s in both directions, with \
                a queue of one bandwidth-delay product and default kernel settings. The rate is the size divided \
                by the time of the whole command, login included. For comparison there is one stream of plain TCP, \
                with buffers as large as the path needs. A copy is stopped after 45 s, or after 20 s where packets \
                are lost; its rate is then that of what has arrived.",
        source: Source::Copies,
    },
    Figure {
        name: "seal",
        about: "The cost of sealing, opening and refusing one datagram.",
        source: Source::Example {
            package: "fulmar-datagram",
            example: "seal_cost",
        },
    },
    Figure {
        name: "terminal",
        about: "The rate at which the terminal alone processes bytes, beside two others without a window.",
        source: Source::Example {
            package: "fulmar-terminal",
            example: "terminals",
        },
    },
    Figure {
        name: "frames",
        about: "The cost of computing the difference for one frame, and the memory of 32 kept states of a busy \
                screen.",
        source: Source::Example {
            package: "fulmar-terminal",
            example: "frame_cost",
        },
    },
    Figure {
        name: "deaf-client",
        about: "The peak memory of a server whose client has the key but acknowledges nothing, while a program \
                keeps writing a random colour into each row of the window. It is measured after 60 states, of \
                which either server keeps 32 at most.",
        source: Source::Example {
            package: "fulmar",
            example: "deaf_client",
        },
    },
    Figure {
        name: "junk-flood",
        about: "100 000 small datagrams of junk a second are sent to a server's port for 5 s: the share of them \
                for which its socket had no room. The keys sent meanwhile are lost at the same rate.",
        source: Source::Example {
            package: "fulmar",
            example: "junk_flood",
        },
    },
];

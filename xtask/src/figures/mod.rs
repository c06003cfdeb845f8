//! `cargo xtask figures [NAME]`: measures our program beside stock Mosh in one run, and writes the
//! tables of `docs/figures.md`.
//!
//! ```text
//!  Terminal ── client ── UDP ── Relay ── UDP ── server ── Program
//!  types, reads                 counts, cuts              waits for a key, plays its part
//! ```
//!
//! Both pairs have stock's interface, so one code measures both. Runs alternate between them, so
//! that a machine that gets slower does so for both.

mod login;
mod login_place;
mod measured;
mod played;
mod process;
mod programs;
mod relay;
mod session;
mod table;
mod terminal;
mod visits;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::ScopedJoinHandle;

use anyhow::{Context as _, Result, bail};

use crate::workspace::{self, Workspace};
use measured::Values;
pub(crate) use played::Program;
use programs::Programs;
use table::{Column, Quantity};
pub(crate) use visits::Visits;

/// The page that is written.
const PAGE: &str = "docs/figures.md";

/// How the page begins if there is none.
const PREFACE: &str = "\
# Figures

What Fulmar costs and how fast it is, beside stock Mosh in the same run. Each section is written by the command under its
table; text between the sections is kept. Only columns of one table compare: machines and days differ.
";

/// Measures beside stock Mosh and writes docs/figures.md.
#[derive(clap::Args)]
pub(crate) struct Figures {
    /// One figure; without it, all of them
    name: Option<String>,
    /// Runs of each pair of programs
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Print the tables and leave the page as it is
    #[arg(long)]
    print: bool,
    /// Measure this server with stock's interface, and not our own
    #[arg(long, requires = "client")]
    server: Option<PathBuf>,
    /// Measure this client with stock's interface, and not our own
    #[arg(long, requires = "server")]
    client: Option<PathBuf>,
    /// Measure stock Mosh alone
    #[arg(long, conflicts_with = "server")]
    stock_alone: bool,
}

/// A figure and how it comes about.
struct Figure {
    name: &'static str,
    /// One sentence under the heading.
    about: &'static str,
    source: Source,
}

enum Source {
    /// Sessions of both pairs of programs.
    Sessions {
        quantities: &'static [Quantity],
        measure: fn(&Programs, &Path) -> Result<Values>,
        schedule: Schedule,
    },
    /// An example of one of our crates, whose output is the figure.
    Example {
        package: &'static str,
        example: &'static str,
    },
    /// Logins over ssh, whose terms are their own.
    Logins,
}

/// Whether runs may disturb each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Schedule {
    /// One after the other.
    Alternating,
    /// All at once: each does next to nothing.
    AtOnce,
}

const fn quantity(name: &'static str, digits: usize, wanted: &'static str) -> Quantity {
    Quantity {
        name,
        wanted,
        digits,
    }
}

const AT_MOST_STOCK: &str = "at most stock's";

const FIGURES: &[Figure] = &[
    Figure {
        name: "throughput",
        about: "`cat` of 200 MB of text in a session of 24 x 80, until its end is on the screen; \
                and in a pty whose output is read and thrown away.",
        source: Source::Sessions {
            quantities: &[
                quantity(
                    "session, MB/s",
                    1,
                    "at least 3 x stock's; aim: 5 x, or 0.9 x the pty",
                ),
                quantity("pty alone, MB/s", 0, ""),
            ],
            measure: measured::throughput,
            schedule: Schedule::Alternating,
        },
    },
    Figure {
        name: "idle",
        about: "A session in which nothing happens, watched for 60 s after 10 s. Bytes are UDP \
                payload.",
        source: Source::Sessions {
            quantities: &[
                quantity("server, resident MB", 1, "at most stock's; aim: 5"),
                quantity("client, resident MB", 1, "at most stock's; aim: 7"),
                quantity(
                    "server, processor s per hour",
                    3,
                    "at most stock's; aim: 0.1",
                ),
                quantity(
                    "client, processor s per hour",
                    3,
                    "at most stock's; aim: 0.1",
                ),
                quantity("datagrams to the server per minute", 0, AT_MOST_STOCK),
                quantity("datagrams to the client per minute", 0, AT_MOST_STOCK),
                quantity("bytes to the server per minute", 0, AT_MOST_STOCK),
                quantity("bytes to the client per minute", 0, AT_MOST_STOCK),
            ],
            measure: measured::idle,
            schedule: Schedule::AtOnce,
        },
    },
    Figure {
        name: "full-screen",
        about: "8 s of a program that redraws the whole screen 20 times a second.",
        source: Source::Sessions {
            quantities: &[
                quantity("kB to the client", 1, "at most stock's; aim: 3/4"),
                quantity("kB to the server", 1, AT_MOST_STOCK),
            ],
            measure: measured::full_screen,
            schedule: Schedule::Alternating,
        },
    },
    Figure {
        name: "yes",
        about: "3 s of `yes`.",
        source: Source::Sessions {
            quantities: &[
                quantity("kB to the client", 1, AT_MOST_STOCK),
                quantity("kB to the server", 1, AT_MOST_STOCK),
            ],
            measure: measured::yes,
            schedule: Schedule::Alternating,
        },
    },
    Figure {
        name: "paste",
        about: "8 MB typed at once into a program that checks each byte; given up after 60 s.",
        source: Source::Sessions {
            quantities: &[
                quantity("until all has arrived, s", 1, "exact, at most stock's"),
                quantity("client, most memory, MB", 1, "under 64"),
                quantity("server, most memory, MB", 1, AT_MOST_STOCK),
            ],
            measure: measured::paste,
            schedule: Schedule::Alternating,
        },
    },
    Figure {
        name: "outage",
        about: "3000 keys typed during an outage of 60 s, from its end until the answer to the \
                last key is shown.",
        source: Source::Sessions {
            quantities: &[quantity(
                "ms to catch up",
                0,
                "exact, at most stock's; aim: 300",
            )],
            measure: measured::outage,
            schedule: Schedule::Alternating,
        },
    },
    Figure {
        name: "login",
        about: "From the command to the prompt on the screen, by key over a real sshd, to a shell \
                whose start-up file sets the prompt. The link has no other delay than its round \
                trip. The second table is what `--log` told of one more login of ours in each \
                round.",
        source: Source::Logins,
    },
    Figure {
        name: "seal",
        about: "Sealing, opening and refusing one datagram.",
        source: Source::Example {
            package: "fulmar-datagram",
            example: "seal_cost",
        },
    },
    Figure {
        name: "terminal",
        about: "Bytes through the terminal alone.",
        source: Source::Example {
            package: "fulmar-terminal",
            example: "throughput",
        },
    },
    Figure {
        name: "frames",
        about: "The differ for one frame, and the memory of 32 kept states of a busy screen.",
        source: Source::Example {
            package: "fulmar-terminal",
            example: "frame_cost",
        },
    },
];

impl Figures {
    /// Measures what was asked for.
    ///
    /// # Errors
    ///
    /// When there is no such figure, or a program that is measured cannot be built or started.
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<()> {
        let figures = self.chosen()?;
        let mut pairs = vec![Programs::stock()?];
        match (&self.server, &self.client) {
            (Some(server), Some(client)) => {
                pairs.push(Programs::given(server.clone(), client.clone()));
            }
            _ if self.stock_alone => {}
            _ => pairs.push(Programs::ours(workspace)?),
        }
        let folder = tempfile::tempdir()?;
        for figure in figures {
            eprintln!("xtask: measuring {}", figure.name);
            let content = self.content(figure, workspace, &pairs, folder.path())?;
            println!("## {}\n\n{content}", figure.name);
            if !self.print {
                write_section(workspace, figure.name, &content)?;
            }
        }
        Ok(())
    }

    fn chosen(&self) -> Result<Vec<&'static Figure>> {
        let Some(name) = &self.name else {
            return Ok(FIGURES.iter().collect());
        };
        match FIGURES.iter().find(|figure| figure.name == name) {
            Some(figure) => Ok(vec![figure]),
            None => {
                let names: Vec<_> = FIGURES.iter().map(|figure| figure.name).collect();
                bail!("no figure is called {name}; there are {}", names.join(", "))
            }
        }
    }

    /// The text of a figure: what it is, its table, the command that makes it, the machine.
    fn content(
        &self,
        figure: &Figure,
        workspace: &Workspace,
        pairs: &[Programs],
        folder: &Path,
    ) -> Result<String> {
        let (result, how) = match figure.source {
            Source::Sessions {
                quantities,
                measure,
                schedule,
            } => {
                let columns = self.measure(measure, schedule, pairs, folder)?;
                (
                    table::draw(quantities, &columns),
                    format!("{} runs each", self.runs),
                )
            }
            Source::Logins => login::measure(workspace, folder, self.runs)?,
            Source::Example { package, example } => {
                let args = ["run", "--release", "--locked", "--quiet"];
                let mut cargo = workspace.cargo(args);
                cargo.args(["--package", package, "--example", example]);
                let output = workspace::output_of(&mut cargo)?;
                (
                    format!("```text\n{}\n```\n", output.trim_end()),
                    "release build".to_owned(),
                )
            }
        };
        let command = format!("cargo xtask figures {}", figure.name);
        Ok(format!(
            "{}\n\n{result}\n`{command}`: {how}, {}.",
            figure.about,
            machine()
        ))
    }

    /// Runs the measurement so often with each pair.
    fn measure(
        &self,
        measure: fn(&Programs, &Path) -> Result<Values>,
        schedule: Schedule,
        pairs: &[Programs],
        folder: &Path,
    ) -> Result<Vec<Column>> {
        let column = |pair: &Programs| Column {
            name: pair.name.clone(),
            runs: Vec::new(),
        };
        let mut columns: Vec<Column> = pairs.iter().map(column).collect();
        let run_one = |pair: &Programs| {
            let values = measure(pair, folder).with_context(|| format!("measuring {}", pair.name));
            eprintln!("xtask:   {}: {values:?}", pair.name);
            values
        };
        let rounds: Vec<Vec<Result<Values>>> = match schedule {
            Schedule::Alternating => (0..self.runs)
                .map(|_| pairs.iter().map(run_one).collect())
                .collect(),
            Schedule::AtOnce => std::thread::scope(|scope| {
                let start = |pair| scope.spawn(move || run_one(pair));
                let rounds: Vec<Vec<_>> = (0..self.runs)
                    .map(|_| pairs.iter().map(start).collect())
                    .collect();
                let end = |run: ScopedJoinHandle<'_, _>| run.join().expect("a run does not panic");
                rounds
                    .into_iter()
                    .map(|round| round.into_iter().map(end).collect())
                    .collect()
            }),
        };
        for round in rounds {
            for (column, values) in columns.iter_mut().zip(round) {
                column.runs.push(values?);
            }
        }
        Ok(columns)
    }
}

fn write_section(workspace: &Workspace, name: &str, content: &str) -> Result<()> {
    let path = workspace.root().join(PAGE);
    let page = fs::read_to_string(&path).unwrap_or_else(|_| PREFACE.to_owned());
    let page = table::replace_section(&page, name, content)?;
    fs::write(&path, page).with_context(|| format!("writing {}", path.display()))
}

/// What the figures were measured on.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let system = workspace::output_of(Command::new("uname").arg("-sr")).unwrap_or_default();
    // What follows the hyphen names one builder's kernel.
    let system = system.split('-').next().unwrap_or_default();
    let processor = processor.unwrap_or_else(|| "an unknown processor".to_owned());
    format!("{cores} cores of {processor}, {}", system.trim())
}

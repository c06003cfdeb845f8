//! Measures the cost of a session that carries something else than a typist: much text, a busy screen, a paste.
//!
//! | load | what is done | figures |
//! |---|---|---|
//! | throughput | `cat` of 200 MB, until its end is on the screen | `rate`, `pty_rate`: the same in a terminal alone, `client_cpu`, `server_cpu` |
//! | yes-lines | the same of 20 MB, all lines `y` | the same |
//! | full-screen | a program redraws the whole screen 20 times a second | bytes and packets, `client_cpu`, `server_cpu` |
//! | repaint-… | 50 times a second, in windows of two sizes | the same |
//! | yes | three seconds of `yes` | the same |
//! | storm-… | a program writes what is much work for a terminal, in a window of 400x100 | `rate`, and `to_interrupt`: from Ctrl-C to the end of it |
//! | paste | 8 MB are typed at once into a program that checks each byte | `to_arrive`, `client_memory`, `server_memory` |
//! | slow-paste | the same of 100 MB, into a program that reads 5 MB a second | the same |
//! | both-ways | 2 MB are typed at once into a program that writes all the time, through 10 Mbit/s | the same |
//! | outage | 3000 keys in an outage of a minute | `to_catch_up`, from its end until all have arrived |
//! | beside-… | a large screen changes all the time beside a TCP stream in one queue | `share`, `rate`, `rate_beside` |
//!
//! The link adds no delay and has no limit, but beside a stream, with much text both ways, and for the few keys of an outage. What is not over in time has `in_time` 0 and no time; what
//! arrives otherwise than it was typed is a run that failed.

mod beside;
mod program;
mod terminal;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fulmar_platform::boot_time;
use fulmar_sim::{CLIENT, Change};

use super::figures::{HostCosts, millis, traffic};
use super::hosts::PeerHosts;
use super::lan::{in_millis, link};
use super::{Kernel, WINDOW, cell};
use crate::experiment::{Cell, LabSetup, Measured, Work};
use crate::peer::Peer;
use crate::scenario::Scenario;
use crate::trace::Size;
pub use program::{LoadProgram, Text};
use terminal::LoadTerminal;

/// The text of the throughput, in bytes. Chosen by eye: seconds on any machine.
const TEXT_BYTES: usize = 200_000_000;

/// The lines of `y` that are shown, in bytes. Chosen by eye: a line each two bytes is much work.
const LINES_BYTES: usize = 20_000_000;

/// Ten times what stock Mosh takes for the text, on a slow machine.
const TEXT_LIMIT: Duration = Duration::from_secs(300);

/// Longer than any of the programs that end by themselves, and than a paste ought to take.
const LIMIT: Duration = Duration::from_secs(60);

/// The time in which a session must be there.
const SET_UP: Duration = Duration::from_secs(60);

/// The window that is much to repaint.
const LARGE: Size = Size {
    columns: 200,
    rows: 60,
};

/// The time in which a paste must have arrived that takes a slow reader 20 s.
const SLOW_LIMIT: Duration = Duration::from_secs(180);

/// The link for much text both ways. Its queue holds 80 ms. Chosen by eye.
const BOTH_WAYS_LINK: &str = "rate 10mbit queue 100kB";
const BOTH_WAYS_ROUND_TRIP: Duration = Duration::from_millis(40);

/// The time for which it is quiet before an outage.
const QUIET: Duration = Duration::from_secs(1);

/// The bytes that are written in a storm whose time is taken, the time for which it goes on before it is
/// interrupted, and its window. Chosen by eye: seconds for a terminal that takes 15 s for a megabyte.
const STORM_BYTES: usize = 400_000;
const STORM_LASTS: Duration = Duration::from_secs(2);
const STORM_SIZE: Size = Size {
    columns: 400,
    rows: 100,
};

/// The byte that Ctrl-C types.
const INTERRUPT: u8 = 0x03;

/// A load that is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// `cat` of so many bytes.
    Throughput(Text, usize),
    /// A screen of that size that changes all the time.
    Repaint(Size, Repaint),
    /// `yes`.
    Yes,
    /// This text, which is much work for a terminal, again and again; see [`LoadProgram::Storm`].
    Storm(&'static str),
    /// Much text typed at once.
    Paste(Paste),
    /// Keys typed while there is no network.
    Outage(Outage),
}

/// A text that is typed at once, and how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paste {
    /// Its length.
    pub bytes: usize,
    /// The program that reads it.
    pub reader: Reader,
}

/// A program that reads a paste.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// As fast as it can.
    Quick,
    /// So many bytes a second.
    Slow(usize),
    /// As fast as it can, and writes lines of `y` meanwhile.
    Writing,
}

impl Paste {
    /// Chosen by eye, as all of them.
    const USUAL: Self = Self {
        bytes: 8_000_000,
        reader: Reader::Quick,
    };
    const SLOW: Self = Self {
        bytes: 100_000_000,
        reader: Reader::Slow(5_000_000),
    };
    const BOTH_WAYS: Self = Self {
        bytes: 2_000_000,
        reader: Reader::Writing,
    };

    fn limit(self) -> Duration {
        match self.reader {
            Reader::Slow(_) => SLOW_LIMIT,
            Reader::Quick | Reader::Writing => LIMIT,
        }
    }
}

/// An outage, and the keys that are typed in it, evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Their number.
    pub keys: usize,
    /// The time without a network.
    pub time: Duration,
    /// The round trip of the link.
    pub round_trip: Duration,
}

impl Outage {
    /// More than a few datagrams hold. Chosen by eye.
    const MANY: Self = Self {
        keys: 3000,
        time: Duration::from_secs(60),
        round_trip: Duration::ZERO,
    };

    /// Somebody who tries now and then.
    const fn few(seconds: u64) -> Self {
        Self {
            keys: 10,
            time: Duration::from_secs(seconds),
            round_trip: Duration::from_millis(100),
        }
    }
}

/// The pace of a screen that changes, and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repaint {
    /// Frames a second.
    pub rate: u32,
    /// Seconds.
    pub seconds: u32,
}

impl Repaint {
    /// As `top` at its fastest.
    const USUAL: Self = Self {
        rate: 20,
        seconds: 8,
    };
    /// As often as a session sends frames.
    const FAST: Self = Self {
        rate: 50,
        seconds: 20,
    };
}

/// Returns the cells of the experiment.
pub fn cells(_around: &LabSetup) -> Vec<Cell> {
    let mut cells = unshared();
    cells.extend(shared());
    cells
}

/// Those on a link that is shared with a TCP stream. A queue holds half a second.
fn shared() -> impl Iterator<Item = Cell> {
    [("beside-1mbit", 1000), ("beside-4mbit", 4000)]
        .into_iter()
        .map(|(name, kilobits)| {
            let title = format!("200x60 redrawn beside a TCP stream, {kilobits} kbit/s");
            let work = beside::BesideTcp {
                kilobits,
                queue: kilobits * 125 / 2,
            };
            let peers = &["ssh", "mosh-n", "fulmar-n"];
            cell(name, title, peers, beside::TAKES, work)
        })
}

fn unshared() -> Vec<Cell> {
    let screen = "8 s of a screen redrawn 20 times a second";
    let storm = "what is much work for a terminal, at 400x100";
    let [few_10, few_60] = [
        "10 keys in an outage of 10 s, round trip 100 ms",
        "10 keys in an outage of 60 s, round trip 100 ms",
    ];
    let slow = "100 MB pasted into a program that reads 5 MB a second";
    let both = "2 MB pasted into a program that writes all the time, 10 Mbit/s, round trip 40 ms";
    let many = "3000 keys in an outage of 60 s";
    let fast = "20 s of a screen redrawn 50 times a second";
    [
        (
            "throughput",
            "cat of 200 MB",
            30,
            Load::Throughput(Text::Words, TEXT_BYTES),
        ),
        (
            "yes-lines",
            "cat of 20 MB of lines of y",
            15,
            Load::Throughput(Text::Lines, LINES_BYTES),
        ),
        (
            "full-screen",
            screen,
            11,
            Load::Repaint(WINDOW, Repaint::USUAL),
        ),
        (
            "repaint-80x24",
            fast,
            23,
            Load::Repaint(WINDOW, Repaint::FAST),
        ),
        (
            "repaint-200x60",
            fast,
            23,
            Load::Repaint(LARGE, Repaint::FAST),
        ),
        ("yes", "3 s of yes", 6, Load::Yes),
        ("storm-repeat", storm, 15, Load::Storm("漢e[65535b")),
        ("storm-shift", storm, 15, Load::Storm("e#8e[ @")),
        ("storm-lines", storm, 15, Load::Storm("e[He[99Le[99M")),
        ("paste", "8 MB pasted", 15, Load::Paste(Paste::USUAL)),
        ("slow-paste", slow, 60, Load::Paste(Paste::SLOW)),
        ("both-ways", both, 15, Load::Paste(Paste::BOTH_WAYS)),
        ("outage", many, 70, Load::Outage(Outage::MANY)),
        ("outage-10s-few", few_10, 30, Load::Outage(Outage::few(10))),
        ("outage-60s-few", few_60, 100, Load::Outage(Outage::few(60))),
    ]
    .map(|(name, title, seconds, load)| Cell {
        is_alone: load.is_alone(),
        ..cell(
            name,
            title,
            load.peers(),
            Duration::from_secs(seconds),
            load,
        )
    })
    .into()
}

impl Load {
    /// Returns the peers that are measured: of a storm those that have a terminal of their own. Nobody looks at
    /// guesses here, and they would cost time.
    fn peers(self) -> &'static [&'static str] {
        match self {
            Self::Storm(_) => &["mosh-n", "fulmar-n"],
            _ => &["ssh", "mosh-n", "fulmar-n"],
        }
    }

    /// Tells if others would change its times; the rest waits most of the time.
    fn is_alone(self) -> bool {
        match self {
            Self::Throughput(..) | Self::Storm(_) | Self::Paste(_) => true,
            Self::Repaint(_, repaint) => repaint == Repaint::FAST,
            Self::Yes | Self::Outage(..) => false,
        }
    }

    fn round_trip(self) -> Duration {
        match self {
            Self::Outage(outage) => outage.round_trip,
            Self::Paste(Paste::BOTH_WAYS) => BOTH_WAYS_ROUND_TRIP,
            _ => Duration::ZERO,
        }
    }

    /// Returns what limits the link.
    fn bottleneck(self) -> &'static str {
        match self {
            Self::Paste(Paste::BOTH_WAYS) => BOTH_WAYS_LINK,
            _ => "",
        }
    }

    fn window(self) -> Size {
        match self {
            Self::Storm(_) => STORM_SIZE,
            Self::Repaint(size, _) => size,
            _ => WINDOW,
        }
    }

    /// Returns the program that runs at the remote end. The text is in this file, where there is one.
    fn program(self, text: &Path) -> LoadProgram {
        match self {
            Self::Throughput(..) => LoadProgram::Cat {
                file: text.to_owned(),
            },
            Self::Repaint(size, Repaint { rate, seconds }) => LoadProgram::Repaint {
                columns: size.columns,
                rows: size.rows,
                rate,
                seconds,
            },
            Self::Yes => LoadProgram::Yes,
            Self::Storm(piece) => LoadProgram::Storm {
                piece: piece.to_owned(),
                bytes: STORM_BYTES,
            },
            Self::Paste(Paste { bytes, reader }) => match reader {
                Reader::Quick => LoadProgram::Sink { bytes, rate: None },
                Reader::Slow(rate) => LoadProgram::Sink {
                    bytes,
                    rate: Some(rate),
                },
                Reader::Writing => LoadProgram::Exchange { bytes },
            },
            Self::Outage(Outage { keys: bytes, .. }) => LoadProgram::Sink { bytes, rate: None },
        }
    }
}

impl Work for Load {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let peer = Peer::parse(peer)?;
        let scenario = link(seed, self.round_trip(), self.bottleneck())?;
        let text = tempfile::NamedTempFile::new().context("making a file to show")?;
        if let Self::Throughput(kind, bytes) = self {
            kind.write(text.path(), *bytes)?;
        }
        let program = |lab: &str| self.program(text.path()).line(lab);
        let around = (Kernel::USUAL, self.window());
        let (mut session, line) = LoadSession::start(peer, &scenario, around, setup, program)?;
        let measured = session.carry(*self)?;
        session.hosts.session.end_processes();
        Ok(measured.by(&scenario, session.hosts.commands(line)))
    }

    fn takes_any_peer(&self) -> bool {
        true
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Throughput(_, bytes) => vec![("bytes", bytes.to_string())],
            Self::Paste(Paste { bytes, reader }) => {
                let mut parameters = vec![("bytes", bytes.to_string())];
                match reader {
                    Reader::Quick => {}
                    Reader::Slow(rate) => parameters.push(("read", format!("{rate} B/s"))),
                    Reader::Writing => parameters.push(("link", self.bottleneck().to_owned())),
                }
                parameters
            }
            Self::Storm(piece) => vec![
                ("piece", (*piece).to_owned()),
                ("bytes", STORM_BYTES.to_string()),
                ("window", "400x100".to_owned()),
            ],
            Self::Repaint(size, Repaint { rate, seconds }) => vec![
                ("window", format!("{}x{}", size.columns, size.rows)),
                ("redrawn", format!("{rate} times a second, {seconds} s")),
            ],
            Self::Yes => Vec::new(),
            Self::Outage(outage) => {
                let mut parameters = vec![
                    ("keys", outage.keys.to_string()),
                    ("outage", format!("{} s", outage.time.as_secs())),
                ];
                if !outage.round_trip.is_zero() {
                    parameters.push(("round trip", in_millis(outage.round_trip)));
                }
                parameters
            }
        }
    }
}

/// A session with a program at its remote end.
struct LoadSession {
    // Dropped first: the hosts end what is left of it.
    terminal: LoadTerminal,
    hosts: PeerHosts,
    peer: Peer,
    /// The program's command.
    command: String,
}

impl LoadSession {
    /// Starts a session in which a program runs, whose line is made of the word for the lab there, and waits until it does.
    /// Returns the line that has started it, too.
    fn start(
        peer: Peer,
        scenario: &Scenario,
        (kernel, window): (Kernel, Size),
        setup: &LabSetup,
        program: impl Fn(&str) -> Result<String>,
    ) -> Result<(Self, String)> {
        let hosts = PeerHosts::new(scenario, kernel, setup)?;
        let command = program(&hosts.lab()?)?;
        let line = hosts.line(&peer, command.clone())?;
        let mut session = Self {
            terminal: LoadTerminal::start(&hosts.session, &line, window)?,
            hosts,
            peer,
            command,
        };
        session.await_ready()?;
        Ok((session, line))
    }

    fn await_ready(&mut self) -> Result<()> {
        let shown = self.terminal.wait_for(&[program::READY], SET_UP)?;
        let last = || format!("no session; shown last: {}", self.terminal.last_shown());
        shown.with_context(last).map(drop)
    }

    fn carry(&mut self, load: Load) -> Result<Measured> {
        match load {
            Load::Throughput(_, bytes) => self.throughput(bytes),
            Load::Repaint(..) | Load::Yes => self.traffic(),
            Load::Storm(_) => self.storm(),
            Load::Paste(paste) => self.paste(paste),
            Load::Outage(outage) => self.outage(outage),
        }
    }

    fn storm(&mut self) -> Result<Measured> {
        let began = self.begin();
        let half = self.terminal.wait_for(&[program::HALF], LIMIT)?;
        let mut measured = Measured::default();
        measured.put_share("in_time", half.is_some());
        if half.is_none() {
            return Ok(measured);
        }
        let rate = STORM_BYTES as f64 / (boot_time() - began).as_secs_f64();
        measured.put("rate", rate, "B/s");
        self.begin();
        self.terminal.rest(STORM_LASTS)?;
        let interrupted = boot_time();
        self.terminal.type_keys([INTERRUPT]);
        let ended = self.in_time(LIMIT)?;
        measured.put_ms("to_interrupt", ended.map(|ended| ended - interrupted));
        Ok(measured)
    }

    /// Types the key that the program waits for, and returns when.
    fn begin(&mut self) -> Duration {
        let began = boot_time();
        self.terminal.type_keys([b' ']);
        began
    }

    fn throughput(&mut self, bytes: usize) -> Result<Measured> {
        let costs = HostCosts::begin(&self.hosts.session)?;
        let began = self.begin();
        let took = self.in_time(TEXT_LIMIT)?.map(|ended| ended - began);
        let used = self.processor_times(costs);
        self.hosts.session.end_processes();
        let rate = |took: Duration| bytes as f64 / took.as_secs_f64();
        let mut measured = used;
        measured.put_share("in_time", took.is_some());
        measured.put("rate", took.map(rate), "B/s");
        measured.put("pty_rate", rate(self.alone()?), "B/s");
        Ok(measured)
    }

    /// Returns the time that the program takes on a terminal that is read and not looked at, without any peer.
    fn alone(&self) -> Result<Duration> {
        let line = format!("exec {}", self.command);
        let mut terminal = LoadTerminal::start(&self.hosts.session, &line, WINDOW)?;
        let is_ready = terminal.wait_for(&[program::READY], SET_UP)?.is_some();
        let began = boot_time();
        terminal.type_keys([b' ']);
        ensure!(
            is_ready && terminal.wait_for(&[program::DONE], TEXT_LIMIT)?.is_some(),
            "the program alone ended with {}",
            terminal.last_shown()
        );
        Ok(boot_time() - began)
    }

    fn traffic(&mut self) -> Result<Measured> {
        let costs = HostCosts::begin(&self.hosts.session)?;
        let before = self.hosts.session.link.report()?;
        self.begin();
        let ended = self.in_time(LIMIT)?;
        ended.context("the program has not come to its end")?;
        let after = self.hosts.session.link.report()?;
        let mut measured = self.processor_times(costs);
        for way in traffic(&before, &after) {
            measured.put(&format!("packets_{}", way.way), way.packets, "packets");
            measured.put(&format!("bytes_{}", way.way), way.bytes, "B");
        }
        Ok(measured)
    }

    /// Returns the processor time, of user and system, that the peer's own processes have used.
    fn processor_times(&self, mut costs: HostCosts) -> Measured {
        let mut measured = Measured::default();
        costs.look();
        for (host, cost) in costs.of(self.peer.programs()) {
            measured.put(&format!("{host}_cpu"), millis(cost.cpu), "ms");
        }
        measured
    }

    fn paste(&mut self, paste: Paste) -> Result<Measured> {
        let mut costs = HostCosts::begin(&self.hosts.session)?;
        self.begin();
        let began = boot_time();
        let keys: Vec<u8> = (0..paste.bytes).map(program::typed).collect();
        self.terminal.type_keys(keys);
        let ended = self.in_time(paste.limit())?;
        let mut measured = timed("to_arrive", began, ended);
        costs.look();
        for (host, cost) in costs.of(self.peer.programs()) {
            measured.put(&format!("{host}_memory"), cost.memory as f64, "B");
        }
        Ok(measured)
    }

    fn outage(&mut self, Outage { keys, time, .. }: Outage) -> Result<Measured> {
        self.begin();
        self.terminal.rest(QUIET)?;
        self.hosts.session.link.apply(Change::Cut(CLIENT))?;
        let cut = boot_time();
        let gap = time / u32::try_from(keys)?;
        for key in 0..keys {
            let due = cut + gap * u32::try_from(key)?;
            self.terminal.rest(due.saturating_sub(boot_time()))?;
            self.terminal.type_keys([program::typed(key)]);
        }
        let left = (cut + time).saturating_sub(boot_time());
        self.terminal.rest(left)?;
        self.hosts.session.link.apply(Change::Restore(CLIENT))?;
        let restored = boot_time();
        let ended = self.in_time(LIMIT)?;
        Ok(timed("to_catch_up", restored, ended))
    }

    /// Waits for the program's end, and returns when that was shown; nothing where it is too late.
    fn in_time(&mut self, limit: Duration) -> Result<Option<Duration>> {
        let words = [program::DONE, program::WRONG];
        let shown = self.terminal.wait_for(&words, limit)?;
        ensure!(
            shown != Some(program::WRONG),
            "something else has arrived than was typed"
        );
        Ok(shown.map(|_| boot_time()))
    }
}

/// Returns whether something ended in time, and how long it took by this name.
fn timed(name: &str, began: Duration, ended: Option<Duration>) -> Measured {
    let mut measured = Measured::default();
    measured.put_share("in_time", ended.is_some());
    measured.put_ms(name, ended.map(|ended| ended - began));
    measured
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_uses_the_machine_all_the_time_is_alone_and_storms_have_terminals() {
        let cells = cells(&LabSetup::default());
        let mut names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        for cell in &cells {
            let is_storm = cell.name.starts_with("storm-");
            let is_busy = is_storm
                || cell.name.starts_with("repaint-")
                || [
                    "throughput",
                    "yes-lines",
                    "paste",
                    "slow-paste",
                    "both-ways",
                ]
                .contains(&cell.name.as_str());
            assert_eq!(cell.is_alone, is_busy, "{}", cell.name);
            assert_eq!(
                cell.peers.contains(&"ssh".to_owned()),
                !is_storm,
                "{}",
                cell.name
            );
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 17);
    }

    #[test]
    fn a_load_s_program_is_a_line_that_the_lab_understands() {
        let file = Path::new("/tmp/text");
        let line = |load: Load| load.program(file).line("lab").unwrap();
        assert_eq!(
            line(Load::Throughput(Text::Words, 5)),
            "lab load cat /tmp/text"
        );
        assert_eq!(line(Load::Outage(Outage::few(60))), "lab load sink 10");
        let storm = Load::Storm("e#8e[ @");
        assert_eq!(line(storm), "lab load storm 'e#8e[ @' 400000");
    }

    #[test]
    fn every_load_has_its_program_and_its_window() {
        let file = Path::new("/tmp/text");
        let line = |load: Load| load.program(file).line("lab").unwrap();
        let repaint = Load::Repaint(LARGE, Repaint::FAST);
        assert_eq!(line(repaint), "lab load repaint 200 60 50 20");
        assert_eq!(repaint.window(), LARGE);
        assert_eq!(line(Load::Yes), "lab load yes");
        assert_eq!(line(Load::Paste(Paste::USUAL)), "lab load sink 8000000");
        let slow = "lab load sink 100000000 --rate 5000000";
        assert_eq!(line(Load::Paste(Paste::SLOW)), slow);
        let both = "lab load exchange 2000000";
        assert_eq!(line(Load::Paste(Paste::BOTH_WAYS)), both);
        assert_eq!(line(Load::Storm("e#8")), "lab load storm 'e#8' 400000");
        assert_eq!(Load::Storm("e#8").window(), STORM_SIZE);
        assert_eq!(Load::Paste(Paste::USUAL).window(), WINDOW);
    }

    #[test]
    fn what_did_not_end_has_no_time() {
        let ms = Duration::from_millis;
        let ended = timed("to_arrive", ms(1000), Some(ms(1250)));
        assert_eq!(
            ended.told(),
            [("in_time", 1.0, "share"), ("to_arrive", 250.0, "ms")]
        );
        let late = timed("to_arrive", ms(1000), None);
        assert_eq!(late.told(), [("in_time", 0.0, "share")]);
    }
}

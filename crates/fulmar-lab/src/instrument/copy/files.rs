//! A copy from the start of the command to its end: of one file, of many, or over a measured cellular link.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_sim::Random;

use super::network_path::NetworkPath;
use super::{FILE, FOLDER};
use crate::experiment::{LabSetup, Measured, Work};
use crate::instrument::figures::HostCosts;
use crate::instrument::hosts::hosts;
use crate::instrument::transfer::{
    CARRIERS, OURS, Tool, ToolKind, Transfer, TransferDirection, TransferFiles, TransferResult,
};
use crate::peer::Cost;
use crate::scenario::Scenario;
use crate::trace::LinkTraces;

/// The number of files in one folder. Chosen by eye: as in a tree of sources, and a folder is one more entry
/// for every tool.
const A_FOLDER: usize = 100;

/// The bytes that an opportunity of a trace carries: a full packet of Ethernet.
const OPPORTUNITY: u64 = 1500;

/// The work: a file over one path.
#[derive(Clone, Copy, Debug)]
pub struct OneFile {
    /// The path.
    pub path: NetworkPath,
    /// The size of the file.
    pub bytes: u64,
    /// The longest time for it.
    pub time: Duration,
}

/// The work: a folder of files over one path.
#[derive(Clone, Copy, Debug)]
pub struct ManyFiles {
    /// The path.
    pub path: NetworkPath,
    /// The number of files.
    pub files: usize,
    /// The size of each.
    pub bytes: usize,
    /// The longest time for it.
    pub time: Duration,
}

/// The work: a file over a link whose rate comes and goes.
#[derive(Clone, Copy, Debug)]
pub struct TracedCopy {
    /// The two traces, `NAME.up` and `NAME.down`.
    pub trace: &'static str,
    /// The traces that are generated in their place, `NAME-up` and `NAME-down`.
    pub like: &'static str,
    /// The direction of the file.
    pub direction: TransferDirection,
    /// The size of the file.
    pub bytes: u64,
    /// The most bytes that may wait for the link.
    pub queue: u64,
    /// The round trip without any waiting, in milliseconds.
    pub rtt_ms: u64,
    /// The longest time for it.
    pub time: Duration,
}

/// A copy that is over, and what it cost.
struct TimedCopy {
    tool: Tool,
    files: TransferFiles,
    result: TransferResult,
    costs: HostCosts,
    /// The time of the link when it began.
    began: Duration,
}

impl TimedCopy {
    /// Lets a tool carry so many bytes over a path, until that is done or the time is over.
    fn run(
        tool: Tool,
        scenario: &Scenario,
        files: TransferFiles,
        load: (TransferDirection, u64),
        time: Duration,
        setup: &LabSetup,
    ) -> Result<Self> {
        let hosts = hosts(scenario)?;
        let began = hosts.link.report()?.at;
        let mut costs = HostCosts::begin(&hosts)?;
        let transfer = Transfer::start(tool, (&hosts, &files), load, setup)?;
        let result = transfer.run(|_| time, || costs.look())?;
        Ok(Self {
            tool,
            files,
            result,
            costs,
            began,
        })
    }

    /// Returns how fast so many bytes were carried: size over wall time.
    fn speed(&self, bytes: u64) -> Measured {
        let took = self.result.took.as_secs_f64();
        let mut measured = Measured::default();
        measured.put("bytes", bytes as f64, "B");
        measured.put("took", took, "s");
        measured.put("rate", bytes as f64 / took, "B/s");
        measured.put_share("in_time", self.result.is_in_time);
        measured
    }

    /// Notes what it cost, for each byte of so many.
    fn put_costs(&self, measured: &mut Measured, bytes: u64) {
        put_costs(
            measured,
            bytes,
            self.costs.of(CARRIERS),
            self.costs.of(OURS),
        );
    }

    /// Returns the figures of one file, and whether it is whole.
    fn of_one_file(&self) -> Result<Measured> {
        let arrived = self.result.arrived;
        let mut measured = self.speed(arrived);
        if !matches!(self.tool.kind, ToolKind::Tcp(_)) {
            self.put_costs(&mut measured, arrived);
            measured.put_share("is_whole", self.files.are_same()?);
        }
        Ok(measured)
    }
}

/// Notes what both hosts have spent together, for each byte of so many, and the memory of our own processes.
fn put_costs(
    measured: &mut Measured,
    bytes: u64,
    carriers: impl Iterator<Item = (&'static str, Cost)>,
    ours: impl Iterator<Item = (&'static str, Cost)>,
) {
    let spent = carriers.map(|(_, cost)| cost.cpu);
    let cpu = spent.sum::<Duration>().as_secs_f64();
    let a_byte = (bytes > 0).then(|| cpu * 1e9 / bytes as f64);
    measured.put("cpu", cpu, "s");
    measured.put("cpu_a_byte", a_byte, "ns/B");
    for (host, cost) in ours {
        measured.put(&format!("{host}_memory"), cost.memory as f64, "B");
    }
}

impl Work for OneFile {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let tool = Tool::named(peer, &FILE)?;
        let scenario = self.path.scenario(seed)?;
        let files = TransferFiles::random(self.bytes)?;
        let load = (TransferDirection::Up, self.bytes);
        let copy = TimedCopy::run(tool, &scenario, files, load, self.time, setup)?;
        let mut measured = copy.of_one_file()?;
        measured.put("product", self.path.product() as f64, "B");
        Ok(measured.by(&scenario, copy.result.commands))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("bytes", self.bytes.to_string()),
            ("at most", format!("{} s", self.time.as_secs())),
        ]
    }
}

impl Work for ManyFiles {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let tool = Tool::named(peer, &FOLDER)?;
        let scenario = self.path.scenario(seed)?;
        let files = TransferFiles::new()?;
        self.fill(&files.source())?;
        let all = (self.files * self.bytes) as u64;
        let load = (TransferDirection::Up, all);
        let copy = TimedCopy::run(tool, &scenario, files, load, self.time, setup)?;
        let there = self.arrived(&copy.files)?;
        let mut measured = copy.speed((there * self.bytes) as u64);
        copy.put_costs(&mut measured, all);
        let rate = there as f64 / copy.result.took.as_secs_f64();
        measured.put("files", there as f64, "files");
        measured.put("files_a_second", rate, "files/s");
        measured.put_share("is_whole", there == self.files);
        Ok(measured.by(&scenario, copy.result.commands))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("files", self.files.to_string()),
            ("bytes each", self.bytes.to_string()),
            ("at most", format!("{} s", self.time.as_secs())),
        ]
    }
}

impl ManyFiles {
    /// Makes the files, a hundred in a folder.
    fn fill(&self, source: &Path) -> Result<()> {
        let mut random = Random::stream(2, 0);
        for number in 0..self.files {
            let file = source.join(name(number));
            if number % A_FOLDER == 0 {
                let folder = file.parent().context("a file is in a folder")?;
                fs::create_dir_all(folder).context("making a folder in memory")?;
            }
            let content: Vec<u8> = (0..self.bytes).map(|_| random.bits() as u8).collect();
            fs::write(&file, content).context("making a file in memory")?;
        }
        Ok(())
    }

    /// Returns the number of them that have arrived, with the bytes that they have at the source.
    fn arrived(&self, files: &TransferFiles) -> Result<usize> {
        let mut there = 0;
        for number in 0..self.files {
            let name = name(number);
            if let Ok(copy) = fs::read(files.target().join(&name)) {
                there += usize::from(copy == fs::read(files.source().join(&name))?);
            }
        }
        Ok(there)
    }
}

fn name(number: usize) -> String {
    format!("folder-{}/file-{number}", number / A_FOLDER)
}

impl Work for TracedCopy {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let tool = Tool::named(peer, &FILE)?;
        let traces = match &setup.data {
            Some(folder) => LinkTraces::in_folder(folder),
            None => LinkTraces::none(),
        };
        let scenario = Scenario::parse(&self.scenario(seed, setup), &traces)?;
        let trace = traces.get(&self.name(self.direction, seed, setup.is_generated))?;
        let files = TransferFiles::random(self.bytes)?;
        let load = (self.direction, self.bytes);
        let copy = TimedCopy::run(tool, &scenario, files, load, self.time, setup)?;
        let mut measured = copy.of_one_file()?;
        let until = copy.began + copy.result.took;
        let capacity = trace.count_between(copy.began, until) * OPPORTUNITY;
        let used = copy.result.arrived as f64 / capacity as f64;
        measured.put("capacity", capacity as f64, "B");
        measured.put("of_capacity", used, "share");
        Ok(measured.by(&scenario, copy.result.commands))
    }

    fn needs(&self) -> Vec<String> {
        let file = |way| format!("link-traces/{}.{way}", self.trace);
        vec![file("up"), file("down")]
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![("bytes", self.bytes.to_string())]
    }
}

impl TracedCopy {
    fn scenario(&self, seed: u64, setup: &LabSetup) -> String {
        let name = |direction| self.name(direction, seed, setup.is_generated);
        format!(
            "seed {seed}\nup trace {} queue {queue}B\ndown trace {} queue {queue}B\n\
             both delay {}us",
            name(TransferDirection::Up),
            name(TransferDirection::Down),
            self.rtt_ms * 500,
            queue = self.queue,
        )
    }

    fn name(&self, direction: TransferDirection, seed: u64, is_generated: bool) -> String {
        let word = direction.word();
        if is_generated {
            format!("{}-{word}:{seed}", self.like)
        } else {
            format!("{}.{word}", self.trace)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: ManyFiles = ManyFiles {
        path: NetworkPath::clear(0, 1),
        files: 201,
        bytes: 10,
        time: Duration::ZERO,
    };

    #[test]
    fn only_files_that_are_as_they_were_have_arrived() {
        let files = TransferFiles::new().unwrap();
        MANY.fill(&files.source()).unwrap();
        assert_eq!(MANY.arrived(&files).unwrap(), 0);
        MANY.fill(&files.target()).unwrap();
        assert_eq!(MANY.arrived(&files).unwrap(), 201);
        let file = |number| files.target().join(name(number));
        fs::remove_file(file(200)).unwrap();
        fs::write(file(100), [0; 10]).unwrap();
        fs::write(
            file(0),
            fs::read(files.source().join(name(0)))
                .unwrap()
                .split_at(9)
                .0,
        )
        .unwrap();
        assert_eq!(MANY.arrived(&files).unwrap(), 198);
    }

    #[test]
    fn a_traced_copy_has_both_traces_and_half_of_the_round_trip_each_way() {
        let copy = TracedCopy {
            trace: "Measured",
            like: "like-lte",
            direction: TransferDirection::Down,
            bytes: 1,
            queue: 600_000,
            rtt_ms: 50,
            time: Duration::ZERO,
        };
        let mut setup = LabSetup::default();
        let expected = "seed 3\nup trace Measured.up queue 600000B\n\
            down trace Measured.down queue 600000B\nboth delay 25000us";
        assert_eq!(copy.scenario(3, &setup), expected);
        setup.is_generated = true;
        let text = copy.scenario(3, &setup);
        assert!(text.contains("down trace like-lte-down:3 queue"), "{text}");
        Scenario::parse(&text, &LinkTraces::none()).unwrap();
    }

    #[test]
    fn both_hosts_pay_for_a_byte_and_only_our_memory_is_told() {
        let ms = Duration::from_millis;
        let all = || [("client", ms(20), 5000), ("server", ms(40), 7000)].into_iter();
        let costs = || all().map(|(host, cpu, memory)| (host, Cost { cpu, memory }));
        let mut measured = Measured::default();
        put_costs(&mut measured, 30_000_000, costs(), costs().skip(1));
        let [(_, cpu, _), (_, a_byte, unit), memory] = measured.told()[..] else {
            panic!("{measured:?}");
        };
        assert!((cpu - 0.06).abs() < 1e-12 && (a_byte - 2.0).abs() < 1e-9);
        assert_eq!((unit, memory), ("ns/B", ("server_memory", 7000.0, "B")));
        let mut nothing = Measured::default();
        put_costs(&mut nothing, 0, costs(), std::iter::empty());
        assert_eq!(nothing.figures.len(), 1, "of no byte there is no cost");
    }

    #[test]
    fn files_lie_in_folders_of_a_hundred() {
        let names = [0, 99, 100, 201].map(name);
        let expected = [
            "folder-0/file-0",
            "folder-0/file-99",
            "folder-1/file-100",
            "folder-2/file-201",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_measured_link_needs_the_traces_of_both_ways() {
        let copy = TracedCopy {
            trace: "Measured",
            like: "like-lte",
            direction: TransferDirection::Up,
            bytes: 1,
            queue: 1,
            rtt_ms: 1,
            time: Duration::ZERO,
        };
        assert_eq!(
            copy.needs(),
            ["link-traces/Measured.up", "link-traces/Measured.down"]
        );
        let names =
            [false, true].map(|is_generated| copy.name(TransferDirection::Up, 9, is_generated));
        assert_eq!(names, ["Measured.up", "like-lte-up:9"]);
    }
}

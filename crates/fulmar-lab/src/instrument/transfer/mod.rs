//! Transfers: bytes from one host to the other, by a program or by a stream of plain TCP, with the time that they take.

mod files;
mod progress;
mod tcp;
mod tool;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fulmar_platform::boot_time;
use fulmar_testbed::KilledChild;
use fulmar_testbed::peers::search_path;

use super::Kernel;
use crate::experiment::LabSetup;
use crate::link::Link;
use crate::peer::{plain, require};
use crate::replay::SessionHosts;
pub(super) use files::TransferFiles;
pub(super) use progress::TransferProgress;
pub(super) use tcp::TcpSettings;
pub(crate) use tcp::TcpTransfer;
pub(super) use tool::{CARRIERS, OURS, Tool, ToolKind};

/// Between two looks at a transfer. Chosen by eye: a hundredth of the fastest copy.
const LOOK: Duration = Duration::from_millis(10);

/// So many looks at a transfer are one at the processes. What these do after the second last look is not counted.
const LOOKS_AT_COSTS: u32 = 5;

/// The direction of bytes, as seen from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferDirection {
    /// To the server.
    Up,
    /// From the server.
    Down,
}

/// A tool that carries, and how far it has come. It ends with this value.
pub(super) struct Transfer {
    carrier: Carrier,
    bytes: u64,
    began: Duration,
    /// The commands that were run, for a reader.
    pub(super) commands: Vec<String>,
}

enum Carrier {
    Tcp(TcpTransfer),
    /// With the folder of its target.
    Program(KilledChild, PathBuf),
}

/// A transfer that is over.
pub(super) struct TransferResult {
    /// True if all was carried before the time was over.
    pub(super) is_in_time: bool,
    /// The time that the whole command took, and how much had arrived then.
    pub(super) took: Duration,
    pub(super) arrived: u64,
    pub(super) progress: TransferProgress,
    /// The commands that were run, for a reader.
    pub(super) commands: Vec<String>,
}

impl TransferDirection {
    /// `up` or `down`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }

    /// Puts the two ends of a copy into a line.
    fn with_ends(self, line: &str) -> String {
        let (from, to) = match self {
            Self::Up => ("{source}", "{host}:{target}"),
            Self::Down => ("{host}:{source}", "{target}"),
        };
        line.replace("{from}", from).replace("{to}", to)
    }
}

impl Transfer {
    /// Starts a tool with the files of a transfer; plain TCP carries as many bytes of zeros.
    pub(super) fn start(
        tool: Tool,
        (hosts, files): (&SessionHosts, &TransferFiles),
        load: (TransferDirection, u64),
        setup: &LabSetup,
    ) -> Result<Self> {
        match tool.kind {
            ToolKind::Tcp(settings) => Self::tcp(tool.name, settings, &hosts.link, load),
            ToolKind::Program { needs, line } => {
                needs.map(require).transpose()?;
                let kernel = tcp::set_kernel(&hosts.link, Kernel::USUAL.congestion)?;
                let (direction, bytes) = load;
                let line = filled(&direction.with_ends(line), hosts, files, setup)?;
                let mut shell = shell(hosts, &line);
                shell.stdin(Stdio::null()).stdout(Stdio::null());
                let began = boot_time();
                // What it has started ends with the hosts.
                let program = KilledChild(hosts.link.client.spawn(&mut shell)?);
                Ok(Self {
                    carrier: Carrier::Program(program, files.far()),
                    bytes,
                    began,
                    commands: vec![line, hosts.sshd.command.clone(), kernel],
                })
            }
        }
    }

    /// Starts a stream of plain TCP, which needs no sshd.
    pub(super) fn tcp(
        name: &str,
        settings: TcpSettings,
        link: &Link,
        (direction, bytes): (TransferDirection, u64),
    ) -> Result<Self> {
        let words = settings.set(link)?;
        let began = boot_time();
        let tcp = TcpTransfer::start(link, settings.window, direction, bytes)?;
        Ok(Self {
            carrier: Carrier::Tcp(tcp),
            bytes,
            began,
            commands: vec![format!("a TCP stream of the lab, {name}"), words],
        })
    }

    /// Waits until all has arrived or the time is over. `limit` gets the time of the first byte; both count from the
    /// start. `look` is called now and then meanwhile.
    pub(super) fn run(
        mut self,
        limit: impl Fn(Option<Duration>) -> Duration,
        mut look: impl FnMut(),
    ) -> Result<TransferResult> {
        let mut progress = TransferProgress::default();
        let mut looks = 0_u32;
        let (is_in_time, took, arrived) = loop {
            let is_over = self.has_ended()?;
            let (took, arrived) = (self.took(), self.arrived());
            progress.note(took, arrived);
            if is_over || took >= limit(progress.first()) {
                break (is_over, took, arrived);
            }
            if looks.is_multiple_of(LOOKS_AT_COSTS) {
                look();
            }
            looks = looks.wrapping_add(1);
            std::thread::sleep(LOOK);
        };
        progress.end(took, arrived);
        Ok(TransferResult {
            is_in_time,
            took,
            arrived,
            progress,
            commands: self.commands,
        })
    }

    /// Returns the number of bytes that have arrived.
    pub(super) fn arrived(&self) -> u64 {
        match &self.carrier {
            Carrier::Tcp(tcp) => tcp.received(),
            Carrier::Program(_, folder) => held(folder).min(self.bytes),
        }
    }

    /// Tells whether it has done its work.
    pub(super) fn has_ended(&mut self) -> Result<bool> {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => Ok(tcp.received() >= self.bytes),
            Carrier::Program(program, _) => {
                let status = program.0.try_wait().context("waiting for the tool")?;
                if let Some(status) = status {
                    ensure!(status.success(), "the tool ended with {status}");
                }
                Ok(status.is_some())
            }
        }
    }

    /// Returns the time for which it has been under way.
    pub(super) fn took(&self) -> Duration {
        boot_time() - self.began
    }
}

/// Returns how much all files in a folder take, in bytes; holes take nothing.
fn held(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok());
    // stat(2): blocks are of 512 bytes.
    sizes.map(|file| file.blocks() * 512).sum()
}

/// Fills a line; none of the paths has characters that a shell changes.
fn filled(
    line: &str,
    hosts: &SessionHosts,
    files: &TransferFiles,
    setup: &LabSetup,
) -> Result<String> {
    let values = hosts.files.values(&setup.fulmar)?;
    let (_, config) = values.ssh.rsplit_once(' ').context("ssh has a file")?;
    let mut line = line
        .replace("{ssh}", &values.ssh)
        .replace("{config}", config)
        .replace("{host}", &values.host)
        .replace("{source}", &plain(&files.source())?)
        .replace("{target}", &plain(&files.target())?);
    if line.contains("{fulmar}") {
        let fulmar = &setup.fulmar;
        ensure!(
            fulmar.is_file(),
            "{} is not there; build it",
            fulmar.display()
        );
        line = line.replace("{fulmar}", &plain(fulmar)?);
    }
    Ok(line)
}

/// Returns a shell with this line, at home in the folder of the session.
pub(super) fn shell(hosts: &SessionHosts, line: &str) -> Command {
    let home = hosts.files.home();
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(line).current_dir(&home);
    shell.env("PATH", search_path()).env("HOME", home);
    shell
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek as _, SeekFrom, Write as _};

    #[test]
    fn a_line_names_the_remote_end_as_scp_does() {
        let up = TransferDirection::Up.with_ends("scp {from} {to}");
        assert_eq!(up, "scp {source} {host}:{target}");
        let down = TransferDirection::Down.with_ends("scp {from} {to}");
        assert_eq!(down, "scp {host}:{source} {target}");
    }

    #[test]
    fn what_has_arrived_is_what_is_written_and_no_hole() {
        let files = TransferFiles::new().unwrap();
        assert_eq!(held(&files.far()), 0);
        let mut file = fs::File::create(files.target()).unwrap();
        file.write_all(&[1; 8192]).unwrap();
        assert_eq!(held(&files.far()), 8192);
        // Some tools write the end first.
        file.seek(SeekFrom::Start(1 << 20)).unwrap();
        file.write_all(&[1; 4096]).unwrap();
        assert_eq!(held(&files.far()), 12_288);
        // A file that is given its name at the end counts, too.
        fs::write(files.target().with_file_name(".target.tmp"), [1; 4096]).unwrap();
        assert_eq!(held(&files.far()), 16_384);
    }
}

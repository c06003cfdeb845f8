//! Both ends on one machine: what a login does, without ssh.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use fulmar_core::{Agreement, Capabilities, Names};
use zeroize::Zeroizing;

use crate::bootstrap::line_splitter::{Arrived, LineSplitter};
use crate::bootstrap::lines::{Answer, Invitation, Line, Malformed};
use crate::bootstrap::offer::{Block, Offer, Opening};
use crate::cli::Records;
use crate::client::{Desk, farewell};
use crate::errors::{Failure, while_doing};
use crate::server::options::Bind;
use crate::settings::Sources;
use crate::{log, report};

/// Opens a session on this machine with `command`, or with a shell, and returns the status to leave
/// with.
///
/// # Errors
///
/// When the session cannot begin.
pub(crate) fn run(command: &[OsString], sources: &Sources) -> Result<u8, Failure> {
    let desk = Desk::prepare(sources)?;
    let block = offer(command, &desk).block().map_err(Failure::Opening)?;
    let mut server = Attended::start(&desk.settings().records, &block)?;
    let told = server.listen()?;
    let Some(Invitation { port, key }) = told.invitation else {
        return Err(told.failure());
    };
    let agreement = told
        .answer
        .map(|answer| Agreement::of(block.offer(), answer.line().as_bytes(), answer.capabilities));
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    Ok(farewell(desk.hold(key, address, agreement), Names::Own))
}

/// Returns what a server is asked for that only this machine can reach.
fn offer(command: &[OsString], desk: &Desk) -> Opening {
    let offer = Offer {
        size: Some(desk.size()),
        colors: u32::try_from(desk.colors()).ok(),
        bind: Some(Bind::Address("127.0.0.1".into())),
        command: command.to_vec(),
        ..Offer::of(Capabilities::ALL)
    };
    Opening {
        start: None,
        fallback: None,
        offer,
    }
}

/// A server that ends unless it hears a client while this lives. When it has heard one, it is in the
/// background, and nothing of this is left to end.
struct Attended {
    process: Child,
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
}

/// What a server has said.
#[derive(Default)]
struct Told {
    answer: Option<Answer>,
    invitation: Option<Invitation>,
    errors: Vec<String>,
}

impl Attended {
    fn start(records: &Records, block: &Block) -> Result<Attended, Failure> {
        let mut server = ourselves().map_err(while_doing("finding our own program"))?;
        server.arg("server");
        for (option, file) in [("--trace", &records.trace), ("--log", &records.log)] {
            if let Some(file) = file {
                server.arg(option).arg(log::beside(file));
            }
        }
        let mut process = server
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(while_doing("starting a server"))?;
        let (mut input, output) = (process.stdin.take(), process.stdout.take());
        if let Some(input) = &mut input {
            // One that has ended already says why on its output.
            let _ = input.write_all(block.bytes());
        }
        Ok(Attended {
            process,
            input,
            output,
        })
    }

    /// Reads up to the invitation, or to the end.
    fn listen(&mut self) -> Result<Told, Failure> {
        let mut told = Told::default();
        let Some(output) = &mut self.output else {
            return Ok(told);
        };
        let mut splitter = LineSplitter::new();
        let mut bytes = Zeroizing::new([0; 4096]);
        while told.invitation.is_none() {
            let count = match output.read(bytes.as_mut_slice()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                outcome => outcome.map_err(while_doing("listening to the server"))?,
            };
            let mut rest = bytes.get(..count).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            while !rest.is_empty() {
                let line = splitter.take(&mut rest).map_err(|_| Failure::LocalServer)?;
                line.into_iter().for_each(|line| told.take(&line));
            }
        }
        Ok(told)
    }
}

impl Told {
    fn take(&mut self, line: &Arrived) {
        match line.parse() {
            Ok(Some(Line::Connect(answer))) => self.answer = Some(answer),
            Ok(Some(Line::Invitation(invitation))) => self.invitation = Some(invitation),
            Ok(Some(Line::Error(what))) => self.errors.push(what),
            // They are about a login, and there is none.
            Ok(Some(Line::Warning(what))) => tracing::warn!("{}", report::escaped(&what)),
            Ok(None) => {
                let line = report::escaped(&String::from_utf8_lossy(line.bytes()));
                report::print_to_stderr(&format!("{line}\n"));
            }
            Ok(Some(_)) | Err(Malformed) => {}
        }
    }

    fn failure(self) -> Failure {
        let mut errors = self.errors.into_iter();
        match errors.next() {
            Some(what) => Failure::OfServer {
                what,
                advice: errors.collect(),
            },
            None => Failure::LocalServer,
        }
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        // First of all what it waits for.
        drop(self.input.take());
        drop(self.output.take());
        let _ = self.process.wait();
    }
}

/// Returns an order to start this very program, also if its file is gone since.
fn ourselves() -> io::Result<Command> {
    let file = std::env::current_exe()?;
    let program = match file.exists() {
        true => file,
        false => PathBuf::from("/proc/self/exe"),
    };
    let mut command = Command::new(program);
    // The name decides which program we are.
    command.arg0("fulmar");
    Ok(command)
}

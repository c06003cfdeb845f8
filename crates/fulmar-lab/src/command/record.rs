//! `fulmar-lab record`: makes a key trace of any program.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use fulmar_platform::{Interest, Poller, RawMode, Signal, SignalPipe, Spawn, Tty, boot_time};
use fulmar_testbed::PtyProgram;

use crate::played::Stamper;
use crate::scripted::{Script, ScriptedTypist, TypistAction};
use crate::trace::{Clock, Event, Meta, Recorder, Size, TtyState};

/// Runs COMMAND on a terminal of its own and records what is typed and shown, with times.
///
/// FILE becomes a key trace. FILE.meta tells when the terminal changed its modes or its foreground
/// program. Everything that is typed is in FILE, secrets too. Where standard input is no terminal
/// its bytes are typed as they come, and the terminal has the --size. With --typist a script is typed.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The file to record to; it must not be there yet.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// The size where there is no terminal to take it from, in columns and rows.
    #[arg(long, value_name = "COLUMNSxROWS", default_value = "80x24")]
    pub size: Size,
    /// The script of a typist, who types instead of you; it also says the size and the command.
    #[arg(long, value_name = "SCRIPT", conflicts_with_all = ["size", "host_side", "command"])]
    pub typist: Option<PathBuf>,
    /// Another seed than that of the script.
    #[arg(long, value_name = "NUMBER", requires = "typist")]
    pub seed: Option<u64>,
    /// Makes the host's side of a run that is measured: times are those of the machine's clock, and
    /// the window title says how much was written.
    #[arg(long)]
    pub host_side: bool,
    /// The command to run.
    #[arg(
        last = true,
        required_unless_present = "typist",
        value_name = "COMMAND"
    )]
    pub command: Vec<String>,
}

/// The pause between looks at the terminal's modes while nothing happens: as long as the time by which a note
/// in the sidecar may be late, and little work.
const LOOK_PAUSE: Duration = Duration::from_millis(2);

/// Records until the program ends, and ends as it does.
///
/// # Errors
///
/// Where FILE is there already, or the program cannot be started.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let script = arguments.script()?;
    let is_scripted = script.is_some();
    let mut recording = RecordingSession::start(arguments, script)?;
    recording.go_on()?;
    let status = recording.end()?;
    if is_scripted {
        // The typist went away, and the program with the terminal.
        return Ok(ExitCode::SUCCESS);
    }
    Ok(super::exit_code_of(status))
}

impl Arguments {
    fn clock(&self) -> Clock {
        if self.host_side {
            Clock::Machine
        } else {
            Clock::Own
        }
    }

    fn script(&self) -> Result<Option<Script>> {
        let Some(path) = &self.typist else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(path);
        let text = text.with_context(|| format!("reading {}", path.display()))?;
        let script = Script::parse(&text).with_context(|| path.display().to_string());
        let mut script = script?;
        script.head.seed = self.seed.unwrap_or(script.head.seed);
        Ok(Some(script))
    }
}

/// The descriptors of a recording.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordSource {
    Program,
    Keyboard,
    Signals,
}

struct RecordingSession {
    recorder: Recorder<File, File>,
    program: PtyProgram,
    /// The keyboard that is typed on, while there is somebody.
    keyboard: Option<File>,
    /// The hand that types where nobody else does.
    typist: Option<ScriptedTypist>,
    screen: File,
    /// The stamper that tells the screen how much was written, if it is told.
    stamper: Option<Stamper>,
    signals: SignalPipe,
    poller: Poller<RecordSource>,
    terminal: Option<(Tty, RawMode)>,
    is_program_gone: bool,
    is_over: bool,
}

impl RecordingSession {
    fn start(arguments: &Arguments, script: Option<Script>) -> Result<Self> {
        let terminal = if io::stdin().is_terminal() && script.is_none() {
            Some(Tty::open(io::stdin()).context("opening the terminal")?)
        } else {
            None
        };
        let head = script.as_ref().map(|script| &script.head);
        let (size, command) = match (head, terminal.as_ref().and_then(Tty::size)) {
            (Some(head), _) => (head.size, &head.command),
            (None, Some(size)) => (size.into(), &arguments.command),
            (None, None) => (arguments.size, &arguments.command),
        };
        let (trace, meta) = (
            new_file(&arguments.out)?,
            new_file(&Meta::path_beside(&arguments.out))?,
        );
        let signals = [Signal::WindowChange, Signal::HangUp, Signal::Terminate];
        let signals = SignalPipe::new(&signals).context("watching for signals")?;
        let program = start(command, size)?;
        let recorder = Recorder::new(trace, meta, arguments.clock(), boot_time(), size)?;
        let raw = |tty: Tty| -> Result<(Tty, RawMode)> {
            let raw = tty.raw_mode().context("taking over the terminal")?;
            Ok((tty, raw))
        };
        Ok(Self {
            recorder,
            program,
            keyboard: match script {
                Some(_) => None,
                None => Some(unbuffered(io::stdin())?),
            },
            typist: script.map(|script| ScriptedTypist::new(script, boot_time())),
            screen: unbuffered(io::stdout())?,
            stamper: arguments.host_side.then(Stamper::default),
            signals,
            poller: Poller::new(),
            terminal: terminal.map(raw).transpose()?,
            is_program_gone: false,
            is_over: false,
        })
    }

    fn go_on(&mut self) -> Result<()> {
        self.look()?;
        while !self.is_over {
            self.turn()?;
            self.look()?;
        }
        if self.typist.is_some() {
            bail!("the program ended before the script did");
        }
        Ok(())
    }

    /// Lets go of both terminals, and returns how the program ends then, even if it did not hear that it should.
    fn end(self) -> Result<ExitStatus> {
        let mut program = self.program;
        drop(self.terminal);
        program.close_window().context("closing the terminal")?;
        program.wait().context("waiting for the program")
    }

    fn turn(&mut self) -> Result<()> {
        // What the program does not take is not read either.
        let keyboard = self.keyboard.as_ref().filter(|_| !self.program.has_keys());
        self.poller.wait(Some(LOOK_PAUSE), |registry| {
            let program = &self.program;
            registry.add(RecordSource::Program, program.master(), program.interest());
            if let Some(keyboard) = keyboard {
                registry.add(RecordSource::Keyboard, keyboard, Interest::Read);
            }
            registry.add(RecordSource::Signals, &self.signals, Interest::Read);
        })?;
        let is_typed = self
            .poller
            .ready()
            .any(|(source, readiness)| source == RecordSource::Keyboard && readiness.is_readable());
        let has_written = self.show()?;
        if is_typed {
            self.take_keys()?;
        }
        self.let_type()?;
        self.obey_signals()?;
        // What it wrote last was there before it was gone. What it started may hold on to the
        // terminal for ever; nobody waits for that.
        self.is_over |= self.program.is_closed() || (self.is_program_gone && !has_written);
        self.is_program_gone = self.program.try_wait()?.is_some();
        Ok(())
    }

    /// Shows what the program has written, and returns whether it has.
    fn show(&mut self) -> Result<bool> {
        let mut bytes = self.program.transfer()?.to_vec();
        if bytes.is_empty() {
            return Ok(false);
        }
        let now = boot_time();
        self.recorder.note(now, Event::Host(bytes.clone()))?;
        if let Some(typist) = &mut self.typist {
            typist.show(now, &bytes);
        }
        let stamp = self.stamper.as_mut().and_then(|it| it.pass(&bytes));
        if let Some(stamp) = stamp {
            bytes.extend(stamp.sequence().into_bytes());
        }
        let shown = self.screen.write_all(&bytes);
        shown.context("writing to the screen")?;
        Ok(true)
    }

    fn take_keys(&mut self) -> Result<()> {
        let Some(keyboard) = &mut self.keyboard else {
            return Ok(());
        };
        let mut buffer = [0; 4096];
        let count = keyboard.read(&mut buffer).context("reading the keyboard")?;
        if count == 0 {
            self.keyboard = None;
            return Ok(());
        }
        self.take(buffer[..count].to_vec())
    }

    fn take(&mut self, bytes: Vec<u8>) -> Result<()> {
        self.program.type_keys(&bytes);
        self.recorder.note(boot_time(), Event::User(bytes))?;
        Ok(self.program.type_now()?)
    }

    /// Lets the typist do what is due.
    fn let_type(&mut self) -> Result<()> {
        while let Some(act) = match &mut self.typist {
            Some(typist) => typist.poll(boot_time())?,
            None => None,
        } {
            match act {
                TypistAction::Type(bytes) => self.take(bytes)?,
                TypistAction::Mark(mark) => self.recorder.mark(boot_time(), mark)?,
                TypistAction::Resize(size) => self.resize(size)?,
                TypistAction::Leave => {
                    self.typist = None;
                    self.is_over = true;
                }
            }
        }
        Ok(())
    }

    fn obey_signals(&mut self) -> Result<()> {
        let signals: Vec<Signal> = self.signals.drain().collect();
        for signal in signals {
            if signal == Signal::WindowChange {
                let size = self.terminal.as_ref().and_then(|(tty, _)| tty.size());
                let size = size.map(Size::from).filter(|size| size.is_plausible());
                size.map_or(Ok(()), |size| self.resize(size))?;
            } else {
                self.is_over = true;
            }
        }
        Ok(())
    }

    fn resize(&mut self, size: Size) -> Result<()> {
        self.program.resize(size.into())?;
        Ok(self.recorder.note(boot_time(), Event::Size(size))?)
    }

    /// Notes what the terminal is like. That the program is gone is seen elsewhere.
    fn look(&mut self) -> Result<()> {
        let master = self.program.master();
        let (Ok(discipline), Ok(foreground)) = (master.discipline(), master.foreground()) else {
            return Ok(());
        };
        let Some(foreground) = foreground.and_then(name_of) else {
            return Ok(());
        };
        let state = TtyState {
            is_canonical: discipline.is_canonical,
            has_echo: discipline.has_echo,
            foreground,
        };
        Ok(self.recorder.see(boot_time(), state)?)
    }
}

/// The name of a process as the kernel keeps it, while there is one.
fn name_of(pid: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

fn new_file(path: &Path) -> Result<File> {
    let created = File::create_new(path);
    created.with_context(|| format!("making {}", path.display()))
}

/// The same file without the buffer of the standard library, which would hide bytes from `poll`.
fn unbuffered(stream: impl AsFd) -> Result<File> {
    let descriptor = stream.as_fd().try_clone_to_owned();
    Ok(File::from(descriptor.context("no descriptor is left")?))
}

fn start(command: &[String], size: Size) -> Result<PtyProgram> {
    let Some((program, arguments)) = command.split_first() else {
        bail!("there is no command");
    };
    let mut spawn = Spawn::new(program);
    for argument in arguments {
        spawn.arg(argument);
    }
    for (name, value) in std::env::vars_os() {
        spawn.env(name, value);
    }
    PtyProgram::start(&spawn, size.into()).with_context(|| format!("starting {program}"))
}

//! `fulmar-lab record`: makes a key trace of any program.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use fulmar_platform::{
    Child, Interest, Master, Poller, RawMode, Signal, SignalPipe, Spawn, Transfer, Tty, boot_time,
    pty,
};

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
    let status = recording.into_child().wait();
    let status = status.context("waiting for the program")?;
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
#[derive(Clone, Copy)]
enum RecordSource {
    Program,
    Keyboard,
    Signals,
}

struct RecordingSession {
    recorder: Recorder<File, File>,
    master: Master,
    child: Child,
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
    /// The bytes that were typed and the program has not taken yet.
    under_way: Vec<u8>,
    is_child_gone: bool,
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
        let (master, child) = spawn(command, size)?;
        let recorder = Recorder::new(trace, meta, arguments.clock(), boot_time(), size)?;
        let raw = |tty: Tty| -> Result<(Tty, RawMode)> {
            let raw = tty.raw_mode().context("taking over the terminal")?;
            Ok((tty, raw))
        };
        Ok(Self {
            recorder,
            master,
            child,
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
            under_way: Vec::new(),
            is_child_gone: false,
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

    /// Lets go of both terminals: without one the program ends even if it did not hear that it
    /// should.
    fn into_child(self) -> Child {
        self.child
    }

    fn turn(&mut self) -> Result<()> {
        let wanted = if self.under_way.is_empty() {
            Interest::Read
        } else {
            Interest::ReadWrite
        };
        // What the program does not take is not read either.
        let keyboard = self.keyboard.as_ref().filter(|_| self.under_way.is_empty());
        self.poller.wait(Some(LOOK_PAUSE), |registry| {
            registry.add(RecordSource::Program, &self.master, wanted);
            if let Some(keyboard) = keyboard {
                registry.add(RecordSource::Keyboard, keyboard, Interest::Read);
            }
            registry.add(RecordSource::Signals, &self.signals, Interest::Read);
        })?;
        let (mut can_read, mut can_write, mut is_typed) = (false, false, false);
        for (source, readiness) in self.poller.ready() {
            match source {
                RecordSource::Program => {
                    can_read = readiness.is_readable();
                    can_write = readiness.is_writable();
                }
                RecordSource::Keyboard => is_typed = readiness.is_readable(),
                // They are asked in every turn.
                RecordSource::Signals => {}
            }
        }
        if can_read {
            self.show()?;
        }
        if can_write {
            self.hand_over()?;
        }
        if is_typed {
            self.take_keys()?;
        }
        self.let_type()?;
        self.obey_signals()?;
        // What it wrote last was there before it was gone. What it started may hold on to the
        // terminal for ever; nobody waits for that.
        self.is_over |= self.is_child_gone && !can_read;
        self.is_child_gone = self.child.try_wait()?.is_some();
        Ok(())
    }

    fn show(&mut self) -> Result<()> {
        let mut buffer = [0; 16_384];
        match self.master.read(&mut buffer)? {
            Transfer::Bytes(count) => {
                let now = boot_time();
                let mut bytes = buffer[..count].to_vec();
                self.recorder.note(now, Event::Host(bytes.clone()))?;
                if let Some(typist) = &mut self.typist {
                    typist.show(now, &bytes);
                }
                let stamp = self.stamper.as_mut().and_then(|it| it.pass(&bytes));
                if let Some(stamp) = stamp {
                    bytes.extend(stamp.sequence().into_bytes());
                }
                self.screen
                    .write_all(&bytes)
                    .context("writing to the screen")?;
            }
            Transfer::WouldBlock => {}
            Transfer::Closed => self.is_over = true,
        }
        Ok(())
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
        self.under_way.extend_from_slice(&bytes);
        self.recorder.note(boot_time(), Event::User(bytes))?;
        self.hand_over()
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
                TypistAction::Resize(size) => {
                    self.master.resize(size.into())?;
                    self.recorder.note(boot_time(), Event::Size(size))?;
                }
                TypistAction::Leave => {
                    self.typist = None;
                    self.child.hang_up(&self.master)?;
                    self.is_over = true;
                }
            }
        }
        Ok(())
    }

    fn hand_over(&mut self) -> Result<()> {
        match self.master.write(&self.under_way)? {
            Transfer::Bytes(count) => drop(self.under_way.drain(..count)),
            Transfer::WouldBlock => {}
            Transfer::Closed => self.is_over = true,
        }
        Ok(())
    }

    fn obey_signals(&mut self) -> Result<()> {
        let signals: Vec<Signal> = self.signals.drain().collect();
        for signal in signals {
            if signal == Signal::WindowChange {
                self.resize()?;
            } else {
                self.child.hang_up(&self.master)?;
                self.is_over = true;
            }
        }
        Ok(())
    }

    fn resize(&mut self) -> Result<()> {
        let size = self.terminal.as_ref().and_then(|(tty, _)| tty.size());
        if let Some(size) = size.map(Size::from).filter(|size| size.is_plausible()) {
            self.master.resize(size.into())?;
            self.recorder.note(boot_time(), Event::Size(size))?;
        }
        Ok(())
    }

    /// Notes what the terminal is like. That the program is gone is seen elsewhere.
    fn look(&mut self) -> Result<()> {
        let (Ok(discipline), Ok(foreground)) = (self.master.discipline(), self.master.foreground())
        else {
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

fn spawn(command: &[String], size: Size) -> Result<(Master, Child)> {
    let Some((program, arguments)) = command.split_first() else {
        bail!("there is no command");
    };
    let (master, slave) = pty::open(size.into()).context("opening a pseudo terminal")?;
    let mut spawn = Spawn::new(program);
    for argument in arguments {
        spawn.arg(argument);
    }
    for (name, value) in std::env::vars_os() {
        spawn.env(name, value);
    }
    let child = slave
        .spawn(&spawn)
        .with_context(|| format!("starting {program}"))?;
    Ok((master, child))
}

//! A terminal's line discipline and a program that asks what the script says.

use std::collections::{BTreeSet, VecDeque};

use fulmar_predict::{ProgramClass, TtyHints};
use fulmar_terminal::{Size, Terminal};

use super::script::{Reader, Script, Step};

/// So long a program has for a key before the echo ack, in milliseconds.
const ECHO_ACK_AFTER: u64 = 50;

/// A key, and which step of the script it is an answer to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) key: char,
    pub(super) step: usize,
}

/// Something that the program is about to do.
enum Deed {
    Write(String),
    Set {
        canonical: bool,
        echo: bool,
        class: ProgramClass,
        program: u64,
    },
    Read,
}

pub(super) struct Host<'a> {
    pub(super) terminal: Terminal,
    script: &'a Script,
    step: usize,
    is_reading: bool,
    /// Typed, and not read by the program.
    input: VecDeque<Key>,
    deeds: VecDeque<(u64, Deed)>,
    tty: TtyHints,
    /// The times at which counts of keys had been handed over.
    handed: Vec<(u64, u64)>,
    /// The answers of which something was echoed.
    pub(super) echoed: BTreeSet<usize>,
    /// The questions that nobody could tell from the one before.
    pub(super) blurred: BTreeSet<usize>,
}

impl<'a> Host<'a> {
    pub(super) fn new(script: &'a Script, size: Size) -> Host<'a> {
        let mut host = Host {
            terminal: Terminal::new(size),
            script,
            step: 0,
            is_reading: false,
            input: VecDeque::new(),
            deeds: VecDeque::new(),
            tty: cooked(),
            handed: vec![(0, 0)],
            echoed: BTreeSet::new(),
            blurred: BTreeSet::new(),
        };
        host.begin(0);
        host
    }

    /// Counts the keys that the server has.
    pub(super) fn received(&self) -> u64 {
        self.handed.last().map_or(0, |(_, count)| *count)
    }

    /// The number of those for which the program has had its time.
    pub(super) fn acknowledged(&self, now: u64) -> u64 {
        let until = now.saturating_sub(ECHO_ACK_AFTER);
        let known = self.handed.partition_point(|(at, _)| *at <= until);
        self.handed[known.saturating_sub(1)].1
    }

    /// Returns the hints that the server would give.
    pub(super) fn hints(&self) -> TtyHints {
        if self.script.is_relayed {
            TtyHints {
                class: ProgramClass::Relay,
                ..TtyHints::default()
            }
        } else {
            self.tty
        }
    }

    /// Lets the program do what is due.
    pub(super) fn pass(&mut self, now: u64) {
        while self.deeds.front().is_some_and(|(at, _)| *at <= now) {
            let Some((_, deed)) = self.deeds.pop_front() else {
                return;
            };
            match deed {
                Deed::Write(text) => self.terminal.process(text.as_bytes()),
                Deed::Set {
                    canonical,
                    echo,
                    class,
                    program,
                } => {
                    self.tty = TtyHints {
                        canonical,
                        echo,
                        class,
                        program,
                        ..self.tty
                    };
                }
                Deed::Read => {
                    self.is_reading = true;
                    let asked = self.step;
                    self.read(now);
                    // A question that was answered before it was asked tells nobody that it is over.
                    if self.step > asked {
                        self.blurred.insert(self.step);
                    }
                }
            }
        }
    }

    /// A key arrives.
    pub(super) fn type_key(&mut self, now: u64, key: Key) {
        self.handed.push((now, self.received() + 1));
        if key.key == '\x03' {
            self.input.clear();
            self.write("\x1b[?2004l^C\r\n");
            // It ends whatever reads, and is nothing to a program at work.
            if self.is_reading {
                self.finish(now, "");
            }
            return;
        }
        if self.tty.echo {
            self.echo(key);
        }
        self.input.push_back(key);
        self.read(now);
    }

    /// Counts the questions that were asked.
    pub(super) fn asked(&self) -> usize {
        self.step + usize::from(self.is_reading)
    }

    fn step(&self) -> Option<&'a Step> {
        self.script.steps.get(self.step)
    }

    fn begin(&mut self, now: u64) {
        let Some(step) = self.step() else { return };
        let asked = now + step.delay;
        let set_at = asked.saturating_add_signed(step.mode_after).max(now);
        let (canonical, echo, class) = match step.reader {
            Reader::Editor { .. } => (false, false, ProgramClass::Shell),
            Reader::Cooked => (true, true, ProgramClass::Other),
            Reader::Silent => (true, false, ProgramClass::Other),
            Reader::RawSilent | Reader::Masked => (false, false, ProgramClass::Other),
            Reader::OneKey => (false, true, ProgramClass::Other),
        };
        let set = Deed::Set {
            canonical,
            echo,
            class,
            program: step.program,
        };
        let mode = match step.reader {
            Reader::Editor { bracketed: true } => "\x1b[?2004h",
            _ => "",
        };
        let text = Deed::Write(format!("{}{mode}{}", step.preface, step.prompt));
        let mut deeds = [(set_at, set), (asked, text)];
        deeds.sort_by_key(|(at, _)| *at);
        self.deeds.extend(deeds);
        self.deeds.push_back((asked.max(set_at), Deed::Read));
    }

    fn read(&mut self, now: u64) {
        let Some(step) = self.step().filter(|_| self.is_reading) else {
            return;
        };
        match step.reader {
            Reader::Cooked | Reader::Silent => {
                let end = self.input.iter().position(|key| key.key == '\r');
                if let Some(end) = end {
                    self.input.drain(..=end);
                    let newline = if step.reader == Reader::Silent {
                        "\r\n"
                    } else {
                        ""
                    };
                    self.finish(now, newline);
                }
            }
            Reader::OneKey => {
                if self.input.pop_front().is_some() {
                    self.finish(now, "");
                }
            }
            Reader::Editor { .. } | Reader::RawSilent | Reader::Masked => {
                while let Some(key) = self.input.pop_front() {
                    match (step.reader, key.key) {
                        (Reader::Editor { .. }, '\r') => {
                            return self.finish(now, "\x1b[?2004l\r\n");
                        }
                        (_, '\r') => return self.finish(now, "\r\n"),
                        (Reader::Editor { .. }, _) => self.echo(key),
                        (Reader::Masked, _) => self.write("*"),
                        _ => {}
                    }
                }
            }
        }
    }

    fn finish(&mut self, now: u64, text: &str) {
        self.write(text);
        self.is_reading = false;
        self.step += 1;
        self.tty = TtyHints {
            program: self.step().map_or(0, |step| step.program),
            ..cooked()
        };
        self.begin(now);
    }

    fn write(&mut self, text: &str) {
        self.terminal.process(text.as_bytes());
    }

    fn echo(&mut self, key: Key) {
        match key.key {
            '\r' => self.write("\r\n"),
            '\x7f' => {
                let column = self.terminal.screen().cursor().position.column.0;
                let margin = self.step().map_or(0, |step| step.prompt.len());
                if usize::from(column) > margin {
                    self.write("\x08 \x08");
                }
            }
            character => {
                self.echoed.insert(key.step);
                self.write(character.encode_utf8(&mut [0; 4]));
            }
        }
    }
}

fn cooked() -> TtyHints {
    TtyHints {
        canonical: true,
        echo: true,
        class: ProgramClass::Other,
        program: 1,
        ..TtyHints::default()
    }
}

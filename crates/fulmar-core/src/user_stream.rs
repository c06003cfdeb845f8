//! Keys, window sizes and what is known of the user's terminal, from client to server.

mod log;
mod report_wire;
mod wire;

use std::cell::RefCell;
use std::rc::Rc;

use fulmar_terminal::{Size, TerminalReport};
use fulmar_transport::{ApplyError, Budget, Difference, Reached, Synced, WorkBudget};

use self::log::{Log, Reader};
use self::wire::Encoder;

/// A window's size as it travels; what does not make a [`Size`] is delivered all the same, so that
/// it can be counted.
///
/// Source: docs/protocol.md §6.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSize {
    /// Columns.
    pub width: i32,
    /// Rows.
    pub height: i32,
}

impl WindowSize {
    /// Returns the size of a screen, or `None` if no screen may be that small or large.
    pub fn to_size(self) -> Option<Size> {
        let rows = u16::try_from(self.height).ok()?;
        let columns = u16::try_from(self.width).ok()?;
        Size::new(rows, columns)
    }
}

impl From<Size> for WindowSize {
    fn from(size: Size) -> WindowSize {
        WindowSize {
            width: size.columns().into(),
            height: size.rows().into(),
        }
    }
}

/// Something that is no key and takes one place among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Resize(WindowSize),
    Terminal(TerminalReport),
}

/// Something that happened at the user's terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserEvent {
    /// These bytes were typed; never empty.
    Keys(Vec<u8>),
    /// The window has this size from here on.
    Resize(WindowSize),
    /// This is known of the terminal from here on. Never in a legacy session.
    Terminal(TerminalReport),
}

/// A state of the user stream: a position in a log that all states of one stream share.
///
/// The log only grows at its end, so a state is one number, a clone is cheap, and input is stored
/// once however many states are kept. A difference is the log between two positions.
///
/// ```text
///             log    ls -l↵ ⟨100x30⟩ vim x.c↵ :q
///                    │      │                 ├─┘
///   acknowledged ────┘      └── sent          └── current
/// ```
///
/// Source: docs/protocol.md §6.1, docs/decisions/006-user-stream-is-a-position.md.
#[derive(Clone, Debug)]
pub struct UserStream {
    log: Rc<RefCell<Log>>,
    position: u64,
}

impl UserStream {
    /// Returns state 0 of a stream that is written here and read by the peer.
    pub fn writing() -> UserStream {
        UserStream::at_start(Reader::Peer)
    }

    /// Returns state 0 of a stream that is written by the peer and read here.
    pub fn reading() -> UserStream {
        UserStream::at_start(Reader::Us { taken: 0 })
    }

    fn at_start(reader: Reader) -> UserStream {
        UserStream {
            log: Rc::new(RefCell::new(Log::new(reader))),
            position: 0,
        }
    }

    fn moved_to(&self, position: u64) -> UserStream {
        UserStream {
            log: Rc::clone(&self.log),
            position,
        }
    }

    /// Appends typed bytes to the log and moves this state to its end.
    pub(crate) fn push_keys(&mut self, bytes: &[u8]) {
        let mut log = self.log.borrow_mut();
        log.push_keys(bytes);
        self.position = log.end();
    }

    /// Appends a window's size to the log and moves this state to its end.
    pub fn push_resize(&mut self, size: Size) {
        let mut log = self.log.borrow_mut();
        log.push_mark(Mark::Resize(size.into()));
        self.position = log.end();
    }

    /// Appends what is known of the user's terminal and moves this state to its end.
    pub fn push_terminal(&mut self, report: TerminalReport) {
        let mut log = self.log.borrow_mut();
        log.push_mark(Mark::Terminal(report));
        self.position = log.end();
    }

    /// Returns what the log holds: on the writing side what the peer has not acknowledged, on the
    /// reading side what has not been taken.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.log.borrow().held_bytes()
    }

    /// Returns how many of them were typed.
    pub(crate) fn pending_keys(&self) -> usize {
        self.log.borrow().held_keys()
    }

    /// Returns how many bytes were typed up to this state, in all. It is known for states that the
    /// peer has not acknowledged, and for the newest that it has.
    pub(crate) fn typed_bytes(&self) -> u64 {
        self.log.borrow().keys_until(self.position)
    }

    /// Takes out what lies between the newest state that was ever taken and this one, in order:
    /// every event of the stream comes out of here once.
    pub fn take_new(&self) -> Vec<UserEvent> {
        self.log.borrow_mut().take_until(self.position)
    }
}

impl Synced for UserStream {
    fn is_same(&self, other: &UserStream) -> bool {
        self.position == other.position
    }

    fn diff_from(&self, source: &UserStream, budget: Budget) -> Difference<UserStream> {
        let log = self.log.borrow();
        let mut encoder = Encoder::new(budget);
        let mut position = source.position;
        for run in log.runs(source.position, self.position) {
            let units = encoder.push(&run);
            position += units;
            // The budget is used up. A position in between is a state like any other.
            if units < run.units() {
                break;
            }
        }
        Difference {
            bytes: encoder.finish(),
            reached: if position == self.position {
                Reached::Target
            } else {
                Reached::Between(self.moved_to(position))
            },
        }
    }

    fn apply(&mut self, difference: &[u8], work: &mut WorkBudget) -> Result<(), ApplyError> {
        work.spend(difference.len() as u64)?;
        let runs = wire::decode(difference)?;
        self.position = self.log.borrow_mut().extend_from(self.position, &runs)?;
        Ok(())
    }

    fn forget_before(&mut self, held: &UserStream) {
        self.log.borrow_mut().forget_before(held.position);
    }

    fn held_bytes(&self, neighbour: Option<&UserStream>) -> usize {
        let from = neighbour.map_or(0, |neighbour| neighbour.position);
        size_of::<UserStream>() + self.log.borrow().held_between(from, self.position)
    }
}

#[cfg(test)]
mod tests;

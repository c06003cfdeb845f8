//! The program's screen, from server to client.

mod hint_wire;
mod line_inbox;
mod resizes;
mod told_lines;
mod wire;

pub(crate) use self::told_lines::ToldLines;

use std::cell::Cell;
use std::rc::Rc;

use fulmar_predict::TtyHints;
use fulmar_terminal::{Clustering, Screen, Size, Vocabulary};
use fulmar_transport::{ApplyError, Budget, Difference, Reached, StateNumber, Synced, WorkBudget};

use self::resizes::Resizes;
use self::wire::Message;
use crate::capability::{Capabilities, Capability};

/// The work that keeping one more state makes for each row of its screen: both grids are gone through and
/// sorted to see what it shares with its neighbours. Measured with screens of 4096 rows that have all moved,
/// 4 to 5 ms a state, at 4 ns a unit and cautiously.
const KEEPING_WORK: u64 = 256;

/// A state of the screen: what is shown, how much of the input that is an answer to, and what the
/// server knows of the program beside it.
///
/// The screen is a snapshot. States of one screen share it, and others share its rows. Two states
/// are the same if the peer could not tell their screens apart: what its vocabulary has no words for
/// never wakes a sender.
///
/// Source: docs/protocol.md §6.2, §6.4, §6.5, §13.7.
#[derive(Clone, Debug)]
pub struct HostScreen {
    screen: Rc<Screen>,
    echo_ack: StateNumber,
    /// `None` until the first come; in a legacy session none do.
    hints: Option<TtyHints>,
    vocabulary: &'static Vocabulary,
    /// Hints that could not be read, of all states of this object.
    ignored_hints: Rc<Cell<u64>>,
}

impl HostScreen {
    /// Returns state 0, a blank screen, of a session with a stock peer.
    ///
    /// The two ends may begin with different sizes: docs/protocol.md §6.3.
    pub fn blank(size: Size) -> HostScreen {
        HostScreen {
            screen: Rc::new(Screen::new(size)),
            echo_ack: StateNumber::ZERO,
            hints: None,
            vocabulary: &Vocabulary::STOCK,
            ignored_hints: Rc::default(),
        }
    }

    /// Returns state 0 for a client that comes after another: what happens once and was told to that one, up to this state, is not
    /// told again.
    pub(crate) fn blank_after(&self, size: Size) -> HostScreen {
        HostScreen {
            screen: Rc::new(self.screen.blank_after(size)),
            ..HostScreen::blank(size)
        }
    }

    /// Returns a later state of the same object, with the same hints.
    #[must_use]
    pub fn with(&self, screen: impl Into<Rc<Screen>>, echo_ack: StateNumber) -> HostScreen {
        HostScreen {
            screen: screen.into(),
            echo_ack,
            hints: self.hints,
            vocabulary: self.vocabulary,
            ignored_hints: Rc::clone(&self.ignored_hints),
        }
    }

    /// Returns this state for a peer of ours, which is told more than a stock one.
    #[must_use]
    pub(crate) fn for_native_peer(self, agreed: Capabilities) -> HostScreen {
        HostScreen {
            vocabulary: match (
                agreed.has(Capability::Rich),
                agreed.has(Capability::Terminal),
            ) {
                (true, true) => &Vocabulary::CLUSTERED,
                (true, false) => &Vocabulary::RICH,
                (false, _) => &Vocabulary::NATIVE,
            },
            ..self
        }
    }

    /// Returns this state with other hints. They are never taken away again.
    #[must_use]
    pub(crate) fn with_hints(self, hints: TtyHints) -> HostScreen {
        HostScreen {
            hints: Some(hints),
            ..self
        }
    }

    /// Returns the screen.
    pub fn screen(&self) -> &Screen {
        &self.screen
    }

    /// The newest state of the user stream that the program has had time to answer.
    pub fn echo_ack(&self) -> StateNumber {
        self.echo_ack
    }

    /// Returns what the server knows of the program, if it has said so.
    pub fn hints(&self) -> Option<TtyHints> {
        self.hints
    }

    /// Returns the number of hints that could not be read.
    pub(crate) fn ignored_hints(&self) -> u64 {
        self.ignored_hints.get()
    }

    /// Changes the screen and spends the work that this makes. `change` is told how much there may be,
    /// and returns false if it has stopped at that.
    fn change(
        &mut self,
        work: &mut WorkBudget,
        change: impl FnOnce(&mut Screen, u64) -> bool,
    ) -> Result<(), ApplyError> {
        if Rc::strong_count(&self.screen) > 1 {
            // A snapshot has its own pointers to the rows of both grids.
            work.spend(2 * u64::from(self.screen.size().rows()))?;
        }
        let screen = Rc::make_mut(&mut self.screen);
        let before = screen.work();
        let is_done = change(screen, work.left());
        work.spend(screen.work() - before)?;
        if is_done {
            Ok(())
        } else {
            Err(ApplyError::new("the frame makes too much work"))
        }
    }

    fn note_hints(&mut self, hints: Option<TtyHints>) {
        if hints.is_none() {
            self.ignored_hints
                .set(self.ignored_hints.get().saturating_add(1));
        }
        // What cannot be read may have taken back what was said before it.
        self.hints = Some(hints.unwrap_or_default());
    }

    /// Returns the message that turns `source` into a state that shows `screen`, to which `frame`
    /// leads.
    fn message<'a>(
        &self,
        source: &HostScreen,
        echo_ack: StateNumber,
        frame: &'a [u8],
    ) -> Message<'a> {
        Message {
            hints: self.hints.filter(|hints| source.hints != Some(*hints)),
            clusters: self.vocabulary.clusters && !source.vocabulary.clusters,
            echo_ack: (echo_ack != source.echo_ack).then_some(echo_ack),
            size: (self.screen.size() != source.screen.size()).then_some(self.screen.size()),
            frame,
        }
    }
}

impl Synced for HostScreen {
    fn is_same(&self, other: &HostScreen) -> bool {
        self.echo_ack == other.echo_ack && !self.is_urgent_after(other)
    }

    /// An echo ack alone changes nothing that the user sees.
    fn is_urgent_after(&self, sent: &HostScreen) -> bool {
        let is_screen_same = Rc::ptr_eq(&self.screen, &sent.screen)
            || self.screen.is_same(&sent.screen, self.vocabulary);
        let is_read_alike = self.vocabulary.clusters == sent.vocabulary.clusters;
        self.hints != sent.hints || !is_screen_same || !is_read_alike
    }

    fn is_echo_after(&self, sent: &HostScreen) -> bool {
        self.screen.is_echo_after(&sent.screen)
    }

    fn diff_from(&self, source: &HostScreen, budget: Budget) -> Difference<HostScreen> {
        let overhead = match self.hints {
            None => wire::OVERHEAD_BYTES_MAX,
            Some(_) => wire::OVERHEAD_BYTES_MAX + wire::HINT_BYTES_MAX,
        };
        let frame_bytes = budget.bytes().saturating_sub(overhead);
        let (frame, between) =
            self.screen
                .diff_within(&source.screen, self.vocabulary, frame_bytes);
        let (echo_ack, reached) = match between {
            None => (self.echo_ack, Reached::Target),
            // The keys are answered only once the whole answer is there. Hints do not wait: that
            // echo has ended is to be known at once.
            Some(screen) => {
                let echo_ack = source.echo_ack;
                (echo_ack, Reached::Between(self.with(screen, echo_ack)))
            }
        };
        let mut bytes = Vec::new();
        self.message(source, echo_ack, &frame).encode(&mut bytes);
        if !budget.allows(bytes.len()) {
            return Difference {
                bytes: Vec::new(),
                reached: Reached::Between(source.clone()),
            };
        }
        Difference { bytes, reached }
    }

    fn apply(&mut self, difference: &[u8], work: &mut WorkBudget) -> Result<(), ApplyError> {
        // What is changed before an error does not matter: the receiver applies a difference to a
        // copy.
        work.spend(KEEPING_WORK * u64::from(self.screen.size().rows()))?;
        let mut resizes = Resizes::default();
        wire::decode(difference, |part| match part {
            wire::Part::Hints(hints) => {
                self.note_hints(hints);
                Ok(())
            }
            wire::Part::Clusters => self.change(work, |screen, _| {
                screen.set_clustering(Clustering::Permanent);
                true
            }),
            wire::Part::EchoAck(number) if number < self.echo_ack => {
                Err(ApplyError::new("the echo ack goes back"))
            }
            wire::Part::EchoAck(number) => {
                self.echo_ack = number;
                Ok(())
            }
            wire::Part::Resize(size) => self.change(work, |screen, _| {
                resizes.push(size, screen);
                true
            }),
            wire::Part::Frame(bytes) => self.change(work, |screen, work_max| {
                resizes.finish(screen);
                screen.apply_within(bytes, work_max) == bytes.len()
            }),
        })?;
        if resizes.is_finished() {
            Ok(())
        } else {
            self.change(work, |screen, _| {
                resizes.finish(screen);
                true
            })
        }
    }

    fn held_bytes(&self, neighbour: Option<&HostScreen>) -> usize {
        self.screen
            .held_bytes(neighbour.map(|neighbour| &*neighbour.screen))
    }
}

#[cfg(test)]
mod tests;

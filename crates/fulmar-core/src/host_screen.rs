//! The program's screen, from server to client.

mod event_inbox;
mod event_wire;
mod hint_wire;
mod history_wire;
mod line_inbox;
mod resizes;
mod told_lines;
mod wire;

pub(crate) use self::told_lines::ToldLines;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use fulmar_predict::TtyHints;
use fulmar_terminal::{Clustering, Screen, Size, TerminalEvent, Vocabulary};
use fulmar_transport::{ApplyError, Budget, Difference, Reached, StateNumber, Synced, WorkBudget};

use self::event_inbox::EventInbox;
use self::history_wire::HistoryMessage;
use self::line_inbox::LineInbox;
use self::resizes::Resizes;
use self::told_lines::Run;
use self::wire::Message;
use crate::capability::{Capabilities, Capability};
use crate::history_item::HistoryItem;
use crate::history_place::HistoryPlace;
use crate::outbox::Outbox;

/// The work that keeping one more state makes for each row of its screen: both grids are gone through and
/// sorted to see what it shares with its neighbours. Measured with screens of 4096 rows that have all moved,
/// 4 to 5 ms a state, at 4 ns a unit and cautiously.
const KEEPING_WORK: u64 = 256;

/// The most bytes of lines in a message that changes nothing on the screen, but for a single long line. Chosen by eye: compressed, text takes
/// a datagram or two.
const LINES_BYTES: usize = 4096;

/// With what changes on the screen come no more lines than make a message so long: it should be one datagram.
///
/// Chosen by eye: the shortest datagrams have 500 bytes, and what has lines is compressed to a half.
const SPARE_BYTES: usize = 1000;

/// A state of the screen: what is shown, how much of the input that is an answer to, and what the
/// server knows of the program beside it.
///
/// The screen is a snapshot. States of one screen share it, and others share its rows. Two states
/// are the same if the peer could not tell their screens apart: what its vocabulary has no words for
/// never wakes a sender.
///
/// Source: docs/protocol.md §6.2, §6.4, §6.5, §13.7, §13.14.
#[derive(Clone, Debug)]
pub struct HostScreen {
    screen: Rc<Screen>,
    echo_ack: StateNumber,
    /// `None` until the first come; in a legacy session none do.
    hints: Option<TtyHints>,
    /// `None` until something is heard of it; in a session that has not agreed on it, that is never.
    history: Option<HistoryState>,
    /// True if the reader has agreed on that.
    takes_history: bool,
    /// The lines that the states of this object have brought.
    inbox: Rc<RefCell<LineInbox>>,
    /// The events up to this state.
    events: EventState,
    vocabulary: &'static Vocabulary,
    /// Hints that could not be read, of all states of this object.
    ignored_hints: Rc<Cell<u64>>,
}

/// The history that belongs to a state: its end, and as much of it as its reader has.
#[derive(Clone, Debug)]
pub(crate) struct HistoryState {
    place: HistoryPlace,
    /// The number of the first line that has not been told.
    told: u64,
    /// The lines that may have to be told; the writer's alone.
    lines: Rc<RefCell<ToldLines>>,
}

/// The events up to a state.
#[derive(Clone, Debug, Default)]
struct EventState {
    /// The number of the first event that its reader was not told.
    end: u64,
    /// Those that may have to be told; the writer's alone.
    outbox: Rc<RefCell<Outbox>>,
    /// Those that the states of this object have brought.
    inbox: Rc<RefCell<EventInbox>>,
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
            history: None,
            takes_history: false,
            inbox: Rc::default(),
            events: EventState::default(),
            vocabulary: &Vocabulary::STOCK,
            ignored_hints: Rc::default(),
        }
    }

    /// Returns state 0 for a client that comes after another: what happens once and was told to that one, up to this state, is not
    /// told again.
    pub(crate) fn blank_after(&self, size: Size) -> HostScreen {
        HostScreen {
            screen: Rc::new(self.screen.blank_after(size)),
            events: EventState {
                end: self.events.end,
                ..EventState::default()
            },
            ..HostScreen::blank(size)
        }
    }

    /// Returns this state for a reader that takes a history only if it has agreed on that.
    pub(crate) fn reading(self, agreed: Capabilities) -> HostScreen {
        HostScreen {
            takes_history: agreed.has(Capability::History),
            ..self
        }
    }

    /// Returns a later state of the same object, with the same hints.
    #[must_use]
    pub fn with(&self, screen: impl Into<Rc<Screen>>, echo_ack: StateNumber) -> HostScreen {
        HostScreen {
            screen: screen.into(),
            echo_ack,
            hints: self.hints,
            history: self.history.clone(),
            takes_history: self.takes_history,
            inbox: Rc::clone(&self.inbox),
            events: self.events.clone(),
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

    /// Returns this state with that history above its screen, of which no more is told than up to the line `told`.
    #[must_use]
    pub(crate) fn with_history(
        self,
        place: HistoryPlace,
        told: u64,
        lines: &Rc<RefCell<ToldLines>>,
    ) -> HostScreen {
        let lines = Rc::clone(lines);
        HostScreen {
            history: Some(HistoryState { place, told, lines }),
            ..self
        }
    }

    /// Returns this state with the events that are in `outbox` now.
    #[must_use]
    pub(crate) fn with_events(self, outbox: &Rc<RefCell<Outbox>>) -> HostScreen {
        let end = outbox.borrow().end().max(self.events.end);
        let outbox = Rc::clone(outbox);
        HostScreen {
            events: EventState {
                end,
                outbox,
                ..self.events
            },
            ..self
        }
    }

    /// The number of the first event that the reader of this state was not told.
    pub(crate) fn events_end(&self) -> u64 {
        self.events.end
    }

    /// Returns the events that have arrived since the last time, in order and each once.
    pub(crate) fn fetch_events(&self) -> Vec<TerminalEvent> {
        self.events.inbox.borrow_mut().fetch()
    }

    /// Returns the end of the history above the screen, if it was told.
    pub fn history(&self) -> Option<HistoryPlace> {
        self.history.as_ref().map(|history| history.place)
    }

    /// Returns the number of the first line that was not told.
    pub(crate) fn told(&self) -> Option<u64> {
        self.history.as_ref().map(|history| history.told)
    }

    /// Returns true if the peer would see more of the screen than with `other`, lines above it aside.
    pub(crate) fn shows_more_than(&self, other: &HostScreen) -> bool {
        let is_same = Rc::ptr_eq(&self.screen, &other.screen)
            || self.screen.is_same(&other.screen, self.vocabulary);
        self.hints != other.hints || !is_same
    }

    /// Returns the next lines that have arrived, in order and each once, with rows of so many columns; there may be more.
    pub(crate) fn fetch_history(&self, columns: u16) -> Vec<HistoryItem> {
        self.inbox.borrow_mut().fetch(columns)
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

    /// Returns the number of lines that could not be read.
    pub(crate) fn malformed_lines(&self) -> u64 {
        self.inbox.borrow().malformed()
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
        history: Option<HistoryMessage<'a>>,
        events: &'a [(u64, TerminalEvent)],
    ) -> Message<'a> {
        Message {
            hints: self.hints.filter(|hints| source.hints != Some(*hints)),
            clusters: self.vocabulary.clusters && !source.vocabulary.clusters,
            echo_ack: (echo_ack != source.echo_ack).then_some(echo_ack),
            size: (self.screen.size() != source.screen.size()).then_some(self.screen.size()),
            frame,
            history,
            events,
        }
    }
}

/// Returns a difference, or none if it is longer than it may be.
fn within(
    budget: Budget,
    source: &HostScreen,
    bytes: Vec<u8>,
    reached: Reached<HostScreen>,
) -> Difference<HostScreen> {
    if budget.allows(bytes.len()) {
        return Difference { bytes, reached };
    }
    Difference {
        bytes: Vec::new(),
        reached: Reached::Between(source.clone()),
    }
}

/// The events that programs say once.
impl HostScreen {
    /// Returns the events that are told with a frame that leaves so many bytes, and the number behind them.
    fn events_from(&self, source: &HostScreen, room: usize) -> (Vec<(u64, TerminalEvent)>, u64) {
        let (from, to) = (source.events.end, self.events.end);
        if from >= to {
            return (Vec::new(), to);
        }
        let outbox = self.events.outbox.borrow();
        outbox.between(from, to, room, wire::EVENT_BYTES_MAX)
    }
}

/// The lines above the screen.
impl HostScreen {
    /// Returns the lines that are told with that frame.
    fn run_from(&self, source: &HostScreen, frame: &[u8], bytes_max: usize) -> Option<Run> {
        let history = self.history.as_ref()?;
        let from = source.told().unwrap_or_default();
        let lines = history.lines.borrow();
        if bytes_max == usize::MAX {
            // Without a limit a difference leads to its target.
            return Some(lines.run_to_end(from, history.told));
        }
        let room = bytes_max.saturating_sub(frame.len());
        let is_alone = frame.is_empty() && self.screen.size() == source.screen.size();
        Some(if is_alone {
            let run = lines.run(from, history.told, LINES_BYTES.min(room), true);
            let bytes: usize = run.lines.iter().map(|line| told_lines::cost(line)).sum();
            if bytes <= room {
                run
            } else {
                lines.run(from, history.told, room, false)
            }
        } else {
            let spare = SPARE_BYTES.saturating_sub(frame.len());
            lines.run(from, history.told, spare.min(room), false)
        })
    }

    /// Returns what is to be said of the history, if anything is.
    fn history_message<'a>(&self, source: &HostScreen, run: &'a Run) -> Option<HistoryMessage<'a>> {
        let place = self.history()?;
        let from = source.told().unwrap_or_default();
        let is_known = source.history() == Some(place) && run.end() == from;
        (!is_known).then(|| HistoryMessage {
            place,
            first: (run.first != from).then_some(run.first),
            lines: run.lines.iter().map(|line| &**line).collect(),
        })
    }

    fn note_history(
        &mut self,
        message: Option<HistoryMessage<'_>>,
        work: &mut WorkBudget,
    ) -> Result<(), ApplyError> {
        // One that cannot be read is of a later version, and says nothing.
        let Some(HistoryMessage {
            place,
            first,
            lines,
        }) = message
        else {
            return Ok(());
        };
        work.spend(lines.iter().map(|line| 1 + line.len() as u64).sum())?;
        let before = self.history.take();
        let told = before.as_ref().map_or(0, |before| before.told);
        let first = first.unwrap_or(told);
        // A state that was acknowledged late may have told more than one that was sent after it: what goes back is no fault.
        let end = first.checked_add(lines.len() as u64);
        let Some(end) = end.filter(|end| *end < u64::MAX) else {
            return Err(ApplyError::new("the history has no end"));
        };
        self.inbox.borrow_mut().take(place, first, &lines);
        self.history = Some(HistoryState {
            place,
            told: end,
            lines: before.map(|before| before.lines).unwrap_or_default(),
        });
        Ok(())
    }
}

impl Synced for HostScreen {
    fn is_same(&self, other: &HostScreen) -> bool {
        self.echo_ack == other.echo_ack
            && self.told() == other.told()
            && !self.is_urgent_after(other)
    }

    /// An echo ack alone changes nothing that the user sees.
    fn is_urgent_after(&self, sent: &HostScreen) -> bool {
        let is_screen_same = Rc::ptr_eq(&self.screen, &sent.screen)
            || self.screen.is_same(&sent.screen, self.vocabulary);
        let is_read_alike = self.vocabulary.clusters == sent.vocabulary.clusters;
        self.hints != sent.hints
            || self.history() != sent.history()
            || self.events.end != sent.events.end
            || !is_screen_same
            || !is_read_alike
    }

    fn is_echo_after(&self, sent: &HostScreen) -> bool {
        self.screen.is_echo_after(&sent.screen)
    }

    fn diff_from(&self, source: &HostScreen, budget: Budget) -> Difference<HostScreen> {
        let overhead = match self.hints {
            None => wire::OVERHEAD_BYTES_MAX,
            Some(_) => wire::OVERHEAD_BYTES_MAX + wire::HINT_BYTES_MAX,
        };
        let overhead = match self.history {
            None => overhead,
            Some(_) => overhead + wire::HISTORY_BYTES_MAX,
        };
        let frame_bytes = budget.bytes().saturating_sub(overhead);
        let (frame, between) =
            self.screen
                .diff_within(&source.screen, self.vocabulary, frame_bytes);
        let mut bytes = Vec::new();
        let Some(screen) = between else {
            let room = match budget {
                Budget::UNLIMITED => usize::MAX,
                budget => budget.bytes().saturating_sub(overhead),
            };
            let (events, events_end) = self.events_from(source, room.saturating_sub(frame.len()));
            let said: usize = events
                .iter()
                .map(|(_, event)| event.len() + wire::EVENT_BYTES_MAX)
                .sum();
            let run = self.run_from(source, &frame, room.saturating_sub(said));
            let told = run.as_ref().map(|run| run.end());
            let history = run
                .as_ref()
                .and_then(|run| self.history_message(source, run));
            self.message(source, self.echo_ack, &frame, history, &events)
                .encode(&mut bytes);
            let mut between = None;
            if let (Some(history), Some(told)) = (&self.history, told)
                && told < history.told
            {
                let history = HistoryState {
                    told,
                    ..history.clone()
                };
                between.get_or_insert_with(|| self.clone()).history = Some(history);
            }
            if events_end < self.events.end {
                between.get_or_insert_with(|| self.clone()).events.end = events_end;
            }
            let reached = between.map_or(Reached::Target, Reached::Between);
            return within(budget, source, bytes, reached);
        };
        // The keys are answered only once the whole answer is there, and its history belongs to it. Hints do not wait: that
        // echo has ended is to be known at once.
        let echo_ack = source.echo_ack;
        self.message(source, echo_ack, &frame, None, &[])
            .encode(&mut bytes);
        let between = HostScreen {
            history: source.history.clone(),
            events: EventState {
                end: source.events.end,
                ..self.events.clone()
            },
            ..self.with(screen, echo_ack)
        };
        within(budget, source, bytes, Reached::Between(between))
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
            wire::Part::History(_) if !self.takes_history => {
                Err(ApplyError::new("nobody has agreed on a history"))
            }
            wire::Part::History(history) => self.note_history(history, work),
            wire::Part::Event(number, event) => {
                work.spend(1 + event.as_ref().map_or(0, |event| event.len() as u64))?;
                self.events.inbox.borrow_mut().take(number, event);
                self.events.end = self.events.end.max(number.saturating_add(1));
                Ok(())
            }
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

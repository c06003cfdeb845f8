//! Queues packets in front of a slow link.

use std::collections::VecDeque;
use std::time::Duration;

use crate::codel::{CoDel, Watch};
use fulmar_base::Ecn;

use crate::datagram::Datagram;
use crate::impairment::{LossCause, Outlet};

/// The limit of a queue, and what happens to the packets beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// There is always room: the deep buffers of cellular networks.
    Endless,
    /// At most so many datagrams. What does not fit is lost.
    Datagrams(usize),
    /// At most so many bytes, counted with headers. What does not fit is lost.
    Bytes(usize),
    /// A queue that is emptied early where it keeps standing.
    CoDel(CoDel),
}

impl Queue {
    /// A queue of at most so many datagrams.
    #[must_use]
    pub fn datagrams(count: usize) -> Self {
        Self::Datagrams(count)
    }

    /// A queue of at most so many bytes.
    #[must_use]
    pub fn bytes(count: usize) -> Self {
        Self::Bytes(count)
    }
}

impl From<CoDel> for Queue {
    fn from(codel: CoDel) -> Self {
        Self::CoDel(codel)
    }
}

/// The datagrams that wait, the first to come first.
#[derive(Debug)]
pub(crate) struct Waiting {
    setting: Queue,
    entries: VecDeque<Entry>,
    bytes: usize,
    watch: Watch,
}

#[derive(Debug)]
struct Entry {
    since: Duration,
    datagram: Datagram,
}

impl Waiting {
    pub(crate) fn new(setting: Queue) -> Self {
        Self {
            setting,
            entries: VecDeque::new(),
            bytes: 0,
            watch: Watch::default(),
        }
    }

    /// Takes a new limit. What waits stays, also where it is more than that.
    pub(crate) fn change(&mut self, setting: Queue) {
        self.setting = setting;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Lets a datagram wait, or loses it where there is no room.
    pub(crate) fn push(&mut self, now: Duration, datagram: Datagram, outlet: &mut Outlet) {
        if !self.has_room(&datagram) {
            outlet.lose(datagram, LossCause::QueueFull);
            return;
        }
        outlet.queued(&datagram);
        self.bytes += datagram.packet_len();
        self.entries.push_back(Entry {
            since: now,
            datagram,
        });
    }

    /// Takes the datagram that is next, and loses those before it that the setting wants lost.
    pub(crate) fn pop(&mut self, now: Duration, outlet: &mut Outlet) -> Option<Datagram> {
        match self.setting {
            Queue::CoDel(codel) => self.pop_early(codel, now, outlet),
            Queue::Endless | Queue::Datagrams(_) | Queue::Bytes(_) => {
                self.pop_first().map(|entry| entry.datagram)
            }
        }
    }

    /// RFC 8289 §5.5, `deque`. A mark counts as a drop.
    fn pop_early(&mut self, codel: CoDel, now: Duration, outlet: &mut Outlet) -> Option<Datagram> {
        let mut head = self.head(codel, now)?;
        if self.watch.is_dropping() {
            if !head.is_standing {
                self.watch.end();
            }
            while self.watch.is_drop_due(now) {
                self.watch.count();
                if head.take_mark(codel) {
                    self.watch.plan_next(codel);
                    break;
                }
                head = self.replace(head, codel, now, outlet)?;
                if head.is_standing {
                    self.watch.plan_next(codel);
                } else {
                    self.watch.end();
                }
            }
        } else if head.is_standing {
            self.watch.begin(codel, now);
            if !head.take_mark(codel) {
                head = self.replace(head, codel, now, outlet)?;
            }
        }
        Some(head.datagram)
    }

    /// Loses the head of the queue and looks at the next one.
    fn replace(
        &mut self,
        head: Head,
        codel: CoDel,
        now: Duration,
        outlet: &mut Outlet,
    ) -> Option<Head> {
        outlet.lose(head.datagram, LossCause::QueueStanding);
        self.head(codel, now)
    }

    fn head(&mut self, codel: CoDel, now: Duration) -> Option<Head> {
        let Some(Entry { since, datagram }) = self.pop_first() else {
            self.watch.saw_empty();
            self.watch.end();
            return None;
        };
        let sojourn = now.saturating_sub(since);
        let is_standing = self.watch.saw(codel, now, sojourn, self.bytes);
        Some(Head {
            datagram,
            is_standing,
        })
    }

    fn pop_first(&mut self) -> Option<Entry> {
        let first = self.entries.pop_front()?;
        self.bytes -= first.datagram.packet_len();
        Some(first)
    }

    fn has_room(&self, datagram: &Datagram) -> bool {
        match self.setting {
            Queue::Endless => true,
            Queue::Datagrams(most) => self.entries.len() < most,
            Queue::Bytes(most) => self.bytes + datagram.packet_len() <= most,
            Queue::CoDel(codel) => self.entries.len() < codel.datagrams_max(),
        }
    }
}

/// A datagram at the head of the queue, as CoDel sees it.
struct Head {
    datagram: Datagram,
    is_standing: bool,
}

impl Head {
    /// Marks the datagram in place of its loss, where the setting and its sender agree to that.
    fn take_mark(&mut self, codel: CoDel) -> bool {
        let marks = codel.marks() && self.datagram.ecn.is_capable();
        if marks {
            self.datagram.ecn = Ecn::Congested;
        }
        marks
    }
}

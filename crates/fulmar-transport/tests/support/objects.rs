//! Two objects for tests, as different from each other as a user stream and a screen are.

use fulmar_transport::{ApplyError, Budget, Difference, Reached, Synced, WorkBudget};

/// A text that only grows at the end, like a user stream. A state is how much of it there is; what
/// lies before everybody's position may be forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    forgotten: usize,
    text: Vec<u8>,
}

impl Log {
    pub(crate) fn append(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }

    /// Returns the position behind the last byte.
    pub(crate) fn end(&self) -> usize {
        self.forgotten + self.text.len()
    }

    /// Returns what lies behind a position, which is nothing if that is behind the end.
    pub(crate) fn since(&self, position: usize) -> &[u8] {
        let start = position.checked_sub(self.forgotten);
        let start = start.expect("this was forgotten");
        self.text.get(start..).unwrap_or_default()
    }

    /// Returns how much of the text is still there.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.text.len()
    }
}

impl Synced for Log {
    fn is_same(&self, other: &Log) -> bool {
        self.end() == other.end()
    }

    fn diff_from(&self, source: &Log, budget: Budget) -> Difference<Log> {
        let rest = self.since(source.end());
        if self.end() < source.end() {
            return Difference {
                bytes: Vec::new(),
                reached: Reached::Between(source.clone()),
            };
        }
        if budget.allows(rest.len()) {
            return Difference::complete(rest.to_vec());
        }
        let bytes = rest[..budget.bytes()].to_vec();
        let mut between = source.clone();
        between.append(&bytes);
        Difference {
            bytes,
            reached: Reached::Between(between),
        }
    }

    fn apply(&mut self, difference: &[u8], _: &mut WorkBudget) -> Result<(), ApplyError> {
        self.append(difference);
        Ok(())
    }

    fn forget_before(&mut self, held: &Log) {
        let surplus = held.end().saturating_sub(self.forgotten);
        let surplus = surplus.min(self.text.len());
        self.text.drain(..surplus);
        self.forgotten += surplus;
    }

    fn held_bytes(&self, _: Option<&Log>) -> usize {
        self.kept_bytes()
    }
}

/// In the first cell: there is more to come.
pub(crate) const UNFINISHED: u8 = b'~';

/// A few cells that change at will, like a screen. For the last one nobody waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Board {
    cells: Vec<u8>,
}

impl Board {
    pub(crate) fn blank(cells: usize) -> Board {
        Board {
            cells: vec![b' '; cells],
        }
    }

    pub(crate) fn write(&mut self, place: usize, text: &[u8]) {
        self.cells[place..place + text.len()].copy_from_slice(text);
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.cells).trim_end().to_owned()
    }
}

/// A difference is a list of places, four bytes each, with the byte to put there.
const CHANGE_BYTES: usize = 5;

impl Synced for Board {
    fn is_same(&self, other: &Board) -> bool {
        self == other
    }

    fn is_urgent_after(&self, sent: &Board) -> bool {
        let others = |board: &Board| board.cells.split_last().map(|(_, others)| others.to_vec());
        others(self) != others(sent)
    }

    fn is_echo_after(&self, _: &Board) -> bool {
        self.cells.first() != Some(&UNFINISHED)
    }

    fn diff_from(&self, source: &Board, budget: Budget) -> Difference<Board> {
        let mut bytes = Vec::new();
        let mut between = source.clone();
        for (place, (&new, old)) in self.cells.iter().zip(&mut between.cells).enumerate() {
            if new == *old {
                continue;
            }
            if !budget.allows(bytes.len() + CHANGE_BYTES) {
                let reached = Reached::Between(between);
                return Difference { bytes, reached };
            }
            *old = new;
            bytes.extend_from_slice(&(place as u32).to_be_bytes());
            bytes.push(new);
        }
        Difference::complete(bytes)
    }

    fn apply(&mut self, difference: &[u8], _: &mut WorkBudget) -> Result<(), ApplyError> {
        let changes = difference.chunks_exact(CHANGE_BYTES);
        if !changes.remainder().is_empty() {
            return Err(ApplyError::new("half a change"));
        }
        for change in changes {
            let place = u32::from_be_bytes([change[0], change[1], change[2], change[3]]);
            let cell = self.cells.get_mut(place as usize);
            *cell.ok_or(ApplyError::new("no such cell"))? = change[4];
        }
        Ok(())
    }

    fn held_bytes(&self, neighbour: Option<&Board>) -> usize {
        match neighbour {
            None => self.cells.len(),
            Some(other) => {
                let pairs = self.cells.iter().zip(&other.cells);
                pairs.filter(|(one, two)| one != two).count()
            }
        }
    }
}

//! The records of a key trace.

use fulmar_platform::WindowSize;
use std::str::FromStr;
use std::time::Duration;

/// The size of a terminal in character cells, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    /// Character cells in a line.
    pub columns: u16,
    /// Lines of text.
    pub rows: u16,
}

/// Something that happened at a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The terminal has this size from here on.
    Size(Size),
    /// The keyboard's side sent these bytes, in one write.
    User(Vec<u8>),
    /// The programs sent these bytes, in one read.
    Host(Vec<u8>),
}

/// An event with its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The time on the clock of the trace: only differences mean anything. Whole microseconds are kept.
    pub at: Duration,
    /// The event.
    pub event: Event,
}

/// One session at one terminal: the size first, then keys and output, in order of time.
///
/// The same form serves for what was recorded to be played again, for what a user's terminal saw
/// in a run, and for what the host received and wrote there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    records: Vec<Record>,
}

/// Sizes above this are no terminal's. Chosen by eye; the tallest screens have some hundred rows.
pub const SIZE_MAX: u16 = 1000;

/// The reason why records do not make a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoTrace {
    /// There is none.
    #[error("there are no records")]
    Empty,
    /// Nothing says how large the screen is.
    #[error("the first record is not a SIZE")]
    SizeMissing,
    /// A size outside of 1 to [`SIZE_MAX`].
    #[error("record {record}: no terminal has {columns} columns and {rows} rows")]
    SizeImplausible {
        /// Its number, from 0.
        record: usize,
        /// The width.
        columns: u16,
        /// The height.
        rows: u16,
    },
    /// The time went back.
    #[error("record {record} is earlier than the one before it")]
    TimeWentBack {
        /// Its number, from 0.
        record: usize,
    },
    /// A record of keys or output that holds none.
    #[error("record {record} has no bytes")]
    NoBytes {
        /// Its number, from 0.
        record: usize,
    },
}

impl Trace {
    /// Joins records to a trace.
    ///
    /// # Errors
    ///
    /// When there is none, the first is not a size, a size is implausible, a record is empty, or
    /// the time goes back.
    pub fn new(records: Vec<Record>) -> Result<Self, NoTrace> {
        let first = records.first().ok_or(NoTrace::Empty)?;
        if !matches!(first.event, Event::Size(_)) {
            return Err(NoTrace::SizeMissing);
        }
        let mut last = Duration::ZERO;
        for (number, record) in records.iter().enumerate() {
            check(number, record, last)?;
            last = record.at;
        }
        Ok(Self { records })
    }

    /// Joins records that are those of a trace but for what their bytes are.
    pub(super) fn of_same_form(records: Vec<Record>) -> Self {
        Self { records }
    }

    /// Returns all records in order of time; the first is a size.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the size at the beginning.
    pub fn size(&self) -> Size {
        match self.records.first().map(|first| &first.event) {
            Some(Event::Size(size)) => *size,
            _ => unreachable!("a trace begins with a size"),
        }
    }

    /// Returns the time of the first record.
    pub fn began(&self) -> Duration {
        self.records
            .first()
            .map_or(Duration::ZERO, |first| first.at)
    }

    /// Returns the time of the last record.
    pub fn ended(&self) -> Duration {
        self.records.last().map_or(Duration::ZERO, |last| last.at)
    }

    /// Returns what the programs wrote, with times.
    pub fn host(&self) -> impl Iterator<Item = (Duration, &[u8])> {
        self.records
            .iter()
            .filter_map(|record| match &record.event {
                Event::Host(bytes) => Some((record.at, bytes.as_slice())),
                Event::User(_) | Event::Size(_) => None,
            })
    }

    /// Returns what the keyboard's side sent, with times.
    pub fn user(&self) -> impl Iterator<Item = (Duration, &[u8])> {
        self.records
            .iter()
            .filter_map(|record| match &record.event {
                Event::User(bytes) => Some((record.at, bytes.as_slice())),
                Event::Host(_) | Event::Size(_) => None,
            })
    }
}

fn check(number: usize, record: &Record, last: Duration) -> Result<(), NoTrace> {
    if record.at < last {
        return Err(NoTrace::TimeWentBack { record: number });
    }
    match &record.event {
        Event::Size(size) if !size.is_plausible() => Err(NoTrace::SizeImplausible {
            record: number,
            columns: size.columns,
            rows: size.rows,
        }),
        Event::User(bytes) | Event::Host(bytes) if bytes.is_empty() => {
            Err(NoTrace::NoBytes { record: number })
        }
        Event::Size(_) | Event::User(_) | Event::Host(_) => Ok(()),
    }
}

/// The reason why a text is no [`Size`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a size is columns and rows, such as 80x24")]
pub struct NoSize;

impl FromStr for Size {
    type Err = NoSize;

    /// Reads columns and rows, such as `80x24`.
    fn from_str(text: &str) -> Result<Self, NoSize> {
        let (columns, rows) = text.split_once('x').ok_or(NoSize)?;
        let number = |text: &str| text.parse().map_err(|_| NoSize);
        let size = Self {
            columns: number(columns)?,
            rows: number(rows)?,
        };
        size.is_plausible().then_some(size).ok_or(NoSize)
    }
}

impl From<WindowSize> for Size {
    fn from(WindowSize { rows, columns }: WindowSize) -> Self {
        Self { columns, rows }
    }
}

impl From<Size> for WindowSize {
    fn from(Size { columns, rows }: Size) -> Self {
        Self { rows, columns }
    }
}

impl Size {
    /// True for what a terminal may have: 1 to [`SIZE_MAX`] rows and columns.
    pub(crate) fn is_plausible(self) -> bool {
        (1..=SIZE_MAX).contains(&self.columns) && (1..=SIZE_MAX).contains(&self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(millis: u64, event: Event) -> Record {
        Record {
            at: Duration::from_millis(millis),
            event,
        }
    }

    fn size(columns: u16, rows: u16) -> Event {
        Event::Size(Size { columns, rows })
    }

    #[test]
    fn a_trace_begins_with_its_size() {
        assert_eq!(Trace::new(vec![]), Err(NoTrace::Empty));
        let key = record(0, Event::User(b"a".to_vec()));
        assert_eq!(Trace::new(vec![key]), Err(NoTrace::SizeMissing));
    }

    #[test]
    fn sizes_are_those_of_terminals() {
        for (columns, rows) in [(0, 24), (80, 0), (1001, 24)] {
            let refused = Trace::new(vec![record(0, size(columns, rows))]);
            let expected = NoTrace::SizeImplausible {
                record: 0,
                columns,
                rows,
            };
            assert_eq!(refused, Err(expected));
        }
    }

    #[test]
    fn a_size_is_written_as_columns_and_rows() {
        let size = Size {
            columns: 120,
            rows: 40,
        };
        assert_eq!("120x40".parse(), Ok(size));
        assert_eq!("1000x1".parse::<Size>().map(|size| size.columns), Ok(1000));
        for wrong in [
            "120", "0x24", "80x", "80 x 24", "80x24x2", "99999x24", "1001x1",
        ] {
            assert_eq!(wrong.parse::<Size>(), Err(NoSize), "{wrong}");
        }
        assert_eq!(Size::from(WindowSize::from(size)), size);
    }

    #[test]
    fn time_does_not_go_back_and_nothing_is_empty() {
        let back = vec![
            record(5, size(80, 24)),
            record(4, Event::Host(b"a".to_vec())),
        ];
        assert_eq!(Trace::new(back), Err(NoTrace::TimeWentBack { record: 1 }));
        let empty = vec![record(5, size(80, 24)), record(5, Event::Host(vec![]))];
        assert_eq!(Trace::new(empty), Err(NoTrace::NoBytes { record: 1 }));
    }

    #[test]
    fn keys_and_output_are_told_apart() {
        let trace = Trace::new(vec![
            record(1, size(80, 24)),
            record(2, Event::User(b"k".to_vec())),
            record(4, Event::Host(b"h".to_vec())),
        ])
        .unwrap();
        assert_eq!(
            trace.user().collect::<Vec<_>>(),
            [(Duration::from_millis(2), &b"k"[..])]
        );
        assert_eq!(
            trace.host().collect::<Vec<_>>(),
            [(Duration::from_millis(4), &b"h"[..])]
        );
        assert_eq!(trace.began(), Duration::from_millis(1));
        assert_eq!(trace.ended(), Duration::from_millis(4));
    }
}

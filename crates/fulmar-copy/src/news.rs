//! The news for the edge.

use std::collections::VecDeque;

use crate::entry::EntryKind;
use crate::entry_error::EntryError;
use crate::event::{CopyEvent, EntryVerdict, Progress};
use crate::limits::EVENTS_MAX;
use crate::path::RelativePath;

/// Events that wait, and how far the copy is.
#[derive(Debug, Default)]
pub(crate) struct News {
    events: VecDeque<CopyEvent>,
    pub(crate) progress: Progress,
    /// The number of events that told of something that was not copied as it is.
    pub(crate) troubles: u64,
}

impl News {
    pub(crate) fn poll(&mut self) -> Option<CopyEvent> {
        self.events.pop_front()
    }

    /// Returns true if the edge has to fetch some before more can be made.
    pub(crate) fn is_full(&self) -> bool {
        self.events.len() >= EVENTS_MAX
    }

    pub(crate) fn push(&mut self, event: CopyEvent) {
        let is_trouble = match &event {
            CopyEvent::Settled { verdict, .. } => verdict.is_trouble(),
            CopyEvent::EntryError(_) => true,
            CopyEvent::Answered(_) => false,
        };
        add(&mut self.troubles, is_trouble.into());
        self.events.push_back(event);
    }

    /// Counts an entry that is known from now on.
    pub(crate) fn found(&mut self, kind: &EntryKind) {
        self.progress.entries_known += 1;
        self.progress.files_known += u64::from(matches!(kind, EntryKind::File { .. }));
        self.progress.has_pipe |= matches!(kind, EntryKind::File { size: None });
        add(&mut self.progress.bytes_known, kind.size());
    }

    /// An entry is over and done with.
    pub(crate) fn settled(&mut self, path: RelativePath, kind: EntryKind, verdict: EntryVerdict) {
        self.progress.entries += 1;
        self.progress.files += u64::from(matches!(kind, EntryKind::File { .. }));
        let verdict = match verdict {
            EntryVerdict::Failed { end, error } => EntryVerdict::Failed {
                end,
                error: placed(error, &path),
            },
            other => other,
        };
        if kind != EntryKind::Leave || verdict != EntryVerdict::Whole {
            self.push(CopyEvent::Settled {
                path,
                kind,
                verdict,
            });
        }
    }
}

/// Counts bytes. Their sum is the peer's to choose, so it ends at the highest number.
pub(crate) fn add(total: &mut u64, bytes: u64) {
    *total = total.saturating_add(bytes);
}

/// The trouble with a place, if it has none.
fn placed(mut trouble: EntryError, path: &RelativePath) -> EntryError {
    if trouble.place.is_empty() {
        trouble.place = path.as_bytes().to_vec();
    }
    trouble
}

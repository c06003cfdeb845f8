//! The client hands over the lines that have left the top of the screen.

use fulmar_transport::Dialect;

use super::Client;
use crate::capability::Capability;
use crate::history_item::HistoryItem;
use crate::history_place::HistoryPlace;

impl Client {
    /// Returns where the history above the screen ends, if the server has told it: both have to have agreed on
    /// [`Capability::History`].
    pub fn history(&self) -> Option<HistoryPlace> {
        self.endpoint
            .remote()
            .history()
            .filter(|_| self.has_history())
    }

    /// Returns the next lines above the screen that have arrived, in order and each once, with rows of the window's width. Call it
    /// again until there are none.
    pub fn fetch_history(&self) -> Vec<HistoryItem> {
        if !self.has_history() {
            return Vec::new();
        }
        let state = self.endpoint.remote();
        let items = state.fetch_history(self.size.columns());
        let malformed = state.malformed_lines();
        if malformed > 0 && !items.is_empty() {
            tracing::debug!(malformed, "lines that cannot be read");
        }
        items
    }

    fn has_history(&self) -> bool {
        self.capabilities.has(Capability::History) && self.dialect() == Dialect::Native
    }
}

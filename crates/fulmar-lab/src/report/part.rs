//! A part of a page, and the names of pages that parts lead to.

use crate::markup::{Element, element};

/// The page of distributions beside that of the own effect.
pub(super) const DISTRIBUTIONS_FILE: &str = "distributions.html";

/// The page of single runs, to which the sections of experiments lead.
pub(super) const RUNS_FILE: &str = "runs.html";

/// A part of a page with a heading that the contents lead to.
pub(super) struct PageSection {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) inner: Vec<Element>,
}

impl PageSection {
    /// Makes a part of what is in it.
    pub(super) fn new(id: &str, title: &str, inner: Vec<Element>) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            inner,
        }
    }

    /// Returns its section.
    pub(super) fn element(&self) -> Element {
        let heading = format!("{}-title", self.id);
        element("section")
            .set("id", &self.id)
            .set("aria-labelledby", &heading)
            .with(element("h2").set("id", &heading).text(self.title.as_str()))
            .all(self.inner.iter().cloned())
    }
}

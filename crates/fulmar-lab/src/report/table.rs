//! Tables, each in a box of its own that scrolls where the page is narrow.

use super::markup::{Element, element};
use super::number::NONE;

/// A table that grows row by row.
pub(super) struct Table {
    caption: String,
    heads: Vec<Element>,
    groups: Vec<Vec<Element>>,
}

impl Table {
    /// Begins a table. Its caption is read to those who cannot see it before its cells.
    pub(super) fn new(caption: impl Into<String>) -> Self {
        Self {
            caption: caption.into(),
            heads: Vec::new(),
            groups: vec![Vec::new()],
        }
    }

    /// Adds a column of text.
    pub(super) fn words(mut self, head: &str) -> Self {
        let head = element("th").class("words").text(head);
        self.heads.push(head);
        self
    }

    /// Adds a column of numbers, with their unit.
    pub(super) fn numbers(mut self, head: &str, unit: &str) -> Self {
        let mut head = element("th").text(head);
        if !unit.is_empty() {
            head = head.text(" ").with(element("small").text(unit));
        }
        self.heads.push(head);
        self
    }

    /// Begins a group of rows, parted from the one before by a line.
    pub(super) fn group(&mut self) {
        self.groups.push(Vec::new());
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: Vec<Element>) {
        self.row_of("", cells);
    }

    /// Adds a row of a class of the stylesheet.
    pub(super) fn row_of(&mut self, class: &str, cells: Vec<Element>) {
        let row = element("tr").class(class);
        if let Some(group) = self.groups.last_mut() {
            group.push(row.all(cells));
        }
    }

    /// Adds rows under one name, parted from those before by a line.
    pub(super) fn rows_of(&mut self, name: Element, rows: Vec<Vec<Element>>) {
        self.group();
        let mut name = Some(group_head(name, rows.len()));
        for mut row in rows {
            row.splice(0..0, name.take());
            self.row(row);
        }
    }

    /// Returns it in its box; nothing where it has no rows.
    pub(super) fn element(self) -> Option<Element> {
        let groups: Vec<Vec<Element>> = self
            .groups
            .into_iter()
            .filter(|rows| !rows.is_empty())
            .collect();
        let bodies = groups.into_iter().map(|rows| element("tbody").all(rows));
        let bodies: Vec<Element> = bodies.collect();
        let table = element("table")
            .with(element("caption").text(self.caption.as_str()))
            .with(element("thead").with(element("tr").all(self.heads)))
            .all(bodies.iter().cloned());
        (!bodies.is_empty()).then(|| scrolling(&self.caption, table))
    }
}

/// Puts something wide into a box that can be scrolled, also by keys.
pub(super) fn scrolling(name: &str, inner: Element) -> Element {
    element("div")
        .class("scroll")
        .set("role", "region")
        .set("tabindex", 0)
        .set("aria-label", name)
        .with(inner)
}

/// A cell that names its row.
pub(super) fn head(text: impl Into<String>) -> Element {
    element("th").set("scope", "row").text(text)
}

/// A cell that names its row by more than text.
pub(super) fn row_head(inner: Element) -> Element {
    element("th").set("scope", "row").with(inner)
}

/// A cell that names as many rows as there are in its group.
pub(super) fn group_head(inner: Element, rows: usize) -> Element {
    let head = element("th").set("scope", "rowgroup");
    head.set("rowspan", rows).with(inner)
}

/// A cell of text.
pub(super) fn words(text: impl Into<String>) -> Element {
    let text = text.into();
    let class = if text.is_empty() { "" } else { "words" };
    element("td").class(class).text(text)
}

/// A cell of a number, which stands on the right.
pub(super) fn number(text: impl Into<String>) -> Element {
    let text = text.into();
    let class = if text == NONE { "none" } else { "" };
    element("td").class(class).text(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_caption_and_scopes() {
        let mut table = Table::new("Waits").words("peer").numbers("median", "ms");
        table.row(vec![head("ssh"), number("503")]);
        table.group();
        table.row_of("published", vec![head("ssh"), number(NONE)]);
        let table = table.element().unwrap().to_string();
        for part in [
            "tabindex=\"0\" aria-label=\"Waits\"",
            "<caption>Waits</caption>",
            "<th>median <small>ms</small></th>",
            "<tbody><tr><th scope=\"row\">ssh</th><td>503</td></tr></tbody>",
            "<tbody><tr class=\"published\">",
            "<td class=\"none\">–</td>",
        ] {
            assert!(table.contains(part), "{part} in {table}");
        }
    }

    #[test]
    fn a_table_without_rows_is_none() {
        assert!(Table::new("").words("peer").element().is_none());
    }
}

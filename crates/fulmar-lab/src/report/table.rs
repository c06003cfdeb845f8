//! Tables, each in a box of its own that scrolls where the page is narrow.

use super::number::{NONE, or_none};
use crate::markup::{Element, element};

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

    /// Adds columns of text.
    pub(super) fn words<const N: usize>(mut self, heads: [&str; N]) -> Self {
        let heads = heads.map(|head| element("th").class("words").text(head));
        self.heads.extend(heads);
        self
    }

    /// Adds columns of numbers that have one unit.
    pub(super) fn numbers<const N: usize>(mut self, unit: &str, heads: [&str; N]) -> Self {
        let heads = heads.map(|head| match unit {
            "" => element("th").text(head),
            unit => {
                let unit = element("small").text(unit);
                element("th").text(head).text(" ").with(unit)
            }
        });
        self.heads.extend(heads);
        self
    }

    /// Adds columns of numbers whose heads are more than text.
    pub(super) fn columns(mut self, heads: impl IntoIterator<Item = Element>) -> Self {
        let heads = heads.into_iter().map(|head| element("th").with(head));
        self.heads.extend(heads);
        self
    }

    /// Adds a row.
    pub(super) fn row(&mut self, row: Element) {
        if let Some(group) = self.groups.last_mut() {
            group.push(row);
        }
    }

    /// Adds rows under one name, or several beside each other, parted from those before by a line.
    pub(super) fn rows_of(&mut self, names: impl IntoIterator<Item = Element>, rows: Vec<Element>) {
        let count = rows.len();
        let heads = names.into_iter().map(|name| group_head(name, count));
        let mut rows = rows.into_iter();
        let first = rows.next().map(|row| row.led_by(heads));
        self.groups.push(first.into_iter().chain(rows).collect());
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

/// A row of cells.
pub(super) fn row(cells: impl IntoIterator<Item = Element>) -> Element {
    element("tr").all(cells)
}

/// A cell that names its row.
pub(super) fn head(text: impl Into<String>) -> Element {
    element("th").set("scope", "row").text(text)
}

/// A cell that names its row and the unit of its numbers.
pub(super) fn head_of(text: &str, unit: &str) -> Element {
    match unit {
        "" => head(text),
        unit => head(text).text(" ").with(element("small").text(unit)),
    }
}

/// A cell that names its row by more than text.
pub(super) fn row_head(inner: Element) -> Element {
    element("th").set("scope", "row").with(inner)
}

/// A cell that names as many rows as there are in its group.
fn group_head(inner: Element, rows: usize) -> Element {
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

/// A cell of a number, if there is one.
pub(super) fn maybe<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> Element {
    number(or_none(value, show))
}

/// A cell with the ends of what its number may be.
pub(super) fn ranged(cell: Element, low: &str, high: &str) -> Element {
    let range = element("small").text(format!("{low}–{high}"));
    cell.text(" ").with(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_caption_and_scopes() {
        let mut table = Table::new("Waits")
            .words(["peer"])
            .numbers("ms", ["median"]);
        table.row(row([head("ssh"), number("503")]));
        let published = row([head("ssh"), number(NONE)]).class("published");
        table.rows_of([], vec![published]);
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
        assert!(Table::new("").words(["peer"]).element().is_none());
    }
}

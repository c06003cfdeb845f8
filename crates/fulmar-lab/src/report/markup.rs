//! Elements of HTML and SVG, in which nothing that comes from a file can be more than text.

use std::fmt::{self, Display};

/// An element with its attributes and what is in it.
#[derive(Clone, Debug)]
pub(super) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
}

#[derive(Clone, Debug)]
enum Node {
    Text(String),
    Element(Element),
    /// Text of ours, written as it stands: a stylesheet.
    Own(&'static str),
}

/// Elements of HTML that have nothing in them, and no end.
const VOID: &[&str] = &["br", "hr", "link", "meta"];

/// Begins an element.
pub(super) fn element(name: &'static str) -> Element {
    Element {
        name,
        attributes: Vec::new(),
        children: Vec::new(),
    }
}

impl Element {
    /// Gives it an attribute.
    pub(super) fn set(mut self, name: &'static str, value: impl Display) -> Self {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// Gives it a class of the stylesheet.
    pub(super) fn class(self, name: impl Display) -> Self {
        self.set("class", name)
    }

    /// Adds text.
    pub(super) fn text(mut self, text: impl Into<String>) -> Self {
        self.children.push(Node::Text(text.into()));
        self
    }

    /// Adds an element.
    pub(super) fn with(mut self, child: Element) -> Self {
        self.children.push(Node::Element(child));
        self
    }

    /// Adds elements.
    pub(super) fn all(mut self, children: impl IntoIterator<Item = Element>) -> Self {
        self.children
            .extend(children.into_iter().map(Node::Element));
        self
    }

    /// Adds a text of this program as it stands.
    pub(super) fn own(mut self, text: &'static str) -> Self {
        self.children.push(Node::Own(text));
        self
    }
}

impl Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}", self.name)?;
        for (name, value) in &self.attributes {
            write!(f, " {name}=\"{}\"", Escaped(value))?;
        }
        write!(f, ">")?;
        for child in &self.children {
            match child {
                Node::Text(text) => write!(f, "{}", Escaped(text))?,
                Node::Element(element) => write!(f, "{element}")?,
                Node::Own(text) => write!(f, "{text}")?,
            }
        }
        if VOID.contains(&self.name) {
            return Ok(());
        }
        write!(f, "</{}>", self.name)
    }
}

/// Text without any meaning to a browser.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => fmt::Write::write_char(f, letter)?,
                control if control.is_control() => f.write_str("\u{fffd}")?,
                letter => fmt::Write::write_char(f, letter)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_an_element_is_text_and_nothing_else() {
        let element = element("p")
            .set("title", "a\"b")
            .text("<script>'&\u{1b}\u{0}")
            .with(element("br"));
        assert_eq!(
            element.to_string(),
            "<p title=\"a&quot;b\">&lt;script&gt;&#39;&amp;\u{fffd}\u{fffd}<br></p>"
        );
    }

    #[test]
    fn an_empty_element_has_an_end() {
        assert_eq!(element("td").to_string(), "<td></td>");
    }
}

//! Elements of HTML and SVG, in which nothing that comes from a file can be more than text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};

/// An element with its attributes and what is in it.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
}

#[derive(Clone, Debug)]
enum Node {
    Text(String),
    Element(Element),
    /// Text of ours, written as it stands: a stylesheet.
    Own(Cow<'static, str>),
}

/// Elements of HTML that have nothing in them, and no end.
const VOID: &[&str] = &["br", "hr", "link", "meta"];

/// Elements of HTML that end where the next one of their kind begins, or what they are in ends.
const ENDED_BY_THE_NEXT: &[&str] = &["dd", "dt", "li", "tbody", "td", "th", "thead", "tr"];

/// Elements of SVG that may close themselves.
const SHAPES: &[&str] = &["line", "path", "rect", "use"];

/// Begins an element.
pub(crate) fn element(name: &'static str) -> Element {
    Element {
        name,
        attributes: Vec::new(),
        children: Vec::new(),
    }
}

/// Returns an element that is folded away until somebody wants it.
pub(crate) fn folded(summary: &str, inner: Element) -> Element {
    let summary = element("summary").text(summary);
    element("details").with(summary).with(inner)
}

/// Returns something drawn with the words above it.
pub(crate) fn figure(caption: impl Into<String>, drawn: Element) -> Element {
    let caption = element("figcaption").text(caption);
    element("figure").with(caption).with(drawn)
}

/// Returns a list of words, each with what is said of it.
pub(crate) fn described<W: Into<String>, S: Into<String>>(
    words: impl IntoIterator<Item = (W, S)>,
) -> Element {
    let pairs = words
        .into_iter()
        .flat_map(|(word, said)| [element("dt").text(word), element("dd").text(said)]);
    element("dl").all(pairs)
}

impl Element {
    /// Gives it an attribute.
    pub(crate) fn set(mut self, name: &'static str, value: impl Display) -> Self {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// Gives it a class of the stylesheet, beside those that it has; an empty one is none.
    pub(crate) fn class(mut self, name: impl Display) -> Self {
        let name = name.to_string();
        let mut known = self.attributes.iter_mut();
        match known.find(|(attribute, _)| *attribute == "class") {
            _ if name.is_empty() => self,
            Some((_, classes)) => {
                *classes = format!("{classes} {name}");
                self
            }
            None => self.set("class", name),
        }
    }

    /// Adds text.
    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.children.push(Node::Text(text.into()));
        self
    }

    /// Adds an element.
    pub(crate) fn with(mut self, child: Element) -> Self {
        self.children.push(Node::Element(child));
        self
    }

    /// Adds elements.
    pub(crate) fn all(mut self, children: impl IntoIterator<Item = Element>) -> Self {
        self.children
            .extend(children.into_iter().map(Node::Element));
        self
    }

    /// Puts elements before all that is in it.
    pub(crate) fn led_by(mut self, first: impl IntoIterator<Item = Element>) -> Self {
        let first = first.into_iter().map(Node::Element);
        self.children.splice(0..0, first);
        self
    }

    /// Adds a text of this program as it stands.
    pub(crate) fn own(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.children.push(Node::Own(text.into()));
        self
    }

    /// Takes out the elements of a class that stand in it more than once, each for a reference to it, and returns
    /// them with the names by which they are referred to.
    pub(crate) fn take_repeated(&mut self, class: &str) -> Vec<Self> {
        let mut found = BTreeMap::new();
        self.find(class, &mut found);
        found.retain(|_, alike: &mut Vec<&mut Self>| alike.len() > 1);
        let mut definitions = BTreeMap::new();
        for (number, alike) in found.into_values().enumerate() {
            let name = format!("{class}-{number}");
            for one in alike {
                let reference = element("use").set("href", format!("#{name}"));
                let drawn = std::mem::replace(one, reference);
                definitions.insert(name.clone(), drawn.set("id", &name));
            }
        }
        definitions.into_values().collect()
    }

    /// Adds the elements of a class in it to those that were found, by how they are written.
    fn find<'a>(&'a mut self, class: &str, found: &mut BTreeMap<String, Vec<&'a mut Self>>) {
        for child in &mut self.children {
            let Node::Element(child) = child else {
                continue;
            };
            if child.has_class(class) {
                found.entry(child.html()).or_default().push(child);
            } else {
                child.find(class, found);
            }
        }
    }

    fn has_class(&self, class: &str) -> bool {
        let is_it = |(name, value): &(&str, String)| *name == "class" && value == class;
        self.attributes.iter().any(is_it)
    }

    /// Returns it as HTML has it at its shortest: what a browser adds by itself is left out.
    ///
    /// Source: HTML, "Optional tags", "Unquoted attribute value syntax" and "Foreign elements".
    pub(crate) fn html(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text, true);
        text
    }

    fn write(&self, to: &mut impl Write, is_short: bool) -> fmt::Result {
        write!(to, "<{}", self.name)?;
        let mut is_bare = false;
        for (name, value) in &self.attributes {
            is_bare = is_short && needs_no_quotes(value);
            if is_bare {
                write!(to, " {name}={value}")?;
            } else {
                write!(to, " {name}=\"{}\"", Escaped(value))?;
            }
        }
        if is_short && self.children.is_empty() && SHAPES.contains(&self.name) {
            // Without the space the stroke would belong to the value.
            return to.write_str(if is_bare { " />" } else { "/>" });
        }
        to.write_char('>')?;
        for child in &self.children {
            match child {
                Node::Text(text) => write!(to, "{}", Escaped(text))?,
                Node::Element(element) => element.write(to, is_short)?,
                Node::Own(text) => to.write_str(text)?,
            }
        }
        if VOID.contains(&self.name) || is_short && ENDED_BY_THE_NEXT.contains(&self.name) {
            return Ok(());
        }
        write!(to, "</{}>", self.name)
    }
}

impl Display for Element {
    /// Writes it as XML has it, all in quotes and closed; elements without an end are HTML's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, false)
    }
}

fn needs_no_quotes(value: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "#%,-.:_".contains(letter);
    !value.is_empty() && value.chars().all(is_plain)
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
                '\n' | '\t' => f.write_char(letter)?,
                control if control.is_control() => f.write_str("\u{fffd}")?,
                letter => f.write_char(letter)?,
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

    #[test]
    fn a_page_has_no_ends_and_quotes_that_a_browser_adds() {
        let row = element("tr")
            .with(element("td").text("1"))
            .with(element("td"));
        let table = element("table").set("id", "a").class("b c").with(row);
        assert_eq!(
            table.html(),
            "<table id=a class=\"b c\"><tr><td>1<td></table>"
        );
        let shapes = element("g")
            .with(element("path").set("d", "M0 0"))
            .with(element("use").set("href", "#a"));
        assert_eq!(shapes.html(), "<g><path d=\"M0 0\"/><use href=#a /></g>");
        let quoted = element("p").set("title", "").set("lang", "a\"b=<");
        assert_eq!(quoted.html(), "<p title=\"\" lang=\"a&quot;b=&lt;\"></p>");
    }

    #[test]
    fn what_is_repeated_is_drawn_once_and_the_rest_where_it_is() {
        let frame = |d: &str| {
            element("g")
                .class("frame")
                .with(element("path").set("d", d))
        };
        let charts = ["M1", "M2", "M1"].map(|d| element("svg").with(frame(d)));
        let mut page = element("main").all(charts);
        let drawn: Vec<String> = page
            .take_repeated("frame")
            .iter()
            .map(Element::html)
            .collect();
        assert_eq!(drawn, ["<g class=frame id=frame-0><path d=M1 /></g>"]);
        let reference = "<svg><use href=#frame-0 /></svg>";
        let once = "<svg><g class=frame><path d=M2 /></g></svg>";
        assert_eq!(
            page.html(),
            format!("<main>{reference}{once}{reference}</main>")
        );
        assert!(page.take_repeated("frame").is_empty());
    }
}

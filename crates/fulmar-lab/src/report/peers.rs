//! The looks of peers: a colour, a dash and a mark for each, the same on the whole page.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::grouped::ExperimentRuns;
use crate::markup::{Element, element};

/// The look of one peer. Any of the three tells it from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PeerStyle {
    /// A colour of the stylesheet, by its number.
    pub(super) colour: usize,
    /// Lengths of dashes and gaps; empty for a line without.
    pub(super) dash: &'static str,
    /// The mark on the line.
    pub(super) mark: Marker,
}

/// A small shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Square,
    Circle,
    Triangle,
    Diamond,
    Cross,
    Ring,
    Bar,
    Box,
}

const fn style(colour: usize, dash: &'static str, mark: Marker) -> PeerStyle {
    PeerStyle { colour, dash, mark }
}

/// Peers that have a look of their own: one colour for each program, whatever its options.
const KNOWN: &[(&str, PeerStyle)] = &[
    ("ssh", style(0, "6 3", Marker::Square)),
    ("mosh", style(1, "", Marker::Circle)),
    ("mosh-a", style(1, "9 2 2 2", Marker::Ring)),
    ("mosh-n", style(1, "2 2", Marker::Cross)),
    ("fulmar", style(2, "", Marker::Triangle)),
    ("fulmar-a", style(2, "9 2 2 2", Marker::Diamond)),
    ("fulmar-n", style(2, "2 2", Marker::Bar)),
];

/// Returns what a peer is, of those that the lab knows.
pub(super) fn meaning(peer: &str) -> Option<&'static str> {
    Some(match peer {
        "ssh" => "OpenSSH, which predicts nothing",
        "mosh" => "stock Mosh as it is by default: it predicts where the link is slow",
        "mosh-a" => "stock Mosh, which always shows predictions",
        "mosh-n" => "stock Mosh, which predicts nothing",
        "fulmar" => {
            "our program at both ends, as it is by default: it predicts where the link is slow"
        }
        "fulmar-a" => "our program, which always shows predictions",
        "fulmar-n" => "our program, which predicts nothing",
        _ => return None,
    })
}

/// The looks of the others, in turn.
const OTHERS: &[PeerStyle] = &[
    style(3, "", Marker::Diamond),
    style(4, "8 3", Marker::Box),
    style(5, "3 2", Marker::Cross),
    style(6, "10 2 2 2", Marker::Ring),
    style(7, "2 3", Marker::Bar),
    style(3, "8 3", Marker::Circle),
    style(4, "3 2", Marker::Square),
    style(5, "", Marker::Triangle),
];

/// The looks of all peers on a page.
#[derive(Clone, Debug, Default)]
pub(super) struct PeerStyles(BTreeMap<String, PeerStyle>);

impl PeerStyles {
    /// Gives each peer of some experiments its look.
    pub(super) fn of(subjects: &[ExperimentRuns]) -> Self {
        let settings = subjects.iter().flat_map(|subject| &subject.settings);
        let names = settings.flat_map(|setting| &setting.peers);
        Self::named(names.map(|runs| runs.peer.as_str()))
    }

    /// Gives each name its look.
    pub(super) fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut looks = BTreeMap::new();
        let mut others = OTHERS.iter().cycle();
        for name in names {
            if looks.contains_key(name) {
                continue;
            }
            let known = KNOWN.iter().find(|(known, _)| *known == name);
            let style = known.map(|(_, style)| style).or_else(|| others.next());
            looks.extend(style.map(|style| (name.to_owned(), *style)));
        }
        Self(looks)
    }

    /// Returns the look of a peer.
    pub(super) fn style(&self, peer: &str) -> PeerStyle {
        self.0.get(peer).copied().unwrap_or(OTHERS[0])
    }

    /// Returns its name with its line and mark before it, for a page that has the [`definitions`](Self::definitions).
    pub(super) fn sign(&self, peer: &str) -> Element {
        let svg = element("svg").set("aria-hidden", "true");
        let sign = element("use").set("href", format!("#sign-{}", self.number(peer)));
        element("span")
            .class("peer")
            .with(svg.with(sign))
            .text(peer)
    }

    /// Returns the mark of a peer around a point, for a page that has the definitions.
    pub(super) fn mark(&self, peer: &str, x: impl Display, y: impl Display) -> Element {
        element("use")
            .set("href", format!("#mark-{}", self.number(peer)))
            .set("x", x)
            .set("y", y)
    }

    /// Returns what signs and marks refer to.
    pub(super) fn definitions(&self) -> Vec<Element> {
        let styles = self.0.values().enumerate();
        let both = styles.flat_map(|(number, style)| {
            let line = element("path").class("line").set("d", "M0 6h22");
            let colour = format!("c{}", style.colour);
            let sign = element("g")
                .set("id", format!("sign-{number}"))
                .class(&colour)
                .with(dashed(line, *style))
                .with(mark(style.mark, 11.0, 6.0));
            let mark = mark(style.mark, 0.0, 0.0).class(colour);
            let mark = mark.set("id", format!("mark-{number}"));
            [sign, mark]
        });
        both.collect()
    }

    /// Returns the place of a peer among all.
    fn number(&self, peer: &str) -> usize {
        self.names()
            .position(|name| name == peer)
            .unwrap_or_default()
    }

    /// Returns the peers in the order of their names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Gives a line the dashes of a look.
pub(super) fn dashed(line: Element, style: PeerStyle) -> Element {
    match style.dash {
        "" => line,
        dash => line.set("stroke-dasharray", dash),
    }
}

impl Marker {
    /// Returns its path data, from the point that it is around.
    pub(super) fn shape(self) -> &'static str {
        match self {
            Self::Square | Self::Box => "m-3.5-3.5h7v7h-7z",
            Self::Circle | Self::Ring => "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
            Self::Triangle => "m0-4.8l4.4 7.8h-8.8z",
            Self::Diamond => "m0-5l5 5l-5 5l-5-5z",
            Self::Cross => "m-4-4l8 8m0-8l-8 8",
            Self::Bar => "m0-5v10",
        }
    }

    /// Returns its class of the stylesheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Square | Self::Circle | Self::Triangle | Self::Diamond => "mark",
            Self::Cross | Self::Ring | Self::Bar | Self::Box => "mark open",
        }
    }
}

/// Returns a mark around a point.
fn mark(mark: Marker, x: f64, y: f64) -> Element {
    element("path")
        .class(mark.class())
        .set("d", format!("M{} {}{}", short(x), short(y), mark.shape()))
}

/// Returns a coordinate as short as it can be written to a tenth.
pub(super) fn short(value: f64) -> String {
    let text = format!("{:.1}", value);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_peers_look_alike_without_colour() {
        let names = [
            "ssh", "mosh", "mosh-a", "mosh-n", "fulmar", "fulmar-a", "fulmar-n", "a", "b",
        ];
        let peers = PeerStyles::named(names);
        let mut looks: Vec<String> = names
            .iter()
            .map(|name| peers.style(name))
            .map(|style| format!("{} {:?}", style.dash, style.mark))
            .collect();
        looks.sort();
        looks.dedup();
        assert_eq!(looks.len(), names.len());
    }

    #[test]
    fn a_peer_keeps_its_look_wherever_it_stands() {
        let (one, other) = (
            PeerStyles::named(["x", "ssh"]),
            PeerStyles::named(["ssh", "mosh"]),
        );
        assert_eq!(one.style("ssh"), other.style("ssh"));
    }

    #[test]
    fn every_peer_that_has_a_look_is_explained() {
        assert!(KNOWN.iter().all(|(name, _)| meaning(name).is_some()));
        assert_eq!(meaning("rsync"), None);
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!([3.0, 3.16, 0.05].map(short), ["3", "3.2", "0.1"]);
    }

    #[test]
    fn a_sign_and_a_mark_refer_to_what_is_defined_for_their_peer() {
        let peers = PeerStyles::named(["ssh", "mosh"]);
        assert_eq!(peers.names().collect::<Vec<_>>(), ["mosh", "ssh"]);
        let sign = peers.sign("ssh").html();
        assert_eq!(
            sign,
            "<span class=peer><svg aria-hidden=true><use href=#sign-1 /></svg>ssh</span>"
        );
        let mark = peers.mark("mosh", 1, "5%").html();
        assert_eq!(mark, "<use href=#mark-0 x=1 y=5% />");
        let defined: String = peers.definitions().iter().map(Element::html).collect();
        let ssh = "<g id=sign-1 class=c0><path class=line d=\"M0 6h22\" stroke-dasharray=\"6 3\"/>\
                   <path class=mark d=\"M11 6m-3.5-3.5h7v7h-7z\"/></g>";
        assert!(defined.contains(ssh), "{defined}");
        assert_eq!(defined.matches(" id=").count(), 4);
    }

    #[test]
    fn more_peers_than_there_are_looks_begin_again_with_the_first() {
        let names: Vec<String> = (0..=OTHERS.len())
            .map(|peer| format!("p{peer:02}"))
            .collect();
        let peers = PeerStyles::named(names.iter().map(String::as_str));
        assert_eq!(peers.style("p00"), OTHERS[0]);
        assert_eq!(peers.style("p01"), OTHERS[1]);
        assert_eq!(peers.style(&names[OTHERS.len()]), OTHERS[0]);
        assert_eq!(peers.style("nobody"), OTHERS[0]);
    }
}

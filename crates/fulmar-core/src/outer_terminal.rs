//! The properties of the user's terminal.

use fulmar_terminal::{Answer, Attributes, Colors, MouseEncodings, Screen, Vocabulary};

use crate::announcer::EventWishes;

/// The properties of the user's terminal.
#[derive(Clone, Debug)]
pub struct OuterTerminal {
    /// The vocabulary that it understands.
    pub vocabulary: Vocabulary,
    /// The bytes that make it ready, `smcup` of terminfo; empty if its screen is not to be changed.
    pub enter: Vec<u8>,
    /// The bytes that undo that, `rmcup`.
    pub exit: Vec<u8>,
    /// True if it can be told to show a frame only when it is complete (mode 2026).
    pub synchronized_output: bool,
    /// True if cells hold grapheme clusters only while we say so (mode 2027).
    pub resets_clusters: bool,
    /// True if it is asked what it can do beyond that.
    pub is_asked: bool,
    /// True if its number of colours stays, whatever it answers.
    pub keeps_colors: bool,
    /// True if it cuts its lines anew when its window gets another width.
    pub reflows: bool,
    /// The events that it is told.
    pub events: EventWishes,
}

impl Default for OuterTerminal {
    /// A terminal of which nothing is known.
    fn default() -> OuterTerminal {
        OuterTerminal {
            vocabulary: Vocabulary::PLAIN,
            enter: Vec::new(),
            exit: Vec::new(),
            synchronized_output: false,
            resets_clusters: false,
            is_asked: false,
            keeps_colors: false,
            reflows: true,
            events: EventWishes::default(),
        }
    }
}

/// A terminal that names itself, with the first versions that have something.
struct KnownTerminal {
    name: &'static str,
    /// Links, OSC 8.
    links: Option<(u32, u32)>,
    /// Underlines in styles and colours, overline, text that is struck out.
    underlines: Option<(u32, u32)>,
    /// Reports of the mouse in pixels.
    pixels: bool,
}

const fn known(
    name: &'static str,
    links: Option<(u32, u32)>,
    underlines: Option<(u32, u32)>,
    pixels: bool,
) -> KnownTerminal {
    KnownTerminal {
        name,
        links,
        underlines,
        pixels,
    }
}

/// The terminals that answer XTVERSION with more than their type tells. Their manuals and lists of changes say so.
const VERSIONS: [KnownTerminal; 10] = [
    known("WezTerm", Some((0, 0)), Some((0, 0)), true),
    known("VTE", Some((5000, 0)), Some((5200, 0)), false),
    known("contour", Some((0, 0)), Some((0, 0)), true),
    known("foot", Some((1, 7)), Some((1, 12)), true),
    known("ghostty", Some((0, 0)), Some((0, 0)), true),
    known("iTerm2", Some((3, 1)), Some((3, 4)), false),
    known("kitty", Some((0, 19)), Some((0, 19)), true),
    known("mintty", Some((3, 1)), Some((3, 1)), false),
    // Its underlines are as good as those of the terminal that it is in, of which it tells by terminfo.
    known("tmux", Some((3, 4)), None, false),
    known("xterm.js", Some((5, 0)), Some((5, 0)), false),
];

/// Splits `kitty(0.36.4)` or `foot 1.16` into the name and the first two numbers behind it.
fn name_and_version(text: &str) -> (&str, (u32, u32)) {
    let (name, version) = text.split_once(['(', ' ']).unwrap_or((text, ""));
    // A version in the making has a word before it: `tmux next-3.6`.
    let version = version.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut numbers = version.split(|c: char| !c.is_ascii_digit());
    let mut number = || numbers.next().and_then(|digits| digits.parse().ok());
    (name, (number().unwrap_or(0), number().unwrap_or(0)))
}

/// Puts the window's and the icon's title on the terminal's stack.
pub(crate) const PUSH_TITLE: &[u8] = b"\x1b[22;0;0t";
/// Takes them from there.
pub(crate) const POP_TITLE: &[u8] = b"\x1b[23;0;0t";

impl OuterTerminal {
    /// Takes note of an answer.
    pub(crate) fn learn(&mut self, answer: &Answer) {
        let vocabulary = &mut self.vocabulary;
        match answer {
            // 3: for good.
            Answer::Mode(2026, 1..=3) => self.synchronized_output = true,
            Answer::KittyKeyboard => vocabulary.keyboard = true,
            Answer::Mode(2027, status @ 1..=3) => {
                vocabulary.clusters = true;
                self.resets_clusters = *status == 2;
            }
            Answer::Capability(name) => match name.as_str() {
                "RGB" | "Tc" if !self.keeps_colors => vocabulary.colors = Colors::Rgb,
                "Smulx" | "Su" => vocabulary.underline_styles = true,
                "smxx" => vocabulary.attributes |= Attributes::STRIKE,
                "Smol" => vocabulary.attributes |= Attributes::OVERLINE,
                "Ss" => vocabulary.cursor_shape = true,
                "Sync" => self.synchronized_output = true,
                _ => {}
            },
            Answer::Version(text) => {
                let (name, version) = name_and_version(text);
                self.reflows = name != "XTerm";
                let Some(known) = VERSIONS.iter().find(|known| known.name == name) else {
                    return;
                };
                // All of them have had it for longer than they tell their versions.
                vocabulary.cursor_shape = true;
                vocabulary.links |= known.links.is_some_and(|since| since <= version);
                if known.underlines.is_some_and(|since| since <= version) {
                    vocabulary.underline_styles = true;
                    vocabulary.attributes |= Attributes::OVERLINE | Attributes::STRIKE;
                }
                if known.pixels {
                    vocabulary.mouse_encodings = MouseEncodings::All;
                }
            }
            _ => {}
        }
    }

    /// Tells if the screen changes the title of this terminal, and `enter` has not put the one before on the stack.
    pub(crate) fn shows_title_of(&self, screen: &Screen) -> bool {
        let is_named = screen.title().is_some() || screen.icon_name().is_some();
        let is_pushed = self
            .enter
            .windows(PUSH_TITLE.len())
            .any(|part| part == PUSH_TITLE);
        self.vocabulary.titles && is_named && !is_pushed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(answer: Answer) -> OuterTerminal {
        let mut outer = OuterTerminal::default();
        outer.learn(&answer);
        outer
    }

    #[test]
    fn a_terminal_shows_more_once_it_has_told_its_version() {
        for (version, links, underlines) in [
            ("kitty(0.36.4)", true, true),
            ("xterm.js(6.0.0)", true, true),
            ("XTerm(379)", false, false),
            ("tmux 3.3a", false, false),
            ("tmux 3.4", true, false),
            ("tmux next-3.6", true, false),
            ("VTE(5100)", true, false),
            ("WezTerm 20240203-110809-5046fc22", true, true),
            ("", false, false),
            ("kitty(99999999999999999999)", false, false),
        ] {
            let outer = learnt(Answer::Version(version.to_owned()));
            let shown = (outer.vocabulary.links, outer.vocabulary.underline_styles);
            assert_eq!(shown, (links, underlines), "{version}");
        }
    }

    #[test]
    fn a_terminal_that_tells_its_version_has_a_cursor_of_several_shapes() {
        let shows = |version: &str| {
            let outer = learnt(Answer::Version(version.to_owned()));
            outer.vocabulary.cursor_shape
        };
        assert!(shows("kitty(0.26.5)") && shows("foot(1.13)"));
        assert!(!shows("unheard of"));
    }

    #[test]
    fn what_terminfo_does_not_tell_is_learnt_from_answers() {
        let has = |name: &str| learnt(Answer::Capability(name.to_owned()));
        assert_eq!(has("RGB").vocabulary.colors, Colors::Rgb);
        assert!(has("Smulx").vocabulary.underline_styles);
        assert!(has("Ss").vocabulary.cursor_shape);
        let overline = has("Smol").vocabulary.attributes;
        assert!(overline.contains(Attributes::OVERLINE));
        for (status, synchronized) in [(0, false), (1, true), (2, true), (3, true), (4, false)] {
            let outer = learnt(Answer::Mode(2026, status));
            assert_eq!(outer.synchronized_output, synchronized, "{status}");
        }
        let mut outer = OuterTerminal {
            keeps_colors: true,
            ..OuterTerminal::default()
        };
        outer.learn(&Answer::Capability("RGB".to_owned()));
        assert_eq!(outer.vocabulary.colors, Colors::Eight);
    }
}

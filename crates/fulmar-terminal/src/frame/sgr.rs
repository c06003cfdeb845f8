//! From one rendition to another, in the fewest bytes.

use crate::style::{Attributes, Color, ColorKind, Style, Underline};
use crate::vocabulary::{Colors, Vocabulary};

/// Attributes with the number that sets them and the number that resets them, which may be
/// shared: 22 ends bold and dim.
const FLAGS: [(Attributes, &str, &str); 7] = [
    (Attributes::BOLD, "1", "22"),
    (Attributes::DIM, "2", "22"),
    (Attributes::ITALIC, "3", "23"),
    (Attributes::BLINK, "5", "25"),
    (Attributes::INVERSE, "7", "27"),
    (Attributes::HIDDEN, "8", "28"),
    (Attributes::STRIKE, "9", "29"),
];

/// Overline stands apart, since its numbers are long and few readers know them.
const OVERLINE: (Attributes, &str, &str) = (Attributes::OVERLINE, "53", "55");

/// Appends what changes the rendition from `old` to `new`, links left out.
///
/// Written anew from the plain rendition or as a change, whichever is shorter.
pub(super) fn change(out: &mut Vec<u8>, old: &Style, new: &Style, vocabulary: &Vocabulary) {
    let mut anew = Parameters::new(vocabulary);
    anew.add("0");
    anew.turn_on(new.attributes, Attributes::empty());
    anew.colors(&Style::default(), new);
    let mut changed = Parameters::new(vocabulary);
    let kept = changed.turn_off(old.attributes, new.attributes);
    changed.turn_on(new.attributes, kept);
    changed.colors(old, new);
    let shorter = if changed.text.len() < anew.text.len() {
        changed.text
    } else {
        anew.text
    };
    match shorter.as_slice() {
        // Only the link differs.
        [] => {}
        b"0" => out.extend_from_slice(b"\x1b[m"),
        parameters => {
            out.extend_from_slice(b"\x1b[");
            out.extend_from_slice(parameters);
            out.push(b'm');
        }
    }
}

/// The parameters of one SGR.
struct Parameters<'a> {
    text: Vec<u8>,
    vocabulary: &'a Vocabulary,
}

impl Parameters<'_> {
    fn new(vocabulary: &Vocabulary) -> Parameters<'_> {
        Parameters {
            text: Vec::new(),
            vocabulary,
        }
    }

    fn add(&mut self, parameter: &str) {
        if !self.text.is_empty() {
            self.text.push(b';');
        }
        self.text.extend_from_slice(parameter.as_bytes());
    }

    /// Ends what `new` has not, and returns what is left on.
    fn turn_off(&mut self, old: Attributes, new: Attributes) -> Attributes {
        let mut on = old;
        let gone = old.difference(new);
        for (flag, _, off) in FLAGS.into_iter().chain([OVERLINE]) {
            if gone.contains(flag) && on.contains(flag) {
                self.add(off);
                on.remove(flag);
                // It ends both. The one that is to stay is begun anew.
                if off == "22" {
                    on.remove(Attributes::BOLD | Attributes::DIM);
                }
            }
        }
        if old.underline() != Underline::None && new.underline() == Underline::None {
            self.add("24");
            on.set_underline(Underline::None);
        }
        on
    }

    /// Begins what `new` has and `on` has not.
    fn turn_on(&mut self, new: Attributes, on: Attributes) {
        for (flag, number, _) in FLAGS.into_iter().chain([OVERLINE]) {
            if new.contains(flag) && !on.contains(flag) {
                self.add(number);
            }
        }
        if new.underline() != on.underline() {
            self.add(match new.underline() {
                Underline::None => "24",
                Underline::Single => "4",
                Underline::Double => "4:2",
                Underline::Curly => "4:3",
                Underline::Dotted => "4:4",
                Underline::Dashed => "4:5",
            });
        }
    }

    fn colors(&mut self, old: &Style, new: &Style) {
        if old.foreground != new.foreground {
            self.color(new.foreground, 30);
        }
        if old.background != new.background {
            self.color(new.background, 40);
        }
        if old.underline_color != new.underline_color {
            match new.underline_color.kind() {
                ColorKind::Default => self.add("59"),
                ColorKind::Indexed(index) => self.add(&format!("58:5:{index}")),
                ColorKind::Rgb(r, g, b) => self.add(&format!("58:2::{r}:{g}:{b}")),
            }
        }
    }

    /// `base` is 30 for the text, 40 for what is behind it.
    fn color(&mut self, color: Color, base: u16) {
        let text = match color.kind() {
            ColorKind::Default => (base + 9).to_string(),
            ColorKind::Indexed(index @ 0..8) => (base + u16::from(index)).to_string(),
            ColorKind::Indexed(index @ 8..16) if self.vocabulary.colors == Colors::Sixteen => {
                (base + 52 + u16::from(index)).to_string()
            }
            ColorKind::Indexed(index) => format!("{};5;{index}", base + 8),
            ColorKind::Rgb(r, g, b) => format!("{};2;{r};{g};{b}", base + 8),
        };
        self.add(&text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(old: &Style, new: &Style) -> String {
        let mut out = Vec::new();
        change(&mut out, old, new, &Vocabulary::FULL);
        String::from_utf8(out).unwrap()
    }

    fn style(attributes: Attributes, foreground: Color) -> Style {
        Style {
            attributes,
            foreground,
            ..Style::default()
        }
    }

    #[test]
    fn a_change_is_written_in_the_shorter_of_two_ways() {
        let red = style(Attributes::empty(), Color::indexed(1));
        let bold_red = style(Attributes::BOLD, Color::indexed(1));
        assert_eq!(written(&Style::default(), &bold_red), "\x1b[1;31m");
        assert_eq!(written(&bold_red, &red), "\x1b[22m");
        assert_eq!(written(&bold_red, &Style::default()), "\x1b[m");
    }

    #[test]
    fn what_22_ends_too_is_begun_again() {
        let both = style(
            Attributes::BOLD | Attributes::DIM,
            Color::rgb(100, 200, 250),
        );
        let dim = style(Attributes::DIM, Color::rgb(100, 200, 250));
        assert_eq!(written(&both, &dim), "\x1b[22;2m");
    }

    #[test]
    fn bright_colours_are_written_as_the_reader_knows_them() {
        let bright = style(Attributes::empty(), Color::indexed(9));
        assert_eq!(written(&Style::default(), &bright), "\x1b[38;5;9m");
        let sixteen = Vocabulary {
            colors: Colors::Sixteen,
            ..Vocabulary::FULL
        };
        let mut out = Vec::new();
        change(&mut out, &Style::default(), &bright, &sixteen);
        assert_eq!(out, b"\x1b[91m");
    }
}

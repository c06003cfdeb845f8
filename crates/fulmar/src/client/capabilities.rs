//! Finds out the capabilities of the user's terminal, from terminfo and the environment.
//!
//! Source: docs/protocol.md §2.8, §11.2.

use fulmar_core::{EventWishes, OuterTerminal};
use fulmar_terminal::{Attributes, Colors, MouseEncodings, Vocabulary};
use termini::{BoolCapability, NumberCapability, StringCapability, TermInfo};

use fulmar_settings::{Environment, TrueColor};

/// The beginnings of the names of terminals that take window titles.
///
/// Source: docs/protocol.md §1.3; after `tmux` come terminals that stock does not know.
const WITH_TITLES: [&str; 14] = [
    "xterm",
    "rxvt",
    "kterm",
    "Eterm",
    "screen",
    "alacritty",
    "tmux",
    "foot",
    "kitty",
    "wezterm",
    "contour",
    "ghostty",
    "konsole",
    "vte",
];

/// The beginnings of the names of terminals that show a frame at once (mode 2026), follow links (OSC 8), change the shape
/// of the cursor and know all encodings of mouse reports. The manuals of each say so.
const MODERN: [&str; 7] = [
    "xterm-kitty",
    "xterm-ghostty",
    "alacritty",
    "foot",
    "wezterm",
    "contour",
    "ghostty",
];

/// The use of the terminal's second screen, which lets the first come back at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alternate {
    /// It is used if there is one.
    Used,
    /// It is never used.
    Unused,
}

/// The beginnings of the names of terminals with 256 colours of which some releases, such as GNU screen 4, take a colour
/// of 24 bits for something else.
const WITHOUT_TRUE_COLOR: [&str; 2] = ["screen", "rxvt"];

/// The wishes of the user for the terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TerminalWishes {
    /// The use of its second screen.
    pub(crate) alternate: Alternate,
    /// The use of 24-bit colours.
    pub(crate) true_color: TrueColor,
    /// True if it may be asked what it can do.
    pub(crate) probe: bool,
    /// The events that it is told.
    pub(crate) events: EventWishes,
}

/// The capabilities in terminfo, as far as they matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Capabilities {
    colors: i32,
    /// Direct colour, an extension of terminfo.
    rgb: bool,
    erase_characters: bool,
    back_color_erase: bool,
    attributes: Attributes,
    underline_styles: bool,
    cursor_shape: bool,
    palette: bool,
    clipboard: bool,
    synchronized_output: bool,
    enter: Vec<u8>,
    exit: Vec<u8>,
}

/// Returns what is known of the terminal of that type; `None` if the type is not in terminfo.
pub(crate) fn outer_terminal(
    term: &str,
    environment: &Environment,
    wishes: TerminalWishes,
) -> Option<OuterTerminal> {
    let capabilities = Capabilities::of(&TermInfo::from_name(term).ok()?);
    Some(capabilities.outer_terminal(term, environment, wishes))
}

/// Returns how many colours terminfo gives to a type of terminal, -1 for none; `None` if the type
/// is unknown.
pub(crate) fn colors(term: &str) -> Option<i32> {
    Some(color_count(&TermInfo::from_name(term).ok()?))
}

fn color_count(info: &TermInfo) -> i32 {
    let count = info.number_cap(NumberCapability::MaxColors);
    count.filter(|&count| count >= 0).unwrap_or(-1)
}

impl Capabilities {
    fn of(info: &TermInfo) -> Capabilities {
        use StringCapability as Text;
        let has = |capability| info.raw_string_cap(capability).is_some();
        let has_extension = |name| info.extended_cap(name).is_some();
        let string = |capability| without_padding(info.raw_string_cap(capability).unwrap_or(b""));
        let attributes = [
            (has(Text::EnterBoldMode), Attributes::BOLD),
            (has(Text::EnterDimMode), Attributes::DIM),
            (has(Text::EnterItalicsMode), Attributes::ITALIC),
            (has(Text::EnterBlinkMode), Attributes::BLINK),
            (has(Text::EnterReverseMode), Attributes::INVERSE),
            (has(Text::EnterSecureMode), Attributes::HIDDEN),
            (has(Text::EnterUnderlineMode), Attributes::UNDERLINE),
            (has_extension("smxx"), Attributes::STRIKE),
            (has_extension("Smol"), Attributes::OVERLINE),
        ];
        Capabilities {
            colors: color_count(info),
            rgb: has_extension("RGB") || has_extension("Tc"),
            erase_characters: has(Text::EraseChars),
            back_color_erase: info.flag_cap(BoolCapability::BackColorErase),
            attributes: attributes
                .into_iter()
                .filter_map(|(has, attribute)| has.then_some(attribute))
                .collect(),
            underline_styles: has_extension("Smulx") || has_extension("Su"),
            cursor_shape: has_extension("Ss"),
            palette: has(Text::InitializeColor),
            clipboard: has_extension("Ms"),
            synchronized_output: has_extension("Sync"),
            enter: string(Text::EnterAlternativeMode),
            exit: string(Text::ExitAlternativeMode),
        }
    }

    fn outer_terminal(
        self,
        term: &str,
        environment: &Environment,
        wishes: TerminalWishes,
    ) -> OuterTerminal {
        let starts_with = |names: &[&str]| names.iter().any(|name| term.starts_with(name));
        let is_modern = starts_with(&MODERN);
        let underlines_in_styles =
            self.underline_styles || names_itself(term, environment, VTE_WITH_UNDERLINES);
        let vocabulary = Vocabulary {
            colors: self.palette(term, environment, wishes.true_color),
            attributes: if underlines_in_styles {
                self.attributes | Attributes::OVERLINE
            } else {
                self.attributes
            },
            underline_styles: underlines_in_styles,
            links: is_modern || names_itself(term, environment, VTE_WITH_LINKS),
            titles: starts_with(&WITH_TITLES),
            clipboard: self.clipboard || starts_with(&WITH_TITLES),
            // Debian's description of kitty does not tell.
            cursor_shape: self.cursor_shape || is_modern,
            // Of that it is asked.
            keyboard: false,
            palette: self.palette && starts_with(&WITH_TITLES) && !is_screen(term, environment),
            mouse_encodings: if is_modern {
                MouseEncodings::All
            } else {
                MouseEncodings::Stock
            },
            erase_characters: self.erase_characters,
            back_color_erase: self.back_color_erase,
            ..Vocabulary::FULL
        };
        let events = EventWishes {
            selections: wishes.events.selections && vocabulary.clipboard,
            ..wishes.events
        };
        let (enter, exit) = match wishes.alternate {
            Alternate::Used => (self.enter, self.exit),
            Alternate::Unused => Default::default(),
        };
        OuterTerminal {
            vocabulary,
            enter,
            exit,
            synchronized_output: is_modern || self.synchronized_output,
            resets_clusters: false,
            is_asked: wishes.probe && may_be_asked(term, environment),
            keeps_colors: wishes.true_color != TrueColor::Auto,
            reflows: true,
            events,
        }
    }

    fn palette(&self, term: &str, environment: &Environment, true_color: TrueColor) -> Colors {
        let has_true_color = match true_color {
            TrueColor::Auto => self.has_true_color(term, environment),
            TrueColor::Always => true,
            TrueColor::Never => false,
        };
        match self.colors {
            _ if has_true_color => Colors::Rgb,
            256.. => Colors::Palette,
            16.. => Colors::Sixteen,
            8.. => Colors::Eight,
            _ => Colors::None,
        }
    }

    /// Goes by terminfo, and by the variable by which terminals tell of 24 bits. Without either it goes by the number
    /// of colours: the variable is lost on the way through ssh, and nearly all terminals with 256 colours have all of
    /// them, or take the nearest.
    fn has_true_color(&self, term: &str, environment: &Environment) -> bool {
        let has = |name| environment.get(name).is_some();
        let is = |names: &[&str]| names.iter().any(|name| term.starts_with(name));
        let says_so = matches!(
            environment.get_text("COLORTERM"),
            Some("truecolor" | "24bit")
        );
        // It hands the variable of its own terminal on and takes 256 colours.
        let is_screen = is_screen(term, environment);
        let is_apple = environment.get_text("TERM_PROGRAM") == Some("Apple_Terminal");
        let may_lack_it = is_apple || is(&WITHOUT_TRUE_COLOR) && !has("TMUX");
        self.rgb || says_so && !is_screen || self.colors >= 256 && !may_lack_it
    }
}

/// The first version of the widget of GNOME's terminal with links: 0.50.
const VTE_WITH_LINKS: u32 = 5000;

/// The first version of the widget of GNOME's terminal with overlines and with underlines in styles and colours: 0.52.
const VTE_WITH_UNDERLINES: u32 = 5200;

/// Tells by the variables that a terminal sets for the programs in it whether it is one with links and with underlines
/// in styles and colours, and not older than that version of GNOME's widget. Multiplexers hand the variables on, so they count only
/// where the type is the terminal's own.
fn names_itself(term: &str, environment: &Environment, vte_since: u32) -> bool {
    if term.starts_with("screen") || term.starts_with("tmux") {
        return false;
    }
    let vte = environment.get_text("VTE_VERSION").unwrap_or_default();
    let program = environment.get_text("TERM_PROGRAM").unwrap_or_default();
    vte.parse().is_ok_and(|version: u32| version >= vte_since)
        || ["iTerm.app", "WezTerm", "vscode", "ghostty"].contains(&program)
}

/// Tells if a terminal takes questions that it does not know for what they are. The consoles of systems and dumb terminals
/// show parts of them, and GNU screen hands strings on to the terminal that it is in.
fn may_be_asked(term: &str, environment: &Environment) -> bool {
    let is_known = WITH_TITLES.iter().any(|name| term.starts_with(name));
    let is_apple = environment.get_text("TERM_PROGRAM") == Some("Apple_Terminal");
    is_known && !is_screen(term, environment) && !is_apple
}

/// Tells if a terminal is GNU screen, whose name tmux has, too.
fn is_screen(term: &str, environment: &Environment) -> bool {
    term.starts_with("screen") && environment.get("TMUX").is_none()
}

/// Removes marks such as `$<5/>`, by which terminfo asks for pauses that no terminal needs today.
fn without_padding(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let mark = rest
            .strip_prefix(b"$<")
            .and_then(|mark| Some(mark.split_at(mark.iter().position(|&byte| byte == b'>')?)));
        match mark {
            Some((_, end)) => rest = end.get(1..).unwrap_or_default(),
            None => {
                plain.push(byte);
                rest = after;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn xterm() -> Capabilities {
        Capabilities {
            colors: 256,
            erase_characters: true,
            back_color_erase: true,
            attributes: Attributes::BOLD | Attributes::DIM,
            enter: b"\x1b[?1049h".to_vec(),
            exit: b"\x1b[?1049l".to_vec(),
            ..Capabilities::default()
        }
    }

    const WISHES: TerminalWishes = TerminalWishes {
        alternate: Alternate::Used,
        true_color: TrueColor::Auto,
        probe: true,
        events: EventWishes {
            notifications: None,
            progress: true,
            directory: false,
            commands: false,
            selections: true,
        },
    };

    fn known_as(term: &str, variables: &[(&str, &str)]) -> OuterTerminal {
        let environment = variables.iter().copied().collect();
        xterm().outer_terminal(term, &environment, WISHES)
    }

    #[test]
    fn terminfo_decides_what_is_used() {
        let outer = known_as("xterm-256color", &[]);
        let wanted = Vocabulary {
            attributes: Attributes::BOLD | Attributes::DIM,
            underline_styles: false,
            links: false,
            cursor_shape: false,
            palette: false,
            keyboard: false,
            mouse_encodings: MouseEncodings::Stock,
            ..Vocabulary::FULL
        };
        assert_eq!(outer.vocabulary, wanted);
        assert_eq!(outer.enter, b"\x1b[?1049h");
        assert!(!outer.synchronized_output);
        assert!(!known_as("linux", &[]).vocabulary.titles);
        assert!(known_as("xterm-kitty", &[]).vocabulary.cursor_shape);
    }

    #[test]
    fn terminals_that_name_themselves_show_more_than_their_type_has() {
        let shows = |term: &str, name: &str, value: &str| {
            let vocabulary = known_as(term, &[(name, value)]).vocabulary;
            let has_overline = vocabulary.attributes.contains(Attributes::OVERLINE);
            assert_eq!(has_overline, vocabulary.underline_styles);
            (vocabulary.links, vocabulary.underline_styles)
        };
        for program in ["iTerm.app", "WezTerm", "vscode", "ghostty"] {
            let shown = shows("xterm-256color", "TERM_PROGRAM", program);
            assert_eq!(shown, (true, true), "{program}");
            let shown = shows("tmux-256color", "TERM_PROGRAM", program);
            assert_eq!(shown, (false, false), "{program} around tmux");
        }
        let unknown = shows("xterm-256color", "TERM_PROGRAM", "Apple_Terminal");
        assert_eq!(unknown, (false, false));
        for (version, shown) in [
            ("4999", (false, false)),
            ("5000", (true, false)),
            ("5200", (true, true)),
        ] {
            assert_eq!(shows("xterm-256color", "VTE_VERSION", version), shown);
        }
    }

    #[test]
    fn colours_follow_terminfo_and_what_terminals_say_of_themselves() {
        let colors = |count: i32, term: &str, variables: &[(&str, &str)]| {
            let capabilities = Capabilities {
                colors: count,
                ..xterm()
            };
            let environment = variables.iter().copied().collect();
            capabilities.palette(term, &environment, TrueColor::Auto)
        };
        assert_eq!(colors(-1, "vt100", &[]), Colors::None);
        assert_eq!(colors(8, "linux", &[]), Colors::Eight);
        assert_eq!(colors(16, "x", &[]), Colors::Sixteen);
        let truecolor = ("COLORTERM", "truecolor");
        assert_eq!(colors(8, "xterm", &[]), Colors::Eight);
        assert_eq!(colors(8, "xterm", &[truecolor]), Colors::Rgb);
        assert_eq!(colors(256, "screen", &[truecolor]), Colors::Palette);
        let tmux = ("TMUX", "/tmp/x");
        assert_eq!(colors(256, "screen", &[truecolor, tmux]), Colors::Rgb);
    }

    #[test]
    fn a_terminal_with_256_colours_has_more_unless_it_may_lack_them() {
        let colors = |term: &str, variables: &[(&str, &str)]| {
            xterm().palette(term, &variables.iter().copied().collect(), TrueColor::Auto)
        };
        for term in ["xterm-256color", "tmux-256color", "alacritty"] {
            assert_eq!(colors(term, &[]), Colors::Rgb, "{term}");
        }
        for term in ["screen-256color", "rxvt-unicode-256color"] {
            assert_eq!(colors(term, &[]), Colors::Palette, "{term}");
        }
        assert_eq!(
            colors("screen-256color", &[("TMUX", "/tmp/x")]),
            Colors::Rgb
        );
        let apple = ("TERM_PROGRAM", "Apple_Terminal");
        assert_eq!(colors("xterm-256color", &[apple]), Colors::Palette);
    }

    #[test]
    fn the_user_knows_better_which_colours_there_are() {
        let colors = |term: &str, wish| xterm().palette(term, &Environment::default(), wish);
        assert_eq!(colors("screen-256color", TrueColor::Always), Colors::Rgb);
        assert_eq!(colors("xterm-256color", TrueColor::Never), Colors::Palette);
    }

    #[test]
    fn only_terminals_that_know_questions_are_asked() {
        let asked = |term, variables| known_as(term, variables).is_asked;
        for term in ["xterm", "xterm-256color", "tmux-256color", "foot", "rxvt"] {
            assert!(asked(term, &[]), "{term}");
        }
        for term in ["linux", "dumb", "vt100", "screen", "screen-256color"] {
            assert!(!asked(term, &[]), "{term}");
        }
        assert!(asked("screen-256color", &[("TMUX", "/tmp/x")]));
        assert!(!asked("xterm", &[("TERM_PROGRAM", "Apple_Terminal")]));
        let wishes = TerminalWishes {
            probe: false,
            ..WISHES
        };
        let outer = xterm().outer_terminal("xterm", &Environment::default(), wishes);
        assert!(!outer.is_asked);
    }

    #[test]
    fn links_go_to_terminals_that_follow_them() {
        let links = |term, variables| known_as(term, variables).vocabulary.links;
        assert!(!links("xterm-256color", &[]));
        assert!(links("foot", &[]));
        assert!(links("xterm-256color", &[("VTE_VERSION", "7006")]));
        assert!(!links("xterm-256color", &[("VTE_VERSION", "4800")]));
        assert!(!links("tmux-256color", &[("VTE_VERSION", "7006")]));
    }

    #[test]
    fn the_second_screen_can_be_declined() {
        let wishes = TerminalWishes {
            alternate: Alternate::Unused,
            ..WISHES
        };
        let outer = xterm().outer_terminal("xterm", &Environment::default(), wishes);
        assert!(outer.enter.is_empty() && outer.exit.is_empty());
    }

    #[test]
    fn pauses_are_not_sent() {
        assert_eq!(without_padding(b"\x1b[H$<5/>\x1b[J$<2*>"), b"\x1b[H\x1b[J");
        assert_eq!(without_padding(b"$<x$"), b"$<x$");
    }

    #[test]
    fn the_database_of_the_machine_is_read() {
        assert_eq!(colors("no-such-terminal"), None);
        // Every Debian has these; other systems may not.
        let Ok(info) = TermInfo::from_name("xterm-256color") else {
            return fulmar_platform::leave_out("there is no entry of xterm-256color");
        };
        let found = Capabilities::of(&info);
        assert_eq!(found.colors, 256);
        assert!(found.erase_characters && found.back_color_erase);
        assert!(found.enter.starts_with(b"\x1b[?1049h"));
        assert!(
            found
                .attributes
                .contains(Attributes::BOLD | Attributes::INVERSE)
        );
    }
}

//! The table in docs/terminal.md: every sequence that does something, and what becomes of it on the way to the user.
//!
//! What a terminal gets is not claimed but found out: the example of each row is written to our terminal, and frames of three
//! vocabularies are asked if they can tell.

mod rows;

use std::fmt::Write as _;

use fulmar_terminal::{Clustering, DefaultColors, Size, Terminal, TerminalReport, Vocabulary};

use crate::documents;
use rows::SEQUENCES;

/// A row of the table.
struct Sequence {
    /// The sequence as a manual writes it: letters, numbers and intermediates apart.
    form: &'static str,
    /// Its name in manuals, or nothing.
    name: &'static str,
    /// The manual that defines it.
    source: &'static str,
    /// Its effect in a few words.
    what: &'static str,
    /// Bytes that lead to where the example does something.
    before: &'static str,
    example: &'static str,
}

/// The screen before an example: something in each place that one of them looks at.
const STAGE: &str = "\x1b[1;1Habcdef\x1b[3;9Hghijkl\x1b[7;1Hmno\x1b[3;12H";

/// Somebody who sees the screen.
#[derive(Clone, Copy)]
enum Viewer {
    /// A terminal that has everything, in a session whose ends are both Fulmar.
    Native,
    /// Any terminal, in a session whose client is stock.
    Legacy,
    /// A terminal of which nothing is known but text and eight colours, in a session whose ends are both Fulmar.
    Poor,
}

impl Viewer {
    fn vocabulary(self) -> Vocabulary {
        match self {
            Viewer::Native => Vocabulary {
                clusters: true,
                ..Vocabulary::FULL
            },
            Viewer::Legacy => Vocabulary::STOCK,
            Viewer::Poor => Vocabulary::PLAIN,
        }
    }

    /// The terminal at the server, with what it knows of the user's.
    fn terminal(self) -> Terminal {
        let mut terminal = Terminal::new(Size::default());
        if let Viewer::Native = self {
            let level = Some([0, 0, 0]);
            terminal.set_report(TerminalReport {
                colors: DefaultColors {
                    text: level,
                    background: level,
                    cursor: level,
                },
                clustering: Clustering::Switchable,
                keyboard: true,
                crops: false,
                checksums: true,
            });
        }
        terminal.process(STAGE.as_bytes());
        terminal
    }
}

/// The fate of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Answered,
    /// It is seen as it is meant.
    Seen,
    /// Something is seen, but not all of it.
    SeenInPart,
    /// It changes the terminal at the server, of which nothing is seen yet.
    Kept,
    Nothing,
}

impl Fate {
    fn of(sequence: &Sequence, viewer: Viewer) -> Fate {
        let mut terminal = viewer.terminal();
        terminal.process(sequence.before.as_bytes());
        terminal.take_replies();
        let before = terminal.screen().clone();
        terminal.process(sequence.example.as_bytes());
        let (after, vocabulary) = (terminal.screen(), viewer.vocabulary());
        if !terminal.clone().take_replies().is_empty() {
            return Fate::Answered;
        }
        let full = Viewer::Native.vocabulary();
        if before.is_same(after, &vocabulary) {
            let is_kept = before != *after && before.is_same(after, &full);
            return if is_kept { Fate::Kept } else { Fate::Nothing };
        }
        let (seen, meant) = (after.projected(&vocabulary), after.projected(&full));
        if seen.is_same(&meant, &full) {
            Fate::Seen
        } else {
            Fate::SeenInPart
        }
    }

    fn word(self) -> &'static str {
        match self {
            Fate::Answered => "answer",
            Fate::Seen => "yes",
            Fate::SeenInPart => "in part",
            Fate::Kept => "kept",
            Fate::Nothing => "no",
        }
    }
}

#[test]
fn the_sequences_in_the_document_are_those_of_the_table() {
    let mut table = "| sequence | name | what | source | native | legacy | poor |\n\
                     |---|---|---|---|---|---|---|\n"
        .to_owned();
    for sequence in SEQUENCES {
        let (name, source, what) = (sequence.name, sequence.source, sequence.what);
        let form = sequence.form.replace('|', "\\|");
        let [native, legacy, poor] = [Viewer::Native, Viewer::Legacy, Viewer::Poor]
            .map(|viewer| Fate::of(sequence, viewer).word());
        writeln!(
            table,
            "| `` {form} `` | {name} | {what} | {source} | {native} | {legacy} | {poor} |"
        )
        .expect("memory takes it");
    }
    documents::expect_part("docs/terminal.md", "sequences", &table);
}

#[test]
fn each_sequence_of_the_table_does_something() {
    for sequence in SEQUENCES {
        let fate = Fate::of(sequence, Viewer::Native);
        assert_ne!(fate, Fate::Nothing, "{}", sequence.form);
    }
}

/// Tells if the terminal does anything at all when it reads `bytes` ahead of `text`, in one of some states.
fn does_something(bytes: &str, text: &str) -> bool {
    let states = [
        "",
        "\x1b[?69h",
        "\x1b7\x1b[?1049h\x1b[H\x1b[4h\x1b[31;4m\x1b[5;6r\x1b[?25;7l\x1b[?1007l",
        "\x1b]2;a\x07\x1b[22t\x1b]2;b\x07\x1b]4;1;#f00\x07\x1b]10;#f00;#f00;#f00\x07x",
    ];
    states.iter().any(|state| {
        let [with, without] = [bytes, ""].map(|bytes| {
            let mut terminal = Viewer::Native.terminal();
            terminal.process(format!("{state}{bytes}{text}").as_bytes());
            (terminal.screen().clone(), terminal.take_replies())
        });
        with != without
    })
}

/// Tells if there is a row with each of these words in its form; empty ones are in all.
fn has_row(words: &[&str]) -> bool {
    SEQUENCES.iter().any(|sequence| {
        let own: Vec<&str> = sequence.form.split([' ', ',', ';']).collect();
        let is_there = |word: &&str| word.is_empty() || own.contains(word);
        words.iter().all(is_there)
    })
}

#[test]
fn each_control_sequence_that_does_something_is_in_the_table() {
    let values = [
        "",
        "1",
        "2",
        "5",
        "6",
        "23",
        "62",
        "1;1;5;9;1;7;20;1",
        "88;1;1;5;9",
    ];
    let intermediates = (' '..='/').map(String::from).chain([String::new()]);
    for intermediate in intermediates {
        let word = if intermediate == " " {
            "SP"
        } else {
            &intermediate
        };
        for (marker, last) in ["", "?", ">", "<", "="]
            .into_iter()
            .flat_map(|marker| ('@'..='~').map(move |last| (marker, last.to_string())))
        {
            // Modes and what is asked of windows have rows for their numbers.
            if has_row(&["CSI", marker, word, &last]) || "hl".contains(&last) {
                continue;
            }
            for values in values {
                let bytes = format!("\x1b[{marker}{values}{intermediate}{last}");
                assert!(!does_something(&bytes, ""), "{bytes:?}");
            }
        }
    }
}

#[test]
fn each_number_that_does_something_is_in_the_table() {
    for number in (0..120).chain(1000..1070).chain(2000..2050) {
        let word = number.to_string();
        for marker in ["", "?"] {
            let has_either = ["h", "l"].map(|last| has_row(&["CSI", marker, &word, last]));
            for last in ["h", "l"].iter().filter(|_| !has_either.contains(&true)) {
                let bytes = format!("\x1b[{marker}{number}{last}");
                assert!(!does_something(&bytes, ""), "{bytes:?}");
            }
        }
        if !has_row(&["CSI", &word, "t"]) {
            assert!(!does_something(&format!("\x1b[{number}t"), ""), "{number}");
        }
        let values = [
            "",
            ";x",
            ";?",
            ";1;#f00",
            ";#f00",
            ";1;?",
            ";;http://x",
            ";c;aGk=",
        ];
        for value in values.iter().filter(|_| !has_row(&["OSC", &word])) {
            let bytes = format!("\x1b]{number}{value}\x07");
            assert!(!does_something(&bytes, "y"), "{bytes:?}");
        }
    }
}

#[test]
fn each_escape_that_does_something_is_in_the_table() {
    for last in ('0'..='~').filter(|last| !"[]PX^_".contains(*last)) {
        let bytes = format!("\x1b{last}");
        let is_known = has_row(&["ESC", &last.to_string()]);
        assert!(is_known || !does_something(&bytes, "qZ"), "{bytes:?}");
    }
}

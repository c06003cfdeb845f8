//! The drawing of a film.

use std::time::Duration;

use super::asciicast::Asciicast;
use super::colour::{GROUND, TEXT, hex};
use super::screen::{Run, Screen};
use super::strip::Strip;
use crate::judge::CellPosition;
use crate::markup::{Element, element};
use crate::trace::Size;

const STYLE: &str = concat!(
    include_str!("../report/colours.css"),
    include_str!("drawing.css")
);

/// The width and height of a cell, and the height of its text above the line. Most fonts of one width
/// are 0.6 of their size wide; text is stretched to fit where one is not.
const CELL: (f64, f64) = (8.4, 18.0);
const BASELINE: f64 = 13.5;

/// Spaces of the drawing. All are chosen by eye.
const MARGIN: f64 = 16.0;
const PADDING: f64 = 10.0;
const TITLE: f64 = 34.0;
const NAME: f64 = 26.0;
const FOOT: f64 = 40.0;
const BAR: f64 = 4.0;

/// The time for which the end is shown before the film begins again. Chosen by eye.
const HOLD: Duration = Duration::from_secs(2);

/// Sessions that are shown at the same time.
#[derive(Clone, Debug)]
pub struct Film {
    /// The line above the sessions.
    pub title: String,
    /// The sessions, from left to right.
    pub casts: Vec<Asciicast>,
    /// The events that all of them go through, in order of time.
    pub notes: Vec<Note>,
}

/// Something that happens at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The time from the beginning of the casts.
    pub at: Duration,
    /// A few words about it.
    pub text: String,
}

/// A terminal, with everything that its cells show one after the other.
struct Terminal {
    size: Size,
    rows: Vec<Strip<Vec<Run>>>,
    cursor: Strip<Option<CellPosition>>,
}

/// The moving parts of the drawing, and the rules of the stylesheet that move them.
struct Motion {
    length: Duration,
    rules: String,
    count: usize,
}

impl Film {
    /// Returns the film as an SVG, which repeats for ever.
    pub fn svg(&self) -> String {
        let mut motion = Motion {
            length: self.length(),
            rules: String::new(),
            count: 0,
        };
        let mut left = MARGIN;
        let mut panels = Vec::new();
        for cast in &self.casts {
            let terminal = Terminal::of(cast);
            let name = text("name", left, TITLE + NAME - 8.0, &cast.title);
            panels.push(name);
            panels.push(terminal.draw(left, TITLE + NAME, &mut motion));
            left += terminal.width() + MARGIN;
        }
        let heights = self.casts.iter().map(|cast| Terminal::height_of(cast.size));
        let bottom = TITLE + NAME + heights.fold(0.0, f64::max);
        let drawing = element("svg")
            .set("xmlns", "http://www.w3.org/2000/svg")
            .set("viewBox", format!("0 0 {left:.0} {:.0}", bottom + FOOT))
            .set("width", format!("{left:.0}"))
            .set("role", "img")
            .with(element("title").text(&self.title))
            .with(element("style").own(STYLE).own(motion.stylesheet()))
            .with(rect("page", 0.0, 0.0, left, bottom + FOOT).set("rx", 6))
            .with(text("title", MARGIN, 26.0, &self.title))
            .all(panels)
            .all(self.time_line(bottom + 10.0, left - 2.0 * MARGIN));
        format!("{drawing}\n")
    }

    fn length(&self) -> Duration {
        let outputs = self.casts.iter().flat_map(|cast| cast.output.last());
        let notes = self.notes.iter().map(|note| note.at);
        let end = outputs.map(|(at, _)| *at).chain(notes).max();
        end.unwrap_or_default() + HOLD
    }

    /// Returns the bar that grows with the time, and what happens under it.
    fn time_line(&self, y: f64, width: f64) -> Vec<Element> {
        let mut parts = vec![
            rect("line", MARGIN, y, width, BAR),
            rect("time", MARGIN, y, width, BAR),
        ];
        for note in &self.notes {
            let x = MARGIN + width * note.at.as_secs_f64() / self.length().as_secs_f64();
            parts.push(rect("mark", x, y - 3.0, 2.0, BAR + 6.0));
            parts.push(text("note", x, y + 24.0, &note.text).set("text-anchor", "middle"));
        }
        parts
    }
}

impl Terminal {
    fn of(cast: &Asciicast) -> Self {
        let mut screen = Screen::new(cast.size);
        let rows = (0..cast.size.rows).map(|row| Strip::new(screen.row(row)));
        let mut terminal = Self {
            size: cast.size,
            rows: rows.collect(),
            cursor: Strip::new(screen.cursor()),
        };
        for (at, output) in &cast.output {
            screen.show(output);
            for (number, row) in (0..).zip(&mut terminal.rows) {
                row.show(*at, screen.row(number));
            }
            terminal.cursor.show(*at, screen.cursor());
        }
        terminal
    }

    fn width(&self) -> f64 {
        f64::from(self.size.columns) * CELL.0 + 2.0 * PADDING
    }

    fn height_of(size: Size) -> f64 {
        f64::from(size.rows) * CELL.1 + 2.0 * PADDING
    }

    /// Returns the terminal at this place, which cuts off what is not to be seen yet.
    fn draw(&self, x: f64, y: f64, motion: &mut Motion) -> Element {
        let (width, height) = (self.width(), Self::height_of(self.size));
        let ground = rect("ground", 0.0, 0.0, width, height).set("fill", hex(GROUND));
        let rows = (0..).zip(&self.rows);
        let rows: Vec<Element> = rows
            .filter(|(_, row)| row.moves() || !row.looks().iter().all(Vec::is_empty))
            .map(|(number, row)| draw_row(number, row, width, motion))
            .collect();
        element("svg")
            .set("x", number(x))
            .set("y", number(y))
            .set("width", number(width))
            .set("height", number(height))
            .with(ground.set("rx", 5))
            .all(rows)
            .with(self.draw_cursor(motion))
    }

    fn draw_cursor(&self, motion: &mut Motion) -> Element {
        let block = rect("cursor", PADDING, PADDING, CELL.0, CELL.1);
        let block = block.set("fill", hex(TEXT)).set("fill-opacity", 0.6);
        motion.moving(block, &self.cursor, |place| match place {
            Some(CellPosition { row, column }) => {
                (f64::from(*column) * CELL.0, f64::from(*row) * CELL.1)
            }
            None => (0.0, -2.0 * CELL.1 - PADDING),
        })
    }
}

/// Returns all looks of a row beside each other; which one is to be seen is a matter of how far it is moved.
fn draw_row(number: u16, row: &Strip<Vec<Run>>, width: f64, motion: &mut Motion) -> Element {
    let y = PADDING + f64::from(number) * CELL.1;
    let looks = (0..).zip(row.looks());
    let runs = looks.flat_map(|(look, runs)| {
        let left = f64::from(look) * width + PADDING;
        runs.iter().flat_map(move |run| draw_run(run, left, y))
    });
    let all = element("g").all(runs);
    let places: Vec<f64> = (0..row.looks().len())
        .map(|look| -(look as f64) * width)
        .collect();
    motion.moving_to(all, row, |look| (places[look], 0.0))
}

fn draw_run(run: &Run, left: f64, y: f64) -> Vec<Element> {
    let (x, width) = (
        left + f64::from(run.column) * CELL.0,
        f64::from(run.width) * CELL.0,
    );
    let colour = |[r, g, b]: [u8; 3]| format!("#{r:02x}{g:02x}{b:02x}");
    let mut parts = Vec::new();
    if run.style.has_ground() {
        parts.push(rect("back", x, y, width, CELL.1).set("fill", colour(run.style.ground)));
    }
    if run.style.is_underlined || !run.text.trim().is_empty() {
        let bold = if run.style.is_bold { "bold" } else { "" };
        let underlined = if run.style.is_underlined {
            "underlined"
        } else {
            ""
        };
        parts.push(
            text("cell", x, y + BASELINE, &run.text)
                .class(bold)
                .class(underlined)
                .set("textLength", number(width))
                .set("fill", colour(run.style.text)),
        );
    }
    parts
}

impl Motion {
    /// Moves a part of the drawing from look to look, and leaves it at the last one where nothing moves.
    fn moving_to<Look: PartialEq>(
        &mut self,
        part: Element,
        strip: &Strip<Look>,
        place: impl Fn(usize) -> (f64, f64),
    ) -> Element {
        let (x, y) = place(strip.last());
        let part = part.set(
            "transform",
            format!("translate({},{})", number(x), number(y)),
        );
        if !strip.moves() {
            return part;
        }
        let name = format!("m{}", self.count);
        self.count += 1;
        self.rules += &strip.keyframes(&name, self.length, |look| {
            let (x, y) = place(look);
            format!("translate({}px,{}px)", number(x), number(y))
        });
        part.class("moves")
            .set("style", format!("animation-name:{name}"))
    }

    fn moving<Look: PartialEq>(
        &mut self,
        part: Element,
        strip: &Strip<Look>,
        place: impl Fn(&Look) -> (f64, f64),
    ) -> Element {
        self.moving_to(part, strip, |look| place(&strip.looks()[look]))
    }

    fn stylesheet(self) -> String {
        let seconds = self.length.as_secs_f64();
        format!(
            ".moves{{animation:{seconds:.2}s step-end infinite}}\n\
             .time{{animation:time {seconds:.2}s linear infinite}}\n\
             @keyframes time{{from{{transform:scaleX(0)}}}}\n{}",
            self.rules
        )
    }
}

fn rect(class: &str, x: f64, y: f64, width: f64, height: f64) -> Element {
    element("rect")
        .class(class)
        .set("x", number(x))
        .set("y", number(y))
        .set("width", number(width))
        .set("height", number(height))
}

fn text(class: &str, x: f64, y: f64, text: &str) -> Element {
    element("text")
        .class(class)
        .set("x", number(x))
        .set("y", number(y))
        .text(text)
}

/// Returns a number with as many digits as a drawing needs.
fn number(number: f64) -> String {
    let digits = format!("{number:.1}");
    let short = digits.strip_suffix(".0").unwrap_or(&digits);
    if short == "-0" { "0" } else { short }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast(title: &str, output: &[(u64, &str)]) -> Asciicast {
        let output = output.iter();
        Asciicast {
            title: title.to_owned(),
            size: Size {
                columns: 10,
                rows: 2,
            },
            output: output
                .map(|(at, text)| (Duration::from_millis(*at), (*text).to_owned()))
                .collect(),
        }
    }

    fn film(casts: Vec<Asciicast>) -> Film {
        Film {
            title: "A <test>".to_owned(),
            casts,
            notes: Vec::new(),
        }
    }

    #[test]
    fn each_look_of_a_row_is_drawn_once_and_moved_to_when_it_is_shown() {
        let svg = film(vec![cast("ssh", &[(0, "$ "), (1000, "l"), (3000, "s")])]).svg();
        for look in [">$<", ">$ l<", ">$ ls<"] {
            assert_eq!(svg.matches(look).count(), 1, "{look} in {svg}");
        }
        // Five seconds with the end that is held; the blank row at the start is replaced at once.
        let keyframes = "0.00%{transform:translate(-104px,0px)}20.00%{transform:translate(-208px,0px)}\
            60.00%{transform:translate(-312px,0px)}";
        assert!(svg.contains(keyframes), "{svg}");
        assert!(svg.contains("animation:5.00s step-end infinite"), "{svg}");
    }

    #[test]
    fn without_motion_it_shows_the_end() {
        let svg = film(vec![cast("ssh", &[(500, "a")])]).svg();
        assert!(
            svg.contains("<g transform=\"translate(-104,0)\" class=\"moves\""),
            "{svg}"
        );
        assert!(svg.contains("prefers-reduced-motion"));
    }

    #[test]
    fn sessions_are_beside_each_other_and_run_at_the_same_time() {
        let casts = vec![cast("ssh", &[(0, "a")]), cast("fulmar", &[(2000, "b")])];
        let svg = film(casts).svg();
        assert_eq!(svg.matches("animation:4.00s step-end").count(), 1);
        assert!(
            svg.contains("<svg x=\"16\"") && svg.contains("<svg x=\"136\""),
            "{svg}"
        );
        assert!(svg.contains("A &lt;test&gt;") && !svg.contains("<script"));
    }

    #[test]
    fn a_note_is_where_its_time_is() {
        let mut film = film(vec![cast("ssh", &[(2000, "a")])]);
        film.notes.push(Note {
            at: Duration::from_secs(1),
            text: "something happens".to_owned(),
        });
        let svg = film.svg();
        // A quarter of a line of 104 that begins at 16.
        assert!(svg.contains("class=\"mark\" x=\"42\""), "{svg}");
        assert!(svg.contains(">something happens</text>"));
    }

    #[test]
    fn numbers_have_no_needless_digits() {
        assert_eq!(
            [8.4, 16.0, -0.01, 2.345].map(number),
            ["8.4", "16", "0", "2.3"]
        );
    }
}

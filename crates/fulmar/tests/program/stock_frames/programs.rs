//! Random programs: what they write, step by step.

use std::ops::Range;

use fulmar_sim::Random;

/// Characters on whose width terminals and C libraries differ, today or not long ago, and one that the
/// judge does not know.
///
/// | columns here | of glibc 2.36 | |
/// |---|---|---|
/// | 2 | 2 | emoji, watch, skin tone, number in a square, filler and tone mark of Hangul |
/// | 1 | 1 | private use, soft hyphen, vowel signs of Bengali and Kannada, U+FFFD |
/// | 0 | 0 | joiner, variation selector, joiner of Tifinagh, interlinear annotation |
/// | 2 | 1 | trigram, sign of the Tai Xuan Jing |
/// | 2 | dropped | an emoji of 2022 |
/// | 1 | dropped | unassigned |
pub(crate) const DISPUTED: [char; 21] = [
    '\u{1f469}',
    '\u{1f44d}',
    '\u{231a}',
    '\u{1f3fd}',
    '\u{3248}',
    '\u{3164}',
    '\u{302e}',
    '\u{e0b0}',
    '\u{ad}',
    '\u{9be}',
    '\u{cca}',
    '\u{fffd}',
    '\u{200d}',
    '\u{fe0f}',
    '\u{2d7f}',
    '\u{fff9}',
    '\u{2630}',
    '\u{1d306}',
    '\u{1fae8}',
    '\u{0530}',
    '\u{0378}',
];

/// The texts in which the disputed characters come.
const DISPUTED_TEXTS: [&str; 22] = [
    "\u{1f469}",
    "\u{1f44d}\u{1f3fd}",
    "\u{231a}",
    "\u{231a}\u{fe0f}",
    "\u{1f469}\u{200d}\u{1f469}",
    "\u{3248}",
    "\u{3164}",
    "e\u{302e}",
    "\u{e0b0}",
    "\u{ad}",
    "\u{995}\u{9be}",
    "\u{cca}",
    "\u{fffd}",
    "e\u{2d7f}",
    "\u{fff9}",
    "\u{2630}",
    "\u{2630}\u{2630}",
    "\u{1d306}",
    "\u{1fae8}",
    "\u{1fae8}\u{1fae8}x",
    "\u{0530}",
    "\u{0378}",
];

/// Wide characters, marks and lines that are the same everywhere.
const AGREED_TEXTS: [&str; 16] = [
    "你",
    "好你好你好",
    "한",
    "ａ",
    "é",
    "e\u{301}",
    "你\u{301}",
    "e\u{301}\u{302}\u{303}",
    "\u{301}",
    "\u{a0}\u{300}",
    "─│┌",
    "Жж",
    "שָׁל",
    "مَر",
    "ก็น้ำ",
    "❯✓",
];

const CONTROLS: [&str; 9] = [
    "\r\n", "\r\n", "\r", "\n", "\x08", "\t", "\x07", "\x1bM", "\x1bD",
];

const RENDITIONS: [&str; 32] = [
    "0",
    "0",
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "7",
    "8",
    "9",
    "53",
    "22",
    "24",
    "25",
    "27",
    "28",
    "31",
    "42",
    "97",
    "101",
    "38;5;3",
    "38;5;9",
    "38;5;200",
    "48;5;17",
    "48;2;1;2;3",
    "38;2;250;128;3",
    "4:3",
    "58:5:9",
    "39",
    "49",
    "1;4;7;33;44",
];

const MODES: [&str; 25] = [
    "?25l", "?25h", "?25h", "?5h", "?5l", "?7l", "?7h", "?7h", "?6h", "?6l", "?6l", "?2004h",
    "?2004l", "?1000h", "?1002h", "?1003h", "?1000l", "?1006h", "?1006l", "?1015h", "?1004h",
    "?1h", "4h", "4l", "4l",
];

const OTHERS: [&str; 20] = [
    "\x1b]0;both\x07",
    "\x1b]1;icon ☃\x07",
    "\x1b]52;c;aGk=\x07",
    "\x1b]52;c;QQ==\x07",
    "\x1b]52;c;?\x07",
    "\x1b]8;;https://example.org\x1b\\",
    "\x1b]8;;\x07",
    "\x1bc",
    "\x1b7",
    "\x1b8",
    "\x1b#8",
    "\x1b(0",
    "\x1b(B",
    "\x1b(B",
    "\x1b[!p",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[4 q",
    "\x1b[2J",
    "\x1b[H\x1b[J",
];

/// Returns the seeds to run: as many as `FULMAR_FRAME_SEEDS` says or else `usual`, or the only one
/// that `FULMAR_FRAME_SEED` says.
pub(crate) fn seeds(usual: u64) -> Range<u64> {
    let number = |name| {
        let text = std::env::var(name).ok()?;
        Some(text.parse().expect(name))
    };
    match number("FULMAR_FRAME_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("FULMAR_FRAME_SEEDS").unwrap_or(usual),
    }
}

/// Writes random programs for a screen.
pub(crate) struct Programmer {
    random: Random,
    rows: u16,
    columns: u16,
}

impl Programmer {
    pub(crate) fn new(seed: u64) -> Programmer {
        Programmer {
            random: Random::stream(seed, 0),
            rows: 24,
            columns: 80,
        }
    }

    /// Returns rows and columns for the next steps: small most of the time, so that edges are near.
    pub(crate) fn size(&mut self) -> (u16, u16) {
        (self.rows, self.columns) = match self.below(8) {
            0 => (24, 80),
            1 => (1 + self.below(3), 2 + self.below(3)),
            _ => (2 + self.below(10), 4 + self.below(28)),
        };
        (self.rows, self.columns)
    }

    /// Returns what a program writes between two looks at the screen.
    pub(crate) fn step(&mut self) -> String {
        let count = 1 + self.below(24);
        (0..count).map(|_| self.write()).collect()
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: u16) -> u16 {
        self.random.below(end.into()) as u16
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.random.below(from.len() as u64) as usize]
    }

    fn write(&mut self) -> String {
        match self.below(40) {
            0..=8 => self.text(1, 12),
            9..=10 => self.text(20, 60),
            11..=13 => self.pick(&AGREED_TEXTS).to_owned(),
            14..=15 => self.pick(&DISPUTED_TEXTS).to_owned(),
            16..=19 => self.pick(&CONTROLS).to_owned(),
            20..=22 => self.place(),
            23..=24 => self.at_the_edge(),
            25..=26 => self.over_a_wide_one(),
            27 => self.full_row(),
            28..=30 => self.edit(),
            31 => format!("\x1b[{}{}", self.below(3), self.pick(&["J", "K", "K"])),
            32..=35 => format!("\x1b[{}m", self.pick(&RENDITIONS)),
            36 => {
                let (top, bottom) = (self.row(), self.row());
                format!("\x1b[{top};{bottom}r")
            }
            37..=38 => format!("\x1b[{}", self.pick(&MODES)),
            _ => self.pick(&OTHERS).to_owned(),
        }
    }

    fn text(&mut self, from: u16, to: u16) -> String {
        let length = from + self.below(to - from + 1);
        let letters = b"abcdefghijklmnopqrstuvwxyz    ";
        (0..length)
            .map(|_| char::from(letters[usize::from(self.below(letters.len() as u16))]))
            .collect()
    }

    fn row(&mut self) -> u16 {
        let rows = self.rows;
        1 + self.below(rows)
    }

    fn column(&mut self) -> u16 {
        let columns = self.columns;
        1 + self.below(columns)
    }

    fn place(&mut self) -> String {
        format!("\x1b[{};{}H", self.row(), self.column())
    }

    /// Any text that begins in one of the last two columns.
    fn at_the_edge(&mut self) -> String {
        let column = self.columns - self.below(2).min(self.columns - 1);
        let row = self.row();
        let text = match self.below(4) {
            0 => self.pick(&DISPUTED_TEXTS),
            1 => "xy",
            _ => self.pick(&AGREED_TEXTS),
        };
        format!("\x1b[{row};{column}H{text}")
    }

    /// A wide character, then something on one of its halves.
    fn over_a_wide_one(&mut self) -> String {
        let (row, column) = (self.row(), self.column());
        let wide = self.pick(&["你", "한", "\u{1f469}", "\u{2630}"]);
        let half = column + self.below(2);
        let over = self.pick(&[
            "x", "é", "好", " ", "\x1b[X", "\x1b[K", "\x1b[1K", "\x1b[P", "\x1b[@",
        ]);
        format!("\x1b[{row};{column}H{wide}\x1b[{row};{half}H{over}")
    }

    /// Text that ends exactly with its row, and what comes after that.
    fn full_row(&mut self) -> String {
        let columns = self.columns;
        let text = self.text(columns, columns);
        let after = self.pick(&[
            "\r\n", "x", "你", "\x08y", "\x1b[K", "\r", "\x1b[mz", "\x07w",
        ]);
        format!("\r{text}{after}")
    }

    fn edit(&mut self) -> String {
        let letters = [
            "A", "B", "C", "D", "G", "d", "L", "M", "P", "@", "X", "S", "T", "b",
        ];
        format!("\x1b[{}{}", self.below(6), self.pick(&letters))
    }
}

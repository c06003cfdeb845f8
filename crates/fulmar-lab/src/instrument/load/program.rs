//! The remote end: programs that wait for a key and then do their part.
//!
//! Each shows [`READY`], waits for one key, does its part, and shows [`DONE`] or [`WRONG`] on a
//! line of its own of an empty screen. The words hold no character that the programs show
//! otherwise, so a client has no part of one where it goes, and leaves nothing out in drawing it.

use std::io::{Read as _, Write as _, stdin, stdout};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::instrument::WINDOW;
use crate::trace::Size;

/// Shown when the program waits for its key.
pub(super) const READY: &str = "#READY#";
/// Shown when the program is through.
pub(super) const DONE: &str = "#DONE#";
/// Shown when half of what a program does is done.
pub(super) const HALF: &str = "#HALF#";
/// Shown when the program is through and did not get what it should have got.
pub(super) const WRONG: &str = "#WRONG#";

/// A program that runs at the remote end. The command line of the lab starts it.
#[derive(clap::Subcommand, Debug, Clone)]
pub enum LoadProgram {
    /// Shows a file.
    Cat {
        /// The file.
        file: PathBuf,
    },
    /// Draws a table of changing numbers over the whole screen, again and again.
    Repaint {
        /// The columns of the screen.
        columns: u16,
        /// Its rows.
        rows: u16,
        /// Frames a second.
        rate: u32,
        /// The time for which it is drawn.
        seconds: u32,
    },
    /// Writes lines of `y` for three seconds.
    Yes,
    /// Writes what is much work for a terminal: so many bytes, and then for ever, until it is interrupted.
    Storm {
        /// The text that is written again and again, with `e` for ESC.
        piece: String,
        /// The number of bytes that come first; then another key is waited for.
        bytes: usize,
    },
    /// Reads so many bytes and checks each.
    Sink {
        /// The number of bytes.
        bytes: usize,
        /// The bytes that it reads a second, at most.
        #[arg(long)]
        rate: Option<usize>,
    },
    /// Reads so many bytes and checks each, and writes lines of `y` all that time.
    Exchange {
        /// The number of bytes.
        bytes: usize,
    },
}

impl LoadProgram {
    /// Returns the words that start the program, by that of the lab.
    pub(super) fn line(&self, lab: &str) -> Result<String> {
        Ok(match self {
            Self::Cat { file } => {
                let file = file.to_str().context("a path is not UTF-8")?;
                format!("{lab} load cat {file}")
            }
            Self::Repaint {
                columns,
                rows,
                rate,
                seconds,
            } => format!("{lab} load repaint {columns} {rows} {rate} {seconds}"),
            Self::Yes => format!("{lab} load yes"),
            Self::Storm { piece, bytes } => format!("{lab} load storm '{piece}' {bytes}"),
            Self::Sink { bytes, rate: None } => format!("{lab} load sink {bytes}"),
            Self::Sink {
                bytes,
                rate: Some(rate),
            } => format!("{lab} load sink {bytes} --rate {rate}"),
            Self::Exchange { bytes } => format!("{lab} load exchange {bytes}"),
        })
    }

    /// Runs the program on this process's terminal.
    ///
    /// # Errors
    ///
    /// Where there is no terminal, or it goes too early.
    pub fn play(&self) -> Result<()> {
        // Keys one by one and without echo; lines still end in a carriage return on output.
        run(Command::new("stty").args(["-icanon", "-echo", "min", "1"]))?;
        show(READY, 3)?;
        stdin()
            .read_exact(&mut [0])
            .context("waiting for the first key")?;
        let verdict = match self {
            Self::Cat { file } => run(Command::new("cat").arg(file)).map(|()| DONE)?,
            Self::Repaint {
                columns,
                rows,
                rate,
                seconds,
            } => draw_frames(
                Size {
                    columns: *columns,
                    rows: *rows,
                },
                *rate,
                *seconds,
            )
            .map(|()| DONE)?,
            Self::Yes => yes().map(|()| DONE)?,
            Self::Storm { piece, bytes } => return storm(piece, *bytes),
            Self::Sink { bytes, rate } => sink(*bytes, *rate)?,
            Self::Exchange { bytes } => exchange(*bytes)?,
        };
        show(verdict, 5)?;
        // The session ends from outside, so that its last screen can be seen.
        let _ = stdin().read(&mut [0]);
        Ok(())
    }
}

/// Shows a word on an empty screen; on the first line a client may draw its notice.
fn show(word: &str, line: u8) -> Result<()> {
    let mut out = stdout().lock();
    write!(out, "\x1b[2J\x1b[{line};1H{word}")?;
    Ok(out.flush()?)
}

fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("starting {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

fn yes() -> Result<()> {
    // It ends by the signal of `timeout`, so its status says nothing.
    Command::new("timeout")
        .args(["3", "yes"])
        .stdin(Stdio::null())
        .status()?;
    Ok(())
}

/// Becomes a shell that writes and is interrupted as a user's is: the signal ends `yes`, and the system
/// throws away what the terminal has not read.
fn storm(piece: &str, bytes: usize) -> Result<()> {
    let script = format!(
        "trap : INT; yes \"$1\" | head -c {bytes}; printf '\\033c\\033[5H{HALF}'; \
         head -c 1 > /dev/null; yes \"$1\"; printf '\\033c\\033[5H{DONE}'; read end"
    );
    let piece = piece.replace('e', "\x1b");
    let error = Command::new("sh")
        .args(["-c", &script, "sh", &piece])
        .exec();
    Err(error).context("starting sh")
}

/// Byte `index` of everything that is typed into [`LoadProgram::Sink`]: printable, and in an order
/// where a byte lost, doubled or out of place shows.
pub(super) fn typed(index: usize) -> u8 {
    let letters = b"abcdefghijklmnopqrstuvwxyz0123456789";
    // Each block of 36 starts at another letter.
    letters[(index + index / letters.len() * 7) % letters.len()]
}

/// Tells whether these bytes are what is typed from this index on.
fn is_typed(from: usize, bytes: &[u8]) -> bool {
    (from..)
        .zip(bytes)
        .all(|(index, byte)| typed(index) == *byte)
}

/// Reads `bytes` bytes, at most `rate` of them a second, and compares each with what should have been typed.
fn sink(bytes: usize, rate: Option<usize>) -> Result<&'static str> {
    let started = Instant::now();
    let mut buffer = vec![0; 65_536];
    let mut read = 0;
    let mut is_right = true;
    while read < bytes {
        let length = stdin().read(&mut buffer).context("reading what is typed")?;
        if length == 0 {
            bail!("the terminal is gone after {read} bytes");
        }
        is_right &= is_typed(read, &buffer[..length]);
        read += length;
        if let Some(rate) = rate {
            let due = started + Duration::from_secs_f64(read as f64 / rate as f64);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
    }
    Ok(if is_right && read == bytes {
        DONE
    } else {
        WRONG
    })
}

/// As [`sink`], with a thread that writes until all is read.
fn exchange(bytes: usize) -> Result<&'static str> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| -> std::io::Result<()> {
            let lines = "y\n".repeat(512);
            while !is_over.load(Ordering::Relaxed) {
                stdout().lock().write_all(lines.as_bytes())?;
            }
            Ok(())
        });
        let verdict = sink(bytes, None);
        is_over.store(true, Ordering::Relaxed);
        let written = writer.join().expect("the writer does not panic");
        written.context("writing while it reads")?;
        verdict
    })
}

fn draw_frames(size: Size, rate: u32, seconds: u32) -> Result<()> {
    let started = Instant::now();
    for frame in 0..seconds * rate {
        let due = started + Duration::from_secs(1) * frame / rate;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let mut out = stdout().lock();
        out.write_all(draw(size, frame).as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

/// One frame of a program like `top`: all of the screen is written again, a third of the rows has
/// new numbers, and now and then two rows change places. A wide screen has several tables side by side.
fn draw(size: Size, frame: u32) -> String {
    let mut screen = String::from("\x1b[H");
    screen += &format!(
        "\x1b[1mtasks 187, running {:>2}, up {frame:>6}\x1b[m\x1b[K\r\n",
        frame % 7
    );
    screen +=
        "\x1b[7m   pid user      cpu    mem     time command                               \x1b[m";
    let tables = u32::from(size.columns / WINDOW.columns);
    for row in 0..u32::from(size.rows.saturating_sub(2)) {
        screen += "\r\n";
        for table in 0..tables {
            if table > 0 {
                screen += &format!("\x1b[{}G", table * u32::from(WINDOW.columns) + 1);
            }
            screen += &table_row(row + table * 7, frame);
        }
        screen += "\x1b[K";
    }
    screen
}

/// A row of a table. Its numbers change every third frame, each row's at another one.
fn table_row(row: u32, frame: u32) -> String {
    let age = (frame + row) / 3;
    let place = if frame % 40 < 20 { row } else { row ^ 1 };
    let noise = scramble(u64::from(place) << 32 | u64::from(age));
    let colour = 31 + place % 7;
    format!(
        "\x1b[{colour}m{:>6}\x1b[m user{:<3} {:>5}.{} {:>6} {:>8} program-{place} --with arguments",
        1000 + place * 37,
        place % 5,
        noise % 100,
        noise / 100 % 10,
        noise / 1000 % 90_000,
        age * 11 + place,
    )
}

/// A number that looks random and is the same in every run (the finaliser of SplitMix64).
fn scramble(mut number: u64) -> u64 {
    number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// A text to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Lower-case letters and spaces, in lines of 72.
    Words,
    /// Lines of `y`, as `yes` writes them.
    Lines,
}

impl Text {
    /// Writes `bytes` bytes of it.
    pub(super) fn write(self, file: &Path, bytes: usize) -> Result<()> {
        let text: Vec<u8> = match self {
            Self::Words => (0..bytes).map(letter).collect(),
            Self::Lines => b"y\n".iter().copied().cycle().take(bytes).collect(),
        };
        std::fs::write(file, text).with_context(|| format!("writing {}", file.display()))
    }
}

/// Byte `index` of words.
fn letter(index: usize) -> u8 {
    let noise = scramble(index as u64);
    if index % 73 == 72 {
        b'\n'
    } else {
        b"etaoinshrdlu cmfwypvbgkqjxz  "[(noise % 29) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_doubled_or_swapped_block_shows() {
        let block = |at: usize| (at..at + 36).map(typed).collect::<Vec<_>>();
        assert_ne!(block(0), block(36));
        assert_ne!(block(0), block(1));
        assert!((0..1000).all(|index| typed(index).is_ascii_alphanumeric()));
    }

    #[test]
    fn what_is_typed_is_checked_byte_by_byte_across_reads() {
        let typed: Vec<u8> = (0..5000).map(typed).collect();
        assert!(is_typed(0, &typed[..1234]) && is_typed(1234, &typed[1234..]));
        let lost = [&typed[..700], &typed[701..]].concat();
        let doubled = [&typed[..701], &typed[700..]].concat();
        let block = [&typed[..36], &typed[72..108], &typed[36..72]].concat();
        for wrong in [lost, doubled, block] {
            assert!(!is_typed(0, &wrong));
        }
        assert!(!is_typed(1, &typed[..100]));
    }

    #[test]
    fn frames_fill_the_screen_and_differ() {
        assert_eq!(draw(WINDOW, 7).matches("\r\n").count(), 23);
        assert_ne!(draw(WINDOW, 7), draw(WINDOW, 8));
        for word in [READY, DONE, WRONG] {
            assert!(
                !draw(WINDOW, 7).contains(&word[..1]),
                "{word} could be on the screen already"
            );
        }
    }

    #[test]
    fn text_has_its_length_and_no_mark() {
        let file = tempfile::NamedTempFile::new().unwrap();
        Text::Words.write(file.path(), 1000).unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert_eq!((text.len(), text.lines().count()), (1000, 14));
        assert!(
            text.lines()
                .all(|line| line.len() <= 72 && !line.contains('#'))
        );
    }

    #[test]
    fn words_are_put_where_no_notice_is_drawn_and_text_is_the_same_each_time() {
        let files = [(); 2].map(|()| tempfile::NamedTempFile::new().unwrap());
        let texts = files.each_ref().map(|file| {
            Text::Words.write(file.path(), 500).unwrap();
            std::fs::read(file.path()).unwrap()
        });
        assert_eq!(texts[0], texts[1]);
        assert!(Text::Words.write(Path::new("/nowhere/text"), 1).is_err());
    }

    #[test]
    fn lines_are_those_of_yes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        Text::Lines.write(file.path(), 5).unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), b"y\ny\ny");
    }

    #[test]
    fn a_wide_screen_has_two_tables_side_by_side() {
        let wide = Size {
            columns: 200,
            rows: 60,
        };
        let frame = draw(wide, 7);
        assert_eq!(frame.matches("\r\n").count(), 59);
        assert_eq!(frame.matches("\x1b[81G").count(), 58);
        assert_eq!(frame.matches(" --with").count(), 2 * 58);
    }

    #[test]
    fn a_third_of_the_rows_has_new_numbers_in_each_frame() {
        let rows = |frame| {
            draw(WINDOW, frame)
                .split("\r\n")
                .skip(2)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        for frame in [3, 4, 5, 30] {
            let changed = rows(frame)
                .iter()
                .zip(rows(frame + 1))
                .filter(|(one, next)| *one != next)
                .count();
            assert!((7..=8).contains(&changed), "{frame}: {changed}");
        }
    }
}

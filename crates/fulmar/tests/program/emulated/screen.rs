//! Emulators on a screen in memory, pixel by pixel.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::window::{SIZE, lent_terminal};
use crate::support::{DEADLINE, World};

/// The pixels of the part of the screen in which a window is, more than it has. The pointer is between the two parts.
const WIDTH: usize = 700;
const HEIGHT: usize = 480;
pub(super) const SECOND_AT: usize = 800;

/// The bytes of a pixel of 24 bits.
const PIXEL: usize = 4;

/// An X server that keeps its screen in a file.
pub(super) struct Display {
    server: Child,
    /// Its name.
    pub(super) name: String,
    screen: PathBuf,
}

impl Display {
    pub(super) fn start(world: &World, name: &str) -> Self {
        let folder = world.home().join(format!("{name}.screen"));
        std::fs::create_dir(&folder).expect("a folder");
        let mut command = world.command("Xvfb");
        let screen = format!("{}x{HEIGHT}x24", SECOND_AT + WIDTH);
        command
            .args(["-displayfd", "1", "-br", "-nolisten", "tcp"])
            .args(["-screen", "0", &screen, "-fbdir"])
            .arg(&folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut server = command.spawn().expect("Xvfb starts");
        let mut number = String::new();
        let said = server.stdout.take().expect("it is piped");
        let read = BufReader::new(said).read_line(&mut number);
        assert!(read.is_ok() && !number.is_empty(), "Xvfb has no screen");
        Self {
            server,
            name: format!(":{}", number.trim_end()),
            screen: folder.join("Xvfb_screen0"),
        }
    }

    /// Returns the pixels from column `left` on, row by row.
    ///
    /// The file is one of xwd: a header of numbers of four bytes, the colours, each of 12 bytes, and the rows.
    fn pixels(&self, left: usize) -> Vec<u8> {
        let file = std::fs::read(&self.screen).expect("the screen");
        let number = |place: usize| {
            let bytes = file[4 * place..][..4].try_into().expect("four bytes");
            u32::from_be_bytes(bytes) as usize
        };
        let (header, row_bytes, colors) = (number(0), number(12), number(19));
        let rows = file[header + 12 * colors..].chunks_exact(row_bytes);
        let part = |row: &[u8]| row[PIXEL * left..][..PIXEL * WIDTH].to_vec();
        rows.take(HEIGHT).flat_map(part).collect()
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// An emulator, and where its window is on the screen.
pub(super) struct OnScreen {
    program: Child,
    pub(super) tty: PathBuf,
    left: usize,
    /// The pixels of a cell, across and down.
    cell: [usize; 2],
    display: Rc<Display>,
}

impl OnScreen {
    /// Starts an emulator that lends its terminal under `name` and whose window is at `left`, and not more than `more`
    /// pixels wider and higher than its cells.
    pub(super) fn start(
        world: &World,
        command: &mut Command,
        name: &str,
        display: &Rc<Display>,
        left: usize,
        more: usize,
    ) -> Self {
        command.env("DISPLAY", &display.name).stderr(Stdio::null());
        let mut emulator = Self {
            program: command.spawn().expect("the emulator starts"),
            tty: PathBuf::new(),
            left,
            cell: [0; 2],
            display: Rc::clone(display),
        };
        emulator.tty = lent_terminal(world, name);
        emulator.cell = emulator.wait_for_window(more);
        emulator
    }

    pub(super) fn picture(&self) -> Vec<u8> {
        self.display.pixels(self.left)
    }

    /// Waits until the window is there, and returns the pixels of a cell: a blank window is white, and around it all is black.
    fn wait_for_window(&self, more: usize) -> [usize; 2] {
        let began = Instant::now();
        loop {
            let pixels = self.picture();
            let is_white = |place: &usize| pixels[PIXEL * place] == 0xff;
            let width = (0..WIDTH).rev().find(is_white).map_or(0, |last| last + 1);
            let rows = (0..HEIGHT).map(|row| row * WIDTH).rev();
            let mut rows = rows.skip_while(|row| !is_white(row));
            let height = rows.next().map_or(0, |last| last / WIDTH + 1);
            let [columns, rows] = [SIZE.columns, SIZE.rows].map(usize::from);
            let is_whole = width >= columns && width % columns <= more && height % rows <= more;
            if is_whole && height >= rows {
                assert!(width < WIDTH && height < HEIGHT, "{width} x {height}");
                return [width / columns, height / rows];
            }
            assert!(began.elapsed() < DEADLINE, "{width} x {height}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Names the cells, and keeps one picture above the other.
    pub(super) fn difference(&self, name: &str, plain: &[u8], session: &[u8]) -> String {
        let [width, height] = self.cell;
        let pixels = plain.chunks(PIXEL).zip(session.chunks(PIXEL));
        let other = pixels
            .enumerate()
            .filter(|(_, (plain, session))| plain != session);
        let mut rows = std::collections::BTreeMap::new();
        for (place, _) in other {
            let column = place % WIDTH / width;
            let columns = rows
                .entry(place / WIDTH / height)
                .or_insert((column, column));
            *columns = (columns.0.min(column), columns.1.max(column));
        }
        let mut said = String::new();
        for (row, (first, last)) in rows {
            let _ = write!(said, "row {row} from column {first} to {last}, ");
        }
        let mut picture = format!("P6 {WIDTH} {} 255\n", 2 * HEIGHT).into_bytes();
        for pixel in plain.chunks(PIXEL).chain(session.chunks(PIXEL)) {
            picture.extend([pixel[2], pixel[1], pixel[0]]);
        }
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.ppm"));
        std::fs::write(&file, picture).expect("a file");
        format!("{said}see {}", file.display())
    }
}

impl Drop for OnScreen {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

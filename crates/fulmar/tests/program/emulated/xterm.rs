//! xterm on a screen in memory, pixel by pixel.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::window::{Emulator, SIZE, lend_terminal, lent_terminal};
use crate::support::{DEADLINE, World};
use fulmar_testbed::peers;

/// The pixels of the part of the screen in which a window is, more than it has. The pointer is between the two parts.
const WIDTH: usize = 700;
const HEIGHT: usize = 480;
const SECOND_AT: usize = 800;

/// The bytes of a pixel of 24 bits.
const PIXEL: usize = 4;

/// An X server that keeps its screen in a file.
struct Display {
    server: Child,
    /// Its name.
    name: String,
    screen: PathBuf,
}

impl Display {
    fn start(world: &World) -> Self {
        let folder = world.home().join("framebuffer");
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

/// An xterm, and where it is on the screen.
pub(super) struct Xterm {
    program: Child,
    tty: PathBuf,
    left: usize,
    /// The pixels of a cell, across and down.
    cell: [usize; 2],
    display: Rc<Display>,
}

impl Xterm {
    fn start(world: &World, display: &Rc<Display>, left: usize) -> Self {
        let name = format!("xterm{left}");
        let mut command = world.command("xterm");
        // Smoothed letters and lines reach into the cells beside them, and what is drawn last stays.
        let geometry = format!("{}x{}+{left}+0", SIZE.columns, SIZE.rows);
        command
            .env("DISPLAY", &display.name)
            .args(["-u8", "-geometry", &geometry, "+sb", "-b", "0", "-bw", "0"])
            .args([
                "-fa",
                "Monospace:antialias=false",
                "-fs",
                "8",
                "-fg",
                "black",
                "-bg",
                "white",
            ]);
        for resource in [
            // It has no focus, and looks as if it had.
            "alwaysHighlight: true",
            // Two pictures are not to differ by their moment.
            "cursorBlink: never",
            "showBlinkAsBold: true",
            "utmpInhibit: true",
        ] {
            command.arg("-xrm").arg(format!("XTerm*{resource}"));
        }
        command
            .args(["-e", &lend_terminal(&name)])
            .stderr(Stdio::null());
        let program = command.spawn().expect("xterm starts");
        let mut xterm = Self {
            program,
            tty: lent_terminal(world, &name),
            left,
            cell: [0; 2],
            display: Rc::clone(display),
        };
        xterm.cell = xterm.wait_for_window();
        xterm
    }

    /// Waits until the window is there, and returns the pixels of a cell: a blank window is white, and around it all is black.
    fn wait_for_window(&mut self) -> [usize; 2] {
        let began = Instant::now();
        loop {
            let pixels = self.picture();
            let is_white = |place: &usize| pixels[PIXEL * place] == 0xff;
            let width = (0..WIDTH).rev().find(is_white).map_or(0, |last| last + 1);
            let rows = (0..HEIGHT).map(|row| row * WIDTH).rev();
            let mut rows = rows.skip_while(|row| !is_white(row));
            let height = rows.next().map_or(0, |last| last / WIDTH + 1);
            let [columns, rows] = [SIZE.columns, SIZE.rows].map(usize::from);
            let is_whole = width >= columns && width % columns == 0 && height % rows == 0;
            if is_whole && height >= rows {
                assert!(width < WIDTH && height < HEIGHT, "{width} x {height}");
                return [width / columns, height / rows];
            }
            assert!(began.elapsed() < DEADLINE, "{width} x {height}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Xterm {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

impl Emulator for Xterm {
    type Picture = Vec<u8>;

    const TERM: &'static str = "xterm-256color";

    /// XTWINOPS. Some letters still reach into the cells beside them.
    const REFRESH: &'static [u8] = b"\x1b[7t";

    fn start_two(world: &World) -> Option<[Self; 2]> {
        let needed = ["xterm", "Xvfb"];
        if needed.iter().any(|name| peers::require(name).is_none()) {
            return None;
        }
        let display = Rc::new(Display::start(world));
        Some([0, SECOND_AT].map(|left| Self::start(world, &display, left)))
    }

    fn tty(&self) -> &Path {
        &self.tty
    }

    fn picture(&mut self) -> Vec<u8> {
        self.display.pixels(self.left)
    }

    /// Names the cells, and keeps one picture above the other.
    fn difference(&self, name: &str, plain: &Vec<u8>, session: &Vec<u8>) -> String {
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

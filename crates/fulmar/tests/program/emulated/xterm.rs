//! xterm, pixel by pixel.

use std::path::Path;
use std::rc::Rc;

use super::screen::{Display, OnScreen, SECOND_AT};
use super::window::{Emulator, SIZE, lend_terminal};
use crate::support::World;
use fulmar_testbed::peers;

pub(super) struct Xterm(OnScreen);

impl Xterm {
    fn start(world: &World, display: &Rc<Display>, left: usize) -> Self {
        let name = format!("xterm{left}");
        let mut command = world.command("xterm");
        // Smoothed letters and lines reach into the cells beside them, and what is drawn last stays.
        let geometry = format!("{}x{}+{left}+0", SIZE.columns, SIZE.rows);
        command
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
        command.args(["-e", &lend_terminal(&name)]);
        Self(OnScreen::start(
            world,
            &mut command,
            &name,
            display,
            left,
            0,
        ))
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
        let display = Rc::new(Display::start(world, "both"));
        Some([0, SECOND_AT].map(|left| Self::start(world, &display, left)))
    }

    fn tty(&self) -> &Path {
        &self.0.tty
    }

    fn picture(&mut self) -> Vec<u8> {
        self.0.picture()
    }

    fn difference(&self, name: &str, plain: &Vec<u8>, session: &Vec<u8>) -> String {
        self.0.difference(name, plain, session)
    }
}

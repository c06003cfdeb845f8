//! kitty, pixel by pixel.

use std::path::Path;
use std::rc::Rc;

use super::screen::{Display, OnScreen};
use super::window::{Emulator, SIZE, lend_terminal};
use crate::support::World;
use fulmar_testbed::peers;

/// Two pictures are not to differ by their moment, and a blank window is white.
const OPTIONS: [&str; 10] = [
    "background=white",
    "foreground=black",
    "cursor_blink_interval=0",
    "enable_audio_bell=no",
    "font_size=8",
    "hide_window_decorations=yes",
    "linux_display_server=x11",
    "remember_window_size=no",
    "update_check_interval=0",
    "visual_bell_duration=0",
];

pub(super) struct Kitty(OnScreen);

impl Kitty {
    /// Starts one on a screen of its own: nobody but a window manager could say where its window is to be.
    fn start(world: &World, name: &str) -> Self {
        let display = Rc::new(Display::start(world, name));
        let mut command = world.command("kitty");
        command
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .args(["--config", "NONE"]);
        for option in OPTIONS {
            command.args(["-o", option]);
        }
        let [columns, rows] = [SIZE.columns, SIZE.rows].map(|cells| format!("{cells}c"));
        command
            .args(["-o", &format!("initial_window_width={columns}")])
            .args(["-o", &format!("initial_window_height={rows}")])
            .args(["sh", "-c", &lend_terminal(name)]);
        Self(OnScreen::start(world, &mut command, name, &display, 0, 1))
    }
}

impl Emulator for Kitty {
    type Picture = Vec<u8>;

    const TERM: &'static str = "xterm-kitty";

    const REFRESH: &'static [u8] = b"";

    fn start_two(world: &World) -> Option<[Self; 2]> {
        // It brings an OpenGL with it, so no test may ask for it.
        if peers::find("kitty").is_none() {
            fulmar_platform::leave_out("kitty is not installed");
            return None;
        }
        peers::require("Xvfb")?;
        Some(["plain", "session"].map(|name| Self::start(world, name)))
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

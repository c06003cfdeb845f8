//! The screen of a terminal, as the judge sees it.

use super::libc_widths::LibcWidths;

/// A terminal of the crate `vt100` that reads stand-ins for characters on whose width it might
/// differ from the program that writes to it.
pub(crate) struct Eye {
    parser: vt100::Parser<Window>,
    widths: LibcWidths,
    /// The start of a character of which not all bytes have come.
    partial: Vec<u8>,
}

/// The things that belong to the window and not to the screen.
#[derive(Debug, Default)]
pub(crate) struct Window {
    pub(crate) title: String,
    pub(crate) icon_name: String,
    pub(crate) clipboard: String,
}

impl vt100::Callbacks for Window {
    fn set_window_icon_name(&mut self, _: &mut vt100::Screen, name: &[u8]) {
        self.icon_name = String::from_utf8_lossy(name).into_owned();
    }

    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.title = String::from_utf8_lossy(title).into_owned();
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], text: &[u8]) {
        self.clipboard = String::from_utf8_lossy(text).into_owned();
    }
}

impl Eye {
    pub(crate) fn new(rows: u16, columns: u16, widths: LibcWidths) -> Eye {
        Eye {
            parser: vt100::Parser::new_with_callbacks(rows, columns, 0, Window::default()),
            widths,
            partial: Vec::new(),
        }
    }

    pub(crate) fn read(&mut self, bytes: &[u8]) {
        self.partial.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.partial) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let rest = self.partial.split_off(whole);
        let text = String::from_utf8(std::mem::replace(&mut self.partial, rest));
        let text = text.expect("so far it is text");
        self.parser.process(self.widths.stand_ins(&text).as_bytes());
    }

    pub(crate) fn resize(&mut self, rows: u16, columns: u16) {
        self.parser.screen_mut().set_size(rows, columns);
    }

    pub(crate) fn screen(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    pub(crate) fn window(&self) -> &Window {
        self.parser.callbacks()
    }

    pub(crate) fn widths(&self) -> &LibcWidths {
        &self.widths
    }
}

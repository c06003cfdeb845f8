//! The turns of a victim's loop, with all that is expected of it.

use fulmar_base::Time;
use fulmar_core::{ClientEvent, ServerEvent};
use fulmar_terminal::{Row, Screen, Size};
use fulmar_transport::{Role, wire};

use super::{LAST, Machine, Victim};

/// More is not sent, or told, in one turn.
const PER_TURN_MAX: usize = 100;

/// Source: docs/threat-model.md §6, input not yet acknowledged, and what one read brings.
const INPUT_BYTES_MAX: usize = 16 * 1024 * 1024 + 65_536;

impl Victim {
    /// Does what the loop of a program does in a turn: nothing of it goes on for ever, and in the end there is nothing
    /// to be done at once.
    pub(crate) fn turn(&mut self) {
        self.handle_timeout();
        self.take_events();
        self.transmit();
        self.use_terminals();
        self.take_events();
        self.transmit();
        if let Some(next) = self.next_timeout() {
            assert!(next > self.now, "it wants to spin");
        }
        self.expect_caps();
    }

    fn handle_timeout(&mut self) {
        match &mut self.machine {
            Machine::Client(client) => client.handle_timeout(self.now),
            Machine::Server(server) => server.handle_timeout(self.now),
        }
    }

    fn take_events(&mut self) {
        for _ in 0..PER_TURN_MAX {
            let ended = match &mut self.machine {
                Machine::Client(client) => match client.poll_event() {
                    Some(ClientEvent::Ended(_)) => true,
                    Some(_) => false,
                    None => return,
                },
                Machine::Server(server) => match server.poll_event() {
                    Some(ServerEvent::Ended(_)) => true,
                    Some(_) => false,
                    None => return,
                },
            };
            self.has_ended |= ended;
        }
        panic!("there is no end of events");
    }

    fn transmit(&mut self) {
        let mut buffer = Vec::new();
        for _ in 0..PER_TURN_MAX {
            let transmit = match &mut self.machine {
                Machine::Client(client) => client.poll_transmit(self.now, &mut buffer),
                Machine::Server(server) => server.poll_transmit(self.now, &mut buffer),
            };
            let Some(transmit) = transmit else { return };
            let target = transmit.numbers.instruction.target.get();
            if target <= LAST {
                self.theirs = self.theirs.max(target);
            }
        }
        panic!("there is no end of datagrams");
    }

    /// Draws on the user's terminal; has the program read what was typed.
    fn use_terminals(&mut self) {
        match &mut self.machine {
            Machine::Client(client) => {
                let mut drawn = Vec::new();
                client.draw(self.now, &mut drawn);
                self.show(&drawn);
            }
            Machine::Server(server) => {
                let typed = server.pty_input().to_vec();
                server.pty_taken(self.now, typed.len());
                self.typed.extend_from_slice(&typed);
            }
        }
    }

    fn show(&mut self, drawn: &[u8]) {
        let checked = self.checker.check(drawn);
        assert!(checked.is_ok(), "{checked:?}");
        self.terminal.process(drawn);
    }

    fn next_timeout(&self) -> Option<Time> {
        match &self.machine {
            Machine::Client(client) => client.poll_timeout().map(|(at, _)| at),
            Machine::Server(server) => server.poll_timeout().map(|(at, _)| at),
        }
    }

    fn screen(&self) -> &Screen {
        match &self.machine {
            Machine::Client(client) => client.screen(),
            Machine::Server(server) => server.screen(),
        }
    }

    fn expect_caps(&self) {
        let size = self.screen().size();
        let cells = u32::from(size.rows()) * u32::from(size.columns());
        assert!(cells <= Size::CELLS_MAX, "{size}");
        if let Machine::Client(client) = &self.machine {
            assert!(client.unacknowledged_bytes() <= INPUT_BYTES_MAX);
        }
    }

    /// Says something that is right, which has to be seen or read.
    pub(crate) fn say_what_is_right(&mut self) {
        self.typed.clear();
        self.say_difference(&right(self.role));
        self.expect_right();
    }

    /// Expects that the last thing that was right has been taken.
    fn expect_right(&self) {
        match &self.machine {
            Machine::Client(client) => {
                let mut text = String::new();
                client.screen().row(Row(0)).push_text(&mut text);
                assert!(text.starts_with("right"), "the screen begins {text:?}");
            }
            Machine::Server(_) => assert!(
                self.typed.ends_with(b"right"),
                "the program reads {:?}",
                String::from_utf8_lossy(&self.typed)
            ),
        }
    }

    /// Lets time pass until the victim is done, or for many of its timeouts: it sleeps between them.
    pub(crate) fn wait(&mut self, timeouts: usize) {
        for _ in 0..timeouts {
            let Some(next) = self.next_timeout() else {
                return;
            };
            self.now = next.max(self.now);
            self.turn();
        }
    }

    /// Has the user type, if this is a client.
    pub(crate) fn type_keys(&mut self, keys: &[u8]) {
        if let Machine::Client(client) = &mut self.machine {
            client.handle_keys(self.now, keys);
        }
        self.turn();
    }

    /// Gives the user's window another size, if this is a client.
    pub(crate) fn resize(&mut self, rows: u16, columns: u16) {
        let size = Size::new(rows, columns).expect("a size within the caps");
        if let Machine::Client(client) = &mut self.machine {
            client.handle_resize(self.now, size);
            self.terminal.resize(size);
        }
        self.turn();
    }

    /// Has the client give the terminal back, which is then as it was.
    pub(crate) fn leave(&mut self) {
        let Machine::Client(client) = &mut self.machine else {
            return;
        };
        let mut drawn = Vec::new();
        client.leave(&mut drawn);
        self.show(&drawn);
        let (after, before) = (self.terminal.screen(), Screen::new(Size::default()));
        assert_eq!(after.modes(), before.modes());
        assert_eq!(after.style(), before.style());
        assert_eq!(after.keyboard_flags(), before.keyboard_flags());
        assert!(!after.is_alternate() && !after.is_synchronized());
    }
}

/// A difference that is right: a window of the usual size, and a word.
fn right(role: Role) -> Vec<u8> {
    let mut out = Vec::new();
    let mut instruction = |kind, write: &dyn Fn(&mut Vec<u8>)| {
        wire::put_message(&mut out, 1, |instruction| {
            wire::put_message(instruction, kind, |message| write(message));
        });
    };
    instruction(3, &|resize| {
        wire::put_int32(resize, 5, 80);
        wire::put_int32(resize, 6, 24);
    });
    let word: &[u8] = match role {
        // Whatever the screen was left in: the parser, a held frame, another set of characters.
        Role::Client => b"\x18\x1bcright",
        Role::Server => b"right",
    };
    instruction(2, &|text| wire::put_bytes(text, 4, word));
    out
}

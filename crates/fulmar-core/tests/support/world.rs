//! Both ends and the network between them, with what every test wants to know.

use std::time::Duration;

use fulmar_core::{ClientConfig, ExitStatus, ServerConfig};
use fulmar_sim::{CLIENT, Failure, Network, SERVER, Simulation, address};
use fulmar_terminal::{Size, Vocabulary};

use super::{Far, Near, text};

/// A session in a simulated network, with a ledger of nonces.
pub(crate) struct World {
    pub(crate) sim: Simulation<(Near, Far)>,
}

impl World {
    pub(crate) fn new(net: Network) -> World {
        World::with(net, |_| (), |_| ())
    }

    pub(crate) fn with(
        net: Network,
        client: impl FnOnce(&mut ClientConfig),
        server: impl FnOnce(&mut ServerConfig),
    ) -> World {
        let near = Near::new(Size::default(), address("203.0.113.1:60001"), client);
        let far = Far::new(Size::default(), server);
        World {
            sim: Simulation::new(net, (near, far)).with_ledger(),
        }
    }

    pub(crate) fn near(&self) -> &Near {
        &self.sim.nodes.0
    }

    pub(crate) fn far(&self) -> &Far {
        &self.sim.nodes.1
    }

    pub(crate) fn near_mut(&mut self) -> &mut Near {
        &mut self.sim.nodes.0
    }

    pub(crate) fn far_mut(&mut self) -> &mut Far {
        &mut self.sim.nodes.1
    }

    pub(crate) fn type_keys(&mut self, keys: &[u8]) {
        let now = self.sim.clock(CLIENT);
        self.near_mut().type_keys(now, keys);
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        let now = self.sim.clock(CLIENT);
        let size = Size::new(rows, columns).expect("a size within the caps");
        self.near_mut().resize(now, size);
    }

    pub(crate) fn program_writes(&mut self, bytes: &[u8]) {
        let now = self.sim.clock(SERVER);
        self.far_mut().write(now, bytes);
    }

    pub(crate) fn program_exits(&mut self) {
        let now = self.sim.clock(SERVER);
        self.far_mut().exit(now);
    }

    /// Has the edge of the server learn how the program ended.
    pub(crate) fn program_ended(&mut self, status: ExitStatus) {
        let now = self.sim.clock(SERVER);
        self.far_mut().learn_status(now, status);
    }

    pub(crate) fn program_exits_with(&mut self, status: ExitStatus) {
        self.program_ended(status);
        self.program_exits();
    }

    /// Returns the screen that the user sees.
    pub(crate) fn seen(&self) -> String {
        text(self.near().terminal.screen())
    }

    pub(crate) fn run_for(&mut self, duration: Duration) -> Result<(), Failure> {
        self.sim.run_for(duration)
    }

    /// Runs until the user sees `wanted` somewhere.
    pub(crate) fn run_until_seen(
        &mut self,
        within: Duration,
        wanted: &str,
    ) -> Result<Duration, Failure> {
        self.sim.run_until(within, |(near, _)| {
            text(near.terminal.screen()).contains(wanted)
        })
    }

    /// Runs until nothing is on its way: all that was typed has been read and answered, and the
    /// client has the screen of the server.
    pub(crate) fn run_until_settled(&mut self, within: Duration) -> Result<Duration, Failure> {
        self.sim.run_until(within, |(near, far)| {
            near.client.unacknowledged_bytes() == 0
                && far.program.flood == 0
                && far.server.pty_input().is_empty()
                && near.client.screen().projected(&Vocabulary::STOCK)
                    == far.reference.screen().projected(&Vocabulary::STOCK)
        })
    }

    /// Fails unless the client, the server and the user's terminal show what the program drew.
    pub(crate) fn check_screens(&mut self) -> Result<(), Failure> {
        match self.wrong_screen() {
            Some(what) => Err(self.sim.found(what)),
            None => Ok(()),
        }
    }

    /// Returns who shows something else than what the program drew, and what.
    pub(crate) fn wrong_screen(&self) -> Option<String> {
        let (near, far) = (self.near(), self.far());
        let drawn = far.reference.screen().projected(&Vocabulary::STOCK);
        let (name, screen) = [
            ("server", far.server.screen()),
            ("client", near.client.screen()),
            ("user's terminal", near.terminal.screen()),
        ]
        .map(|(name, screen)| (name, screen.projected(&Vocabulary::STOCK)))
        .into_iter()
        .find(|(_, screen)| *screen != drawn)?;
        Some(format!(
            "the {name} shows\n{}\n--- and the program drew\n{}\n---",
            text(&screen),
            text(&drawn)
        ))
    }

    /// Fails unless exactly this was typed into the program.
    pub(crate) fn check_typed(&mut self, typed: &[u8]) -> Result<(), Failure> {
        let read = &self.far().program.typed;
        if read == typed {
            return Ok(());
        }
        let same = read.iter().zip(typed).take_while(|(a, b)| a == b).count();
        let excerpt = |bytes: &[u8]| {
            let rest = &bytes[same..];
            String::from_utf8_lossy(&rest[..rest.len().min(40)]).into_owned()
        };
        let what = format!(
            "{} bytes were typed and {} arrived; from byte {same} on {:?} became {:?}",
            typed.len(),
            read.len(),
            excerpt(typed),
            excerpt(read)
        );
        Err(self.sim.found(what))
    }
}

//! A whole session: a server, a client on a terminal, and perhaps a network between them.

use fulmar_platform::WindowSize;
use rustix::process::Signal;

use super::terminal::Rules;
use super::{Make, Pair, Process, Relay, Server, Terminal, World};

/// The setup of a session; [`Setup::default`] is a shell on 24 × 80 without a relay.
pub(crate) struct Setup<'a> {
    /// The command that the server runs; empty means a login shell.
    pub(crate) command: &'a [&'a str],
    pub(crate) size: WindowSize,
    pub(crate) wire: Wire,
}

/// The wire between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    /// The client talks to the server's port.
    Direct,
    /// The client talks to a relay.
    Relayed,
    /// The client talks to a relay, which loses its first datagram.
    LosingTheFirst,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            command: &["sh", "-i"],
            size: WindowSize {
                rows: 24,
                columns: 80,
            },
            wire: Wire::Direct,
        }
    }
}

/// A session that runs. Dropping it ends both programs.
pub(crate) struct Session {
    pub(crate) terminal: Terminal,
    pub(crate) server: Server,
    relay: Option<Relay>,
    /// Dropped last: the programs live in it.
    pub(crate) world: World,
}

impl Session {
    /// Starts a session; `None` if the calling test is to return, because programs are missing.
    #[track_caller]
    pub(crate) fn start(pair: Pair, setup: &Setup<'_>) -> Option<Self> {
        Self::start_in(World::new(), pair, setup)
    }

    /// Starts a session in a home that was prepared.
    #[track_caller]
    pub(crate) fn start_in(world: World, pair: Pair, setup: &Setup<'_>) -> Option<Self> {
        let server = pair.server.program(&world, "mosh-server")?;
        let client = pair.client.program(&world, "mosh-client")?;
        let server = Server::start(&world, &server, setup.command);
        let relay = (setup.wire != Wire::Direct).then(|| Relay::to(server.port));
        if let Some(relay) = relay
            .as_ref()
            .filter(|_| setup.wire == Wire::LosingTheFirst)
        {
            relay.lose_the_next(1);
        }
        let port = relay.as_ref().map_or(server.port, Relay::port);
        let mut command = world.spawn(client);
        command
            .arg("127.0.0.1")
            .arg(port.to_string())
            .env("MOSH_KEY", &server.key);
        let terminal = Terminal::start(&command, setup.size, rules(pair.client));
        Some(Self {
            terminal,
            server,
            relay,
            world,
        })
    }

    /// Starts a session with a shell and waits for its prompt.
    #[track_caller]
    pub(crate) fn with_shell(pair: Pair, wire: Wire) -> Option<Self> {
        let setup = Setup {
            wire,
            ..Setup::default()
        };
        let mut session = Self::start(pair, &setup)?;
        session.terminal.wait_for_prompt();
        Some(session)
    }

    /// Sends a signal to the client.
    pub(crate) fn signal_client(&self, signal: Signal) {
        let client = Process::of(self.terminal.pid()).expect("the client runs");
        client.signal(signal);
    }

    /// The network between the two ends.
    pub(crate) fn relay(&self) -> &Relay {
        self.relay.as_ref().expect("the test has set up a relay")
    }
}

/// Our client is held to what it may write; stock's is not ours to judge.
pub(crate) fn rules(client: Make) -> Rules {
    match client {
        Make::Stock => Rules::None,
        Make::Ours => Rules::Client,
    }
}

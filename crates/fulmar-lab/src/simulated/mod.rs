//! One session of Fulmar in virtual time: the scenario, the recording and the user of a real run, with the
//! program's state machines in place of the program.
//!
//! ```text
//!   user ─ client ─┐                        ┌─ server ─ played host
//!                  └─ fulmar-sim: scenario ─┘
//! ```
//!
//! What comes of it are the same two sides as of a real run, and the same judge says what a person saw.
//! This and [`predict`](crate::predict) are the only places of the lab that use the code of a peer. Nothing that judges or draws does.
//!
//! # What is not the same
//!
//! - Computing, the kernel and the pty take no time.
//! - The session begins without a login: the two ends have agreed on nothing but the protocol.
//! - The user is on the client's host, and sleeps when it does.
//! - A client that takes another local port keeps the one it had.

mod client;
mod host;
mod parallel;
pub mod redraw;
mod server;
mod tty;
mod virtual_replay;
pub(crate) mod words;

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use fulmar_core::{Agreement, Capabilities, ClientConfig};
use fulmar_datagram::Key;
use fulmar_predict::PredictionConfig;
pub use fulmar_predict::PredictionMode;
use fulmar_sim::{CLIENT, Counts, SERVER, Simulation};
use fulmar_terminal::Size;

use crate::judge::{GroundTruth, JudgeError, ObservedRun, RunVerdict};
use crate::scenario::{PlannedChange, Scenario};
use crate::trace::Trace;
use crate::typing::{Limits, TypingLoop, TypingSession, TypingUser};
use client::TerminalUser;
pub(crate) use client::{ClientUser, SimulatedClient, client_config};
pub(crate) use host::{PlayedHost, UNSEEN_START};
pub(crate) use parallel::for_all;
pub use server::SentFrame;
pub(crate) use server::SimulatedServer;
pub(crate) use tty::Tty;
pub use virtual_replay::{VirtualReplay, VirtualRun};

/// The key of all simulated sessions. Nobody else hears them.
const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";

/// Returns the agreement of both ends of a native session: everything.
pub(crate) fn agreement() -> Agreement {
    Agreement::of(b"", b"", Capabilities::ALL)
}

/// The result of a simulated session.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The user's side: what was seen and done.
    pub session: TypingSession,
    /// The host's side: what the played host received and wrote.
    pub host_side: Trace,
    /// The frames that the server sent.
    pub frames: Vec<SentFrame>,
    /// The fate of the datagrams that the client sent.
    pub up: Counts,
    /// The fate of the datagrams that the server sent.
    pub down: Counts,
}

impl Simulated {
    /// Plays a recording, of which `truth` is the truth, over a scenario to a user of that kind, whose client predicts
    /// as it is told.
    ///
    /// # Errors
    ///
    /// Where nobody could type, or a program spins or floods, which is a fault of it.
    pub fn run(
        scenario: &Scenario,
        recording: &Trace,
        truth: &GroundTruth,
        user: TypingLoop,
        limits: Limits,
        prediction: PredictionMode,
    ) -> Result<Self> {
        let wanted = recording.size();
        let size = Size::new(wanted.rows, wanted.columns)
            .context("no window has the size of the recording")?;
        let user = TypingUser::new(recording, truth, user, limits, Duration::ZERO);
        let server = scenario.simulated_server();
        let user = TerminalUser {
            user,
            has_begun: false,
        };
        let config = ClientConfig {
            prediction: PredictionConfig {
                mode: prediction,
                ..PredictionConfig::default()
            },
            ..client_config(key()?, size)
        };
        let near = SimulatedClient::new(config, server, user);
        let far = SimulatedServer::new(key()?, size, PlayedHost::new(recording), None);
        // As in a real run what changes during it counts from the start of the typing.
        let still = Scenario {
            changes: Vec::new(),
            ..scenario.clone()
        };
        let mut simulation = still.simulation((near, far));
        advance(&mut simulation, limits, |user| user.has_begun)?;
        let began = simulation.now();
        for PlannedChange { at, every, change } in &scenario.changes {
            match every {
                None => simulation.plan(began + *at, change.clone()),
                Some(period) => simulation.plan_from(began + *at, *period, change.clone()),
            }
        }
        advance(&mut simulation, limits, |_| false)?;
        Self::of(simulation)
    }

    fn of(simulation: Simulation<Ends<'_>>) -> Result<Self> {
        let [up, down] = [CLIENT, SERVER].map(|host| simulation.net.counts(host));
        let (near, far) = simulation.nodes;
        Ok(Self {
            session: near.user.user.finish()?,
            host_side: far.host.finish()?,
            frames: far.frames,
            up,
            down,
        })
    }

    /// Judges it.
    ///
    /// # Errors
    ///
    /// As of any run: see [`ObservedRun::judge`].
    pub fn judge(&self, truth: &GroundTruth) -> Result<RunVerdict, JudgeError> {
        ObservedRun {
            truth,
            user_side: &self.session.user_side,
            host_side: &self.host_side,
            one_way_delay: Duration::ZERO,
            may_predict: true,
        }
        .judge()
    }
}

/// Both ends of a session.
type Ends<'a> = (SimulatedClient<TerminalUser<'a>>, SimulatedServer<'a>);

/// Runs until the user has come so far, or has got up.
fn advance(
    simulation: &mut Simulation<Ends<'_>>,
    limits: Limits,
    is_reached: impl Fn(&TerminalUser<'_>) -> bool,
) -> Result<()> {
    let longest = limits.set_up + limits.time + limits.patience + Duration::from_secs(1);
    simulation
        .run_until(longest, |(near, _)| {
            near.user.user.is_over() || is_reached(&near.user)
        })
        .map(|_| ())
        .map_err(|failure| anyhow!("{failure}"))
}

/// The key of all simulated sessions.
pub(crate) fn key() -> Result<Key> {
    Ok(Key::from_base64(KEY)?)
}

//! A server that a client tells what it is for.
//!
//! It can be reached before it knows: port and key are on their way while the offer still is. What
//! comes for it meanwhile waits in its socket.
//!
//! ```text
//!  listen ─► FULMAR CONNECT, MOSH CONNECT ─► offer ─► (listen elsewhere) ─► FULMAR AGREED ─► serve
//! ```
//!
//! Source: docs/protocol.md §2.9.

use std::io::ErrorKind;
use std::thread;
use std::time::Duration;

use fulmar_core::{Agreement, Names};
use fulmar_datagram::Key;
use fulmar_login::{Announcement, Bind, PortRange, Received};

use super::announce;
use super::bind::{self, Bound};
use super::error::Failure;
use super::ground::{Ground, Owner};
use super::options::{Options, Wishes};
use super::plan::{Opened, Plan, ignore_signals, watch};
use crate::clock::now;
use crate::login_parent::ParentHandle;
use crate::session_key;
use crate::system::{self, while_doing};

/// Serves one session, in the background, for the client that makes an offer, and returns the status to leave with.
/// Where it cannot be what is asked for, the client is told.
///
/// # Errors
///
/// When it cannot wait.
pub(crate) fn serve(wishes: Wishes, mut parent: ParentHandle) -> Result<u8, Failure> {
    match prepare(wishes, &mut parent) {
        Ok(Some((plan, opened, agreement))) => {
            return plan.work(opened, Some(parent), Some(agreement));
        }
        Ok(None) => {}
        // The login ends with its parent, and what is told later with it.
        Err(failure) => announce::failure(&failure),
    }
    parent.declare_failed();
    Ok(Names::Own.failure_status())
}

/// Returns what to serve; `None` if the login has ended first, of which the parent tells.
fn prepare(
    wishes: Wishes,
    parent: &mut ParentHandle,
) -> Result<Option<(Plan, Opened, Agreement)>, Failure> {
    let ground = Ground::find(&wishes.records(), Names::Own)?;
    ignore_signals()?;
    let mut door = Door::open(Place::of(&wishes.clone().alone()), &ground)?;
    // While the offer is on its way.
    let owner = Owner::find(Names::Own)?;
    let Some(Received { offer, text }) = parent.offer()? else {
        return Ok(None);
    };
    let agreement = door.announcement.agreement_on(offer.capabilities, &text);
    let options = wishes.over(offer);
    let wished = Place::of(&options);
    let plan = Plan::make(ground, owner, options)?;
    let bound = door.move_to(wished, plan.ground())?;
    // Until here a signal is the end.
    let reactor = watch()?;
    let warnings = [&plan.warnings[..], &bound.complaints].concat();
    if !parent.declare_ready() {
        return Ok(None);
    }
    announce::agreed(&warnings).map_err(while_doing(PRINTING))?;
    plan.streams()
        .let_go()
        .map_err(while_doing("letting go of the terminal"))?;
    let opened = Opened {
        bound,
        key: door.key,
        reactor,
    };
    Ok(Some((plan, opened, agreement)))
}

/// The time for which a port that is wished may be another server's.
///
/// Source: docs/protocol.md §2.9.
const VACANT_WITHIN: Duration = Duration::from_secs(2);

/// The interval at which it is looked for meanwhile. Chosen by eye: less than a round trip.
const LOOK_EACH: Duration = Duration::from_millis(100);

/// The name of the action when nobody can read it.
const PRINTING: &str = "printing port and key";

/// The port that the client comes in by, and what it is told of that.
struct Door {
    announcement: Announcement,
    key: Key,
    place: Place,
    bound: Option<Bound>,
}

impl Door {
    /// Listens, and says so. Where no port is free one that the offer names may be, so that is no
    /// failure yet.
    fn open(place: Place, ground: &Ground) -> Result<Door, Failure> {
        let bound = place.listen(ground);
        if let Err(failure) = &bound {
            tracing::info!(%failure, "until there is an offer");
        }
        let door = Door {
            announcement: Announcement::ours(),
            key: session_key::fresh()?,
            bound: bound.ok(),
            place,
        };
        if let Some(bound) = &door.bound {
            door.introduce(bound.port)?;
        }
        Ok(door)
    }

    fn introduce(&self, port: u16) -> Result<(), system::Failure> {
        announce::introduce(&self.announcement, port, &self.key).map_err(while_doing(PRINTING))
    }

    /// Listens where it is wished, and says so if that is elsewhere.
    fn move_to(&mut self, wished: Place, ground: &Ground) -> Result<Bound, Failure> {
        let bound = self.bound.take();
        let was_open = bound.is_some();
        if let Some(bound) = bound.filter(|bound| wished.is_met_by(&self.place, bound.port)) {
            return Ok(bound);
        }
        // The first one is closed by now: it may be just its port that is wished.
        let bound = wished.listen_patiently(ground)?;
        if was_open {
            announce::invite(bound.port, &self.key).map_err(while_doing(PRINTING))?
        } else {
            self.introduce(bound.port)?
        }
        Ok(bound)
    }
}

/// The address and the ports to listen on.
struct Place {
    bind: Bind,
    ports: PortRange,
}

impl Place {
    fn of(options: &Options) -> Place {
        Place {
            bind: options.bind.clone(),
            ports: options.ports,
        }
    }

    fn listen(&self, ground: &Ground) -> Result<Bound, Failure> {
        bind::bind(&self.bind, self.ports, &ground.environment, ground.names)
    }

    /// Listens, also where another server is that will move as soon as it has read its own offer.
    fn listen_patiently(&self, ground: &Ground) -> Result<Bound, Failure> {
        let limit = now() + VACANT_WITHIN;
        loop {
            match self.listen(ground) {
                Err(Failure::PortsBusy { error, .. })
                    if error.kind() == ErrorKind::AddrInUse && now() < limit =>
                {
                    tracing::info!("the port is taken, but may be let go");
                    thread::sleep(LOOK_EACH);
                }
                outcome => return outcome,
            }
        }
    }

    /// Tells if whoever listens at `early` on that port is here, too.
    fn is_met_by(&self, early: &Place, port: u16) -> bool {
        self.bind == early.bind && (self.ports == early.ports || self.ports.contains(port))
    }
}

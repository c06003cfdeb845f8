//! A server that a client tells what it is for.
//!
//! It can be reached before it knows: port and key are on their way while the offer still is. What
//! comes for it meanwhile waits in its socket.
//!
//! ```text
//!  listen ─► FULMAR CONNECT, MOSH CONNECT ─► offer ─► (listen elsewhere) ─► FULMAR AGREED ─► serve
//!                                              └──► errand to a session that is there
//! ```
//!
//! Source: docs/protocol.md §2.9.

use std::io::ErrorKind;
use std::thread;
use std::time::Duration;

use fulmar_core::{Agreement, Capability, CompatMode};
use fulmar_datagram::Key;
use fulmar_login::{
    Announcement, BindAddress, PartialServerOptions, PortRange, ReceivedOffer, ServerOptions,
    SessionInfo, SessionName, SessionTask,
};

use super::announce;
use super::bind::{self, Bound};
use super::errand::{self, Errand};
use super::error::ServerError;
use super::naming;
use super::plan::{Opened, Plan, ignore_signals, watch};
use super::setup::{Owner, Records, ServerSetup};
use crate::clock::now;
use crate::login_parent::ParentHandle;
use crate::session_key;
use crate::sessions::Attaching;
use crate::system::{SystemError, while_doing};

/// Serves one session, in the background, for the client that makes an offer, and returns the status to leave with.
/// Where it cannot be what is asked for, the client is told.
///
/// # Errors
///
/// When it cannot wait.
pub(crate) fn serve(
    given: PartialServerOptions,
    mut parent: ParentHandle,
) -> Result<u8, ServerError> {
    match prepare(given, &mut parent) {
        Ok(Prepared::Session(prepared)) => {
            let (plan, opened, agreement) = *prepared;
            return plan.work(opened, Some(parent), Some(agreement));
        }
        Ok(Prepared::Attaching(attaching, key)) => {
            return errand::see_through(attaching, key, parent);
        }
        Ok(Prepared::Answer(sessions, remark)) => {
            return errand::answer(sessions, remark, parent);
        }
        Ok(Prepared::Carried(name)) => return errand::leave_to(parent, &name),
        Ok(Prepared::LoginEnded) => parent.declare_failed(),
        // The login ends with its parent, and what is told later with it.
        Err(failure) => {
            announce::failure(&failure);
            match failure {
                ServerError::CannotRun { .. } => parent.declare_no_program(),
                _ => parent.declare_failed(),
            }
        }
    }
    Ok(CompatMode::Fulmar.failure_status())
}

/// The things that a login can have asked for.
enum Prepared {
    /// A new session.
    Session(Box<(Plan, Opened, Agreement)>),
    /// A session that is there, and expects the client under that key.
    Attaching(Attaching, Key),
    /// A description of sessions that are there, and something that the user is to know.
    Answer(Vec<SessionInfo>, Option<String>),
    /// A session that is there, whose datagrams ssh is to carry.
    Carried(SessionName),
    /// Nothing: it has ended first, of which the parent tells.
    LoginEnded,
}

/// Finds out what the login is for, and gets it ready.
fn prepare(
    given: PartialServerOptions,
    parent: &mut ParentHandle,
) -> Result<Prepared, ServerError> {
    let setup = ServerSetup::find(&Records::from(&given), CompatMode::Fulmar)?;
    ignore_signals()?;
    let mut listener = Listener::open(ListenAddress::of(&given.clone().alone()), &setup)?;
    parent.declare_introduced();
    // While the offer is on its way.
    let owner = Owner::find(CompatMode::Fulmar)?;
    let Some(ReceivedOffer { offer, text }) = parent.offer()? else {
        return Ok(Prepared::LoginEnded);
    };
    if let Some(task) = &offer.task {
        let environment = &setup.environment;
        let place = errand::place(&given, (offer.bind.clone(), offer.ports), environment);
        match errand::run(task, &given, place, &text, &listener.key, environment)? {
            Errand::Attaching(attaching) => {
                return Ok(Prepared::Attaching(attaching, listener.key));
            }
            Errand::Done(sessions, remark) => return Ok(Prepared::Answer(sessions, remark)),
            Errand::Carried(name) => return Ok(Prepared::Carried(name)),
            Errand::Nobody => {}
        }
    }
    let agreement = listener
        .announcement
        .agreement_on(offer.capabilities, &text);
    let wanted_name = offer.name.clone().or_else(|| match &offer.task {
        Some(SessionTask::Attach { name, .. }) => name.clone(),
        _ => None,
    });
    let knows_names = offer.capabilities.has(Capability::Attach);
    let options = given.over(offer);
    let wanted = ListenAddress::of(&options);
    let plan = Plan::make(setup, owner, options)?;
    let detached = errand::detached(&plan.setup().environment);
    let control = naming::claim(wanted_name, &plan.setup().environment)?;
    let bound = listener.move_to(wanted, plan.setup())?;
    // Until here a signal is the end.
    let reactor = watch()?;
    let warnings = [&plan.warnings[..], &bound.complaints].concat();
    if let Some(control) = &control {
        parent.declare_name(control.name());
    }
    if !parent.declare_ready() {
        return Ok(Prepared::LoginEnded);
    }
    if let Some(control) = control.as_ref().filter(|_| knows_names) {
        announce::name(control.name()).map_err(while_doing(PRINTING))?;
    }
    announce::agreed(&warnings).map_err(while_doing(PRINTING))?;
    plan.streams()
        .let_go()
        .map_err(while_doing("letting go of the terminal"))?;
    let opened = Opened {
        bound,
        key: listener.key,
        reactor,
        control,
        detached,
    };
    Ok(Prepared::Session(Box::new((plan, opened, agreement))))
}

/// The time for which a port that is wanted may be another server's.
///
/// Source: docs/protocol.md §2.9.
const VACANT_WITHIN: Duration = Duration::from_secs(2);

/// The interval at which the port is tried again meanwhile. Chosen by eye: less than a round trip.
const PORT_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The name of the action when nobody can read it.
const PRINTING: &str = "printing port and key";

/// The port that the client comes in by, and what it is told of that.
struct Listener {
    announcement: Announcement,
    key: Key,
    address: ListenAddress,
    bound: Option<Bound>,
}

impl Listener {
    /// Listens, and says so. Where no port is free one that the offer names may be, so that is no
    /// failure yet.
    fn open(address: ListenAddress, setup: &ServerSetup) -> Result<Listener, ServerError> {
        let bound = address.listen(setup);
        if let Err(failure) = &bound {
            tracing::info!(%failure, "until there is an offer");
        }
        let listener = Listener {
            announcement: Announcement::ours(),
            key: session_key::fresh()?,
            bound: bound.ok(),
            address,
        };
        if let Some(bound) = &listener.bound {
            listener.introduce(bound.port)?;
        }
        Ok(listener)
    }

    fn introduce(&self, port: u16) -> Result<(), SystemError> {
        announce::introduce(&self.announcement, port, &self.key).map_err(while_doing(PRINTING))
    }

    /// Listens where it is wanted, and says so if that is elsewhere.
    fn move_to(
        &mut self,
        wanted: ListenAddress,
        setup: &ServerSetup,
    ) -> Result<Bound, ServerError> {
        let bound = self.bound.take();
        let was_open = bound.is_some();
        if let Some(bound) = bound.filter(|bound| wanted.is_met_by(&self.address, bound.port)) {
            return Ok(bound);
        }
        // The first one is closed by now: it may be just its port that is wanted.
        let bound = wanted.listen_patiently(setup)?;
        if was_open {
            announce::print_mosh_connect(bound.port, &self.key).map_err(while_doing(PRINTING))?
        } else {
            self.introduce(bound.port)?
        }
        Ok(bound)
    }
}

/// The address and the ports to listen on.
struct ListenAddress {
    bind: BindAddress,
    ports: PortRange,
}

impl ListenAddress {
    fn of(options: &ServerOptions) -> ListenAddress {
        ListenAddress {
            bind: options.bind.clone(),
            ports: options.ports,
        }
    }

    fn listen(&self, setup: &ServerSetup) -> Result<Bound, ServerError> {
        bind::bind(&self.bind, self.ports, &setup.environment, setup.compat)
    }

    /// Listens, also where another server is that will move as soon as it has read its own offer.
    fn listen_patiently(&self, setup: &ServerSetup) -> Result<Bound, ServerError> {
        let limit = now() + VACANT_WITHIN;
        loop {
            match self.listen(setup) {
                Err(ServerError::PortsBusy { error, .. })
                    if error.kind() == ErrorKind::AddrInUse && now() < limit =>
                {
                    tracing::info!("the port is taken, but may be let go");
                    thread::sleep(PORT_CHECK_INTERVAL);
                }
                outcome => return outcome,
            }
        }
    }

    /// Tells if whoever listens at `early` on that port is here, too.
    fn is_met_by(&self, early: &ListenAddress, port: u16) -> bool {
        self.bind == early.bind && (self.ports == early.ports || self.ports.contains(port))
    }
}

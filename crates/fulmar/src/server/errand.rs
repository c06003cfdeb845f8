//! A login that is about sessions which are there, and begins none: the process that it has started passes on what is wanted
//! to their servers, and what they answer to the login.
//!
//! ```text
//!  login ── offer ──► errand ── request, key ──► the session's server
//!        ◄─ port, key ──┴◄──── port, HEARD ──────────┘
//! ```
//!
//! Source: docs/protocol.md §2.11.

use std::ffi::OsString;

use fulmar_datagram::Key;
use fulmar_login::{
    BindAddress, BootstrapLine, PartialServerOptions, PortRange, SessionInfo, SessionName,
    SessionTask,
};
use fulmar_platform::{Interest, Poller};
use fulmar_settings::Environment;

use super::announce;
use super::bind;
use super::carry::client_address;
use super::detach::Streams;
use super::error::ServerError;
use super::lifetime;
use crate::login_parent::ParentHandle;
use crate::reactor::Token;
use crate::sessions::{AttachPlace, Attaching, Directory, Listing, SessionsError, SilentSession};
use crate::system::while_doing;

/// The outcome of an errand.
pub(super) enum Errand {
    /// There is no such session, and the client wants a new one then.
    Nobody,
    /// These are the sessions that were asked for, as they are now, and something that the user is to know.
    Done(Vec<SessionInfo>, Option<String>),
    /// A session expects the client.
    Attaching(Attaching),
    /// A session is there whose datagrams ssh is to carry.
    Carried(SessionName),
}

/// Does what the client wants of sessions that are there. A server whose program is fixed does nothing of the kind.
///
/// # Errors
///
/// When there is no such session, or its server refuses.
pub(super) fn run(
    task: &SessionTask,
    given: &PartialServerOptions,
    place: AttachPlace,
    offer: &[u8],
    key: &Key,
    environment: &Environment,
) -> Result<Errand, SessionsError> {
    if !given.command.is_empty() {
        return Err(SessionsError::Fixed);
    }
    Ok(match task {
        SessionTask::Attach { name, or_new } => {
            match Directory::choose(environment, name.as_ref()) {
                Err(SessionsError::NotFound { .. } | SessionsError::NoSessions) if *or_new => {
                    Errand::Nobody
                }
                Err(failure) => return Err(failure),
                // What the session shows would be shown in it, and that again.
                Ok(found) if lifetime::descends_from(found.info.pid) => {
                    return Err(SessionsError::Inside {
                        name: found.info.name,
                    });
                }
                Ok(found) => {
                    let remark = name.as_ref().and_then(|name| remark(name, &found.info));
                    let mut attaching = found.attach(&place, offer, key)?;
                    attaching.remark = remark;
                    Errand::Attaching(attaching)
                }
            }
        }
        SessionTask::OverSsh(name) => {
            Errand::Carried(Directory::choose(environment, Some(name))?.info.name)
        }
        SessionTask::List => {
            let Listing { found, silent } = Directory::list(environment);
            let found = found.into_iter().map(|found| found.info);
            let silent = silent.into_iter().map(SilentSession::into_info);
            Errand::Done(found.chain(silent).collect(), None)
        }
        SessionTask::End(name) => {
            let found = Directory::choose(environment, Some(name))
                .map_err(SessionsError::of_one_that_is_there)?;
            found.end()?;
            let remark = remark(name, &found.info);
            Errand::Done(vec![found.info], remark)
        }
        SessionTask::Rename { from, to } => {
            let mut found = Directory::choose(environment, Some(from))
                .map_err(SessionsError::of_one_that_is_there)?;
            let remark = remark(from, &found.info);
            if *to != found.info.name {
                if Directory::of(environment).find(to)?.is_some() {
                    return Err(SessionsError::NameTaken { name: to.clone() });
                }
                found.rename(to)?;
            }
            found.info.name = to.clone();
            Errand::Done(vec![found.info], remark)
        }
    })
}

/// Returns a word about a session that was found under a name that it had.
fn remark(asked: &SessionName, found: &SessionInfo) -> Option<String> {
    let name = &found.name;
    (asked != name).then(|| format!("session {asked} is called {name} by now"))
}

/// Returns where a client wants a session, by the command line and by what it offers; the address that ssh has reached is
/// known to the login alone.
pub(super) fn place(
    given: &PartialServerOptions,
    offered: (Option<BindAddress>, Option<PortRange>),
    environment: &Environment,
) -> AttachPlace {
    let bind = given.bind.clone().or(offered.0);
    AttachPlace {
        bind: bind.map(|bind| match bind {
            BindAddress::SshConnection => of_ssh(environment),
            other => other,
        }),
        ports: given.ports.or(offered.1),
        from: client_address(environment),
    }
}

fn of_ssh(environment: &Environment) -> BindAddress {
    let connection = environment.get("SSH_CONNECTION");
    let reached: Option<OsString> = connection.map(bind::server_word);
    match reached.filter(|word| !word.is_empty()) {
        Some(word) => BindAddress::Address(word),
        None => BindAddress::Any,
    }
}

/// Tells the client of a session that expects it, and stays until it was heard there. Returns the status to leave with.
///
/// # Errors
///
/// When nobody can read it, or the system does not let us wait.
pub(super) fn see_through(
    attaching: Attaching,
    key: Key,
    mut parent: ParentHandle,
) -> Result<u8, ServerError> {
    parent.declare_name(&attaching.name);
    if !parent.declare_ready() {
        // What is not heard of us any more, the session does not expect any more either.
        return Ok(0);
    }
    let Attaching { port, .. } = attaching;
    announce::introduce(&attaching.announcement, port, &key)
        .and_then(|()| announce::name(&attaching.name))
        .and_then(|()| announce::agreed(attaching.remark.as_slice()))
        .map_err(while_doing("printing port and key"))?;
    drop(key);
    Streams::Released
        .let_go()
        .map_err(while_doing("letting go of the terminal"))?;
    let mut poller = Poller::new();
    loop {
        let waited = poller.wait(None, |registry| {
            registry.add(Token::SessionServer, &attaching, Interest::Read);
            registry.add(Token::ForkPeer, &parent, Interest::Read);
        });
        waited.map_err(while_doing("waiting for the client"))?;
        let is_answered = poller
            .ready()
            .any(|(token, _)| token == Token::SessionServer);
        let is_parent_gone = poller.ready().any(|(token, _)| token == Token::ForkPeer);
        if is_answered {
            if attaching.hear_out() {
                parent.declare_heard();
                return Ok(0);
            }
            parent.declare_failed();
            return Ok(fulmar_core::CompatMode::Fulmar.failure_status());
        }
        if is_parent_gone {
            return Ok(0);
        }
    }
}

/// Leaves the datagrams of that session to the parent.
///
/// # Errors
///
/// When nobody can read that it was found.
pub(super) fn leave_to(mut parent: ParentHandle, name: &SessionName) -> Result<u8, ServerError> {
    parent.declare_name(name);
    if parent.declare_ready() {
        announce::name(name)
            .and_then(|()| announce::agreed(&[]))
            .map_err(while_doing("printing that the session is there"))?;
        parent.declare_carried();
    }
    Ok(0)
}

/// Tells the client of sessions, and that this was all.
///
/// # Errors
///
/// When nobody can read it.
pub(super) fn answer(
    sessions: Vec<SessionInfo>,
    remark: Option<String>,
    mut parent: ParentHandle,
) -> Result<u8, ServerError> {
    if !parent.declare_ready() {
        return Ok(0);
    }
    let lines = sessions.into_iter().map(BootstrapLine::Session);
    announce::lines(lines)
        .and_then(|()| announce::agreed(remark.as_slice()))
        .map_err(while_doing("printing the sessions"))?;
    parent.declare_heard();
    Ok(0)
}

/// Returns the sessions that have no client.
pub(super) fn detached(environment: &Environment) -> Vec<SessionInfo> {
    let mut all = Directory::glance(environment);
    all.retain(|info| info.away.is_some());
    all
}

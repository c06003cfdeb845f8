//! Requests of other processes of the user to a session: to be described, to be ended or renamed, and to expect another
//! client.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use fulmar_base::Time;
use fulmar_core::{AttachConfig, CompatMode, Server};
use fulmar_login::{Announcement, BindAddress, BootstrapLine, PortRange, SessionInfo, SessionName};
use fulmar_settings::Environment;
use fulmar_transport::FarewellWords;

use super::bind::{self, Bound};
use super::error::ServerError;
use super::sockets::Sockets;
use crate::address;
use crate::random;
use crate::reactor::{Registry, Token};
use crate::sessions::{
    AttachPlace, AttachRequest, Attaching, ControlRequest, ControlSocket, PORTS_USED, PeerId,
};

/// The most ports on which one session listens. More than one are for clients that ask for others than it has.
///
/// Source: docs/threat-model.md §6.
const PORTS_MAX: usize = 4;

/// The session's socket for other processes, and all that they may ask.
pub(crate) struct SessionControl {
    socket: ControlSocket,
    began: Time,
    command: String,
    ports: Vec<ListeningPort>,
    /// The process that waits for the client of an attachment.
    attaching: Option<PeerId>,
    /// The address of the client, or of the last one, if any was there.
    client: Option<IpAddr>,
    ready: Vec<usize>,
    /// True if somebody wants to ask.
    has_askers: bool,
}

/// A port on which the session listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ListeningPort {
    port: u16,
    /// The address; `None` for all.
    address: Option<IpAddr>,
    datagram_bytes: usize,
}

/// The fate of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// It is to go on.
    Nothing,
    /// It is to end.
    End,
}

impl SessionControl {
    /// Returns what may be asked at that socket of a session that begins now, with that command and on these sockets.
    pub(crate) fn new(
        now: Time,
        socket: ControlSocket,
        command: &[OsString],
        bound: &Bound,
    ) -> SessionControl {
        let words = command.iter().map(|word| word.to_string_lossy());
        SessionControl {
            socket,
            began: now,
            command: words.collect::<Vec<_>>().join(" "),
            ports: ListeningPort::of(bound).into_iter().collect(),
            attaching: None,
            client: None,
            ready: Vec::new(),
            has_askers: false,
        }
    }

    /// Registers the socket and those who ask.
    pub(crate) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        self.socket.register(registry);
    }

    /// Notes that the descriptor of this token is ready, if it is one of those.
    pub(crate) fn note_ready(&mut self, token: Token) {
        match token {
            Token::ControlListener => self.has_askers = true,
            Token::ControlPeer(index) => self.ready.push(index),
            _ => {}
        }
    }

    /// Notes where the client is; `None` for nowhere.
    pub(crate) fn note_client(&mut self, address: Option<IpAddr>) {
        self.client = address.or(self.client);
    }

    /// Makes the socket again if it has gone.
    pub(crate) fn restore(&mut self) {
        self.socket.restore();
    }

    /// Tells whoever waits for it that the client has come, or will not come any more.
    pub(crate) fn note_attachment(&mut self, has_come: bool) {
        if let Some(id) = self.attaching.take() {
            if has_come {
                self.socket.answer(id, &BootstrapLine::Heard.text());
            }
            self.socket.dismiss(id);
        }
    }

    /// Does what was asked.
    pub(crate) fn carry_out(
        &mut self,
        now: Time,
        server: &mut Server,
        sockets: &mut Sockets,
    ) -> Wanted {
        let ready = std::mem::take(&mut self.ready);
        let mut wanted = Wanted::Nothing;
        for (id, request) in self.socket.read(&ready) {
            let Some(request) = request else {
                self.note_gone(id, server);
                continue;
            };
            if let ControlRequest::Carry(client) = request {
                self.socket.answer(id, &BootstrapLine::OverSsh.text());
                if let Some(carrier) = self.socket.hand_over(id) {
                    sockets.carry(now, carrier, client);
                }
                continue;
            }
            if let ControlRequest::Attach(request) = request {
                self.attach(now, id, *request, server, sockets);
                continue;
            }
            let outcome = match request {
                ControlRequest::Rename(name) => self.rename(name),
                ControlRequest::End => {
                    wanted = Wanted::End;
                    Ok(())
                }
                ControlRequest::Status | ControlRequest::Carry(_) | ControlRequest::Attach(_) => {
                    Ok(())
                }
            };
            let line = match outcome {
                Ok(()) => BootstrapLine::Session(self.info(now, server)),
                Err(refusal) => BootstrapLine::Error(refusal),
            };
            self.socket.answer(id, &line.text());
            self.socket.dismiss(id);
        }
        // Whoever was there before has been read by now.
        if std::mem::take(&mut self.has_askers)
            && let Some(id) = self.socket.accept()
        {
            self.note_gone(id, server);
        }
        wanted
    }

    /// Notes that nobody waits any more for what that process has asked.
    fn note_gone(&mut self, id: PeerId, server: &mut Server) {
        if self.attaching == Some(id) {
            tracing::info!("the login of an attachment has ended");
            self.attaching = None;
            server.drop_attachment();
        }
    }

    fn info(&self, now: Time, server: &Server) -> SessionInfo {
        let away = server.unattended_for(now);
        let whole = |time: Duration| Duration::from_secs(time.as_secs());
        SessionInfo {
            name: self.socket.name().clone(),
            former: self.socket.former_names().to_vec(),
            pid: std::process::id(),
            age: whole(now.since(self.began)),
            client: self.client.map(|at| at.to_canonical()),
            away: away.map(whole),
            expires: server.expires_in(now).map(whole),
            is_silent: false,
            command: self.command.clone(),
        }
    }

    fn rename(&mut self, name: SessionName) -> Result<(), String> {
        self.socket
            .rename(name)
            .map_err(|error| match error.kind() {
                ErrorKind::AddrInUse => "another session has that name already".to_owned(),
                _ => format!("renaming the socket: {error}"),
            })
    }

    fn attach(
        &mut self,
        now: Time,
        id: PeerId,
        request: AttachRequest,
        server: &mut Server,
        sockets: &mut Sockets,
    ) {
        match self.expect(now, request, server, sockets) {
            Ok(port) => {
                self.socket.answer(id, &Attaching::answer(port));
                if let Some(former) = self.attaching.replace(id) {
                    self.socket.dismiss(former);
                }
            }
            Err(refusal) => {
                self.socket
                    .answer(id, &BootstrapLine::Error(refusal).text());
                self.socket.dismiss(id);
            }
        }
    }

    /// Has the session expect that client, and returns the port.
    fn expect(
        &mut self,
        now: Time,
        request: AttachRequest,
        server: &mut Server,
        sockets: &mut Sockets,
    ) -> Result<u16, String> {
        let AttachRequest {
            place,
            received,
            key,
        } = request;
        let listening = self.listen(&place, sockets)?;
        let offer = received.offer;
        let seed = random::seed().map_err(|error| error.to_string())?;
        let config = AttachConfig {
            key,
            agreement: Announcement::ours().agreement_on(offer.capabilities, &received.text),
            size: offer.size.unwrap_or_default(),
            datagram_bytes: listening.datagram_bytes,
            taker: place
                .from
                .and_then(|from| FarewellWords::new(&from.to_string())),
            seed,
        };
        if server.attach(now, config) {
            Ok(listening.port)
        } else {
            Err("it is just ending".to_owned())
        }
    }

    /// Returns a port where the client can come in, on which the session listens from now on if it did not before.
    fn listen(
        &mut self,
        place: &AttachPlace,
        sockets: &mut Sockets,
    ) -> Result<ListeningPort, String> {
        if let Some(listening) = self.ports.iter().find(|port| port.meets(place)) {
            return Ok(*listening);
        }
        if self.ports.len() == PORTS_MAX {
            return Err(PORTS_USED.to_owned());
        }
        let bound = bind::bind(
            place.bind.as_ref().unwrap_or(&BindAddress::Any),
            place.ports.unwrap_or(PortRange::DEFAULT),
            &Environment::default(),
            CompatMode::Fulmar,
        );
        let bound = bound.map_err(|error: ServerError| error.to_string())?;
        let listening = ListeningPort::of(&bound);
        let listening = listening.ok_or("it has no port to listen on")?;
        tracing::info!(port = listening.port, "listening there, too");
        sockets.add(bound.sockets);
        self.ports.push(listening);
        Ok(listening)
    }
}

impl ListeningPort {
    fn of(bound: &Bound) -> Option<ListeningPort> {
        let first = bound.sockets.first()?.local_address().ok()?;
        Some(ListeningPort {
            port: bound.port,
            address: Some(first.ip()).filter(|address| !address.is_unspecified()),
            datagram_bytes: bound.datagram_bytes(),
        })
    }

    /// Tells if a client that wishes that can come in here.
    fn meets(&self, place: &AttachPlace) -> bool {
        let has_port = place.ports.is_none_or(|ports| ports.contains(self.port));
        let has_address = match (&place.bind, self.address) {
            (_, None) => true,
            (Some(BindAddress::Address(wanted)), Some(address)) => {
                address::parse(wanted, 0).is_some_and(|at: SocketAddr| at.ip() == address)
            }
            (_, Some(_)) => false,
        };
        has_port && has_address
    }
}

#[cfg(test)]
mod tests {
    use fulmar_datagram::limits::DATAGRAM_BYTES_IPV4;

    use super::*;

    #[test]
    fn a_port_does_for_whoever_can_come_in_there() {
        let port = |address: Option<&str>| ListeningPort {
            port: 60001,
            address: address.map(|text| text.parse().unwrap()),
            datagram_bytes: DATAGRAM_BYTES_IPV4,
        };
        let place = |bind: Option<&str>, ports: Option<&str>| AttachPlace {
            bind: bind.map(|text| match text {
                "any" => BindAddress::Any,
                text => BindAddress::Address(text.into()),
            }),
            ports: ports.map(|text| PortRange::parse(text).unwrap()),
            from: None,
        };
        let (everywhere, here) = (port(None), port(Some("127.0.0.1")));
        for (place, does_everywhere, does_here) in [
            (place(None, None), true, false),
            (place(Some("any"), None), true, false),
            (place(Some("127.0.0.1"), None), true, true),
            (place(Some("192.0.2.7"), None), true, false),
            (place(Some("127.0.0.1"), Some("60000:60005")), true, true),
            (place(None, Some("60002")), false, false),
        ] {
            assert_eq!(everywhere.meets(&place), does_everywhere, "{place:?}");
            assert_eq!(here.meets(&place), does_here, "{place:?}");
        }
    }
}

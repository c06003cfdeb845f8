//! A client that has the key and means no good: it asks for a large window and, once the server knows
//! where it is, acknowledges nothing any more.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use fulmar_base::{Ecn, PathId, Time};
use fulmar_core::UserStream;
use fulmar_datagram::{Direction, Key, Opener, Sealer};
use fulmar_terminal::Size;
use fulmar_transport::{
    ApplyError, Arrival, Budget, Difference, Endpoint, EndpointConfig, Noise, Role, Synced,
    WorkBudget,
};

const PATH: PathId = PathId::new(1);

/// The number of the server's states that are acknowledged before the client goes deaf: its way is validated
/// then, and its window known.
const STATES_HEARD: u64 = 8;

/// A screen of which nothing is kept.
#[derive(Clone)]
struct Unseen;

impl Synced for Unseen {
    fn is_same(&self, _: &Unseen) -> bool {
        true
    }

    fn diff_from(&self, _: &Unseen, _: Budget) -> Difference<Unseen> {
        Difference::complete(Vec::new())
    }

    fn apply(&mut self, _: &[u8], _: &mut WorkBudget) -> Result<(), ApplyError> {
        Ok(())
    }

    fn held_bytes(&self, _: Option<&Unseen>) -> usize {
        0
    }
}

struct Silence;

impl Noise for Silence {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// Such a client.
pub(crate) struct DeafClient {
    socket: UdpSocket,
    begun: Instant,
    /// The endpoint that speaks to the server, and is told what comes until it goes deaf.
    speaker: Endpoint<UserStream, Unseen>,
    /// The endpoint that is told everything and never heard.
    listener: Endpoint<UserStream, Unseen>,
}

impl DeafClient {
    /// Connects to a server on this machine.
    pub(crate) fn connect(port: u16, key: &str) -> DeafClient {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.connect(("127.0.0.1", port)).expect("a way");
        let pause = Some(Duration::from_millis(5));
        socket.set_read_timeout(pause).expect("a socket's option");
        let endpoint = || {
            let key = Key::from_base64(key).expect("the key of a session");
            let config = EndpointConfig {
                role: Role::Client,
                datagram_bytes: 1252,
                agreement: None,
            };
            let opener = Opener::new(&key, Direction::ToClient);
            Endpoint::new(
                Time::ZERO,
                config,
                Sealer::new(key, Direction::ToServer),
                opener,
                UserStream::writing(),
                Unseen,
                Box::new(Silence),
            )
        };
        let mut speaker = endpoint();
        speaker.handle_path_opened(Time::ZERO, PATH);
        DeafClient {
            socket,
            begun: Instant::now(),
            speaker,
            listener: endpoint(),
        }
    }

    /// Has a window of this size, and stays until the server has sent its state of that number; false if
    /// it has not within `limit`.
    pub(crate) fn stay(&mut self, size: Size, number: u64, limit: Duration) -> bool {
        let mut window = UserStream::writing();
        window.push_resize(size);
        let now = Time::from_origin(self.begun.elapsed());
        self.speaker.set_local(now, window);
        let mut buffer = vec![0; 2048];
        while self.begun.elapsed() < limit {
            let now = Time::from_origin(self.begun.elapsed());
            self.speaker.handle_timeout(now);
            let mut out = Vec::new();
            while let Some(transmit) = self.speaker.poll_transmit(now, &mut out) {
                for datagram in transmit.split(&out) {
                    let _ = self.socket.send(datagram);
                }
            }
            let Ok(length) = self.socket.recv(&mut buffer) else {
                continue;
            };
            let arrival = Arrival {
                path: PATH,
                ecn: Ecn::NotCapable,
                bytes: buffer.get(..length).unwrap_or_default(),
            };
            let now = Time::from_origin(self.begun.elapsed());
            let _ = self.listener.handle_datagram(now, arrival);
            let heard = self.listener.receiver().newest_number().get();
            if heard < STATES_HEARD {
                let _ = self.speaker.handle_datagram(now, arrival);
            }
            if heard >= number {
                return true;
            }
        }
        false
    }
}

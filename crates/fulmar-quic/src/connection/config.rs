//! Sets up QUIC.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quinn_proto::{
    ClientConfig, ConnectionId, ConnectionIdGenerator, Endpoint, EndpointConfig, IdleTimeout,
    InvalidCid, MtuDiscoveryConfig, NoneTokenStore, ServerConfig, Side, TransportConfig,
    ValidationTokenConfig, VarInt,
};
use ring::{digest, hmac};

use super::varint;
use crate::connection_id::ConnectionIdKey;
use crate::control::{Factory, SharedControl};
use crate::keys::Keys;
use crate::window::FlowControlWindow;
use crate::{ConnectionOptions, InitialFilter, STREAMS_MAX, Secret, WINDOW_MAX};

/// The most bytes that a stream may have under way: 2000 packets of 1200 bytes, so that no order of arrival
/// makes more than 1000 gaps. At 1024 QUIC's buffer gives up the connection.
///
/// Source: docs/decisions/022-quic.md.
const STREAM_WINDOW: u32 = 2000 * 1200;

/// The round trip that is assumed before one was measured: first datagrams are repeated after 0.6,
/// 1.8 and 4.2 s.
///
/// Chosen by eye.
const RTT_ASSUMED: Duration = Duration::from_millis(200);

/// The largest datagram that is tried: what IPv6 leaves of an Ethernet frame.
///
/// Source: RFC 2464 §2 and RFC 8200 §3, less 8 bytes of UDP.
const MTU_MAX: u16 = 1452;

/// Everything that does not change.
pub(super) struct Config {
    side: Side,
    keys: Option<Keys>,
    seed: [u8; 32],
    shared: Arc<SharedControl>,
    options: ConnectionOptions,
    pub(super) streams: u8,
    pub(super) window_max: u64,
}

impl Config {
    pub(super) fn new(
        side: Side,
        secret: &Secret,
        seed: [u8; 32],
        options: &ConnectionOptions,
        shared: Arc<SharedControl>,
    ) -> Config {
        Config {
            side,
            keys: Keys::derive(secret).ok(),
            seed,
            shared,
            streams: options.streams.clamp(1, STREAMS_MAX),
            window_max: options.window_max.min(WINDOW_MAX),
            options: options.clone(),
        }
    }

    /// Returns the initial filter of this end.
    pub(super) fn filter(&self) -> InitialFilter {
        let Some(keys) = &self.keys else {
            // Without keys there is no connection that anything could reach.
            return InitialFilter::of_client(ConnectionIdKey::own(&[]));
        };
        match self.side {
            Side::Client => InitialFilter::of_client(keys.client.clone()),
            Side::Server => InitialFilter::of_server(keys.server.clone(), keys.first.clone()),
        }
    }

    /// Returns an endpoint without connections.
    pub(super) fn endpoint(&self) -> Endpoint {
        let reset = hmac::Key::new(hmac::HMAC_SHA256, &[]);
        let reset = self.keys.as_ref().map_or(reset, |keys| keys.reset.clone());
        let mut config = EndpointConfig::new(Arc::new(reset));
        config.supported_versions(vec![1]).grease_quic_bit(false);
        if let Some(keys) = &self.keys {
            let ids = Ids::new(
                match self.side {
                    Side::Client => keys.client.clone(),
                    Side::Server => keys.server.clone(),
                },
                &self.seed,
            );
            config.cid_generator(move || Box::new(ids.clone()));
        }
        Endpoint::new(
            Arc::new(config),
            self.server().map(Arc::new),
            self.options.discover_mtu,
            Some(self.seed),
        )
    }

    /// Returns how a client connects; `None` if there are no keys.
    pub(super) fn client(&self) -> Option<ClientConfig> {
        let keys = self.keys.as_ref()?;
        let first = keys.first.make(&mixed(&self.seed, b"first", 0));
        let mut config = ClientConfig::new(Arc::new(keys.client_config().ok()?));
        config
            .initial_dst_cid_provider(Arc::new(move || first))
            .token_store(Arc::new(NoneTokenStore))
            .transport_config(Arc::new(self.transport()));
        Some(config)
    }

    fn server(&self) -> Option<ServerConfig> {
        let keys = self.keys.as_ref().filter(|_| self.side.is_server())?;
        let crypto = keys.server_config().ok()?;
        let mut config = ServerConfig::new(Arc::new(crypto), Arc::new(keys.token.clone()));
        let mut tokens = ValidationTokenConfig::default();
        // Address tokens are for clients that come back. This server has one client, once.
        tokens.sent(0);
        config
            .transport_config(Arc::new(self.transport()))
            .validation_token_config(tokens);
        Some(config)
    }

    fn transport(&self) -> TransportConfig {
        let window = FlowControlWindow::up_to(self.window_max).bytes();
        let mut discovery = MtuDiscoveryConfig::default();
        discovery.upper_bound(MTU_MAX);
        let mut config = TransportConfig::default();
        config
            // The control stream, which the client opens.
            .max_concurrent_bidi_streams(VarInt::from_u32(self.side.is_server().into()))
            .max_concurrent_uni_streams(VarInt::from_u32(self.streams.into()))
            .max_idle_timeout(IdleTimeout::try_from(self.options.idle_timeout).ok())
            .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
            .receive_window(varint(window))
            .send_window(window)
            .initial_rtt(RTT_ASSUMED)
            .mtu_discovery_config(Some(discovery))
            .datagram_receive_buffer_size(None)
            // The spin bit shows the round trip to everybody on the path (RFC 9000 §17.4).
            .allow_spin(false)
            .congestion_controller_factory(Arc::new(Factory::new(
                self.options.control,
                self.shared.clone(),
            )));
        config
    }
}

/// Makes the ids that this end gives out, from the seed.
#[derive(Clone)]
struct Ids {
    key: ConnectionIdKey,
    seed: [u8; 32],
    made: Arc<AtomicU64>,
}

impl Ids {
    fn new(key: ConnectionIdKey, seed: &[u8; 32]) -> Ids {
        Ids {
            key,
            seed: *seed,
            made: Arc::default(),
        }
    }
}

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        self.key.make(&mixed(&self.seed, b"id", number))
    }

    fn validate(&self, id: &ConnectionId) -> Result<(), InvalidCid> {
        if self.key.has_signed(id) {
            return Ok(());
        }
        Err(InvalidCid)
    }

    fn cid_len(&self) -> usize {
        self.key.id_bytes()
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// The seed's random bytes for one purpose.
fn mixed(seed: &[u8; 32], purpose: &[u8], number: u64) -> [u8; 32] {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in [seed.as_slice(), purpose, &number.to_be_bytes()] {
        context.update(part);
    }
    let digest = context.finish();
    <[u8; 32]>::try_from(digest.as_ref()).unwrap_or([0; 32])
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;

    fn config(streams: u8, window_max: u64) -> Config {
        let options = ConnectionOptions {
            streams,
            window_max,
            ..ConnectionOptions::default()
        };
        let secret = Secret::from_bytes(Zeroizing::new([7; 32]));
        Config::new(Side::Client, &secret, [1; 32], &options, Arc::default())
    }

    #[test]
    fn what_is_asked_beyond_the_caps_is_the_caps() {
        for (streams, used) in [
            (0, 1),
            (STREAMS_MAX, STREAMS_MAX),
            (STREAMS_MAX + 1, STREAMS_MAX),
        ] {
            assert_eq!(config(streams, 0).streams, used);
        }
        for window in [WINDOW_MAX - 1, WINDOW_MAX] {
            assert_eq!(config(1, window).window_max, window);
        }
        assert_eq!(config(1, WINDOW_MAX + 1).window_max, WINDOW_MAX);
    }
}

//! Congestion control: whose it is, and what all of them have in common.

mod delay_based;

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig,
};

use crate::CongestionControl;

/// State that a connection shares with its controller, which QUIC owns.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// Whether packets may leave, whatever is under way: while the connection asks QUIC for some.
    is_open: AtomicBool,
    /// Bytes that may be under way, and that are.
    window: AtomicU64,
    in_flight: AtomicU64,
    acknowledged: AtomicU64,
    /// Whether all that there is room for is to leave at once.
    is_at_once: AtomicBool,
}

impl Line {
    /// Lets packets that wait for acknowledgements pass, or none.
    pub(crate) fn set_open(&self, is_open: bool) {
        self.is_open.store(is_open, Ordering::Relaxed);
    }

    /// Returns the congestion window in bytes.
    pub(crate) fn window(&self) -> u64 {
        self.window.load(Ordering::Relaxed)
    }

    /// Returns whether all that there is room for is to leave at once.
    pub(crate) fn is_at_once(&self) -> bool {
        self.is_at_once.load(Ordering::Relaxed)
    }

    /// Returns how many bytes more may be under way.
    pub(crate) fn room(&self) -> u64 {
        let in_flight = self.in_flight.load(Ordering::Relaxed);
        self.window().saturating_sub(in_flight)
    }

    /// So many bytes have left that are to be acknowledged. QUIC tells its controller of all bytes.
    pub(crate) fn note_sent(&self, bytes: u64) {
        self.in_flight.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns how many bytes the peer has acknowledged since this was last asked.
    pub(crate) fn take_acknowledged(&self) -> u64 {
        self.acknowledged.swap(0, Ordering::Relaxed)
    }
}

/// Makes the controllers of one connection: one at its beginning, others for new paths.
pub(crate) struct Factory {
    kind: CongestionControl,
    line: Arc<Line>,
}

impl Factory {
    pub(crate) fn new(kind: CongestionControl, line: Arc<Line>) -> Factory {
        Factory { kind, line }
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = match self.kind {
            CongestionControl::DelayBased => {
                Arc::new(delay_based::DelayBasedConfig).build(now, current_mtu)
            }
            CongestionControl::Bbr => Arc::new(BbrConfig::default()).build(now, current_mtu),
            CongestionControl::Cubic => Arc::new(CubicConfig::default()).build(now, current_mtu),
        };
        let line = self.line.clone();
        line.in_flight.store(0, Ordering::Relaxed);
        let governed = Governed {
            inner,
            line,
            confirmed: false,
        };
        governed.tell();
        Box::new(governed)
    }
}

/// A controller, and the line to the connection.
struct Governed {
    inner: Box<dyn Controller>,
    line: Arc<Line>,
    /// Something that was sent on this path was acknowledged: QUIC says so only once the path is
    /// validated.
    confirmed: bool,
}

/// Whether the path of this controller is known to lead to the peer.
pub(crate) fn is_confirmed(controller: &dyn Controller) -> bool {
    controller.metrics().ssthresh.is_some()
}

impl Governed {
    fn tell(&self) {
        let metrics = self.inner.metrics();
        let is_at_once = metrics.pacing_rate == Some(u64::MAX);
        self.line
            .window
            .store(metrics.congestion_window, Ordering::Relaxed);
        self.line.is_at_once.store(is_at_once, Ordering::Relaxed);
    }
}

impl Controller for Governed {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.confirmed = true;
        self.line.acknowledged.fetch_add(bytes, Ordering::Relaxed);
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.inner
            .on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
        self.line.in_flight.store(in_flight, Ordering::Relaxed);
        self.tell();
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.inner
            .on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        let known = self.line.in_flight.load(Ordering::Relaxed);
        let in_flight = known.saturating_sub(lost_bytes);
        self.line.in_flight.store(in_flight, Ordering::Relaxed);
        self.tell();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
        self.tell();
    }

    /// All or nothing: the connection itself minds the window and paces. What is above 2^32 is not
    /// paced by QUIC.
    fn window(&self) -> u64 {
        if self.line.is_open.load(Ordering::Relaxed) {
            return u64::MAX;
        }
        1
    }

    /// Says by the threshold, which nobody else reads here, whether the path is confirmed.
    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.inner.window();
        metrics.ssthresh = self.confirmed.then_some(self.inner.window());
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Governed {
            inner: self.inner.clone_box(),
            line: self.line.clone(),
            confirmed: false,
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

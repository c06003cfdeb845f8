//! Congestion control: the choice of a controller, and what connection and controller tell each other.
//!
//! QUIC owns the controller of a path and asks it for a window. Here the connection paces and minds the window itself
//! (`connection/pacer.rs`), so QUIC is told an open window or a shut one, and the real one goes to the connection.

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
pub(crate) struct SharedControl {
    /// QUIC may send, whatever is in flight: while the connection asks it for packets.
    is_open: AtomicBool,
    /// The congestion window in bytes, and the bytes in flight.
    window: AtomicU64,
    in_flight: AtomicU64,
    acknowledged: AtomicU64,
    /// The window is to leave at once, unpaced.
    is_unpaced: AtomicBool,
}

impl SharedControl {
    /// Lets packets that wait for acknowledgements pass, or none.
    pub(crate) fn set_open(&self, is_open: bool) {
        self.is_open.store(is_open, Ordering::Relaxed);
    }

    /// Returns the congestion window in bytes.
    pub(crate) fn window(&self) -> u64 {
        self.window.load(Ordering::Relaxed)
    }

    /// Returns whether the window is to leave at once, unpaced.
    pub(crate) fn is_unpaced(&self) -> bool {
        self.is_unpaced.load(Ordering::Relaxed)
    }

    /// Returns how many bytes more may be in flight.
    pub(crate) fn available_window(&self) -> u64 {
        let in_flight = self.in_flight.load(Ordering::Relaxed);
        self.window().saturating_sub(in_flight)
    }

    /// Counts ack-eliciting bytes that have left: QUIC tells its controller of all bytes.
    pub(crate) fn on_sent(&self, bytes: u64) {
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
    shared: Arc<SharedControl>,
}

impl Factory {
    pub(crate) fn new(kind: CongestionControl, shared: Arc<SharedControl>) -> Factory {
        Factory { kind, shared }
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
        let shared = self.shared.clone();
        // QUIC builds a controller for each path (RFC 9000 §9.4), and on a new one nothing is in
        // flight.
        shared.in_flight.store(0, Ordering::Relaxed);
        let controller = ReportingController {
            inner,
            shared,
            is_validated: false,
        };
        controller.report();
        Box::new(controller)
    }
}

/// A controller that reports its window to the connection.
struct ReportingController {
    inner: Box<dyn Controller>,
    shared: Arc<SharedControl>,
    /// Something that was sent on this path was acknowledged: QUIC says so only once the path is
    /// validated.
    is_validated: bool,
}

/// Returns whether the path of this controller is validated (RFC 9000 §8.2).
pub(crate) fn is_path_validated(controller: &dyn Controller) -> bool {
    controller.metrics().ssthresh.is_some()
}

impl ReportingController {
    fn report(&self) {
        let metrics = self.inner.metrics();
        let is_unpaced = metrics.pacing_rate == Some(u64::MAX);
        self.shared
            .window
            .store(metrics.congestion_window, Ordering::Relaxed);
        self.shared.is_unpaced.store(is_unpaced, Ordering::Relaxed);
    }
}

impl Controller for ReportingController {
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
        self.is_validated = true;
        self.shared.acknowledged.fetch_add(bytes, Ordering::Relaxed);
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
        // QUIC's count is exact. It takes the place of what was added up since the last one, so
        // errors do not add up.
        self.shared.in_flight.store(in_flight, Ordering::Relaxed);
        self.report();
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
        // Losses that a timer finds end no batch of acknowledgements, so the count has to be kept
        // up here, too.
        let known = self.shared.in_flight.load(Ordering::Relaxed);
        let in_flight = known.saturating_sub(lost_bytes);
        self.shared.in_flight.store(in_flight, Ordering::Relaxed);
        self.report();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
        self.report();
    }

    /// All or nothing: the connection itself minds the window and paces. What is above 2^32 is not
    /// paced by QUIC.
    fn window(&self) -> u64 {
        if self.shared.is_open.load(Ordering::Relaxed) {
            return u64::MAX;
        }
        1
    }

    /// Says by the threshold, which nobody else reads here, whether the path is validated.
    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.inner.window();
        metrics.ssthresh = self.is_validated.then_some(self.inner.window());
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(ReportingController {
            inner: self.inner.clone_box(),
            shared: self.shared.clone(),
            is_validated: false,
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

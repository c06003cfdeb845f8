//! Whatever a path is made of: nothing disappears without a cause and nothing appears from nowhere.

use std::time::Duration;

use fulmar_sim::{
    BurstLoss, CLIENT, CoDel, Datagram, Delay, Duplication, Impairment, LinkTrace, Loss, Mtu,
    Network, Node, Outage, Picked, Queue, Rate, Reordering, SERVER, Simulation, Traced, Transmit,
    address, days, ms, secs,
};
use proptest::prelude::*;

proptest! {
    #[test]
    fn sent_and_doubled_is_delivered_and_lost(
        seed: u64,
        up in prop::collection::vec(impairment(), 0..6),
        lens in prop::collection::vec(0_usize..2000, 1..200),
    ) {
        let count = lens.len() as u64;
        let sender = Sender { lens, next: Some(ms(0)), is_due: false };
        let mut sim = Simulation::new(Network::seeded(seed).up(up), (sender, Listener::default()));
        sim.run_for(days(1))?;
        let (client, server) = (sim.net.counts(CLIENT), sim.net.counts(SERVER));
        prop_assert_eq!(client.sent, count);
        let went = server.delivered + client.lost_total() + client.refused;
        prop_assert_eq!(client.sent + client.doubled, went);
        prop_assert_eq!(server.delivered, sim.nodes.1.heard);
    }
}

fn impairment() -> impl Strategy<Value = Impairment> {
    prop_oneof![
        (0..100_u32).prop_map(Loss::percent),
        (0..50_u32, 1..20_u32).prop_map(|(share, run)| BurstLoss::percent(share, run + 1)),
        (0..100_u32).prop_map(Duplication::percent),
        (0..500_u64).prop_map(Delay::ms),
        (0..500_u64, 0..500_u64).prop_map(|(a, b)| Delay::reordering_jitter(ms(a), ms(a + b))),
        (0..500_u64, 0..500_u64).prop_map(|(a, b)| Delay::jitter(ms(a), ms(a + b))),
        (0..100_u32, 0..500_u64).prop_map(|(share, hold)| Reordering::percent(share, ms(hold))),
        (50..5000_u64, 0..30_usize)
            .prop_map(|(rate, room)| Rate::kbit(rate, Queue::datagrams(room))),
        (50..5000_u64, 0..30_000_usize)
            .prop_map(|(rate, room)| Rate::kbit(rate, Queue::bytes(room))),
        (50..5000_u64, 0..30_usize)
            .prop_map(|(rate, room)| Rate::kbit(rate, CoDel::standard().holding(room).into())),
        (prop::collection::vec(0..500_u32, 1..20), 0..30_usize).prop_map(|(mut times, room)| {
            times.sort_unstable();
            times.push(500);
            let trace = LinkTrace::from_times(times).expect("the times rise");
            Traced::by(trace.into(), Queue::datagrams(room))
        }),
        (0..2000_usize).prop_map(Mtu::black_hole),
        (0..2000_usize).prop_map(Mtu::reported),
        (0..3_u64).prop_map(|start| Outage::between(secs(start), secs(start + 1))),
        prop::collection::vec(0..200_u64, 0..20).prop_map(Picked::lost),
    ]
}

/// Sends one datagram of each length, 10 ms apart.
struct Sender {
    lens: Vec<usize>,
    next: Option<Duration>,
    is_due: bool,
}

impl Node for Sender {
    fn handle_datagram(&mut self, _now: Duration, _datagram: Datagram) {}

    fn handle_timeout(&mut self, now: Duration) {
        self.is_due = true;
        self.next = (self.lens.len() > 1).then_some(now + ms(10));
    }

    fn poll_transmit(&mut self, _now: Duration) -> Option<Transmit> {
        if !std::mem::take(&mut self.is_due) {
            return None;
        }
        let len = self.lens.pop()?;
        Some(Transmit::to(address("203.0.113.1:60001"), vec![0; len]))
    }

    fn next_timeout(&self) -> Option<Duration> {
        self.next
    }
}

#[derive(Default)]
struct Listener {
    heard: u64,
}

impl Node for Listener {
    fn handle_datagram(&mut self, _now: Duration, _datagram: Datagram) {
        self.heard += 1;
    }

    fn handle_timeout(&mut self, _now: Duration) {}

    fn poll_transmit(&mut self, _now: Duration) -> Option<Transmit> {
        None
    }

    fn next_timeout(&self) -> Option<Duration> {
        None
    }
}

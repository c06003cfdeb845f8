//! One direction of a link: stages, one behind the other.

use std::time::Duration;

use crate::datagram::{Datagram, Label};
use crate::impairment::{Fate, Impairment, Outlet, Stage};
use crate::random::Random;
use fulmar_base::SendError;

/// The stages that a datagram passes, in their order.
#[derive(Debug)]
pub(crate) struct Path {
    stages: Vec<Box<dyn Stage>>,
    seed: u64,
    /// The next unused stream of chance; each path starts at its own multiple of 2^32.
    next_stream: u64,
}

/// Something that a path did, and when.
#[derive(Debug)]
pub(crate) struct PathEvent {
    pub(crate) at: Duration,
    pub(crate) what: PathOutcome,
}

#[derive(Debug)]
pub(crate) enum PathOutcome {
    /// It came out at the far end.
    Passed(Datagram),
    /// Something else became of it on the way.
    Met(Label, Fate),
    /// It was lost, and its sender is to know.
    Refused(Datagram, SendError),
}

impl Path {
    /// Returns a path without stages: what enters comes out at once.
    pub(crate) fn clear(seed: u64, number: u32) -> Self {
        Self {
            stages: Vec::new(),
            seed,
            next_stream: u64::from(number) << 32,
        }
    }

    /// Adds a stage at the far end.
    pub(crate) fn add(&mut self, impairment: Impairment) {
        let random = Random::stream(self.seed, self.next_stream);
        self.next_stream += 1;
        self.stages.push(impairment.into_stage(random));
    }

    /// Adds a stage of a test's own at the far end.
    pub(crate) fn add_stage(&mut self, stage: Box<dyn Stage>) {
        self.stages.push(stage);
    }

    /// Gives new settings to the first stage of that kind, or adds one at the far end.
    pub(crate) fn set(&mut self, now: Duration, impairment: Impairment) {
        let known = self
            .stages
            .iter_mut()
            .any(|stage| stage.change(now, &impairment));
        if !known {
            self.add(impairment);
        }
    }

    /// Takes a datagram at `now`, after all that was due by then.
    pub(crate) fn take(&mut self, now: Duration, datagram: Datagram, events: &mut Vec<PathEvent>) {
        self.advance(now, events);
        self.feed(0, now, datagram, events);
    }

    /// Does what is due up to and including `now`, in order of time.
    pub(crate) fn advance(&mut self, now: Duration, events: &mut Vec<PathEvent>) {
        while let Some((due, index)) = self.first_due()
            && due <= now
        {
            let mut outlet = Outlet::default();
            if let Some(stage) = self.stages.get_mut(index) {
                stage.release(due, &mut outlet);
            }
            self.spread(index + 1, due, outlet, events);
        }
    }

    /// Returns the instant at which something will come out of a stage.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.first_due().map(|(due, _)| due)
    }

    /// Returns the earliest release and its stage: of equal ones the nearest to the far end, so that
    /// room is made before somebody asks for it.
    fn first_due(&self) -> Option<(Duration, usize)> {
        let dues = self.stages.iter().enumerate().rev();
        dues.filter_map(|(index, stage)| Some((stage.next_due()?, index)))
            .min_by_key(|(due, _)| *due)
    }

    fn feed(
        &mut self,
        index: usize,
        at: Duration,
        datagram: Datagram,
        events: &mut Vec<PathEvent>,
    ) {
        let Some(stage) = self.stages.get_mut(index) else {
            events.push(PathEvent {
                at,
                what: PathOutcome::Passed(datagram),
            });
            return;
        };
        let mut outlet = Outlet::default();
        stage.take(at, datagram, &mut outlet);
        self.spread(index + 1, at, outlet, events);
    }

    fn spread(&mut self, next: usize, at: Duration, outlet: Outlet, events: &mut Vec<PathEvent>) {
        for (label, fate) in outlet.fates {
            events.push(PathEvent {
                at,
                what: PathOutcome::Met(label, fate),
            });
        }
        for (datagram, error) in outlet.refused {
            events.push(PathEvent {
                at,
                what: PathOutcome::Refused(datagram, error),
            });
        }
        for datagram in outlet.passed {
            self.feed(next, at, datagram, events);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::impairment::{Delay, Loss, Rate};
    use crate::queue::Queue;
    use crate::testing::Bench;
    use crate::units::{ms, secs};

    #[test]
    fn a_path_without_stages_is_clear() {
        let mut bench = Bench::of_all([]);
        bench.send_at(ms(3), 100);
        assert_eq!(bench.arrivals(), [ms(3)]);
    }

    #[test]
    fn stages_act_one_behind_the_other() {
        let mut bench =
            Bench::of_all([Delay::ms(80), Rate::kbit(800, Queue::Endless), Delay::ms(5)]);
        bench.send_many(3, ms(0), 1000 - 28);
        assert_eq!(bench.arrivals(), [ms(95), ms(105), ms(115)]);
    }

    #[test]
    fn a_late_look_shifts_nothing() {
        // Only looked at after a minute: what left the first stage entered the second when it did.
        let mut bench =
            Bench::of_all([Delay::ms(10), Rate::kbit(800, Queue::Endless), Delay::ms(7)]);
        bench.send_many(2, ms(0), 1000 - 28);
        bench.look_at(secs(60));
        assert_eq!(bench.arrivals(), [ms(27), ms(37)]);
    }

    #[test]
    fn at_one_instant_room_is_made_before_it_is_asked_for() {
        // The second leaves the delay at 20 ms, when the first leaves the link; nothing may wait.
        let link = Rate::kbit(800, Queue::datagrams(0));
        let mut bench = Bench::of_all([Delay::ms(10), link]);
        bench.send_at(ms(0), 1000 - 28);
        bench.send_at(ms(10), 1000 - 28);
        assert_eq!(bench.arrivals(), [ms(20), ms(30)]);
    }

    #[test]
    fn a_second_stage_does_not_change_the_luck_of_the_first() {
        let order_of = |impairments: Vec<_>| {
            let mut bench = Bench::of_all(impairments);
            bench.send_many(1000, ms(1), 100);
            bench.order()
        };
        let alone = order_of(vec![Loss::percent(30)]);
        let jitter = Delay::jitter(ms(1), ms(2));
        assert_eq!(alone, order_of(vec![Loss::percent(30), jitter]));
    }

    #[test]
    fn a_setting_of_a_new_kind_becomes_a_stage() {
        let mut bench = Bench::of(Delay::ms(10));
        bench.change_at(ms(0), Loss::percent(100));
        bench.send_at(ms(0), 100);
        assert_eq!(bench.arrivals(), []);
    }
}

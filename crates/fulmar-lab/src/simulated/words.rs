//! Makes times of the protocol of those of the simulator.

use std::time::Duration;

use fulmar_base::Time;

pub(crate) fn time(now: Duration) -> Time {
    Time::from_origin(now)
}

//! The clock.

use fulmar_base::Time;
use fulmar_platform::boot_time;

/// Reads the clock that all of the core reckons with.
pub(crate) fn now() -> Time {
    Time::from_origin(boot_time())
}

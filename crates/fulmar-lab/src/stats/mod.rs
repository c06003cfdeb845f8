//! Statistics of waiting times of which some never ended while somebody looked.
//!
//! A key that was not answered before the end of a run is *censored*: its answer takes at least as
//! long as was waited. To leave it out would flatter whoever answers late. So quantiles come from
//! the estimate of Kaplan and Meier, and where more than [`CENSORED_MAX`] of the keys are
//! censored there is no mean at all.

mod bootstrap;
pub mod millis;
mod observation;
mod summary;
mod survival;

pub use bootstrap::{ConfidenceInterval, ResamplingPlan, Statistic, difference, median, ratio};
pub(crate) use bootstrap::{mean, p90, p99};
pub use observation::Observation;
pub use summary::{AT_ONCE, CENSORED_MAX, Summary, share_within};
pub use survival::{KaplanMeier, Step};

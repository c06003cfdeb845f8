//! Figures for machines.

use super::summary::Summary;
use serde_json::{Value, json};
use std::time::Duration;

impl Summary {
    /// Returns all of it as JSON: times in milliseconds, `null` where there is none.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "count": self.count,
            "censored": self.censored,
            "median_ms": self.median.map(ms),
            "mean_ms": self.mean.map(ms),
            "deviation_ms": self.deviation.map(ms),
            "p90_ms": self.p90.map(ms),
            "p99_ms": self.p99.map(ms),
        })
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Observation;

    #[test]
    fn what_there_is_not_is_null() {
        let never = [Observation::Censored(Duration::from_secs(1))];
        let expected = json!({
            "count": 1, "censored": 1, "median_ms": null, "mean_ms": null, "deviation_ms": null,
            "p90_ms": null, "p99_ms": null,
        });
        assert_eq!(Summary::of(&never).to_json(), expected);
        let twice = [Observation::After(Duration::from_millis(250)); 2];
        let summary = Summary::of(&twice).to_json();
        assert_eq!(
            (&summary["median_ms"], &summary["mean_ms"]),
            (&json!(250.0), &json!(250.0))
        );
    }
}

//! From values to places on a line, and the values that are marked on it.

/// A straight or logarithmic scale, from a span of values to a span of places.
///
/// Values beyond its ends are put at the ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report) struct Scale {
    is_log: bool,
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// Makes a straight scale; a span of nothing becomes one of 1.
    pub(in crate::report) fn linear(values: (f64, f64), places: (f64, f64)) -> Self {
        let (from, to) = values;
        Self {
            is_log: false,
            from,
            to: if to > from { to } else { from + 1.0 },
            start: places.0,
            end: places.1,
        }
    }

    /// Makes a logarithmic scale, from above nothing on; a span of nothing becomes one of ten.
    pub(in crate::report) fn log(values: (f64, f64), places: (f64, f64)) -> Self {
        let from = if values.0 > 0.0 { values.0 } else { 1e-9 };
        Self {
            is_log: true,
            from,
            to: if values.1 > from {
                values.1
            } else {
                from * 10.0
            },
            start: places.0,
            end: places.1,
        }
    }

    /// Returns the place of a value.
    pub(in crate::report) fn at(&self, value: f64) -> f64 {
        let value = value.max(self.from).min(self.to);
        let share = if self.is_log {
            (value / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        self.start + share * (self.end - self.start)
    }

    /// Returns the largest value.
    pub(in crate::report) fn to(&self) -> f64 {
        self.to
    }

    /// Returns values to mark, at most `most` of them, all within the scale.
    pub(in crate::report) fn ticks(&self, most: usize) -> Vec<f64> {
        if self.is_log {
            self.log_ticks(most)
        } else {
            self.linear_ticks(most)
        }
    }

    fn linear_ticks(&self, most: usize) -> Vec<f64> {
        let step = round_up((self.to - self.from) / most.max(2).saturating_sub(1) as f64);
        let first = (self.from / step - 1e-9).ceil();
        (0..most.max(2))
            .map(|number| (first + number as f64) * step)
            .filter(|tick| *tick <= self.to + step * 1e-9)
            .collect()
    }

    fn log_ticks(&self, most: usize) -> Vec<f64> {
        let first = (self.from.log10() + 1e-9).floor() as i32;
        let last = (self.to.log10() - 1e-9).ceil() as i32;
        let within = |tick: &f64| *tick >= self.from * 0.999_999 && *tick <= self.to * 1.000_001;
        let every = |steps: &[f64], stride: usize| -> Vec<f64> {
            let decades = (first..=last).step_by(stride);
            decades
                .flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)))
                .filter(within)
                .collect()
        };
        let finest: [&[f64]; 2] = [&[1.0, 2.0, 5.0], &[1.0]];
        let mut tries = finest.map(|steps| every(steps, 1)).into_iter();
        let fits = tries.find(|ticks| ticks.len() <= most);
        fits.unwrap_or_else(|| every(&[1.0], 2))
    }
}

/// Returns the least of 1, 2 and 5 times a power of ten that is not below `value`.
pub(in crate::report) fn round_up(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let fits = steps.iter().find(|step| *step * power >= value * 0.999_999);
    fits.unwrap_or(&10.0) * power
}

/// Returns the power of ten at or below `value`, and that at or above `other`.
pub(in crate::report) fn decades(value: f64, other: f64) -> (f64, f64) {
    let low = 10_f64.powf((value.log10() + 1e-9).floor());
    let high = 10_f64.powf((other.log10() - 1e-9).ceil());
    (low, if high > low { high } else { low * 10.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_where_they_belong_and_not_beyond_the_ends() {
        let scale = Scale::linear((0.0, 10.0), (100.0, 0.0));
        assert_eq!(
            [0.0, 2.5, 10.0, 12.0, -1.0].map(|value| scale.at(value)),
            [100.0, 75.0, 0.0, 0.0, 100.0]
        );
        let scale = Scale::log((1.0, 10_000.0), (0.0, 400.0));
        let places = [0.0, 1.0, 10.0, 100.0, 1e9].map(|value| scale.at(value).round());
        assert_eq!(places, [0.0, 0.0, 100.0, 200.0, 400.0]);
    }

    #[test]
    fn ticks_are_round_and_not_too_many() {
        let linear = |to, most| Scale::linear((0.0, to), (0.0, 1.0)).ticks(most);
        assert_eq!(
            linear(1.0, 6),
            [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]
        );
        assert_eq!(linear(730.0, 5), [0.0, 200.0, 400.0, 600.0]);
        assert_eq!(linear(212.0, 8), [0.0, 50.0, 100.0, 150.0, 200.0]);
        let log = |from, to, most| Scale::log((from, to), (0.0, 1.0)).ticks(most);
        assert_eq!(log(1.0, 1000.0, 6), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(log(1.0, 10.0, 6), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(log(1.0, 1e6, 5), [1.0, 100.0, 1e4, 1e6]);
    }

    #[test]
    fn a_span_of_nothing_is_no_error() {
        for scale in [
            Scale::linear((3.0, 3.0), (0.0, 1.0)),
            Scale::log((0.0, 0.0), (0.0, 1.0)),
        ] {
            assert!(scale.at(3.0).is_finite() && !scale.ticks(5).is_empty());
        }
        assert_eq!(round_up(0.0), 1.0);
        assert_eq!(round_up(1e6), 1e6);
    }

    #[test]
    fn decades_hold_what_they_are_of() {
        assert_eq!(decades(3.0, 700.0), (1.0, 1000.0));
        assert_eq!(decades(1.0, 1000.0), (1.0, 1000.0));
        assert_eq!(decades(1.0, 1.0), (1.0, 10.0));
    }

    #[test]
    fn as_many_ticks_are_marked_as_may_be_and_none_beyond_the_end() {
        let ticks = |from, to, most| Scale::linear((from, to), (0.0, 1.0)).ticks(most);
        assert_eq!(ticks(0.0, 50.0, 6), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert_eq!(ticks(0.0, 51.0, 6), [0.0, 20.0, 40.0]);
        assert_eq!(ticks(7.0, 51.0, 6), [10.0, 20.0, 30.0, 40.0, 50.0]);
        let log = |to, most| Scale::log((1.0, to), (0.0, 1.0)).ticks(most);
        assert_eq!(log(10.0, 4), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(log(10.0, 3), [1.0, 10.0]);
        assert_eq!(log(500.0, 3), [1.0, 10.0, 100.0]);
    }
}

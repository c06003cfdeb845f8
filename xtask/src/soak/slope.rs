//! A straight line through measurements, and how sure its slope is.

/// The parts into which the time is divided: the mean of each is one point of the line, so that what changes within
/// seconds does not count as many measurements. Chosen by eye.
const PARTS: usize = 10;

/// A slope that is so many of its standard errors above zero is no accident.
///
/// Source: Student's t with `PARTS - 2` degrees of freedom, 0.05 % on one side.
const ERRORS: f64 = 5.04;

/// The course of one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Course {
    /// The mean of the first part.
    pub(super) first: f64,
    /// The mean of the last part.
    pub(super) last: f64,
    /// The rise in an hour.
    pub(super) slope: f64,
    /// The slope up to which it may be an accident.
    pub(super) noise: f64,
}

impl Course {
    /// Returns the course of measurements, each with its time in hours; `None` of too few.
    pub(super) fn of(points: &[(f64, f64)]) -> Option<Course> {
        let size = points.len() / PARTS;
        if size == 0 {
            return None;
        }
        let points = &points[points.len() - size * PARTS..];
        let parts: Vec<(f64, f64)> = points.chunks(size).map(middle).collect();
        let (time, value) = middle(&parts);
        let spread: f64 = parts.iter().map(|(x, _)| (x - time).powi(2)).sum();
        let both = parts.iter().map(|(x, y)| (x - time) * (y - value));
        let slope = both.sum::<f64>() / spread;
        let off = parts
            .iter()
            .map(|(x, y)| (y - value - slope * (x - time)).powi(2));
        let error = (off.sum::<f64>() / (PARTS - 2) as f64 / spread).sqrt();
        Some(Course {
            first: parts.first()?.1,
            last: parts.last()?.1,
            slope,
            noise: ERRORS * error,
        })
    }

    /// Tells if it rises, by more than its noise and by more than what does not count.
    pub(super) fn rises(&self, negligible: f64) -> bool {
        self.slope > self.noise && self.last - self.first > negligible
    }
}

/// Returns the mean time and the mean value.
fn middle(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let sum = points
        .iter()
        .fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
    (sum.0 / count, sum.1 / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred measurements in an hour.
    fn course(value: impl Fn(f64) -> f64) -> Course {
        let points: Vec<(f64, f64)> = (0..100)
            .map(|number| f64::from(number) / 100.0)
            .map(|time| (time, value(time)))
            .collect();
        Course::of(&points).unwrap()
    }

    #[test]
    fn what_stays_or_falls_does_not_rise() {
        assert!(!course(|_| 7.0).rises(0.0));
        assert!(!course(|time| 100.0 - 50.0 * time).rises(0.0));
    }

    #[test]
    fn what_goes_up_and_down_does_not_rise() {
        assert!(!course(|time| (time * 40.0).sin()).rises(0.0));
    }

    #[test]
    fn a_leak_below_much_noise_rises_unless_it_is_negligible() {
        let leak = course(|time| 1000.0 + 30.0 * time + (time * 700.0).sin());
        assert!((leak.slope - 30.0).abs() < 3.0, "{leak:?}");
        assert!(leak.rises(10.0), "{leak:?}");
        assert!(!leak.rises(40.0), "{leak:?}");
    }

    #[test]
    fn of_too_few_measurements_there_is_no_course() {
        assert_eq!(Course::of(&[(0.0, 1.0); 9]), None);
    }
}

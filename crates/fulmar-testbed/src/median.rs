//! The median.

/// Returns the median: of an even number of values the mean of the two in the middle, and `None` of none.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let lower = *values.get(values.len().checked_sub(1)? / 2)?;
    let upper = *values.get(values.len() / 2)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn half_of_the_values_are_on_either_side() {
        assert_eq!(median([9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median([2.0, 9.0, 1.0, 4.0]), Some(3.0));
        assert_eq!(median([2.5]), Some(2.5));
        assert_eq!(median([]), None);
    }
}

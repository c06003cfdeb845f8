//! Counting tests in what `cargo test` prints.

/// The numbers of tests that passed and failed, over all the test programs of one run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Tally {
    /// Adds one line of output. Only libtest's closing lines count:
    /// `test result: ok. 4 passed; 0 failed; 0 ignored; …`.
    pub(crate) fn count(&mut self, line: &str) {
        let Some((_, counts)) = line
            .strip_prefix("test result: ")
            .and_then(|result| result.split_once(". "))
        else {
            return;
        };
        for count in counts.split("; ") {
            match count.split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }

    /// Adds the numbers of another run.
    pub(crate) fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    /// The closing line of a run in which `left_out` tests returned without testing.
    ///
    /// libtest counts those among the passed, because to it they did pass.
    pub(crate) fn summary(&self, left_out: usize) -> String {
        let passed = self.passed.saturating_sub(left_out);
        format!(
            "{passed} passed, {} failed, {left_out} skipped",
            self.failed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; \
                          3 filtered out; finished in 0.01s";

    #[test]
    fn results_of_several_programs_are_added() {
        let mut tally = Tally::default();
        tally.count(RESULT);
        tally.count("test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured");
        assert_eq!(
            tally,
            Tally {
                passed: 14,
                failed: 3
            }
        );
    }

    #[test]
    fn other_lines_do_not_count() {
        let mut tally = Tally::default();
        for line in [
            "running 2 tests",
            "test a ... ok",
            "8 passed; 1 failed",
            "",
            "test result: ",
        ] {
            tally.count(line);
        }
        assert_eq!(tally, Tally::default());
    }

    #[test]
    fn a_test_left_out_is_not_a_test_passed() {
        let tally = Tally {
            passed: 10,
            failed: 1,
        };
        assert_eq!(tally.summary(3), "7 passed, 1 failed, 3 skipped");
    }
}

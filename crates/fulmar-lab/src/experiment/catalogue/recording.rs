//! The recordings that are played.

use std::time::Duration;

use super::super::LabSetup;
use crate::typing::TypingLoop;

/// A recording of the folder of data, or one of ours.
#[derive(Debug, PartialEq, Eq)]
pub struct Recording {
    /// The name of its file.
    pub name: &'static str,
    /// Its name in those of cells.
    pub short: &'static str,
    /// The recording of ours that stands in where the folder of data is not there. Ours need no other.
    pub stand_in: Option<&'static Self>,
    /// The number of its keys that are typed.
    pub keys: u32,
    /// The time that the recorded user took for them.
    pub rhythm: Duration,
    /// Of 100 keys, before how many the user of the open loop looks at a result.
    pub results: u32,
}

/// The longest of the reproduction's recordings: bash, vim and emacs, cut at 300 keys of 1300.
pub(super) static TRACE_01: Recording = Recording {
    stand_in: Some(&OWN_BASH),
    ..recording("agd-trace-01", "trace-01", 300, 75_600, 15)
};

/// bash and one pager.
pub(super) static SHORT: Recording = Recording {
    stand_in: Some(&OWN_LESS),
    ..recording("agd-short", "short", 111, 33_300, 15)
};

/// bash, its history and completion.
pub(super) static ZIPPY: Recording = Recording {
    stand_in: Some(&OWN_VIM),
    ..recording("agd-zippy", "zippy", 165, 55_400, 15)
};

/// `less` on a large file, Page Down again and again.
pub(super) static PAGING: Recording = Recording {
    stand_in: Some(&OWN_LESS),
    ..recording("h2o-adversarial-short", "paging", 202, 14_100, 5)
};

/// Our own bash, on a terminal without colours.
pub(super) static OWN_BASH: Recording = recording("own-bash-plain", "own-bash", 300, 67_300, 15);

/// Our own vim.
pub(super) static OWN_VIM: Recording = recording("own-vim", "own-vim", 300, 54_900, 15);

/// Our own `less`.
pub(super) static OWN_LESS: Recording = recording("own-less", "own-less", 178, 44_300, 30);

const fn recording(
    name: &'static str,
    short: &'static str,
    keys: u32,
    millis: u64,
    results: u32,
) -> Recording {
    Recording {
        name,
        short,
        stand_in: None,
        keys,
        rhythm: Duration::from_millis(millis),
        results,
    }
}

impl Recording {
    /// Returns this recording, or what stands in for it where that was asked for.
    pub(super) fn or_stand_in(&'static self, setup: &LabSetup) -> &'static Self {
        let stand_in = self.stand_in.filter(|_| setup.is_generated);
        stand_in.unwrap_or(self)
    }

    /// Returns how long a user types it, up to so many keys, where the first answer to a key takes
    /// this long.
    pub(super) fn takes(&self, user: TypingLoop, answer: Duration, keys_max: usize) -> Duration {
        let keys = u32::try_from(keys_max).map_or(self.keys, |most| self.keys.min(most));
        self.rhythm * keys / self.keys
            + match user {
                TypingLoop::Closed => answer * keys,
                TypingLoop::Open => answer * keys * self.results / 100,
                TypingLoop::Recorded => Duration::ZERO,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_loop_pays_for_every_key_and_an_open_one_for_results() {
        let second = Duration::from_secs(1);
        let at_once = TRACE_01.takes(TypingLoop::Closed, Duration::ZERO, 300);
        assert_eq!(at_once, TRACE_01.rhythm);
        assert_eq!(
            TRACE_01.takes(TypingLoop::Closed, second, 300) - at_once,
            Duration::from_secs(300)
        );
        assert_eq!(
            TRACE_01.takes(TypingLoop::Open, second, 300) - at_once,
            Duration::from_secs(45)
        );
        let fewer = TRACE_01.takes(TypingLoop::Open, second, 100);
        assert_eq!(fewer, (TRACE_01.rhythm + Duration::from_secs(45)) / 3);
    }

    #[test]
    fn a_recording_of_ours_stands_in_only_where_that_was_asked_for() {
        let mut setup = LabSetup::default();
        assert_eq!(ZIPPY.or_stand_in(&setup), &ZIPPY);
        setup.is_generated = true;
        assert_eq!(ZIPPY.or_stand_in(&setup), &OWN_VIM);
        assert_eq!(OWN_BASH.or_stand_in(&setup), &OWN_BASH);
    }
}

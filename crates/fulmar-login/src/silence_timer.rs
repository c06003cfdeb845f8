//! A remote side that has begun and says nothing more.

use std::time::Duration;

use fulmar_base::Time;

/// The time after which the user is told. Chosen by eye: the slowest login of the lab takes a third of it.
const TOLD_AFTER: Duration = Duration::from_secs(10);

/// Measures for how long nothing has come, while something is waited for. It has no limit: what the remote side has to do may
/// take its time, and the user may end it.
#[derive(Clone, Copy, Debug)]
pub struct SilenceTimer {
    since: Time,
    is_told: bool,
}

impl SilenceTimer {
    /// Returns one that begins.
    pub fn from(now: Time) -> SilenceTimer {
        SilenceTimer {
            since: now,
            is_told: false,
        }
    }

    /// Begins anew: something has come, or it is not the remote side that is waited for.
    pub fn restart(&mut self, now: Time) {
        *self = SilenceTimer::from(now);
    }

    /// Returns when the user is to be told.
    pub fn deadline(&self) -> Option<Time> {
        (!self.is_told).then_some(self.since + TOLD_AFTER)
    }

    /// Returns what the user is to be told of that host, once. `awaits_shell` tells if the login has said nothing yet, and
    /// its input is being ended.
    pub fn notice(&mut self, now: Time, host: &str, awaits_shell: bool) -> Option<String> {
        self.deadline().filter(|due| *due <= now)?;
        self.is_told = true;
        let seconds = TOLD_AFTER.as_secs();
        Some(if awaits_shell {
            format!(
                "{host} has said nothing for {seconds} seconds since the login; perhaps a start-up file there runs another shell \
                 (exec fish), which is now told that its input is complete; Ctrl-C ends the wait"
            )
        } else {
            format!(
                "{host} has said nothing for {seconds} seconds; waiting goes on, Ctrl-C ends it"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_once_and_again_when_something_has_come() {
        let at = |seconds| Time::from_origin(Duration::from_secs(seconds));
        let mut silence = SilenceTimer::from(at(0));
        assert_eq!(silence.notice(at(9), "host", false), None);
        assert_eq!(silence.deadline(), Some(at(10)));
        assert!(
            silence
                .notice(at(10), "host", false)
                .is_some_and(|told| told.contains("host has said"))
        );
        assert_eq!(
            (silence.notice(at(99), "host", false), silence.deadline()),
            (None, None)
        );
        silence.restart(at(100));
        assert_eq!(silence.notice(at(109), "host", false), None);
        let told = silence.notice(at(110), "host", true);
        assert!(told.is_some_and(|told| told.contains("start-up file")));
    }
}

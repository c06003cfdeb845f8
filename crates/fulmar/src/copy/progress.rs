//! Writes the line that shows a copy's progress.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::Time;

/// The time over which the rate is averaged. Chosen by eye.
const RATE_OVER: Duration = Duration::from_secs(5);

/// The progress of a copy at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Snapshot {
    /// Bytes done: copied, or found to be there.
    pub(super) bytes: u64,
    /// Bytes that went over the network.
    pub(super) carried: u64,
    /// Bytes of all that is known so far.
    pub(super) known: u64,
    /// True if that is all.
    pub(super) is_walked: bool,
    /// Entries done.
    pub(super) entries: u64,
    /// The path of the bytes, once it is known.
    pub(super) path: Option<PathState>,
    /// The time for which nothing was heard, if that is long.
    pub(super) silent: Option<Duration>,
}

/// The path that the bytes of a copy take.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PathState {
    /// Over UDP.
    Udp {
        /// The round trip.
        rtt: Duration,
        /// Datagrams lost of a thousand, of those that this end has sent.
        lost_of_thousand: u64,
    },
    /// Over ssh's own input and output.
    Ssh,
}

/// The rate of late.
#[derive(Debug, Default)]
pub(super) struct Meter {
    samples: VecDeque<(Time, u64)>,
}

impl Meter {
    /// Takes note of the bytes that were carried by now.
    pub(super) fn note(&mut self, now: Time, bytes: u64) {
        self.samples.push_back((now, bytes));
        while self.samples.len() > 2
            && let Some((second, _)) = self.samples.get(1)
            && now.since(*second) >= RATE_OVER
        {
            self.samples.pop_front();
        }
    }

    /// Returns bytes in a second.
    pub(super) fn rate(&self) -> u64 {
        let (Some((since, first)), Some((now, last))) = (self.samples.front(), self.samples.back())
        else {
            return 0;
        };
        let millis = now.since(*since).as_millis();
        let bytes = u128::from(last.saturating_sub(*first)) * 1000;
        u64::try_from(bytes.checked_div(millis).unwrap_or(0)).unwrap_or(u64::MAX)
    }
}

/// Returns the line, of at most `columns` characters: what there is no room for is left out, the least
/// wanted first.
pub(super) fn line(snapshot: &Snapshot, rate: u64, columns: usize) -> String {
    let parts = parts(snapshot, rate);
    let mut line = String::new();
    for part in parts {
        let gap = if line.is_empty() { "" } else { "  " };
        if line.chars().count() + gap.len() + part.chars().count() > columns {
            break;
        }
        line.push_str(gap);
        line.push_str(&part);
    }
    line
}

fn parts(snapshot: &Snapshot, rate: u64) -> Vec<String> {
    let mut parts = Vec::new();
    if snapshot.is_walked && snapshot.known > 0 {
        let percent = percent(snapshot.bytes, snapshot.known);
        parts.push(format!("{percent:3} %"));
        parts.push(format!(
            "{} of {}",
            size(snapshot.bytes),
            size(snapshot.known)
        ));
    } else {
        parts.push(size(snapshot.bytes))
    }
    match snapshot.silent {
        Some(silent) => parts.push(format!("no answer for {} s", silent.as_secs())),
        None => {
            parts.push(format!("{}/s", size(rate)));
            parts.extend(left(snapshot, rate).map(|left| format!("{left} left")));
        }
    }
    if snapshot.entries > 1 {
        parts.push(format!("{} files", snapshot.entries));
    }
    match &snapshot.path {
        Some(PathState::Udp {
            rtt,
            lost_of_thousand,
        }) => {
            parts.push(format!("udp {} ms", rtt.as_millis()));
            let (whole, tenths) = (lost_of_thousand / 10, lost_of_thousand % 10);
            parts.push(format!("{whole}.{tenths} % lost"));
        }
        Some(PathState::Ssh) => parts.push("over ssh".to_owned()),
        None => {}
    }
    parts
}

fn percent(part: u64, whole: u64) -> u64 {
    let percent = u128::from(part) * 100 / u128::from(whole.max(1));
    u64::try_from(percent).unwrap_or(100).min(100)
}

fn left(snapshot: &Snapshot, rate: u64) -> Option<String> {
    let bytes = snapshot.known.checked_sub(snapshot.bytes)?;
    (snapshot.is_walked && rate > 0).then(|| clock(bytes.div_ceil(rate)))
}

/// Returns seconds as `0:07`, `1:02:03` or days.
fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        1..48 => format!("{hours}:{minutes:02}:{seconds:02}"),
        _ => format!("{} days", hours / 24),
    }
}

/// Returns bytes as people say them, by thousands.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    let (mut whole, mut rest, mut unit) = (bytes, 0, 0);
    while whole >= 1000 && unit + 1 < UNITS.len() {
        rest = whole % 1000;
        whole /= 1000;
        unit += 1;
    }
    let name = UNITS.get(unit).copied().unwrap_or_default();
    match unit {
        0 => format!("{whole} {name}"),
        _ => format!("{whole}.{} {name}", rest / 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    fn half_way() -> Snapshot {
        Snapshot {
            bytes: 150_000_000,
            carried: 150_000_000,
            known: 300_000_000,
            is_walked: true,
            entries: 1,
            path: Some(PathState::Udp {
                rtt: Duration::from_millis(45),
                lost_of_thousand: 13,
            }),
            silent: None,
        }
    }

    #[test]
    fn the_line_tells_all_where_there_is_room() {
        let whole = " 50 %  150.0 MB of 300.0 MB  50.0 MB/s  0:03 left  udp 45 ms  1.3 % lost";
        assert_eq!(line(&half_way(), 50_000_000, 80), whole);
        assert_eq!(
            line(&half_way(), 50_000_000, 30),
            " 50 %  150.0 MB of 300.0 MB"
        );
        assert_eq!(line(&half_way(), 50_000_000, 6), " 50 %");
        assert_eq!(line(&half_way(), 50_000_000, 0), "");
        for columns in 0..100 {
            assert!(line(&half_way(), 50_000_000, columns).chars().count() <= columns);
        }
    }

    #[test]
    fn what_is_not_known_is_not_told() {
        let walking = Snapshot {
            is_walked: false,
            entries: 12,
            path: Some(PathState::Ssh),
            ..half_way()
        };
        assert_eq!(
            line(&walking, 1000, 80),
            "150.0 MB  1.0 kB/s  12 files  over ssh"
        );
        let silent = Snapshot {
            silent: Some(Duration::from_secs(7)),
            path: None,
            ..half_way()
        };
        assert_eq!(
            line(&silent, 0, 80),
            " 50 %  150.0 MB of 300.0 MB  no answer for 7 s"
        );
    }

    #[test]
    fn the_rate_is_that_of_late() {
        let mut meter = Meter::default();
        assert_eq!(meter.rate(), 0);
        for second in 0..100 {
            meter.note(at(second * 1000), second.min(50) * 1000);
        }
        assert_eq!(meter.rate(), 0, "nothing came for long");
        for second in 100..110 {
            meter.note(at(second * 1000), 50_000 + (second - 99) * 2000);
        }
        assert_eq!(meter.rate(), 2000);
    }

    #[test]
    fn sizes_and_times_are_short() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (1_250_000, "1.2 MB"),
            (u64::MAX, "18446.7 PB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        for (seconds, text) in [(7, "0:07"), (3723, "1:02:03"), (200_000, "2 days")] {
            assert_eq!(clock(seconds), text);
        }
    }
}

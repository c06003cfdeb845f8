//! Writes the line that shows a copy's progress.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_copy::{CopyEvent, EntryKind, EntryVerdict, Occupant, Progress, Totals};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The time over which the rate is averaged. Chosen by eye.
const RATE_OVER: Duration = Duration::from_secs(5);

/// The part of the line that a name may fill: one in this many columns. Chosen by eye.
const NAME_SHARE: usize = 3;

/// The progress of a copy at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Snapshot {
    /// The part that is done.
    pub(super) progress: Progress,
    /// The name of the file that is being copied.
    pub(super) name: Option<String>,
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
    let name = snapshot.name.as_deref().unwrap_or_default();
    let mut line = shortened(name, columns / NAME_SHARE);
    let mut width = line.width();
    for part in parts(snapshot, rate) {
        let gap = if line.is_empty() { "" } else { "  " };
        width += gap.len() + part.len();
        if width > columns {
            break;
        }
        line.push_str(gap);
        line.push_str(&part);
    }
    line
}

/// Returns a name of at most `columns` characters; of a longer one the end, which tells more than the beginning.
fn shortened(name: &str, columns: usize) -> String {
    let mut excess = name.width().saturating_sub(columns);
    if excess == 0 {
        return name.to_owned();
    }
    // Room for the ellipsis.
    excess += 1;
    let is_dropped = |character: &char| {
        let width = character.width().unwrap_or(0);
        let is_dropped = excess > 0;
        excess = excess.saturating_sub(width);
        is_dropped
    };
    let kept = name.chars().skip_while(is_dropped);
    "…".chars().chain(kept).take(columns).collect()
}

fn parts(snapshot: &Snapshot, rate: u64) -> Vec<String> {
    let Progress {
        bytes, bytes_known, ..
    } = snapshot.progress;
    if snapshot.path.is_none() && snapshot.silent.is_none() {
        return vec!["connecting".to_owned()];
    }
    let mut parts = Vec::new();
    match total(&snapshot.progress) {
        Some(total) => {
            parts.push(format!("{:3} %", percent(bytes, total)));
            parts.push(format!("{} of {}", size(bytes), size(total)));
        }
        None if bytes_known > bytes => {
            parts.push(format!("{} of {} so far", size(bytes), size(bytes_known)));
        }
        None => parts.push(size(bytes)),
    }
    match snapshot.silent {
        Some(silent) => parts.push(format!("no answer for {} s", silent.as_secs())),
        None => {
            parts.push(format!("{}/s", size(rate)));
            parts.extend(left(&snapshot.progress, rate).map(|left| format!("{left} left")));
        }
    }
    if snapshot.progress.files_known > 1 {
        let Progress {
            files, files_known, ..
        } = snapshot.progress;
        parts.push(format!("{files} of {files_known} files"));
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

/// Returns the bytes of the whole copy, once they are known. `None` also where there are none.
fn total(progress: &Progress) -> Option<u64> {
    let is_known = progress.is_walked && !progress.has_pipe;
    Some(progress.bytes_known).filter(|total| is_known && *total > 0)
}

fn percent(part: u64, whole: u64) -> u64 {
    let percent = u128::from(part) * 100 / u128::from(whole.max(1));
    u64::try_from(percent).unwrap_or(100).min(100)
}

fn left(progress: &Progress, rate: u64) -> Option<String> {
    let bytes = total(progress)?.checked_sub(progress.bytes)?;
    (rate > 0).then(|| clock(bytes.div_ceil(rate)))
}

/// The files that a dry run has found at the places of others.
#[derive(Debug, Default)]
pub(super) struct DryFiles {
    replaced: u64,
    resumed: u64,
    same: u64,
    /// The bytes of the last.
    same_bytes: u64,
}

impl DryFiles {
    /// Counts what an event tells of.
    pub(super) fn count(&mut self, event: &CopyEvent) {
        if let CopyEvent::Settled {
            kind: kind @ EntryKind::File { .. },
            verdict: EntryVerdict::Looked(occupant),
            ..
        } = event
        {
            match occupant {
                Occupant::Nothing => {}
                Occupant::Another => self.replaced += 1,
                Occupant::Partial => self.resumed += 1,
                Occupant::Same => {
                    self.same += 1;
                    self.same_bytes = self.same_bytes.saturating_add(kind.size());
                }
            }
        }
    }
}

/// Returns the line that ends a dry run.
pub(super) fn dry_summary(totals: &Totals, found: &DryFiles) -> String {
    let copied = Totals {
        files: totals.files.saturating_sub(found.same),
        bytes: totals.bytes.saturating_sub(found.same_bytes),
        ..*totals
    };
    let mut text = format!("{}, {} would be copied", files(&copied), size(copied.bytes));
    if found.replaced > 0 {
        text.push_str(&format!(", {} in place of another", found.replaced));
    }
    if found.resumed > 0 {
        text.push_str(&format!(", {} resumed", found.resumed));
    }
    if found.same > 0 {
        let of_same = Totals {
            files: found.same,
            ..Totals::default()
        };
        let same = files(&of_same);
        text.push_str(&format!(
            "; {same}, {} there already, with the same size and time",
            size(found.same_bytes)
        ));
    }
    text
}

fn files(totals: &Totals) -> String {
    match totals.files {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    }
}

/// Returns the line that stays when a copy is over; `resumed` bytes were there before.
pub(super) fn summary(totals: &Totals, resumed: u64, took: Duration) -> String {
    let files = files(totals);
    let tenths = took.as_millis() / 100;
    let mut summary = format!(
        "{files}, {} in {}.{} s",
        size(totals.bytes),
        tenths / 10,
        tenths % 10
    );
    let sent = u128::from(totals.bytes.saturating_sub(resumed));
    // Next to a time of 0.0 s a rate would be read as its cause.
    if let Some(rate) = (sent * 1000).checked_div(took.as_millis())
        && rate > 0
        && tenths > 0
    {
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        summary.push_str(&format!(", {}/s", size(rate)));
    }
    if resumed > 0 {
        summary.push_str(&format!(", {} were there already", size(resumed)));
    }
    summary
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
            progress: Progress {
                bytes: 150_000_000,
                bytes_known: 300_000_000,
                files_known: 1,
                is_walked: true,
                ..Progress::default()
            },
            name: Some("notes.txt".to_owned()),
            path: Some(PathState::Udp {
                rtt: Duration::from_millis(45),
                lost_of_thousand: 13,
            }),
            silent: None,
        }
    }

    #[test]
    fn the_line_tells_all_where_there_is_room() {
        let whole =
            "notes.txt   50 %  150.0 MB of 300.0 MB  50.0 MB/s  0:03 left  udp 45 ms  1.3 % lost";
        assert_eq!(line(&half_way(), 50_000_000, 90), whole);
        assert_eq!(
            line(&half_way(), 50_000_000, 45),
            "notes.txt   50 %  150.0 MB of 300.0 MB"
        );
        assert_eq!(line(&half_way(), 50_000_000, 16), "….txt   50 %");
        assert_eq!(line(&half_way(), 50_000_000, 0), "");
        for columns in 0..100 {
            assert!(line(&half_way(), 50_000_000, columns).width() <= columns);
        }
    }

    #[test]
    fn while_files_are_being_found_the_line_tells_of_those_that_are_known() {
        let mut walking = half_way();
        walking.path = Some(PathState::Ssh);
        walking.progress.is_walked = false;
        walking.progress.files = 12;
        walking.progress.files_known = 340;
        assert_eq!(
            line(&walking, 1000, 90),
            "notes.txt  150.0 MB of 300.0 MB so far  1.0 kB/s  12 of 340 files  over ssh"
        );
    }

    #[test]
    fn wide_characters_of_a_name_count_twice() {
        assert_eq!(shortened("写真.jpg", 8), "写真.jpg");
        assert_eq!(shortened("写真.jpg", 7), "…真.jpg");
        assert_eq!(shortened("写真.jpg", 6), "….jpg");
        assert_eq!(shortened("写真.jpg", 0), "");
    }

    #[test]
    fn a_pipe_has_no_total() {
        let mut piped = half_way();
        piped.progress.has_pipe = true;
        piped.progress.bytes_known = piped.progress.bytes;
        piped.name = None;
        piped.path = Some(PathState::Ssh);
        assert_eq!(line(&piped, 1000, 90), "150.0 MB  1.0 kB/s  over ssh");
    }

    #[test]
    fn before_there_is_a_path_the_line_says_that_it_connects() {
        assert_eq!(line(&Snapshot::default(), 0, 80), "connecting");
    }

    #[test]
    fn a_dry_run_says_how_much_it_would_be() {
        let totals = Totals {
            files: 2,
            bytes: 1500,
            ..Totals::default()
        };
        let text = |found| dry_summary(&totals, &found);
        let none = DryFiles::default();
        assert_eq!(text(none), "2 files, 1.5 kB would be copied");
        let all = DryFiles {
            replaced: 1,
            resumed: 1,
            same: 1,
            same_bytes: 500,
        };
        let totals = Totals {
            files: 4,
            bytes: 2000,
            ..Totals::default()
        };
        assert_eq!(
            dry_summary(&totals, &all),
            "3 files, 1.5 kB would be copied, 1 in place of another, 1 resumed; 1 file, 500 B there already, with the \
             same size and time"
        );
    }

    #[test]
    fn silence_is_told_instead_of_a_rate() {
        let silent = Snapshot {
            silent: Some(Duration::from_secs(7)),
            path: None,
            ..half_way()
        };
        assert_eq!(
            line(&silent, 0, 80),
            "notes.txt   50 %  150.0 MB of 300.0 MB  no answer for 7 s"
        );
    }

    #[test]
    fn the_summary_counts_what_was_sent_in_its_rate() {
        let mut totals = Totals {
            files: 3,
            bytes: 30_000_000,
            ..Totals::default()
        };
        let took = Duration::from_millis(2050);
        assert_eq!(
            summary(&totals, 0, took),
            "3 files, 30.0 MB in 2.0 s, 14.6 MB/s"
        );
        assert_eq!(
            summary(&totals, 10_000_000, took),
            "3 files, 30.0 MB in 2.0 s, 9.7 MB/s, 10.0 MB were there already"
        );
        totals.files = 1;
        assert_eq!(
            summary(&totals, 29_999_000, Duration::from_millis(99)),
            "1 file, 30.0 MB in 0.0 s, 29.9 MB were there already"
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

//! Keys that were typed while an earlier one, which was not shown at once, still waited.

use super::grouped::{ExperimentRuns, PeerRuns};
use super::number::{NONE, percent, whole};
use super::table::{Table, head, number, row};
use crate::judge::{KeyVerdict, RunVerdict};
use crate::markup::{Element, element};
use crate::stats::AT_ONCE;

/// The peers whose predictions are looked at: the programs as people use them.
const PEERS: [&str; 2] = ["mosh", "fulmar"];

/// The typist of the published figures.
const TYPING: &str = "closed";

/// The number of keys, and of those among them that were at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct AtOnceCount {
    keys: usize,
    at_once: usize,
}

impl AtOnceCount {
    fn add(&mut self, is_at_once: bool) {
        self.keys += 1;
        self.at_once += usize::from(is_at_once);
    }

    fn share(self) -> String {
        share(self.at_once, self.keys)
    }
}

/// The keys of some runs: those that were typed behind one that waited, and the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct KeysBehind {
    behind: AtOnceCount,
    free: AtOnceCount,
}

impl KeysBehind {
    fn take_in(&mut self, verdict: &RunVerdict) {
        let mut last_end = None;
        for key in &verdict.keys {
            let Some(own) = key.own else {
                continue;
            };
            let is_at_once = is_at_once(key);
            match last_end {
                Some(end) if end > key.typed => self.behind.add(is_at_once),
                _ => self.free.add(is_at_once),
            }
            if !is_at_once {
                last_end = last_end.max(Some(key.typed + own.waited()));
            }
        }
    }
}

fn is_at_once(key: &KeyVerdict) -> bool {
    let came = key.own.and_then(|own| own.came());
    came.is_some_and(|came| came <= AT_ONCE)
}

/// Returns a table of all settings with a closed loop, in which something was predicted.
pub(super) fn table(subjects: &[ExperimentRuns]) -> Option<Element> {
    let mut table = Table::new("Keys behind one that was not shown at once and still waits")
        .words(["setting", "peer"])
        .numbers("", ["keys"])
        .numbers("%", ["at once"])
        .numbers("% of keys", ["behind one"])
        .numbers("%", ["of those at once", "of the others"]);
    for setting in subjects.iter().flat_map(|subject| &subject.settings) {
        let runs = setting.typed().into_iter().filter(|runs| is_meant(runs));
        let name = element("span").text(setting.title.as_str());
        table.rows_of([name], runs.filter_map(of_peer).collect());
    }
    table.element()
}

fn is_meant(runs: &PeerRuns) -> bool {
    let mut complete = runs.complete();
    PEERS.contains(&runs.peer.as_str())
        && complete.any(|one| one.facts.typing.as_deref() == Some(TYPING))
}

fn of_peer(runs: &PeerRuns) -> Option<Element> {
    let mut all = KeysBehind::default();
    for verdict in runs.verdicts() {
        all.take_in(verdict);
    }
    let KeysBehind { behind, free } = all;
    let (keys, at_once) = (behind.keys + free.keys, behind.at_once + free.at_once);
    (at_once > 0).then(|| {
        row([
            head(runs.peer.as_str()),
            number(whole(keys as f64)),
            number(share(at_once, keys)),
            number(share(behind.keys, keys)),
            number(behind.share()),
            number(free.share()),
        ])
    })
}

fn share(part: usize, all: usize) -> String {
    match all {
        0 => NONE.to_owned(),
        all => percent(part as f64 / all as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Observation::After;
    use crate::testing::verdict;
    use std::time::Duration;

    #[test]
    fn a_key_is_behind_until_what_waits_has_come() {
        let ms = Duration::from_millis;
        let key = |typed, wait| KeyVerdict {
            typed: ms(typed),
            own: Some(After(ms(wait))),
            whole: None,
            first_output: After(ms(wait)),
            wrong: 0,
        };
        // The second and third are typed before the first has come, the fourth after it.
        let keys = [
            key(0, 500),
            key(100, 1),
            key(400, 400),
            key(801, 0),
            key(900, 300),
        ];
        let mut all = KeysBehind::default();
        all.take_in(&verdict(keys));
        let count = |keys, at_once| AtOnceCount { keys, at_once };
        assert_eq!((all.behind, all.free), (count(2, 1), count(3, 1)));
    }

    use super::super::tests::fixture::{measured, subject, typed};

    /// Runs with a typist, each key typed after the one before has come.
    fn runs(peer: &str, typing: &str, waits: &[u64]) -> PeerRuns {
        let mut runs = typed(peer, &[waits]);
        runs.outcomes[0].facts.typing = Some(typing.to_owned());
        let verdict = runs.outcomes[0].verdict.as_mut().unwrap();
        for (number, key) in verdict.keys.iter_mut().enumerate() {
            key.typed = Duration::from_secs(number as u64);
        }
        runs
    }

    #[test]
    fn the_table_has_programs_that_predict_in_closed_loop() {
        let subjects = [subject(vec![
            runs("ssh", "closed", &[1, 1]),
            runs("fulmar", "closed", &[1, 2500, 1, 9]),
            runs("fulmar-n", "closed", &[1, 1]),
            runs("mosh", "open", &[1, 1]),
        ])];
        let table = table(&subjects).unwrap().html();
        assert_eq!(table.matches("<tr>").count(), 2, "{table}");
        let row = "<th scope=row>fulmar<td>4<td>50.0<td>50.0<td>50.0<td>50.0";
        assert!(table.contains(row), "{table}");
        let late = [subject(vec![runs("mosh", "closed", &[900, 900])])];
        assert!(super::table(&late).is_none(), "nothing was predicted");
        let bare = [subject(vec![measured("mosh", ("rate", "B/s"), &[1.0])])];
        assert!(super::table(&bare).is_none());
    }

    #[test]
    fn five_milliseconds_are_at_once_and_a_key_without_effect_is_none() {
        let mut verdict = super::super::tests::fixture::verdict(&[5, 6, 1]);
        verdict.keys[2].own = None;
        let mut all = KeysBehind::default();
        all.take_in(&verdict);
        // Both are typed at the same time, before the late one could be waiting.
        let count = |keys, at_once| AtOnceCount { keys, at_once };
        assert_eq!((all.free, all.behind), (count(2, 1), count(0, 0)));
        assert_eq!(
            (all.free.share(), all.behind.share().as_str()),
            ("50.0".to_owned(), NONE)
        );
    }

    #[test]
    fn a_key_that_is_typed_as_the_late_one_comes_is_not_behind_it() {
        let keys = |second| {
            let mut verdict = super::super::tests::fixture::verdict(&[500, 1]);
            verdict.keys[1].typed = Duration::from_millis(second);
            let mut all = KeysBehind::default();
            all.take_in(&verdict);
            (all.behind.keys, all.free.keys)
        };
        assert_eq!((keys(499), keys(500)), ((1, 1), (0, 2)));
    }
}

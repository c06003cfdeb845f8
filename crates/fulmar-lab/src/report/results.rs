//! The result in three sentences.

use fulmar_testbed::median;

use super::grouped::{CellRuns, ExperimentRuns, Measure, PeerRuns};
use super::not_best;
use super::number::{percent, time, whole};
use super::typed;
use crate::markup::{Element, element};

/// The programs as people use them.
const PEERS: [&str; 3] = ["ssh", "mosh", "fulmar"];

/// Returns the sentences: how many keys were at once, how long they took, how many were wrong, at the median of all
/// settings in which somebody typed with each of the three. `None` where there is no such setting. The last one leads
/// to the section of what is not the best, if there is one.
pub(super) fn sentences(subjects: &[ExperimentRuns], has_not_best: bool) -> Option<Element> {
    let settings = subjects.iter().flat_map(|subject| &subject.settings);
    let compared: Vec<[&PeerRuns; 3]> = settings.filter_map(compared).collect();
    let count = compared.len();
    let shown = |figure: fn(&PeerRuns) -> Option<f64>, show: fn(f64) -> String| {
        let of_peer = |peer: usize| {
            let values = compared.iter().filter_map(|runs| figure(runs[peer]));
            median(values).map(show)
        };
        let [ssh, mosh, fulmar] = [0, 1, 2].map(of_peer);
        Some(format!(
            "{} with OpenSSH, {} with stock Mosh and {} with Fulmar",
            ssh?, mosh?, fulmar?
        ))
    };
    let at_once = shown(|runs| runs.at_once(Measure::Own), share)?;
    let waits = shown(median_wait, time)?;
    let wrong = shown(|runs| typed::wrong(&runs.verdicts()), share)?;
    let (settings, were) = match count {
        1 => ("setting".to_owned(), "was"),
        _ => (format!("{} settings", whole(count as f64)), "were"),
    };
    let text = format!(
        "Of the keys {at_once} had their effect on the screen at once, within 5 ms: the median of the {settings} \
         that {were} measured with all three. Half of the keys had it there after {waits}. Something wrong was shown \
         because of {wrong}"
    );
    let sentences = element("p").class("result").text(text);
    Some(if has_not_best {
        let link = element("a").set("href", format!("#{}", not_best::ID));
        let link = link.text("where Fulmar is not the best");
        sentences.text("; ").with(link).text(" is told, too.")
    } else {
        sentences.text(".")
    })
}

/// Returns the runs of the three, if each has typed and at least half of its keys were answered.
fn compared(setting: &CellRuns) -> Option<[&PeerRuns; 3]> {
    let typed = setting.typed();
    let found = PEERS.map(|peer| {
        let mut of_peer = typed.iter().filter(|runs| runs.peer == peer);
        of_peer.find(|runs| runs.summary(Measure::Own).median.is_some())
    });
    let [ssh, mosh, fulmar] = found;
    Some([*ssh?, *mosh?, *fulmar?])
}

fn median_wait(runs: &PeerRuns) -> Option<f64> {
    Some(runs.summary(Measure::Own).median?.as_secs_f64())
}

fn share(share: f64) -> String {
    format!("{} %", percent(share))
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{subject, typed};
    use super::*;

    #[test]
    fn three_sentences_are_about_the_settings_that_all_three_have() {
        let all = [
            subject(vec![
                typed("ssh", &[&[400; 4]]),
                typed("mosh", &[&[3, 3, 3, 900]]),
                typed("fulmar", &[&[2; 4]]),
            ]),
            subject(vec![typed("ssh", &[&[9; 4]]), typed("fulmar", &[&[9; 4]])]),
        ];
        let said = sentences(&all, false).unwrap().html();
        let expected = "<p class=result>Of the keys 0 % with OpenSSH, 75.0 % with stock Mosh and 100.0 % with Fulmar had \
                        their effect on the screen at once, within 5 ms: the median of the setting that was measured \
                        with all three. Half of the keys had it there after 400 ms with OpenSSH, 3.00 ms with stock \
                        Mosh and 2.00 ms with Fulmar. Something wrong was shown because of 0 % with OpenSSH, 0 % with \
                        stock Mosh and 0 % with Fulmar.";
        assert!(said.starts_with(expected), "{said}");
        let with_link = sentences(&all, true).unwrap().html();
        assert!(with_link.contains("; <a href=#not-best>"), "{with_link}");
        assert!(sentences(&all[1..], true).is_none());
    }
}

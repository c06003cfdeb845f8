//! The output of a trace as a terminal without an alternate screen takes it.

use super::record::{Event, Record, Trace};

/// The modes that show the alternate screen, and save the cursor for it.
///
/// Source: XTerm Control Sequences, "DEC Private Mode Set": those that the resource titeInhibit disables.
const MODES: [&[u8]; 4] = [b"47", b"1047", b"1048", b"1049"];

/// The modes that show it.
const SHOWING: [&[u8]; 3] = [b"47", b"1047", b"1049"];

/// A trace as a terminal takes it that has no alternate screen: a full-screen program draws over what was there, and
/// nothing is put back when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SingleScreenTrace {
    /// The trace, as long as it was byte by byte: mode 0, which is none, stands for each of the alternate screen's.
    pub trace: Trace,
    /// The number of bytes of output behind which the alternate screen is left, each time.
    pub leavings: Vec<usize>,
}

impl SingleScreenTrace {
    /// Returns it; `None` for a trace whose programs never use the alternate screen.
    pub fn of(trace: &Trace) -> Option<Self> {
        let output: Vec<u8> = trace.host().flat_map(|(_, bytes)| bytes.to_vec()).collect();
        let (output, leavings) = without_modes(&output)?;
        let mut rest = output.as_slice();
        let records = trace.records().iter().map(|record| {
            let event = match &record.event {
                Event::Host(bytes) => {
                    let (these, later) = rest.split_at(bytes.len());
                    rest = later;
                    Event::Host(these.to_vec())
                }
                other => other.clone(),
            };
            Record {
                at: record.at,
                event,
            }
        });
        let trace = Trace::of_same_form(records.collect());
        Some(Self { trace, leavings })
    }
}

/// Returns output without the modes, and where they are reset; `None` if it has none of them.
fn without_modes(output: &[u8]) -> Option<(Vec<u8>, Vec<usize>)> {
    let (mut plain, mut leavings) = (output.to_vec(), Vec::new());
    let (mut has_modes, mut is_shown) = (false, false);
    let begins = |start: &usize| output[*start..].starts_with(b"\x1b[?");
    for start in (0..output.len()).filter(begins) {
        let first = start + 3;
        let is_parameter = |byte: &&u8| matches!(byte, b'0'..=b'9' | b';');
        let length = output[first..].iter().take_while(is_parameter).count();
        let Some(last @ (b'h' | b'l')) = output.get(first + length) else {
            continue;
        };
        let mut at = first;
        for mode in output[first..first + length].split(|byte| *byte == b';') {
            if MODES.contains(&mode) {
                plain[at..at + mode.len()].fill(b'0');
                has_modes = true;
                if SHOWING.contains(&mode) {
                    let was_shown = std::mem::replace(&mut is_shown, *last == b'h');
                    leavings.extend((was_shown && !is_shown).then_some(first + length + 1));
                }
            }
            at += mode.len() + 1;
        }
    }
    has_modes.then_some((plain, leavings))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(output: &str) -> Option<(String, Vec<usize>)> {
        let (plain, leavings) = without_modes(output.as_bytes())?;
        Some((String::from_utf8(plain).unwrap(), leavings))
    }

    #[test]
    fn modes_of_the_alternate_screen_become_mode_0_and_others_stay() {
        let found = |plain: &str, leavings: &[usize]| Some((plain.to_owned(), leavings.to_vec()));
        assert_eq!(
            plain("a\x1b[?1049hb\x1b[?1049lc"),
            found("a\x1b[?0000hb\x1b[?0000lc", &[18])
        );
        assert_eq!(
            plain("\x1b[?25;1047;7h\x1b[?47;1047l\x1b[?1049l"),
            found("\x1b[?25;0000;7h\x1b[?00;0000l\x1b[?0000l", &[24])
        );
        assert_eq!(plain("\x1b[?1048l"), found("\x1b[?0000l", &[]));
        for other in [
            "",
            "\x1b[?25h",
            "\x1b[1049h",
            "\x1b[?1049",
            "\x1b[?1049$p",
            "\x1b[?10490h",
            "?1049h",
        ] {
            assert_eq!(plain(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_mode_may_come_in_two_reads() {
        let text = b"0 SIZE 20 4\n1 HOST 11\n\x1b[?47h\x1b[?10\n2 USER 1\nx\n3 HOST 4\n49lb\n4 HOST 1\nc\n";
        let single = SingleScreenTrace::of(&Trace::parse(text).unwrap()).unwrap();
        let expected = b"0 SIZE 20 4\n1 HOST 11\n\x1b[?00h\x1b[?00\n2 USER 1\nx\n3 HOST 4\n00lb\n4 HOST 1\nc\n";
        assert_eq!(single.trace, Trace::parse(expected).unwrap());
        assert_eq!(single.leavings, [14]);
    }

    #[test]
    fn a_trace_without_alternate_screen_has_no_other() {
        let text = b"0 SIZE 20 4\n1 HOST 6\n\x1b[?25h\n";
        assert_eq!(SingleScreenTrace::of(&Trace::parse(text).unwrap()), None);
    }
}

//! The typist of a script.

use super::rhythm::TypingRhythm;
use super::script::{Script, ScriptKey, ScriptLine, ScriptStep};
use super::terminal::AnsweringTerminal;
use crate::trace::{Mark, Size};
use std::collections::VecDeque;
use std::time::Duration;

/// Types a script: told what programs write and what time it is, it says what to do.
///
/// It owns no clock and no terminal; who has them asks it often, as nothing is done late by more than that.
pub struct ScriptedTypist {
    terminal: AnsweringTerminal,
    rhythm: TypingRhythm,
    lines: VecDeque<ScriptLine>,
    /// The rest of the line at hand.
    moves: VecDeque<ScheduledAction>,
    line: usize,
    /// The time of the move before this one; gaps count from here.
    since: Duration,
    last_output: Option<Duration>,
    /// The output since the last key.
    written: Vec<u8>,
    answers: VecDeque<Vec<u8>>,
}

/// An act of a typist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypistAction {
    /// Sends these bytes, in one write.
    Type(Vec<u8>),
    /// Notes this in the sidecar.
    Mark(Mark),
    /// Gives the window this size.
    Resize(Size),
    /// Goes away: the script is done.
    Leave,
}

/// A text that did not come within [`PATIENCE`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: nobody wrote `{text}`")]
pub struct WaitTimeout {
    /// The line of the script, from 1.
    pub line: usize,
    /// The text that was to come.
    pub text: String,
}

/// The time for which a text is waited for: longer than any program needs to start, short for who looks on.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The output has settled when there was none for so long: programs that answer a key have done so by then.
const SETTLED: Duration = Duration::from_millis(250);

/// Programs that draw without end (clocks, spinners) are not waited for longer than this.
const SETTLING: Duration = Duration::from_millis(2500);

/// From the press of a key to its first repetition, and between repetitions: X11 has 660 and 40 ms by default,
/// desktops 500 and 33.
const REPEAT_DELAY: Duration = Duration::from_millis(500);
const REPEAT_GAP: Duration = Duration::from_millis(33);

/// The time for which the window is left open at the end.
const LOOK_BACK: Duration = Duration::from_millis(600);

enum ScheduledAction {
    /// After this gap, do it.
    After(Duration, StepAction),
    Settle,
    Wait(String),
}

enum StepAction {
    Nothing,
    Press(ScriptKey),
    Paste(String),
    Act(TypistAction),
}

impl ScriptedTypist {
    /// Returns a typist that begins at `now`.
    pub fn new(script: Script, now: Duration) -> Self {
        Self {
            terminal: AnsweringTerminal::new(script.head.size),
            rhythm: TypingRhythm::new(script.head.seed),
            lines: script.lines.into(),
            moves: VecDeque::new(),
            line: 0,
            since: now,
            last_output: None,
            written: Vec::new(),
            answers: VecDeque::new(),
        }
    }

    /// Takes what programs wrote at `now`.
    pub fn show(&mut self, now: Duration, bytes: &[u8]) {
        self.last_output = Some(now);
        self.written.extend_from_slice(bytes);
        self.answers.extend(self.terminal.show(bytes));
    }

    /// Returns what is to be done at `now`, if anything is; to be asked again until there is nothing.
    ///
    /// # Errors
    ///
    /// Where a text that the script waits for does not come.
    pub fn poll(&mut self, now: Duration) -> Result<Option<TypistAction>, WaitTimeout> {
        if let Some(answer) = self.answers.pop_front() {
            return Ok(Some(TypistAction::Type(answer)));
        }
        while self.prepare() && self.is_due(now)? {
            let Some(made) = self.moves.pop_front() else {
                break;
            };
            match made {
                ScheduledAction::After(gap, action) => {
                    // Gaps count from when a key was due, so that being asked late adds up to nothing.
                    self.since += gap;
                    if let Some(act) = self.perform(action) {
                        return Ok(Some(act));
                    }
                }
                ScheduledAction::Settle | ScheduledAction::Wait(_) => self.since = now,
            }
        }
        Ok(None)
    }

    fn perform(&mut self, action: StepAction) -> Option<TypistAction> {
        let bytes = match action {
            StepAction::Nothing => return None,
            StepAction::Act(act) => {
                if let TypistAction::Resize(size) = act {
                    self.terminal.resize(size);
                }
                return Some(act);
            }
            StepAction::Press(ScriptKey::Plain(bytes)) => bytes,
            StepAction::Press(ScriptKey::Cursor(letter)) => {
                if self.terminal.has_application_cursor() {
                    vec![0x1b, b'O', letter]
                } else {
                    vec![0x1b, b'[', letter]
                }
            }
            StepAction::Paste(text) => self.pasted(&text),
        };
        self.written.clear();
        Some(TypistAction::Type(bytes))
    }

    /// Terminals send a carriage return for each end of a line in a paste.
    fn pasted(&self, text: &str) -> Vec<u8> {
        let text = text.replace('\n', "\r");
        if self.terminal.has_bracketed_paste() {
            format!("\x1b[200~{text}\x1b[201~").into_bytes()
        } else {
            text.into_bytes()
        }
    }

    fn is_due(&self, now: Duration) -> Result<bool, WaitTimeout> {
        let waited = now.saturating_sub(self.since);
        match self.moves.front() {
            None => Ok(false),
            Some(ScheduledAction::After(gap, _)) => Ok(waited >= *gap),
            Some(ScheduledAction::Settle) => {
                // Before the first prompt there is nothing to settle.
                let Some(last_output) = self.last_output else {
                    return Ok(waited >= PATIENCE);
                };
                let quiet = now.saturating_sub(last_output.max(self.since));
                Ok(quiet >= SETTLED || waited >= SETTLING)
            }
            Some(ScheduledAction::Wait(text)) => {
                let mut windows = self.written.windows(text.len());
                let is_there = windows.any(|window| window == text.as_bytes());
                if waited > PATIENCE && !is_there {
                    Err(WaitTimeout {
                        line: self.line,
                        text: text.clone(),
                    })
                } else {
                    Ok(is_there)
                }
            }
        }
    }

    /// Makes the moves of the next line, if those of the last are made. Returns whether there are any.
    fn prepare(&mut self) -> bool {
        while self.moves.is_empty() {
            let Some(line) = self.lines.pop_front() else {
                return self.leave();
            };
            self.line = line.number;
            self.plan(line.step);
        }
        true
    }

    /// After the last line everything is over, once.
    fn leave(&mut self) -> bool {
        if self.line == usize::MAX {
            return false;
        }
        self.line = usize::MAX;
        self.moves.push_back(ScheduledAction::Settle);
        self.then(LOOK_BACK, StepAction::Act(TypistAction::Leave));
        true
    }

    fn plan(&mut self, step: ScriptStep) {
        match step {
            ScriptStep::Type(text) => self.plan_text(&text, true),
            ScriptStep::Exact(text) => self.plan_text(&text, false),
            ScriptStep::Line(text, marks) => self.plan_line(&text, marks),
            ScriptStep::Keys(keys) => {
                for key in keys {
                    let gap = self.rhythm.command();
                    self.then(gap, StepAction::Press(key));
                }
            }
            ScriptStep::Hold(key, count) => self.plan_hold(&key, count),
            ScriptStep::Commit(words) => {
                for word in words {
                    let gap = self.rhythm.composing();
                    self.then(gap, StepAction::Press(ScriptKey::Plain(word.into_bytes())));
                }
            }
            ScriptStep::Paste(text) => {
                let gap = self.rhythm.command();
                self.then(gap, StepAction::Paste(text));
            }
            ScriptStep::Settle => self.moves.push_back(ScheduledAction::Settle),
            ScriptStep::Think => self.plan_thought(),
            ScriptStep::Wait(text) => self.moves.push_back(ScheduledAction::Wait(text)),
            ScriptStep::Pause(pause) => self.then(pause, StepAction::Nothing),
            ScriptStep::Mark(mark) => {
                self.then(Duration::ZERO, StepAction::Act(TypistAction::Mark(mark)))
            }
            ScriptStep::Resize(size) => {
                self.then(Duration::ZERO, StepAction::Act(TypistAction::Resize(size)))
            }
        }
    }

    fn plan_text(&mut self, text: &str, has_slips: bool) {
        for touch in self.rhythm.text(text, has_slips) {
            self.then(touch.gap, StepAction::Press(ScriptKey::Plain(touch.bytes)));
        }
    }

    fn plan_line(&mut self, text: &str, marks: Option<(Mark, Mark)>) {
        /// From Enter to the mark behind it: what a program echoes of a line is there by then.
        const MARK_DELAY: Duration = Duration::from_millis(60);
        self.moves.push_back(ScheduledAction::Settle);
        self.plan_thought();
        if let Some((on, _)) = marks {
            self.then(Duration::ZERO, StepAction::Act(TypistAction::Mark(on)));
        }
        self.plan_text(text, true);
        let gap = self.rhythm.command();
        self.then(gap, StepAction::Press(ScriptKey::Plain(b"\r".to_vec())));
        if let Some((_, off)) = marks {
            self.then(MARK_DELAY, StepAction::Act(TypistAction::Mark(off)));
        }
    }

    fn plan_hold(&mut self, key: &ScriptKey, count: usize) {
        for number in 0..=count {
            let gap = match number {
                0 => self.rhythm.command(),
                1 => REPEAT_DELAY,
                _ => REPEAT_GAP,
            };
            self.then(gap, StepAction::Press(key.clone()));
        }
    }

    fn plan_thought(&mut self) {
        let thought = self.rhythm.thought();
        self.then(thought, StepAction::Nothing);
    }

    fn then(&mut self, gap: Duration, action: StepAction) {
        self.moves.push_back(ScheduledAction::After(gap, action));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn typist(text: &str) -> ScriptedTypist {
        let script = Script::parse(&format!("size 80x24\nseed 5\nrun x\n{text}"));
        let mut typist = ScriptedTypist::new(script.unwrap(), ms(0));
        typist.show(ms(0), b"$ ");
        typist
    }

    /// Asks each millisecond, and returns what was done and when, in milliseconds.
    fn acts(typist: &mut ScriptedTypist, until: u64) -> Vec<(u64, TypistAction)> {
        let mut acts = Vec::new();
        for now in 0..until {
            while let Some(act) = typist.poll(ms(now)).unwrap() {
                acts.push((now, act));
            }
        }
        acts
    }

    fn typed(acts: &[(u64, TypistAction)]) -> Vec<u8> {
        let bytes = acts.iter().filter_map(|(_, act)| match act {
            TypistAction::Type(bytes) => Some(bytes.clone()),
            _ => None,
        });
        bytes.flatten().collect()
    }

    #[test]
    fn a_line_is_typed_after_a_thought_and_then_it_is_over() {
        let acts = acts(&mut typist("line ab c"), 9000);
        assert_eq!(typed(&acts), b"ab c\r");
        assert!(acts[0].0 >= 250 + 400, "{acts:?}");
        assert_eq!(acts.last().unwrap().1, TypistAction::Leave);
        assert_eq!(acts.len(), 6);
    }

    #[test]
    fn secrets_are_marked_around_all_their_keys() {
        let acts = acts(&mut typist("secret pw"), 9000);
        let acts: Vec<TypistAction> = acts.into_iter().map(|(_, act)| act).collect();
        let key = |text: &str| TypistAction::Type(text.as_bytes().to_vec());
        let expected = [
            TypistAction::Mark(Mark::SecretOn),
            key("p"),
            key("w"),
            key("\r"),
            TypistAction::Mark(Mark::SecretOff),
            TypistAction::Leave,
        ];
        assert_eq!(acts, expected);
    }

    #[test]
    fn held_keys_repeat_thirty_times_a_second() {
        let acts = acts(&mut typist("hold Left 31"), 9000);
        let times: Vec<u64> = acts.iter().map(|(at, _)| *at).collect();
        assert_eq!(times[1] - times[0], 500);
        assert_eq!(times[31] - times[1], 990);
        assert_eq!(typed(&acts), b"\x1b[D".repeat(32));
    }

    #[test]
    fn what_programs_ask_for_decides_what_keys_send() {
        let mut typist = typist("keys Up\npaste a\\nb");
        typist.show(ms(0), b"\r\x1b[?1h\x1b[?2004h\x1b[6n");
        let acts = acts(&mut typist, 9000);
        assert_eq!(acts[0], (0, TypistAction::Type(b"\x1b[1;1R".to_vec())));
        assert_eq!(typed(&acts[1..]), b"\x1bOA\x1b[200~a\rb\x1b[201~");
    }

    #[test]
    fn nobody_types_before_the_first_prompt() {
        let script = Script::parse("size 80x24\nseed 5\nrun x\nsettle\nexact x").unwrap();
        let mut typist = ScriptedTypist::new(script, ms(0));
        assert_eq!(acts(&mut typist, 5000), []);
        typist.show(ms(5000), b"$ ");
        assert_eq!(typist.poll(ms(5250)), Ok(None));
        assert_eq!(
            typist.poll(ms(5600)),
            Ok(Some(TypistAction::Type(b"x".to_vec())))
        );
    }

    #[test]
    fn output_is_waited_for() {
        let mut typist = typist("wait ready\nexact x");
        assert_eq!(typist.poll(ms(5000)), Ok(None));
        typist.show(ms(5001), b"not rea");
        typist.show(ms(5002), b"dy yet");
        assert_eq!(typist.poll(ms(5003)), Ok(None));
        assert_eq!(
            typist.poll(ms(5400)),
            Ok(Some(TypistAction::Type(b"x".to_vec())))
        );
    }

    #[test]
    fn somebody_who_waits_in_vain_says_so() {
        let mut typist = typist("\nwait ready");
        let stuck = WaitTimeout {
            line: 5,
            text: "ready".to_owned(),
        };
        assert_eq!(typist.poll(PATIENCE), Ok(None));
        assert_eq!(typist.poll(PATIENCE + ms(1)), Err(stuck));
    }

    #[test]
    fn programs_that_draw_without_end_are_not_waited_for() {
        let mut typist = typist("settle\nexact x");
        let mut first = None;
        for now in 0..5000 {
            typist.show(ms(now), b".");
            first = first.or(typist.poll(ms(now)).unwrap().map(|_| now));
        }
        assert!((2500..3000).contains(&first.unwrap()), "{first:?}");
    }

    #[test]
    fn output_has_settled_after_a_quarter_of_a_second() {
        let mut typist = typist("settle\nmark secret-on");
        typist.show(ms(100), b".");
        assert_eq!(typist.poll(ms(349)), Ok(None));
        let mark = TypistAction::Mark(Mark::SecretOn);
        assert_eq!(typist.poll(ms(350)), Ok(Some(mark)));
    }

    #[test]
    fn the_window_stays_open_for_a_moment_after_the_last_line() {
        let mut typist = typist("pause 1000");
        assert_eq!(typist.poll(ms(1000 + 250 + 599)), Ok(None));
        // The pause counts from the beginning, and what settles after it from when it is looked at.
        let acts = acts(&mut typist, 5000);
        assert_eq!(acts, [(2449, TypistAction::Leave)]);
    }

    #[test]
    fn a_mark_comes_60_ms_after_enter() {
        let acts = acts(&mut typist("open y"), 9000);
        let at = |number: usize| acts[number].0;
        assert_eq!(acts[2].1, TypistAction::Type(b"\r".to_vec()));
        assert_eq!(acts[3].1, TypistAction::Mark(Mark::OpenOff));
        assert_eq!(at(3) - at(2), 60);
    }

    #[test]
    fn only_output_since_the_last_key_is_waited_for() {
        let mut typist = typist("wait go\nexact x\nwait go\nexact y");
        typist.show(ms(0), b"go");
        let acts = acts(&mut typist, 3000);
        assert_eq!(typed(&acts), b"x");
        typist.show(ms(3000), b"go");
        typist.poll(ms(3000)).unwrap();
        let last = typist.poll(ms(3300)).unwrap();
        assert_eq!(last, Some(TypistAction::Type(b"y".to_vec())));
    }

    #[test]
    fn a_window_of_another_size_answers_with_it() {
        let mut typist = typist("size 100x30");
        let size = Size {
            columns: 100,
            rows: 30,
        };
        typist.show(ms(0), b"\x1b[18t");
        let asked = |typist: &mut ScriptedTypist| typist.poll(ms(0)).unwrap();
        let answer = |text: &[u8]| Some(TypistAction::Type(text.to_vec()));
        assert_eq!(asked(&mut typist), answer(b"\x1b[8;24;80t"));
        assert_eq!(asked(&mut typist), Some(TypistAction::Resize(size)));
        typist.show(ms(0), b"\x1b[18t");
        assert_eq!(asked(&mut typist), answer(b"\x1b[8;30;100t"));
    }

    #[test]
    fn words_of_an_input_method_come_in_one_piece_each() {
        let acts = acts(&mut typist("commit 你好 吗"), 9000);
        let word = |text: &str| TypistAction::Type(text.as_bytes().to_vec());
        let words: Vec<TypistAction> = acts.iter().map(|(_, act)| act.clone()).collect();
        assert_eq!(words, [word("你好"), word("吗"), TypistAction::Leave]);
        assert!((350..=1000).contains(&acts[0].0), "{acts:?}");
    }

    #[test]
    fn exact_text_has_no_slips() {
        let text = "every quick brown fox ".repeat(20);
        let acts = acts(&mut typist(&format!("exact {text}")), 200_000);
        assert_eq!(typed(&acts), text.as_bytes());
        assert_eq!(acts.len(), text.len() + 1);
    }
}

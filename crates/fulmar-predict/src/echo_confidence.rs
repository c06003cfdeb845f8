//! When a place may be trusted to echo before it has: the rules that keep secrets off the screen.
//!
//! Source: docs/prediction.md §6.

use fulmar_terminal::ModeFlags;

use crate::canvas::Canvas;
use crate::context_memory::ContextMemory;
use crate::decision::{EpochReason, KeyClass};
use crate::editor::{Kind, editor};
use crate::input_context::InputKind;
use crate::input_line::InputLine;
use crate::key::Key;
use crate::pending::CursorSnapshot;
use crate::tty_hints::{ProgramClass, TtyHints};

/// A program that has read so many lines without asking for them is believed to go on so. Chosen by
/// eye: one that asks for a secret asks for little else.
const LINES_UNASKED: u32 = 3;

/// What the keys settled so far allow.
#[derive(Debug)]
pub(crate) struct EchoConfidence {
    /// Enter was the last key that ended a line: a prompt may be recalled.
    prompts_open: bool,
    /// The last key without a rule did not end a line: an editor's mark counts.
    editors_open: bool,
    /// Enter had its time, and nothing has changed since: whatever is to be seen is not its answer.
    hush: Option<CursorSnapshot>,
    /// The next key may be the second half of a command.
    prefix: bool,
    /// Escape was the answer to an editor's mark: the mark counts again when it has gone, or an echo was
    /// seen.
    is_mark_stale: bool,
    /// A character did not appear although the tty is said to echo.
    is_echo_refuted: bool,
    /// The terminal was set by hand with the byte before this one: nothing is known of it until what was
    /// typed later is echoed.
    settings_from: Option<u64>,
}

/// What is asked about a place.
pub(crate) struct EchoQuery<'a> {
    pub(crate) canvas: &'a Canvas,
    pub(crate) line: &'a InputLine,
    pub(crate) memory: &'a ContextMemory,
    pub(crate) hints: Option<&'a TtyHints>,
    pub(crate) ahead: TypeAhead,
}

/// What was typed before the place was to be seen, and is not to be seen itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeAhead {
    Nothing,
    /// The server has none of it.
    Unreceived,
    /// The server has some of it: where the tty echoes it would be on the screen.
    Received,
    /// The program has had its time for the last of it, a character: whatever it echoed before, it does
    /// not now.
    Missed,
}

impl EchoConfidence {
    pub(crate) fn new() -> EchoConfidence {
        EchoConfidence {
            prompts_open: true,
            editors_open: true,
            hush: None,
            prefix: false,
            is_mark_stale: false,
            is_echo_refuted: false,
            settings_from: None,
        }
    }

    /// A key without a rule is settled. `before` is what was to be seen before it, if known.
    pub(crate) fn note_break(&mut self, key: Key, before: Option<&CursorSnapshot>, frame: &Canvas) {
        let has_effect = before.is_some_and(|before| before.has_effect(frame));
        self.prefix = match KeyClass::of(key) {
            KeyClass::Escape => true,
            KeyClass::Control => !has_effect,
            _ => false,
        };
        self.is_mark_stale |= key == Key::Escape && has_modes(frame);
        if key == Key::Enter {
            self.prompts_open = true;
            self.editors_open = true;
            let is_answered = before.is_some_and(|before| before.is_answered(frame));
            self.hush = (!is_answered).then(|| CursorSnapshot::of(frame));
        } else if key.keeps_line() {
            self.editors_open = true;
        } else {
            self.prompts_open = false;
            self.editors_open = false;
        }
    }

    /// A key with a rule has left without its guess being found right. A control key that did
    /// nothing may be the first half of a command.
    pub(crate) fn note_known(&mut self, key: Key, has_effect: bool) {
        self.prefix = matches!(key, Key::Control(_)) && !has_effect;
    }

    /// A guess was wrong.
    pub(crate) fn note_surprise(&mut self) {
        self.editors_open = true;
    }

    /// A character is not where it was expected: that the tty echoes counts for nothing until an echo
    /// is seen, or until the hints change.
    pub(crate) fn refute_echo(&mut self) {
        self.is_echo_refuted = true;
    }

    /// An echo was seen, or the hints are others.
    pub(crate) fn accept_echo(&mut self) {
        self.is_mark_stale = false;
        self.is_echo_refuted = false;
    }

    /// A line was submitted, up to this byte, that may switch the echo off.
    pub(crate) fn note_settings(&mut self, end: u64) {
        self.settings_from = Some(end);
    }

    /// A key that begins with this byte was echoed.
    pub(crate) fn note_echo_of(&mut self, start: u64) {
        self.settings_from.take_if(|from| *from <= start);
    }

    /// Something was typed that nothing is known of.
    pub(crate) fn note_loss(&mut self) {
        self.prompts_open = false;
        self.editors_open = false;
        self.prefix = false;
    }

    /// Takes the note that the next key may be the second half of a command.
    pub(crate) fn take_prefix(&mut self) -> bool {
        std::mem::take(&mut self.prefix)
    }

    /// Why what is typed at the place may be shown at once, if it may.
    pub(crate) fn reason(&mut self, question: &EchoQuery<'_>) -> Option<EpochReason> {
        let canvas = question.canvas;
        if self
            .hush
            .as_ref()
            .is_some_and(|hush| hush.is_answered(canvas))
        {
            self.hush = None;
        }
        if self.hush.is_some() {
            return None;
        }
        self.is_mark_stale = self.is_mark_stale && has_modes(canvas);
        if self.settings_from.is_some() || question.line.is_below_secret(canvas) {
            return None;
        }
        match question.hints {
            Some(hints) if hints.is_silent() => return None,
            Some(hints) if self.believes(hints, question) => return Some(EpochReason::Hints),
            _ => {}
        }
        if question.line.is_echoed {
            return Some(EpochReason::Line);
        }
        match question.line.place.kind {
            InputKind::Editor => {
                (self.editors_open && !self.is_mark_stale).then_some(EpochReason::Editor)
            }
            InputKind::Prompt => self.recall(question),
            InputKind::Elsewhere => None,
        }
    }

    /// Whether the tty itself shows what is typed, as far as hints tell.
    pub(crate) fn echoes(&self, hints: &TtyHints) -> bool {
        let may = hints.canonical && hints.class != ProgramClass::Relay;
        may && !hints.is_silent() && !self.is_echo_refuted
    }

    /// Whether hints that the tty echoes are enough. They are those of the moment, and a program that
    /// goes on working may switch the echo off before it reads. So it must have asked, and for no
    /// secret; what was typed before that is believed where it was before. A program that reads lines
    /// without asking is known by that.
    fn believes(&self, hints: &TtyHints, question: &EchoQuery<'_>) -> bool {
        let EchoQuery { line, canvas, .. } = question;
        if !self.echoes(hints) || line.asks_for_secret(canvas) {
            return false;
        }
        let context = question.memory.get(line.place.signature);
        let is_trusted = context.is_some_and(|context| context.is_trusted());
        let is_doubted = context.is_some_and(|context| context.is_doubted());
        let waits = context.is_some_and(|context| context.confirmed() >= LINES_UNASKED);
        match question.ahead {
            TypeAhead::Received | TypeAhead::Missed => false,
            _ if !line.has_question() => is_trusted && waits && hints.class != ProgramClass::Shell,
            TypeAhead::Unreceived => is_trusted,
            TypeAhead::Nothing => !is_doubted,
        }
    }

    fn recall(&self, question: &EchoQuery<'_>) -> Option<EpochReason> {
        let context = question.memory.get(question.line.place.signature);
        let is_known = context.is_some_and(|context| {
            let is_new = question.line.repeats(question.canvas) && !context.is_settled();
            context.is_trusted() && !is_new
        });
        let may = self.prompts_open && is_known && is_line_editor(question);
        let may = may && question.ahead != TypeAhead::Missed;
        may.then_some(EpochReason::Memory)
    }
}

/// Whether an editor says that it is in a mode that Escape ends.
fn has_modes(canvas: &Canvas) -> bool {
    let editor = editor(canvas.screen(), canvas.caret());
    editor.is_some_and(|editor| matches!(editor.kind, Kind::Insert | Kind::Replace))
}

/// Whether a line editor is active, so that a prompt is what it looks like: S3.
fn is_line_editor(question: &EchoQuery<'_>) -> bool {
    let modes = question.canvas.screen().modes();
    let class = question.hints.map(|hints| (hints.canonical, hints.class));
    modes.has(ModeFlags::BRACKETED_PASTE)
        || matches!(
            class,
            Some((false, ProgramClass::Shell | ProgramClass::LineEditor))
        )
}

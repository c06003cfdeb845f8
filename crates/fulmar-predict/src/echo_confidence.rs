//! Decides where echo may be expected before any is seen: the rules that keep secrets off the screen.
//!
//! Source: docs/prediction.md §6.

use fulmar_terminal::ModeFlags;

use crate::canvas::Canvas;
use crate::context_memory::ContextMemory;
use crate::decision::EpochReason;
use crate::editor::{EditorKind, find_editor};
use crate::input_context::InputKind;
use crate::input_line::InputLine;
use crate::key::Key;
use crate::pending::CursorSnapshot;
use crate::tty_hints::{ProgramClass, TtyHints};

/// A program that has read so many lines without asking for them is expected to go on so. Chosen by
/// eye: one that asks for a secret asks for little else.
const LINES_UNASKED: u32 = 3;

/// The state that the settled keys have left: where echo may be expected next.
#[derive(Debug)]
pub(crate) struct EchoConfidence {
    /// Enter was the last key that ended a line: a prompt may be recalled.
    recalls_prompts: bool,
    /// The last key without a rule did not end a line: an editor's mode indicator counts.
    accepts_editors: bool,
    /// Enter had its time, and nothing has changed since: whatever is to be seen is not its answer.
    unanswered_enter: Option<CursorSnapshot>,
    /// The next key may be the second half of a command.
    after_prefix_key: bool,
    /// Escape was the answer to an editor's mode indicator: the indicator counts again when it has gone, or an echo was
    /// seen.
    is_indicator_stale: bool,
    /// A character did not appear although the tty is said to echo.
    is_echo_refuted: bool,
    /// The terminal was set by hand with the byte before this one: nothing is known of it until what was
    /// typed later is echoed.
    tty_command_end: Option<u64>,
    /// This byte was typed after a pause, in which the program may have turned the echo off: the terminal is to echo
    /// it, or a later one, first.
    paused_before: Option<u64>,
}

/// The context of which is asked whether it will echo.
pub(crate) struct EchoQuery<'a> {
    pub(crate) canvas: &'a Canvas,
    pub(crate) line: &'a InputLine,
    pub(crate) memory: &'a ContextMemory,
    pub(crate) hints: Option<&'a TtyHints>,
    pub(crate) type_ahead: TypeAhead,
    /// The hints are of a look that was late enough, and is not too long ago.
    pub(crate) is_steady: bool,
}

/// Keys that were typed before the prompt was on the screen, and are not on the screen themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeAhead {
    Nothing,
    /// The server has none of it.
    Unreceived,
    /// The server has some of it: where the tty echoes it would be on the screen.
    Received,
    /// The program has had its time for the last of it, a character: whatever it echoed before, it does
    /// not now.
    NotEchoed,
}

impl TypeAhead {
    /// False if the server had a key when it made the screen, or if a key is not to be seen on it: in an editor or a
    /// multiplexer such a key may be a command.
    fn is_for_this_screen(self) -> bool {
        matches!(self, TypeAhead::Nothing | TypeAhead::Unreceived)
    }
}

impl EchoConfidence {
    pub(crate) fn new() -> EchoConfidence {
        EchoConfidence {
            recalls_prompts: true,
            accepts_editors: true,
            unanswered_enter: None,
            after_prefix_key: false,
            is_indicator_stale: false,
            is_echo_refuted: false,
            tty_command_end: None,
            paused_before: None,
        }
    }

    /// A key without a rule is settled. `before` is what was to be seen before it, if known.
    pub(crate) fn note_unpredicted(
        &mut self,
        key: Key,
        before: Option<&CursorSnapshot>,
        frame: &Canvas,
    ) {
        let has_effect = before.is_some_and(|before| before.has_effect(frame));
        // S7: behind Escape, or a control key that did nothing to be seen, the second half of a
        // command may come.
        self.after_prefix_key = match key {
            Key::Escape => true,
            Key::Control(_) => !has_effect,
            _ => false,
        };
        self.is_indicator_stale |= key == Key::Escape && is_modal_editor(frame);
        if key == Key::Enter {
            self.recalls_prompts = true;
            self.accepts_editors = true;
            // S2: the time for an answer may be over before a slow program has begun it.
            // The answer to a second Enter may have come with that to the first. In the text of an editor nothing is asked.
            let is_answered = before.is_some_and(|before| before.is_answered(frame))
                || find_editor(frame.screen(), frame.caret()).is_some();
            self.unanswered_enter = (!is_answered).then(|| CursorSnapshot::of(frame));
        } else if key.keeps_line() {
            self.accepts_editors = true;
        } else {
            // S6: the key has ended the line, and is not Enter: what comes next may be anything.
            self.recalls_prompts = false;
            self.accepts_editors = false;
        }
    }

    /// A key with a rule has left without its prediction being found right. A control key that did
    /// nothing may be the first half of a command.
    pub(crate) fn note_unconfirmed(&mut self, key: Key, has_effect: bool) {
        self.after_prefix_key = matches!(key, Key::Control(_)) && !has_effect;
    }

    /// A prediction was wrong.
    pub(crate) fn note_misprediction(&mut self) {
        self.accepts_editors = true;
    }

    /// A character is not where it was expected: that the tty echoes counts for nothing until an echo
    /// is seen, or until the hints change.
    pub(crate) fn refute_echo(&mut self) {
        self.is_echo_refuted = true;
    }

    /// An echo was seen, or the hints are others.
    pub(crate) fn accept_echo(&mut self) {
        self.is_indicator_stale = false;
        self.is_echo_refuted = false;
    }

    /// A line was submitted, up to this byte, that may switch the echo off.
    pub(crate) fn note_tty_command(&mut self, end: u64) {
        self.tty_command_end = Some(end);
    }

    /// The user types again after a pause, from this byte on, unless it is the first of a line.
    pub(crate) fn note_pause(&mut self, start: Option<u64>) {
        self.paused_before = start;
    }

    /// A key that begins with this byte was echoed.
    pub(crate) fn note_echo_of(&mut self, start: u64) {
        self.tty_command_end.take_if(|from| *from <= start);
        self.paused_before.take_if(|from| *from <= start);
    }

    /// Something was typed that nothing is known of.
    pub(crate) fn note_discarded(&mut self) {
        self.recalls_prompts = false;
        self.accepts_editors = false;
        self.after_prefix_key = false;
    }

    /// Takes the note that the next key may be the second half of a command.
    pub(crate) fn take_prefix_key(&mut self) -> bool {
        std::mem::take(&mut self.after_prefix_key)
    }

    /// Returns the reason for which the epoch of the next key may be confirmed before any echo, if there is
    /// one.
    pub(crate) fn reason_to_confirm(&mut self, query: &EchoQuery<'_>) -> Option<EpochReason> {
        let canvas = query.canvas;
        if self
            .unanswered_enter
            .as_ref()
            .is_some_and(|unanswered_enter| unanswered_enter.is_answered(canvas))
        {
            self.unanswered_enter = None;
        }
        // S2: until the answer can be seen, the line that was recognised may be the old one.
        if self.unanswered_enter.is_some() {
            return None;
        }
        self.is_indicator_stale = self.is_indicator_stale && is_modal_editor(canvas);
        if self.tty_command_end.is_some() || query.line.is_below_secret(canvas) {
            return None;
        }
        // S10: the echo may have been turned off meanwhile.
        if self.paused_before.is_some() && may_fall_silent(query) {
            return None;
        }
        match query.hints {
            Some(hints) if hints.is_silent() => return None,
            Some(hints) if self.hints_suffice(hints, query) => return Some(EpochReason::Hints),
            _ => {}
        }
        if query.line.is_echoed {
            return Some(EpochReason::Line);
        }
        match query.line.context.kind {
            InputKind::Editor => {
                let may = self.accepts_editors && !self.is_indicator_stale;
                (may && query.type_ahead.is_for_this_screen()).then_some(EpochReason::Editor)
            }
            InputKind::Prompt => self.recalled_prompt(query),
            InputKind::Other => None,
        }
    }

    /// True if the tty itself echoes, as far as hints tell.
    pub(crate) fn echoes(&self, hints: &TtyHints) -> bool {
        let may = hints.canonical && hints.class != ProgramClass::Relay;
        may && !hints.is_silent() && !self.is_echo_refuted
    }

    /// True if hints that the tty echoes are enough. They are those of the moment, and a program that goes
    /// on working may switch the echo off before it reads. So it must have asked, and for no secret;
    /// type-ahead counts only in a context that has echoed. A program that reads lines without a prompt is
    /// known by its earlier lines.
    fn hints_suffice(&self, hints: &TtyHints, query: &EchoQuery<'_>) -> bool {
        let EchoQuery { line, canvas, .. } = query;
        if !query.is_steady || !self.echoes(hints) || line.asks_for_secret(canvas) {
            return false;
        }
        let context = query.memory.get(line.context.id);
        let expects_echo = context.is_some_and(|context| context.expects_echo());
        let misses_echo = context.is_some_and(|context| context.misses_echo());
        let waits = context.is_some_and(|context| context.echoed_lines() >= LINES_UNASKED);
        match query.type_ahead {
            TypeAhead::Received | TypeAhead::NotEchoed => false,
            _ if !line.has_prefix() => expects_echo && waits && hints.class != ProgramClass::Shell,
            TypeAhead::Unreceived => expects_echo,
            TypeAhead::Nothing => !misses_echo,
        }
    }

    fn recalled_prompt(&self, query: &EchoQuery<'_>) -> Option<EpochReason> {
        let context = query.memory.get(query.line.context.id);
        let is_known = context.is_some_and(|context| {
            // S3: a prompt that has only ever followed itself may be the next question of a
            // program.
            let is_new = query.line.repeats_row_above(query.canvas) && !context.may_repeat();
            context.expects_echo() && !is_new
        });
        let may = self.recalls_prompts && is_known && is_line_editor(query);
        let may = may && query.type_ahead.is_for_this_screen();
        may.then_some(EpochReason::Memory)
    }
}

/// True if the echo of a line may stop while nobody types: the terminal echoes, as far as can be known, and a program
/// can turn that off without a word. A line editor and an editor of text echo by themselves. At a prompt where line
/// after line was echoed, none is expected to be an exception.
///
/// Source: docs/prediction.md §6, S10.
pub(crate) fn may_fall_silent(query: &EchoQuery<'_>) -> bool {
    let kind = query.line.context.kind;
    let hints = query
        .hints
        .filter(|hints| hints.class != ProgramClass::Relay);
    let is_echoed_by_tty = match hints {
        _ if kind == InputKind::Editor => false,
        Some(hints) => hints.echo,
        None => !has_bracketed_paste(query.canvas),
    };
    let context = query.memory.get(query.line.context.id);
    let is_used = context
        .is_some_and(|context| context.always_echoed() && context.echoed_lines() >= LINES_UNASKED);
    is_echoed_by_tty && !(kind == InputKind::Prompt && is_used)
}

fn has_bracketed_paste(canvas: &Canvas) -> bool {
    canvas.screen().modes().has(ModeFlags::BRACKETED_PASTE)
}

/// True if an editor shows a mode that Escape ends.
fn is_modal_editor(canvas: &Canvas) -> bool {
    let editor = find_editor(canvas.screen(), canvas.caret());
    editor.is_some_and(|editor| matches!(editor.kind, EditorKind::Insert | EditorKind::Replace))
}

/// True if a line editor is active, so that a prompt is what it looks like: S3.
fn is_line_editor(query: &EchoQuery<'_>) -> bool {
    let class = query.hints.map(|hints| (hints.canonical, hints.class));
    has_bracketed_paste(query.canvas)
        || matches!(
            class,
            Some((false, ProgramClass::Shell | ProgramClass::LineEditor))
        )
}

//! Recognises a prompt left of the cursor, and tells it from others.
//!
//! Source: docs/prediction.md §6.

use std::hash::{DefaultHasher, Hash, Hasher};

use fulmar_terminal::{ModeFlags, Position, Row, Screen};

use crate::text::{is_vacant, left_border, text_between};
use crate::tty_hints::TtyHints;

/// The characters that prompts end with, the arrows of the fonts for status lines among them. Never a
/// colon: questions end with it, and secrets are asked for by questions.
///
/// Source: docs/prediction.md §6.
const ENDS: &str = "$#%>])❯»λ➜›⟩❱→⟫⇒➤▶►▸⮞✗✘⚡\u{e0b0}\u{e0b1}\u{e0b4}\u{e0bc}\u{e0c0}";

/// The character that some prompts begin with that end with the name of a folder.
///
/// Source: docs/prediction.md §6.
const ARROW: char = '➜';

/// The number of blanks that may stand between a prompt and the cursor.
///
/// Source: docs/prediction.md §6.
const BLANKS_MAX: u16 = 2;

/// Parts of words that secrets are asked for with.
const SECRETS: [&str; 16] = [
    "passw",
    "passp",
    "passc",
    "secret",
    "verification",
    "credential",
    "kennwort",
    "contraseñ",
    "senha",
    "hasło",
    "парол",
    "密码",
    "密碼",
    "暗証",
    "パスワード",
    "암호",
];

/// The same, but parts of many other words, too.
const SHORT_SECRETS: [&str; 4] = ["pass", "token", "pin", "otp"];

/// Prompts of unfinished input that end in none of [`ENDS`].
const CONTINUATIONS: [&str; 2] = ["...", "…"];

/// A prompt, as far as it can be told from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ContextId(pub(crate) u64);

/// True if a prompt may ask for a secret.
fn asks_for_secret(prompt: &str) -> bool {
    let prompt = prompt.to_lowercase();
    let mut parts = SECRETS.iter().chain(&SHORT_SECRETS);
    parts.any(|part| prompt.contains(part))
}

/// True if text of any kind may: “sleeping” and “3 passed” do not.
fn mentions_secret(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let is_short = |word| SHORT_SECRETS.contains(&word);
    SECRETS.iter().any(|part| text.contains(part))
        || words.any(|word| is_short(word) || word.strip_suffix('s').is_some_and(is_short))
}

/// True if the text left of `at` in its pane, or the row above, asks for a secret.
pub(crate) fn is_secret_asked(screen: &Screen, at: Position) -> bool {
    let start = left_border(screen, at);
    let before = text_between(screen.row(at.row), start, at.column.0);
    asks_for_secret(&before) || is_secret_above(screen, at.row, start)
}

/// Returns what the prompt left of `at` is, or `None` if there is none that memory may be kept of.
///
/// The id has the modes of the terminal, the start of the prompt's first word, its last
/// character and the blanks behind it; with hints also what they say of the tty and the program.
pub(crate) fn prompt_id(
    screen: &Screen,
    at: Position,
    hints: Option<&TtyHints>,
) -> Option<ContextId> {
    let start = left_border(screen, at);
    let prefix = prefix(screen, at.row, start, at.column.0)?;
    if !is_prompt_like(screen, &prefix, start) || is_secret_above(screen, at.row, start) {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    hash_modes(screen, hints, &mut hasher);
    first_word(&prefix.text).hash(&mut hasher);
    prefix.mark().hash(&mut hasher);
    prefix.blanks.hash(&mut hasher);
    Some(ContextId(hasher.finish()))
}

/// The text left of the cursor, from the start of its pane on.
struct Prefix {
    text: String,
    last: char,
    blanks: u16,
    /// Counts the columns of the whole.
    columns: u16,
}

impl Prefix {
    /// The character that makes it a prompt.
    fn mark(&self) -> Option<char> {
        if ENDS.contains(self.last) || CONTINUATIONS.contains(&self.text.as_str()) {
            Some(self.last)
        } else {
            (self.text.starts_with(ARROW) && self.blanks == 1).then_some(ARROW)
        }
    }
}

fn prefix(screen: &Screen, row: Row, start: u16, end: u16) -> Option<Prefix> {
    let cells = screen.row(row);
    let last = (start..end)
        .rev()
        .find(|&column| !is_vacant(cells, column))?;
    let text = text_between(cells, start, last + 1).trim().to_owned();
    Some(Prefix {
        last: text.chars().next_back()?,
        blanks: end - last - 1,
        columns: end - start,
        text,
    })
}

fn is_prompt_like(screen: &Screen, prefix: &Prefix, start: u16) -> bool {
    let room = u32::from(screen.size().columns().saturating_sub(start));
    prefix.mark().is_some()
        && prefix.blanks <= BLANKS_MAX
        && u32::from(prefix.columns) * 4 < room * 3
        && !asks_for_secret(&prefix.text)
}

/// True if the row above asks for a secret: a question may be a line of its own.
fn is_secret_above(screen: &Screen, row: Row, start: u16) -> bool {
    let Some(above) = row.0.checked_sub(1).map(Row) else {
        return false;
    };
    let cells = screen.row(above);
    mentions_secret(&text_between(cells, start, cells.columns()))
}

/// The first word up to where a path begins: the prompt of another folder is the same prompt.
fn first_word(text: &str) -> &str {
    let word = text.split_whitespace().next().unwrap_or_default();
    let end = word.find(['/', '~', ':']).unwrap_or(word.len());
    &word[..end]
}

fn hash_modes(screen: &Screen, hints: Option<&TtyHints>, hasher: &mut DefaultHasher) {
    screen.modes().has(ModeFlags::BRACKETED_PASTE).hash(hasher);
    screen.modes().mouse.number().hash(hasher);
    screen.cursor().visible.hash(hasher);
    if let Some(hints) = hints {
        (hints.canonical, hints.echo, hints.program).hash(hasher);
    }
}

#[cfg(test)]
mod tests;

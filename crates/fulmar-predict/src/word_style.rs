//! Finds words as programs see them.
//!
//! Source: docs/prediction.md §5.

/// One of four notions of a word. Which one holds is learned for each context and key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum WordStyle {
    /// Runs of letters and digits, as most shells' Alt-B and editors have it.
    #[default]
    Alphanumeric,
    /// Runs without blanks, as a terminal's Ctrl-W has it.
    Blanks,
    /// zsh's: letters, digits and its `WORDCHARS`.
    Zsh,
    /// fish's: a part of a path, or a run of punctuation.
    Fish,
}

/// The characters that zsh takes for parts of words beside letters and digits, unless told otherwise
/// (`WORDCHARS`).
///
/// Source: docs/prediction.md §5.
const ZSH_WORD: &str = "*?_-.[]~=/&;!#$%^(){}<>";

impl WordStyle {
    /// All of them.
    pub(crate) const ALL: [WordStyle; 4] = [
        WordStyle::Alphanumeric,
        WordStyle::Blanks,
        WordStyle::Zsh,
        WordStyle::Fish,
    ];

    /// True if a character is part of a word.
    fn has(self, character: char) -> bool {
        match self {
            WordStyle::Alphanumeric => character.is_alphanumeric(),
            WordStyle::Blanks => !is_blank(character),
            WordStyle::Zsh => character.is_alphanumeric() || ZSH_WORD.contains(character),
            WordStyle::Fish => !is_blank(character) && !is_fish_edge(character),
        }
    }

    /// Returns the number of characters from the start of `text` to the start of the word at or
    /// left of `at`.
    pub(crate) fn left(self, text: &[char], at: usize) -> usize {
        let mut at = at.min(text.len());
        if self == WordStyle::Fish {
            return fish_left(text, at);
        }
        while at > 0 && !self.has(text[at - 1]) {
            at -= 1;
        }
        while at > 0 && self.has(text[at - 1]) {
            at -= 1;
        }
        at
    }

    /// Returns the number of characters to the end of the word at or right of `at`.
    pub(crate) fn right(self, text: &[char], at: usize) -> usize {
        let mut at = at.min(text.len());
        if self == WordStyle::Fish {
            return fish_right(text, at);
        }
        while at < text.len() && !self.has(text[at]) {
            at += 1;
        }
        while at < text.len() && self.has(text[at]) {
            at += 1;
        }
        at
    }

    /// Returns the number of characters to the start of the word right of `at`: where zsh's and
    /// some editors' key for the next word goes.
    pub(crate) fn next_start(self, text: &[char], at: usize) -> usize {
        let mut at = at.min(text.len());
        while at < text.len() && self.has(text[at]) {
            at += 1;
        }
        while at < text.len() && !self.has(text[at]) {
            at += 1;
        }
        at
    }
}

fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\u{a0}'
}

/// True if a character ends a part of a path or of an argument for fish.
fn is_fish_edge(character: char) -> bool {
    "/={,}'\":@|;<>&()[]*?!#$".contains(character)
}

/// Blanks, then a run of edges, then the rest of the part.
fn fish_left(text: &[char], mut at: usize) -> usize {
    while at > 0 && is_blank(text[at - 1]) {
        at -= 1;
    }
    while at > 0 && is_fish_edge(text[at - 1]) {
        at -= 1;
    }
    while at > 0 && WordStyle::Fish.has(text[at - 1]) {
        at -= 1;
    }
    at
}

fn fish_right(text: &[char], mut at: usize) -> usize {
    while at < text.len() && is_blank(text[at]) {
        at += 1;
    }
    while at < text.len() && is_fish_edge(text[at]) {
        at += 1;
    }
    while at < text.len() && WordStyle::Fish.has(text[at]) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests;

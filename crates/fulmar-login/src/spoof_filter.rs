//! Text of others on its way to the user, in which nothing looks as if we had said it.
//!
//! Our own lines begin with our name and a colon, or with a bracket and our name; advice stands below, indented. A banner,
//! a start-up file or a server can print the same. Such a line gets a mark, and all others look as ssh would show them.
//!
//! Source: docs/threat-model.md §8.

/// The mark in front of words of others that we might have said.
const MARK: &str = "others say: ";

/// The beginnings of our own lines, in lower case. `mosh-server` is not among them: it is the other end's.
const NAMES: [&str; 3] = ["fulmar", "mosh-client", "mosh"];

/// The most characters of a possible name that wait for what follows. A longer one, with blanks or characters
/// that nobody sees, gets the mark. Chosen by eye.
const HELD_CHARACTERS_MAX: usize = 64;

/// The column from which on a terminal may begin a new row in the middle of a line. Chosen by eye: hardly a
/// window is narrower.
const ROW_COLUMNS_MIN: usize = 40;

/// A filter for text of others, which may come in pieces. Control characters are spelled out in it already.
#[derive(Debug)]
pub struct SpoofFilter {
    /// The characters that may turn out to be one of our names.
    held: String,
    /// The number of columns that the line has by now.
    column: usize,
    /// True if something can be seen in the line.
    is_visible: bool,
    /// True if a line of ours stands right above, and more of it could follow.
    is_below_ours: bool,
}

/// The kind of line that a beginning may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    /// It is not known yet.
    Open,
    /// A line as one of ours.
    Ours,
    /// Anything else.
    Other,
}

impl Default for SpoofFilter {
    fn default() -> SpoofFilter {
        SpoofFilter::new()
    }
}

impl SpoofFilter {
    /// Returns a filter for a terminal at the beginning of a line.
    pub const fn new() -> SpoofFilter {
        SpoofFilter {
            held: String::new(),
            column: 0,
            is_visible: false,
            is_below_ours: false,
        }
    }

    /// Takes the next piece, and returns what can be shown by now.
    pub fn take(&mut self, piece: &str) -> String {
        let mut shown = String::with_capacity(piece.len());
        for character in piece.chars() {
            self.take_character(character, &mut shown);
        }
        shown
    }

    /// Returns the rest, and what begins a new line if the last one has no end: what follows is ours.
    pub fn end(&mut self) -> String {
        let mut shown = String::new();
        self.release(&mut shown);
        if self.column > 0 {
            self.show('\n', &mut shown);
        }
        self.is_below_ours = true;
        shown
    }

    fn take_character(&mut self, character: char, shown: &mut String) {
        if !self.held.is_empty() && character != '\n' {
            self.held.push(character);
            let is_long = self.held.chars().count() > HELD_CHARACTERS_MAX;
            match beginning(&self.held) {
                Beginning::Open if !is_long => return,
                Beginning::Open | Beginning::Ours => return self.mark(shown),
                Beginning::Other => _ = self.held.pop(),
            }
        }
        self.release(shown);
        let may_begin = !self.is_visible || self.column >= ROW_COLUMNS_MIN;
        if may_begin && !is_blank(character) && character != '\n' {
            let mut bytes = [0; 4];
            if beginning(character.encode_utf8(&mut bytes)) == Beginning::Open {
                return self.held.push(character);
            }
        }
        // Advice of ours stands indented below a line of ours, so others' indented text would pass
        // for it.
        if self.is_below_ours && self.column == 0 && character != '\n' {
            if is_blank(character) {
                self.show_all(MARK, shown)
            } else {
                self.is_below_ours = false
            }
        }
        self.show(character, shown);
    }

    /// Shows what is held, on a line that says whose it is.
    fn mark(&mut self, shown: &mut String) {
        if self.is_visible {
            self.show('\n', shown);
        }
        self.show_all(MARK, shown);
        self.release(shown);
    }

    fn release(&mut self, shown: &mut String) {
        let held = std::mem::take(&mut self.held);
        self.show_all(&held, shown);
    }

    fn show_all(&mut self, text: &str, shown: &mut String) {
        text.chars()
            .for_each(|character| self.show(character, shown));
    }

    fn show(&mut self, character: char, shown: &mut String) {
        shown.push(character);
        match character {
            '\n' => (self.column, self.is_visible) = (0, false),
            _ => {
                self.is_visible |= !is_blank(character);
                // As many as it can have.
                self.column += match character {
                    '\t' => 8,
                    _ if character.is_ascii() => 1,
                    _ => 2,
                };
            }
        }
    }
}

/// Returns a whole line of others, without its end, as it is to be shown.
pub fn without_spoofing(line: &str) -> String {
    let mut filter = SpoofFilter::new();
    let mut shown = filter.take(line);
    filter.release(&mut shown);
    shown
}

/// Judges what a line, or a row of a terminal, begins with.
fn beginning(text: &str) -> Beginning {
    let text: String = text
        .chars()
        .filter(|character| !is_unseen(*character))
        .flat_map(char::to_lowercase)
        .collect();
    let after_bracket = text.strip_prefix('[').map(str::trim_start);
    let has_bracket = after_bracket.is_some();
    let text = after_bracket.unwrap_or(&text);
    let judgements = NAMES.map(|name| match text.strip_prefix(name) {
        None if name.starts_with(text) => Beginning::Open,
        None => Beginning::Other,
        Some(rest) => match rest
            .chars()
            .find(|next| has_bracket || !next.is_whitespace())
        {
            None => Beginning::Open,
            Some(next) if has_bracket && !next.is_alphanumeric() && next != '-' => Beginning::Ours,
            Some(':' | '：') => Beginning::Ours,
            Some(_) => Beginning::Other,
        },
    });
    let has = |wanted| judgements.contains(&wanted);
    if has(Beginning::Ours) {
        Beginning::Ours
    } else if has(Beginning::Open) {
        Beginning::Open
    } else {
        Beginning::Other
    }
}

fn is_blank(character: char) -> bool {
    character.is_whitespace() || is_unseen(character)
}

/// True for characters that take room or none, and that nobody sees.
///
/// Source: the property `Default_Ignorable_Code_Point` of the Unicode Character Database, and the empty Braille pattern.
fn is_unseen(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
        let mut filter = SpoofFilter::new();
        let mut text: String = pieces.into_iter().map(|piece| filter.take(piece)).collect();
        filter.release(&mut text);
        text
    }

    #[test]
    fn what_could_be_ours_gets_a_mark() {
        for text in [
            "fulmar: all is well",
            "fulmar:",
            "Fulmar : all is well",
            "FULMAR\u{200b}: all is well",
            "ful\u{ad}mar: all is well",
            "fulmar： all is well",
            "[fulmar: the session has ended]",
            "[ fulmar]",
            "[mosh is exiting.]",
            "mosh: all is well",
            "mosh-client: all is well",
        ] {
            assert_eq!(without_spoofing(text), format!("others say: {text}"));
            for blanks in ["  ", "\t", "\u{a0}", "\u{200b} \u{3164}"] {
                let indented = format!("{blanks}{text}");
                assert_eq!(
                    without_spoofing(&indented),
                    format!("{blanks}others say: {text}")
                );
                let below = format!("hello\n{indented}\n");
                let expected = format!("hello\n{blanks}others say: {text}\n");
                assert_eq!(shown([&*below]), expected);
            }
        }
    }

    #[test]
    fn what_others_say_usually_is_shown_as_it_is() {
        for text in [
            "Welcome to Debian GNU/Linux 12 (bookworm)\n\n  * Documentation: https://example.org\n",
            "bash: line 1: fulmar: command not found\n",
            "fulmar is installed here, and mosh is, too\nfulmar\nmosh\n",
            "fulmarine: a bird\nmoshi: hello\n",
            "mosh-server: Bad UDP port\n[mosh-server detached, pid = 4711]\n[sudo] password for ada: ",
            "Warning: Permanently added '[192.0.2.7]:22' (ED25519) to the list of known hosts.\n",
            "ssh: connect to host fulmar: Connection refused\n",
            "",
            "\n\n",
            "ful",
        ] {
            assert_eq!(shown([text]), text);
        }
    }

    #[test]
    fn where_a_terminal_may_begin_a_row_it_cannot_begin_as_ours() {
        let wide = "x".repeat(80);
        let expected = format!("{wide}\nothers say: fulmar: all is well");
        assert_eq!(
            without_spoofing(&format!("{wide}fulmar: all is well")),
            expected
        );
        let narrow = "ö".repeat(ROW_COLUMNS_MIN / 2);
        let expected = format!("{narrow}\nothers say: [fulmar: x]");
        assert_eq!(without_spoofing(&format!("{narrow}[fulmar: x]")), expected);
    }

    #[test]
    fn nothing_of_ours_is_continued_by_others() {
        let mut filter = SpoofFilter::new();
        assert_eq!(filter.take("not true: "), "not true: ");
        assert_eq!(filter.end(), "\n");
        // Here stands a line of ours.
        assert_eq!(filter.take("  run"), "others say:   run");
        assert_eq!(filter.take(" this\n\n "), " this\n\nothers say:  ");
        assert_eq!(filter.take("x\nother\n  this\n"), "x\nother\n  this\n");
        assert_eq!(filter.take("ful"), "");
        assert_eq!(filter.end(), "ful\n");
        assert_eq!(filter.end(), "");
    }

    #[test]
    fn what_waits_has_a_bound() {
        let mut filter = SpoofFilter::new();
        let blanks = " ".repeat(HELD_CHARACTERS_MAX - "fulmar".len());
        assert_eq!(filter.take(&format!("fulmar{blanks}")), "");
        let expected = format!("others say: fulmar{blanks} ");
        assert_eq!(filter.take(" "), expected);
    }

    proptest! {
        #[test]
        fn where_the_text_is_cut_makes_no_difference(
            text in "([ \t]{0,2}\\[?(fulmar|mosh|ful|mo|x{40})[ :]?[a-z]{0,3}[ :\n]?){0,6}",
            at in 0..200_usize,
        ) {
            let at = at.min(text.len());
            let (one, other) = text.split_at(at);
            prop_assert_eq!(shown([one, other]), shown([text.as_str()]));
        }

        #[test]
        fn no_line_begins_as_one_of_ours_and_nothing_is_lost(
            text in "([ \t\u{200b}]{0,2}\\[?(fulmar|Mosh|x)[ :]{0,2}[a-z]{0,3}\n?){0,6}",
        ) {
            let shown = shown([text.as_str()]);
            for line in shown.lines() {
                let line = line.trim_start_matches(is_blank).to_lowercase();
                for own in ["fulmar:", "[fulmar:", "mosh:", "[mosh:", "fulmar :"] {
                    prop_assert!(!line.starts_with(own), "{line}");
                }
            }
            let without = |text: &str| text.replace(MARK, "").replace('\n', "");
            prop_assert_eq!(without(&shown), without(&text));
        }
    }
}

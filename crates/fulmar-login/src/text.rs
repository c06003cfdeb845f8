//! Text of others, in characters that no terminal obeys.

/// True for what may change how the text around it is shown: control characters, those that turn the
/// direction of writing, and separators of lines and paragraphs.
///
/// Source: Unicode Standard Annex 9, sections 2.1 to 2.6; the Unicode Standard, section 23.2.
pub fn needs_escape(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Returns `text` with its harmful characters spelled out: part of it may come from elsewhere.
pub fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut line, character| {
        if needs_escape(character) {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
        line
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(escaped("a\x1b[2Jb\u{9b}ü\n"), "a\\u{1b}[2Jb\\u{9b}ü\\n");
        assert_eq!(
            escaped("שלום \u{202e}x\u{2066}"),
            "שלום \\u{202e}x\\u{2066}"
        );
    }
}

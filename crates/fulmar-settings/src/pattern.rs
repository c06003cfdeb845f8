//! Patterns of host names, as in ssh_config(5).

use wildcard::WildcardBuilder;

/// A list of patterns, separated by blanks or commas: `*` is any text, `?` any one byte, and a `!`
/// before a pattern makes a host that it matches no match of the whole list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostPatterns(Vec<Pattern>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    is_negated: bool,
    text: String,
}

impl HostPatterns {
    /// Reads a list.
    ///
    /// # Errors
    ///
    /// How a list is written.
    pub(crate) fn parse(list: &str) -> Result<HostPatterns, String> {
        let words = list.split(|c: char| c == ',' || c.is_ascii_whitespace());
        let patterns: Vec<Pattern> = words
            .filter(|word| !word.is_empty())
            .map(|word| Pattern {
                is_negated: word.starts_with('!'),
                text: word.strip_prefix('!').unwrap_or(word).to_owned(),
            })
            .collect();
        match patterns.iter().find(|pattern| pattern.text.contains('@')) {
            _ if patterns.is_empty() => Err("it is a list of host names or patterns".to_owned()),
            Some(_) => Err("patterns are for host names, without a user before them".to_owned()),
            None => Ok(HostPatterns(patterns)),
        }
    }

    /// Tells if a host is meant: one pattern matches it, and none with a `!` does.
    pub(crate) fn matches(&self, host: &[u8]) -> bool {
        let mut hits = self
            .0
            .iter()
            .filter(|pattern| matches_pattern(host, pattern.text.as_bytes()));
        let first = hits.next();
        first.is_some_and(|hit| !hit.is_negated) && hits.all(|hit| !hit.is_negated)
    }
}

/// Compares a whole text with a pattern.
fn matches_pattern(text: &[u8], pattern: &[u8]) -> bool {
    WildcardBuilder::new(pattern)
        .without_escape()
        .build()
        .is_ok_and(|pattern| pattern.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(list: &str, host: &str) -> bool {
        HostPatterns::parse(list).unwrap().matches(host.as_bytes())
    }

    #[test]
    fn names_stars_and_question_marks_match() {
        for (list, host, wanted) in [
            ("example.org", "example.org", true),
            ("example.org", "example.or", false),
            ("example.org", "Example.org", false),
            ("*", "anything", true),
            ("*", "", true),
            ("*.org", "example.org", true),
            ("*.org", ".org", true),
            ("*.org", "org", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b-", false),
            ("host?", "host1", true),
            ("host?", "host", false),
            ("??", "ab", true),
            ("192.0.2.*", "192.0.2.77", true),
            ("2001:db8::?", "2001:db8::7", true),
            ("a.c", "abc", false),
            ("[ab]", "a", false),
        ] {
            assert_eq!(matches(list, host), wanted, "{list} {host}");
        }
    }

    #[test]
    fn a_negated_match_excludes_wherever_it_stands() {
        for (list, host, wanted) in [
            ("*.org !bastion.org", "a.org", true),
            ("*.org !bastion.org", "bastion.org", false),
            ("!bastion.org *.org", "bastion.org", false),
            ("!bastion.org", "a.org", false),
            ("a,b c\t!c", "b", true),
            ("a,b c\t!c", "c", false),
            ("a, b", "b", true),
        ] {
            assert_eq!(matches(list, host), wanted, "{list} {host}");
        }
    }

    #[test]
    fn a_list_has_a_pattern_and_no_users() {
        for bad in ["", " , ", "ada@example.org"] {
            assert!(HostPatterns::parse(bad).is_err(), "{bad:?}");
        }
    }

    /// The same, by the definition.
    fn by_definition(text: &[u8], pattern: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, rest) => rest.is_none(),
            (Some((b'*', after)), rest) => {
                by_definition(text, after)
                    || rest.is_some_and(|(_, rest)| by_definition(rest, pattern))
            }
            (Some((&byte, after)), Some((&first, rest))) => {
                (byte == b'?' || byte == first) && by_definition(rest, after)
            }
            (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_pattern(pattern in ".{1,40}") {
            prop_assert!(WildcardBuilder::new(pattern.as_bytes()).without_escape().build().is_ok());
        }

        #[test]
        fn matching_is_as_defined(text in "[ab]{0,12}", pattern in "[ab*?]{0,8}") {
            let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
            prop_assert_eq!(matches_pattern(text, pattern), by_definition(text, pattern));
        }
    }
}

//! Grapheme clusters: the characters that a reader takes for one.
//!
//! Source: Unicode Standard Annex 29, "extended grapheme clusters", through the crate `unicode-segmentation`.

use unicode_segmentation::GraphemeCursor;

use crate::cell::CLUSTER_TEXT_MAX;

/// Returns true if `c` goes on with the grapheme cluster that is `text`.
pub(crate) fn continues(text: &str, c: char) -> bool {
    let Some(last) = text.chars().next_back() else {
        return false;
    };
    if stands_alone(last) && stands_alone(c) {
        return false;
    }
    let mut buffer = [0; CLUSTER_TEXT_MAX + 4];
    let end = text.len() + c.len_utf8();
    let Some((start, rest)) = buffer.split_at_mut_checked(text.len()) else {
        return false;
    };
    let Some(place) = rest.get_mut(..c.len_utf8()) else {
        return false;
    };
    start.copy_from_slice(text.as_bytes());
    c.encode_utf8(place);
    let joined = std::str::from_utf8(&buffer[..end]).unwrap_or_default();
    let mut cursor = GraphemeCursor::new(text.len(), end, true);
    cursor.is_boundary(joined, 0) == Ok(false)
}

/// Returns true if there is a boundary between `c` and any other such character: most of what is written.
///
/// Up to U+02FF there is none that changes the one before it, nor are there among ideographs and the syllables of
/// Hangul.
pub(crate) const fn stands_alone(c: char) -> bool {
    matches!(c, '\0'..'\u{300}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation as _;

    #[test]
    fn what_a_reader_takes_for_one_character_is_a_cluster() {
        for cluster in [
            "e\u{301}\u{302}",
            "👍🏽",
            "❤\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "🇩🇪",
            "👨\u{200d}👩\u{200d}👧\u{200d}👦",
            "🏳\u{fe0f}\u{200d}🌈",
            "🏴\u{e0067}\u{e0062}\u{e007f}",
            "\u{1100}\u{1161}\u{11a8}",
            "한\u{11a8}",
            "न\u{93e}",
            "क\u{94d}ष",
            "\u{600}1",
        ] {
            for (at, c) in cluster.char_indices().skip(1) {
                assert!(continues(&cluster[..at], c), "{cluster} at {at}");
            }
        }
        for (text, c) in [
            ("", '\u{301}'),
            ("e", 'e'),
            ("🇩🇪", '🇫'),
            ("👩", '👩'),
            ("a\u{200d}", '👩'),
            ("👩\u{200d}", 'a'),
            ("漢", '字'),
            ("a", '\u{ad}'),
            ("a", '\u{200b}'),
            ("한", '한'),
        ] {
            assert!(!continues(text, c), "{text}, {c}");
        }
    }

    #[test]
    fn characters_that_stand_alone_do_so_beside_each_other() {
        let alone = || ('\u{20}'..'\u{e000}').filter(|&c| stands_alone(c));
        let mut joined = String::new();
        for before in ['a', '\u{a9}', '漢', '가', '각'] {
            joined.clear();
            alone().for_each(|c| joined.extend([before, c]));
            let characters = joined.chars().filter(|c| !c.is_control()).count();
            let clusters = joined.graphemes(true);
            let clusters = clusters.filter(|text| !text.chars().all(char::is_control));
            assert_eq!(clusters.count(), characters, "{before}");
        }
    }

    proptest! {
        /// Clusters that are put together one character at a time, each looked at by itself, are those of the text.
        #[test]
        fn clusters_can_be_found_one_character_at_a_time(
            text in "[a\u{300}\u{301}\u{200d}\u{fe0f}\u{ad}🇩🇪👩👧🏽❤\u{1100}\u{1161}\u{11a8}한कष\u{93e}\u{94d}\u{600}漢\u{ff9e}]{0,24}"
        ) {
            let mut clusters: Vec<String> = Vec::new();
            for c in text.chars() {
                match clusters.last_mut().filter(|cluster| continues(cluster, c)) {
                    Some(cluster) => cluster.push(c),
                    None => clusters.push(c.into()),
                }
            }
            prop_assume!(clusters.iter().all(|cluster| cluster.len() <= CLUSTER_TEXT_MAX));
            let wanted: Vec<&str> = text.graphemes(true).collect();
            prop_assert_eq!(clusters, wanted);
        }
    }
}

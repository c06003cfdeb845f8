use super::*;
use proptest::prelude::*;

const LINE: &str = "cp -r src/main.rs  /tmp/new";

fn stops(
    words: WordStyle,
    step: fn(WordStyle, &[char], usize) -> usize,
    from: usize,
) -> Vec<usize> {
    let text: Vec<char> = LINE.chars().collect();
    let mut stops = Vec::new();
    let mut at = from;
    loop {
        let next = step(words, &text, at);
        if next == at {
            return stops;
        }
        stops.push(next);
        at = next;
    }
}

#[test]
fn each_notion_has_its_stops_to_the_left() {
    let end = LINE.len();
    assert_eq!(
        stops(WordStyle::Alphanumeric, WordStyle::left, end),
        [24, 20, 15, 10, 6, 4, 0]
    );
    assert_eq!(
        stops(WordStyle::Blanks, WordStyle::left, end),
        [19, 6, 3, 0]
    );
    assert_eq!(stops(WordStyle::Zsh, WordStyle::left, end), [19, 6, 3, 0]);
    assert_eq!(
        stops(WordStyle::Fish, WordStyle::left, end),
        [24, 20, 19, 10, 6, 3, 0]
    );
}

#[test]
fn each_notion_has_its_stops_to_the_right() {
    assert_eq!(
        stops(WordStyle::Alphanumeric, WordStyle::right, 0),
        [2, 5, 9, 14, 17, 23, 27]
    );
    assert_eq!(
        stops(WordStyle::Blanks, WordStyle::right, 0),
        [2, 5, 17, 27]
    );
    assert_eq!(
        stops(WordStyle::Fish, WordStyle::right, 0),
        [2, 5, 9, 17, 23, 27]
    );
    assert_eq!(
        stops(WordStyle::Blanks, WordStyle::next_start, 0),
        [3, 6, 19, 27]
    );
    assert_eq!(
        stops(WordStyle::Alphanumeric, WordStyle::next_start, 0),
        [4, 6, 10, 15, 20, 24, 27]
    );
}

#[test]
fn a_line_of_quotes_tells_zsh_from_blanks() {
    let text: Vec<char> = "echo 'a b'".chars().collect();
    assert_eq!(WordStyle::Blanks.left(&text, 10), 8);
    assert_eq!(WordStyle::Zsh.left(&text, 9), 8);
    assert_eq!(WordStyle::Zsh.left(&text, 10), 8);
    assert_eq!(WordStyle::Zsh.left(&text, 7), 6);
    assert_eq!(WordStyle::Blanks.left(&text, 7), 5);
}

proptest! {
    #[test]
    fn steps_stay_in_the_text_and_go_their_way(text in "\\PC{0,20}", at in 0..30_usize) {
        let text: Vec<char> = text.chars().collect();
        let place = at.min(text.len());
        for words in WordStyle::ALL {
            prop_assert!(words.left(&text, at) <= place);
            for step in [WordStyle::right, WordStyle::next_start] {
                let to = step(words, &text, at);
                prop_assert!(to >= place && to <= text.len());
            }
        }
    }
}

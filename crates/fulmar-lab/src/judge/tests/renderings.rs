//! Displays that put back what a full-screen program has covered, and displays that do not.

use super::*;

/// A shell, an editor over it, and the shell again: a letter in the editor, its end, and two letters behind it.
fn editor() -> Side {
    side()
        .out(0, "one\r\n$ ")
        .key(1000, "\r")
        .out(1000, "\r\n\x1b[?1049h\x1b[H\x1b[2J~\r\n~\x1b[H")
        .key(2000, "i")
        .out(2000, "i")
        .key(3000, "q")
        .out(3000, "\x1b[4;1H\x1b[K\r\n\x1b[?1049l$ ")
        .key(4000, "l")
        .out(4000, "l")
        .key(5000, "\x0c")
        .out(5000, "\x1b[H\x1b[2J$ ")
        .key(6000, "x")
        .out(6000, "x")
}

/// The verdict on a display that gets each piece of the recording's output, 100 ms after its key, as `draw` makes it.
fn judged_as(recording: Side, draw: impl Fn(&str) -> String) -> RunVerdict {
    let (mut user, mut position) = (side(), 0);
    for (at, event) in &recording.0 {
        match event {
            Event::Host(bytes) => {
                position += bytes.len();
                let text = draw(std::str::from_utf8(bytes).unwrap());
                user = user.out(at + 100, &text).stamp(at + 100, position);
            }
            key => user.0.push((*at, key.clone())),
        }
    }
    judged(recording.clone(), user, recording.later(50))
}

fn without_alternate_screen(text: &str) -> String {
    text.replace("\x1b[?1049h", "").replace("\x1b[?1049l", "")
}

#[test]
fn a_screen_that_is_not_put_back_is_counted_once_and_no_key_is_late_or_wrong() {
    let without = judged_as(editor(), without_alternate_screen);
    assert_eq!(own(&without), [After(ms(100)); 6]);
    assert_eq!(without.whole(), [After(ms(100)); 6]);
    assert_eq!((without.wrongs.len(), without.differences_at_end), (0, 0));
    assert_eq!(without.longest_stall, ms(100));
    assert_eq!(without.screens_not_restored, 1);
}

#[test]
fn a_display_with_an_alternate_screen_is_judged_as_ever() {
    let with = judged_as(editor(), str::to_owned);
    assert_eq!(own(&with), [After(ms(100)); 6]);
    assert_eq!((with.wrongs.len(), with.screens_not_restored), (0, 0));
}

#[test]
fn a_display_that_leaves_a_part_of_an_editor_behind_is_wrong_there() {
    let verdict = judged_as(editor(), |text| match text.split_once("\x1b[?1049l") {
        Some(_) => format!("{text}\x1b[4;1H~\x1b[3;3H"),
        None => text.to_owned(),
    });
    let places: Vec<_> = verdict.wrongs.iter().map(|wrong| wrong.place).collect();
    assert_eq!(places, [Some(CellPosition::new(3, 0))]);
    assert_eq!(verdict.screens_not_restored, 0);
    assert_eq!(own(&verdict), [After(ms(100)); 6]);
}

/// The editor ends in two pieces: its last words come, and half a second later the screen is put back.
#[test]
fn a_display_that_is_about_to_put_a_screen_back_has_not_done_so() {
    const START: &str = "one\r\n$ ";
    const OPEN: &str = "\x1b[?1049h\x1b[H\x1b[2J~\x1b[4;1H";
    const CLOSE: &str = "\x1b[4;1Hbye\x1b[?1049l";
    let recording = side()
        .out(0, START)
        .key(1000, "v")
        .out(1000, OPEN)
        .key(2000, "q")
        .out(2000, CLOSE)
        .key(3000, "l")
        .out(3000, "l");
    let user = side()
        .out(50, START)
        .key(1000, "v")
        .out(1100, OPEN)
        .key(2000, "q")
        .out(2100, "\x1b[4;1Hbye")
        .out(2600, "\x1b[?1049l")
        .stamp(2600, [START, OPEN, CLOSE].map(str::len).iter().sum())
        .key(3000, "l")
        .out(3100, "l");
    let verdict = judged(recording.clone(), user, recording.later(50));
    assert_eq!(own(&verdict)[1], After(ms(600)));
    assert_eq!(verdict.screens_not_restored, 0);
}

#[test]
fn two_editors_are_two_screens_that_are_not_put_back() {
    let one = "\x1b[?1049h\x1b[H\x1b[2J~\x1b[4;1H\r\n\x1b[?1049l$ ";
    let recording = side()
        .out(0, "one\r\n$ ")
        .key(1000, "a")
        .out(1000, one)
        .key(2000, "b")
        .out(2000, one)
        .key(3000, "c")
        .out(3000, "c");
    let verdict = judged_as(recording, without_alternate_screen);
    assert_eq!((verdict.wrongs.len(), verdict.screens_not_restored), (0, 2));
}

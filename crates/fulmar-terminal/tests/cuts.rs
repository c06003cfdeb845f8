//! The screen does not depend on where the input is cut.

use std::path::Path;
use std::{fs, io};

use fulmar_terminal::{Clustering, Size, Terminal};
use proptest::prelude::*;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/recordings");

/// So many bytes before and behind a cut are played, from and to where both ways must agree.
const WINDOW: usize = 48;

/// An input that is hard to cut: each kind of sequence, string and code point, whole and damaged.
const TANGLE: &str = concat!(
    "aé漢🚀e\u{301}\r\n\u{9b}31mred\u{9b}m\u{9d}2;title\u{9c}\u{85}\u{90}x\u{9c}",
    "\x1b[1;38:2::1:2:3m\x1b[ q\x1b[?25;7h\x1b[!p\x1b[1;2;3;4;5;6;7;8;9m",
    "\x1b]8;id=x;http://a.b/\x1b\\link\x1b]8;;\x07\x1b]52;c;aGk=\x07\x1bP$qm\x1b\\",
    "\x1b(0qqq\x1b(B\x0eq\x0f\x1bN\x1b#8\x1b[99;1H\x1b[3b\x1b[\x18x\x1b\x1b[m\x1b]2;a\x1bcb",
    "\x1b[6n\x1b[?2026h\x1b[1:2H\x1b[12345678901A\x1b[;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;m",
);

/// For each place in `bytes` a cut there leaves the terminal as no cut does, in all it remembers.
#[track_caller]
fn assert_cuts_make_no_difference(name: &str, bytes: &[u8]) {
    let mut before = Terminal::new(Size::default());
    for start in (0..bytes.len()).step_by(WINDOW) {
        let window = &bytes[start..bytes.len().min(start + WINDOW)];
        let behind = &bytes[start + window.len()..bytes.len().min(start + 2 * WINDOW)];
        let mut whole = before.clone();
        whole.process(window);
        let after_window = whole.clone();
        whole.process(behind);
        for cut in 1..window.len() {
            let (head, tail) = window.split_at(cut);
            let mut in_two = before.clone();
            in_two.process(head);
            in_two.process(tail);
            in_two.process(behind);
            assert_eq!(
                in_two.screen(),
                whole.screen(),
                "{name} cut at {}",
                start + cut
            );
            assert_eq!(
                in_two.take_replies(),
                whole.clone().take_replies(),
                "{name}"
            );
        }
        before = after_window;
    }
}

#[test]
fn a_recording_may_be_cut_anywhere() -> io::Result<()> {
    let mut count = 0;
    for entry in fs::read_dir(Path::new(FOLDER))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "bin") {
            assert_cuts_make_no_difference(&path.to_string_lossy(), &fs::read(&path)?);
            count += 1;
        }
    }
    assert!(count >= 15, "some recordings are missing");
    Ok(())
}

#[test]
fn sequences_and_code_points_may_be_cut_anywhere() {
    assert_cuts_make_no_difference("tangle", TANGLE.as_bytes());
    let damaged: Vec<u8> = TANGLE
        .bytes()
        .flat_map(|byte| [byte, byte.wrapping_mul(31)])
        .collect();
    assert_cuts_make_no_difference("damaged tangle", &damaged);
}

proptest! {
    #[test]
    fn clusters_may_be_cut_anywhere(
        text in "([a-c❤👩🏽🇩🇪1\u{fe0f}\u{20e3}\u{200d}\u{301}\u{200b}漢한\u{11a8}कष\u{94d}\u{600}]|\r\n|\x1b\\[(C|D|31m|4h|4l|@|P)){0,60}",
        columns in 1..7_u16,
    ) {
        let size = Size::new(3, columns).expect("a small size");
        let (mut whole, mut cut) = (Terminal::new(size), Terminal::new(size));
        whole.set_clustering(Clustering::Permanent);
        cut.set_clustering(Clustering::Permanent);
        whole.process(text.as_bytes());
        text.as_bytes().chunks(1).for_each(|byte| cut.process(byte));
        prop_assert_eq!(whole.screen(), cut.screen());
    }

    /// Whole lines at the bottom have a way of their own, which single bytes do not take.
    #[test]
    fn lines_may_be_cut_anywhere(
        text in "(\r\n){2}([a-z ]{0,8}\r\n|[a-z]{1,9}|é|漢|\u{301}|\u{600}|\x1b\\[(31m|41m|m|4h|4l|2;3r|r|3H|20h|20l|\\?7l|\\?7h)|\x1b\\(0|\x1b\\(B|\x1b]8;;x:y\x07){0,30}",
        clustering in prop::bool::ANY,
    ) {
        let size = Size::new(3, 6).expect("a small size");
        let (mut whole, mut cut) = (Terminal::new(size), Terminal::new(size));
        if clustering {
            whole.set_clustering(Clustering::Permanent);
            cut.set_clustering(Clustering::Permanent);
        }
        whole.process(text.as_bytes());
        text.as_bytes().chunks(1).for_each(|byte| cut.process(byte));
        prop_assert_eq!(whole.screen(), cut.screen());
        whole.process(b"\x1b[2b");
        cut.process(b"\x1b[2b");
        prop_assert_eq!(whole.screen(), cut.screen());
    }

    #[test]
    fn anything_may_be_cut_to_single_bytes(bytes: Vec<u8>, from in 0..TANGLE.len()) {
        let input = [&bytes[..], &TANGLE.as_bytes()[from..], &bytes].concat();
        let size = Size::new(5, 9).expect("a small size");
        let (mut whole, mut cut) = (Terminal::new(size), Terminal::new(size));
        whole.process(&input);
        input.chunks(1).for_each(|byte| cut.process(byte));
        prop_assert_eq!(whole.screen(), cut.screen());
        prop_assert_eq!(whole.take_replies(), cut.take_replies());
    }
}

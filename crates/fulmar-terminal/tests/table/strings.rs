use fulmar_terminal::{Column, LINK_URI_MAX, LINKS_MAX, Row, Screen, TITLE_MAX, Vocabulary};

use crate::{after, screen};

/// The window title after `bytes`.
fn title(bytes: &str) -> Option<String> {
    after(bytes).screen().title().map(str::to_owned)
}

/// The target of the link at the top left after `bytes`.
fn link(bytes: &str) -> Option<String> {
    after(bytes)
        .screen()
        .row(Row(0))
        .link(Column(0))
        .map(|link| link.uri.to_string())
}

#[test]
fn titles_are_set() {
    assert_eq!(title(""), None);
    assert_eq!(title("\x1b]2;a title\x07").as_deref(), Some("a title"));
    assert_eq!(title("\x1b]2;a title\x1b\\").as_deref(), Some("a title"));
    assert_eq!(title("\x1b]2;a title\u{9c}").as_deref(), Some("a title"));
    assert_eq!(title("\x1b]2;ü 漢\x07").as_deref(), Some("ü 漢"));
    assert_eq!(title("\x1b]2;a;b\x07").as_deref(), Some("a;b"));
    assert_eq!(title("\x1b]2;a\x07\x1b]2;\x07").as_deref(), Some(""));
    assert_eq!(title("\x1b]2;a\nb\x7fc\x07").as_deref(), Some("abc"));
    assert_eq!(title("\x1b]1;icon\x07"), None);
    let both = after("\x1b]0;both\x07");
    assert_eq!(
        (both.screen().title(), both.screen().icon_name()),
        (Some("both"), Some("both"))
    );
}

#[test]
fn a_reset_leaves_titles_and_the_clipboard() {
    let terminal = after("\x1b]2;a\x07\x1b]1;b\x07\x1b]52;c;aGk=\x07\x1bc");
    let screen = terminal.screen();
    assert_eq!(
        (screen.title(), screen.icon_name(), screen.clipboard()),
        (Some("a"), Some("b"), "aGk=")
    );
}

#[test]
fn titles_are_put_away_and_brought_back() {
    for (bytes, icon_name, title) in [
        ("\x1b[22;0t\x1b]0;b\x07\x1b[23;0t", "a", "a"),
        ("\x1b[22t\x1b]0;b\x07\x1b[23t", "a", "a"),
        ("\x1b[22;0;0t\x1b]0;b\x07\x1b[23;0;0t", "a", "a"),
        ("\x1b[22;1t\x1b]0;b\x07\x1b[23;1t", "a", "b"),
        ("\x1b[22;2t\x1b]0;b\x07\x1b[23;2t", "b", "a"),
        ("\x1b[22t\x1b]0;b\x07\x1bc\x1b[23t", "a", "a"),
        // One stack for both, as in xterm.
        ("\x1b[22;1t\x1b]0;b\x07\x1b[23;0t", "a", "a"),
        (
            "\x1b[22;1t\x1b]0;b\x07\x1b[22;2t\x1b]0;c\x07\x1b[23;1t",
            "a",
            "c",
        ),
        (
            "\x1b[22;1t\x1b]0;b\x07\x1b[22;2t\x1b]0;c\x07\x1b[23;1t\x1b[23;2t",
            "a",
            "a",
        ),
    ] {
        let terminal = after(&format!("\x1b]0;a\x07{bytes}"));
        let screen = terminal.screen();
        let names = (screen.icon_name(), screen.title());
        assert_eq!(names, (Some(icon_name), Some(title)), "{bytes:?}");
    }
    assert_eq!(title("\x1b[22t\x1b]2;a\x07\x1b[23t"), None);
    let ignored = "\x1b]2;a\x07\x1b[23t\x1b[22t\x1b]2;b\x07\x1b[22;3t\x1b[23;3t";
    assert_eq!(title(ignored).as_deref(), Some("b"));
    assert_eq!(title(&format!("{ignored}\x1b[23t")).as_deref(), Some("a"));
}

#[test]
fn a_title_is_cut_at_its_cap() {
    let long = "é".repeat(TITLE_MAX);
    assert_eq!(title(&format!("\x1b]2;{long}\x07")), Some(long.clone()));
    assert_eq!(title(&format!("\x1b]2;{long}é\x07")), Some(long));
}

#[test]
fn the_same_text_is_written_to_the_clipboard_as_often_as_a_program_does() {
    let mut terminal = after("\x1b]52;c;aGk=\x07");
    let told = |from: &Screen, to: &Screen| from.is_same(to, &Vocabulary::STOCK);
    let first = terminal.screen().clone();
    assert!(!told(after("").screen(), &first) && told(&first, &first));
    terminal.process(b"text");
    let later = terminal.screen().diff_from(&first, &Vocabulary::STOCK);
    assert_eq!(later, b"text");
    let before = terminal.screen().clone();
    terminal.process(b"\x1b]52;c;aGk=\x07");
    assert!(!told(&before, terminal.screen()));
    let again = terminal.screen().diff_from(&before, &Vocabulary::STOCK);
    assert_eq!(again, b"\x1b]52;c;aGk=\x07");
}

#[test]
fn a_cancelled_string_does_nothing() {
    assert_eq!(title("\x1b]2;a\x18"), None);
    assert_eq!(title("\x1b]2;a\x1ab"), None);
    screen("│", "a\x1b]9;text\x18b\x1bPdata\x1ac\x1b_x\x18d", "abcd│");
}

#[test]
fn unknown_strings_leave_no_trace() {
    screen(
        "│",
        "a\x1b]133;A\x07b\x1bP|x\x1b\\c\x1b_y\x1b\\d\x1b^z\x1b\\e\x1bX!\x1b\\f",
        "abcdef│",
    );
    screen("│", "a\x1bP\x1b\\b\x1b]\x1b\\c\x1b_\x1b\\d", "abcd│");
    screen("│", "a\x1b]\x07b\x1b]x\x07c", "abc│");
}

#[test]
fn the_clipboard_is_written_and_never_read() {
    let clipboard = |bytes: &str| after(bytes).screen().clipboard().to_owned();
    assert_eq!(clipboard("\x1b]52;c;aGk=\x07"), "aGk=");
    assert_eq!(clipboard("\x1b]52;c;aGk=\x1b\\"), "aGk=");
    assert_eq!(clipboard("\x1b]52;;aGk=\x07"), "aGk=");
    assert_eq!(clipboard("\x1b]52;p;aGk=\x07"), "");
    assert_eq!(clipboard("\x1b]52;c;aGk=\x07\x1b]52;c;?\x07"), "aGk=");
    assert_eq!(clipboard("\x1b]52;c;not base64\x07"), "");
    let large = "a".repeat(100_000);
    assert_eq!(clipboard(&format!("\x1b]52;c;{large}\x07")), large);
}

#[test]
fn the_clipboard_takes_what_an_encoder_of_base64_writes_and_nothing_else() {
    let taken = |text: &str| {
        let bytes = format!("\x1b]52;c;b2xk\x07\x1b]52;c;{text}\x07");
        after(&bytes).screen().clipboard().to_owned()
    };
    // RFC 4648 section 10, and the two characters that are neither letters nor digits.
    for text in [
        "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy", "+/+/",
    ] {
        assert_eq!(taken(text), text);
    }
    // `base64` of coreutils breaks lines; controls are no part of a string.
    assert_eq!(taken("Zm9v\nYmFy\r\n"), "Zm9vYmFy");
    for text in [
        // Too short or without padding.
        "m",
        "ab",
        "abc",
        "Zg",
        "Zg=",
        "Zm8",
        "Zm9vY",
        // Padding where there is none, too much of it, or something behind it.
        "a===",
        "=",
        "====",
        "Zm9v=",
        "Zm9v====",
        "Zg==Zg==",
        "Zg==Zm9v",
        "Z=g=",
        "=Zg=",
        // Bits that are left over and set: section 3.5.
        "Zh==",
        "Zm9=",
        // The other alphabet, blanks, a query, what is not ASCII.
        "-_-_",
        "Zm 9v",
        "Zg== ",
        "?",
        "????",
        "Zm9\u{f6}",
        "\u{fffd}",
    ] {
        assert_eq!(taken(text), "b2xk", "{text:?}");
    }
}

#[test]
fn text_is_linked() {
    assert_eq!(
        link("\x1b]8;;http://a.b/\x07x").as_deref(),
        Some("http://a.b/")
    );
    assert_eq!(link("\x1b]8;;http://a.b/\x07\x1b]8;;\x07x"), None);
    assert_eq!(
        link("\x1b]8;;http://a.b/\x07\x1b[mx").as_deref(),
        Some("http://a.b/")
    );
    assert_eq!(link("\x1b]8;;http://a.b/\x07x\x1b[H\x1b[X"), None);
    assert_eq!(link("\x1b]8;;http://ä/\x07x"), None);
    let terminal = after("\x1b]8;x=1:id=part:y=2;http://a.b/\x07x");
    let link = terminal
        .screen()
        .row(Row(0))
        .link(Column(0))
        .expect("a link")
        .clone();
    assert_eq!((&*link.id, &*link.uri), ("part", "http://a.b/"));
}

#[test]
fn a_target_at_its_cap_is_linked_and_one_above_is_not() {
    let target = "x".repeat(LINK_URI_MAX);
    assert_eq!(
        link(&format!("\x1b]8;;{target}\x07x")),
        Some(target.clone())
    );
    assert_eq!(link(&format!("\x1b]8;;{target}y\x07x")), None);
}

#[test]
fn links_are_kept_up_to_the_cap() {
    let links = |count: usize| -> usize {
        let bytes: String = (0..count).map(|n| format!("\x1b]8;;x:{n}\x07x")).collect();
        let terminal = after(&bytes);
        let rows = terminal.screen().rows();
        rows.map(|row| {
            (0..80)
                .filter(|&column| row.link(Column(column)).is_some())
                .count()
        })
        .sum()
    };
    assert_eq!(links(LINKS_MAX), LINKS_MAX);
    assert_eq!(links(LINKS_MAX + 1), LINKS_MAX);
}

#[test]
fn links_that_nobody_shows_make_room() {
    let link_at = |n: usize| format!("\x1b[{}H\x1b]8;;x:{n}\x07x", 1 + n % 24);
    let last = 3 * LINKS_MAX;
    let bytes: String = (0..=last).map(link_at).collect();
    assert_eq!(link(&bytes), Some(format!("x:{last}")));
}

#[test]
fn equal_links_are_one() {
    let shown = "\x1b]8;;x:1\x07x\x1b]8;;\x07";
    let bytes: String = (0..LINKS_MAX)
        .map(|n| format!("\x1b]8;;x:{n}\x07x"))
        .collect();
    let terminal = after(&format!("{shown}{bytes}\x1b]8;;x:0\x07\x1b[23;80Hx"));
    let again = terminal
        .screen()
        .row(Row(22))
        .link(Column(79))
        .expect("a known link")
        .clone();
    assert!(std::sync::Arc::ptr_eq(
        &again,
        terminal.screen().row(Row(0)).link(Column(1)).unwrap()
    ));
}

#[test]
fn the_bell_is_counted() {
    assert_eq!(after("ring\x07ing\x07").screen().bell_count(), 2);
    assert_eq!(after("silence\x1b]8;;\x07").screen().bell_count(), 0);
}

#[test]
fn damaged_sequences_do_nothing() {
    screen("│", "\x1b[31\x18m\x1b[4\x1am", "mm│");
    screen("│", "\x1b[2;3\x1b[1;2Hx", " x│");
    screen("│", "\x1b[1?2Hx\x1b[  $Hy", "xy│");
    screen("│", "a\x1b#1b\x1b$Bc\x1b Fd\x1b%@e\x1b%Gf", "abcdef│");
    screen("│", "\x1b[5\u{e9}x", "x│");
    screen("│", "\x1b[2:3Hx", "x│");
    screen("ab│", "\x1b[1\r;2\nH", "a│b");
}

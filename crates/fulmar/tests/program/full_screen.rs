//! Programs that draw whole screens: how tests start them, and the files that they show.

use std::fmt::Write as _;

/// Starts a server of tmux of its own each time; it reads `tmux.conf`.
pub(crate) const TMUX: [&str; 3] = [
    "sh",
    "-c",
    "TMUX_TMPDIR=$(mktemp -d -p .) exec tmux -u -f tmux.conf new-session -n window",
];

/// The `tmux.conf` of tests: nothing is shown that is not the same each time.
pub(crate) const TMUX_SETTINGS: &str = "set -g status-right ''\nset -g status-left '[inside] '\n\
set -g automatic-rename off\nset -g default-command 'sh -i'\nset -g escape-time 0\n";

/// Starts Midnight Commander in `folder`, with a copy of the settings in `ini` each time: it writes there.
pub(crate) const MC: [&str; 3] = [
    "sh",
    "-c",
    "export MC_HOME=$(mktemp -d -p \"$PWD\"); mkdir -p $MC_HOME/.config/mc; \
     cp ini $MC_HOME/.config/mc/; exec mc -u -d folder folder",
];

/// The `ini` of tests: nothing is shown that is not the same each time.
pub(crate) const MC_SETTINGS: &str = "[Midnight-Commander]\nshow_mini_info=false\n\
[Layout]\nfree_space=false\nmessage_visible=false\n";

pub(crate) const DIALOG: [&str; 14] = [
    "dialog",
    "--title",
    "Choose 你好",
    "--menu",
    "One of these:",
    "15",
    "50",
    "3",
    "one",
    "the first",
    "two",
    "the second",
    "three",
    "the third",
];

/// Text with tabs, long lines, wide and combining characters.
pub(crate) fn text() -> String {
    let mut text = String::new();
    for number in 1..=200 {
        let _ = write!(
            text,
            "{number}\tif (x == {number}) {{ return \"žluťoučký 你好 e\u{301}\"; }}"
        );
        if number % 7 == 0 {
            text += &" and a tail".repeat(8);
        }
        text.push('\n');
    }
    text
}

/// The same text after an edit.
pub(crate) fn changed_text() -> String {
    text().replace("x == 3", "y < 3").replace("\tif", "\twhile")
}

/// A page of a manual.
pub(crate) fn manual() -> String {
    let words = "It stays in the air, \\fBwhatever\\fR comes, \\fIalways\\fR.\n.PP\n";
    format!(
        ".TH FULMAR 1\n.SH NAME\nfulmar \\- a bird\n.SH SYNOPSIS\n.B fulmar\n\
         [\\fIoptions\\fR]\n.SH DESCRIPTION\n{}",
        words.repeat(40)
    )
}

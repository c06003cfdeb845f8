use fulmar_terminal::REPLIES_MAX;

use crate::after;

#[track_caller]
fn reply(bytes: &str, wanted: &str) {
    let replies = after(bytes).take_replies();
    assert_eq!(String::from_utf8_lossy(&replies), wanted);
}

#[test]
fn a_program_learns_where_the_cursor_is() {
    reply("\x1b[7;9H\x1b[6n", "\x1b[7;9R");
    reply("漢字x\x1b[6n", "\x1b[1;6R");
    reply("\x1b[7;9H\x1b[?6n", "\x1b[?7;9;1R");
    reply("\x1b[5;10r\x1b[?6h\x1b[2;2H\x1b[6n", "\x1b[2;2R");
    reply(
        "\x1b[2;3H\x1b[6n\x1b[5n\x1b[4;5H\x1b[6n",
        "\x1b[2;3R\x1b[0n\x1b[4;5R",
    );
    reply(&format!("{}\x1b[6n", "x".repeat(80)), "\x1b[1;80R");
}

#[test]
fn a_program_learns_what_terminal_this_is() {
    reply("\x1b[c\x1b[0c\x1bZ", &"\x1b[?64;6;21;22;28c".repeat(3));
    reply("\x1b[>c", "\x1b[>1;10;0c");
    reply("\x1b[=c", "\x1bP!|00000000\x1b\\");
    reply(
        "\x1b[>q",
        concat!("\x1bP>|fulmar(", env!("CARGO_PKG_VERSION"), ")\x1b\\"),
    );
}

#[test]
fn a_program_learns_how_large_its_window_is_and_nothing_else_of_it() {
    reply(
        "\x1b[11t\x1b[13t\x1b[13;2t",
        "\x1b[1t\x1b[3;0;0t\x1b[3;0;0t",
    );
    reply(
        "\x1b[14t\x1b[14;2t\x1b[15t\x1b[16t",
        "\x1b[4;480;800t\x1b[4;480;800t\x1b[5;480;800t\x1b[6;20;10t",
    );
    reply("\x1b[18t\x1b[19t", "\x1b[8;24;80t\x1b[9;24;80t");
    reply(
        "\x1b]0;evil\x07\x1b[20t\x1b[21t",
        "\x1b]L\x1b\\\x1b]l\x1b\\",
    );
    reply(
        "\x1b[1t\x1b[3;1;1t\x1b[8;9;9t\x1b[12t\x1b[17t\x1b[99t\x1b[t",
        "",
    );
}

#[test]
fn a_program_learns_which_modes_are_on() {
    reply("\x1b[?2004$p", "\x1b[?2004;2$y");
    reply("\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y");
    reply("\x1b[?7$p", "\x1b[?7;1$y");
    reply("\x1b[?25l\x1b[?25$p", "\x1b[?25;2$y");
    reply("\x1b[?1049h\x1b[?1049$p", "\x1b[?1049;1$y");
    reply(
        "\x1b[?1002h\x1b[?1002$p\x1b[?1003$p",
        "\x1b[?1002;1$y\x1b[?1003;2$y",
    );
    reply("\x1b[4h\x1b[4$p", "\x1b[4;1$y");
    reply(
        "\x1b[?1048$p\x1b7\x1b[?1048$p",
        "\x1b[?1048;2$y\x1b[?1048;1$y",
    );
    reply("\x1b[?1045h\x1b[?1045$p", "\x1b[?1045;1$y");
    reply(
        "\x1b[?2$p\x1b[?3h\x1b[?3$p\x1b[1h\x1b[1$p",
        "\x1b[?2;3$y\x1b[?3;4$y\x1b[1;4$y",
    );
    for mode in ["2", "12", "?4", "?18", "?19", "?42", "?67"] {
        reply(
            &format!("\x1b[{mode}h\x1b[{mode}$p\x1b[{mode}l\x1b[{mode}$p"),
            &format!("\x1b[{mode};1$y\x1b[{mode};2$y"),
        );
    }
    reply("\x1b[?4711$p\x1b[4711$p", "\x1b[?4711;0$y\x1b[4711;0$y");
}

#[test]
fn a_program_learns_settings() {
    reply("\x1b[5;10r\x1bP$qr\x1b\\", "\x1bP1$r5;10r\x1b\\");
    reply("\x1b[4 q\x1bP$q q\x1b\\", "\x1bP1$r4 q\x1b\\");
    reply("\x1bP$qm\x1b\\", "\x1bP1$r0m\x1b\\");
    reply(
        "\x1b[1;4:3;31;48;5;200;58:2::1:2:3m\x1bP$qm\x1b\\",
        "\x1bP1$r0;1;4:3;31;48:5:200;58:2::1:2:3m\x1b\\",
    );
    reply(
        "\x1b[?69h\x1b[5;10s\x1b[2*x\x1bP$qs\x1b\\\x1bP$q*x\x1b\\",
        "\x1bP1$r5;10s\x1b\\\x1bP1$r2*x\x1b\\",
    );
    reply(
        "\x1b[1\"q\x1b[m\x1bP$q\"q\x1b\\\x1b[2\"q\x1bP$q\"q\x1b\\",
        "\x1bP1$r1\"q\x1b\\\x1bP1$r0\"q\x1b\\",
    );
    reply("\x1bP$q\"p\x1b\\", "\x1bP1$r64;1\"p\x1b\\");
    reply(
        "\x1bP$qt\x1b\\\x1bP$q$|\x1b\\\x1bP$q*|\x1b\\",
        "\x1bP1$r24t\x1b\\\x1bP1$r80$|\x1b\\\x1bP1$r24*|\x1b\\",
    );
    reply("\x1bP$qz\x1b\\", "\x1bP0$r\x1b\\");
}

#[test]
fn a_program_learns_that_there_are_no_other_devices() {
    reply("\x1b[?15n\x1b[?25n", "\x1b[?13n\x1b[?20n");
    reply("\x1b[?26n", "\x1b[?27;1;0;0n");
    reply(
        "\x1b[?53n\x1b[?55n\x1b[?56n",
        "\x1b[?50n\x1b[?50n\x1b[?57;0n",
    );
    reply("\x1b[?62n", "\x1b[0000*{");
    reply(
        "\x1b[?63n\x1b[?63;5n",
        "\x1bP0!~0000\x1b\\\x1bP5!~0000\x1b\\",
    );
    reply("\x1b[?75n\x1b[?85n", "\x1b[?70n\x1b[?83n");
}

#[test]
fn a_program_learns_capabilities() {
    reply("\x1bP+q436F\x1b\\", "\x1bP1+r436F=323536\x1b\\");
    reply(
        "\x1bP+q636f6c6f7273\x1b\\",
        "\x1bP1+r636F6C6F7273=323536\x1b\\",
    );
    reply(
        "\x1bP+q524742;5463;6b75;524742\x1b\\",
        "\x1bP1+r524742=38;5463\x1b\\",
    );
    for unknown in ["", "zz", "6B75", "4", "524742 ", "536D756C78"] {
        reply(&format!("\x1bP+q{unknown}\x1b\\"), "\x1bP0+r\x1b\\");
    }
}

#[test]
fn nothing_else_is_answered() {
    reply(
        "\x1b[99n\x1b[?99n\x1b]9999;?\x07\x1b]52;c;?\x07\x1bP+p544e\x1b\\\x05",
        "",
    );
}

#[test]
fn no_byte_of_a_program_comes_back() {
    reply(
        "\x1bP$qevil\x1b\\\x1b]2;evil\x07\x1b[21t",
        "\x1bP0$r\x1b\\\x1b]l\x1b\\",
    );
}

#[test]
fn taking_replies_takes_them_away() {
    let mut terminal = after("\x1b[5n");
    assert_eq!(terminal.take_replies(), b"\x1b[0n");
    assert_eq!(terminal.take_replies(), b"");
}

#[test]
fn replies_are_kept_up_to_the_cap() {
    let count = REPLIES_MAX / "\x1b[0n".len();
    let mut at_cap = after(&"\x1b[5n".repeat(count));
    assert_eq!(
        (at_cap.take_replies().len(), at_cap.replies_dropped()),
        (REPLIES_MAX, 0)
    );
    let mut above = after(&"\x1b[5n".repeat(count + 1));
    assert_eq!(
        (above.take_replies().len(), above.replies_dropped()),
        (REPLIES_MAX, 1)
    );
}

#[test]
fn the_receiver_of_a_frame_answers_nothing() {
    let mut terminal = after("x");
    let mut screen = terminal.screen().clone();
    screen.apply(b"\x1b[6n\x1b[c");
    terminal.process(b"");
    assert_eq!(terminal.take_replies(), b"");
    assert_eq!(screen, *terminal.screen());
}

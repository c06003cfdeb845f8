//! The server learns what the user's terminal is like in a session whose ends both know `terminal`, and in no other
//! (docs/protocol.md §13.12).

mod support;

use fulmar_core::{Agreement, Capabilities, Capability, ServerConfig};
use fulmar_sim::{Delay, Failure, Loss, Network, ms, secs};
use fulmar_terminal::{Clustering, Column, DefaultColors, Glyph, Row, TerminalReport, Vocabulary};

use support::World;

const COLORS: DefaultColors = DefaultColors {
    text: None,
    background: Some([0x1010, 0x2020, 0x3030]),
    cursor: None,
};

/// The answers to questions about the background and about what the terminal is.
const ANSWERED: &[u8] = b"\x1b]11;rgb:1010/2020/3030\x07\x1b[?64;6;21;22;28c";
const UNANSWERED: &[u8] = b"\x1b[?64;6;21;22;28c";
const QUESTIONS: &[u8] = b"\x1b]11;?\x07\x1b[c";

/// One cell where clusters are cells; else three wide ones.
const FAMILY: &str = "👨\u{200d}👩\u{200d}👧";

/// A session of these two, whose user has such a terminal.
fn world(client: Capabilities, server: Capabilities, clustering: Clustering) -> World {
    let agreement = Some(Agreement::of(b"offer", b"answer", client.and(server)));
    let ways = [Loss::percent(20), Delay::fixed(ms(40))];
    let mut world = World::with(
        Network::seeded(3).both(ways),
        |client| client.agreement = agreement,
        |server: &mut ServerConfig| server.agreement = agreement,
    );
    let terminal = &mut world.near_mut().terminal;
    terminal.set_report(TerminalReport {
        colors: COLORS,
        clustering,
        keyboard: false,
        crops: false,
        checksums: false,
    });
    world.far_mut().reference.set_clustering(clustering);
    world
}

fn without_terminal() -> Capabilities {
    let all = Capabilities::ALL.iter();
    all.filter(|one| *one != Capability::Terminal).collect()
}

#[test]
fn a_program_is_answered_in_the_name_of_the_users_terminal() -> Result<(), Failure> {
    let all = Capabilities::ALL;
    let mut world = world(all, all, Clustering::Unknown);
    // Before the client has said anything about its terminal, and after.
    world.program_writes(QUESTIONS);
    world.run_for(secs(5))?;
    world.check_typed(ANSWERED)?;
    world.program_writes(QUESTIONS);
    world.run_for(secs(1))?;
    world.check_typed(&ANSWERED.repeat(2))
}

#[test]
fn if_one_end_alone_knows_it_nothing_waits_and_nothing_is_known() -> Result<(), Failure> {
    let all = Capabilities::ALL;
    for (client, server) in [(all, without_terminal()), (without_terminal(), all)] {
        let mut world = world(client, server, Clustering::Unknown);
        world.run_for(secs(2))?;
        world.program_writes(QUESTIONS);
        world.run_for(ms(1))?;
        world.check_typed(UNANSWERED)?;
    }
    Ok(())
}

#[test]
fn checksums_of_the_screen_are_answered_where_the_user_allows_them() -> Result<(), Failure> {
    let agreement = Some(Agreement::of(b"offer", b"answer", Capabilities::ALL));
    for (checksums, answers) in [
        (true, &b"\x1bP7!~0020\x1b\\\x1b[0n"[..]),
        (false, b"\x1b[0n"),
    ] {
        let mut world = World::with(
            Network::seeded(3).both([Loss::percent(20), Delay::fixed(ms(40))]),
            |client| {
                client.agreement = agreement;
                client.checksums = checksums;
            },
            |server: &mut ServerConfig| server.agreement = agreement,
        );
        world.program_writes(b"\x1b[7;1;1;1;1;1*y\x1b[5n");
        world.run_for(secs(5))?;
        world.check_typed(answers)?;
    }
    Ok(())
}

/// The answers behind a question come, though a little later.
#[test]
fn a_terminal_that_says_nothing_of_itself_keeps_no_program_waiting_for_long() -> Result<(), Failure>
{
    let all = Capabilities::ALL;
    let mut world = world(all, all, Clustering::Unknown);
    world.near_mut().is_mute = true;
    world.run_for(secs(2))?;
    world.program_writes(QUESTIONS);
    world.run_for(ms(900))?;
    world.check_typed(b"")?;
    world.run_for(ms(200))?;
    world.check_typed(UNANSWERED)?;
    world.program_writes(QUESTIONS);
    world.run_for(ms(1))?;
    world.check_typed(&UNANSWERED.repeat(2))
}

/// As behind something that takes such answers for its own.
#[test]
fn what_a_terminal_has_said_is_told_though_its_last_answer_is_lost() -> Result<(), Failure> {
    let all = Capabilities::ALL;
    let mut world = world(all, all, Clustering::Unknown);
    world.near_mut().loses_attributes = true;
    world.run_for(secs(12))?;
    world.program_writes(QUESTIONS);
    world.run_for(ms(1))?;
    world.check_typed(ANSWERED)
}

#[test]
fn on_a_terminal_that_shows_clusters_a_family_is_one_character() -> Result<(), Failure> {
    let all = Capabilities::ALL;
    let mut world = world(all, all, Clustering::Permanent);
    world.run_for(secs(5))?;
    world.program_writes(format!("{FAMILY}|\r\n👍🏽.\x1b[?2027$p").as_bytes());
    world.run_for(secs(5))?;
    world.check_typed(b"\x1b[?2027;3$y")?;
    let screens = [
        world.near().terminal.screen(),
        world.near().client.screen(),
        world.far().server.screen(),
    ];
    for screen in screens {
        let row = screen.row(Row(0));
        assert_eq!(row.glyph(Column(0)), Glyph::Cluster(FAMILY));
        assert_eq!(row.glyph(Column(2)), Glyph::Char('|'));
        assert_eq!(screen.row(Row(1)).glyph(Column(2)), Glyph::Char('.'));
    }
    let shown = |vocabulary| world.near().terminal.screen().projected(vocabulary);
    let drawn = world.far().reference.screen();
    assert_eq!(
        shown(&Vocabulary::CLUSTERED),
        drawn.projected(&Vocabulary::CLUSTERED)
    );
    Ok(())
}

/// A program that does not set the mode counts each character, whatever the terminal could do.
#[test]
fn a_terminal_that_could_show_clusters_shows_what_the_program_takes_for_characters()
-> Result<(), Failure> {
    let all = Capabilities::ALL;
    let mut world = world(all, all, Clustering::Switchable);
    world.run_for(secs(5))?;
    world.program_writes(format!("{FAMILY}|\r\n\x1b[?2027h{FAMILY}|\x1b[?2027$p").as_bytes());
    world.run_for(secs(5))?;
    world.check_typed(b"\x1b[?2027;1$y")?;
    let screen = world.near().terminal.screen();
    assert_eq!(screen.row(Row(0)).glyph(Column(6)), Glyph::Char('|'));
    assert_eq!(screen.row(Row(1)).glyph(Column(2)), Glyph::Char('|'));
    Ok(())
}

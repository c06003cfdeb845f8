//! Screens and keys leave soon, and an acknowledgement carries no more than it should.

use super::*;
use crate::testing::UNFINISHED;
use crate::{ApplyError, Budget, Difference, Reached, Synced, WorkBudget};

/// The place for which nobody waits.
const BOOK: usize = BOARD_CELLS - 1;

/// Two ends with a known round trip of 100 ms that have said nothing for a while.
fn idle() -> Pair {
    let mut pair = Pair::new(ms(50));
    pair.type_text(b"x");
    // More than the first states, which wait for no interval either.
    for prompt in b"1234" {
        pair.write(0, &[*prompt]);
        pair.run_for(ms(500));
    }
    pair.run_until(at(5000));
    pair.sent.clear();
    pair
}

/// Has the server's program answer a key, by one cell more in each of so many milliseconds.
fn answer(pair: &mut Pair, millis: usize, text: &[u8]) -> Vec<Duration> {
    let start = pair.now;
    pair.server.expect_echo(start);
    for place in 0..millis {
        pair.write(100 + place, text);
        pair.run_for(ms(1));
    }
    let frames = pair.sends_of(Role::Server, Cause::Frame);
    frames.iter().map(|frame| frame.since(start)).collect()
}

/// Writes what cannot be compressed.
fn write_large(pair: &mut Pair, cells: usize) {
    let noise = |n: usize| (n as u32).wrapping_mul(0x9E37_79B9).rotate_left(9) as u8;
    let text: Vec<u8> = (0..cells).map(noise).collect();
    pair.write(100, &text);
}

#[test]
fn a_key_leaves_at_once() {
    let mut pair = idle();
    for _ in 0..3 {
        pair.type_text(b"k");
        pair.run_for(ms(5));
    }
    let times = pair.sends_of(Role::Client, Cause::Frame);
    assert_eq!(times, [at(5000), at(5005), at(5010)]);
}

#[test]
fn four_frames_after_a_key_wait_for_no_frame_interval() {
    let mut pair = idle();
    let frames = answer(&mut pair, 80, b"#");
    // The echo, and each time 8 ms of what came after the frame before.
    let first = [Duration::from_micros(500), ms(9), ms(17), ms(25)];
    assert_eq!(frames.get(..4), Some(&first[..]), "{frames:?}");
    let fifth = frames.get(4).copied().unwrap_or_default();
    assert!(fifth >= first[3] + ms(50), "{frames:?}");
}

#[test]
fn a_redraw_in_pieces_leaves_whole() {
    for pause in 1..=7 {
        let mut pair = idle();
        pair.server.expect_echo(pair.now);
        pair.write(0, &[UNFINISHED]);
        pair.run_for(ms(pause));
        pair.write(0, b"done");
        pair.run_for(ms(100));
        let frames = pair.sends_of(Role::Server, Cause::Frame);
        assert_eq!(frames.len(), 1, "{pause}");
        assert!(frames[0] <= at(5008), "{pause}");
    }
}

#[test]
fn what_comes_after_an_echo_leaves_whole() {
    let mut pair = idle();
    pair.server.expect_echo(pair.now);
    for piece in 0..4 {
        pair.write(piece, b"e");
        pair.run_for(ms(2));
    }
    pair.run_for(ms(100));
    let frames = pair.sends_of(Role::Server, Cause::Frame);
    assert_eq!(frames, [at(5000) + Duration::from_micros(500), at(5010)]);
}

#[test]
fn each_key_is_worth_four_frames_again() {
    let mut pair = idle();
    answer(&mut pair, 10, b"#");
    pair.run_for(ms(500));
    pair.sent.clear();
    assert_eq!(answer(&mut pair, 26, b"+").len(), 4);
}

#[test]
fn what_nobody_waits_for_leaves_no_sooner_and_uses_up_no_echo() {
    let mut pair = idle();
    pair.server.expect_echo(pair.now);
    pair.write(1, b"e");
    pair.run_for(ms(2));
    pair.write(BOOK, b"1");
    pair.run_for(ms(60));
    // The echo after a pause, the rest a frame interval later.
    let frames = pair.sends_of(Role::Server, Cause::Frame);
    let echo = at(5000) + Duration::from_micros(500);
    assert_eq!(frames, [echo, echo + ms(50)]);
    for place in 2..5 {
        pair.write(place, b"e");
        pair.run_for(ms(9));
    }
    assert_eq!(pair.sends_of(Role::Server, Cause::Frame).len(), 5);
}

#[test]
fn an_echo_of_several_datagrams_is_the_last() {
    let mut pair = idle();
    pair.server.expect_echo(pair.now);
    write_large(&mut pair, 600);
    pair.run_for(ms(1));
    pair.write(1, b"e");
    pair.run_for(ms(120));
    let frames = pair.sends_of(Role::Server, Cause::Frame);
    let echo = at(5000) + Duration::from_micros(500);
    assert_eq!(frames, [echo, echo + ms(50)]);
}

#[test]
fn behind_a_full_window_no_screen_travels_with_an_acknowledgement() {
    let mut pair = idle();
    write_large(&mut pair, 1500);
    let shown = pair.board.clone();
    pair.run_for(ms(3));
    pair.type_text(b"k");
    pair.run_for(ms(6));
    // The key arrives at 53, and of the screen nothing is heard any more.
    pair.loses = Box::new(|flight| flight.from == Role::Client);
    pair.write(1, b"more");
    pair.run_for(ms(145));
    let is_server = |sent: &&Sent| sent.from == Role::Server;
    let sent = pair.sent.iter().filter(is_server);
    let sent: Vec<_> = sent.map(|sent| (sent.at, sent.cause)).collect();
    let acknowledgement = (at(5153), Cause::Acknowledgement);
    assert_eq!(sent, [(at(5008), Cause::Frame), acknowledgement]);
    assert!(pair.sent.last().is_some_and(|sent| sent.bytes < 80));
    // It acknowledges, and does not take the client back to an older screen.
    pair.run_for(ms(51));
    assert_eq!(pair.client.acknowledged().end(), 2);
    assert_eq!(pair.client.remote(), &shown);
}

#[test]
fn after_an_outage_the_screen_travels_with_the_first_acknowledgement() {
    let mut pair = idle();
    pair.loses = Box::new(|_| true);
    for cells in [1500, 1400, 1300, 1200, 1100] {
        write_large(&mut pair, cells);
        pair.write(2, &[(cells / 100) as u8]);
        pair.run_for(ms(1000));
    }
    pair.loses = Box::new(|_| false);
    pair.type_text(b"k");
    pair.run_for(ms(151));
    assert_eq!(pair.client.remote(), &pair.board);
}

/// A picture that goes whole or not at all.
#[derive(Clone, Debug)]
struct Picture(Vec<u8>);

impl Synced for Picture {
    fn is_same(&self, other: &Picture) -> bool {
        self.0 == other.0
    }

    fn diff_from(&self, source: &Picture, budget: Budget) -> Difference<Picture> {
        if self.is_same(source) {
            return Difference::complete(Vec::new());
        }
        if budget.allows(self.0.len()) {
            return Difference::complete(self.0.clone());
        }
        Difference {
            bytes: Vec::new(),
            reached: Reached::Between(source.clone()),
        }
    }

    fn apply(&mut self, difference: &[u8], _: &mut WorkBudget) -> Result<(), ApplyError> {
        self.0 = difference.to_vec();
        Ok(())
    }

    fn held_bytes(&self, _: Option<&Picture>) -> usize {
        self.0.len()
    }
}

#[test]
fn what_fits_into_no_budget_is_not_tried_again_and_again() {
    let config = config(Role::Server);
    let (seal, open) = (sealer(Direction::ToClient), opener(Direction::ToServer));
    let blank = Picture(Vec::new());
    let mut server = Endpoint::new(
        at(0),
        config,
        seal,
        open,
        blank,
        Log::default(),
        Box::new(Quiet::default()),
    );
    let mut client = RawPeer::new(Direction::ToServer);
    for bytes in client.say(&instruction([0, 1, 0, 0], b"a")) {
        let _ = server.handle_datagram(at(0), arrival(SERVER_PATH, &bytes));
    }
    let (mut out, mut sent) = (Vec::new(), 0);
    // Nothing has proven the path, so that it gets 16 KiB.
    server.set_local(at(1), Picture(vec![b'x'; 20_000]));
    for now in 1..1000 {
        server.handle_timeout(at(now));
        while server.poll_transmit(at(now), &mut out).is_some() {
            sent += 1;
            assert!(sent < 200, "at {now}");
        }
    }
    assert!(sent > 0);
}

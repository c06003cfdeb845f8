//! What an endpoint does, seen from outside.

mod attack;
mod hostile;
mod pair;
mod random;

use std::time::Duration;

use pair::*;

use super::*;
use crate::testing::{Board, Log};
use crate::{Cause, DropReason, Hint, Instruction, Role};

#[test]
fn both_objects_arrive() {
    let mut pair = Pair::new(ms(50));
    pair.type_text(b"ls\r");
    pair.run_for(ms(300));
    pair.write(0, b"one  two");
    pair.run_for(ms(1000));
    assert_eq!(pair.server.remote().since(0), b"ls\r");
    assert_eq!(pair.client.remote().text(), "one  two");
    assert_eq!(pair.client.acknowledged().end(), 3);
    assert_eq!(pair.server.acknowledged().text(), "one  two");
}

#[test]
fn a_lost_first_datagram_is_repeated_after_250_ms() {
    let mut pair = Pair::new(ms(20));
    pair.loses = |flight| flight.from == Role::Client && flight.nth == 0;
    pair.type_text(b"ls\r");
    pair.run_until(at(269));
    assert_eq!(pair.server.remote().end(), 0);
    // 250 ms, there, and at once back.
    pair.run_until(at(290));
    assert_eq!(pair.server.remote().since(0), b"ls\r");
    assert_eq!(pair.client.acknowledged_number(), StateNumber::new(2));
    assert_eq!(pair.sends_of(Role::Client, Cause::FirstRepeat), [at(250)]);
}

#[test]
fn a_lost_first_answer_costs_no_more() {
    let mut pair = Pair::new(ms(20));
    pair.loses = |flight| flight.from == Role::Server && flight.nth == 0;
    pair.type_text(b"ls\r");
    pair.run_until(at(250 + 40 + 100));
    assert_eq!(pair.client.acknowledged().end(), 3);
}

#[test]
fn acknowledged_input_is_forgotten_at_both_ends() {
    let mut pair = Pair::new(ms(20));
    pair.type_text(&[b'x'; 10_000]);
    pair.run_for(ms(1000));
    assert_eq!(pair.client.local().kept_bytes(), 0);
    assert_eq!(pair.server.remote().kept_bytes(), 10_000);
    pair.server.forget_consumed();
    assert_eq!(pair.server.remote().kept_bytes(), 0);
    assert_eq!(pair.server.receiver().held_bytes(), 0);
}

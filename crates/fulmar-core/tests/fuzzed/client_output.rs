//! A client whose server has the key, and what the client writes to the user's terminal.

use fulmar_sim::Choices;
use fulmar_transport::{Role, wire};

use crate::victim::{STAGES, Victim};

/// More is not said to one client, so that an input is done soon.
const ACTIONS_MAX: usize = 64;

/// Says what the bytes choose: frames, messages and instructions, whole and not, between keys, windows and pauses.
///
/// # Panics
///
/// Where the client writes what is not permitted, wants to spin, has no end, or does not give the terminal back as it was.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let is_native = choices.below(2) == 1;
    let stage = STAGES[usize::from(choices.below(STAGES.len() as u8))];
    let mut victim = Victim::at(stage, Role::Client, is_native);
    for _ in 0..ACTIONS_MAX {
        if choices.is_over() || victim.has_ended {
            break;
        }
        match choices.below(12) {
            0..=5 => victim.say_difference(&host_bytes(choices.bytes())),
            6 => victim.say_difference(choices.bytes()),
            7 => victim.say(choices.bytes()),
            8 => victim.say_difference(&hints(&mut choices)),
            9 => victim.type_keys(choices.bytes()),
            10 => {
                let (rows, columns) = (choices.below(60), choices.below(200));
                victim.resize(1 + u16::from(rows), 1 + u16::from(columns));
            }
            _ => victim.wait(usize::from(choices.below(4))),
        }
    }
    victim.leave();
}

fn host_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    wire::put_message(&mut out, 1, |instruction| {
        wire::put_message(instruction, 2, |text| wire::put_bytes(text, 4, bytes));
    });
    out
}

fn hints(choices: &mut Choices<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    wire::put_message(&mut out, 1, |instruction| {
        wire::put_message(instruction, 64, |hints| {
            for field in 1..5 {
                wire::put_uint(hints, field, choices.number());
            }
        });
    });
    out
}

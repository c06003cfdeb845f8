//! Peers that have the key and say what nobody can mean: every field of every message at every odd value, missing,
//! doubled, nested in itself, cut off, of another type, and fields that nobody has; to a client and to a server, before
//! the first answer, connected, saying goodbye, and after a session was taken. Whatever is said, nothing panics, nothing goes
//! on without an end, the user's terminal gets nothing that it must not and is given back whole, and what is said rightly
//! afterwards is taken.
//!
//! Source: T-H1 of docs/threat-model.md §12.

mod definitions;
mod held;
mod mutations;
mod victim;

use std::panic::{AssertUnwindSafe, catch_unwind};

use fulmar_datagram::{Fragment, FragmentHeader, FragmentIndex, Stamps};
use fulmar_transport::{Deflater, Role};

use crate::definitions::{Kind, Messages};
use crate::mutations::{Absurd, of_field, of_message, plausible};
use crate::victim::{LAST, STAGES, Stage, Victim};

/// The fate of a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// It goes on, and what is said rightly is taken.
    GoesOn,
    /// It goes on, and what was said before may have been said otherwise: the difference started from an older state.
    Disagrees,
    /// It may end: there was the number of a goodbye, or something else was agreed on.
    MayEnd,
}

/// Something absurd to say.
struct Case {
    what: String,
    after: After,
    say: Box<dyn Fn(&mut Victim)>,
}

impl Case {
    fn new(what: impl Into<String>, say: impl Fn(&mut Victim) + 'static) -> Case {
        Case {
            what: what.into(),
            after: After::GoesOn,
            say: Box::new(say),
        }
    }

    fn after(self, after: After) -> Case {
        Case { after, ..self }
    }
}

fn messages(role: Role) -> (Messages, &'static str) {
    match role {
        Role::Client => (definitions::of_screen(), "HostMessage"),
        Role::Server => (definitions::of_keys(), "UserMessage"),
    }
}

/// Differences with something wrong, in an instruction that is right.
fn differences(role: Role) -> Vec<Case> {
    let (messages, outermost) = messages(role);
    let of = |(what, bytes): Absurd| {
        Case::new(what, move |victim: &mut Victim| {
            victim.say_difference(&bytes)
        })
    };
    let absurd = of_message(&messages, outermost);
    absurd.into_iter().map(of).collect()
}

/// Instructions with something wrong, with a difference that is right.
fn instructions(role: Role) -> Vec<Case> {
    let (messages, outermost) = messages(role);
    let difference = plausible(&messages, outermost);
    let mut cases = Vec::new();
    for field in definitions::of_instruction() {
        assert!(!matches!(field.kind, Kind::Message(_)));
        let label = |what: &str| format!("instruction.{}: {what}", field.name);
        for (what, bytes) in of_field(&field) {
            let difference = difference.clone();
            let alone = bytes.clone();
            // A field that comes again counts as the last one that came.
            let case = Case::new(label(&what), move |victim: &mut Victim| {
                let mut whole = victim.instruction(victim.next_numbers(), &difference);
                whole.extend_from_slice(&bytes);
                victim.say(&whole);
            });
            cases.push(case.after(match field.number {
                2 => After::Disagrees,
                3 | 64 => After::MayEnd,
                _ => After::GoesOn,
            }));
            let what = label(&format!("{what}, and nothing else"));
            let case = Case::new(what, move |victim: &mut Victim| victim.say(&alone));
            cases.push(case.after(After::MayEnd));
        }
    }
    cases
}

/// Instructions whose numbers nobody can mean: source, target, acknowledged, throwaway.
fn numbers(role: Role) -> Vec<Case> {
    type Choose = fn(&Victim) -> [u64; 4];
    let table: [(&str, Choose); 17] = [
        ("all 0", |_| [0; 4]),
        ("all the highest", |_| [LAST; 4]),
        ("all goodbye", |_| [u64::MAX; 4]),
        ("to itself", |v| [v.ours, v.ours, v.theirs, 0]),
        ("backwards", |v| {
            [v.ours, v.ours.saturating_sub(1), v.theirs, 0]
        }),
        ("from what is not there", |v| {
            [v.ours + 1, v.ours + 2, v.theirs, 0]
        }),
        ("from far away", |v| [LAST - 1, LAST, v.theirs, 0]),
        ("to the highest", |v| [v.ours, LAST, v.theirs, 0]),
        ("to the highest, and forgets", |v| {
            [v.ours, LAST, v.theirs, v.ours]
        }),
        ("forgets its source", |v| {
            [v.ours, v.ours + 1, v.theirs, v.ours + 1]
        }),
        ("forgets everything", |v| {
            [v.ours, v.ours + 1, v.theirs, u64::MAX]
        }),
        ("forgets what is not there", |v| {
            [v.ours, v.ours + 9, v.theirs, v.ours + 5]
        }),
        ("acknowledges what was not sent", |v| {
            [v.ours, v.ours + 1, v.theirs + 1, 0]
        }),
        ("acknowledges the highest", |v| {
            [v.ours, v.ours + 1, LAST, 0]
        }),
        ("acknowledges a goodbye", |v| {
            [v.ours, v.ours + 1, u64::MAX, 0]
        }),
        ("goodbye with a difference", |v| {
            [v.ours, u64::MAX, v.theirs, 0]
        }),
        ("goodbye from nowhere", |v| {
            [v.ours + 7, u64::MAX, v.theirs, 0]
        }),
    ];
    let (messages, outermost) = messages(role);
    let difference = plausible(&messages, outermost);
    let case = |(what, choose): (&str, Choose)| {
        let difference = difference.clone();
        let case = Case::new(format!("numbers: {what}"), move |victim: &mut Victim| {
            let instruction = victim.instruction(choose(victim), &difference);
            victim.say(&instruction);
        });
        case.after(match what {
            "all 0" => After::Disagrees,
            what if what.contains("goodbye") => After::MayEnd,
            _ => After::GoesOn,
        })
    };
    table.into_iter().map(case).collect()
}

fn fragment(id: u64, index: u16, is_final: bool, content: &[u8]) -> Fragment<'_> {
    let header = FragmentHeader {
        id,
        index: FragmentIndex::new(index).expect("it has 15 bits"),
        is_final,
    };
    Fragment { header, content }
}

/// Datagrams with what is no instruction.
fn datagrams() -> Vec<Case> {
    let deflated = |bytes: &[u8]| {
        let mut out = Vec::new();
        Deflater::new().deflate(bytes, &mut out);
        out
    };
    let bomb = deflated(&vec![0; 5 << 20]);
    let chain = deflated(b"twice").repeat(2);
    let cut = deflated(&[7; 5000]);
    let cut = cut[..cut.len() / 2].to_vec();
    vec![
        Case::new("no content", |v| v.say_compressed(Vec::new())),
        Case::new("an empty instruction", |v| v.say(b"")),
        Case::new("no zlib", |v| v.say_compressed(vec![0xff; 5000])),
        Case::new("more than may be inflated", move |v| {
            v.say_compressed(bomb.clone())
        }),
        Case::new("two streams", move |v| v.say_compressed(chain.clone())),
        Case::new("half a stream", move |v| v.say_compressed(cut.clone())),
        Case::new("the last of many fragments", |v| {
            let id = v.take_id();
            v.say_fragment(Stamps::NONE, fragment(id, 0x7fff, true, b"x"));
        }),
        Case::new("two last fragments", |v| {
            let id = v.take_id();
            v.say_fragment(Stamps::NONE, fragment(id, 3, true, b"x"));
            v.say_fragment(Stamps::NONE, fragment(id, 1, true, b"y"));
            v.say_fragment(Stamps::NONE, fragment(id, 9, false, b"z"));
        }),
        Case::new("a fragment with two contents", |v| {
            let id = v.take_id();
            v.say_fragment(Stamps::NONE, fragment(id, 0, false, b"x"));
            v.say_fragment(Stamps::NONE, fragment(id, 0, false, b"y"));
        }),
        Case::new("instruction 0", |v| {
            v.say_fragment(Stamps::NONE, fragment(0, 0, true, b"x"));
        }),
        Case::new("stamps of every kind", |v| {
            for bytes in [[0; 4], [0xff; 4], [0, 0, 0xff, 0xff], [0xff, 0xfe, 0, 0]] {
                let id = v.take_id();
                v.say_fragment(Stamps::from_wire(bytes), fragment(id, 0, false, b""));
            }
        }),
    ]
}

/// Says each of the cases to a victim of its own, at every stage, in both dialects.
fn attack(role: Role, cases: &[Case]) {
    for stage in STAGES {
        for is_native in [false, true] {
            for case in cases {
                let what = format!("{role:?}, {stage:?}, native {is_native}: {}", case.what);
                let once = AssertUnwindSafe(|| attack_once(role, stage, is_native, case));
                assert!(catch_unwind(once).is_ok(), "{what}");
            }
        }
    }
}

fn attack_once(role: Role, stage: Stage, is_native: bool, case: &Case) {
    let mut victim = Victim::at(stage, role, is_native);
    (case.say)(&mut victim);
    if stage == Stage::ShuttingDown {
        victim.wait(200);
        assert!(victim.has_ended, "the goodbye comes to its end");
    } else if case.after == After::MayEnd {
        victim.wait(30);
    } else {
        // Nothing is above the highest number but goodbye.
        if case.after == After::GoesOn && victim.ours < LAST {
            victim.say_what_is_right();
        }
        victim.wait(3);
        assert!(!victim.has_ended);
    }
    victim.leave();
}

#[test]
fn a_client_survives_every_absurd_difference() {
    let cases = differences(Role::Client);
    assert!(cases.len() > 1000, "{} cases", cases.len());
    attack(Role::Client, &cases);
}

#[test]
fn a_server_survives_every_absurd_difference() {
    let cases = differences(Role::Server);
    assert!(cases.len() > 500, "{} cases", cases.len());
    attack(Role::Server, &cases);
}

#[test]
fn both_survive_every_absurd_instruction() {
    for role in [Role::Client, Role::Server] {
        attack(role, &instructions(role));
    }
}

#[test]
fn both_survive_numbers_that_nobody_can_mean() {
    for role in [Role::Client, Role::Server] {
        attack(role, &numbers(role));
    }
}

#[test]
fn both_survive_datagrams_that_are_no_instruction() {
    for role in [Role::Client, Role::Server] {
        attack(role, &datagrams());
    }
}

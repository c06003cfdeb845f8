use super::*;

const OURS: Digest = Digest::new([1; Digest::BYTES]);
const OTHER: Digest = Digest::new([2; Digest::BYTES]);
const SOME_STATE: StateNumber = StateNumber::new(1);

fn says(digest: &[u8]) -> Extensions<'_> {
    Extensions {
        digest: Some(digest),
        farewell: Some(3),
        ..Extensions::default()
    }
}

fn nothing() -> Extensions<'static> {
    Extensions::default()
}

/// Returns a handshake that has taken in one instruction.
fn after(own: Option<Digest>, heard: Extensions<'_>) -> Handshake {
    let mut handshake = Handshake::new(own);
    assert_eq!(handshake.dialect(), Dialect::Undecided);
    let decided = handshake.hear(heard);
    assert_eq!(decided, Some(handshake.dialect()));
    handshake
}

#[test]
fn the_first_instruction_decides() {
    for (own, heard, dialect) in [
        (None, nothing(), Dialect::Legacy),
        (None, says(OURS.as_bytes()), Dialect::Legacy),
        (None, says(b""), Dialect::Legacy),
        (Some(OURS), nothing(), Dialect::Legacy),
        (Some(OURS), says(OURS.as_bytes()), Dialect::Native),
        (Some(OURS), says(OTHER.as_bytes()), Dialect::Altered),
        (Some(OURS), says(&[1; 31]), Dialect::Altered),
        (Some(OURS), says(&[1; 33]), Dialect::Altered),
        (Some(OURS), says(b""), Dialect::Altered),
    ] {
        assert_eq!(after(own, heard).dialect(), dialect, "{own:?} {heard:?}");
    }
}

#[test]
fn what_comes_later_changes_nothing() {
    for first in [nothing(), says(OURS.as_bytes()), says(OTHER.as_bytes())] {
        let mut handshake = after(Some(OURS), first);
        let before = handshake.dialect();
        for later in [nothing(), says(OURS.as_bytes()), says(OTHER.as_bytes())] {
            assert_eq!(handshake.hear(later), None);
            assert_eq!(handshake.dialect(), before);
        }
    }
}

#[test]
fn the_digest_is_said_until_the_peer_has_acknowledged_anything() {
    let undecided = Handshake::new(Some(OURS));
    let native = after(Some(OURS), says(OURS.as_bytes()));
    let altered = after(Some(OURS), says(OTHER.as_bytes()));
    for handshake in [undecided, native, altered] {
        let addition = handshake.addition(SOME_STATE, StateNumber::ZERO);
        assert_eq!(addition.extensions().digest, Some(&OURS.as_bytes()[..]));
        let addition = handshake.addition(SOME_STATE, SOME_STATE);
        assert_eq!(addition, Addition::default());
    }
}

#[test]
fn whoever_speaks_as_stock_says_nothing_that_stock_does_not() {
    for mut handshake in [
        after(Some(OURS), nothing()),
        after(None, says(OURS.as_bytes())),
        Handshake::new(None),
    ] {
        handshake.set_farewell(7);
        for target in [SOME_STATE, StateNumber::SHUTDOWN] {
            let addition = handshake.addition(target, StateNumber::ZERO);
            assert_eq!(addition, Addition::default());
        }
    }
}

#[test]
fn a_farewell_goes_with_goodbyes_and_in_native_only() {
    let native = after(Some(OURS), says(OURS.as_bytes()));
    let altered = after(Some(OURS), says(OTHER.as_bytes()));
    let undecided = Handshake::new(Some(OURS));
    for (mut handshake, goodbye) in [(native, Some(7)), (altered, None), (undecided, None)] {
        handshake.set_farewell(7);
        let said = |target| handshake.addition(target, SOME_STATE).farewell;
        assert_eq!(said(SOME_STATE), None);
        assert_eq!(said(StateNumber::SHUTDOWN), goodbye);
    }
}

#[test]
fn a_farewell_is_believed_in_native_only() {
    let farewell = says(b"");
    for (own, first, believed) in [
        (Some(OURS), says(OURS.as_bytes()), Some(3)),
        (Some(OURS), says(OTHER.as_bytes()), None),
        (Some(OURS), nothing(), None),
        (None, says(OURS.as_bytes()), None),
    ] {
        let mut handshake = after(own, first);
        handshake.hear_farewell(farewell);
        handshake.hear_farewell(nothing());
        assert_eq!(handshake.heard_farewell(), believed);
    }
}

#[test]
fn whoever_finds_the_agreement_altered_takes_goodbyes_only_and_ends_so() {
    let altered = after(Some(OURS), says(OTHER.as_bytes()));
    assert_eq!(altered.admit(SOME_STATE, b"x"), None);
    assert_eq!(altered.admit(StateNumber::SHUTDOWN, b"x"), Some(&[][..]));
    assert_eq!(altered.ending(Ending::ByPeer), Ending::Altered);
    let native = after(Some(OURS), says(OURS.as_bytes()));
    assert_eq!(native.admit(SOME_STATE, b"x"), Some(&b"x"[..]));
    assert_eq!(native.ending(Ending::ByPeer), Ending::ByPeer);
}

use super::*;
use crate::played::CLEAR;
use crate::typing::PATIENCE;

/// A prompt, and two keys with their echoes.
const SESSION: &[u8] = b"0 SIZE 20 4\n100000 HOST 2\n$ \n1000000 USER 1\nl\n1001000 HOST 1\nl\n\
    1200000 USER 1\ns\n1201000 HOST 1\ns\n";

const LIMITS: Limits = Limits {
    keys: 10,
    time: Duration::from_secs(60),
    patience: Duration::from_secs(7),
    set_up: Duration::from_secs(30),
    pause_max: None,
};

struct Played {
    trace: Trace,
    truth: GroundTruth,
}

impl Played {
    fn new() -> Self {
        let trace = Trace::parse(SESSION).unwrap();
        let truth = GroundTruth::of(&trace);
        Self { trace, truth }
    }

    fn user(&self, user: TypingLoop, limits: Limits) -> TypingUser<'_> {
        TypingUser::new(&self.trace, &self.truth, user, limits, ms(0))
    }

    /// Returns a user whose session has begun at 2 s.
    fn begun(&self, user: TypingLoop, limits: Limits) -> TypingUser<'_> {
        let mut user = self.user(user, limits);
        user.handle_output(ms(1000), format!("{CLEAR}{READY}").as_bytes());
        let greeting = [reach(SessionStage::Ready), typed(b"\r")];
        assert_eq!(acts(&mut user, 1000), greeting);
        user.handle_output(ms(2000), CLEAR.as_bytes());
        assert_eq!(acts(&mut user, 2000), [reach(SessionStage::Begun)]);
        user
    }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Returns everything that a user does at a time.
fn acts(user: &mut TypingUser<'_>, now: u64) -> Vec<UserAction> {
    std::iter::from_fn(|| user.poll_act(ms(now))).collect()
}

fn typed(keys: &[u8]) -> UserAction {
    UserAction::Type(keys.to_vec())
}

fn reach(stage: SessionStage) -> UserAction {
    UserAction::Reach(stage)
}

fn next_at(user: &TypingUser<'_>) -> Option<u128> {
    user.poll_timeout().map(|at| at.as_millis())
}

#[test]
fn a_session_goes_from_the_greeting_to_the_last_answer() {
    let played = Played::new();
    let mut user = played.begun(TypingLoop::Recorded, LIMITS);
    assert_eq!(next_at(&user), Some(3000));
    assert_eq!(acts(&mut user, 2999), []);
    assert_eq!(acts(&mut user, 3000), [typed(b"l")]);
    assert_eq!(acts(&mut user, 3200), [typed(b"s")]);
    assert_eq!(next_at(&user), Some(3200 + 7000));
    user.handle_output(ms(3300), b"$ l");
    assert_eq!(acts(&mut user, 3300), []);
    user.handle_output(ms(3500), b"s");
    assert_eq!(acts(&mut user, 3500), [reach(SessionStage::Over)]);
    assert!(user.is_over() && !user.has_failed());

    let session = user.finish().unwrap();
    assert_eq!(
        (session.why_over, session.given_up),
        (SessionEnd::AllSeen, 0)
    );
    let side = session.user_side;
    assert_eq!((side.size(), side.began()), (played.trace.size(), ms(0)));
    let keys: Vec<(Duration, &[u8])> = side.user().collect();
    assert_eq!(keys, [(ms(3000), &b"l"[..]), (ms(3200), b"s")]);
    assert_eq!(side.host().last(), Some((ms(3500), &b"s"[..])));
}

#[test]
fn a_host_that_is_not_ready_in_time_is_not_typed_at() {
    let played = Played::new();
    let mut user = played.user(TypingLoop::Open, LIMITS);
    user.handle_output(ms(5), b"no such host");
    assert_eq!(next_at(&user), Some(30_000));
    assert!(acts(&mut user, 29_999).is_empty() && !user.has_failed());
    assert!(acts(&mut user, 30_000).is_empty() && user.has_failed() && user.is_over());
    let said = user.finish().unwrap_err().to_string();
    let expected = "the session was not there after 30s; the screen shows \"no such host\"";
    assert_eq!(said, expected);
}

#[test]
fn a_host_that_does_not_begin_in_time_is_not_typed_at() {
    let played = Played::new();
    let mut user = played.user(TypingLoop::Open, LIMITS);
    user.handle_output(ms(1000), READY.as_bytes());
    assert_eq!(acts(&mut user, 1000).len(), 2);
    assert!(acts(&mut user, 29_999).is_empty() && !user.has_failed());
    assert!(acts(&mut user, 30_000).is_empty() && user.has_failed());
}

#[test]
fn a_peer_that_leaves_early_is_an_error_and_later_a_result() {
    let played = Played::new();
    let mut user = played.user(TypingLoop::Open, LIMITS);
    user.handle_output(ms(5), b"lost");
    user.handle_left();
    let said = user.finish().unwrap_err().to_string();
    assert_eq!(
        said,
        "the peer left before the session was there; the screen shows \"lost\""
    );

    let mut user = played.begun(TypingLoop::Recorded, LIMITS);
    user.handle_left();
    assert_eq!(acts(&mut user, 2500), [reach(SessionStage::Over)]);
    user.handle_left();
    assert_eq!(acts(&mut user, 2600), []);
    assert_eq!(user.finish().unwrap().why_over, SessionEnd::PeerLeft);
}

#[test]
fn a_peer_that_leaves_while_somebody_looks_on_is_a_result() {
    let played = Played::new();
    let mut user = played.begun(TypingLoop::Recorded, LIMITS);
    assert_eq!(acts(&mut user, 3000), [typed(b"l")]);
    assert_eq!(acts(&mut user, 3200), [typed(b"s")]);
    user.handle_left();
    assert_eq!(acts(&mut user, 3200), [reach(SessionStage::Over)]);
    assert_eq!(user.finish().unwrap().why_over, SessionEnd::PeerLeft);
}

#[test]
fn waits_in_vain_are_counted_however_it_ends() {
    let played = Played::new();
    let limits = Limits {
        time: Duration::from_secs(600),
        ..LIMITS
    };
    let vain = ms(2000) + PATIENCE;
    for leaves in [true, false] {
        let mut user = played.begun(TypingLoop::Closed, limits);
        assert_eq!(user.poll_timeout(), Some(vain));
        assert_eq!(user.poll_act(vain), Some(typed(b"l")));
        if leaves {
            user.handle_left();
        } else {
            user.handle_output(vain, b"$ l");
            assert_eq!(user.poll_act(vain + ms(199)), Some(typed(b"s")));
        }
        assert_eq!(user.poll_act(vain + ms(200)).is_some(), leaves);
        assert_eq!(user.finish().unwrap().given_up, 1);
    }
}

#[test]
fn no_more_keys_are_typed_than_the_limit() {
    let played = Played::new();
    let limits = Limits { keys: 1, ..LIMITS };
    let mut user = played.begun(TypingLoop::Recorded, limits);
    assert_eq!(acts(&mut user, 3000), [typed(b"l")]);
    assert_eq!(acts(&mut user, 3200), []);
    user.handle_output(ms(3300), b"$ l");
    assert_eq!(acts(&mut user, 3300), [reach(SessionStage::Over)]);
    assert_eq!(user.finish().unwrap().why_over, SessionEnd::LimitReached);
}

#[test]
fn typing_ends_with_its_time_and_looking_on_with_the_patience() {
    let played = Played::new();
    let limits = Limits {
        time: ms(1100),
        ..LIMITS
    };
    let mut user = played.begun(TypingLoop::Recorded, limits);
    assert_eq!(acts(&mut user, 3000), [typed(b"l")]);
    assert_eq!(next_at(&user), Some(3100));
    assert_eq!(acts(&mut user, 3100), []);
    assert_eq!(next_at(&user), Some(3100 + 7000));
    assert_eq!(acts(&mut user, 10_099), []);
    assert_eq!(acts(&mut user, 10_100), [reach(SessionStage::Over)]);
    let session = user.finish().unwrap();
    assert_eq!(session.why_over, SessionEnd::AnswersMissing);
    assert_eq!(session.user_side.user().count(), 1);
}

//! A user and a played host on the two ends of one pty: a session with nothing in between.

use fulmar_lab::judge::{GroundTruth, ObservedRun, RunVerdict};
use fulmar_lab::trace::Trace;
use fulmar_lab::typing::{Limits, SessionEnd, TypingLoop, TypingSession, run_session};
use fulmar_platform::Spawn;
use fulmar_testbed::PtyProgram;
use std::path::Path;
use std::time::Duration;

/// A shell line with a slip, a result of two pieces, an ignored key, an arrow, a late line.
const RECORDING: &[u8] = b"0 SIZE 30 5\n1000 HOST 2\n$ \n20000 USER 1\nl\n20100 HOST 1\nl\n\
    40000 USER 1\na\n40100 HOST 1\na\n50000 USER 1\n\x7f\n50100 HOST 3\n\x08 \x08\n\
    60000 USER 1\ns\n60100 HOST 1\ns\n80000 USER 1\n\r\n80100 HOST 2\n\r\n\n85000 HOST 10\nfile\r\n\x1b]0;\n\
    86000 HOST 4\nx\x07$ \n100000 USER 1\n\x07\n120000 USER 3\n\x1b[A\n120100 HOST 2\nls\n140000 USER 1\nq\n\
    140100 HOST 1\nq\n";

const LIMITS: Limits = Limits {
    keys: 300,
    time: Duration::from_secs(60),
    patience: Duration::from_secs(60),
    set_up: Duration::from_secs(60),
    pause_max: None,
};

struct Played {
    session: anyhow::Result<TypingSession>,
    host_side: Option<Trace>,
}

/// Lets somebody type `recording` to a host that plays it, and returns both sides.
fn played(recording: &[u8], user: TypingLoop, limits: Limits, options: &[&str]) -> Played {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, log) = (folder.path().join("trace"), folder.path().join("log"));
    std::fs::write(&file, recording).expect("a file");
    let trace = Trace::parse(recording).expect("a trace");
    let mut host = Spawn::new(env!("CARGO_BIN_EXE_fulmar-lab"));
    host.arg("play").arg(&file).arg("--log").arg(&log);
    for option in options {
        host.arg(*option);
    }
    let mut host = PtyProgram::start(&host, trace.size().into()).expect("a host");
    let session = run_session(&mut host, &trace, &GroundTruth::of(&trace), user, limits);
    host.close_window().expect("another pty");
    host.wait().expect("the host ends");
    Played {
        session,
        host_side: read_if_there(&log),
    }
}

fn read_if_there(log: &Path) -> Option<Trace> {
    Trace::read(log).ok()
}

fn verdict(recording: &[u8], session: &TypingSession, host_side: &Trace) -> RunVerdict {
    let run = ObservedRun {
        truth: &GroundTruth::of(&Trace::parse(recording).expect("a trace")),
        user_side: &session.user_side,
        host_side,
        one_way_delay: Duration::ZERO,
        may_predict: true,
    };
    run.judge().expect("a run of this recording")
}

#[test]
fn what_is_typed_is_played_and_judged() {
    for user in [TypingLoop::Closed, TypingLoop::Open] {
        for options in [&[][..], &["--no-stamps"]] {
            let played = played(RECORDING, user, LIMITS, options);
            let (session, host_side) = (played.session.unwrap(), played.host_side.unwrap());
            assert_eq!(
                (session.why_over, session.given_up),
                (SessionEnd::AllSeen, 0)
            );
            let verdict = verdict(RECORDING, &session, &host_side);
            assert_eq!(verdict.keys.len(), 8);
            assert_eq!(verdict.own().len(), 7, "all but the bell");
            assert!(
                verdict.own().iter().all(|own| !own.is_censored()),
                "{verdict:?}"
            );
            assert!(
                verdict.whole().iter().all(|whole| !whole.is_censored()),
                "{verdict:?}"
            );
            assert!(verdict.delivery.is_faithful() && verdict.delivery.received == 8);
            assert_eq!((verdict.wrongs.len(), verdict.differences_at_end), (0, 0));
            assert_eq!(verdict.is_stamped, options.is_empty());
        }
    }
}

#[test]
fn a_limit_ends_a_run_before_its_recording() {
    let limits = Limits { keys: 3, ..LIMITS };
    let played = played(RECORDING, TypingLoop::Closed, limits, &[]);
    let (session, host_side) = (played.session.unwrap(), played.host_side.unwrap());
    assert_eq!(session.why_over, SessionEnd::LimitReached);
    let verdict = verdict(RECORDING, &session, &host_side);
    assert_eq!((verdict.keys.len(), verdict.delivery.under_way), (3, 0));
}

#[test]
fn a_peer_that_is_no_played_host_is_not_typed_at() {
    let trace = Trace::parse(RECORDING).expect("a trace");
    let mut echo = Spawn::new("/bin/echo");
    let echo = echo.arg("no such host");
    let mut peer = PtyProgram::start(echo, trace.size().into()).expect("a program");
    let refused = run_session(
        &mut peer,
        &trace,
        &GroundTruth::of(&trace),
        TypingLoop::Open,
        LIMITS,
    )
    .unwrap_err();
    assert!(refused.to_string().contains("no such host"), "{refused}");
}

//! Logins in virtual time: lines of ssh are lost, doubled, delayed and cut anywhere, in any order of its two streams and
//! its exit.
//!
//! A login comes to one end, it shows what ssh has said once, and it never shows a key.

use std::ffi::OsStr;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_core::Capabilities;
use fulmar_datagram::Key;
use fulmar_login::{
    AddressPreference, AddressSource, BootstrapRequest, CopyLoginError, CopyService, Destination,
    Login, LoginConfig, LoginError, LoginEvent, Offer, QueryStream, RemoteService, SessionService,
    SshCommand, SshExit,
};

const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";
const SECRET: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

/// The time by which every login has come to an end whose ssh has ended.
const LIMIT: Time = Time::ZERO;

/// Something that ssh does.
#[derive(Clone, Debug)]
enum Act {
    Output(Vec<u8>),
    Errors(Vec<u8>),
    Exit(SshExit),
}

/// The answers of those who are asked besides ssh.
#[derive(Clone, Copy, Debug)]
struct Answers {
    /// The milliseconds until the version is told; none if it never is.
    version: Option<u64>,
    /// True for OpenSSH.
    is_open_ssh: bool,
    /// The milliseconds until the addresses are told; none if they never are.
    addresses: Option<u64>,
}

const PROMPT: Answers = Answers {
    version: Some(10),
    is_open_ssh: true,
    addresses: Some(20),
};

/// The outcome of one login.
#[derive(Debug, Default)]
struct Outcome {
    reachable: usize,
    failures: Vec<String>,
    shown: String,
    written: usize,
    started: usize,
    /// The number of times that ssh's input was ended.
    closed: usize,
    /// The text on standard error that was handed over before the end, to the last ssh that was started.
    errors: String,
}

impl Outcome {
    fn ends(&self) -> usize {
        self.reachable + self.failures.len()
    }
}

trait Told {
    /// Returns the text and the advice.
    fn told(&self) -> String;
}

impl Told for LoginError {
    fn told(&self) -> String {
        format!(
            "{self} {}",
            self.advice().expect("there is something to try")
        )
    }
}

impl Told for CopyLoginError {
    fn told(&self) -> String {
        match self {
            CopyLoginError::Login(failure) => failure.told(),
            CopyLoginError::NoFulmar { host, system, .. } => format!("{host} {system}"),
            CopyLoginError::NoCopyServer { host, exit } => format!("{host} {exit}"),
            CopyLoginError::Version { host, version } => format!("{host} {version}"),
        }
    }
}

/// One login in virtual time.
struct World<S: RemoteService> {
    login: Login<S>,
    now: Time,
    answers: Answers,
    /// The events that are still to come, with their times.
    coming: Vec<(Time, Coming)>,
    acts: Vec<(u64, Act)>,
    outcome: Outcome,
}

#[derive(Clone, Debug)]
enum Coming {
    Act(usize, Act),
    Version,
    Settings,
    Addresses,
}

impl<S: RemoteService> World<S>
where
    S::Error: Told,
{
    /// Has ssh do these things, each that many milliseconds after it was started.
    fn new(service: S, acts: &[(u64, Act)], answers: Answers) -> World<S> {
        let config = LoginConfig {
            ssh: SshCommand {
                words: vec!["ssh".into()],
                destination: Destination::parse(OsStr::new("ada@host")).expect("it is one"),
                family: None,
            },
            command: "command".to_owned(),
            addresses: AddressPreference::All,
            address_source: AddressSource::Proxy,
            copying: None,
        };
        World {
            login: Login::begin(LIMIT, config, service, Key::from_base64),
            now: LIMIT,
            answers,
            coming: Vec::new(),
            acts: acts.to_vec(),
            outcome: Outcome::default(),
        }
    }

    fn run(mut self) -> Outcome {
        self.drain();
        // More turns than there can be things to do.
        for _ in 0..1000 {
            let timeout = self.login.poll_timeout().map(|(at, _)| at);
            let next = self.coming.iter().map(|(at, _)| *at).min();
            let Some(at) = [timeout, next].into_iter().flatten().min() else {
                break;
            };
            self.now = self.now.max(at);
            while let Some(place) = self.coming.iter().position(|(at, _)| *at <= self.now) {
                let (_, coming) = self.coming.remove(place);
                self.hand_over(coming);
            }
            self.login.handle_timeout(self.now);
            self.drain();
        }
        self.login.release_text();
        self.drain();
        self.outcome
    }

    fn hand_over(&mut self, coming: Coming) {
        match coming {
            // Nobody hears an ssh that was ended.
            Coming::Act(ssh, _) if ssh != self.outcome.started => {}
            Coming::Act(_, Act::Output(bytes)) => self.login.handle_output(self.now, &bytes),
            Coming::Act(_, Act::Errors(bytes)) => {
                if self.outcome.ends() == 0 {
                    self.outcome.errors += &String::from_utf8_lossy(&bytes);
                }
                self.login.handle_errors(self.now, &bytes);
            }
            Coming::Act(_, Act::Exit(exit)) => self.login.handle_exit(self.now, exit),
            Coming::Version => {
                let version: &[u8] = if self.answers.is_open_ssh {
                    b"OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.19\n"
                } else {
                    b"Dropbear v2022.83\n"
                };
                self.login.handle_query_output(QueryStream::Errors, version);
                self.login.handle_query_end(true);
            }
            Coming::Settings => {
                let settings = b"host x\nhostname 192.0.2.7\n";
                self.login
                    .handle_query_output(QueryStream::Output, settings);
                self.login.handle_query_end(true);
            }
            Coming::Addresses => {
                let address = "192.0.2.7:0".parse().expect("it is an address");
                self.login.handle_addresses(Some(vec![address]));
            }
        }
    }

    fn drain(&mut self) {
        while let Some(event) = self.login.poll_event(self.now) {
            match event {
                LoginEvent::StartSsh(_) => {
                    self.outcome.started += 1;
                    self.outcome.errors.clear();
                    let (ssh, now) = (self.outcome.started, self.now);
                    let acts = self.acts.iter().cloned();
                    self.coming.extend(acts.map(|(after, act)| {
                        (now + Duration::from_millis(after), Coming::Act(ssh, act))
                    }));
                }
                LoginEvent::QuerySsh(line) => {
                    let is_version = line.iter().any(|word| word == "-V");
                    let (coming, after) = if is_version {
                        (Coming::Version, self.answers.version)
                    } else {
                        (Coming::Settings, Some(5))
                    };
                    self.schedule(after, coming);
                }
                LoginEvent::EndQuery => self
                    .coming
                    .retain(|(_, coming)| !matches!(coming, Coming::Version | Coming::Settings)),
                LoginEvent::Resolve { .. } => {
                    self.schedule(self.answers.addresses, Coming::Addresses);
                }
                LoginEvent::WriteToSsh(bytes) => self.outcome.written += bytes.len(),
                LoginEvent::CloseInput => self.outcome.closed += 1,
                LoginEvent::Show(text) | LoginEvent::Notice(text) => self.outcome.shown += &text,
                LoginEvent::Reachable(..) => self.outcome.reachable += 1,
                LoginEvent::Failed(failure) => self.outcome.failures.push(failure.told()),
                LoginEvent::EndSsh(_) | LoginEvent::Reached(_) | LoginEvent::OverSsh(_) => {}
            }
        }
    }

    fn schedule(&mut self, after: Option<u64>, coming: Coming) {
        let at = after.map(|after| self.now + Duration::from_millis(after));
        self.coming.extend(at.map(|at| (at, coming)));
    }
}

fn session() -> SessionService {
    let request = BootstrapRequest {
        start: None,
        fallback: Some("'new'".into()),
        offer: Offer::of(Capabilities::ALL),
    };
    SessionService::new(request.encode().expect("it is short"))
}

fn session_lines() -> Vec<String> {
    let connect = format!("MOSH CONNECT 60001 {KEY}");
    [
        "other-0",
        "FULMAR READY",
        "FULMAR HELLO 0.1.0",
        "MOSH SSH_CONNECTION 192.0.2.1 5 192.0.2.7 22",
        "FULMAR CONNECT 1 exit 0.1.0",
        &connect,
        "FULMAR WARNING logind",
        "FULMAR AGREED",
        "FULMAR HEARD",
        "other-1",
    ]
    .map(|line| format!("{line}\n"))
    .to_vec()
}

fn copy_lines() -> Vec<String> {
    let copy = format!("FULMAR COPY 2 60001 {SECRET}");
    [
        "other-0",
        "FULMAR READY",
        "MOSH SSH_CONNECTION 192.0.2.1 5 192.0.2.7 22",
        &copy,
        "other-1",
    ]
    .map(|line| format!("{line}\n"))
    .to_vec()
}

/// Checks the properties that every login has.
fn judge(outcome: &Outcome, name: &str) {
    // A session that is reachable may be lost before it is heard, and says so.
    assert!((1..=2).contains(&outcome.ends()), "{name}: {outcome:?}");
    assert!(
        outcome.reachable <= 1 && outcome.failures.len() <= 1,
        "{name}: {outcome:?}"
    );
    let told = outcome.shown.clone() + &outcome.failures.concat();
    for secret in [KEY, SECRET, &KEY[..8], &SECRET[..8]] {
        assert!(!told.contains(secret), "{name}: {told}");
    }
    for word in outcome.errors.split_whitespace() {
        let count = outcome.shown.matches(word).count();
        assert_eq!(count, 1, "{name}: {word} in {:?}", outcome.shown);
    }
    let most = 5 * session().request().len();
    assert!(
        outcome.written <= most * outcome.started.max(1),
        "{name}: {outcome:?}"
    );
}

const EXIT: SshExit = SshExit::Status(255);

#[test]
fn output_that_is_cut_off_anywhere_comes_to_an_end() {
    let (session_text, copy_text) = (session_lines().concat(), copy_lines().concat());
    for cut in 0..=session_text.len() {
        let acts = [
            (100, Act::Output(session_text.as_bytes()[..cut].to_vec())),
            (100, Act::Errors(b"err-0 err-1\n".to_vec())),
            (200, Act::Exit(EXIT)),
        ];
        judge(
            &World::new(session(), &acts, PROMPT).run(),
            &format!("session cut at {cut}"),
        );
    }
    for cut in 0..=copy_text.len() {
        let acts = [
            (100, Act::Errors(b"err-0 err-1\n".to_vec())),
            (100, Act::Output(copy_text.as_bytes()[..cut].to_vec())),
            (200, Act::Exit(EXIT)),
        ];
        let outcome = World::new(CopyService::default(), &acts, PROMPT).run();
        judge(&outcome, &format!("copy cut at {cut}"));
    }
}

#[test]
fn output_that_comes_in_two_parts_says_the_same() {
    let (session_text, copy_text) = (session_lines().concat(), copy_lines().concat());
    let acts = |text: &str, cut: usize, pause: u64| {
        let (first, rest) = text.as_bytes().split_at(cut);
        [
            (100, Act::Output(first.to_vec())),
            (100 + pause, Act::Output(rest.to_vec())),
        ]
    };
    for pause in [0, 1, 2500] {
        for cut in 0..=session_text.len() {
            let acts = acts(&session_text, cut, pause);
            let outcome = World::new(session(), &acts, PROMPT).run();
            assert_eq!(outcome.reachable, 1, "session cut at {cut}: {outcome:?}");
            judge(&outcome, &format!("session cut at {cut}"));
            for other in ["other-0", "other-1", "logind"] {
                assert_eq!(
                    outcome.shown.matches(other).count(),
                    1,
                    "{cut}: {outcome:?}"
                );
            }
        }
        for cut in 0..=copy_text.len() {
            let acts = acts(&copy_text, cut, pause);
            let outcome = World::new(CopyService::default(), &acts, PROMPT).run();
            assert_eq!(outcome.reachable, 1, "copy cut at {cut}: {outcome:?}");
            judge(&outcome, &format!("copy cut at {cut}"));
        }
    }
}

/// A generator of numbers that follow from a seed (xorshift, Marsaglia 2003).
struct Seed(u64);

impl Seed {
    fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).expect("it is less than the bound")
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A script in which lines are lost, doubled, delayed, and cut off, and the streams and the exit come in any order.
fn script(seed: &mut Seed, lines: &[String]) -> Vec<(u64, Act)> {
    let mut acts = Vec::new();
    let mut output = String::new();
    for line in lines {
        match seed.below(12) {
            0 => {}
            1 => output += &line.repeat(2),
            2 => output += &line.replace('\n', "\r\n"),
            _ => output += line,
        }
    }
    if seed.below(8) == 0 {
        output.truncate(seed.index(output.len() + 1));
    }
    if seed.below(20) == 0 {
        output.insert_str(0, &"noise\n".repeat(20_000));
    }
    let mut at = seed.below(500);
    let mut rest = output.as_bytes();
    while !rest.is_empty() {
        let length = 1 + seed.index(if rest.len() > 4000 { 4096 } else { 60 });
        let (piece, left) = rest.split_at(length.min(rest.len()));
        acts.push((at, Act::Output(piece.to_vec())));
        rest = left;
        at += [0, 1, 300, 4000][seed.index(4)];
    }
    let mut at_errors = seed.below(500);
    for number in 0..seed.below(6) {
        let end = ["\n", " ", "\r\n"][seed.index(3)];
        let text = format!("err-{number}-{end}");
        acts.push((at_errors, Act::Errors(text.into_bytes())));
        at_errors += seed.below(2000);
    }
    let exit = [
        EXIT,
        SshExit::Status(0),
        SshExit::Status(127),
        SshExit::Signal(9),
    ];
    let exit = exit[seed.index(4)];
    let last = at.max(at_errors) + seed.below(20_000);
    acts.push((last, Act::Exit(exit)));
    acts
}

#[test]
fn whatever_happens_a_login_comes_to_one_end() {
    let (session_lines, copy_lines) = (session_lines(), copy_lines());
    for number in 1..=500_u64 {
        let mut seed = Seed(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let answers = Answers {
            version: [Some(5), Some(900), None][seed.index(3)],
            is_open_ssh: seed.below(4) > 0,
            addresses: [Some(5), Some(2900), None][seed.index(3)],
        };
        let acts = script(&mut seed, &session_lines);
        let name = format!("session of seed {number}");
        judge(&World::new(session(), &acts, answers).run(), &name);
        let acts = script(&mut seed, &copy_lines);
        let name = format!("copy of seed {number}");
        judge(
            &World::new(CopyService::default(), &acts, answers).run(),
            &name,
        );
    }
}

#[test]
fn an_ssh_that_does_not_know_our_words_is_started_again_without_them() {
    let acts = [
        (5, Act::Errors(b"usage-0\n".to_vec())),
        (6, Act::Exit(SshExit::Status(1))),
    ];
    let answers = Answers {
        is_open_ssh: false,
        ..PROMPT
    };
    let outcome = World::new(session(), &acts, answers).run();
    assert_eq!((outcome.started, outcome.reachable), (2, 0));
    // What the first one said was about words that it does not know.
    assert_eq!(outcome.shown.matches("usage-0").count(), 1, "{outcome:?}");
    judge(&outcome, "dropbear");
}

#[test]
fn a_server_that_says_hello_and_no_more_is_given_up_after_fifteen_seconds() {
    let hello = b"FULMAR READY\nFULMAR HELLO 0.1.0\n".to_vec();
    let mut world = World::new(session(), &[(100, Act::Output(hello))], PROMPT);
    world.drain();
    let outcome = world.run();
    let [failure] = outcome.failures.as_slice() else {
        panic!("{outcome:?}");
    };
    assert!(
        failure.contains("for 15 seconds") || failure.contains("15 seconds that"),
        "{failure}"
    );
    // Silence was told before.
    assert!(outcome.shown.contains("for 10 seconds"), "{outcome:?}");
}

#[test]
fn a_server_that_loses_its_login_before_it_is_heard_is_given_up() {
    let lines = session_lines();
    let text: String = lines.iter().take(8).map(String::as_str).collect();
    let acts = [
        (100, Act::Output(text.into_bytes())),
        (500, Act::Exit(EXIT)),
    ];
    let outcome = World::new(session(), &acts, PROMPT).run();
    assert_eq!(
        (outcome.reachable, outcome.failures.len()),
        (1, 1),
        "{outcome:?}"
    );
}

#[test]
fn a_remote_end_is_not_kept_waiting_for_addresses_that_never_come() {
    let answers = Answers {
        addresses: None,
        ..PROMPT
    };
    let text = copy_lines().concat().into_bytes();
    let outcome = World::new(CopyService::default(), &[(100, Act::Output(text))], answers).run();
    assert_eq!(outcome.reachable, 1, "{outcome:?}");
}

/// Lets ten seconds pass in a login that ssh has handed on, once what comes meanwhile has come.
fn silent_after<S: RemoteService>(service: S, output: &[u8]) -> Outcome
where
    S::Error: Told,
{
    let mut world = World::new(service, &[], PROMPT);
    world.drain();
    world.login.handle_input_drained(world.now);
    world.login.handle_output(world.now, output);
    world.now += Duration::from_secs(10);
    world.run()
}

#[test]
fn a_shell_that_may_wait_for_the_end_of_its_input_gets_it_once() {
    let copy = || CopyService::new("sh -c x", None);
    for noise in [&b""[..], b"Welcome\n"] {
        for outcome in [silent_after(session(), noise), silent_after(copy(), noise)] {
            assert_eq!(outcome.closed, 1, "{outcome:?}");
            assert_eq!(outcome.shown.matches("exec fish").count(), 1, "{outcome:?}");
        }
    }
    for outcome in [
        silent_after(session(), b"FULMAR READY\n"),
        silent_after(session(), b"FULMAR HELLO 0.1.0\n"),
        silent_after(copy(), b"FULMAR READY\n"),
    ] {
        assert_eq!(outcome.closed, 0, "{outcome:?}");
    }
}

#[test]
fn what_was_kept_back_is_shown_when_the_user_stops_it() {
    let acts = [(1, Act::Errors(b"err-0\n".to_vec()))];
    let answers = Answers {
        version: None,
        ..PROMPT
    };
    let mut world = World::new(session(), &acts, answers);
    world.drain();
    world.hand_over(Coming::Act(1, acts[0].1.clone()));
    world.drain();
    assert_eq!(world.outcome.shown, "");
    world.login.handle_stop();
    world.drain();
    assert_eq!(world.outcome.shown, "err-0\n");
}

#[test]
fn one_who_writes_without_end_is_not_read_any_more() {
    let mut world = World::new(session(), &[], PROMPT);
    world.drain();
    let noise = b"x\n".repeat(2048);
    let turns = (1..).take_while(|_| {
        world.login.handle_output(world.now, &noise);
        world.login.wants_output()
    });
    assert_eq!(turns.count(), 16, "64 KiB");
    world.login.handle_output(world.now, &noise);
    world.drain();
    assert_eq!(world.outcome.failures.len(), 1);
    assert_eq!(world.outcome.shown.len(), 64 * 1024);
}

#[test]
fn an_answer_without_end_is_not_read_any_more() {
    let mut world = World::new(session(), &[], PROMPT);
    world.drain();
    assert!(world.login.wants_query_output(), "its version is asked for");
    let noise = b"x\n".repeat(2048);
    let turns = (0..).take_while(|_| {
        world.login.handle_query_output(QueryStream::Output, &noise);
        world.login.wants_query_output()
    });
    assert_eq!(turns.count(), 64, "256 KiB");
}

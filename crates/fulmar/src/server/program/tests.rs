use fulmar_base::{Ecn, PathId};
use fulmar_core::{
    Agreement, Capabilities, Client, ClientConfig, ClientEnding, ClientEvent, ServerConfig,
    ServerEvent,
};
use fulmar_datagram::Key;
use fulmar_login::TerminalColors;
use fulmar_platform::Poller;
use fulmar_settings::Environment;
use fulmar_transport::Arrival;
use fulmar_transport::limits::TURN_WORK_MAX;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::*;

const PATH: PathId = PathId::new(1);

fn ms(millis: u64) -> Time {
    Time::from_origin(Duration::from_millis(millis))
}

fn arrival(bytes: &[u8]) -> Arrival<'_> {
    Arrival {
        path: PATH,
        ecn: Ecn::NotCapable,
        bytes,
    }
}

/// A program, its server, and a client that both have agreed on everything with.
struct Session {
    program: Program,
    server: Server,
    client: Client,
}

impl Session {
    /// Starts a shell that does that.
    fn of(script: &str) -> Session {
        let key = || Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").expect("a key");
        let agreement = Some(Agreement::of(b"offer", b"answer", Capabilities::ALL));
        let server = ServerConfig {
            agreement,
            ..ServerConfig::new(key(), [1; 32])
        };
        let client = ClientConfig {
            agreement,
            ..ClientConfig::new(key(), [2; 32])
        };
        let command = ["sh", "-c", script].map(Into::into);
        let environment: Environment = [("PATH", "/usr/bin:/bin")].into_iter().collect();
        let shell = Shell::new(&command, environment, None, TerminalColors::Palette);
        let mut session = Session {
            program: Program::of_test(shell),
            server: Server::new(ms(0), server),
            client: Client::new(ms(0), client),
        };
        session.client.handle_path_opened(ms(0), PATH);
        session.exchange(ms(0));
        let size = std::iter::from_fn(|| session.server.poll_event())
            .find_map(|event| match event {
                ServerEvent::StartShell { size } => Some(size),
                _ => None,
            })
            .expect("the client is there");
        session.program.start(ms(0), size, &mut session.server);
        session
    }

    /// Passes on what both have to say at that time.
    fn exchange(&mut self, now: Time) {
        self.client.handle_timeout(now);
        self.server.handle_timeout(now);
        let mut out = Vec::new();
        while let Some(sent) = self.client.poll_transmit(now, &mut out) {
            for bytes in sent.split(&out) {
                let _ = self.server.handle_datagram(now, arrival(bytes));
            }
        }
        while let Some(sent) = self.server.poll_transmit(now, &mut out) {
            for bytes in sent.split(&out) {
                let _ = self.client.handle_datagram(now, arrival(bytes));
            }
        }
    }

    /// Waits for the program's terminal, and returns what it is ready for.
    fn wait(&self, limit: Option<Duration>) -> Option<Readiness> {
        let mut poller = Poller::new();
        let waited = poller.wait(limit, |registry| {
            self.program.register(registry, &self.server);
        });
        waited.expect("poll works");
        poller.ready().next().map(|(_, readiness)| readiness)
    }

    /// Reads until the program has closed its terminal.
    fn read_to_the_end(&mut self) {
        while let ProgramStage::Running { .. } = self.program.stage {
            let ready = self.wait(None);
            self.program
                .read(ms(100), ready, TURN_WORK_MAX, &mut self.server);
        }
    }

    fn pid(&self) -> Pid {
        let (ProgramStage::Running { child, .. } | ProgramStage::Closed { child, .. }) =
            &self.program.stage
        else {
            panic!("it is {:?}", self.program.stage);
        };
        Pid::from_raw(child.pid() as i32).expect("a process has a number")
    }

    /// Lets the session end, and returns what the client has learnt.
    fn status(&mut self) -> Option<ExitStatus> {
        let mut now = ms(1000);
        loop {
            self.exchange(now);
            while let Some(event) = self.client.poll_event() {
                if let ClientEvent::Ended(ending) = event {
                    assert_eq!(ending, ClientEnding::ServerEnded);
                    return self.client.exit_status();
                }
            }
            now += Duration::from_millis(250);
        }
    }
}

/// Closes its terminal, and stops before it ends.
const CLOSES_AND_STOPS: &str = "exec <&- >&- 2>&-; kill -STOP $$; exit 8";

#[test]
fn a_program_that_has_closed_its_terminal_has_its_time_to_end() {
    let mut session = Session::of(CLOSES_AND_STOPS);
    session.read_to_the_end();
    assert_eq!(session.program.deadline(), Some(ms(350)));
    session.program.handle_timeout(ms(349), &mut session.server);
    session.program.reap(ms(349), &mut session.server);
    while session.program.deadline().is_some() {
        // It may not have stopped yet.
        kill_process(session.pid(), Signal::CONT).expect("nobody has reaped it");
        session.program.reap(ms(349), &mut session.server);
        std::thread::yield_now();
    }
    assert_eq!(session.status(), Some(ExitStatus::Code(8)));
}

#[test]
fn a_program_that_goes_on_without_its_terminal_is_left_after_250_ms() {
    let mut session = Session::of(CLOSES_AND_STOPS);
    session.read_to_the_end();
    session.program.handle_timeout(ms(350), &mut session.server);
    assert_eq!(session.program.deadline(), None);
    assert_eq!(session.status(), None);
}

#[test]
fn a_program_that_could_not_be_started_has_a_status_once_that_was_shown() {
    let mut session = Session::of("");
    let unstarted = Unstarted {
        reason: "running it".to_owned(),
        advice: "",
        status: NOT_FOUND,
    };
    session.program.fail(ms(0), &unstarted, &mut session.server);
    session
        .program
        .handle_timeout(ms(2999), &mut session.server);
    assert_eq!(session.program.deadline(), Some(ms(3000)));
    session
        .program
        .handle_timeout(ms(3000), &mut session.server);
    assert_eq!(session.status(), Some(ExitStatus::Code(127)));
}

/// Ends, and leaves something behind that has its terminal for as long as that file is there.
fn leaves_something_behind(file: &std::path::Path) -> String {
    let file = file.display();
    format!("(trap '' HUP; while [ -e {file} ]; do sleep 0.1; done) & exit 6")
}

#[test]
fn what_a_program_has_left_behind_keeps_its_terminal_for_250_ms() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let mut session = Session::of(&leaves_something_behind(file.path()));
    let has_ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(session.pid()), has_ended).expect("it is our child");
    session.program.reap(ms(100), &mut session.server);
    session.program.reap(ms(200), &mut session.server);
    assert_eq!(session.program.deadline(), Some(ms(350)));
    session.program.handle_timeout(ms(349), &mut session.server);
    assert!(matches!(
        session.program.stage,
        ProgramStage::Running { .. }
    ));
    session.program.handle_timeout(ms(350), &mut session.server);
    assert_eq!(session.program.deadline(), None);
    assert_eq!(session.status(), Some(ExitStatus::Code(6)));
}

#[test]
fn a_server_that_is_told_to_end_says_that_it_hangs_up() {
    let mut session = Session::of("exec sleep 1000");
    session.program.condemn(ms(100), &mut session.server);
    let request = fulmar_core::ExitRequest::Now;
    session.server.request_exit(ms(100), request);
    assert_eq!(session.status(), Some(ExitStatus::Signal(1)));
    session.program.end();
}

/// Long enough for a real program on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

impl Session {
    /// Has the program read and write until the client has that on its screen.
    fn run_until_shown(&mut self, now: &mut Time, wanted: &str) {
        let began = std::time::Instant::now();
        while !self.is_shown(wanted) {
            assert!(began.elapsed() < PATIENCE, "{wanted} is never shown");
            let ready = self.wait(Some(Duration::from_millis(1)));
            self.program
                .read(*now, ready, TURN_WORK_MAX, &mut self.server);
            self.program.write(*now, &mut self.server);
            *now += Duration::from_millis(20);
            self.exchange(*now);
        }
    }

    /// Has the program's keys written, and nothing of it read, until something is so.
    fn write_until(&mut self, now: &mut Time, is_so: impl Fn(&Session) -> bool) {
        let began = std::time::Instant::now();
        while !is_so(self) {
            assert!(began.elapsed() < PATIENCE, "it never is");
            self.exchange(*now);
            self.program.write(*now, &mut self.server);
            *now += Duration::from_millis(20);
            std::thread::yield_now();
        }
    }

    fn echoes(&self) -> bool {
        let ProgramStage::Running { master, .. } = &self.program.stage else {
            panic!("it is {:?}", self.program.stage);
        };
        master.discipline().expect("the system tells it").has_echo
    }

    fn is_shown(&self, wanted: &str) -> bool {
        self.client.screen().rows().any(|row| {
            let mut text = String::new();
            row.push_text(&mut text);
            text.contains(wanted)
        })
    }
}

#[test]
fn the_client_is_told_what_the_terminal_is_set_to() {
    let mut session =
        Session::of("stty -echo; echo hidden; read -r x; stty echo; echo visible; read -r x");
    let mut now = ms(100);
    session.run_until_shown(&mut now, "hidden");
    let hints = session.client.hints().expect("they were told");
    assert!(hints.canonical && !hints.echo);
    // It runs what it was given, and edits no lines.
    assert_eq!(hints.class, fulmar_predict::ProgramClass::Other);
    assert_ne!(hints.program, 0);
    session.client.handle_keys(now, b"\r");
    session.run_until_shown(&mut now, "visible");
    assert!(session.client.hints().expect("they were told").echo);
    session.program.end();
}

#[test]
fn what_changes_without_a_word_is_told_when_a_key_is_written() {
    let mut session = Session::of("echo asks; read -r x; stty -echo; read -r x");
    let mut now = ms(100);
    session.run_until_shown(&mut now, "asks");
    assert!(session.client.hints().expect("they were told").echo);
    session.client.handle_keys(now, b"\r");
    // Nothing is read meanwhile, so that nothing else is a reason to look.
    session.write_until(&mut now, |session| !session.echoes());
    assert!(session.client.hints().expect("they were told").echo);
    session.client.handle_keys(now, b"s");
    session.write_until(&mut now, |session| {
        session.client.hints().is_some_and(|hints| !hints.echo)
    });
    session.program.end();
}

#[test]
fn what_changes_without_a_word_is_told_though_nothing_is_written() {
    let mut session = Session::of("echo asks; read -r x; stty -echo; read -r x");
    let mut now = ms(100);
    session.run_until_shown(&mut now, "asks");
    // What the client says of its terminal has arrived.
    for _ in 0..10 {
        now += Duration::from_millis(20);
        session.exchange(now);
    }
    session.client.handle_keys(now, b"\r");
    session.exchange(now);
    session.program.write(now, &mut session.server);
    let began = std::time::Instant::now();
    while session.echoes() {
        assert!(began.elapsed() < PATIENCE, "it always does");
        std::thread::yield_now();
    }
    assert!(session.client.hints().expect("they were told").echo);
    // Other reasons to wake up do not count.
    for _ in 0..100 {
        let due = session.server.poll_timeout().filter(|(at, _)| *at <= now);
        if let Some((_, fulmar_core::Wake::Tty)) = due {
            session.program.look(now, &mut session.server);
        }
        session.exchange(now);
        now += Duration::from_millis(20);
    }
    assert!(!session.client.hints().expect("they were told").echo);
    session.program.end();
}

#[test]
fn a_process_that_becomes_another_program_without_a_word_is_noticed() {
    let mut session = Session::of("echo asks; read -r x; exec cat");
    let mut now = ms(100);
    session.run_until_shown(&mut now, "asks");
    let told = |session: &Session| session.client.hints().expect("they were told").program;
    let shell = told(&session);
    session.client.handle_keys(now, b"\r");
    let began = std::time::Instant::now();
    while told(&session) == shell {
        assert!(began.elapsed() < PATIENCE, "it is never told");
        session.exchange(now);
        session.program.write(now, &mut session.server);
        // As for the echo ack and for frames.
        session.program.look(now, &mut session.server);
        now += Duration::from_millis(20);
        std::thread::yield_now();
    }
    session.program.end();
}

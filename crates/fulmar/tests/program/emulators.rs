//! Real terminal emulators keep of a session that is drawn on their main screen what they keep of its program.
//!
//! The test hands the lines that have left to the client by itself, some of them late.

use std::process::{Command, Stdio};
use std::time::Duration;

use fulmar_base::{Ecn, PathId, Time};
use fulmar_core::{
    Agreement, Capability, Client, ClientConfig, ForegroundProgram, HistoryItem, OuterTerminal,
    Server, ServerConfig, TtyState,
};
use fulmar_datagram::Key;
use fulmar_terminal::{ScrollbackLimits, Size, Terminal, Vocabulary, unpack_line};
use fulmar_testbed::peers;
use fulmar_transport::{Arrival, Transmit};
use tempfile::TempDir;

const COLUMNS: u16 = 60;
const ROWS: u16 = 15;

fn size() -> Size {
    Size::new(ROWS, COLUMNS).expect("small")
}

/// Returns the output of programs, in pieces each of which is on the screen before the next begins. The last one fills the screen,
/// so that all others are above it.
fn outputs() -> Vec<String> {
    let numbers = (1..=500).map(|number| format!("{number}\r\n")).collect();
    let colours = (0..40).map(|n| {
        format!(
            "\x1b[3{};4{}mcoloured {n}\x1b[m plain\r\n",
            n % 8,
            (n + 3) % 8
        )
    });
    let wide = (0..20).map(|n| format!("{}漢字の端{n}\r\n", "x".repeat(50 + n % 8)));
    let progress = (0..=100).map(|n| format!("\r\x1b[Kbuilding {n}/100"));
    let mut outputs: Vec<String> = vec![
        "$ seq 500\r\n".to_owned(),
        numbers,
        "$ long\r\n".to_owned(),
        format!("{}\r\n", "0123456789".repeat(100)),
        format!(
            "{}\r\n$ colours\r\n",
            "exactly as wide as the window ".repeat(2)
        ),
        colours.collect(),
        wide.collect(),
        // A line of ten rows makes place for short ones.
        format!("{}{}\r\n", "short\r\n".repeat(15), "0123456789".repeat(60)),
        format!("\x1b[5H\x1b[J{}", "short again\r\n".repeat(8)),
    ];
    outputs.extend(progress);
    outputs.extend([
        "\r\n$ ls\r\n".to_owned(),
        // Where a screen that is hidden begins in the middle of a line, tmux cuts the line there.
        (0..ROWS).map(|n| format!("file{n}\r\n")).collect(),
        "$ vim\r\n".to_owned(),
        "\x1b[?1049h\x1b[H\x1b[2Ja full screen\r\n~\r\n~".to_owned(),
        "\x1b[15;1H:q".to_owned(),
        "\x1b[?1049l$ less -X\r\n".to_owned(),
        (0..14).map(|n| format!("page {n}\x1b[K\r\n")).collect(),
        "\x1b[7m(END)\x1b[m".to_owned(),
        "\r\x1b[K\x1b[H\x1bMabove\x1b[K\x1b[15;1H:\x1b[K".to_owned(),
        "\r\x1b[K$ assistant\r\n".to_owned(),
    ]);
    // Text above a box that is drawn anew below it each time.
    outputs.push("┌───┐\r\n│   │\r\n└───┘\x1b[2A\r".to_owned());
    outputs.extend((0..30).map(|n| {
        format!("\x1b[Aanswer {n}\x1b[K\r\n\x1b[J\r\n┌───┐\r\n│ {n:<2}│\r\n└───┘\x1b[2A\r")
    }));
    outputs.push("\x1b[3B\r\n$ no line end".to_owned());
    outputs.push("\r\nlast\r\n".repeat(usize::from(ROWS)));
    outputs
}

/// A session without a network, and the bytes that its client has written.
struct Session {
    now: Time,
    client: Client,
    server: Server,
    lines: Terminal,
    pushed: u64,
    written: Vec<u8>,
}

impl Session {
    fn new() -> Session {
        let now = Time::ZERO;
        let key = || Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").expect("22 characters of base64");
        let capabilities = [Capability::Hints, Capability::Rich].into_iter().collect();
        let agreement = Some(Agreement::of(b"offer", b"answer", capabilities));
        let mut client = Client::new(
            now,
            ClientConfig {
                agreement,
                size: size(),
                keeps_history: true,
                outer: OuterTerminal {
                    vocabulary: Vocabulary {
                        palette: false,
                        keyboard: false,
                        ..Vocabulary::FULL
                    },
                    enter: b"\x1b[?1049h".to_vec(),
                    exit: b"\x1b[?1049l".to_vec(),
                    ..OuterTerminal::default()
                },
                ..ClientConfig::new(key(), [1; 32])
            },
        );
        client.handle_path_opened(now, PathId::new(0));
        let config = ServerConfig {
            agreement,
            ..ServerConfig::new(key(), [2; 32])
        };
        let mut lines = Terminal::new(size());
        lines.keep_history(ScrollbackLimits::default());
        let mut session = Session {
            now,
            client,
            server: Server::new(now, config),
            lines,
            pushed: 0,
            written: Vec::new(),
        };
        session.exchange();
        session
    }

    /// Lets time pass until both ends have the same.
    fn exchange(&mut self) {
        let mut buffer = Vec::new();
        for _ in 0..60 {
            self.now += Duration::from_millis(10);
            self.client.handle_timeout(self.now);
            self.server.handle_timeout(self.now);
            while let Some(transmit) = self.client.poll_transmit(self.now, &mut buffer) {
                for bytes in pieces(&transmit, &buffer) {
                    self.server.handle_datagram(self.now, arrival(bytes));
                }
            }
            while self.server.poll_event().is_some() {}
            let taken = self.server.pty_input().len();
            self.server.pty_taken(self.now, taken);
            while let Some(transmit) = self.server.poll_transmit(self.now, &mut buffer) {
                for bytes in pieces(&transmit, &buffer) {
                    let _ = self.client.handle_datagram(self.now, arrival(bytes));
                }
            }
            while self.client.poll_event().is_some() {}
        }
    }

    fn run(&mut self, output: &str) {
        let taken = self
            .server
            .handle_pty_output(self.now, output.as_bytes(), u64::MAX);
        assert_eq!(taken, output.len());
        let tty = TtyState {
            is_canonical: true,
            has_echo: true,
            program: None::<ForegroundProgram<'_>>,
        };
        self.server.handle_tty(self.now, tty);
        self.lines.process(output.as_bytes());
        self.exchange();
    }

    /// Has all lines arrive but for the last few, and draws.
    fn draw(&mut self, lag: u64) {
        let history = self.lines.history().expect("it is kept");
        let end = history.end().saturating_sub(lag);
        for number in self.pushed..end {
            let mut line = Vec::new();
            assert!(history.read(number, &mut line));
            let rows = unpack_line(&line, COLUMNS).expect("a line");
            self.client.push_history(HistoryItem::Line { number, rows });
        }
        self.pushed = self.pushed.max(end);
        self.client.draw(self.now, &mut self.written);
    }
}

fn pieces<'a>(transmit: &Transmit, buffer: &'a [u8]) -> Vec<&'a [u8]> {
    transmit.split(buffer).collect()
}

fn arrival(bytes: &[u8]) -> Arrival<'_> {
    Arrival {
        path: PathId::new(0),
        ecn: Ecn::NotCapable,
        bytes,
    }
}

/// Returns what a client writes of a session with these outputs, line after line `lag` late.
fn written(lag: u64) -> Vec<u8> {
    let mut session = Session::new();
    session.draw(0);
    for output in outputs() {
        session.run(&output);
        session.draw(lag);
    }
    session.draw(0);
    session.client.leave(&mut session.written);
    session.written
}

/// Has an emulator show `bytes`, and returns all rows that it has then, those of one line joined if it can tell.
type Keep = fn(&[u8]) -> String;

fn in_tmux(bytes: &[u8]) -> String {
    // Of its own: a server that has been told to end may still be there.
    let folder = TempDir::with_prefix("fulmar-test-").expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("bytes"), bytes).expect("a file");
    let settings =
        "set -g history-limit 9999\nset -g status off\nset -g default-terminal screen-256color\n";
    std::fs::write(folder.join("conf"), settings).expect("a file");
    let tmux = |arguments: &[&str]| {
        let mut command = Command::new("tmux");
        command
            .current_dir(folder)
            .env("LC_ALL", "C.UTF-8")
            .env_remove("TMUX");
        command.args(["-S", "socket", "-f", "conf"]).args(arguments);
        let output = command.stdin(Stdio::null()).output().expect("tmux runs");
        assert!(output.status.success(), "{arguments:?} {output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let (columns, rows) = (COLUMNS.to_string(), ROWS.to_string());
    // The title comes behind everything else.
    let shows = "stty raw -echo; cat bytes; printf '\\033]2;shown\\007'; exec sleep 600";
    tmux(&["new-session", "-d", "-x", &columns, "-y", &rows, shows]);
    while tmux(&["display-message", "-p", "#{pane_title}"]).trim() != "shown" {
        std::thread::sleep(Duration::from_millis(20));
    }
    let kept = tmux(&["capture-pane", "-p", "-e", "-J", "-S", "-"]);
    tmux(&["kill-server"]);
    kept
}

fn in_xterm(bytes: &[u8]) -> String {
    let folder = TempDir::with_prefix("fulmar-test-").expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("bytes"), bytes).expect("a file");
    // It prints its saved lines and its screen when it is asked to. At first it has no window to scroll in.
    let shows =
        "stty raw -echo; sleep 1; cat bytes; sleep 1; printf '\\033[?11i'; sleep 1; stty sane";
    let mut command = Command::new("xvfb-run");
    command.current_dir(folder).env("LC_ALL", "C.UTF-8");
    command.args(["-a", "xterm", "-u8", "-geometry"]);
    command.arg(format!("{COLUMNS}x{ROWS}"));
    for resource in [
        "saveLines: 9999",
        "printerCommand: cat > kept",
        "printAttributes: 0",
        "printFileImmediate: ",
    ] {
        command.arg("-xrm").arg(format!("XTerm*{resource}"));
    }
    let output = command.args(["-e", shows]).stdin(Stdio::null()).output();
    let output = output.expect("xvfb-run runs");
    let kept = std::fs::read(folder.join("kept"));
    let kept = kept.unwrap_or_else(|error| panic!("{error}: {output:?}"));
    String::from_utf8_lossy(&kept).into_owned()
}

/// Returns the lines without what is blank at the end of each and of all.
fn lines(kept: &str) -> Vec<String> {
    let mut lines: Vec<String> = kept
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Compares what an emulator keeps, from the last line on. Of the first lines, `unseen` may be missing in what it tells.
fn keeps_the_same(keep: Keep, unseen: usize) {
    for lag in [0, 3, 200] {
        let direct = lines(&keep(outputs().concat().as_bytes()));
        assert!(direct.len() > 600, "{direct:#?}");
        let kept = lines(&keep(&written(lag)));
        for (number, (kept, direct)) in kept.iter().rev().zip(direct.iter().rev()).enumerate() {
            assert_eq!(kept, direct, "line {number} from the last, {lag} late");
        }
        assert!(kept.len().abs_diff(direct.len()) <= unseen, "{lag} late");
    }
}

#[test]
fn tmux_keeps_of_a_session_what_it_keeps_of_its_program() {
    if peers::require("tmux").is_some() {
        keeps_the_same(in_tmux, 0);
    }
}

#[test]
fn xterm_keeps_of_a_session_what_it_keeps_of_its_program() {
    let needed = ["xterm", "xvfb-run", "xauth"];
    if needed
        .iter()
        .all(|program| peers::require(program).is_some())
    {
        // Behind an alternate screen it does not print the oldest few.
        keeps_the_same(in_xterm, usize::from(ROWS));
    }
}

#[test]
fn lines_of_a_real_session_are_above_in_tmux_if_that_is_wanted() {
    if peers::require("tmux").is_none() {
        return;
    }
    let folder = TempDir::with_prefix("fulmar-test-").expect("a folder");
    let tmux = |arguments: &[&str]| {
        let mut command = Command::new("tmux");
        let command = command.current_dir(&folder).env("LC_ALL", "C.UTF-8");
        let command = command.env("HOME", folder.path()).env_remove("TMUX");
        let output = command.args(["-S", "socket"]).args(arguments).output();
        String::from_utf8(output.expect("tmux runs").stdout).expect("text")
    };
    let ours = env!("CARGO_BIN_EXE_fulmar");
    let session = format!(
        "echo before; {ours} --local --scrollback -- sh -c 'seq 300; read x; echo last'; \
         tmux -S socket wait-for -S over; exec sleep 600"
    );
    tmux(&["new-session", "-d", "-x", "60", "-y", "15", &session]);
    let kept = || lines(&tmux(&["capture-pane", "-p", "-S", "-"]));
    let numbers: Vec<String> = (1..=300).map(|number| number.to_string()).collect();
    let mut looks = 0;
    while !kept().windows(300).any(|lines| lines == numbers) {
        looks += 1;
        assert!(looks < 300, "{:#?}", kept());
        std::thread::sleep(Duration::from_millis(100));
    }
    tmux(&["send-keys", "Enter"]);
    tmux(&["wait-for", "over"]);
    let kept = kept();
    tmux(&["kill-server"]);
    assert_eq!(kept.first().map(String::as_str), Some("before"));
    assert_eq!(kept[1..=300], numbers);
    assert!(kept.contains(&"last".to_owned()), "{kept:#?}");
}

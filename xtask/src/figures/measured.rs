//! What is measured: one function per figure, each about one run of one pair of programs.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use fulmar_platform::Spawn;

use super::played::{self, DONE, Program, READY};
use super::programs::Programs;
use super::session::{Session, Verdict};
use super::terminal::Terminal;

/// The values of one run in the order of the figure's quantities; `None` where there is none.
pub(super) type Values = Vec<Option<f64>>;

/// The text of the throughput figure.
const TEXT_BYTES: usize = 200_000_000;
/// Ten times what stock takes, on a slow machine.
const TEXT_LIMIT: Duration = Duration::from_secs(300);

/// How long an idle session is left alone before and while it is watched.
const SETTLE: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(60);

/// Longer than any of the programs that end by themselves.
const PLAY_LIMIT: Duration = Duration::from_secs(60);

const PASTE_BYTES: usize = 8_000_000;
/// Far longer than a paste ought to take.
const PASTE_LIMIT: Duration = Duration::from_secs(60);

const OUTAGE_KEYS: usize = 3000;
const OUTAGE: Duration = Duration::from_secs(60);
/// After the end of an outage.
const CATCH_UP_LIMIT: Duration = Duration::from_secs(60);

const MEGABYTE: f64 = 1e6;

/// MB a second of `cat` in a session, and of the same in a terminal whose output nobody looks at.
pub(super) fn throughput(programs: &Programs, folder: &Path) -> Result<Values> {
    let file = folder.join("text");
    if !file.exists() {
        played::write_text(&file, TEXT_BYTES)?;
    }
    let program = Program::Cat { file };
    let mut session = Session::start(programs, &program)?;
    let started = Instant::now();
    session.begin();
    let verdict = session.verdict(TEXT_LIMIT)?;
    let took = started.elapsed();
    drop(session);
    let rate = |took: Duration| TEXT_BYTES as f64 / MEGABYTE / took.as_secs_f64();
    let in_session = (verdict == Verdict::Done).then(|| rate(took));
    Ok(vec![in_session, bare_terminal(&program)?.map(rate)])
}

/// How long the program takes in a terminal of its own, whose output is read and thrown away.
fn bare_terminal(program: &Program) -> Result<Option<Duration>> {
    let words = program.command_line()?;
    let Some((name, arguments)) = words.split_first() else {
        bail!("no program")
    };
    let mut command = Spawn::new(name);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    for argument in arguments {
        command.arg(argument);
    }
    let mut terminal = Terminal::start(&command)?;
    terminal.wait_for(&[READY], PLAY_LIMIT)?;
    let started = Instant::now();
    terminal.type_keys(b" ");
    let ended = terminal.wait_for(&[DONE], TEXT_LIMIT)?;
    Ok(ended.map(|_| started.elapsed()))
}

/// Memory, processor time and datagrams of a session in which nothing happens.
pub(super) fn idle(programs: &Programs, _: &Path) -> Result<Values> {
    let mut session = Session::start(programs, &Program::Idle)?;
    session.terminal.rest(SETTLE)?;
    let ends = [session.server, session.client];
    let mut before = Vec::new();
    for end in ends {
        before.push(end.processor_time()?);
    }
    let passed_before = session.relay.passed();
    session.terminal.rest(IDLE)?;
    let passed = session.relay.passed();

    let mut values = Values::new();
    for end in ends {
        values.push(Some(end.resident_bytes()? as f64 / MEGABYTE));
    }
    for (end, before) in ends.into_iter().zip(before) {
        let spent = end.processor_time()?.saturating_sub(before);
        values.push(Some(spent.as_secs_f64() * 3600.0 / IDLE.as_secs_f64()));
    }
    let passed: Vec<_> = passed
        .iter()
        .zip(passed_before)
        .map(|(after, before)| after.since(before))
        .collect();
    values.extend(passed.iter().map(|passed| Some(passed.datagrams as f64)));
    values.extend(passed.iter().map(|passed| Some(passed.bytes as f64)));
    Ok(values)
}

/// Kilobytes to the client and to the server while a full-screen program runs.
pub(super) fn full_screen(programs: &Programs, _: &Path) -> Result<Values> {
    traffic_of(programs, &Program::FullScreen)
}

/// Kilobytes to the client and to the server while `yes` floods.
pub(super) fn yes(programs: &Programs, _: &Path) -> Result<Values> {
    traffic_of(programs, &Program::Yes)
}

fn traffic_of(programs: &Programs, program: &Program) -> Result<Values> {
    let mut session = Session::start(programs, program)?;
    let [up_before, down_before] = session.relay.passed();
    session.begin();
    if session.verdict(PLAY_LIMIT)? != Verdict::Done {
        return Ok(vec![None; 2]);
    }
    let [up, down] = session.relay.passed();
    let kilobytes = |bytes: u64| Some(bytes as f64 / 1000.0);
    Ok(vec![
        kilobytes(down.since(down_before).bytes),
        kilobytes(up.since(up_before).bytes),
    ])
}

/// Seconds until a paste has arrived whole, and the most memory that either end took for it.
pub(super) fn paste(programs: &Programs, _: &Path) -> Result<Values> {
    let mut session = Session::start(programs, &Program::Sink { bytes: PASTE_BYTES })?;
    session.begin();
    let started = Instant::now();
    session.type_expected(0, PASTE_BYTES);
    let verdict = session.verdict(PASTE_LIMIT)?;
    let took = (verdict == Verdict::Done).then(|| started.elapsed().as_secs_f64());
    let mut values = vec![took];
    for end in [session.client, session.server] {
        values.push(Some(end.resident_bytes_max()? as f64 / MEGABYTE));
    }
    Ok(values)
}

/// Milliseconds from the end of an outage, in which keys were typed, until all have arrived and
/// the answer to the last is shown.
pub(super) fn outage(programs: &Programs, _: &Path) -> Result<Values> {
    let mut session = Session::start(programs, &Program::Sink { bytes: OUTAGE_KEYS })?;
    session.begin();
    session.terminal.rest(Duration::from_secs(1))?;
    session.relay.cut();
    let started = Instant::now();
    for key in 0..OUTAGE_KEYS {
        let due = started + OUTAGE * u32::try_from(key)? / u32::try_from(OUTAGE_KEYS)?;
        session
            .terminal
            .rest(due.saturating_duration_since(Instant::now()))?;
        session.type_expected(key, 1);
    }
    session
        .terminal
        .rest((started + OUTAGE).saturating_duration_since(Instant::now()))?;
    session.relay.mend();
    let mended = Instant::now();
    let verdict = session.verdict(CATCH_UP_LIMIT)?;
    let took = mended.elapsed().as_secs_f64() * 1000.0;
    Ok(vec![(verdict == Verdict::Done).then_some(took)])
}

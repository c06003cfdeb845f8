//! The key of a running session lies in few places in the memory of its two ends, for somebody who gets hold
//! of a dump or of a forked child: T-L1 of docs/threat-model.md §12.

use crate::support::{
    Make, Needles, Pair, Process, Rules, Session, Setup, Terminal, Wire, World, adopt_orphans,
    mappings,
};
use fulmar_testbed::peers;

/// False if the calling test is to return: the memory of processes that are not to be dumped is read
/// by those alone who may trace any process, as root may unless it is kept in a container.
#[track_caller]
pub(crate) fn may_read_memory() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let rights = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let rights = rights.and_then(|rights| u64::from_str_radix(rights.trim(), 16).ok());
    let may_trace = rights.is_some_and(|rights| rights & 1 << CAP_SYS_PTRACE != 0);
    if !may_trace {
        peers::leave_out("reading the memory of our processes is not permitted");
    }
    may_trace
}

/// Its number in Linux's capabilities(7).
const CAP_SYS_PTRACE: u32 = 19;

/// Types until the two ends have sealed and opened datagrams of one and of several fragments.
#[track_caller]
fn work(terminal: &mut Terminal) {
    terminal.type_keys("seq 1000 1999 | tr '\\n' ' '\n");
    terminal.wait_for_text("1999");
    terminal.type_keys("clear; echo w\"\"ell\n");
    terminal.wait_for_text("well");
    terminal.wait_for_prompt();
}

/// Expects that of everything in the protected pages of a process, and of this key if it is known,
/// nothing lies in other pages of it; returns how much does lie in the protected ones.
#[track_caller]
fn expect_in_one_place(pid: u32, key: Option<&str>) -> usize {
    let mappings = mappings(pid);
    let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    if let Some(key) = key {
        let (found, elsewhere) = Needles::of_key(key).find(&mappings);
        assert_eq!(elsewhere, "", "of {command:?}");
        assert!(found > 0, "the key of {command:?} is nowhere");
    }
    let secrets = Needles::of_protected(&mappings);
    let count = secrets.len();
    let texts = Needles::of_protected_in_text(&mappings);
    let (_, elsewhere) = secrets.join(texts).find(&mappings);
    assert_eq!(elsewhere, "", "of {command:?}");
    count
}

#[test]
fn the_key_of_a_session_lies_in_pages_that_are_neither_dumped_nor_inherited() {
    if !may_read_memory() {
        return;
    }
    let ours = Pair {
        server: Make::Ours,
        client: Make::Ours,
    };
    let Some(mut session) = Session::with_shell(ours, Wire::Direct) else {
        return;
    };
    let key = session.server.key.clone();
    for _ in 0..2 {
        for pid in [session.terminal.pid(), session.server.process.pid()] {
            expect_in_one_place(pid, Some(&key));
        }
        work(&mut session.terminal);
    }
}

#[test]
fn no_process_of_a_login_has_the_key_elsewhere() {
    if !may_read_memory() {
        return;
    }
    adopt_orphans();
    let world = World::new();
    let mut command = world.spawn(world.ours("fulmar"));
    command.arg("--local").arg("--").arg("sh").arg("-i");
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::Client);
    terminal.wait_for_prompt();
    work(&mut terminal);
    let processes = Process::all_of(world.home());
    let secrets = processes
        .iter()
        .map(|process| expect_in_one_place(process.pid(), None))
        .filter(|&count| count > 0);
    // The client and the server; the shell has none.
    assert_eq!(secrets.count(), 2);
    terminal.type_keys("exit\n");
    assert_eq!(terminal.wait_for_end().code(), Some(0));
}

#[test]
fn a_key_that_was_handed_to_a_session_lies_nowhere_else_and_the_one_before_is_gone() {
    if !may_read_memory() {
        return;
    }
    adopt_orphans();
    let world = World::new();
    let start = |words: &[&str]| {
        let mut command = world.spawn(world.ours("fulmar"));
        for word in words {
            command.arg(*word);
        }
        Terminal::start(&command, Setup::default().size, Rules::Client)
    };
    let mut first = start(&["--local", "--", "sh", "-i"]);
    first.wait_for_prompt();
    work(&mut first);
    first.type_keys("\x1ed");
    assert_eq!(first.wait_for_end().code(), Some(0));
    let mut second = start(&["attach", "--local"]);
    second.wait_for_text("well");
    work(&mut second);
    let processes = Process::all_of(world.home());
    let secrets: Vec<usize> = processes
        .iter()
        .map(|process| expect_in_one_place(process.pid(), None))
        .filter(|&count| count > 0)
        .collect();
    // The client and the server, which have the same.
    assert_eq!(secrets.len(), 2, "{secrets:?}");
    assert_eq!(secrets[0], secrets[1]);
    second.type_keys("exit\n");
    assert_eq!(second.wait_for_end().code(), Some(0));
}

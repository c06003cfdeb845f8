//! The session, and where its client is, are found by those who ask the system who is logged in
//! (docs/protocol.md §2.6).

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use fulmar_platform::utmp::{UTMP_PATH, list_utmp_user_processes};

use crate::support::{Make, Rules, Server, Setup, Terminal, World, adopt_orphans, for_each_make};
use fulmar_testbed::peers;

for_each_make! {
    a_session_is_recorded_while_it_lasts
}

/// Gives the program after it a `/run` of its own with empty records: many systems have none, and
/// those of a system that has some are not for tests. The helper may change the file as a member
/// of the group that owns it everywhere.
const OWN_RECORDS: &str = "mount --make-rprivate / && mount -t tmpfs none /run &&
    install -g utmp -m 664 /dev/null /run/utmp && exec \"$@\"";

/// Runs `program` with records of its own.
fn with_own_records(world: &World, program: &Path) -> std::process::Command {
    let mut command = world.command("unshare");
    command.args(["--mount", "sh", "-c", OWN_RECORDS, "sh"]);
    command.arg(program);
    command
}

/// The records that a process sees, readable also after it has ended.
struct Records(File);

impl Records {
    fn of(pid: u32) -> Self {
        let path = PathBuf::from(format!("/proc/{pid}/root{UTMP_PATH}"));
        Self(File::open(path).expect("the records"))
    }

    fn hosts(&self) -> Vec<String> {
        let path = format!("/proc/self/fd/{}", self.0.as_raw_fd());
        let entries = list_utmp_user_processes(Path::new(&path)).expect("the records");
        entries.into_iter().map(|entry| entry.host).collect()
    }
}

fn a_session_is_recorded_while_it_lasts(make: Make) {
    if peers::require("utempter").is_none() {
        return;
    }
    let world = World::new();
    let [Some(server), Some(client)] =
        ["mosh-server", "mosh-client"].map(|name| make.program(&world, name))
    else {
        return;
    };
    let trial = with_own_records(&world, Path::new("true")).output();
    if !trial.is_ok_and(|output| output.status.success()) {
        return peers::leave_out("no right to make a mount");
    }
    adopt_orphans();
    let mut start = with_own_records(&world, &server);
    start.args(["new", "-p", "0", "-i", "127.0.0.1", "--", "sh", "-i"]);
    let output = start.output().expect("the server starts");
    let [stdout, stderr] = [output.stdout, output.stderr].map(String::from_utf8);
    let [stdout, stderr] = [stdout.expect("text"), stderr.expect("text")];
    let server = Server::parse(&stdout, &stderr).expect("the server runs");
    let records = Records::of(server.process.pid());
    let name = format!("mosh [{}]", server.process.pid());

    let mut command = world.spawn(client);
    command.arg("127.0.0.1").arg(server.port.to_string());
    command.env("MOSH_KEY", &server.key);
    let mut terminal = Terminal::start(&command, Setup::default().size, Rules::None);
    terminal.wait_for_prompt();
    assert_eq!(records.hosts(), [format!("127.0.0.1 via {name}")]);

    terminal.type_keys("exit\n");
    terminal.wait_for_end();
    assert_eq!(server.wait_for_end(), Some(0));
    assert_eq!(records.hosts(), [""; 0]);
}

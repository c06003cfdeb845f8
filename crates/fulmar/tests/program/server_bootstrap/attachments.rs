//! Attachments that are asked for faster than anybody could use them.

use std::fs;
use std::os::unix::net::UnixStream;

use super::over_ssh::Carried;
use super::*;

const ATTACHMENTS: usize = 1000;

/// The most files that the server has open for those who ask, at whatever time: 8 of them, and one whose client is
/// expected (docs/threat-model.md §6).
const OPEN_MAX: usize = 9;

fn open_files(process: &Process) -> usize {
    let files = fs::read_dir(format!("/proc/{}/fd", process.pid()));
    files.expect("it runs").count()
}

#[test]
fn a_thousand_attachments_that_nobody_uses_leave_the_client_and_no_file_open() {
    if !sees_environments() {
        return;
    }
    let mut carried = Carried::begun();
    let daemon = carried.login.daemon();
    let before = open_files(&daemon);
    let folder = carried.login.world.home().join(".local/state/fulmar/run");
    let socket = folder.join(&carried.name);
    let request = format!("FULMAR CONTROL 1 attach\n{OFFER}key c68K8iLyuCr1oEM7Hszyjg\n");
    let request = request.replace("port 0\nword cat", &format!("attach {}", carried.name));
    let mut asking = Vec::new();
    for _ in 0..ATTACHMENTS {
        let mut stream = UnixStream::connect(&socket).expect("the session's socket");
        stream.write_all(request.as_bytes()).expect("it is read");
        let mut answer = String::new();
        let mut lines = BufReader::new(&stream);
        for _ in 0..2 {
            lines.read_line(&mut answer).expect("an answer");
        }
        assert!(answer.contains("\nFULMAR PORT "), "{answer}");
        assert!(open_files(&daemon) <= before + OPEN_MAX);
        asking.push(stream);
    }
    carried.guest.expect_echo(&mut carried.login, "during");
}

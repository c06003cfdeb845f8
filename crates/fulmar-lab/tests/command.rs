//! The program itself: what it runs where, how it ends, and that nothing of it stays.

mod support;

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use fulmar_platform::{Interest, wait_for};
use fulmar_testbed::KilledChild;
use fulmar_testbed::peers::leave_out;
use support::{DEADLINE, await_end, descendants, has};

fn lab() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fulmar-lab"))
}

/// Runs a shell command on the client of a link; `None` where there can be no link.
fn on_client(options: &[&str], script: &str) -> Option<Output> {
    if !has(&["ip"]) {
        return None;
    }
    let mut lab = lab();
    lab.arg("link")
        .args(options)
        .args(["--", "sh", "-c", script]);
    let output = lab.output().expect("the program can be run");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.starts_with("fulmar-lab: making") {
        leave_out(&said);
        return None;
    }
    Some(output)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_command_runs_on_the_client_and_its_status_is_ours() {
    let script = "ip -o -4 addr show dev lab0; ip route get $FULMAR_LAB_SERVER; exit 23";
    let Some(output) = on_client(&["--delay", "5ms"], script) else {
        return;
    };
    assert_eq!(output.status.code(), Some(23), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("inet 192.0.2.1/32"), "{said}");
    assert!(
        said.contains("203.0.113.1 dev lab0 src 192.0.2.1"),
        "{said}"
    );
}

#[test]
fn the_server_s_network_can_be_entered_from_the_client() {
    if !has(&["nsenter"]) {
        return;
    }
    let script = "nsenter --net=$FULMAR_LAB_SERVER_NETWORK ip -o -4 addr show dev lab0";
    let Some(output) = on_client(&[], script) else {
        return;
    };
    let said = text(&output.stdout);
    assert!(
        said.contains("inet 203.0.113.1/32"),
        "{said} {}",
        text(&output.stderr)
    );
}

#[test]
fn a_command_of_the_server_runs_there_meanwhile() {
    // The server writes into a pipe that both know; the client waits for it.
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let server = format!(
        "ip -o -4 addr show dev lab0 > {0}; sleep 1000",
        fifo.display()
    );
    let script = format!("cat {}", fifo.display());
    let Some(output) = on_client(&["--server", &server], &script) else {
        return;
    };
    assert!(text(&output.stdout).contains("inet 203.0.113.1/32"));
}

#[test]
fn a_report_counts_the_packets() {
    if !has(&["bash"]) {
        return;
    }
    // A datagram to a port where nobody listens is answered by the kernel, which ends the reading.
    let script = "exec 3<>/dev/udp/$FULMAR_LAB_SERVER/9; printf x >&3; read -t 30 <&3";
    let bash = format!("exec bash -c '{script}'");
    let Some(output) = on_client(&["--report", "--up", "mark 0%"], &bash) else {
        return;
    };
    let said = text(&output.stderr);
    assert!(
        said.contains("client: sent 1 (29 B), delivered 1"),
        "{said}"
    );
    assert!(
        said.contains("server: sent 1 (57 B), delivered 1"),
        "{said}"
    );
    assert!(said.contains("handed over late by"), "{said}");
}

#[test]
fn a_description_without_meaning_is_said_before_anything_is_made() {
    let mut lab = lab();
    let output = lab
        .args(["link", "--loss", "1", "--", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(
        said.contains("“1” is not a share such as 1% or 0.5%"),
        "{said}"
    );
}

#[test]
fn a_kill_leaves_no_process_and_no_device() {
    if !has(&["ip", "nsenter"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    // One that has left session and parent, one in the foreground, and one on the server.
    let sleeper = format!(
        "(setsid sleep 1000 > {} &) ; echo ready; exec sleep 1000",
        fifo.display()
    );
    let mut lab = lab();
    lab.args(["link", "--server", "sleep 1000", "--", "sh", "-c", &sleeper]);
    let lab = lab.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut lab = KilledChild(lab.unwrap());
    let mut said = String::new();
    BufReader::new(lab.0.stdout.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    if said != "ready\n" {
        let mut why = String::new();
        lab.0
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut why)
            .unwrap();
        return leave_out(&why);
    }
    let held = File::open(&fifo).unwrap();
    let inside = descendants(lab.0.id());
    assert!(inside.len() >= 6, "{inside:?}");
    let network = network_with_device(&inside);
    assert!(
        devices(&network).contains("lab0"),
        "or the test shows nothing"
    );

    drop(lab);
    await_end_of(&held);
    // The others were killed in the same moment as the one that held the pipe.
    for process in inside {
        await_end(process);
    }
    assert!(!devices(&network).contains("lab0"));
}

/// Waits until nobody has the writing end of a pipe.
fn await_end_of(pipe: &File) {
    let readiness = wait_for(pipe, Interest::Nothing, Some(DEADLINE))
        .expect("one descriptor can be waited for");
    assert!(readiness.is_hung_up(), "a process has stayed");
}

/// Opens the network of the first of these processes that is in one with a device of the lab: from
/// here on it is held by us alone.
fn network_with_device(processes: &[u32]) -> File {
    let has_device = |process: &&u32| {
        let devices = std::fs::read_to_string(format!("/proc/{process}/net/dev"));
        devices.is_ok_and(|devices| devices.contains("lab0"))
    };
    let process = processes.iter().find(has_device).expect("one is on a host");
    File::open(format!("/proc/{process}/ns/net")).expect("the network can be opened")
}

fn devices(network: &File) -> String {
    use std::os::fd::AsRawFd as _;
    let path: PathBuf = format!("/proc/{}/fd/{}", std::process::id(), network.as_raw_fd()).into();
    let mut nsenter = Command::new("nsenter");
    let net = format!("--net={}", path.display());
    let output = nsenter
        .args([&net, "cat", "/proc/self/net/dev"])
        .output()
        .expect("nsenter can be run");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

//! The way to the server that a starter gives ssh: it connects, tells where to, and carries bytes.

use std::io::{Read, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, TcpListener};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, Stdio};

use fulmar_platform::{Interest, wait_for};

use crate::support::{DEADLINE, Make, World, for_each_make};

for_each_make! {
    bytes_go_both_ways
    an_end_over_there_leaves_the_other_way_open
    an_end_here_leaves_the_other_way_open
    where_nobody_listens_there_is_no_address
    the_family_has_to_fit
}

/// A starter that is to connect; `None` if the calling test is to return.
#[track_caller]
fn proxy(world: &World, make: Make, family: &str, host: &str, port: &str) -> Option<Child> {
    let starter = make.program(world, "mosh")?;
    let mut command = world.command(starter);
    command.arg(format!("--family={family}"));
    command.args(["--fake-proxy", "--", host, port]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Some(command.spawn().expect("the starter starts"))
}

/// A port of ours, and its number.
fn listen(address: impl Into<IpAddr>) -> std::io::Result<(TcpListener, String)> {
    let listener = TcpListener::bind((address.into(), 0))?;
    let port = listener.local_addr()?.port().to_string();
    Ok((listener, port))
}

fn told(mut stderr: ChildStderr) -> String {
    let mut told = String::new();
    stderr.read_to_string(&mut told).expect("text");
    told
}

fn bytes_go_both_ways(make: Make) {
    let world = World::new();
    let (listener, port) = listen(Ipv4Addr::LOCALHOST).expect("a free port");
    let Some(mut child) = proxy(&world, make, "prefer-inet", "127.0.0.1", &port) else {
        return;
    };
    let (mut server, _) = listener.accept().expect("a connection");
    // More than pipe and socket hold.
    let question = vec![b'q'; 3_000_000];
    let answer = vec![b'a'; 3_000_000];
    let (mut heard, mut read) = (Vec::new(), Vec::new());
    let stdin = child.stdin.take().expect("a pipe");
    let mut stdout = child.stdout.take().expect("a pipe");
    std::thread::scope(|scope| {
        // The pipe is closed with its end.
        scope.spawn(|| {
            { stdin }
                .write_all(&question)
                .expect("the question is taken")
        });
        scope.spawn(|| stdout.read_to_end(&mut read).expect("the answer comes"));
        server.write_all(&answer).expect("the answer is taken");
        server.read_to_end(&mut heard).expect("the question comes");
        drop(server);
    });
    assert!(heard == question, "{} bytes of the question", heard.len());
    assert!(read == answer, "{} bytes of the answer", read.len());
    assert!(child.wait().expect("it ends").success());
    assert_eq!(
        told(child.stderr.take().expect("a pipe")),
        "MOSH IP 127.0.0.1\n"
    );
}

/// Reads to the end. One that does not come fails the test, which ends the starter too: its input is
/// closed with the test.
#[track_caller]
fn read_all(stream: &mut (impl Read + AsFd)) -> Vec<u8> {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let waited = wait_for(stream, Interest::Read, Some(DEADLINE));
        assert!(waited.expect("it can be polled").is_ready(), "no end comes");
        match stream.read(&mut buffer).expect("it can be read") {
            0 => return read,
            count => read.extend_from_slice(&buffer[..count]),
        }
    }
}

fn an_end_over_there_leaves_the_other_way_open(make: Make) {
    let world = World::new();
    let (listener, port) = listen(Ipv4Addr::LOCALHOST).expect("a free port");
    let Some(mut child) = proxy(&world, make, "all", "127.0.0.1", &port) else {
        return;
    };
    let (mut server, _) = listener.accept().expect("a connection");
    server.write_all(b"hello").expect("it is taken");
    server.shutdown(Shutdown::Write).expect("it is connected");
    let mut stdout = child.stdout.take().expect("a pipe");
    assert_eq!(read_all(&mut stdout), b"hello");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"still here").expect("it is taken");
    drop(stdin);
    assert_eq!(read_all(&mut server), b"still here");
    assert!(child.wait().expect("it ends").success());
}

fn an_end_here_leaves_the_other_way_open(make: Make) {
    let world = World::new();
    let (listener, port) = listen(Ipv4Addr::LOCALHOST).expect("a free port");
    let Some(mut child) = proxy(&world, make, "auto", "127.0.0.1", &port) else {
        return;
    };
    let (mut server, _) = listener.accept().expect("a connection");
    drop(child.stdin.take());
    assert!(read_all(&mut server).is_empty());
    server.write_all(b"goodbye").expect("it is taken");
    drop(server);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.stdout, b"goodbye");
    assert!(output.status.success());
}

fn where_nobody_listens_there_is_no_address(make: Make) {
    let world = World::new();
    let (listener, port) = listen(Ipv4Addr::LOCALHOST).expect("a free port");
    drop(listener);
    let Some(child) = proxy(&world, make, "inet", "127.0.0.1", &port) else {
        return;
    };
    let output = child.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(
        !told.contains("MOSH IP") && told.contains("127.0.0.1"),
        "{told}"
    );
}

fn the_family_has_to_fit(make: Make) {
    let world = World::new();
    let (_listener, port) = listen(Ipv4Addr::LOCALHOST).expect("a free port");
    let Some(child) = proxy(&world, make, "inet6", "127.0.0.1", &port) else {
        return;
    };
    let output = child.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(!told.contains("MOSH IP") && !told.is_empty(), "{told}");
}

/// Stock's starter reaches no IPv6 address on a machine that has none but the loopback's, so this
/// is about ours alone.
#[test]
fn ours_needs_no_ipv6_but_the_address_itself() {
    let world = World::new();
    let Ok((listener, port)) = listen(Ipv6Addr::LOCALHOST) else {
        fulmar_testbed::peers::leave_out("there is no IPv6 here");
        return;
    };
    let child = proxy(&world, Make::Ours, "prefer-inet", "::1", &port).expect("our own");
    drop(listener.accept().expect("a connection"));
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "MOSH IP ::1\n");
}

/// The starter shows it among ssh's own lines, and marks those that begin as its own.
#[test]
fn why_ours_has_no_connection_is_not_said_as_if_it_were_the_last_word() {
    let world = World::new();
    let (listener, port) = listen(Ipv4Addr::LOCALHOST).expect("a free port");
    drop(listener);
    let child = proxy(&world, Make::Ours, "inet", "127.0.0.1", &port).expect("our own");
    let output = child.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.starts_with("cannot connect to 127.0.0.1"), "{told}");
    assert!(!told.contains("mosh:"), "{told}");
}

//! Questions of ssh and their answers: passwords, and whether a machine is the right one.

use super::scene::{
    FAR, Plan, Scene, Starter, expect_session, expect_work_and_status, for_each_starter,
};
use crate::support::{PASSWORD, Person, Terminal};
use fulmar_testbed::peers;

for_each_starter! {
    a_password: fulmar mosh ssh;
    two_prompts: fulmar mosh ssh;
    an_agent: fulmar mosh ssh;
    an_unknown_host_key_that_is_accepted: fulmar mosh ssh;
    an_unknown_host_key_that_is_refused: fulmar mosh ssh;
    a_changed_host_key: fulmar mosh ssh;
}

fn a_password(starter: Starter) {
    let plan = Plan {
        config: "PubkeyAuthentication no\n",
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    terminal.wait_for_text("bob@far's password:");
    terminal.type_keys(format!("{PASSWORD}\n"));
    expect_session(&scene, starter, &mut terminal);
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    assert!(!shown.contains(PASSWORD), "{shown:?}");
}

/// Asks for the password, then for a code that counts up.
const TWO_QUESTIONS: &str = "auth requisite pam_unix.so\n\
                             auth requisite pam_oath.so usersfile=/etc/codes digits=6\n\
                             account required pam_permit.so\n\
                             session required pam_permit.so\n";

/// The secret of RFC 4226, appendix D.
const SECRET: &str = "3132333435363738393031323334353637383930";

/// The first code of that secret, by the same appendix.
const FIRST_CODE: &str = "755224";

fn two_prompts(starter: Starter) {
    let plan = Plan {
        sshd: "UsePAM yes\nKbdInteractiveAuthentication yes\n\
               AuthenticationMethods keyboard-interactive\n",
        ..Plan::default()
    };
    if peers::require("pam_oath.so").is_none() {
        return;
    }
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    scene.far.write("/etc/pam.d/sshd", TWO_QUESTIONS);
    scene
        .far
        .write("/etc/codes", format!("HOTP bob - {SECRET}\n"));
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    terminal.wait_for_text("Password:");
    terminal.type_keys(format!("{PASSWORD}\n"));
    terminal.wait_for_text("One-time password");
    terminal.type_keys(format!("{FIRST_CODE}\n"));
    expect_session(&scene, starter, &mut terminal);
}

fn an_agent(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let script = "ssh-agent -a ~/.ssh/agent >/dev/null && export SSH_AUTH_SOCK=~/.ssh/agent && \
                  ssh-add -q && rm ~/.ssh/id_ed25519";
    let mut agent = scene.near.command(Person::Alice, "sh");
    scene.near.output_of(agent.args(["-c", script]));
    let Some(mut command) = scene.command(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    command.env("SSH_AUTH_SOCK", "/home/alice/.ssh/agent");
    let mut terminal = scene.start_command(starter, &command);
    expect_work_and_status(starter, &mut terminal);
    scene
        .near
        .wait_until_only(|line| line.starts_with("ssh-agent"));
}

/// Starts where nothing is known of the remote machine; `config` may say what to do about it.
fn with_known_hosts(starter: Starter, known: &str) -> Option<(Scene, Terminal)> {
    let scene = Scene::new(&Plan::default())?;
    scene
        .near
        .write_home(Person::Alice, ".ssh/known_hosts", known);
    let terminal = scene.start(starter, &[&format!("bob@{FAR}")])?;
    Some((scene, terminal))
}

const QUESTION: &str = "Are you sure you want to continue connecting";

fn an_unknown_host_key_that_is_accepted(starter: Starter) {
    let Some((scene, mut terminal)) = with_known_hosts(starter, "") else {
        return;
    };
    terminal.wait_for_text(QUESTION);
    terminal.type_keys("yes\n");
    expect_session(&scene, starter, &mut terminal);
    let known = scene.near.read_home(Person::Alice, ".ssh/known_hosts");
    assert!(known.is_some_and(|known| known.contains("ssh-ed25519")));
}

fn an_unknown_host_key_that_is_refused(starter: Starter) {
    let Some((scene, mut terminal)) = with_known_hosts(starter, "") else {
        return;
    };
    terminal.wait_for_text(QUESTION);
    terminal.type_keys("no\n");
    expect_no_session(&scene, starter, &mut terminal);
}

fn a_changed_host_key(starter: Starter) {
    let other = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMVUwqRi6DHx9uLAq6lHzlWOTbOyIHEpHD0jHZCOYqsH";
    let known = format!("* {other}\n");
    let Some((scene, mut terminal)) = with_known_hosts(starter, &known) else {
        return;
    };
    terminal.wait_for_text("REMOTE HOST IDENTIFICATION HAS CHANGED");
    expect_no_session(&scene, starter, &mut terminal);
}

/// Expects that the starter gives up after ssh has.
#[track_caller]
fn expect_no_session(scene: &Scene, starter: Starter, terminal: &mut Terminal) {
    let status = terminal.wait_for_end();
    let expected = if starter == Starter::Mosh { 10 } else { 255 };
    assert_eq!(status.code(), Some(expected), "the status of {starter:?}");
    terminal.wait_for_text("Host key verification failed.");
    terminal.expect_restored();
    scene.expect_nothing_left();
}

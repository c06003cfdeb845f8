//! Remote machines that lack, forbid or say something.

use super::scene::{
    FAR, Plan, Scene, Starter, expect_login, expect_session, expect_work, for_each_starter, leave,
};
use crate::support::Person;

for_each_starter! {
    a_locale_that_is_c: fulmar;
    no_locale: fulmar;
    a_locale_that_is_not_there: fulmar;
    a_home_that_cannot_be_written: fulmar mosh;
    a_home_that_is_missing: fulmar mosh;
    no_home_variable_here: fulmar;
    a_tmp_without_programs: fulmar mosh;
    a_message_of_the_day_with_sequences: fulmar;
    a_banner_with_sequences: fulmar mosh;
}

/// Logs in with words before the starter that change its environment, and expects that letters
/// beyond ASCII arrive.
fn after(starter: Starter, words: &[&str]) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let destination = format!("bob@{FAR}");
    let Some(command) = scene.command_after(words, starter, &[&destination]) else {
        return;
    };
    let mut terminal = scene.start_command(starter, &command);
    terminal.wait_for_prompt();
    terminal.type_keys("printf 'gr\\303\\274n\\n'\n");
    terminal.wait_for_last_row("ready$");
    terminal.wait_for_text("grün");
    terminal.type_keys("locale charmap 2>&1\n");
    terminal.wait_for_text("UTF-8");
    terminal.wait_for_prompt();
    assert_eq!(leave(&mut terminal).code(), Some(7));
    scene.expect_nothing_left();
}

fn a_locale_that_is_c(starter: Starter) {
    after(starter, &["env", "LANG=C"]);
}

fn no_locale(starter: Starter) {
    after(starter, &["env", "-u", "LANG"]);
}

fn a_locale_that_is_not_there(starter: Starter) {
    after(starter, &["env", "LANG=tlh_QO.UTF-8", "LC_TIME=xx_XX"]);
}

fn no_home_variable_here(starter: Starter) {
    after(starter, &["env", "-u", "HOME"]);
}

/// Runs a script as root on the remote machine.
fn at_far(scene: &Scene, script: &str) {
    let mut command = scene.far.command(Person::Root, "sh");
    scene.far.output_of(command.args(["-e", "-c", script]));
}

fn a_home_that_cannot_be_written(starter: Starter) {
    let script = "mount --bind /home/bob /home/bob; mount -o remount,bind,ro /home/bob";
    expect_login(starter, &Plan::default(), |scene| at_far(scene, script));
}

fn a_home_that_is_missing(starter: Starter) {
    let plan = Plan {
        sshd: "AuthorizedKeysFile /etc/ssh/keys",
        ..Plan::default()
    };
    let script = "mv /home/bob/.ssh/authorized_keys /etc/ssh/keys; chown root /etc/ssh/keys; \
                  chmod 644 /etc/ssh/keys; mv /home/bob/.profile /etc/profile; rm -r /home/bob";
    expect_login(starter, &plan, |scene| at_far(scene, script));
}

fn a_tmp_without_programs(starter: Starter) {
    let script = "mount -o remount,noexec /tmp; mount -o remount,noexec /var/tmp";
    expect_login(starter, &Plan::default(), |scene| at_far(scene, script));
}

/// Changes the font, asks for the title, which would be typed, and turns red.
const SEQUENCES: &str = "before \x1b]50;owned\x07\x1b[21t\x1b[31m after\x1b[m\n";

/// Fails if one of the sequences came through as it is.
#[track_caller]
fn expect_tamed(shown: &[u8]) {
    for sequence in ["\x1b]50;owned", "\x1b[21t"] {
        let sequence = sequence.as_bytes();
        let is_there = shown
            .windows(sequence.len())
            .any(|window| window == sequence);
        assert!(!is_there, "{:?}", String::from_utf8_lossy(shown));
    }
}

fn a_message_of_the_day_with_sequences(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    scene.far.write("/etc/motd", SEQUENCES);
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    terminal.wait_for_text("before  after");
    terminal.wait_for_prompt();
    expect_work(&mut terminal);
    leave(&mut terminal);
    expect_tamed(terminal.shown());
}

fn a_banner_with_sequences(starter: Starter) {
    let plan = Plan {
        sshd: "Banner /etc/banner",
        ..Plan::default()
    };
    let Some(scene) = Scene::new(&plan) else {
        return;
    };
    scene.far.write("/etc/banner", SEQUENCES);
    let Some(mut terminal) = scene.start(starter, &[&format!("bob@{FAR}")]) else {
        return;
    };
    // ssh itself shows it so.
    terminal.wait_for_bytes(0, b"before \\033]50;owned\\007\\033[21t\\033[31m after");
    expect_session(&scene, starter, &mut terminal);
    expect_tamed(terminal.shown());
}

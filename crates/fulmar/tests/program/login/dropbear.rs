//! The other ssh, at either end.

use super::scene::{
    FAR, Kind, Plan, Scene, Starter, expect_login, expect_session, for_each_starter,
};
use crate::support::Person;
use fulmar_testbed::peers;

for_each_starter! {
    as_server: fulmar mosh ssh;
    as_client: fulmar;
}

fn as_server(starter: Starter) {
    let plan = Plan {
        daemon: Kind::Dropbear,
        config: "StrictHostKeyChecking accept-new\n",
        ..Plan::default()
    };
    expect_login(starter, &plan, |_| {});
}

fn as_client(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    if authorize_dbclient(&scene).is_none() {
        return;
    }
    let arguments = ["--ssh", "dbclient -y", &format!("bob@{FAR}")];
    if let Some(mut terminal) = scene.start(starter, &arguments) {
        expect_session(&scene, starter, &mut terminal);
    }
}

/// Lets Alice in as Bob with a key of dropbear's client; `None` if the calling test is to return.
pub(crate) fn authorize_dbclient(scene: &Scene) -> Option<()> {
    peers::require("dbclient")?;
    peers::require("dropbearkey")?;
    let mut make_key = scene.near.command(Person::Alice, "dropbearkey");
    make_key.args(["-t", "ed25519", "-f", ".ssh/id_dropbear"]);
    let said = scene.near.output_of(&mut make_key);
    let key = said.lines().find(|line| line.starts_with("ssh-ed25519"));
    let key = format!("{}\n", key.expect("dropbearkey shows the key"));
    scene
        .far
        .write_home(Person::Bob, ".ssh/authorized_keys", key);
    Some(())
}

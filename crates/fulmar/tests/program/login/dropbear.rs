//! The other ssh, at either end.

use super::scene::{Kind, Plan, Starter, expect_login, for_each_starter};

for_each_starter! {
    as_server: mosh ssh;
}

fn as_server(starter: Starter) {
    let plan = Plan {
        daemon: Kind::Dropbear,
        config: "StrictHostKeyChecking accept-new\n",
        ..Plan::default()
    };
    expect_login(starter, &plan, |_| {});
}

//! Clients that have the key and mean no good.

use std::time::Duration;

use fulmar_terminal::Size;

use crate::support::{DeafClient, Server, World};

/// Writes into each row of the largest window, for ever: two screens share nothing.
const ALL_ROWS: &str = "for (n = 0; ; n++) { \
    for (row = 1; row <= 256; row++) printf \"\\033[%d;1H%d\", row, n % 10; fflush() }";

#[test]
fn a_client_that_acknowledges_nothing_makes_the_server_keep_64_mib_of_screens() {
    let world = World::new();
    let command = ["awk", &format!("BEGIN {{ {ALL_ROWS} }}")];
    let server = Server::start(&world, &world.ours("mosh-server"), &command);
    let mut client = DeafClient::connect(server.port, &server.key);
    let size = Size::new(256, 4096).expect("the largest");
    let has_sent = client.stay(size, 60, Duration::from_secs(60));
    assert!(has_sent, "the server sends to whoever does not answer");
    let memory = server.process.memory_max();
    // The states that were sent, the one being sent, and the one being drawn: 16 MiB each.
    assert!(memory < (64 + 3 * 16 + 20) * 1024, "{memory} kB");
}

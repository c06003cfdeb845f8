//! The whole look of a screen reaches the client in a session whose ends both know `rich`, and in no other
//! (docs/protocol.md §13.11).

mod support;

use fulmar_core::{Agreement, Capabilities, Capability, ServerConfig};
use fulmar_sim::{Delay, Failure, Loss, Network, ms, secs};
use fulmar_terminal::Vocabulary;

use support::World;

/// A session whose ends agree on what both know.
fn world(net: Network, client: Capabilities, server: Capabilities) -> World {
    let agreement = Some(Agreement::of(b"offer", b"answer", client.and(server)));
    World::with(
        net,
        |client| client.agreement = agreement,
        |server: &mut ServerConfig| server.agreement = agreement,
    )
}

fn lossy(seed: u64) -> Network {
    Network::seeded(seed)
        .up([Loss::percent(20), Delay::fixed(ms(40))])
        .down([Loss::percent(20), Delay::fixed(ms(40))])
}

/// Has the program draw in every look there is, in many steps.
fn draw(world: &mut World) -> Result<(), Failure> {
    for turn in 0..30 {
        let (row, underline) = (1 + turn % 24, 1 + turn % 5);
        world.program_writes(
            format!(
                "\x1b[{row}H\x1b[2;9;53;4:{underline};58:5:{turn}mlook\x1b[m\
                 \x1b]8;id={row};https://example.org/{turn}\x07link\x1b]8;;\x07\x1b[{underline} q"
            )
            .as_bytes(),
        );
        world.run_for(ms(60))?;
    }
    world.run_for(secs(10))
}

fn known_to(world: &World, vocabulary: &Vocabulary) -> bool {
    let client = world.near().client.screen().projected(&Vocabulary::FULL);
    client == world.far().reference.screen().projected(vocabulary)
}

#[test]
fn the_whole_look_arrives_whatever_is_lost() -> Result<(), Failure> {
    for seed in 0..8 {
        let mut world = world(lossy(seed), Capabilities::ALL, Capabilities::ALL);
        draw(&mut world)?;
        assert!(known_to(&world, &Vocabulary::RICH), "seed {seed}");
        assert!(!known_to(&world, &Vocabulary::STOCK), "seed {seed}");
    }
    Ok(())
}

#[test]
fn if_one_end_alone_knows_it_the_client_is_told_what_stock_would_be() -> Result<(), Failure> {
    let others = Capabilities::ALL.iter();
    let older: Capabilities = others.filter(|one| *one != Capability::Rich).collect();
    let all = Capabilities::ALL;
    for (client, server) in [(all, older), (older, all)] {
        let mut world = world(lossy(1), client, server);
        draw(&mut world)?;
        assert!(known_to(&world, &Vocabulary::STOCK));
    }
    Ok(())
}

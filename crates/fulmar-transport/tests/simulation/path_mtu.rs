//! Paths that drop long datagrams and say nothing of it.

use fulmar_sim::{
    BurstLoss, CLIENT, Delay, Failed, Failure, Impairment, LinkDirection, Loss, Mtu, Network, secs,
};

use crate::ends::{Run, is_settled, keep_busy, run, seeds, settle};

/// Returns a run at rest over a path that carries packets of 1500 bytes, with a round trip of 40 ms and more.
fn at_rest(seed: u64, impairments: &[Impairment]) -> Result<Run, Failure> {
    let way = || {
        let usual = [Mtu::black_hole(1500), Delay::ms(20)];
        usual.into_iter().chain(impairments.iter().cloned())
    };
    let mut run = run(Network::seeded(seed).up(way()).down(way()));
    keep_busy(&mut run, secs(5));
    run.run_for(secs(10))?;
    settle(&mut run, secs(600))?;
    Ok(run)
}

/// Has the path carry packets of at most so many bytes from now on.
fn shrink(run: &mut Run, packet_bytes_max: usize) {
    for direction in [LinkDirection::Up, LinkDirection::Down] {
        run.set(CLIENT, direction, Mtu::black_hole(packet_bytes_max));
    }
}

/// Returns how often the client and the server have found a black hole.
fn black_holes(run: &Run) -> [u64; 2] {
    let (client, server) = &run.nodes;
    [
        client.link.endpoint.counters().black_holes,
        server.link.endpoint.counters().black_holes,
    ]
}

/// The lengths to which tunnels limit packets, and others. What stock sends makes packets of 1280.
const LIMITS: [usize; 6] = [1279, 1248, 1200, 1000, 700, 540];

#[test]
fn three_screens_are_late_after_a_tunnel_has_appeared_and_none_after_that() -> Result<(), Failure> {
    for limit in LIMITS {
        let mut run = at_rest(7, &[])?;
        shrink(&mut run, limit);
        let mut times = Vec::new();
        for _ in 0..8 {
            run.nodes.1.repaint();
            let took = run.run_until(secs(3), is_settled)?;
            times.push(took.as_millis());
        }
        println!("MTU {limit}: screens after {times:?} ms");
        let (late, others) = times.split_at(3);
        assert!(late.iter().sum::<u128>() < 2000, "MTU {limit}: {times:?}");
        assert!(
            others.iter().all(|&took| took < 150),
            "MTU {limit}: {times:?}"
        );
        assert_eq!(black_holes(&run), [0, 1]);
    }
    Ok(())
}

#[test]
fn a_paste_gets_through_a_tunnel_that_has_just_appeared() -> Result<(), Failure> {
    for limit in LIMITS {
        let mut run = at_rest(7, &[])?;
        shrink(&mut run, limit);
        let now = run.now();
        run.nodes.0.type_keys(now, 20_000);
        let took = run.run_until(secs(3), is_settled)?;
        println!("MTU {limit}: 20 kB of input after {took:?}");
    }
    Ok(())
}

#[test]
fn a_single_long_datagram_gets_through_too() -> Result<(), Failure> {
    for limit in [1248, 1200, 1000, 700] {
        let mut run = at_rest(7, &[])?;
        shrink(&mut run, limit);
        let now = run.now();
        run.nodes.0.type_keys(now, 1600);
        let took = run.run_until(secs(1), is_settled)?;
        println!("MTU {limit}: a datagram of input after {took:?}");
    }
    Ok(())
}

#[test]
fn loss_that_takes_short_datagrams_as_well_is_no_black_hole() -> Result<(), Failed<Failure>> {
    let paths: [&[Impairment]; 5] = [
        &[],
        &[Loss::percent(1)],
        &[Loss::percent(5)],
        &[Loss::percent(29)],
        &[BurstLoss::percent(30, 20)],
    ];
    for path in paths {
        let mut found = [0; 2];
        seeds(20).try_each(|seed| {
            let mut run = at_rest(seed, path)?;
            for _ in 0..10 {
                let now = run.now();
                run.nodes.0.type_keys(now, 5000);
                keep_busy(&mut run, secs(2));
                run.run_for(secs(2))?;
            }
            settle(&mut run, secs(600))?;
            found = [0, 1].map(|end| found[end] + black_holes(&run)[end]);
            Ok(())
        })?;
        // In twenty runs of half a minute one may be unlucky.
        assert!(found.iter().sum::<u64>() <= 1, "{path:?}: {found:?}");
    }
    Ok(())
}

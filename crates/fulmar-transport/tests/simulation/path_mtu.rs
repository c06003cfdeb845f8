//! Paths that drop long datagrams and say nothing of it.

use std::time::Duration;

use fulmar_sim::{
    BurstLoss, CLIENT, Delay, Failed, Failure, Impairment, LinkDirection, Loss, Mtu, Network, ms,
    secs,
};

use crate::ends::{Run, is_settled, keep_busy, plan_move, run, run_of, seeds, settle};
use fulmar_transport::{Cause, Digest, Terms};

/// The agreement of ends that may probe, and on nothing else.
const SIZES: Option<Terms> = Some(Terms {
    sizes: true,
    ..Terms::of(Digest::new([7; Digest::BYTES]))
});

/// Returns a network that carries packets of so many bytes, with a round trip of 40 ms and more.
fn network(seed: u64, packet_bytes_max: usize, impairments: &[Impairment]) -> Network {
    let way = || {
        let usual = [Mtu::black_hole(packet_bytes_max), Delay::ms(20)];
        usual.into_iter().chain(impairments.iter().cloned())
    };
    Network::seeded(seed).up(way()).down(way())
}

/// Returns a run at rest over a path that carries packets of 1500 bytes.
fn at_rest(seed: u64, impairments: &[Impairment]) -> Result<Run, Failure> {
    let mut run = run(network(seed, 1500, impairments));
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

/// Returns a run of two ends that may probe, over a path that carries packets of so many bytes.
fn probing(packet_bytes_max: usize) -> Run {
    run_of(network(7, packet_bytes_max, &[]), [SIZES; 2])
}

/// An end of a run.
#[derive(Clone, Copy)]
enum End {
    Client,
    Server,
}

/// Sends something long from these ends, every second for so many seconds. Returns the times until it was there.
fn send_much(run: &mut Run, ends: &[End], seconds: u32) -> Result<Vec<Duration>, Failure> {
    let mut times = Vec::new();
    for _ in 0..seconds {
        let now = run.now();
        for end in ends {
            match end {
                End::Client => run.nodes.0.type_keys(now, 3000),
                End::Server => run.nodes.1.repaint(),
            }
        }
        times.push(run.run_until(secs(10), is_settled)?);
        run.run_for(secs(1))?;
    }
    Ok(times)
}

const BOTH: [End; 2] = [End::Client, End::Server];

/// Returns how long the datagrams of the client and the server may be.
fn lengths(run: &Run) -> [usize; 2] {
    let (client, server) = &run.nodes;
    [
        client.link.endpoint.datagram_bytes(),
        server.link.endpoint.datagram_bytes(),
    ]
}

/// Returns how many probes the client and the server have sent.
fn probes(run: &Run) -> [u64; 2] {
    let (client, server) = &run.nodes;
    [
        client.link.sent(Cause::SizeProbe),
        server.link.sent(Cause::SizeProbe),
    ]
}

#[test]
fn the_longest_datagram_that_passes_is_found() -> Result<(), Failure> {
    let cases = [
        (1280, 1252),
        (1420, 1392),
        (1480, 1452),
        (1492, 1464),
        (1500, 1472),
        (9000, 1472),
    ];
    for (packet_bytes_max, expected) in cases {
        let mut run = probing(packet_bytes_max);
        let times = send_much(&mut run, &BOTH, 20)?;
        println!("MTU {packet_bytes_max}: {:?} probes", probes(&run));
        assert_eq!(lengths(&run), [expected; 2], "MTU {packet_bytes_max}");
        assert_eq!(black_holes(&run), [0, 0]);
        // Probes that are lost delay nothing.
        assert!(times.iter().all(|&took| took < ms(400)), "{times:?}");
        assert!(probes(&run).iter().all(|&count| count <= 15));
    }
    Ok(())
}

#[test]
fn nothing_is_probed_as_long_as_nothing_long_is_sent() -> Result<(), Failure> {
    let mut run = probing(1500);
    let now = run.now();
    run.nodes.0.typing.keep(now, secs(600), ms(500));
    run.run_for(secs(600))?;
    assert_eq!(probes(&run), [0, 0]);
    Ok(())
}

#[test]
fn a_peer_that_has_not_agreed_is_sent_no_probes() -> Result<(), Failure> {
    for agreements in [[None, None], [SIZES, None], [None, SIZES]] {
        let mut run = run_of(network(7, 1500, &[]), agreements);
        send_much(&mut run, &BOTH, 10)?;
        assert_eq!(probes(&run), [0, 0]);
        assert_eq!(lengths(&run), [1252; 2]);
    }
    Ok(())
}

#[test]
fn a_tunnel_that_appears_costs_a_second_and_the_new_length_is_found() -> Result<(), Failure> {
    let cases = [
        (1480, 1452),
        (1420, 1392),
        (1400, 1372),
        (1280, 1252),
        (1248, 1052),
        (1000, 500),
    ];
    for (limit, expected) in cases {
        for (place, end) in BOTH.into_iter().enumerate() {
            let mut run = probing(1500);
            send_much(&mut run, &BOTH, 5)?;
            assert_eq!(lengths(&run), [1472; 2]);
            shrink(&mut run, limit);
            let times = send_much(&mut run, &[end], 60)?;
            let first: Vec<_> = times[..6].iter().map(Duration::as_millis).collect();
            println!("MTU {limit}: something long after {first:?} ms");
            // Without a tunnel it takes 168 ms from the client and 148 from the server.
            let lost = times.iter().map(|took| took.saturating_sub(ms(168)));
            let lost: Duration = lost.sum();
            assert!(lost < ms(1100), "MTU {limit}: {lost:?}");
            assert_eq!(lengths(&run)[place], expected, "MTU {limit}");
        }
    }
    Ok(())
}

#[test]
fn on_another_path_the_search_begins_anew() -> Result<(), Failure> {
    let mut run = probing(1500);
    send_much(&mut run, &BOTH, 5)?;
    let now = run.now();
    plan_move(&mut run, now + ms(10));
    run.run_for(ms(100))?;
    assert_eq!(lengths(&run), [1252; 2]);
    send_much(&mut run, &BOTH, 5)?;
    assert_eq!(lengths(&run), [1472; 2]);
    Ok(())
}

#[test]
fn what_was_too_long_is_tried_again_after_ten_minutes() -> Result<(), Failure> {
    let mut run = probing(1420);
    send_much(&mut run, &BOTH, 20)?;
    let before = probes(&run);
    shrink(&mut run, 1500);
    send_much(&mut run, &BOTH, 20)?;
    assert_eq!(probes(&run), before);
    run.run_for(secs(600))?;
    send_much(&mut run, &BOTH, 5)?;
    assert_eq!(lengths(&run), [1472; 2]);
    Ok(())
}

#[test]
fn a_busy_path_that_loses_datagrams_is_probed_and_nothing_is_lost() -> Result<(), Failed<Failure>> {
    seeds(10).try_each(|seed| {
        let mut run = run_of(network(seed, 1492, &[Loss::percent(5)]), [SIZES; 2]);
        send_much(&mut run, &BOTH, 20)?;
        assert!(
            lengths(&run).iter().all(|&bytes| bytes >= 1252),
            "{:?}",
            lengths(&run)
        );
        Ok(())
    })
}

#[test]
fn a_path_that_is_narrow_from_the_beginning_stalls_nothing() -> Result<(), Failed<Failure>> {
    for limit in LIMITS {
        for agreement in [None, SIZES] {
            seeds(10).try_each(|seed| {
                let mut run = run_of(network(seed, limit, &[]), [agreement; 2]);
                send_much(&mut run, &[End::Server], 1)?;
                for _ in 0..5 {
                    send_much(&mut run, &BOTH, 1)?;
                    keep_busy(&mut run, secs(2));
                    run.run_for(secs(2))?;
                }
                settle(&mut run, secs(10))?;
                Ok(())
            })?;
        }
    }
    Ok(())
}

//! The end of conversations.

use fulmar_base::Time;
use fulmar_sim::{CLIENT, Change, Delay, Failed, Failure, Loss, Network, ms, secs};
use fulmar_transport::{Ending, EndpointEvent};

use crate::ends::{Client, Run, Server, keep_busy, run, seeds};

fn endings(run: &Run) -> [Option<Ending>; 2] {
    let (client, server) = &run.nodes;
    [client.link.endpoint.ending(), server.link.endpoint.ending()]
}

fn client_ends(run: &mut Run) {
    let now = Time::from_origin(run.now());
    run.nodes.0.link.endpoint.start_shutdown(now);
}

fn server_ends(run: &mut Run) {
    let now = Time::from_origin(run.now());
    run.nodes.1.link.endpoint.start_shutdown(now);
}

fn both_ended((client, server): &(Client, Server)) -> bool {
    client.link.endpoint.ending().is_some() && server.link.endpoint.ending().is_some()
}

#[test]
fn the_client_ends_it() -> Result<(), Failure> {
    let mut run = run(Network::seeded(7).both([Delay::ms(50)]));
    run.nodes.0.type_keys(ms(0), 5);
    run.run_for(secs(2))?;
    let now = run.now();
    run.nodes.0.type_keys(now, 5);
    client_ends(&mut run);
    run.run_until(secs(2), both_ended)?;
    let expected = [Some(Ending::Acknowledged), Some(Ending::ByPeer)];
    assert_eq!(endings(&run), expected);
    assert_eq!(run.nodes.1.consumed, 10, "the last keys came along");
    Ok(())
}

#[test]
fn the_server_ends_it_with_a_last_frame() -> Result<(), Failure> {
    let mut run = run(Network::seeded(7).both([Delay::ms(50)]));
    run.nodes.0.type_keys(ms(0), 5);
    run.run_for(secs(2))?;
    run.nodes.1.board.write(0, b"logout");
    let now = Time::from_origin(run.now());
    let board = run.nodes.1.board.clone();
    run.nodes.1.link.endpoint.set_local(now, board);
    server_ends(&mut run);
    run.run_until(secs(2), both_ended)?;
    let expected = [Some(Ending::ByPeer), Some(Ending::Acknowledged)];
    assert_eq!(endings(&run), expected);
    assert!(
        run.nodes
            .0
            .link
            .endpoint
            .remote()
            .text()
            .starts_with("logout")
    );
    assert!(
        run.nodes
            .0
            .link
            .events
            .contains(&EndpointEvent::PeerShutdown)
    );
    Ok(())
}

#[test]
fn both_end_it_at_once() -> Result<(), Failure> {
    let mut run = run(Network::seeded(7).both([Delay::ms(50)]));
    run.nodes.0.type_keys(ms(0), 5);
    run.run_for(secs(2))?;
    client_ends(&mut run);
    server_ends(&mut run);
    run.run_until(secs(2), both_ended)?;
    assert_eq!(endings(&run), [Some(Ending::Acknowledged); 2]);
    Ok(())
}

#[test]
fn a_client_that_is_not_answered_gives_up_within_10_s() -> Result<(), Failure> {
    let mut run = run(Network::seeded(7).both([Delay::ms(50)]));
    run.nodes.0.type_keys(ms(0), 5);
    run.run_for(secs(2))?;
    run.apply(Change::Cut(CLIENT));
    client_ends(&mut run);
    let before = run.nodes.0.link.endpoint.counters().datagrams_sent;
    let took = run.run_until(secs(11), |(client, _)| {
        client.link.endpoint.ending().is_some()
    })?;
    assert!(took <= secs(10), "{took:?}");
    assert_eq!(endings(&run), [Some(Ending::Unanswered), None]);
    let sent = run.nodes.0.link.endpoint.counters().datagrams_sent - before;
    assert_eq!(sent, 16);
    Ok(())
}

#[test]
fn a_client_that_never_found_its_server_gives_up_too() -> Result<(), Failure> {
    let mut run = run(Network::seeded(7));
    run.apply(Change::Cut(CLIENT));
    run.run_for(secs(1))?;
    client_ends(&mut run);
    run.run_until(secs(10), |(client, _)| {
        client.link.endpoint.ending().is_some()
    })?;
    Ok(())
}

#[test]
fn a_server_without_a_client_waits_for_10_s() -> Result<(), Failure> {
    let mut run = run(Network::seeded(7));
    run.apply(Change::Cut(CLIENT));
    server_ends(&mut run);
    let took = run.run_until(secs(11), |(_, server)| {
        server.link.endpoint.ending().is_some()
    })?;
    assert_eq!(took, secs(10));
    Ok(())
}

#[test]
fn an_end_over_a_round_trip_of_6_s_is_clean() -> Result<(), Failure> {
    let mut run = run(Network::seeded(7).both([Delay::ms(3000)]));
    run.nodes.0.type_keys(ms(0), 5);
    run.run_for(secs(30))?;
    client_ends(&mut run);
    run.run_until(secs(10), |(client, _)| {
        client.link.endpoint.ending() == Some(Ending::Acknowledged)
    })?;
    Ok(())
}

/// Of a hundred ends over a link that loses a fifth each way, how many are clean for the end that
/// begins.
fn clean_ends(
    begin: fn(&mut Run),
    ending: fn(&(Client, Server)) -> Option<Ending>,
) -> Result<u32, Failed<Failure>> {
    let mut clean = 0;
    seeds(100).try_each(|seed| {
        let mut run = run(Network::seeded(seed).both([Delay::ms(50), Loss::percent(20)]));
        keep_busy(&mut run, secs(2));
        run.run_for(secs(3))?;
        begin(&mut run);
        run.run_until(secs(11), |ends| ending(ends).is_some())?;
        clean += u32::from(ending(&run.nodes) == Some(Ending::Acknowledged));
        Ok::<(), Failure>(())
    })?;
    Ok(clean)
}

#[test]
fn with_a_fifth_lost_a_client_that_ends_it_ends_cleanly() -> Result<(), Failed<Failure>> {
    let clean = clean_ends(client_ends, |(client, _)| client.link.endpoint.ending())?;
    assert!(clean >= 99, "{clean} of 100");
    Ok(())
}

/// The client does not stay long, because a person waits for the prompt behind it.
#[test]
fn with_a_fifth_lost_a_server_that_ends_it_ends_cleanly_most_times() -> Result<(), Failed<Failure>>
{
    let clean = clean_ends(server_ends, |(_, server)| server.link.endpoint.ending())?;
    // Of a thousand seeds it is 904.
    assert!(clean >= 83, "{clean} of 100");
    Ok(())
}

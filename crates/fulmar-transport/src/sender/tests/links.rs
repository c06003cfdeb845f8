use super::probes::Reader;
use super::*;
use crate::limits::LINK_DIFFERENCE_BYTES;
use crate::receiver::StateOutcome;

const LINK: Budget = Budget::of_bytes(LINK_DIFFERENCE_BYTES);

fn keys(count: usize) -> Log {
    let text: String = (0..count)
        .map(|n| char::from(b'a' + (n % 26) as u8))
        .collect();
    log(&text)
}

/// A sender of keys past its first states, which leave out no numbers, of which the peer has all.
fn typed() -> (Sender<Log>, Reader) {
    let mut sender = Sender::new(at(0), Log::default(), Budget::UNLIMITED);
    let mut reader = Reader::new();
    for count in 1..=5 {
        let composed = sender.send(count, keys(count as usize));
        assert!(reader.take(&composed).is_some());
        sender.acknowledge(at(count), composed.target);
    }
    (sender, reader)
}

/// Sends links for as long as one is ready.
fn links<S: Synced>(sender: &mut Sender<S>, now: u64) -> Vec<Composed> {
    let mut all = Vec::new();
    while sender.chain_state() == ChainState::Ready {
        assert!(all.len() <= CHAIN_STATES_MAX, "links without end");
        all.extend(sender.compose_link(at(now), LINK, false));
    }
    all
}

fn begin<S: Synced>(sender: &mut Sender<S>, now: u64, state: S) -> Vec<Composed> {
    sender.set_current(at(now), state);
    assert!(sender.is_long(at(now), recent(), LINK));
    sender.begin_chain(at(now), recent());
    links(sender, now)
}

#[test]
fn each_link_starts_where_the_one_before_it_leads_to() {
    let (mut sender, mut reader) = typed();
    let all = begin(&mut sender, 100, keys(7505));
    assert_eq!(all.len(), 5);
    for (link, next) in all.iter().zip(&all[1..]) {
        assert_eq!(link.target, next.source);
        assert!(!link.is_new, "only the last number proves a path");
    }
    assert!(all[4].is_new && all.iter().all(|link| link.difference.len() == 1500));
    assert_eq!(sender.chain_state(), ChainState::Sent);
    for link in &all {
        assert_eq!(reader.take(link), Some(StateOutcome::Newest));
    }
    assert!(reader.0.newest().is_same(&keys(7505)));
    sender.acknowledge(at(200), all[4].target);
    assert_eq!(sender.chain_state(), ChainState::None);
    assert_eq!(sender.sync_state(at(200), recent()), SyncState::Settled);
}

#[test]
fn a_link_that_is_sent_again_is_the_same_and_leads_nobody_back() {
    let (mut sender, mut reader) = typed();
    let first = begin(&mut sender, 100, keys(7505));
    let is_taken = |place: usize, reader: &mut Reader| reader.take(&first[place]).is_some();
    // The third is lost, and those behind it start from it.
    let taken = [0, 1, 3, 4].map(|place| is_taken(place, &mut reader));
    assert_eq!(taken, [true, true, false, false]);
    sender.repeat_chain(at(400), false);
    let again = links(&mut sender, 400);
    let numbers = |links: &[Composed]| -> Vec<_> { links.iter().map(numbers).collect() };
    assert_eq!(numbers(&again), numbers(&first));
    let outcomes: Vec<_> = again.iter().map(|link| reader.take(link)).collect();
    let (had, news) = (Some(StateOutcome::Duplicate), Some(StateOutcome::Newest));
    assert_eq!(outcomes, [had, had, news, news, news]);
}

#[test]
fn what_is_acknowledged_is_not_sent_again() {
    let (mut sender, _) = typed();
    let all = begin(&mut sender, 100, keys(7505));
    sender.acknowledge(at(200), all[2].target);
    sender.repeat_chain(at(400), false);
    let again = links(&mut sender, 400);
    assert_eq!(again.len(), 2);
    assert_eq!(again[0].source, all[2].target);
}

#[test]
fn where_nothing_is_missing_there_are_no_links() {
    let (mut sender, _) = typed();
    let all = begin(&mut sender, 100, keys(7505));
    sender.compose(at(150), recent(), Numbering::New, Budget::UNLIMITED);
    sender.repeat_chain(at(400), false);
    sender.acknowledge(at(500), all[4].target);
    assert_eq!(sender.chain_state(), ChainState::None);
    sender.set_current(at(600), keys(7506));
    assert_eq!(sender.chain_state(), ChainState::None);
}

#[test]
fn too_many_links_wait_for_an_acknowledgement() {
    let (mut sender, mut reader) = typed();
    let all = begin(&mut sender, 100, keys(60_005));
    assert_eq!(sender.chain_state(), ChainState::Blocked);
    assert_eq!(sender.count(), CHAIN_STATES_MAX);
    all.iter()
        .for_each(|link| assert!(reader.take(link).is_some()));
    sender.acknowledge(at(200), all[9].target);
    assert_eq!(sender.chain_state(), ChainState::Ready);
    let more = links(&mut sender, 200);
    assert_eq!(more[0].source, all[all.len() - 1].target);
    assert!(more.iter().all(|link| reader.take(link).is_some()));
}

#[test]
fn what_is_typed_meanwhile_follows_the_links() {
    let (mut sender, mut reader) = typed();
    let all = begin(&mut sender, 100, keys(7505));
    let next = sender.send(120, keys(7506));
    assert_eq!((next.source, next.difference.len()), (all[4].target, 1));
    assert!(all.iter().all(|link| reader.take(link).is_some()));
    assert_eq!(reader.take(&next), Some(StateOutcome::Newest));
}

#[test]
fn a_state_that_was_sent_whole_and_lost_is_sent_in_links_below_its_number() {
    let (mut sender, mut reader) = typed();
    let whole = sender.send(100, keys(7505));
    sender.begin_chain(at(500), recent());
    let all = links(&mut sender, 500);
    assert!(all[..4].iter().all(|link| link.target < whole.target));
    assert_eq!(all[4].target, whole.target);
    // The whole arrives late, between two of the links.
    let outcomes = [&all[0], &whole, &all[1]].map(|sent| reader.take(sent));
    let (news, behind) = (Some(StateOutcome::Newest), Some(StateOutcome::Behind));
    assert_eq!(outcomes, [news, news, behind]);
}

#[test]
fn screens_that_are_no_links_are_skipped() {
    let mut sender = sender();
    for text in 1..=6 {
        sender.send(text * 10, board(&"x".repeat(text as usize)));
    }
    sender.set_current(at(100), board(&"y".repeat(900)));
    sender.begin_chain(at(100), Trust::NONE);
    let skipping = sender.clone().compose_link(at(100), LINK, true).unwrap();
    assert_eq!(skipping.source.get(), 0);
    assert!(skipping.target.get() > 6);
}

#[test]
fn a_newer_screen_takes_the_place_of_the_links_to_an_older_one() {
    let mut sender = sender();
    let screen = |letter: &str| board(&letter.repeat(4000));
    sender.send(10, board("x"));
    let old = begin(&mut sender, 100, screen("y"));
    sender.set_current(at(300), screen("z"));
    sender.repeat_chain(at(400), true);
    let mut new = Vec::new();
    while sender.chain_state() == ChainState::Ready {
        new.extend(sender.compose_link(at(400), LINK, true));
    }
    let newest_old = old[old.len() - 1].target;
    assert!(new.iter().all(|link| link.target > newest_old));
    assert!(new.len() <= old.len());
    assert!(new[0].source < old[0].target);
}

#[test]
fn short_states_go_in_one_link() {
    let (mut sender, mut reader) = typed();
    for count in 6..=9 {
        sender.send(count, keys(count as usize));
    }
    let all = begin(&mut sender, 100, keys(3009));
    let lengths: Vec<_> = all.iter().map(|link| link.difference.len()).collect();
    assert_eq!(lengths, [1500, 1500]);
    sender.repeat_chain(at(500), false);
    let again = links(&mut sender, 500);
    let lengths: Vec<_> = again.iter().map(|link| link.difference.len()).collect();
    assert_eq!(lengths, [4, 1500, 1500]);
    assert_eq!(numbers(&again[0]), [5, 9, 5]);
    assert!(again.iter().all(|link| reader.take(link).is_some()));
}

#[test]
fn what_lies_behind_the_source_is_passed_over() {
    let (mut sender, mut reader) = typed();
    for (time, count) in [(10, 1000), (20, 990), (30, 6000)] {
        sender.send(time, keys(count));
    }
    sender.repeat_chain(at(500), false);
    let all = links(&mut sender, 500);
    assert!(all.len() < CHAIN_STATES_MAX);
    assert!(all.windows(2).all(|pair| pair[0].target < pair[1].target));
    assert!(all.iter().all(|link| !link.difference.is_empty()));
    assert!(all.iter().all(|link| reader.take(link).is_some()));
    assert!(reader.0.newest().is_same(&keys(6000)));
}

#[test]
fn where_no_numbers_are_left_a_link_is_as_long_as_it_takes() {
    let mut sender = Sender::new(at(0), Log::default(), Budget::UNLIMITED);
    sender.send(10, keys(3000));
    sender.repeat_chain(at(500), false);
    let link = sender.compose_link(at(500), LINK, false).unwrap();
    assert_eq!((link.target.get(), link.difference.len()), (1, 3000));
}

#[test]
fn the_oldest_waits_from_its_last_send_or_the_last_repetition_on() {
    let (mut sender, _) = typed();
    begin(&mut sender, 100, keys(7505));
    assert_eq!(sender.oldest_link_at(), at(100));
    sender.repeat_chain(at(400), false);
    assert_eq!(sender.oldest_link_at(), at(400));
}

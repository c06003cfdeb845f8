//! The text of a scenario.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use fulmar_base::SendError;
use fulmar_sim::{
    Blocked, BurstLoss, CLIENT, Change, CoDel, Delay, Duplication, Filter, Impairment,
    LinkDirection, Loss, Marking, Mtu, Nat, Notice, Outage, Queue, Rate, Reordering, Traced,
};

use super::words::{self, Words};
use super::{PlannedChange, Scenario};
use crate::trace::LinkTraces;

impl Scenario {
    /// Reads the text form, which the documentation of [this module](crate::scenario) describes.
    ///
    /// # Errors
    ///
    /// Where it is not that, with the line; or a trace cannot be read.
    pub fn parse(text: &str, traces: &LinkTraces) -> Result<Self> {
        let mut scenario = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                scenario
                    .read(line, traces)
                    .with_context(|| format!("line {number} of the scenario: {line}"))?;
            }
        }
        scenario.text = text.trim_end().to_owned();
        Ok(scenario)
    }

    fn read(&mut self, line: &str, traces: &LinkTraces) -> Result<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "seed" => self.seed = Words::of(rest).number("the seed")?,
            "up" => self.up.extend(impairments(rest, traces)?),
            "down" => self.down.extend(impairments(rest, traces)?),
            "both" => {
                let both = impairments(rest, traces)?;
                self.up.extend(both.iter().cloned());
                self.down.extend(both);
            }
            "nat" => self.nat = Some(nat(rest)?),
            "at" | "every" => self.changes.extend(planned(line, traces)?),
            _ => bail!("a line begins with seed, up, down, both, nat, at or every"),
        }
        Ok(())
    }
}

/// Reads the impairments of one way, separated by commas.
pub(super) fn impairments(text: &str, traces: &LinkTraces) -> Result<Vec<Impairment>> {
    let entries = text.split(',').map(str::trim);
    entries
        .map(|entry| impairment(entry, traces).with_context(|| format!("in “{entry}”")))
        .collect()
}

fn impairment(entry: &str, traces: &LinkTraces) -> Result<Impairment> {
    let mut words = Words::of(entry);
    let impairment = match words.next("what happens on this way")? {
        "delay" => delay(&mut words)?,
        "loss" => Loss::percent(words.chance("the share")?.as_unit() * 100.0),
        "burst-loss" => burst_loss(&mut words)?,
        "gilbert-elliott" => gilbert_elliott(&mut words)?,
        "duplicate" => Duplication::percent(words.chance("the share")?.as_unit() * 100.0),
        "reorder" => reorder(&mut words)?,
        "rate" => {
            let bits = words::bits_per_second(words.next("the rate")?)?;
            Rate::bits(bits, queue(&mut words)?)
        }
        "trace" => trace(&mut words, traces)?,
        "mark" => Marking::percent(words.chance("the share")?.as_unit() * 100.0),
        "unmark" => Marking::wiped(),
        "mtu" => mtu(&mut words)?,
        "outage" => outage(&mut words)?,
        "blocked" => blocked(&mut words)?,
        other => bail!("“{other}” is not known"),
    };
    words.end()?;
    Ok(impairment)
}

fn delay(words: &mut Words<'_>) -> Result<Impairment> {
    let word = words.next("the delay")?;
    let Some((least, most)) = word.split_once("..") else {
        return Ok(Delay::fixed(words::duration(word)?));
    };
    let (least, most) = (words::duration(least)?, words::duration(most)?);
    ensure!(least <= most, "a delay grows from the left to the right");
    Ok(if words.take("reordering") {
        Delay::reordering_jitter(least, most)
    } else {
        Delay::jitter(least, most)
    })
}

fn burst_loss(words: &mut Words<'_>) -> Result<Impairment> {
    let share = words.chance("the share")?.as_unit();
    ensure!(
        words.take("run"),
        "the mean run is missing: burst-loss 5% run 4"
    );
    let run: f64 = words.number("the mean run")?;
    // Below, the channel would have to turn bad more than always (BurstLoss::percent).
    ensure!(
        share < 1.0 && run >= 1.0 && share / (1.0 - share) <= run,
        "so large a share needs longer runs"
    );
    Ok(BurstLoss::percent(share * 100.0, run))
}

fn gilbert_elliott(words: &mut Words<'_>) -> Result<Impairment> {
    let mut named = |name: &str| {
        ensure!(words.take(name), "{name} is missing");
        words.chance(name)
    };
    let channel = BurstLoss {
        to_bad: named("to-bad")?,
        to_good: named("to-good")?,
        loss_in_good: named("good")?,
        loss_in_bad: named("bad")?,
    };
    Ok(channel.gilbert_elliott())
}

fn reorder(words: &mut Words<'_>) -> Result<Impairment> {
    let share = words.chance("the share")?;
    ensure!(
        words.take("hold"),
        "for how long is missing: reorder 2% hold 30ms"
    );
    let hold = words.duration("the time held")?;
    Ok(Reordering::percent(share.as_unit() * 100.0, hold))
}

fn trace(words: &mut Words<'_>, traces: &LinkTraces) -> Result<Impairment> {
    let trace = traces.get(words.next("the name of the trace")?)?;
    let start = if words.take("from") {
        words.duration("the start")?
    } else {
        Duration::ZERO
    };
    Ok(Traced::from(trace, start, queue(words)?))
}

/// Reads what follows `queue`, if that is the next word; endless otherwise.
fn queue(words: &mut Words<'_>) -> Result<Queue> {
    if !words.take("queue") || words.take("endless") {
        return Ok(Queue::Endless);
    }
    if words.take("codel") {
        return Ok(codel(words)?.into());
    }
    let limit = words.take_if(|word| {
        let packets = words::packets(word).map(Queue::Datagrams);
        packets.or_else(|| words::bytes(word).map(Queue::Bytes))
    });
    limit.context("a queue is endless, codel, or as long as 24p or 64kB")
}

fn codel(words: &mut Words<'_>) -> Result<CoDel> {
    let mut codel = CoDel::standard();
    loop {
        codel = if words.take("target") {
            codel.timed(words.duration("the target")?, codel.interval())
        } else if words.take("interval") {
            codel.timed(codel.target(), words.duration("the interval")?)
        } else if words.take("ecn") {
            codel.marking()
        } else if let Some(most) = words.take_if(words::packets) {
            codel.holding(most)
        } else {
            return Ok(codel);
        };
    }
}

fn mtu(words: &mut Words<'_>) -> Result<Impairment> {
    let bytes = words.number("the largest packet in bytes")?;
    Ok(if words.take("reported") {
        Mtu::reported(bytes)
    } else {
        Mtu::black_hole(bytes)
    })
}

fn outage(words: &mut Words<'_>) -> Result<Impairment> {
    if words.take("never") {
        return Ok(Outage::never());
    }
    let mut windows = Vec::new();
    while let Some((from, to)) = words.take_if(|word| {
        let (from, to) = word.split_once("..")?;
        Some((words::duration(from).ok()?, words::duration(to).ok()?))
    }) {
        ensure!(from < to, "an outage ends after its start");
        windows.push(from..to);
    }
    ensure!(
        !windows.is_empty(),
        "an outage is from one time to another: outage 10s..20s"
    );
    Ok(Outage::windows(windows, Notice::Silent))
}

fn blocked(words: &mut Words<'_>) -> Result<Impairment> {
    if words.take("nothing") {
        return Ok(Blocked::nothing());
    }
    let is_udp = words.take("udp");
    let port = words.take("port");
    let port = port.then(|| words.number("the port")).transpose()?;
    let notice = if words.take("rejected") {
        Notice::Reported(SendError::Forbidden)
    } else {
        Notice::Silent
    };
    Ok(match port {
        Some(port) => Blocked::port(port, notice),
        None if is_udp => Blocked::udp(notice),
        None => Blocked::all(notice),
    })
}

fn nat(text: &str) -> Result<Nat> {
    let mut words = Words::of(text);
    let mut nat = Nat::at(ipv4(&mut words)?);
    if words.take("expiring") {
        nat = nat.expiring_after(words.duration("the time")?);
    }
    if words.take("filter") {
        nat = nat.filtering(match words.next("the filter")? {
            "open" => Filter::Open,
            "address" => Filter::Address,
            "port" => Filter::AddressAndPort,
            other => bail!("a filter is open, address or port, and not “{other}”"),
        });
    }
    words.end()?;
    Ok(nat)
}

/// Reads `at TIME`, `every PERIOD` or `at TIME every PERIOD`, and what changes then.
fn planned(line: &str, traces: &LinkTraces) -> Result<Vec<PlannedChange>> {
    let (mut at, mut every, mut rest) = (None, None, line);
    loop {
        let mut parts = rest.splitn(3, ' ');
        let slot = match parts.next() {
            Some("at") => &mut at,
            Some("every") => &mut every,
            _ => break,
        };
        *slot = Some(words::duration(
            parts.next().context("the time is missing")?,
        )?);
        rest = parts
            .next()
            .context("what changes is missing")?
            .trim_start();
    }
    ensure!(every != Some(Duration::ZERO), "a period takes time");
    let at = at.or(every).context("the time is missing")?;
    let changes = changes(rest, traces)?.into_iter();
    Ok(changes
        .map(|change| PlannedChange { at, every, change })
        .collect())
}

fn changes(text: &str, traces: &LinkTraces) -> Result<Vec<Change>> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let set = |way: LinkDirection| {
        let settings = impairments(rest, traces)?.into_iter();
        let changes = settings.map(move |setting| Change::Set(CLIENT, way, setting));
        Ok::<_, anyhow::Error>(changes.collect::<Vec<_>>())
    };
    Ok(match word {
        "up" => set(LinkDirection::Up)?,
        "down" => set(LinkDirection::Down)?,
        "both" => [set(LinkDirection::Up)?, set(LinkDirection::Down)?].concat(),
        _ => vec![event(text)?],
    })
}

fn event(text: &str) -> Result<Change> {
    let mut words = Words::of(text);
    let (who, what) = (words.next("who")?, words.next("what it does")?);
    let change = match (who, what) {
        ("client", "moves") if words.take("to") => {
            Change::Move(CLIENT, SocketAddr::new(ip(&mut words)?, 0))
        }
        ("client", "moves") => Change::MoveOn(CLIENT),
        ("client", "sends") if words.take("from") => {
            Change::Bind(CLIENT, SocketAddr::new(ip(&mut words)?, 0))
        }
        ("client", "loses") => Change::Unbind(CLIENT, SocketAddr::new(ip(&mut words)?, 0)),
        ("client", "sleeps") => Change::Suspend(CLIENT),
        ("client", "wakes") => Change::Wake(CLIENT),
        ("link", "cut") => Change::Cut(CLIENT),
        ("link", "restored") => Change::Restore(CLIENT),
        ("nat", "rebinds") => Change::RebindNat(CLIENT),
        ("nat", "moves") if words.take("to") => Change::MoveNat(CLIENT, ipv4(&mut words)?),
        _ => bail!(
            "what changes is up, down, both, client moves [to IP], client sends from IP, client loses IP, \
             client sleeps, client wakes, link cut, link restored, nat rebinds or nat moves to IP"
        ),
    };
    words.end()?;
    Ok(change)
}

/// Reads the address of a translator.
fn ipv4(words: &mut Words<'_>) -> Result<IpAddr> {
    let outside = ip(words)?;
    ensure!(outside.is_ipv4(), "a translator has an IPv4 address");
    Ok(outside)
}

fn ip(words: &mut Words<'_>) -> Result<IpAddr> {
    let word = words.next("the IP address")?;
    word.parse()
        .with_context(|| format!("“{word}” is not an IP address"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_sim::{Chance, address, ms, secs};

    fn parse(text: &str) -> Scenario {
        Scenario::parse(text, &LinkTraces::none()).unwrap()
    }

    #[test]
    fn every_kind_of_impairment_can_be_written() {
        let pairs = [
            ("delay 50ms", Delay::ms(50)),
            ("delay 40ms..60ms", Delay::jitter(ms(40), ms(60))),
            ("delay 40ms..40ms", Delay::jitter(ms(40), ms(40))),
            (
                "delay 0ms..60ms reordering",
                Delay::reordering_jitter(ms(0), ms(60)),
            ),
            ("loss 1.5%", Loss::percent(1.5)),
            ("burst-loss 5% run 4", BurstLoss::percent(5, 4)),
            ("duplicate 1%", Duplication::percent(1)),
            ("reorder 2% hold 30ms", Reordering::percent(2, ms(30))),
            ("rate 5mbit", Rate::kbit(5000, Queue::Endless)),
            (
                "rate 5mbit queue 24p",
                Rate::kbit(5000, Queue::datagrams(24)),
            ),
            (
                "rate 5mbit queue 64kB",
                Rate::kbit(5000, Queue::bytes(64_000)),
            ),
            (
                "rate 5mbit queue codel target 10ms 300p ecn",
                Rate::kbit(
                    5000,
                    CoDel::standard()
                        .timed(ms(10), ms(100))
                        .holding(300)
                        .marking()
                        .into(),
                ),
            ),
            (
                "rate 5mbit queue codel interval 50ms",
                Rate::kbit(5000, CoDel::standard().timed(ms(5), ms(50)).into()),
            ),
            ("mark 5%", Marking::percent(5)),
            ("unmark", Marking::wiped()),
            ("mtu 1280", Mtu::black_hole(1280)),
            ("mtu 1280 reported", Mtu::reported(1280)),
            ("outage 10s..20s", Outage::between(secs(10), secs(20))),
            ("outage never", Outage::never()),
            ("blocked", Blocked::silently()),
            ("blocked udp", Blocked::udp(Notice::Silent)),
            ("blocked nothing", Blocked::nothing()),
            (
                "blocked port 22 rejected",
                Blocked::port(22, Notice::Reported(SendError::Forbidden)),
            ),
        ];
        for (text, impairment) in pairs {
            assert_eq!(parse(&format!("up {text}")).up, [impairment], "{text}");
        }
        let channel = parse("up gilbert-elliott to-bad 5% to-good 15% good 1% bad 60%").up;
        let [to_bad, to_good, loss_in_good, loss_in_bad] = [5, 15, 1, 60].map(Chance::percent);
        let expected = BurstLoss {
            to_bad,
            to_good,
            loss_in_good,
            loss_in_bad,
        };
        assert_eq!(channel, [expected.gilbert_elliott()]);
    }

    #[test]
    fn lines_add_up_and_comments_do_not_count() {
        let scenario = parse("# slow\nseed 9\n\nboth loss 1%, delay 5ms\ndown mtu 600  # small\n");
        assert_eq!(scenario.seed, 9);
        assert_eq!(scenario.up, [Loss::percent(1), Delay::ms(5)]);
        assert_eq!(scenario.down.last(), Some(&Mtu::black_hole(600)));
        assert_eq!(scenario.down.len(), 3);
    }

    #[test]
    fn every_kind_of_change_can_be_written() {
        let ip = |text: &str| text.parse().unwrap();
        let moved = SocketAddr::new(ip("198.51.100.7"), 0);
        for (text, change) in [
            (
                "up loss 9%",
                Change::Set(CLIENT, LinkDirection::Up, Loss::percent(9)),
            ),
            ("client moves", Change::MoveOn(CLIENT)),
            ("client moves to 198.51.100.7", Change::Move(CLIENT, moved)),
            (
                "client sends from 198.51.100.7",
                Change::Bind(CLIENT, moved),
            ),
            ("client loses 198.51.100.7", Change::Unbind(CLIENT, moved)),
            ("client sleeps", Change::Suspend(CLIENT)),
            ("client wakes", Change::Wake(CLIENT)),
            ("link cut", Change::Cut(CLIENT)),
            ("link restored", Change::Restore(CLIENT)),
            ("nat rebinds", Change::RebindNat(CLIENT)),
            (
                "nat moves to 198.51.100.8",
                Change::MoveNat(CLIENT, ip("198.51.100.8")),
            ),
        ] {
            let expected = PlannedChange {
                at: secs(5),
                every: None,
                change,
            };
            assert_eq!(
                parse(&format!("at 5s {text}")).changes,
                [expected],
                "{text}"
            );
        }
        assert_eq!(parse("at 5s both loss 9%, delay 1ms").changes.len(), 4);
    }

    #[test]
    fn a_change_may_come_again() {
        let times = |text| {
            let scenario = parse(text);
            (scenario.changes[0].at, scenario.changes[0].every)
        };
        assert_eq!(times("every 10s client moves"), (secs(10), Some(secs(10))));
        assert_eq!(
            times("at 3s every 10s client moves"),
            (secs(3), Some(secs(10)))
        );
    }

    #[test]
    fn a_translator_can_be_written() {
        let outside = address("198.51.100.9:0").ip();
        let nat = parse("nat 198.51.100.9 expiring 30s filter open").nat;
        let expected = Nat::at(outside)
            .expiring_after(secs(30))
            .filtering(Filter::Open);
        assert_eq!(nat, Some(expected));
    }

    #[test]
    fn a_translator_lets_in_what_its_filter_says() {
        let outside = address("198.51.100.9:0").ip();
        for (word, filter) in [
            ("open", Filter::Open),
            ("address", Filter::Address),
            ("port", Filter::AddressAndPort),
        ] {
            let nat = parse(&format!("nat 198.51.100.9 filter {word}")).nat;
            assert_eq!(nat, Some(Nat::at(outside).filtering(filter)));
        }
    }

    #[test]
    fn a_trace_begins_where_it_is_said_and_has_its_queue() {
        let trace = LinkTraces::none().get("like-evdo-up:2").unwrap();
        let up = parse("up trace like-evdo-up:2 from 30s queue 9p").up;
        assert_eq!(
            up,
            [Traced::from(trace.clone(), secs(30), Queue::datagrams(9))]
        );
        let up = parse("up trace like-evdo-up:2").up;
        assert_eq!(up, [Traced::from(trace, secs(0), Queue::Endless)]);
    }

    #[test]
    fn what_has_no_meaning_is_refused_with_its_line() {
        for (text, part) in [
            ("up los 1%", "“los” is not known"),
            ("up loss 1% twice", "“twice” has no meaning here"),
            ("up loss", "the share is missing"),
            ("up delay 60ms..40ms", "grows"),
            ("up burst-loss 90% run 1", "longer runs"),
            ("up burst-loss 1% run 0.9", "longer runs"),
            ("up outage 10s..10s", "ends after its start"),
            ("nat 198.51.100.9 filter shut", "a filter is open"),
            ("up rate 5mbit queue 24", "as long as 24p or 64kB"),
            ("up trace none", "none"),
            ("up outage 10s", "from one time to another"),
            ("sideways loss 1%", "begins with"),
            ("at soon client moves", "“soon” is not a time"),
            ("at 5s client dances", "what changes is"),
            ("every 0s client moves", "a period takes time"),
            ("nat 2001:db8::1", "IPv4"),
            ("at 5s nat moves to 2001:db8::1", "IPv4"),
            ("seed x", "number"),
        ] {
            let error = Scenario::parse(&format!("\n{text}"), &LinkTraces::none());
            let error = format!("{:#}", error.unwrap_err());
            assert!(error.contains(part), "{text}: {error}");
            assert!(error.starts_with("line 2 of the scenario"), "{error}");
        }
    }
}

//! A user, a program and the link between them, in virtual time.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use fulmar_base::Time;
use fulmar_predict::{Grapheme, PredictionConfig, PredictionEngine, PredictionMode, TtyHints};
use fulmar_terminal::{Screen, Size};

use super::chance::Chance;
use super::host::{Host, Key};
use super::script::{Reader, Script, UNIQUE};

/// The step of time, in milliseconds.
const TICK: u64 = 2;
/// So long the server waits for more.
const COLLECTS: u64 = 8;
/// So long everything goes on after the last key.
const LOOKS_ON: u64 = 3000;
/// So long the user waits for a question.
const PATIENCE: u64 = 20_000;

/// A link, the same both ways.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    one_way: u64,
    jitter: u64,
    loss: u64,
}

impl Link {
    pub(super) fn new(chance: &mut Chance) -> Link {
        Link {
            one_way: chance.pick(&[5, 25, 50, 150, 250]),
            jitter: chance.pick(&[0, 30, 120]),
            loss: chance.pick(&[0, 5, 29]),
        }
    }

    /// Returns the time at which what is sent now arrives, if it does.
    fn arrival(&self, now: u64, chance: &mut Chance) -> Option<u64> {
        let arrival = now + self.one_way + chance.between(0, self.jitter);
        (!chance.is_hit(self.loss)).then_some(arrival)
    }

    /// Returns the time after which it is sent again.
    fn patience(&self) -> u64 {
        (self.one_way * 3 + self.jitter).max(60)
    }

    fn frame_interval(&self) -> u64 {
        self.one_way.clamp(20, 250)
    }
}

/// The server's news at a time.
struct News {
    number: u64,
    screen: Screen,
    hints: TtyHints,
    received: u64,
    echoed: u64,
    asked: usize,
}

impl News {
    fn is_same(&self, host: &Host<'_>, now: u64) -> bool {
        self.screen == *host.terminal.screen()
            && self.hints == host.hints()
            && self.received == host.received()
            && self.echoed == host.acknowledged(now)
            && self.asked == host.asked()
    }
}

pub(super) struct World<'a> {
    chance: Chance,
    link: Link,
    host: Host<'a>,
    engine: PredictionEngine,
    has_hints: bool,
    now: u64,
    /// Keys on their way, with the time of their arrival.
    up: VecDeque<(u64, Key)>,
    down: Vec<(u64, News)>,
    sent: u64,
    sent_at: u64,
    changed_at: Option<u64>,
    seen: u64,
    /// Counts the questions that the user has seen.
    asked: usize,
    /// The characters that the engine ever drew.
    pub(super) drawn: BTreeSet<char>,
    /// Counts those cells.
    pub(super) cells: usize,
}

impl<'a> World<'a> {
    pub(super) fn new(
        script: &'a Script,
        link: Link,
        has_hints: bool,
        chance: Chance,
    ) -> World<'a> {
        let size = Size::new(10, 40).expect("a size within bounds");
        let config = PredictionConfig {
            mode: PredictionMode::Always,
            overwrite: false,
        };
        let mut engine = PredictionEngine::new(config, size);
        let round_trip = link.one_way * 2 + link.jitter;
        engine.handle_link(Some(Duration::from_millis(round_trip)));
        World {
            chance,
            link,
            host: Host::new(script, size),
            engine,
            has_hints,
            now: 0,
            up: VecDeque::new(),
            down: Vec::new(),
            sent: 0,
            sent_at: 0,
            changed_at: None,
            seen: 0,
            asked: 0,
            drawn: BTreeSet::new(),
            cells: 0,
        }
    }

    /// Lets everything happen. Returns the characters of secrets that nothing excuses.
    pub(super) fn run(&mut self, script: &Script) -> Vec<char> {
        let mut typed = 0;
        let mut next = 0;
        for (number, step) in script.steps.iter().enumerate() {
            let is_behind_key = number > 0 && script.steps[number - 1].reader == Reader::OneKey;
            // What follows one key may belong to the same answer, unless the user has seen the next
            // question.
            while is_behind_key && self.asked <= number && self.now < next + PATIENCE {
                self.pass_until(self.now + TICK);
            }
            next = next.max(self.now);
            for key in &step.keys {
                next += key.after;
                self.pass_until(next);
                let key = Key {
                    key: key.key,
                    step: number,
                };
                self.type_key(typed, key);
                typed += 1;
            }
        }
        self.pass_until(next + LOOKS_ON);
        self.kept(script)
    }

    /// The characters that only secrets have, without those answers of which something was echoed.
    fn kept(&self, script: &Script) -> Vec<char> {
        let is_kept = |number: &usize| {
            script.steps[*number].reader.keeps_secrets()
                && !self.host.echoed.contains(number)
                && !self.host.blurred.contains(number)
        };
        let kept = (0..script.steps.len()).filter(is_kept);
        let keys = kept.flat_map(|number| script.steps[number].keys.iter().map(|key| key.key));
        keys.filter(|key| UNIQUE.contains(*key)).collect()
    }

    fn type_key(&mut self, number: u64, key: Key) {
        let bytes = key.key.to_string();
        self.engine
            .handle_keys(self.time(), number, bytes.as_bytes());
        let mut at = self.now;
        let arrival = loop {
            match self.link.arrival(at, &mut self.chance) {
                Some(arrival) => break arrival,
                None => at += self.link.patience(),
            }
        };
        let last = self.up.back().map_or(0, |(at, _)| *at);
        self.up.push_back((arrival.max(last), key));
        self.look();
    }

    fn time(&self) -> Time {
        Time::from_origin(Duration::from_millis(self.now))
    }

    fn pass_until(&mut self, until: u64) {
        while self.now + TICK <= until {
            self.now += TICK;
            while self.up.front().is_some_and(|(at, _)| *at <= self.now) {
                if let Some((_, key)) = self.up.pop_front() {
                    self.host.type_key(self.now, key);
                }
            }
            self.host.pass(self.now);
            self.send();
            self.receive();
            if self
                .engine
                .poll_timeout()
                .is_some_and(|due| due <= self.time())
            {
                self.look();
            }
        }
    }

    fn send(&mut self) {
        let newest = self
            .down
            .iter()
            .map(|(_, news)| news)
            .max_by_key(|news| news.number);
        let is_known = newest.is_some_and(|news| news.is_same(&self.host, self.now));
        let interval = if is_known {
            // It may be lost; the client's acknowledgement is not modelled.
            self.link.patience()
        } else {
            self.link.frame_interval()
        };
        self.changed_at = if is_known {
            None
        } else {
            self.changed_at.or(Some(self.now))
        };
        let collected = self.changed_at.map_or(0, |at| at + COLLECTS);
        if self.now < (self.sent_at + interval).max(collected) {
            return;
        }
        self.changed_at = None;
        self.sent_at = self.now;
        self.sent += 1;
        let news = News {
            number: self.sent,
            screen: self.host.terminal.screen().clone(),
            hints: self.host.hints(),
            received: self.host.received(),
            echoed: self.host.acknowledged(self.now),
            asked: self.host.asked(),
        };
        if let Some(arrival) = self.link.arrival(self.now, &mut self.chance) {
            self.down.push((arrival, news));
        }
    }

    fn receive(&mut self) {
        let now = self.now;
        while let Some(index) = self
            .down
            .iter()
            .position(|(at, news)| *at <= now && news.number > self.seen)
        {
            let (_, news) = self.down.swap_remove(index);
            self.seen = news.number;
            self.asked = news.asked;
            if self.has_hints {
                self.engine.handle_hints(news.hints);
            }
            self.engine
                .handle_frame(self.time(), &news.screen, news.received, news.echoed);
            self.look();
        }
        self.down.retain(|(at, _)| *at > now);
    }

    fn look(&mut self) {
        let overlay = self.engine.overlay(self.time());
        self.cells += overlay.cells().len();
        for cell in overlay.cells() {
            if let Grapheme::Char(character) = cell.content.grapheme {
                self.drawn.insert(character);
            }
        }
    }
}

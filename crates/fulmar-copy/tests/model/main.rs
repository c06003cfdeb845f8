//! Copies of random trees over streams of random speeds, interrupted anywhere and taken up again.
//!
//! `FULMAR_SEEDS` says with how many seeds; `FULMAR_SEED` runs a single one. A failure names its seed.

mod cases;
#[path = "../support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};

use fulmar_copy::{
    Answer, Answerer, CopyEvent, EntryError, EntryErrorKind, EntryVerdict, Flags, Occupant, Poll,
    Receiver, RelativePath, Request, Requester, Sender,
};
use fulmar_sim::Random;

use support::memory::{MemorySource, MemoryTarget};
use support::streams::{End, Link};
use support::tree::{self, Node, Tree};

/// The number of seeds that an ordinary run tries.
const SEEDS: u64 = 1000;

/// Both ends with what lies between them, up to the end of the copy or of the connection.
struct Copy {
    random: Random,
    link: Link,
    near: End,
    far: End,
    sender: Sender,
    receiver: Receiver,
    source: MemorySource,
    is_sent: bool,
    is_received: bool,
    failed: BTreeSet<(RelativePath, EntryErrorKind)>,
    changed: BTreeSet<RelativePath>,
    /// The things that a dry run has found, as the sender has heard.
    looked: BTreeMap<RelativePath, Occupant>,
    /// Without an entry.
    troubles: Vec<EntryError>,
    moved: u64,
    /// True if an end wanted to go on at once.
    is_busy: bool,
}

impl Copy {
    fn new(mut random: Random, source: MemorySource, flags: Flags) -> Self {
        let count = 1 + random.below(8);
        let capacities: Vec<_> = (0..count)
            .map(|_| 1 + random.below(300_000) as usize)
            .collect();
        let link = Link::new(&capacities);
        let (mut near, mut far) = (link.sender(), link.receiver());
        let request = Request::Put {
            target: b"there".to_vec(),
            flags,
        };
        let mut requester = Requester::new(request).expect("a request that fits");
        assert_eq!(requester.poll(&mut near), Ok(None));
        link.deliver_all();
        let mut answerer = Answerer::new();
        let asked = answerer.poll(&mut far).expect("a request");
        assert_eq!(asked.map(Request::flags), Some(flags));
        answerer.answer(&Answer::Ready { into_folder: true });
        let receiver = Receiver::answering(answerer, Box::new(|_, root| root == b"top"));
        Self {
            random,
            link,
            near,
            far,
            sender: Sender::new(requester),
            receiver,
            source,
            is_sent: false,
            is_received: false,
            failed: BTreeSet::new(),
            changed: BTreeSet::new(),
            looked: BTreeMap::new(),
            troubles: Vec::new(),
            moved: 0,
            is_busy: false,
        }
    }

    /// Goes on for that many steps, or to the end; whether it has come to it.
    fn run(&mut self, target: &mut MemoryTarget, steps: u64) -> bool {
        for step in 0..steps {
            self.step(target);
            if step % 64 == 63 && !self.is_over() {
                self.all_move(target);
            }
            if self.is_over() {
                return true;
            }
        }
        false
    }

    fn is_over(&self) -> bool {
        self.is_sent && self.is_received
    }

    /// Something small happens somewhere.
    fn step(&mut self, target: &mut MemoryTarget) {
        match self.random.below(6) {
            0 => self.send(),
            1 => self.receive(target),
            2 if self.random.below(20) == 0 => self.source.stalls = 5,
            3 if self.random.below(20) == 0 => target.stalls = 5,
            _ => self.link.deliver_some(&mut self.random),
        }
    }

    /// Everything happens that can, until something has an effect. If nothing has, and nobody wants another
    /// turn at once, that is a deadlock; if somebody always does, they turn in circles.
    fn all_move(&mut self, target: &mut MemoryTarget) {
        for _ in 0..1000 {
            let before = (self.moved, self.sender.progress(), self.receiver.progress());
            (self.source.stalls, target.stalls) = (0, 0);
            self.is_busy = false;
            self.send();
            self.receive(target);
            self.moved += self.link.deliver_all() as u64;
            let after = (self.moved, self.sender.progress(), self.receiver.progress());
            if before != after || self.is_over() {
                return;
            }
            assert!(
                self.is_busy,
                "deadlock: {:?} {:?}",
                self.sender, self.receiver
            );
        }
        panic!("no end: {:?} {:?}", self.sender, self.receiver);
    }

    fn send(&mut self) {
        let budget = 1 + self.random.below(400_000) as usize;
        let turn = self.sender.poll(&mut self.source, &mut self.near, budget);
        let turn = turn.expect("a receiver that keeps to the rules");
        self.is_sent |= turn == Poll::Done;
        self.is_busy |= turn == Poll::More;
        while let Some(event) = self.sender.poll_event() {
            match event {
                CopyEvent::Settled { path, verdict, .. } => match verdict {
                    EntryVerdict::Whole => {}
                    EntryVerdict::Looked(occupant) => drop(self.looked.insert(path, occupant)),
                    EntryVerdict::Changed => drop(self.changed.insert(path)),
                    EntryVerdict::Failed { error: trouble, .. } => {
                        self.failed.insert((path, trouble.kind));
                    }
                },
                CopyEvent::EntryError(trouble) => self.troubles.push(trouble),
                CopyEvent::Answered(answer) => {
                    assert_eq!(answer, Answer::Ready { into_folder: true })
                }
            }
        }
    }

    fn receive(&mut self, target: &mut MemoryTarget) {
        if self.is_received {
            return;
        }
        let budget = 1 + self.random.below(400_000) as usize;
        let turn = self.receiver.poll(target, &mut self.far, budget);
        let turn = turn.expect("a sender that keeps to the rules");
        self.is_received |= turn == Poll::Done;
        self.is_busy |= turn == Poll::More;
        while self.receiver.poll_event().is_some() {}
    }
}

fn seeds() -> Vec<u64> {
    #[expect(
        clippy::disallowed_methods,
        reason = "which seeds to run is said from outside"
    )]
    let number = |name| {
        std::env::var(name)
            .ok()
            .map(|text| text.parse().expect("a number"))
    };
    match number("FULMAR_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("FULMAR_SEEDS").unwrap_or(SEEDS)).collect(),
    }
}

/// Runs a case for every seed, and names the one that fails.
fn for_seeds(case: impl Fn(u64) + std::panic::RefUnwindSafe) {
    for seed in seeds() {
        let run = std::panic::catch_unwind(|| case(seed));
        assert!(run.is_ok(), "FULMAR_SEED={seed} fails");
    }
}

/// Other content of the same size, as after an edit.
fn edited(random: &mut Random, node: &Node) -> Option<Node> {
    let Node::File {
        content,
        mode,
        modified,
    } = node
    else {
        return None;
    };
    let mut bytes = content.to_vec();
    if !bytes.is_empty() && random.below(3) > 0 {
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] ^= 1;
    }
    Some(Node::File {
        content: bytes.into(),
        mode: *mode,
        modified: *modified,
    })
}

fn spoil_parts(random: &mut Random, target: &mut MemoryTarget) {
    for partial in target.parts.values_mut() {
        if random.below(3) == 0 && !partial.bytes.is_empty() {
            let at = random.below(partial.bytes.len() as u64) as usize;
            partial.bytes[at] ^= 0x40;
        }
    }
}

fn flags(random: &mut Random) -> Flags {
    let mut flags = Flags::RECURSIVE | Flags::PRESERVE | Flags::RESUME;
    flags.set(Flags::IN_ORDER, random.below(10) == 0);
    flags
}

#[test]
fn an_interrupted_copy_ends_with_the_same_tree() {
    for_seeds(|seed| {
        let mut random = Random::stream(seed, 0);
        let tree = tree::random_tree(&mut random);
        let mut target = MemoryTarget {
            truth: Some(tree.clone()),
            ..MemoryTarget::default()
        };
        for (path, node) in &tree {
            if random.below(6) == 0
                && let Some(node) = edited(&mut random, node)
            {
                target.tree.insert(path.clone(), node);
            }
        }
        let flags = flags(&mut random);
        let interruptions = random.below(4);
        for attempt in 0..=interruptions {
            let mut copy = Copy::new(
                Random::stream(seed, attempt + 1),
                MemorySource::of(&tree),
                flags,
            );
            let steps = if attempt == interruptions {
                u64::MAX
            } else {
                random.below(400)
            };
            target.left.clear();
            if copy.run(&mut target, steps) {
                assert!(copy.failed.is_empty(), "{:?}", copy.failed);
                assert_eq!(copy.sender.totals(), copy.receiver.totals());
                assert!(copy.source.open.is_empty(), "every file is closed");
                assert!(target.is_idle(), "every file is settled");
                assert_eq!(target.tree, tree);
            } else {
                copy.receiver.interrupt(&mut target);
                assert!(target.is_idle(), "every file is abandoned");
                spoil_parts(&mut random, &mut target);
            }
        }
        assert_eq!(target.tree, tree);
    });
}

/// Takes some of the files out of the tree.
fn pick(random: &mut Random, tree: &Tree) -> BTreeSet<RelativePath> {
    let is_long = |node: &&Node| matches!(node, Node::File { content, .. } if content.len() > 2000);
    let long = tree.iter().filter(|(_, node)| is_long(node));
    long.filter(|_| random.below(5) == 0)
        .map(|(path, _)| path.clone())
        .collect()
}

#[test]
fn trouble_with_some_files_is_named_and_the_others_arrive() {
    for_seeds(|seed| {
        let mut random = Random::stream(seed, 0);
        let tree = tree::random_tree(&mut random);
        let mut source = MemorySource::of(&tree);
        source.unreadable = pick(&mut random, &tree);
        source.shrunk = pick(&mut random, &tree);
        source.changed = pick(&mut random, &tree);
        let mut target = MemoryTarget {
            truth: Some(tree.clone()),
            ..MemoryTarget::default()
        };
        target.denied = pick(&mut random, &tree);
        target.full = pick(&mut random, &tree);
        let hurt: BTreeSet<_> = [
            &source.unreadable,
            &source.shrunk,
            &target.denied,
            &target.full,
        ]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
        let changed = source.changed.clone();
        let flags = flags(&mut random);
        let mut copy = Copy::new(Random::stream(seed, 1), source, flags);
        assert!(copy.run(&mut target, u64::MAX));
        assert!(copy.source.open.is_empty(), "every file is closed");
        assert!(target.is_idle(), "every file is settled");
        let named: BTreeSet<_> = copy.failed.iter().map(|(path, _)| path.clone()).collect();
        assert_eq!(named, hurt);
        assert_eq!(copy.changed, changed.difference(&hurt).cloned().collect());
        let arrived: Tree = tree
            .into_iter()
            .filter(|(path, _)| !hurt.contains(path))
            .collect();
        assert_eq!(target.tree, arrived);
        let troubles = copy.receiver.totals().map(|totals| totals.troubles);
        assert_eq!(
            troubles,
            Some((copy.failed.len() + copy.changed.len()) as u64)
        );
    });
}

//! A program that does anything with its screen, in windows that change, over a network that loses and fails: the client has, line for
//! line, what has left the top of the screen.

use std::collections::BTreeMap;

use fulmar_sim::Random;

use super::*;

/// The lines that have left the screen of the reference, by their numbers.
type Left = BTreeMap<u64, String>;

/// Returns the text of a packed line, without what depends on the width of a window.
fn text_of(packed: &[u8]) -> String {
    let rows = unpack_line(packed, 4096).expect("what was packed");
    let mut text = String::new();
    rows.iter().for_each(|row| row.push_text(&mut text));
    text.replace(' ', "")
}

/// Takes in what has left since. Fails if a number is another line than before.
fn harvest(world: &mut World, left: &mut Left) -> Result<(), Failure> {
    let mut packed = Vec::new();
    let history = world.far().reference.history().expect("it is kept");
    for number in history.first()..history.end() {
        assert!(history.read(number, &mut packed));
        let text = text_of(&packed);
        let known = left.entry(number).or_insert_with(|| text.clone());
        if *known != text {
            let what = format!("number {number} was {known:?} and is {text:?}");
            return Err(world.sim.found(what));
        }
    }
    Ok(())
}

/// Returns what the program writes next.
fn output(random: &mut Random, next: &mut u64, columns: u64) -> String {
    let mut lines = |count: u64| {
        let numbers = *next..*next + count;
        *next += count;
        numbers.map(|number| line(number) + "\r\n").collect()
    };
    match random.below(8) {
        0..=3 => lines(random.below(40)),
        4 => format!("\x1b[H\x1b[J{}", lines(random.below(30))),
        5 => {
            let text: String = lines(1);
            format!("\x1b[{}A\x1b[K{text}\x1b[99;1H", random.below(30))
        }
        6 => format!("\x1b[3J{}", lines(random.below(10))),
        _ => format!(
            "\x1b[?1049h{}\x1b[{columns}G<\x1b[?1049l{}",
            lines(30),
            lines(3)
        ),
    }
}

fn run(seed: u64) -> Result<(), Failure> {
    let mut random = Random::stream(seed, 77);
    let loss = random.below(25) as u8;
    let delay = ms(5 + random.below(200));
    let begin = secs(2 + random.below(10));
    let out = begin..begin + secs(random.below(3) * 8);
    let way = || {
        [
            Loss::percent(loss),
            Outage::between(out.start, out.end),
            Delay::fixed(delay),
        ]
    };
    let net = Network::seeded(seed).up(way()).down(way());
    let mut world = start(net, ScrollbackLimits::default())?;
    let (mut collected, mut left, mut next) = (Collected::default(), Left::new(), 0);
    let mut columns = 80;
    for _ in 0..25 {
        if random.below(3) == 0 {
            columns = [80, 80, 57, 100][random.below(4) as usize];
            world.resize(columns, 3 + random.below(40) as u16);
        } else {
            let text = output(&mut random, &mut next, columns.into());
            world.program_writes(text.as_bytes());
        }
        harvest(&mut world, &mut left)?;
        collected.run(&mut world, ms(random.below(700)))?;
        harvest(&mut world, &mut left)?;
    }
    world.run_for(secs(30))?;
    // Whatever a window has brought back leaves again.
    world.program_writes("\r\n".repeat(60).as_bytes());
    harvest(&mut world, &mut left)?;
    collected.catch_up(&mut world, secs(120))?;
    // What is cleared before it was told may be left out first.
    let cleared = collected.clears.last().copied().unwrap_or(0);
    if collected.skips.iter().any(|next| *next > cleared) {
        let what = format!("skipped to {:?}", collected.skips);
        return Err(world.sim.found(what));
    }
    for (number, text) in &collected.lines {
        let text = text.replace(' ', "");
        let is_told = match left.get(number) {
            Some(left) => *left == text,
            // It was brought back, and cleared there.
            None => *number < cleared,
        };
        if !is_told {
            let what = format!("{number} is {text:?}, not {:?}", left.get(number));
            return Err(world.sim.found(what));
        }
    }
    Ok(())
}

#[test]
fn whatever_left_is_what_came() -> Result<(), Failure> {
    (0..seeds()).try_for_each(run)
}

//! Made-up programs that ask for secrets, on made-up links: no character of a secret is drawn.
//!
//! A program asks one thing after another with few prompts, so that those for secrets equal those for
//! other things: with a line editor, with the terminal's own echo, without any, with stars, for a single
//! key. Every character that may be missed in a secret is typed nowhere else.
//!
//! Left out is what docs/prediction.md calls the rest: raw mode with bracketed paste on behind an equal
//! prompt. So is what nobody could know: secrets of which the terminal itself echoed a part because they
//! were typed too early, and questions that were answered before they were asked.

mod chance;
mod host;
mod script;
mod world;

use chance::Chance;
use script::Script;
use world::{Link, World};

const SEEDS: u64 = 1500;

#[test]
fn no_secret_is_drawn() {
    for has_hints in [false, true] {
        let (mut kept, mut cells) = (0, 0);
        for seed in 1..=SEEDS {
            let mut chance = Chance::new(seed);
            let script = Script::new(&mut chance);
            let link = Link::new(&mut chance);
            let mut world = World::new(&script, link, has_hints, chance);
            let secret = world.run(&script);
            let shown: Vec<&char> = secret.iter().filter(|c| world.drawn.contains(c)).collect();
            assert!(
                shown.is_empty(),
                "seed {seed}, hints {has_hints}, {link:?}: {shown:?} of {script:#?}"
            );
            kept += secret.len() as u64;
            cells += world.cells as u64;
        }
        // There was something to be kept, and something was drawn.
        assert!(kept > SEEDS * 3, "{kept}");
        assert!(cells > SEEDS * 10, "{cells}");
    }
}

//! Scripts of questions that a program asks one after another, and of what the user types.

use super::chance::Chance;

/// The way a program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// A line editor: the terminal is raw and the program echoes.
    Editor { bracketed: bool },
    /// A line, which the terminal echoes.
    Cooked,
    /// A line, without echo.
    Silent,
    /// Key by key, without echo.
    RawSilent,
    /// Key by key, a star for each.
    Masked,
    /// One key, which the terminal echoes.
    OneKey,
}

impl Reader {
    /// True if a secret is typed there.
    pub(super) fn keeps_secrets(self) -> bool {
        matches!(self, Reader::Silent | Reader::RawSilent | Reader::Masked)
    }
}

/// One question and the answer to it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// So long the program works before it asks, in milliseconds.
    pub(super) delay: u64,
    /// The output before the prompt.
    pub(super) preface: &'static str,
    pub(super) prompt: &'static str,
    pub(super) reader: Reader,
    /// So much later than the prompt the terminal is set; earlier if it is negative.
    pub(super) mode_after: i64,
    pub(super) keys: Vec<Typed>,
    /// The hash of the program's name.
    pub(super) program: u64,
}

/// A key and the time since the one before, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Typed {
    pub(super) after: u64,
    pub(super) key: char,
}

/// The course of a session: what the user and the program do.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) steps: Vec<Step>,
    /// The program is behind another terminal, as in tmux, ssh or sudo.
    pub(super) is_relayed: bool,
}

/// Characters that are typed in secrets only, each once in a session.
pub(super) const UNIQUE: &str = "ABDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/// Characters that are typed anywhere.
const COMMON: [char; 7] = ['a', 'b', 'c', '>', '$', ' ', '*'];

const PROMPTS: [&str; 9] = [
    "$ ",
    "> ",
    "host$ ",
    "name: ",
    ">>> ",
    "? ",
    "",
    "password: ",
    "a b\r\n(x) > ",
];

const PREFACES: [&str; 8] = [
    "",
    "",
    "",
    "",
    "one\r\ntwo\r\n",
    "\x1b[2J\x1b[H",
    "\x1b[3;1H\x1b[2K",
    "\r\n\r\n\r\n\r\n\r\n",
];

const KINDS: [Reader; 11] = [
    Reader::Editor { bracketed: true },
    Reader::Editor { bracketed: true },
    Reader::Editor { bracketed: true },
    Reader::Editor { bracketed: false },
    Reader::Cooked,
    Reader::Cooked,
    Reader::Silent,
    Reader::Silent,
    Reader::RawSilent,
    Reader::Masked,
    Reader::OneKey,
];

impl Script {
    pub(super) fn new(chance: &mut Chance) -> Script {
        let prompts = [(); 3].map(|()| chance.pick(&PROMPTS));
        let mut unique = UNIQUE.chars();
        let count = chance.between(5, 12);
        let mut steps: Vec<Step> = Vec::new();
        for _ in 0..count {
            let mut step = Step::new(chance, &prompts, &mut unique);
            let is_behind_key = steps
                .last()
                .is_some_and(|last: &Step| last.reader == Reader::OneKey);
            // Nobody could see that another question is asked.
            if is_behind_key && step.preface.is_empty() && step.prompt.is_empty() {
                step.preface = "one\r\ntwo\r\n";
            }
            steps.push(step);
        }
        Script {
            steps,
            is_relayed: chance.is_hit(25),
        }
    }
}

impl Step {
    fn new(
        chance: &mut Chance,
        prompts: &[&'static str],
        unique: &mut impl Iterator<Item = char>,
    ) -> Step {
        let reader = chance.pick(&KINDS);
        let delay = match chance.below(4) {
            0 => 0,
            1 => chance.below(20),
            _ => chance.below(400),
        };
        let prompt = chance.pick(prompts);
        // One that reads lines without asking is another than those that ask for secrets.
        let is_waiting = prompt.is_empty() && reader == Reader::Cooked;
        Step {
            delay,
            program: if is_waiting { 9 } else { chance.between(1, 3) },
            preface: chance.pick(&PREFACES),
            prompt,
            reader,
            mode_after: chance.pick(&[-5, -1, -1, 0, 1, 4]),
            keys: keys(chance, reader, delay, unique),
        }
    }
}

fn keys(
    chance: &mut Chance,
    reader: Reader,
    delay: u64,
    unique: &mut impl Iterator<Item = char>,
) -> Vec<Typed> {
    let mut keys: Vec<char> = Vec::new();
    let length = match reader {
        Reader::OneKey => 1,
        _ => chance.between(0, 6),
    };
    for number in 0..length {
        // What is typed next may stand by chance where a secret would begin.
        let own =
            (reader.keeps_secrets() && (number == 0 || chance.is_hit(60))).then(|| unique.next());
        keys.push(own.flatten().unwrap_or_else(|| chance.pick(&COMMON)));
        if reader != Reader::OneKey && chance.is_hit(8) {
            keys.push('\x7f');
        }
    }
    if reader != Reader::OneKey {
        keys.push(if chance.is_hit(10) { '\x03' } else { '\r' });
    }
    // Most look before they type, and who types a secret does.
    let think = if !reader.keeps_secrets() && chance.is_hit(15) {
        chance.below(200)
    } else {
        delay + chance.between(200, 1500)
    };
    let speed = chance.pick(&[0, 40, 120, 300]);
    let times = std::iter::once(think).chain(std::iter::repeat(speed));
    let typed = |(after, key)| Typed { after, key };
    times.zip(keys).map(typed).collect()
}

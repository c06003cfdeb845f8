//! Patterns for names: `*`, `?`, `[a-z]`, `\`.
//!
//! Names are bytes. Where they are UTF-8, `?` and brackets take whole characters, else single bytes.

/// The longest list of names that one pattern may become. Chosen to bound memory: at 255 bytes
/// each it is 16 MiB. Whoever has more names the folder itself.
pub(crate) const MAX_MATCHES: usize = 65_536;

/// One component of a path as a pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    tokens: Vec<Token>,
}

#[derive(Clone, Debug)]
enum Token {
    One(u32),
    Any,
    AnyRun,
    Class { negated: bool, items: Vec<Item> },
}

#[derive(Clone, Debug)]
enum Item {
    Range(u32, u32),
    Named(Test),
}

/// A test whether a byte belongs to a named class.
type Test = fn(&u8) -> bool;

impl Pattern {
    /// Reads a pattern. Everything is one: a bracket that is not closed and a backslash at the end stand for themselves.
    #[must_use]
    pub fn parse(pattern: &[u8]) -> Self {
        let units = units(pattern);
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(&unit) = units.get(at) {
            let rest = units.get(at + 1..).unwrap_or(&[]);
            let (token, length) = token(unit, rest);
            // Two stars are one, or a hostile pattern costs a lot.
            let doubled = matches!(
                (tokens.last(), &token),
                (Some(Token::AnyRun), Token::AnyRun)
            );
            if !doubled {
                tokens.push(token);
            }
            at += length;
        }
        Self { tokens }
    }

    /// Returns true if the pattern stands for more than one name.
    #[must_use]
    pub fn is_wild(&self) -> bool {
        !self
            .tokens
            .iter()
            .all(|token| matches!(token, Token::One(_)))
    }

    /// Returns true if `name` is one of those that the pattern stands for. A leading dot is matched by a dot
    /// only.
    #[must_use]
    pub fn matches(&self, name: &[u8]) -> bool {
        let is_hidden = name.first() == Some(&b'.');
        let asks_for_hidden =
            matches!(self.tokens.first(), Some(Token::One(unit)) if *unit == u32::from(b'.'));
        (asks_for_hidden || !is_hidden) && run(&self.tokens, &units(name))
    }

    /// The one name that a pattern without wildcards stands for.
    #[must_use]
    pub fn unescaped(&self) -> Vec<u8> {
        let mut name = Vec::new();
        for token in &self.tokens {
            if let Token::One(unit) = token {
                put(&mut name, *unit);
            }
        }
        name
    }
}

/// Units above the characters: bytes that are not UTF-8.
const RAW: u32 = 0x11_0000;

fn units(bytes: &[u8]) -> Vec<u32> {
    bytes
        .utf8_chunks()
        .flat_map(|chunk| {
            let raw = chunk.invalid().iter().map(|byte| RAW + u32::from(*byte));
            chunk.valid().chars().map(u32::from).chain(raw)
        })
        .collect()
}

fn put(name: &mut Vec<u8>, unit: u32) {
    match char::from_u32(unit) {
        Some(character) => name.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        None => name.push(u8::try_from(unit.saturating_sub(RAW)).unwrap_or(b'?')),
    }
}

/// The token that begins with `unit`, and how many units it takes.
fn token(unit: u32, rest: &[u32]) -> (Token, usize) {
    match char::from_u32(unit) {
        Some('*') => (Token::AnyRun, 1),
        Some('?') => (Token::Any, 1),
        Some('\\') => rest
            .first()
            .map_or((Token::One(unit), 1), |next| (Token::One(*next), 2)),
        Some('[') => {
            class(rest).map_or((Token::One(unit), 1), |(class, length)| (class, 1 + length))
        }
        _ => (Token::One(unit), 1),
    }
}

/// Reads what follows a `[`, up to and with its `]`.
fn class(units: &[u32]) -> Option<(Token, usize)> {
    let is = |at: usize, character: char| units.get(at) == Some(&u32::from(character));
    let negated = is(0, '!') || is(0, '^');
    let start = usize::from(negated);
    let mut at = start;
    let mut items = Vec::new();
    while at == start || !is(at, ']') {
        if let Some((item, length)) = named(units.get(at..)?) {
            items.push(item);
            at += length;
            continue;
        }
        let (first, length) = member(units.get(at..)?)?;
        at += length;
        if is(at, '-') && units.get(at + 1).is_some() && !is(at + 1, ']') {
            let (last, length) = member(units.get(at + 1..)?)?;
            items.push(Item::Range(first, last));
            at += 1 + length;
        } else {
            items.push(Item::Range(first, first));
        }
    }
    Some((Token::Class { negated, items }, at + 1))
}

/// One end of a range, which a backslash may protect.
fn member(units: &[u32]) -> Option<(u32, usize)> {
    match units {
        [backslash, next, ..] if *backslash == u32::from('\\') => Some((*next, 2)),
        [unit, ..] => Some((*unit, 1)),
        [] => None,
    }
}

/// `[:name:]`, for ASCII.
fn named(units: &[u32]) -> Option<(Item, usize)> {
    const NAMES: &[(&str, Test)] = &[
        ("[:alnum:]", u8::is_ascii_alphanumeric),
        ("[:alpha:]", u8::is_ascii_alphabetic),
        ("[:blank:]", |byte| matches!(byte, b' ' | b'\t')),
        ("[:cntrl:]", u8::is_ascii_control),
        ("[:digit:]", u8::is_ascii_digit),
        ("[:graph:]", u8::is_ascii_graphic),
        ("[:lower:]", u8::is_ascii_lowercase),
        ("[:print:]", |byte| byte.is_ascii_graphic() || *byte == b' '),
        ("[:punct:]", u8::is_ascii_punctuation),
        ("[:space:]", |byte| matches!(byte, b' ' | 9..=13)),
        ("[:upper:]", u8::is_ascii_uppercase),
        ("[:xdigit:]", u8::is_ascii_hexdigit),
    ];
    let (name, test) = NAMES.iter().find(|(name, _)| {
        name.bytes()
            .map(u32::from)
            .eq(units.iter().take(name.len()).copied())
    })?;
    Some((Item::Named(*test), name.len()))
}

/// Matches without recursion: a star that has to take more goes back to where it was once.
fn run(tokens: &[Token], name: &[u32]) -> bool {
    let (mut token, mut at) = (0, 0);
    let mut star = None;
    loop {
        match (tokens.get(token), name.get(at)) {
            (None, None) => return true,
            (Some(Token::AnyRun), _) => {
                star = Some((token, at));
                token += 1;
            }
            (Some(one), Some(unit)) if one.takes(*unit) => {
                token += 1;
                at += 1;
            }
            _ => match star {
                Some((back, taken)) if taken < name.len() => {
                    star = Some((back, taken + 1));
                    (token, at) = (back + 1, taken + 1);
                }
                _ => return false,
            },
        }
    }
}

impl Token {
    fn takes(&self, unit: u32) -> bool {
        match self {
            Self::One(own) => *own == unit,
            Self::Any => true,
            Self::AnyRun => false,
            Self::Class { negated, items } => items.iter().any(|item| item.has(unit)) != *negated,
        }
    }
}

impl Item {
    fn has(&self, unit: u32) -> bool {
        match self {
            Self::Range(first, last) => (*first..=*last).contains(&unit),
            Self::Named(test) => u8::try_from(unit).is_ok_and(|byte| test(&byte)),
        }
    }
}

//! The memory of a running process as root can read it, and what of a key lies in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// One mapping of a process, as `/proc/PID/smaps` lists it, with its contents.
pub(crate) struct Mapping {
    start: usize,
    /// The entry's title in the list: bounds, rights, file or purpose.
    title: String,
    flags: Vec<String>,
    bytes: Vec<u8>,
}

impl Mapping {
    /// Tells if it is neither dumped with the process (`dd`) nor inherited by a child (`wf`).
    pub(crate) fn is_protected(&self) -> bool {
        ["dd", "wf"]
            .iter()
            .all(|flag| self.flags.iter().any(|have| have == flag))
    }
}

/// Returns all mappings of a process that can be read and may hold data of its own.
#[track_caller]
pub(crate) fn mappings(pid: u32) -> Vec<Mapping> {
    mappings_if_it_runs(pid).expect("the process runs, and this is permitted")
}

/// The same; `None` for a process that has ended.
pub(crate) fn mappings_if_it_runs(pid: u32) -> Option<Vec<Mapping>> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/smaps")).ok()?;
    let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
    let mut mappings = Vec::new();
    let mut title = String::new();
    for line in list.lines() {
        match line.strip_prefix("VmFlags:") {
            Some(flags) => mappings.extend(read(&memory, &title, flags)),
            None if !line
                .split(' ')
                .next()
                .is_some_and(|word| word.ends_with(':')) =>
            {
                line.clone_into(&mut title);
            }
            None => {}
        }
    }
    Some(mappings)
}

/// Reads a mapping; `None` for one that cannot be written, so that only the file's bytes are in it,
/// or is gone again.
fn read(memory: &File, title: &str, flags: &str) -> Option<Mapping> {
    let mut words = title.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let rights = words.next()?;
    if !rights.starts_with("rw") {
        return None;
    }
    let address = |text| usize::from_str_radix(text, 16).ok();
    let (start, end) = (address(start)?, address(end)?);
    let mut bytes = vec![0; end - start];
    memory.read_exact_at(&mut bytes, start as u64).ok()?;
    Some(Mapping {
        start,
        title: title.to_owned(),
        flags: flags.split_whitespace().map(str::to_owned).collect(),
        bytes,
    })
}

/// Words of eight bytes that give something of a key away.
#[derive(Default)]
pub(crate) struct Needles(BTreeMap<[u8; 8], String>);

impl Needles {
    /// Returns everything of the key with this text: the text, the key, and the round keys that
    /// AES-128 encrypts with, each by its halves.
    pub(crate) fn of_key(text: &str) -> Needles {
        let mut needles = Needles::default();
        needles.add("the key's text", text.as_bytes());
        for (round, key) in round_keys(decoded(text)).iter().enumerate() {
            needles.add(&format!("the key of round {round}"), key);
        }
        needles
    }

    /// Returns every word of the protected mappings that looks random, whatever it is.
    pub(crate) fn of_protected(mappings: &[Mapping]) -> Needles {
        let mut needles = Needles::default();
        for mapping in mappings.iter().filter(|mapping| mapping.is_protected()) {
            for (index, word) in mapping.bytes.chunks_exact(8).enumerate() {
                if looks_random(word, 6) {
                    needles.add(&format!("byte {} of what is protected", index * 8), word);
                }
            }
        }
        needles
    }

    /// Returns every text by which a key in the protected mappings may be written: base64 of both alphabets, and
    /// hexadecimal digits. Which bytes there are a key is not known, so each place is taken for one.
    pub(crate) fn of_protected_in_text(mappings: &[Mapping]) -> Needles {
        let mut needles = Needles::default();
        for mapping in mappings.iter().filter(|mapping| mapping.is_protected()) {
            for start in (0..mapping.bytes.len().saturating_sub(15)).step_by(8) {
                let key = &mapping.bytes[start..start + 16];
                if !looks_random(key, 10) {
                    continue;
                }
                let what = format!(
                    "the text of bytes {start} to {} of the protected",
                    start + 15
                );
                for text in texts(key) {
                    needles.add(&what, text.as_bytes());
                }
            }
        }
        needles
    }

    /// Returns a text that somebody has typed, by all parts of eight bytes.
    pub(crate) fn of_text(text: &str) -> Needles {
        let mut needles = Needles::default();
        needles.add("the text", text.as_bytes());
        needles
    }

    /// Adds those of another set.
    pub(crate) fn join(mut self, others: Needles) -> Needles {
        self.0.extend(others.0);
        self
    }

    /// Returns the first of them that lies in some bytes.
    pub(crate) fn first_in(&self, bytes: &[u8]) -> Option<&str> {
        let found = bytes.windows(8).find_map(|window| self.0.get(window));
        found.map(String::as_str)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn add(&mut self, what: &str, bytes: &[u8]) {
        for half in bytes.chunks_exact(8) {
            let half = half.try_into().expect("eight bytes");
            self.0.insert(half, what.to_owned());
        }
    }

    /// Returns how often something was found in the protected mappings, and what and where in the
    /// others.
    pub(crate) fn find(&self, mappings: &[Mapping]) -> (usize, String) {
        let mut starts = vec![false; 1 << 16];
        for needle in self.0.keys() {
            starts[usize::from(u16::from_le_bytes([needle[0], needle[1]]))] = true;
        }
        let (mut protected, mut elsewhere) = (0, String::new());
        for mapping in mappings {
            for (offset, window) in mapping.bytes.windows(8).enumerate() {
                if !starts[usize::from(u16::from_le_bytes([window[0], window[1]]))] {
                    continue;
                }
                let Some(what) = self.0.get(window) else {
                    continue;
                };
                if mapping.is_protected() {
                    protected += 1;
                } else {
                    let address = mapping.start + offset;
                    let title = &mapping.title;
                    let _ = writeln!(elsewhere, "{what} at {address:x} in {title}");
                }
            }
        }
        (protected, elsewhere)
    }
}

/// Returns the texts by which bytes are usually written, without what fills up the last four letters of base64.
fn texts(bytes: &[u8]) -> [String; 4] {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let base64: String = bytes.chunks(3).map(base64).collect();
    let other = base64.replace('+', "-").replace('/', "_");
    [hex.to_uppercase(), hex, base64, other]
}

/// Returns three bytes, or fewer at the end, in letters for six bits each.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = (0..3).fold(0, |bits, place| {
        bits << 8 | usize::from(bytes.get(place).copied().unwrap_or(0))
    });
    let letter = |place: usize| char::from(LETTERS[bits >> (18 - 6 * place) & 63]);
    (0..=bytes.len()).map(letter).collect()
}

/// Tells if so many different bytes are there.
fn looks_random(bytes: &[u8], different: usize) -> bool {
    let mut bytes = bytes.to_vec();
    bytes.sort_unstable();
    bytes.dedup();
    bytes.len() >= different
}

fn decoded(text: &str) -> [u8; 16] {
    let value = |character: u8| match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        other => panic!("{other} is not base64"),
    };
    let bits = text.bytes().map(value).fold((0_u128, 0), fold_sextet);
    bits.0.to_be_bytes()
}

/// The last of 22 characters has two bits that count.
fn fold_sextet((bits, count): (u128, usize), sextet: u8) -> (u128, usize) {
    match count {
        21 => (bits << 2 | u128::from(sextet >> 4), 22),
        _ => (bits << 6 | u128::from(sextet), count + 1),
    }
}

/// Returns the key schedule of AES-128, of which the first is the key itself.
///
/// Source: FIPS 197, section 5.2.
fn round_keys(key: [u8; 16]) -> [[u8; 16]; 11] {
    let mut words = [[0_u8; 4]; 44];
    for (word, bytes) in words.iter_mut().zip(key.chunks_exact(4)) {
        word.copy_from_slice(bytes);
    }
    let mut constant = 1;
    for index in 4..44 {
        let mut word = words[index - 1];
        if index % 4 == 0 {
            word.rotate_left(1);
            word = word.map(substituted);
            word[0] ^= constant;
            constant = doubled(constant);
        }
        for (byte, before) in word.iter_mut().zip(words[index - 4]) {
            *byte ^= before;
        }
        words[index] = word;
    }
    let mut keys = [[0; 16]; 11];
    for (key, words) in keys.iter_mut().zip(words.chunks_exact(4)) {
        key.copy_from_slice(words.as_flattened());
    }
    keys
}

/// The S-box of AES: the inverse in GF(2^8), then an affine map.
///
/// Source: FIPS 197, section 5.1.1.
fn substituted(byte: u8) -> u8 {
    // The multiplicative group has 255 elements, so the 254th power is the inverse.
    let inverse = (0..254).fold(1, |power, _| product(power, byte));
    let turned = (1..5).fold(inverse, |sum, turn| sum ^ inverse.rotate_left(turn));
    turned ^ 0x63
}

fn product(one: u8, other: u8) -> u8 {
    let (mut sum, mut factor) = (0, other);
    for bit in 0..8 {
        if one & 1 << bit != 0 {
            sum ^= factor;
        }
        factor = doubled(factor);
    }
    sum
}

fn doubled(byte: u8) -> u8 {
    byte << 1 ^ if byte & 0x80 == 0 { 0 } else { 0x1B }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197, appendix A.1.
    #[test]
    fn the_schedule_is_that_of_the_standard() {
        let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
        let keys = round_keys(key);
        assert_eq!(keys[0], key);
        let first = 0xa0fa_fe17_8854_2cb1_23a3_3939_2a6c_7605_u128;
        let last = 0xd014_f9a8_c9ee_2589_e13f_0cc8_b663_0ca6_u128;
        assert_eq!(keys[1], first.to_be_bytes());
        assert_eq!(keys[10], last.to_be_bytes());
    }

    #[test]
    fn a_text_is_decoded() {
        let key = 0x73AF_0AF2_22F2_B82A_F5A0_433B_1ECC_F28E_u128;
        assert_eq!(decoded("c68K8iLyuCr1oEM7Hszyjg"), key.to_be_bytes());
        let texts = texts(&key.to_be_bytes());
        assert_eq!(texts[1], "73af0af222f2b82af5a0433b1eccf28e");
        assert_eq!(texts[2], "c68K8iLyuCr1oEM7Hszyjg");
    }
}

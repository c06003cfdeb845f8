//! The answers to programs that ask for capabilities, XTGETTCAP.
//!
//! Source: xterm's control sequences (XTGETTCAP); docs/threat-model.md §8.

use std::fmt::Write;

/// The capabilities that programs are told, by the names of terminfo and termcap: those that hold for every session. What a terminal has not
/// got of them the client draws with what it has.
///
/// Source: terminfo(5) and user_caps(5): numbers of colours, and colours of 8 bits for each of red, green and blue.
const KNOWN: [(&str, &str); 4] = [("Co", "256"), ("colors", "256"), ("RGB", "8"), ("Tc", "")];

/// The most names of one question that are looked at. Chosen by eye: editors ask for one at a time.
const NAMES_MAX: usize = 16;

/// Returns the answer to a question for `names`, in hexadecimal digits with semicolons between: as xterm, up to the first that is not
/// known. Names are repeated as they stand in the table.
pub(crate) fn termcap_answer(names: &str) -> String {
    let known = names.split(';').take(NAMES_MAX).map_while(|asked| {
        let mut known = KNOWN.iter();
        known.find(|(name, _)| asked.eq_ignore_ascii_case(&hexadecimal(name)))
    });
    let values: Vec<String> = known
        .map(|(name, value)| {
            let equals = if value.is_empty() { "" } else { "=" };
            format!("{}{equals}{}", hexadecimal(name), hexadecimal(value))
        })
        .collect();
    let is_known = u8::from(!values.is_empty());
    format!("\x1bP{is_known}+r{}\x1b\\", values.join(";"))
}

fn hexadecimal(text: &str) -> String {
    text.bytes().fold(String::new(), |mut digits, byte| {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02X}");
        digits
    })
}

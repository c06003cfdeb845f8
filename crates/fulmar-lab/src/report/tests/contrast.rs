//! Checks that the colours of the stylesheet can be read on their grounds.

use std::collections::BTreeMap;

const SHEET: &str = concat!(include_str!("../colours.css"), include_str!("../style.css"));

/// Returns the colours that a block of variables sets, by name.
fn colours(block: &str) -> BTreeMap<&str, [f64; 3]> {
    let block = block.split('}').next().unwrap_or_default();
    let settings = block
        .split([';', '{'])
        .filter_map(|one| one.split_once(':'));
    settings
        .filter_map(|(name, value)| {
            let digits = value.trim().strip_prefix('#')?;
            let digits: String = match digits.len() {
                3 => digits.chars().flat_map(|digit| [digit; 2]).collect(),
                _ => digits.to_owned(),
            };
            let number = u32::from_str_radix(&digits, 16).ok()?;
            let channels = [number >> 16, number >> 8, number].map(|one| f64::from(one & 0xff));
            Some((name.trim(), channels))
        })
        .collect()
}

/// Source: WCAG 2.1, "relative luminance" and "contrast ratio".
fn luminance(channels: [f64; 3]) -> f64 {
    let linear = channels.map(|channel| match channel / 255.0 {
        low if low <= 0.03928 => low / 12.92,
        high => ((high + 0.055) / 1.055).powf(2.4),
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    one.max(other) / one.min(other)
}

#[test]
fn whatever_is_written_reads_at_four_and_a_half_to_one() {
    let mut seen = 0;
    for block in SHEET.split(":root {").skip(1) {
        let colours = colours(block);
        for ground in ["--ground", "--faint"].map(|name| colours[name]) {
            let written = colours
                .iter()
                .filter(|(name, _)| !["--ground", "--raised", "--line", "--faint"].contains(name));
            for (name, colour) in written {
                let contrast = contrast(*colour, ground);
                assert!(contrast >= 4.5, "{name}: {contrast:.2}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 3 * 2 * 13);
}

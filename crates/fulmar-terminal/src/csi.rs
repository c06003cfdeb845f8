//! Control sequences: `CSI`, parameters, intermediates; what is done is in [`sequences`](crate::sequences).

/// The most parameters of a sequence; those behind them are ignored.
///
/// Source: docs/threat-model.md §6.
pub(crate) const PARAMETERS_MAX: usize = 32;

/// The most intermediates of a sequence; one with more is ignored.
///
/// Source: docs/threat-model.md §6.
pub(crate) const INTERMEDIATES_MAX: usize = 2;

/// The part of a sequence between `CSI` (or `ESC`) and the last character.
#[derive(Clone, Debug, Default)]
pub(crate) struct Csi {
    /// `<`, `=`, `>` or `?` right after `CSI`.
    marker: Option<char>,
    values: [u16; PARAMETERS_MAX],
    count: usize,
    /// Bit *n*: value *n* follows a colon and belongs to the one before.
    colons: u32,
    intermediates: [u8; INTERMEDIATES_MAX],
    intermediate_count: usize,
    /// True if there are more parameters than are kept.
    overflowed: bool,
    too_long: bool,
}

impl Csi {
    pub(crate) fn clear(&mut self) {
        self.marker = None;
        self.count = 0;
        self.colons = 0;
        self.intermediate_count = 0;
        self.overflowed = false;
        self.too_long = false;
    }

    pub(crate) fn set_marker(&mut self, marker: char) {
        self.marker = Some(marker);
    }

    /// Returns `<`, `=`, `>` or `?` right after `CSI`.
    pub(crate) fn marker(&self) -> Option<char> {
        self.marker
    }

    /// Takes a digit, a semicolon or a colon.
    pub(crate) fn push_parameter(&mut self, c: u8) {
        if self.count == 0 {
            self.begin_value(false);
        }
        match c {
            b';' => self.begin_value(false),
            b':' => self.begin_value(true),
            _ if self.overflowed => {}
            _ => {
                if let Some(value) = self.values.get_mut(self.count - 1) {
                    let digit = u16::from(c.wrapping_sub(b'0'));
                    *value = value.saturating_mul(10).saturating_add(digit);
                }
            }
        }
    }

    fn begin_value(&mut self, after_colon: bool) {
        match self.values.get_mut(self.count) {
            Some(value) => {
                *value = 0;
                self.colons |= u32::from(after_colon) << self.count;
                self.count += 1;
            }
            None => self.overflowed = true,
        }
    }

    pub(crate) fn push_intermediate(&mut self, c: char) {
        match self.intermediates.get_mut(self.intermediate_count) {
            Some(place) => {
                *place = c as u8;
                self.intermediate_count += 1;
            }
            None => self.too_long = true,
        }
    }

    /// Returns true if there were more intermediates than are kept.
    pub(crate) fn is_too_long(&self) -> bool {
        self.too_long
    }

    pub(crate) fn intermediates(&self) -> &[u8] {
        &self.intermediates[..self.intermediate_count]
    }

    /// All values, absent ones as 0; those after a colon are among them.
    pub(crate) fn values(&self) -> &[u16] {
        &self.values[..self.count]
    }

    /// Returns the value at `index`, or 0.
    pub(crate) fn value(&self, index: usize) -> u16 {
        self.values().get(index).copied().unwrap_or(0)
    }

    /// Returns the value at `index` as a count or a 1-based number: at least 1.
    pub(crate) fn count(&self, index: usize) -> u16 {
        self.value(index).max(1)
    }

    /// Returns true if a value follows a colon.
    pub(crate) fn has_colon(&self) -> bool {
        self.colons != 0
    }

    /// Splits the values at semicolons: each item is a value with those that follow by colons.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[u16]> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let rest = self.values().get(start..).filter(|rest| !rest.is_empty())?;
            let after_colon = |n: usize| self.colons >> (start + n) & 1 == 1;
            let length = (1..rest.len())
                .find(|&n| !after_colon(n))
                .unwrap_or(rest.len());
            start += length;
            rest.get(..length)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(parameters: &str) -> Csi {
        let mut csi = Csi::default();
        parameters.chars().for_each(|c| csi.push_parameter(c as u8));
        csi
    }

    fn groups(parameters: &str) -> Vec<Vec<u16>> {
        parse(parameters).groups().map(<[u16]>::to_vec).collect()
    }

    #[test]
    fn colons_keep_values_together() {
        assert_eq!(groups(""), Vec::<Vec<u16>>::new());
        assert_eq!(groups("1;2"), [[1], [2]]);
        assert_eq!(
            groups("4:3;58:2::1:2:3;0"),
            [vec![4, 3], vec![58, 2, 0, 1, 2, 3], vec![0]]
        );
        assert_eq!(groups(";"), [[0], [0]]);
        assert_eq!(groups(":"), [[0, 0]]);
    }

    #[test]
    fn a_value_stops_at_its_cap() {
        assert_eq!(parse("65535").values(), [65535]);
        assert_eq!(parse("65536").values(), [65535]);
        assert_eq!(parse("99999999999").values(), [65535]);
    }

    #[test]
    fn parameters_are_kept_up_to_the_cap() {
        let at_cap = format!("{}7", ";".repeat(PARAMETERS_MAX - 1));
        for more in ["", ";", ";9", ":9:9", ";;9;9"] {
            let csi = parse(&format!("{at_cap}{more}"));
            assert_eq!(csi.values().len(), PARAMETERS_MAX, "{more:?}");
            assert_eq!(csi.value(PARAMETERS_MAX - 1), 7, "{more:?}");
            assert!(!csi.is_too_long() && !csi.has_colon(), "{more:?}");
        }
    }

    #[test]
    fn intermediates_are_kept_up_to_the_cap() {
        let mut csi = Csi::default();
        csi.push_intermediate(' ');
        csi.push_intermediate('$');
        assert_eq!(
            (csi.intermediates(), csi.is_too_long()),
            (&b" $"[..], false)
        );
        csi.push_intermediate('$');
        assert!(csi.is_too_long());
    }
}

//! The UDP ports that a server may use.

use std::fmt;

/// The lowest port at which everybody may listen, unless the system is set up otherwise. Source: ip(7).
const UNPRIVILEGED_PORT_MIN: u16 = 1024;

/// UDP ports, to be tried from the lowest up; port 0 leaves the choice to the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    low: u16,
    high: u16,
}

/// The reason why a text names no ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PortRangeError {
    /// There is something else than digits in it.
    #[error("a port is a number, a range is two with a colon between")]
    NotANumber,
    /// Beyond what a datagram's header can hold.
    #[error("ports go from 0 to 65535")]
    OutOfRange,
    /// `0` asks the system for a port; there is no range of that.
    #[error("a range cannot start with port 0")]
    StartsAtZero,
    /// The wrong way round.
    #[error("the first port is above the last")]
    Descending,
}

impl PortRange {
    /// The ports that are tried if nobody names any: docs/protocol.md §14.
    pub const DEFAULT: PortRange = PortRange {
        low: 60001,
        high: 60999,
    };

    /// Reads `PORT` or `PORT:PORT2`. As with stock, no digits at all are a 0.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the text, which it does not repeat.
    pub fn parse(text: &str) -> Result<PortRange, PortRangeError> {
        let (low, high) = match text.split_once(':') {
            Some((low, high)) => (port(low)?, Some(port(high)?)),
            None => (port(text)?, None),
        };
        match (low, high) {
            (0, Some(_)) => Err(PortRangeError::StartsAtZero),
            (low, Some(high)) if low > high => Err(PortRangeError::Descending),
            (low, high) => Ok(PortRange {
                low,
                high: high.unwrap_or(low),
            }),
        }
    }

    /// Returns true if usually only root may listen at each of them. Of 0 the system makes one that anybody may have.
    pub fn are_privileged(self) -> bool {
        self.low != 0 && self.high < UNPRIVILEGED_PORT_MIN
    }

    /// Returns the text that [`PortRange::parse`] reads.
    pub fn as_option(self) -> String {
        if self.low == self.high {
            self.low.to_string()
        } else {
            format!("{}:{}", self.low, self.high)
        }
    }

    /// Tells if the port is one of these; any is one of those that the system chooses.
    pub fn contains(self, port: u16) -> bool {
        self.low == 0 || (self.low..=self.high).contains(&port)
    }

    /// Returns the only port that there is to try; `None` also where the system chooses.
    pub fn single(self) -> Option<u16> {
        (self.low == self.high && self.low != 0).then_some(self.low)
    }

    /// Returns ten ports from the lowest of these up, or as many as there are.
    pub fn ten_from_lowest(self) -> PortRange {
        PortRange {
            low: self.low,
            high: self.low.saturating_add(9),
        }
    }

    /// Lists the ports in the order in which they are to be tried.
    pub fn iter(self) -> impl Iterator<Item = u16> {
        self.low..=self.high
    }
}

fn port(text: &str) -> Result<u16, PortRangeError> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(PortRangeError::NotANumber);
    }
    match text {
        "" => Ok(0),
        "-" => Err(PortRangeError::NotANumber),
        _ => text.parse().map_err(|_| PortRangeError::OutOfRange),
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (0, _) => f.write_str("any port"),
            (low, high) if low == high => write!(f, "port {low}"),
            (low, high) => write!(f, "ports {low} to {high}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PortRangeError::*;
    use super::*;

    #[test]
    fn a_port_or_a_range_is_read_as_stock_reads_it() {
        for (text, wanted) in [
            ("60500", Ok((60500, 60500))),
            ("60500:60510", Ok((60500, 60510))),
            ("60500:60500", Ok((60500, 60500))),
            ("0", Ok((0, 0))),
            ("", Ok((0, 0))),
            ("65535", Ok((65535, 65535))),
            ("65536", Err(OutOfRange)),
            ("-1", Err(OutOfRange)),
            ("60500:70000", Err(OutOfRange)),
            ("x", Err(NotANumber)),
            ("-", Err(NotANumber)),
            ("60500 ", Err(NotANumber)),
            ("60500:x", Err(NotANumber)),
            ("60500:60600:5", Err(NotANumber)),
            ("0:5", Err(StartsAtZero)),
            (":60500", Err(StartsAtZero)),
            ("60510:60500", Err(Descending)),
            ("60510:", Err(Descending)),
        ] {
            let read = PortRange::parse(text).map(|range| (range.low, range.high));
            assert_eq!(read, wanted, "{text:?}");
        }
    }

    #[test]
    fn ports_are_tried_from_the_bottom() {
        let range = PortRange { low: 7, high: 9 };
        assert_eq!(range.iter().collect::<Vec<_>>(), [7, 8, 9]);
        assert_eq!(PortRange::DEFAULT.iter().next(), Some(60001));
        assert_eq!(PortRange::DEFAULT.iter().last(), Some(60999));
    }
}

//! Rates and sizes as users write them.

/// Bytes in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit(u64);

/// The reason why a text is no rate, or no size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadQuantity {
    /// It does not read like one.
    #[error("a rate is 8000 (Kbit/s, as for scp), 10M (Mbit/s) or 2.5MB (megabytes per second)")]
    Rate,
    /// The same of a size.
    #[error("a size is a number of bytes with K, M or G behind it, as 64M")]
    Size,
    /// Nothing would ever move at such a rate.
    #[error("the lowest rate is {} (Kbit/s)", RateLimit(BYTES_PER_SECOND_MIN).as_option())]
    LowRate,
    /// Nothing would ever move with so little memory.
    #[error("the smallest size is {}K", MEMORY_BYTES_MIN / 1024)]
    SmallSize,
}

/// The least rate: a datagram in a second.
///
/// Chosen by eye.
const BYTES_PER_SECOND_MIN: u64 = 1500;

/// The least memory that a copy goes on with.
///
/// Chosen by eye.
const MEMORY_BYTES_MIN: u64 = 256 * 1024;

impl RateLimit {
    /// Reads a rate. A number alone is in Kbit/s, as with scp; `K`, `M` and `G` are bits, and with a `B`
    /// behind them bytes, by thousands.
    ///
    /// # Errors
    ///
    /// When it makes no sense.
    pub fn parse(text: &str) -> Result<RateLimit, BadQuantity> {
        let (number, unit) = split(text).ok_or(BadQuantity::Rate)?;
        let bits = match unit.as_str() {
            "" | "k" | "kbit" => 1e3,
            "m" | "mbit" => 1e6,
            "g" | "gbit" => 1e9,
            "kb" => 8e3,
            "mb" => 8e6,
            "gb" => 8e9,
            _ => return Err(BadQuantity::Rate),
        };
        let bytes = whole(number * bits / 8.0).ok_or(BadQuantity::Rate)?;
        if bytes >= BYTES_PER_SECOND_MIN {
            Ok(RateLimit(bytes))
        } else {
            Err(BadQuantity::LowRate)
        }
    }

    /// Returns it as [`parse`](RateLimit::parse) reads it.
    pub fn as_option(self) -> String {
        (self.0 * 8).div_ceil(1000).to_string()
    }

    /// Returns how many bytes that is in a second.
    pub fn bytes_per_second(self) -> u64 {
        self.0
    }
}

/// Reads a size of memory, by 1024 each.
///
/// # Errors
///
/// When it makes no sense, or is too little.
pub fn parse_memory_size(text: &str) -> Result<u64, BadQuantity> {
    let (number, unit) = split(text).ok_or(BadQuantity::Size)?;
    let factor = match unit.trim_end_matches('b') {
        "" => 1.0,
        "k" => 1024.0,
        "m" => 1024.0 * 1024.0,
        "g" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(BadQuantity::Size),
    };
    let bytes = whole(number * factor).ok_or(BadQuantity::Size)?;
    if bytes >= MEMORY_BYTES_MIN {
        Ok(bytes)
    } else {
        Err(BadQuantity::SmallSize)
    }
}

/// Splits a number from the letters behind it, which are made small.
fn split(text: &str) -> Option<(f64, String)> {
    let digits = text
        .find(|character: char| !character.is_ascii_digit() && character != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let unit = unit.trim_end_matches("/s");
    Some((number.parse().ok()?, unit.to_owned()))
}

/// Rounds what is a sensible number of bytes: at most a million gigabytes.
fn whole(bytes: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 0 and 10^15"
    )]
    (0.0..=1e15).contains(&bytes).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_in_bits_unless_they_say_bytes() {
        for (text, bytes) in [
            ("8000", 1_000_000),
            ("8000k", 1_000_000),
            ("10M", 1_250_000),
            ("10Mbit/s", 1_250_000),
            ("1G", 125_000_000),
            ("2.5MB", 2_500_000),
            ("2.5 MB/s", 2_500_000),
            ("100kB", 100_000),
        ] {
            assert_eq!(RateLimit::parse(text), Ok(RateLimit(bytes)), "{text}");
        }
        for text in [
            "",
            "M",
            "-1",
            "1e9",
            "10 apples",
            "10X",
            "NaN",
            "inf",
            "99999999999G",
        ] {
            assert_eq!(RateLimit::parse(text), Err(BadQuantity::Rate), "{text}");
        }
        for text in ["0", "1", "11.9"] {
            assert_eq!(RateLimit::parse(text), Err(BadQuantity::LowRate), "{text}");
        }
        let told = BadQuantity::LowRate.to_string();
        assert_eq!(told, "the lowest rate is 12 (Kbit/s)");
        assert!(RateLimit::parse("12").is_ok());
    }

    #[test]
    fn sizes_of_memory_are_in_bytes() {
        for (text, bytes) in [
            ("1048576", 1 << 20),
            ("64M", 64 << 20),
            ("64MB", 64 << 20),
            ("0.5g", 512 << 20),
        ] {
            assert_eq!(parse_memory_size(text), Ok(bytes), "{text}");
        }
        assert_eq!(parse_memory_size("64T"), Err(BadQuantity::Size));
        assert_eq!(parse_memory_size("255K"), Err(BadQuantity::SmallSize));
        let told = BadQuantity::SmallSize.to_string();
        assert_eq!(told, "the smallest size is 256K");
        assert!(parse_memory_size("256K").is_ok());
    }
}

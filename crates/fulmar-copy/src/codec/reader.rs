//! Fields out of the body of a frame.

use crate::limits::SIZE_MAX;
use crate::protocol_error::ProtocolError;

/// Reads fields from the front; every fault has the name of the frame.
pub(super) struct Reader<'a> {
    frame: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(frame: &'static str, body: &'a [u8]) -> Self {
        Self { frame, rest: body }
    }

    pub(super) fn fault(&self) -> ProtocolError {
        ProtocolError::Malformed(self.frame)
    }

    /// A number (RFC 9000 §16).
    pub(super) fn number(&mut self) -> Result<u64, ProtocolError> {
        let Some((value, used)) = varint(self.rest) else {
            return Err(self.fault());
        };
        self.rest = self.rest.get(used..).ok_or(self.fault())?;
        Ok(value)
    }

    /// A number up to `max`.
    pub(super) fn number_to(&mut self, max: u64) -> Result<u64, ProtocolError> {
        let value = self.number()?;
        if value > max {
            Err(self.fault())
        } else {
            Ok(value)
        }
    }

    /// A number that fits into 32 bits.
    pub(super) fn number_u32(&mut self) -> Result<u32, ProtocolError> {
        u32::try_from(self.number()?).map_err(|_| self.fault())
    }

    /// A number with a sign.
    pub(super) fn signed(&mut self) -> Result<i64, ProtocolError> {
        let value = self.number()?;
        // Zigzag: 0, -1, 1, -2, … (docs/copy-protocol.md §2).
        let half = i64::try_from(value >> 1).map_err(|_| self.fault())?;
        Ok(if value & 1 == 0 { half } else { -half - 1 })
    }

    /// 0 or 1.
    pub(super) fn flag(&mut self) -> Result<bool, ProtocolError> {
        Ok(self.number_to(1)? == 1)
    }

    /// A length of at most `max`, and as many bytes.
    pub(super) fn bytes(&mut self, max: usize) -> Result<&'a [u8], ProtocolError> {
        let length = usize::try_from(self.number()?).map_err(|_| self.fault())?;
        if length > max {
            return Err(self.fault());
        }
        self.exactly(length)
    }

    /// As many bytes.
    pub(super) fn exactly(&mut self, length: usize) -> Result<&'a [u8], ProtocolError> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(self.fault())?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Returns the number of bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Result<(), ProtocolError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.fault())
        }
    }
}

/// The number at the front of `bytes` and how many bytes it takes; `None` if they do not suffice.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let used = 1_usize << (first >> 6);
    let mut value = u64::from(first & 0x3f);
    for byte in bytes.get(1..used)? {
        value = value << 8 | u64::from(*byte);
    }
    debug_assert!(value <= SIZE_MAX, "62 bits");
    Some((value, used))
}

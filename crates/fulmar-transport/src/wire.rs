//! Protocol buffers, as far as the frozen messages need them.
//!
//! Reading borrows and allocates nothing: [`MessageReader`] walks a message field by field, without
//! recursion, and counts how deep and how many sub-messages the caller enters. Writing appends to a
//! vector. The messages themselves live where their meaning is: the instruction in this crate, the
//! user stream and the host messages with the objects that they carry.
//!
//! ```
//! use fulmar_transport::wire::{self, MessageReader, Value};
//!
//! let mut message = Vec::new();
//! wire::put_bytes(&mut message, 4, b"ls");
//! wire::put_uint(&mut message, 5, 80);
//!
//! let mut reader = MessageReader::new();
//! let fields: Result<Vec<_>, _> = reader.message(&message).collect();
//! let fields = fields?;
//! assert_eq!((fields[0].number, fields[0].value), (4, Value::Bytes(b"ls")));
//! assert_eq!((fields[1].number, fields[1].value), (5, Value::Varint(80)));
//! # Ok::<(), wire::WireError>(())
//! ```

use crate::limits::{MESSAGE_NESTING_MAX, SUB_MESSAGES_MAX};

/// The highest field number: 29 bits.
///
/// Source: the protocol buffers encoding.
const FIELD_NUMBER_MAX: u64 = (1 << 29) - 1;

/// The reason why bytes are not a message that we read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The message ends within a field.
    #[error("the message ends within a field")]
    Truncated,
    /// A variable-length integer of more than 64 bits.
    #[error("an integer has more than 64 bits")]
    IntegerTooLong,
    /// A field number of 0 or above 2^29 - 1, or a type that does not exist.
    #[error("a field has an impossible number or type")]
    BadKey,
    /// The end of a group that was not begun.
    #[error("a group ends that was not begun")]
    StrayGroupEnd,
    /// A known field whose value is of another type than the field.
    #[error("field {number} is of the wrong type")]
    WrongType {
        /// The field.
        number: u32,
    },
    /// Deeper than [`MESSAGE_NESTING_MAX`].
    #[error("messages are nested too deep")]
    TooDeep,
    /// More than [`SUB_MESSAGES_MAX`].
    #[error("the message has too many sub-messages")]
    TooManySubMessages,
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A variable-length integer, before any sign is made of it.
    Varint(u64),
    /// Eight bytes, little-endian.
    Fixed64(u64),
    /// Bytes, text, or a sub-message.
    Bytes(&'a [u8]),
    /// Four bytes, little-endian.
    Fixed32(u32),
    /// A group: a form of sub-message that none of ours uses. Its content has been passed over.
    Group,
}

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The number of the field, from 1.
    pub number: u32,
    /// The value that it holds.
    pub value: Value<'a>,
}

impl<'a> Field<'a> {
    /// Returns the integer that the field holds.
    ///
    /// # Errors
    ///
    /// [`WireError::WrongType`] if it holds anything else.
    pub fn uint(&self) -> Result<u64, WireError> {
        match self.value {
            Value::Varint(value) => Ok(value),
            Value::Fixed64(_) | Value::Bytes(_) | Value::Fixed32(_) | Value::Group => {
                Err(self.wrong_type())
            }
        }
    }

    /// Returns the integer as a protocol buffers `int32`, that is its lowest 32 bits.
    ///
    /// # Errors
    ///
    /// [`WireError::WrongType`] if it holds anything but an integer.
    pub fn int32(&self) -> Result<i32, WireError> {
        self.uint().map(|value| value as i32)
    }

    /// Returns the bytes that the field holds.
    ///
    /// # Errors
    ///
    /// [`WireError::WrongType`] if it holds anything else.
    pub fn bytes(&self) -> Result<&'a [u8], WireError> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            Value::Varint(_) | Value::Fixed64(_) | Value::Fixed32(_) | Value::Group => {
                Err(self.wrong_type())
            }
        }
    }

    fn wrong_type(&self) -> WireError {
        WireError::WrongType {
            number: self.number,
        }
    }
}

/// Reads one message with all that is nested in it, and counts.
///
/// The caps hold for the message as a whole, so a reader is used for one message.
///
/// Source: docs/threat-model.md §6.
#[derive(Debug)]
pub struct MessageReader {
    sub_messages_left: u32,
}

impl MessageReader {
    /// Returns a reader for one message.
    pub fn new() -> MessageReader {
        MessageReader {
            sub_messages_left: SUB_MESSAGES_MAX,
        }
    }

    /// Walks the outermost message.
    pub fn message<'a>(&mut self, bytes: &'a [u8]) -> Fields<'a> {
        Fields {
            rest: bytes,
            depth: 1,
        }
    }

    /// Walks the message that `field`, a field of `parent`, holds.
    ///
    /// # Errors
    ///
    /// It holds no bytes, lies too deep, or is one too many.
    pub fn sub_message<'a>(
        &mut self,
        parent: &Fields<'a>,
        field: &Field<'a>,
    ) -> Result<Fields<'a>, WireError> {
        let rest = field.bytes()?;
        if parent.depth >= MESSAGE_NESTING_MAX {
            return Err(WireError::TooDeep);
        }
        self.sub_messages_left = self
            .sub_messages_left
            .checked_sub(1)
            .ok_or(WireError::TooManySubMessages)?;
        Ok(Fields {
            rest,
            depth: parent.depth + 1,
        })
    }
}

impl Default for MessageReader {
    fn default() -> MessageReader {
        MessageReader::new()
    }
}

/// The fields of a message in the order of their bytes. After an error there are no more.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
    depth: u32,
}

/// The way in which the bytes after a key are to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WireType {
    Varint,
    Fixed64,
    Bytes,
    GroupStart,
    GroupEnd,
    Fixed32,
}

impl<'a> Fields<'a> {
    fn read_field(&mut self) -> Result<Field<'a>, WireError> {
        let (number, wire_type) = self.read_key()?;
        let value = match wire_type {
            WireType::GroupStart => self.pass_group(number)?,
            WireType::GroupEnd => return Err(WireError::StrayGroupEnd),
            plain => self.read_value(plain)?,
        };
        Ok(Field { number, value })
    }

    fn read_key(&mut self) -> Result<(u32, WireType), WireError> {
        let key = self.read_varint()?;
        let wire_type = match key & 0b111 {
            0 => WireType::Varint,
            1 => WireType::Fixed64,
            2 => WireType::Bytes,
            3 => WireType::GroupStart,
            4 => WireType::GroupEnd,
            5 => WireType::Fixed32,
            _ => return Err(WireError::BadKey),
        };
        match key >> 3 {
            number @ 1..=FIELD_NUMBER_MAX => Ok((number as u32, wire_type)),
            _ => Err(WireError::BadKey),
        }
    }

    fn read_value(&mut self, wire_type: WireType) -> Result<Value<'a>, WireError> {
        Ok(match wire_type {
            WireType::Varint => Value::Varint(self.read_varint()?),
            WireType::Fixed64 => Value::Fixed64(u64::from_le_bytes(self.read_array()?)),
            WireType::Fixed32 => Value::Fixed32(u32::from_le_bytes(self.read_array()?)),
            WireType::Bytes => Value::Bytes(self.read_bytes()?),
            WireType::GroupStart | WireType::GroupEnd => Value::Group,
        })
    }

    /// Passes over what is in a group, up to its end, and over the groups within it.
    fn pass_group(&mut self, number: u32) -> Result<Value<'a>, WireError> {
        // In place of recursion, of which a peer would choose the depth (docs/threat-model.md §10).
        let mut open = [0; MESSAGE_NESTING_MAX as usize];
        let mut depth = 0;
        let mut entered = Some(number);
        loop {
            if let Some(number) = entered.take() {
                *open.get_mut(depth).ok_or(WireError::TooDeep)? = number;
                depth += 1;
            }
            match self.read_key()? {
                (number, WireType::GroupStart) => entered = Some(number),
                (number, WireType::GroupEnd) => {
                    // Not below zero: the group that was entered first is still open.
                    depth -= 1;
                    if open.get(depth) != Some(&number) {
                        return Err(WireError::StrayGroupEnd);
                    }
                    if depth == 0 {
                        return Ok(Value::Group);
                    }
                }
                (_, plain) => {
                    self.read_value(plain)?;
                }
            }
        }
    }

    fn read_varint(&mut self) -> Result<u64, WireError> {
        let mut value = 0;
        let mut shift = 0;
        loop {
            let (&byte, rest) = self.rest.split_first().ok_or(WireError::Truncated)?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7F);
            // The tenth byte has room for the 64th bit and no more.
            if shift == 63 && byte > 1 {
                return Err(WireError::IntegerTooLong);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
            shift += 7;
        }
    }

    fn read_array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(*array)
    }

    fn read_bytes(&mut self) -> Result<&'a [u8], WireError> {
        let length = usize::try_from(self.read_varint()?).map_err(|_| WireError::Truncated)?;
        let (bytes, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(bytes)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read_field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// Appends an integer of 1 to 10 bytes.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Returns how many bytes [`put_varint`] appends.
pub(crate) const fn varint_bytes(value: u64) -> usize {
    // Seven bits to a byte; zero takes one, too.
    let bits = u64::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// Appends a field that holds an integer.
pub fn put_uint(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number) << 3);
    put_varint(out, value);
}

/// Appends a field that holds a protocol buffers `int32`: a negative one takes ten bytes.
pub fn put_int32(out: &mut Vec<u8>, number: u32, value: i32) {
    put_uint(out, number, i64::from(value) as u64);
}

/// Appends a field that holds bytes, which may be an encoded message.
pub fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(out, u64::from(number) << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Returns how many bytes [`put_bytes`] appends for `length` bytes.
pub const fn bytes_field_bytes(number: u32, length: usize) -> usize {
    varint_bytes((number as u64) << 3) + varint_bytes(length as u64) + length
}

/// Appends a field that holds the message which `write` appends to the vector it is given.
pub fn put_message(out: &mut Vec<u8>, number: u32, write: impl FnOnce(&mut Vec<u8>)) {
    let mut message = Vec::new();
    write(&mut message);
    put_bytes(out, number, &message);
}

#[cfg(test)]
mod tests;

use super::*;

fn fields(bytes: &[u8]) -> Result<Vec<Field<'_>>, WireError> {
    MessageReader::new().message(bytes).collect()
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

#[test]
fn integers_come_back() {
    for shift in 0..64 {
        for value in [1 << shift, (1_u64 << shift) - 1, !0 << shift] {
            let bytes = written(|out| put_varint(out, value));
            assert_eq!(bytes.len(), varint_bytes(value), "{value}");
            let bytes = written(|out| put_uint(out, 3, value));
            assert_eq!(fields(&bytes).unwrap()[0].uint(), Ok(value));
        }
    }
}

#[test]
fn negative_sizes_come_back() {
    for value in [0, 1, -1, i32::MAX, i32::MIN] {
        let bytes = written(|out| put_int32(out, 5, value));
        assert_eq!(fields(&bytes).unwrap()[0].int32(), Ok(value));
    }
}

#[test]
fn the_examples_of_the_protocol_are_written_and_read() {
    // docs/protocol.md §6.1: a resize to 80 × 24, and the key `e`.
    let resize = written(|out| {
        put_message(out, 1, |out| {
            put_message(out, 3, |out| {
                put_int32(out, 5, 80);
                put_int32(out, 6, 24);
            });
        });
    });
    assert_eq!(resize, [0x0a, 6, 0x1a, 4, 0x28, 80, 0x30, 24]);
    let key = [0x0a, 5, 0x12, 3, 0x22, 1, b'e'];
    let mut reader = MessageReader::new();
    let mut message = reader.message(&key);
    let instruction = message.next().unwrap().unwrap();
    let mut instruction = reader.sub_message(&message, &instruction).unwrap();
    let keystroke = instruction.next().unwrap().unwrap();
    let mut keystroke = reader.sub_message(&instruction, &keystroke).unwrap();
    let keys = keystroke.next().unwrap().unwrap();
    assert_eq!((keys.number, keys.bytes()), (4, Ok(&b"e"[..])));
}

#[test]
fn every_type_is_read_or_passed_over() {
    let mut bytes = vec![0x09, 1, 0, 0, 0, 0, 0, 0, 0x80];
    bytes.extend([0x15, 2, 0, 0, 0]);
    bytes.extend([0x1B, 0x08, 7, 0x23, 0x24, 0x1C]);
    bytes.extend([0x28, 9]);
    let values: Vec<_> = fields(&bytes).unwrap().iter().map(|f| f.value).collect();
    assert_eq!(
        values,
        [
            Value::Fixed64(1 | 1 << 63),
            Value::Fixed32(2),
            Value::Group,
            Value::Varint(9)
        ]
    );
}

#[test]
fn what_is_no_message_is_refused() {
    let cases: [(&[u8], WireError); 12] = [
        (&[0x08], WireError::Truncated),
        (&[0x08, 0x80], WireError::Truncated),
        (&[0x09, 1, 2, 3], WireError::Truncated),
        (&[0x0D, 1, 2, 3], WireError::Truncated),
        (&[0x0A, 2, 1], WireError::Truncated),
        (&[0x0B, 0x10, 1], WireError::Truncated),
        (&[0x00, 1], WireError::BadKey),
        (&[0x0E, 1], WireError::BadKey),
        (&[0x0F, 1], WireError::BadKey),
        (&[0xF8, 0xFF, 0xFF, 0xFF, 0x7F, 1], WireError::BadKey),
        (&[0x0C], WireError::StrayGroupEnd),
        (&[0x0B, 0x14], WireError::StrayGroupEnd),
    ];
    for (bytes, error) in cases {
        assert_eq!(fields(bytes), Err(error), "{bytes:02x?}");
    }
    let mut eleven = vec![0x08];
    eleven.extend([0x80; 10]);
    eleven.push(0);
    assert_eq!(fields(&eleven), Err(WireError::IntegerTooLong));
    let mut sixty_five_bits = vec![0x08];
    sixty_five_bits.extend([0xFF; 9]);
    sixty_five_bits.push(2);
    assert_eq!(fields(&sixty_five_bits), Err(WireError::IntegerTooLong));
}

#[test]
fn after_an_error_there_is_nothing() {
    let mut walk = MessageReader::new().message(&[0x0E, 0x08, 1]);
    assert_eq!(walk.next(), Some(Err(WireError::BadKey)));
    assert_eq!(walk.next(), None);
}

#[test]
fn a_length_beyond_the_end_allocates_nothing_and_is_refused() {
    let bytes = written(|out| {
        put_varint(out, 1 << 3 | 2);
        put_varint(out, u64::MAX);
    });
    assert_eq!(fields(&bytes), Err(WireError::Truncated));
}

#[test]
fn three_levels_may_be_entered_and_no_more() {
    let nested = |depth| {
        (1..depth).fold(Vec::new(), |inner, _| {
            written(|out| put_bytes(out, 1, &inner))
        })
    };
    let descend = |bytes: &[u8]| {
        let mut reader = MessageReader::new();
        let mut walk = reader.message(bytes);
        while let Some(field) = walk.clone().next() {
            walk = reader.sub_message(&walk, &field?)?;
        }
        Ok(())
    };
    assert_eq!(descend(&nested(3)), Ok(()));
    assert_eq!(descend(&nested(4)), Err(WireError::TooDeep));
}

#[test]
fn groups_may_be_as_deep_as_messages() {
    let nested = |depth: usize| [vec![0x0B; depth], vec![0x0C; depth]].concat();
    let depth = MESSAGE_NESTING_MAX as usize;
    assert!(fields(&nested(depth)).is_ok());
    assert_eq!(fields(&nested(depth + 1)), Err(WireError::TooDeep));
}

#[test]
fn as_many_sub_messages_may_be_entered_as_the_cap_says() {
    let enter_all = |count: u32| {
        let bytes: Vec<u8> = [0x0A, 0x00].repeat(count as usize);
        let mut reader = MessageReader::new();
        let mut walk = reader.message(&bytes);
        while let Some(field) = walk.next() {
            reader.sub_message(&walk, &field?)?;
        }
        Ok(())
    };
    assert_eq!(enter_all(SUB_MESSAGES_MAX), Ok(()));
    assert_eq!(
        enter_all(SUB_MESSAGES_MAX + 1),
        Err(WireError::TooManySubMessages)
    );
}

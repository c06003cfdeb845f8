use std::time::Duration;

use super::*;

const NOW: Time = Time::ZERO;

fn piece(id: u64, index: u16, is_final: bool, content: &[u8]) -> Fragment<'_> {
    let header = FragmentHeader {
        id,
        index: FragmentIndex::new(index).unwrap(),
        is_final,
    };
    Fragment { header, content }
}

fn add(assembly: &mut Assembly, fragment: Fragment<'_>) -> Result<Option<Vec<u8>>, AssemblyError> {
    let whole = assembly.add(NOW, fragment)?;
    Ok(whole.map(Cow::into_owned))
}

#[test]
fn what_is_cut_can_be_joined_in_any_order() {
    let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
    for length in [0, 1, 461, 462, 463, 924, 1000] {
        let mut cut = Fragmenter::new(7, bytes[..length].to_vec(), 500).unwrap();
        let count = cut.count();
        let mut pieces = Vec::new();
        while let Some(Fragment { header, content }) = cut.take() {
            pieces.push((header, content.to_vec()));
        }
        assert_eq!(pieces.len(), count);
        assert!(cut.is_done());
        for first in 0..count {
            let mut assembly = Assembly::new();
            pieces.rotate_left(first);
            let mut whole = None;
            for (header, content) in &pieces {
                assert_eq!(whole, None, "whole too early");
                let header = *header;
                whole = add(&mut assembly, Fragment { header, content }).unwrap();
            }
            assert_eq!(whole.as_deref(), Some(&bytes[..length]));
            assert_eq!(assembly.held_bytes(), 0);
        }
    }
}

#[test]
fn all_fragments_but_the_last_are_full() {
    let mut cut = Fragmenter::new(1, vec![0; 3000], 1252).unwrap();
    assert_eq!(cut.datagrams_bytes(), 3000 + 3 * 38);
    let mut lengths = Vec::new();
    while let Some(fragment) = cut.take() {
        lengths.push((fragment.content.len(), fragment.header.is_final));
    }
    assert_eq!(lengths, [(1214, false), (1214, false), (572, true)]);
}

#[test]
fn more_fragments_than_the_wire_can_count_are_refused() {
    assert!(Fragmenter::new(1, vec![0; 32_768], 39).is_some());
    assert!(Fragmenter::new(1, vec![0; 32_769], 39).is_none());
    assert!(Fragmenter::new(1, vec![0; 1], 38).is_none());
}

#[test]
fn repeated_fragments_do_no_harm() {
    let mut assembly = Assembly::new();
    for _ in 0..3 {
        assert_eq!(add(&mut assembly, piece(1, 0, false, b"ab")), Ok(None));
    }
    assert_eq!(assembly.held_bytes(), 2);
    let whole = add(&mut assembly, piece(1, 1, true, b"c"));
    assert_eq!(whole, Ok(Some(b"abc".to_vec())));
}

#[test]
fn a_newer_instruction_takes_the_place_of_an_older_one() {
    let mut assembly = Assembly::new();
    assert_eq!(add(&mut assembly, piece(1, 0, false, b"old")), Ok(None));
    assert_eq!(add(&mut assembly, piece(2, 1, true, b"w")), Ok(None));
    assert_eq!(
        add(&mut assembly, piece(1, 1, true, b"er")),
        Err(AssemblyError::Overtaken)
    );
    let whole = add(&mut assembly, piece(2, 0, false, b"ne"));
    assert_eq!(whole, Ok(Some(b"new".to_vec())));
}

#[test]
fn a_whole_instruction_passes_by_what_is_collected() {
    let mut assembly = Assembly::new();
    assert_eq!(add(&mut assembly, piece(5, 0, false, b"a")), Ok(None));
    for id in [4, 6] {
        let whole = add(&mut assembly, piece(id, 0, true, b"whole"));
        assert_eq!(whole, Ok(Some(b"whole".to_vec())));
    }
    let whole = add(&mut assembly, piece(5, 1, true, b"b"));
    assert_eq!(whole, Ok(Some(b"ab".to_vec())));
}

#[test]
fn contradictions_are_a_verdict_and_give_the_instruction_up() {
    let cases: [(&[Fragment<'_>], Fragment<'_>); 5] = [
        // Other content under the same index.
        (&[piece(1, 0, false, b"a")], piece(1, 0, false, b"b")),
        // A second last one, before and behind the first.
        (&[piece(1, 4, true, b"a")], piece(1, 3, true, b"b")),
        (&[piece(1, 4, true, b"a")], piece(1, 5, true, b"b")),
        // One behind the last.
        (&[piece(1, 4, true, b"a")], piece(1, 5, false, b"b")),
        // A last one before others.
        (&[piece(1, 4, false, b"a")], piece(1, 3, true, b"b")),
    ];
    for (before, contradiction) in cases {
        let mut assembly = Assembly::new();
        for &fragment in before {
            assert_eq!(add(&mut assembly, fragment), Ok(None));
        }
        assert_eq!(
            add(&mut assembly, contradiction),
            Err(AssemblyError::Conflict)
        );
        assert_eq!(assembly.held_bytes(), 0, "{contradiction:?}");
    }
}

#[test]
fn a_collection_lives_60_s_from_its_first_fragment() {
    let mut assembly = Assembly::new();
    let late = NOW + Duration::from_secs(59);
    assert_eq!(add(&mut assembly, piece(1, 0, false, b"a")), Ok(None));
    assert!(assembly.add(late, piece(1, 1, false, b"b")).is_ok());
    assert_eq!(assembly.expires(), Some(NOW + ASSEMBLY_AGE_MAX));
    assembly.expire(late);
    assert_eq!(assembly.held_bytes(), 2);
    assembly.expire(NOW + ASSEMBLY_AGE_MAX);
    assert_eq!((assembly.held_bytes(), assembly.expires()), (0, None));
}

#[test]
fn compressed_bytes_are_collected_up_to_the_cap() {
    // A multiple of the piece, so that the pieces fill it exactly.
    let mut assembly = Assembly::new();
    let content = [7; 2048];
    let full = COMPRESSED_BYTES_MAX / content.len();
    for index in 0..full {
        let fragment = piece(1, index as u16, false, &content);
        assert_eq!(add(&mut assembly, fragment), Ok(None));
    }
    assert_eq!(assembly.held_bytes(), COMPRESSED_BYTES_MAX);
    let mut too_much = assembly_clone(&assembly);
    let one_more = piece(1, full as u16, true, b"x");
    assert_eq!(add(&mut too_much, one_more), Err(AssemblyError::TooLong));
    let none_more = piece(1, full as u16, true, b"");
    let whole = add(&mut assembly, none_more).unwrap();
    assert_eq!(whole.map(|whole| whole.len()), Some(COMPRESSED_BYTES_MAX));
}

#[test]
fn memory_follows_content_and_not_indices() {
    let mut assembly = Assembly::new();
    assert_eq!(add(&mut assembly, piece(1, 32_767, true, b"x")), Ok(None));
    assert_eq!(assembly.held_bytes(), 1);
}

fn assembly_clone(assembly: &Assembly) -> Assembly {
    let held = assembly.collection.as_ref().unwrap();
    Assembly {
        collection: Some(Collection {
            pieces: held.pieces.clone(),
            ..*held
        }),
    }
}

//! Any frames in any order on any stream.

use proptest::prelude::*;

use super::*;
use crate::digest::FileDigest;

fn any_sent() -> impl Strategy<Value = Sent> {
    let stream = 0..3_u8;
    let id = 0..4_u64;
    let size = prop_oneof![
        Just(0_u64),
        Just(5),
        Just(70_000),
        Just(LARGE),
        Just(SIZE_MAX)
    ];
    let offset = prop_oneof![
        Just(0_u64),
        Just(5),
        Just(65_536),
        Just(CHUNK),
        Just(LARGE),
        Just(SIZE_MAX)
    ];
    let length = prop_oneof![Just(1_usize), Just(5), Just(100), Just(4464), Just(65_536)];
    let good_end = (id.clone(), size.clone())
        .prop_map(|(id, size)| end(id, size, digest(id, size.min(LARGE))));
    let frame = prop_oneof![
        4 => (id.clone(), size.clone()).prop_map(|(id, size)| file(id, size)),
        1 => id.clone().prop_map(folder),
        1 => id.clone().prop_map(|id| named(id, "r", EntryKind::Leave)),
        1 => id.clone().prop_map(|id| named(id, "r/0", EntryKind::File { size: None })),
        3 => good_end,
        1 => id.clone().prop_map(|id| end(id, 5, FileDigest::default().finish(5))),
        1 => id.clone().prop_map(|id| Frame::End { id: EntryId(id), ending: Ending::Broken(EntryError::new(EntryErrorKind::Io)) }),
        1 => (id.clone(), offset.clone(), size).prop_map(|(id, offset, length)| Frame::Zeros {
            id: EntryId(id), offset, length: length.max(1).min(SIZE_MAX - offset).max(1),
        }),
        1 => id.clone().prop_map(|entries| Frame::Finished { entries }),
    ];
    prop_oneof![
        6 => (1..3_u8, frame.clone()).prop_map(|(stream, frame)| on(stream, frame)),
        1 => (stream.clone(), frame).prop_map(|(stream, frame)| on(stream, frame)),
        8 => (1..3_u8, id.clone(), offset.clone(), length.clone()).prop_map(|(l, i, o, n)| Sent::Data(l, i, o, n)),
        1 => (1..3_u8, id, offset, length).prop_map(|(l, i, o, n)| Sent::Spoilt(l, i, o, n)),
        1 => stream.prop_map(Sent::Finish),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn whatever_comes_only_verified_files_get_names(
        sent in proptest::collection::vec(any_sent(), 1..30),
    ) {
        let mut attack = Attack::new(ALL);
        let _ = attack.run(&sent);
        attack.receiver.interrupt(&mut attack.target);
        prop_assert!(attack.target.is_idle());
        for (path, node) in &attack.target.tree {
            if let Node::File { content, .. } = node {
                let right = (0..4).any(|id| pattern(id, 0, content.len()) == content[..]);
                prop_assert!(right, "{path:?}");
            }
        }
    }
}

//! The types of this crate cannot do what would give a secret away. The compiler is the test.

use std::fmt::{Debug, Display};

use fulmar_datagram::{Key, KeyMark, KeyMaterial, Opener, Sealer};

/// Fails to compile if the type has the trait: there would then be two answers to what `_` is.
macro_rules! assert_is_not {
    ($type:ty: $($bound:path),+) => {$(
        const _: () = {
            trait Answer<Which> {
                const GIVEN: () = ();
            }
            struct Has;
            impl<T: ?Sized> Answer<()> for T {}
            impl<T: ?Sized + $bound> Answer<Has> for T {}
            <$type as Answer<_>>::GIVEN
        };
    )+};
}

assert_is_not!(Key: Debug, Display, Clone, Copy, PartialEq, AsRef<[u8]>);
assert_is_not!(KeyMark: Debug, Display, Clone, Copy, PartialEq, AsRef<[u8]>);
assert_is_not!(KeyMaterial: Debug, Display, Clone, Copy, PartialEq, AsRef<[u8]>);
assert_is_not!(Sealer: Debug, Clone, Copy);
assert_is_not!(Opener: Debug, Clone, Copy);

#[test]
fn a_key_does_not_move_with_its_owner() {
    let size = size_of::<Key>();
    assert_eq!(size, size_of::<&dyn Send>(), "the bytes are elsewhere");
}

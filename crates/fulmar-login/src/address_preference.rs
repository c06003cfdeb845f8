//! The choice among the addresses of a host.

use fulmar_base::AddressFamily;

/// The addresses of a name that are used: docs/protocol.md §2.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressPreference {
    /// All, in the order of the resolver.
    All,
    /// Those of one family.
    Only(AddressFamily),
    /// All, those of one family first.
    Prefer(AddressFamily),
}

impl AddressPreference {
    /// Returns the only family of the addresses, if one is wanted.
    pub fn only(self) -> Option<AddressFamily> {
        match self {
            AddressPreference::Only(family) => Some(family),
            AddressPreference::All | AddressPreference::Prefer(_) => None,
        }
    }

    /// Tells if addresses of that family come first, or as early as others.
    pub fn is_first(self, family: AddressFamily) -> bool {
        match self {
            AddressPreference::Prefer(preferred) => preferred == family,
            AddressPreference::All | AddressPreference::Only(_) => true,
        }
    }
}

//! The pairs of server and client that are tried.

use std::path::PathBuf;

use super::World;
use fulmar_testbed::peers;

/// The maker of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Make {
    /// The released Mosh of the distribution.
    Stock,
    /// This workspace, under stock's names.
    Ours,
}

impl Make {
    /// Returns where `mosh-server` or `mosh-client` is, or `None` if the calling test is to return.
    #[track_caller]
    pub(crate) fn program(self, world: &World, name: &str) -> Option<PathBuf> {
        match self {
            Self::Stock => peers::require(name),
            Self::Ours => Some(world.ours(name)),
        }
    }
}

/// A server and a client with the interface of stock's programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) server: Make,
    pub(crate) client: Make,
}

/// Makes of each function a module of the same name with a test for each pair.
///
/// Stock with stock is the control: where it fails, the test is wrong and not our program.
macro_rules! for_each_pair {
    ($($name:ident)*) => {$(
        mod $name {
            use crate::support::{Make, Pair};

            #[test]
            fn stock_server_with_stock_client() {
                super::$name(Pair { server: Make::Stock, client: Make::Stock });
            }

            #[test]
            fn our_server_with_stock_client() {
                super::$name(Pair { server: Make::Ours, client: Make::Stock });
            }

            #[test]
            fn stock_server_with_our_client() {
                super::$name(Pair { server: Make::Stock, client: Make::Ours });
            }

            #[test]
            fn our_server_with_our_client() {
                super::$name(Pair { server: Make::Ours, client: Make::Ours });
            }
        }
    )*};
}

/// Makes of each function a module of the same name with a test for each [`Make`].
///
/// Stock is the control here too.
macro_rules! for_each_make {
    ($($name:ident)*) => {$(
        mod $name {
            use crate::support::Make;

            #[test]
            fn stock() {
                super::$name(Make::Stock);
            }

            #[test]
            fn ours() {
                super::$name(Make::Ours);
            }
        }
    )*};
}
pub(crate) use {for_each_make, for_each_pair};

//! Whole conversations over bad links, in virtual time.
//!
//! Every run watches that no nonce seals two texts, that no end asks to be woken for nothing, that
//! what is kept stays within its caps, and that what is typed arrives once and in order.

mod absence;
mod ends;
mod large;
mod links;
#[path = "../support/objects.rs"]
mod objects;
mod outages;
mod path_mtu;
mod roaming;
mod shutdown;

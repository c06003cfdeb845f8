//! The real program, alone and beside programs that are not ours.
//!
//! One test program for all of it, so that it is linked once; a module per subject.

mod ending;
mod flood;
mod peers;
mod roaming;
mod screens;
mod support;
mod typing;

//! The real program, alone and beside programs that are not ours.
//!
//! One test program for all of it, so that it is linked once; a module per subject.

mod peers;

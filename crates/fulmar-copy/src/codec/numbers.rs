//! The numbers of frames (docs/copy-protocol.md §2).

pub(super) const HELLO: u8 = 0x01;
pub(super) const PUT: u8 = 0x02;
pub(super) const GET: u8 = 0x03;
pub(super) const READY: u8 = 0x04;
pub(super) const REFUSED: u8 = 0x05;
pub(super) const FOLDER: u8 = 0x10;
pub(super) const FILE: u8 = 0x11;
pub(super) const LINK: u8 = 0x12;
pub(super) const LEAVE: u8 = 0x13;
pub(super) const DATA: u8 = 0x14;
pub(super) const ZEROS: u8 = 0x15;
pub(super) const END: u8 = 0x16;
pub(super) const TROUBLE: u8 = 0x20;
pub(super) const FINISHED: u8 = 0x21;
pub(super) const HAVE: u8 = 0x30;
pub(super) const SETTLED: u8 = 0x31;
pub(super) const FAILED: u8 = 0x32;
pub(super) const DONE: u8 = 0x33;
pub(super) const FOUND: u8 = 0x34;
pub(super) const CHECKED: u8 = 0x35;

//! Frames of either make, read by the other one: what a user sees of a screen at the remote end.
//!
//! ```text
//! ours_in_stock    random program ─► fulmar_core::Server ═ UDP ═► stock mosh-client ─► pty ─► judge
//! stock_in_ours    recording ─► stock mosh-server ═ UDP ═╦══════► stock mosh-client ─► pty ─► judge
//!                                                        ╚ tap ═► fulmar_core::Client ──────► judge
//! ```
//!
//! And beside frames: [`fields`] of instructions that stock does not know do it no harm.
//!
//! The judge is the crate `vt100`, which is neither ours nor stock's.
//!
//! A failure of a random program names its seed. `FULMAR_FRAME_SEED=SEED cargo test -p fulmar --test
//! program stock_frames` runs that one alone; `FULMAR_FRAME_SEEDS` sets how many are run.

mod eye;
mod fields;
mod judge;
mod libc_widths;
mod our_server;
mod ours_in_stock;
mod programs;
mod recordings;
mod sessions;
mod stock_client;
mod stock_in_ours;
mod tap;

//! `fulmar [user@]host` logs in wherever ssh does: real daemons, real shells, real networks, each on
//! machines of the test's own (docs/login.md has the table).

mod addresses;
mod attaching;
mod drop_in;
pub(crate) mod dropbear;
mod fallback;
mod forged;
mod jumps;
mod leaks;
mod leaving;
mod narrow;
mod noise;
mod options;
mod over_ssh;
mod plain;
pub(crate) mod scene;
mod secrets;
mod shells;
mod shortages;
mod steps;
mod surroundings;
mod udp;

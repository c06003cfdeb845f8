//! `fulmar [user@]host` logs in wherever ssh does: real daemons, real shells, real networks, each on
//! machines of the test's own (docs/login.md has the table).

#![expect(dead_code, reason = "there is no login of ours yet")]

mod addresses;
mod dropbear;
mod fallback;
mod jumps;
mod leaving;
mod noise;
mod options;
mod plain;
mod scene;
mod secrets;
mod shells;
mod surroundings;
mod udp;

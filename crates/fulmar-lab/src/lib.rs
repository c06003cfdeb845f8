//! Emulated links between real hosts, to try and measure remote shells on.
//!
//! A [`Scenario`](scenario::Scenario) describes a link: delay, loss, a rate with its queue, a measured trace, an
//! outage, a client that moves. A [`Link`](link::Link) makes it real between two network namespaces, in which any
//! program can run. The links know nothing of any protocol above UDP and TCP.
//!
//! A [`Trace`](trace::Trace) holds what a user typed and what the programs wrote back. The [`judge`] says what a
//! person saw of each key when it is played again, whatever carried the session, and [`stats`] sums it up. At the
//! local end of such a session somebody types ([`typing`]), at the remote end the recorded programs are [`played`].
//! What needs no typist is measured by [`instrument`]s: bulk, copies, many small packets at once.
//!
//! # By hand
//!
//! ```text
//! fulmar-lab link --delay 50ms --loss 1% -- ping 203.0.113.1
//! fulmar-lab link --rate 5mbit --queue 24p --delay 40ms..60ms --every '10s client moves' \\
//!     --server 'fulmar server -p 60001 …' -- sh
//! ```
//!
//! The first runs `ping` on the client's host, at 192.0.2.1. The server's, 203.0.113.1, is at the other end; with
//! `--server` something runs there too. Nothing needs netem or iptables, and nothing stays when it ends, however
//! it ends: namespaces have no names, TUN devices go with their descriptors, and all processes live in a process
//! namespace that dies with the lab. Root is needed, or user namespaces and a `/dev/net/tun` that is open to all.
//!
//! # A session by hand
//!
//! ```text
//! fulmar-lab replay --peer mosh --scenario 'both delay 50ms, loss 1%' \\
//!     --recording own-vim --typing closed
//! ```
//!
//! A [`Replay`](replay::Replay) starts a link, a private sshd in the server's network, and a [`peer`] on a terminal
//! in the client's; a user types the recording, and the judge says what that user saw. ssh, Mosh and Fulmar are known
//! by name, anything else that carries a terminal is a command template. The sshd has keys, a configuration, `/run` and
//! `/var/log` of its own, so the system is as it was, and nothing knows of it afterwards. For the sshd root is needed.
//!
//! # How precise it is
//!
//! `fulmar-lab selfcheck` measures that from outside, by probes and the kernel's own times of arrival: the error of
//! delays, also while all cores are busy; losses against three standard errors; queues to the packet; rates and
//! traces to 1 %. The engine's thread is a real-time one where that is permitted, and never waits by spinning: at
//! 0.05 ms it is early enough, and the processor is for the programs that are measured.
//!
//! # Measuring
//!
//! ```text
//! fulmar-lab list                    the experiments; `list NAME` says all about one
//! fulmar-lab run paper --plan        what would be done, and how long it would take
//! fulmar-lab run paper --out DIR     measures, and writes DIR/index.html
//! fulmar-lab pairs --out DIR         whether equal runs come out equal, side by side and alone
//! fulmar-lab predict                 how good predictions are, in virtual time
//! ```
//!
//! A run that is interrupted goes on with the same command. The [`catalogue`](experiment::catalogue) has the
//! experiments, [`run`] works them off, each run in a process of its own, and [`report`] draws what came of it.
//!
//! # Traces
//!
//! A link can follow a measured one: `trace Verizon-LTE-short.down`, a file in the format of Mahimahi. Those files
//! are not ours to ship; `fulmar-lab traces` says where they come from, and prints their statistics beside those
//! of the generated links `like-lte-down:SEED`, `like-lte-up`, `like-evdo-down` and `like-evdo-up`, which need no file.
//!
//! # In virtual time
//!
//! The same scenario runs on `fulmar-sim`, for programs that are state machines:
//!
//! ```
//! use fulmar_lab::{scenario::Scenario, trace::LinkTraces};
//!
//! let text = "seed 7\nboth loss 1%, delay 50ms\nevery 10s client moves";
//! let scenario = Scenario::parse(text, &LinkTraces::none())?;
//! assert_eq!((scenario.up.len(), scenario.changes.len()), (2, 1));
//! // scenario.simulation((client, server)).run_for(…)
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! A whole session of Fulmar runs so, with its user and its recording ([`simulated`]), thousands of seeds in the time of one real run.

#![cfg(target_os = "linux")]

pub mod command;
pub mod experiment;
pub mod film;
pub mod instrument;
pub mod judge;
pub mod link;
mod markup;
pub mod outcome;
pub mod peer;
pub mod played;
pub mod predict;
pub mod replay;
pub mod report;
pub mod run;
pub mod scenario;
pub mod scripted;
pub mod selfcheck;
pub mod simulated;
pub mod stats;
#[cfg(test)]
mod testing;
pub mod trace;
pub mod typing;
mod whole_file;

//! The real program, alone and beside programs that are not ours.
//!
//! One test program for all of it, so that it is linked once; a module per subject.

mod altered_login;
mod answers;
mod burst;
mod client_side;
mod clipboard;
mod completion;
mod copying;
mod corpus;
mod emulated;
mod emulators;
mod ending;
mod errors;
mod exit_status;
mod fidelity;
mod flood;
mod hostile_client;
mod hostile_server;
mod key_memory;
mod last_screen;
mod local;
mod login;
mod login_basic;
mod login_records;
mod manual;
mod mosh;
mod mosh_proxy;
mod mosh_words;
mod newcomer;
mod own;
mod paste;
mod prediction;
mod renditions;
mod roaming;
mod screens;
mod scrollback;
mod second_client;
mod server_bootstrap;
mod server_side;
mod settings;
mod ssh_habits;
mod stock_frames;
mod support;
mod typing;
mod window;

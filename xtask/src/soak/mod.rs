//! Sessions in real time, and whether anything grows.

mod relay;
mod sample;
mod session;
mod slope;

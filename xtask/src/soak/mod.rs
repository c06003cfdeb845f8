//! Sessions in real time, and whether anything grows.

mod sample;
mod slope;

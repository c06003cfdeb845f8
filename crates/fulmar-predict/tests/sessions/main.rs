//! The engine through its public face: keys and frames in, what the user sees out.

mod any_order;
mod editors;
mod hostile;
mod session;
mod toy;

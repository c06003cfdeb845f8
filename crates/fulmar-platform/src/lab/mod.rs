//! The system calls that only the lab needs: networks of its own, TUN devices, punctual threads.
//!
//! Linux alone has these. They ask for the rights of root, or for those that the root of a user
//! namespace has ([`enter_pid_namespace`]). Nothing made here outlives the process: a [`Network`] is a
//! namespace without a name, held by descriptors and processes; a [`Tun`] goes with its descriptor.

mod network;
mod pid_namespace;
mod stamped;
mod tcp;
mod thread_priority;
mod tun;

pub use network::{Halt, Network};
pub use pid_namespace::{PidNamespace, enter_pid_namespace};
pub use stamped::{Stamped, receive_stamped, stamp_arrivals, wall_time, widen_receive_buffer};
pub use tcp::{delay_acks, limit_window};
pub use thread_priority::{ThreadPriority, raise_priority};
pub use tun::Tun;

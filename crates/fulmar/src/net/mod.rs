//! UDP as sessions and copies use it: ports, destinations, and the paths between them.

pub(crate) mod destinations;
pub(crate) mod listening;
pub(crate) mod local_ports;
pub(crate) mod path_table;
pub(crate) mod udp;

//! The names under which the program was started.

/// The names that client and server go by; under the stock names they behave as stock does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// `fulmar`.
    #[default]
    Own,
    /// `mosh`, `mosh-client` and `mosh-server`.
    Stock,
}

impl Names {
    /// Returns the word that a notice begins with.
    pub const fn program(self) -> &'static str {
        match self {
            Names::Own => "fulmar",
            Names::Stock => "mosh",
        }
    }

    /// Returns the status with which a client leaves when something of our own has failed.
    pub const fn failure_status(self) -> u8 {
        match self {
            // As ssh: apart from what a program may return.
            Names::Own => 255,
            Names::Stock => 1,
        }
    }
}

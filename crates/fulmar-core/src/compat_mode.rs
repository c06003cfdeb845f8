//! The program that client and server behave as: Fulmar or Mosh.

/// The program whose behaviour client and server show. It follows from the name that they were started under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompatMode {
    /// As Fulmar: started as `fulmar`.
    #[default]
    Fulmar,
    /// As stock Mosh: started as `mosh`, `mosh-client` or `mosh-server`.
    Mosh,
}

impl CompatMode {
    /// Returns the word that a notice begins with.
    pub const fn program(self) -> &'static str {
        match self {
            CompatMode::Fulmar => "fulmar",
            CompatMode::Mosh => "mosh",
        }
    }

    /// Returns the status with which a client leaves when something of our own has failed.
    pub const fn failure_status(self) -> u8 {
        match self {
            // As ssh: apart from what a program may return.
            CompatMode::Fulmar => 255,
            CompatMode::Mosh => 1,
        }
    }
}

//! Decides what two ends speak: the stock protocol as it is, or with the extensions that they agreed on.

use crate::StateNumber;
use crate::challenge::Challenge;
use crate::ending::Ending;
use crate::extensions::Extensions;
use crate::farewell_words::FarewellWords;

/// A hash that stands for an agreement. Both ends hash how they came to it, and only ends that have seen the same have
/// the same digest. It is no secret.
///
/// Source: docs/protocol.md §13.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest([u8; Digest::BYTES]);

impl Digest {
    /// The length of a digest: that of SHA-256.
    ///
    /// Source: docs/protocol.md §13.4.
    pub const BYTES: usize = 32;

    /// Returns the digest of those bytes.
    pub const fn new(bytes: [u8; Digest::BYTES]) -> Digest {
        Digest(bytes)
    }

    /// Returns its bytes.
    pub const fn as_bytes(&self) -> &[u8; Digest::BYTES] {
        &self.0
    }
}

/// The protocol that is spoken. The first instruction of the peer decides it, for ever.
///
/// Source: docs/protocol.md §13.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Nothing has come from the peer yet that would tell.
    #[default]
    Undecided,
    /// The stock protocol, and nothing that a stock peer would not send.
    Legacy,
    /// The stock protocol with what was agreed on.
    Native,
    /// Nothing any more but goodbye: the two ends have not seen the same agreement.
    Altered,
}

impl Dialect {
    /// Returns what follows from our digest, if we have an agreement, and from what the peer said.
    ///
    /// Source: docs/protocol.md §13.5.
    fn of(own: Option<Digest>, claimed: Option<&[u8]>) -> Dialect {
        match (own, claimed) {
            (None, _) | (Some(_), None) => Dialect::Legacy,
            (Some(own), Some(claimed)) if claimed == own.as_bytes() => Dialect::Native,
            (Some(_), Some(_)) => Dialect::Altered,
        }
    }
}

/// The exchange by which two ends find that both have the same agreement, and the farewells, which they say only then.
///
/// ```text
///                 ┌── no digest, or none of ours ──► Legacy
///  Undecided ─────┼── our digest ──────────────────► Native    says and believes farewells
///   says digest   └── another ─────────────────────► Altered   says digest and goodbye
/// ```
///
/// Until the peer has acknowledged anything, each instruction has the digest: so whichever the peer
/// takes in first has it, and decides the same.
///
/// Source: docs/protocol.md §13.4 and §13.5.
#[derive(Clone, Debug)]
pub(crate) struct Handshake {
    own: Option<Digest>,
    dialect: Dialect,
    /// The farewell that goes with our goodbye.
    farewell: Option<u64>,
    farewell_words: Option<FarewellWords>,
    /// The farewell that came with the peer's goodbye.
    heard_farewell: Option<u64>,
    heard_farewell_words: Option<FarewellWords>,
}

/// The fields of an instruction of ours that stock does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Addition {
    pub(crate) digest: Option<Digest>,
    pub(crate) farewell: Option<u64>,
    pub(crate) farewell_words: Option<FarewellWords>,
    /// The silence that we announce.
    pub(crate) silence: Option<u64>,
    /// The number of the peer's moves.
    pub(crate) moves: Option<u64>,
    /// The random value that validates a path.
    pub(crate) challenge: Option<Challenge>,
    /// The number of the datagram in which the peer's last probe came.
    pub(crate) probed: Option<u64>,
}

impl Addition {
    pub(crate) fn extensions(&self) -> Extensions<'_> {
        Extensions {
            digest: self.digest.as_ref().map(|digest| &digest.as_bytes()[..]),
            farewell: self.farewell,
            farewell_words: self.farewell_words.as_ref().map(FarewellWords::as_bytes),
            silence: self.silence,
            moves: self.moves,
            challenge: self.challenge,
            // How much it takes is known only when all else is in place.
            padding: None,
            probed: self.probed,
        }
    }
}

impl Handshake {
    /// Returns the handshake of an end that has an agreement of that digest, or none.
    pub(crate) fn new(own: Option<Digest>) -> Handshake {
        Handshake {
            own,
            dialect: Dialect::Undecided,
            farewell: None,
            farewell_words: None,
            heard_farewell: None,
            heard_farewell_words: None,
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Takes in what an instruction of the peer says. Returns the dialect if this has decided it.
    pub(crate) fn hear(&mut self, extensions: Extensions<'_>) -> Option<Dialect> {
        if self.dialect != Dialect::Undecided {
            return None;
        }
        self.dialect = Dialect::of(self.own, extensions.digest);
        Some(self.dialect)
    }

    /// Returns what may be made use of in a difference that leads to `target`: of a peer that has not
    /// seen our agreement only that it says goodbye, and else nothing at all.
    pub(crate) fn admit<'a>(&self, target: StateNumber, difference: &'a [u8]) -> Option<&'a [u8]> {
        match self.dialect {
            Dialect::Undecided | Dialect::Legacy | Dialect::Native => Some(difference),
            Dialect::Altered => (target == StateNumber::SHUTDOWN).then_some(&[]),
        }
    }

    /// Takes in what the peer says with its goodbye.
    pub(crate) fn hear_farewell(&mut self, extensions: Extensions<'_>) {
        if self.dialect == Dialect::Native && extensions.farewell.is_some() {
            self.heard_farewell = extensions.farewell;
            let words = extensions.farewell_words;
            self.heard_farewell_words = words.and_then(FarewellWords::from_bytes);
        }
    }

    pub(crate) fn set_farewell(&mut self, number: u64) {
        self.farewell = Some(number);
    }

    pub(crate) fn set_farewell_words(&mut self, words: FarewellWords) {
        self.farewell_words = Some(words);
    }

    pub(crate) fn heard_farewell_words(&self) -> Option<&FarewellWords> {
        self.heard_farewell_words.as_ref()
    }

    pub(crate) fn heard_farewell(&self) -> Option<u64> {
        self.heard_farewell
    }

    /// Returns what to say with an instruction to `target`, when the peer has acknowledged a state of
    /// that number.
    pub(crate) fn addition(&self, target: StateNumber, acknowledged: StateNumber) -> Addition {
        let says_digest = self.dialect != Dialect::Legacy && acknowledged == StateNumber::ZERO;
        let says_farewell = self.dialect == Dialect::Native && target == StateNumber::SHUTDOWN;
        Addition {
            digest: self.own.filter(|_| says_digest),
            farewell: self.farewell.filter(|_| says_farewell),
            farewell_words: self.farewell_words.filter(|_| says_farewell),
            ..Addition::default()
        }
    }

    /// Returns how a conversation has ended that would otherwise have ended like that.
    pub(crate) fn ending(&self, ending: Ending) -> Ending {
        match self.dialect {
            Dialect::Altered => Ending::Altered,
            Dialect::Undecided | Dialect::Legacy | Dialect::Native => ending,
        }
    }
}

#[cfg(test)]
mod tests;

//! The reasons for sends, wake-ups and drops. Each has a name and a count.

use std::fmt;
use std::marker::PhantomData;

/// An enumeration whose variants can be counted one by one.
pub trait Countable: Copy + 'static {
    /// All variants, in order of declaration.
    const ALL: &'static [Self];

    /// Returns the place of the variant in [`ALL`](Countable::ALL).
    fn index(self) -> usize;

    /// Returns the variant in a word or two, for traces and counters.
    fn name(self) -> &'static str;
}

/// Declares an enumeration together with its list of variants and their names.
macro_rules! countable {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident { $( $(#[$doc:meta])* $variant:ident = $text:literal, )+ }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[$doc])* $variant, )+ }

        impl Countable for $name {
            const ALL: &'static [$name] = &[ $( $name::$variant, )+ ];

            fn index(self) -> usize {
                self as usize
            }

            fn name(self) -> &'static str {
                match self { $( $name::$variant => $text, )+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

countable! {
    /// The reason why a datagram was sent, or why the endpoint wants to be woken.
    ///
    /// Where several have come due, the first in this list is named. How each is reckoned is in
    /// [`timing`](crate::timing).
    pub enum Cause {
        /// We want to end, and say so until it is acknowledged.
        Shutdown = "shutdown",
        /// The peer wants to end, and we have to acknowledge it.
        ShutdownAnswer = "shutdown answer",
        /// Nothing was sent yet.
        First = "first",
        /// The object has changed.
        Frame = "frame",
        /// The path loses datagrams, so a small one is sent more than once.
        Copy = "copy",
        /// The last transmission is no longer assumed to have arrived.
        Resend = "resend",
        /// The last transmission has not been acknowledged.
        Retry = "retry",
        /// The peer has never answered.
        FirstRepeat = "first repeat",
        /// The path to the peer may have changed, or may work again.
        Probe = "probe",
        /// The peer has asked whether we are there, or whether we have had a probe.
        Answer = "answer",
        /// The peer has asked whether we are where it hears us.
        Response = "response",
        /// The peer's object has changed, and we have to acknowledge it.
        Acknowledgement = "acknowledgement",
        /// Nothing was sent for a while.
        Heartbeat = "heartbeat",
        /// The path may carry longer datagrams.
        SizeProbe = "size probe",
        /// Nothing is sent: fragments of an unfinished instruction are given up.
        AssemblyExpiry = "assembly expiry",
        /// Nothing is sent: our shutdown was not acknowledged in time.
        ShutdownLimit = "shutdown limit",
        /// Nothing is sent: the peer does not seem to need a further answer to its shutdown.
        LingerEnd = "linger end",
    }
}

impl Cause {
    /// Tells whether something is sent for it, or only looked after.
    pub const fn sends(self) -> bool {
        !matches!(
            self,
            Cause::AssemblyExpiry | Cause::ShutdownLimit | Cause::LingerEnd
        )
    }
}

countable! {
    /// The reason why a datagram, or the instruction in it, was dropped.
    pub enum DropReason {
        /// Shorter than any datagram.
        TooShort = "too short",
        /// Longer than any datagram.
        TooLong = "too long",
        /// It has our own direction.
        WrongDirection = "wrong direction",
        /// Its sequence number is far above all others.
        OutOfReach = "out of reach",
        /// Damage, forgery, or another key.
        BadSeal = "bad seal",
        /// A fragment of an older instruction than the one that is being collected.
        Overtaken = "overtaken",
        /// A fragment that contradicts another one.
        FragmentConflict = "fragment conflict",
        /// An instruction longer than the cap, compressed or inflated.
        InstructionTooLong = "instruction too long",
        /// Compressed bytes that are no zlib stream.
        BadCompression = "bad compression",
        /// Inflated bytes that are no instruction.
        BadInstruction = "bad instruction",
        /// An instruction of another protocol version.
        WrongVersion = "wrong version",
        /// An instruction that forgets its own source, or whose target is older than its source.
        BadNumbers = "bad numbers",
        /// A difference that its object does not understand.
        BadDifference = "bad difference",
        /// A difference from a state that we do not hold.
        SourceMissing = "source missing",
        /// We take no new states at present.
        IntakeHeld = "intake held",
        /// The peer has not seen the agreement that we have; only its goodbye is taken.
        NotAgreed = "not agreed",
        /// The conversation is over.
        Ended = "ended",
    }
}

/// Counts, one for each variant. They stop at the highest number rather than begin anew.
#[derive(Clone, PartialEq, Eq)]
pub struct Tally<T> {
    counts: Vec<u64>,
    of: PhantomData<T>,
}

impl<T: Countable> Tally<T> {
    /// Returns counts of zero.
    pub fn new() -> Tally<T> {
        Tally {
            counts: vec![0; T::ALL.len()],
            of: PhantomData,
        }
    }

    /// Counts one more.
    pub fn count(&mut self, what: T) {
        if let Some(count) = self.counts.get_mut(what.index()) {
            *count = count.saturating_add(1);
        }
    }

    /// Returns how often it was counted.
    pub fn of(&self, what: T) -> u64 {
        self.counts.get(what.index()).copied().unwrap_or(0)
    }

    /// Returns the sum of all counts.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, &n| sum.saturating_add(n))
    }

    /// Returns the variants that were counted at all, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (T, u64)> {
        T::ALL
            .iter()
            .zip(&self.counts)
            .filter_map(|(&what, &count)| (count > 0).then_some((what, count)))
    }
}

impl<T: Countable> Default for Tally<T> {
    fn default() -> Tally<T> {
        Tally::new()
    }
}

impl<T: Countable> fmt::Debug for Tally<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|(what, count)| (what.name(), count)))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_its_own_place_and_name() {
        for (index, cause) in Cause::ALL.iter().enumerate() {
            assert_eq!(cause.index(), index);
            let same = Cause::ALL.iter().filter(|c| c.name() == cause.name());
            assert_eq!(same.count(), 1, "{cause}");
        }
    }

    #[test]
    fn a_tally_counts_each_by_itself() {
        let mut tally = Tally::new();
        tally.count(Cause::Frame);
        tally.count(Cause::Frame);
        tally.count(Cause::Heartbeat);
        assert_eq!((tally.of(Cause::Frame), tally.of(Cause::Retry)), (2, 0));
        assert_eq!(tally.total(), 3);
        assert_eq!(format!("{tally:?}"), r#"{"frame": 2, "heartbeat": 1}"#);
    }
}

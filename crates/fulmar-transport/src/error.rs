//! From the verdicts of the parts to the one reason that is counted.

use fulmar_datagram::OpenError;

use crate::assembly::AssemblyError;
use crate::cause::DropReason;
use crate::compress::InflateError;
use crate::receiver::Refusal;
use crate::wire::WireError;

impl From<OpenError> for DropReason {
    fn from(error: OpenError) -> DropReason {
        match error {
            OpenError::TooShort => DropReason::TooShort,
            OpenError::TooLong => DropReason::TooLong,
            OpenError::WrongDirection => DropReason::WrongDirection,
            OpenError::OutOfReach => DropReason::OutOfReach,
            _ => DropReason::BadSeal,
        }
    }
}

impl From<AssemblyError> for DropReason {
    fn from(error: AssemblyError) -> DropReason {
        match error {
            AssemblyError::Overtaken => DropReason::Overtaken,
            AssemblyError::Conflict => DropReason::FragmentConflict,
            AssemblyError::TooLong => DropReason::InstructionTooLong,
        }
    }
}

impl From<InflateError> for DropReason {
    fn from(error: InflateError) -> DropReason {
        match error {
            InflateError::Malformed => DropReason::BadCompression,
            InflateError::TooLong => DropReason::InstructionTooLong,
        }
    }
}

impl From<WireError> for DropReason {
    fn from(_: WireError) -> DropReason {
        DropReason::BadInstruction
    }
}

impl From<Refusal> for DropReason {
    fn from(refusal: Refusal) -> DropReason {
        match refusal {
            Refusal::BadNumbers => DropReason::BadNumbers,
            Refusal::SourceMissing => DropReason::SourceMissing,
            Refusal::Held => DropReason::IntakeHeld,
            Refusal::BadDifference(_) => DropReason::BadDifference,
        }
    }
}

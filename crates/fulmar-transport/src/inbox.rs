//! From a datagram to an instruction.

use fulmar_base::Time;
use fulmar_datagram::{
    DatagramOrder, Fragment, FragmentHeader, OpenError, Opened, Opener, Sequence, Stamps,
};

use crate::assembly::Assembly;
use crate::cause::DropReason;
use crate::compress::Inflater;
use crate::instruction::Instruction;
use crate::limits::{DEFLATE_RATIO_MAX, INSTRUCTION_BYTES_MAX, PROTOCOL_VERSION};

/// Opens, assembles, inflates and decodes. Each step sees only what the step before has let pass.
pub(crate) struct Inbox {
    opener: Opener,
    plaintext: Vec<u8>,
    instructions: Instructions,
}

/// The steps after the seal: assembly and inflation.
struct Instructions {
    assembly: Assembly,
    inflater: Inflater,
}

/// A genuine datagram.
pub(crate) struct Heard<'a> {
    pub(crate) sequence: Sequence,
    pub(crate) order: DatagramOrder,
    pub(crate) stamps: Stamps,
    pub(crate) fragment: FragmentHeader,
    /// The most bytes that were inflated for it, in vain or not.
    pub(crate) inflated_bytes: usize,
    /// The instruction that it completed, if it did.
    pub(crate) instruction: Result<Option<Instruction<'a>>, DropReason>,
}

impl Inbox {
    pub(crate) fn new(opener: Opener) -> Inbox {
        Inbox {
            opener,
            plaintext: Vec::new(),
            instructions: Instructions {
                assembly: Assembly::new(),
                inflater: Inflater::new(),
            },
        }
    }

    /// Makes of a datagram what can be made of it.
    pub(crate) fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<Heard<'_>, OpenError> {
        let Opened {
            sequence,
            order,
            stamps,
            fragment,
        } = self.opener.open(bytes, &mut self.plaintext)?;
        let header = fragment.header;
        let (inflated_bytes, instruction) = self.instructions.add(now, fragment);
        Ok(Heard {
            sequence,
            order,
            stamps,
            fragment: header,
            inflated_bytes,
            instruction,
        })
    }

    pub(crate) fn expire(&mut self, now: Time) {
        self.instructions.assembly.expire(now);
    }

    pub(crate) fn expires(&self) -> Option<Time> {
        self.instructions.assembly.expires()
    }
}

impl Instructions {
    /// Returns the instruction that a fragment completes, and how many bytes were inflated.
    fn add(
        &mut self,
        now: Time,
        fragment: Fragment<'_>,
    ) -> (usize, Result<Option<Instruction<'_>>, DropReason>) {
        let compressed = match self.assembly.add(now, fragment) {
            Ok(Some(compressed)) => compressed,
            Ok(None) => return (0, Ok(None)),
            Err(error) => return (0, Err(error.into())),
        };
        match self.inflater.inflate(&compressed) {
            Ok(inflated) => (inflated.len(), read(inflated).map(Some)),
            Err(error) => (inflated_max(compressed.len()), Err(error.into())),
        }
    }
}

fn read(inflated: &[u8]) -> Result<Instruction<'_>, DropReason> {
    let instruction = Instruction::decode(inflated)?;
    match instruction.protocol_version {
        PROTOCOL_VERSION => Ok(instruction),
        _ => Err(DropReason::WrongVersion),
    }
}

/// Returns how many bytes may have come out of so many compressed ones before something was found to
/// be wrong.
fn inflated_max(compressed: usize) -> usize {
    let most = compressed.saturating_mul(DEFLATE_RATIO_MAX);
    most.min(INSTRUCTION_BYTES_MAX)
}

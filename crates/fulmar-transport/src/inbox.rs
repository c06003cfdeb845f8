//! From a datagram to an instruction.

use fulmar_datagram::{
    Fragment, FragmentHeader, OpenError, Opened, Opener, Order, Sequence, Stamps, Time,
};

use crate::assembly::Assembly;
use crate::cause::DropReason;
use crate::compress::Inflater;
use crate::instruction::Instruction;
use crate::limits::PROTOCOL_VERSION;

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
    pub(crate) order: Order,
    pub(crate) stamps: Stamps,
    pub(crate) fragment: FragmentHeader,
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
        Ok(Heard {
            sequence,
            order,
            stamps,
            fragment: fragment.header,
            instruction: self.instructions.add(now, fragment),
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
    fn add(
        &mut self,
        now: Time,
        fragment: Fragment<'_>,
    ) -> Result<Option<Instruction<'_>>, DropReason> {
        let Some(compressed) = self.assembly.add(now, fragment)? else {
            return Ok(None);
        };
        let instruction = Instruction::decode(self.inflater.inflate(&compressed)?)?;
        if instruction.protocol_version == PROTOCOL_VERSION {
            Ok(Some(instruction))
        } else {
            Err(DropReason::WrongVersion)
        }
    }
}

//! A client or a server, and somebody who has its key and seals whatever comes to mind.
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test file uses a part of this, so an expectation would fail in some"
)]

#[path = "turn.rs"]
mod turn;

use std::time::Duration;

use fulmar_base::{Ecn, PathId, Time};
use fulmar_core::{
    Agreement, AttachConfig, Capabilities, Client, ClientConfig, ExitCause, ExitStatus,
    OuterTerminal, Server, ServerConfig,
};
use fulmar_datagram::limits::DATAGRAM_BYTES_IPV4;
use fulmar_datagram::{Direction, Fragment, Key, Sealer, Stamps};
use fulmar_terminal::{Checker, Size, Terminal, Vocabulary};
use fulmar_transport::limits::{INSTRUCTION_BYTES_MAX, INSTRUCTION_WORK_MAX};
use fulmar_transport::{
    Arrival, Deflater, FarewellWords, Fragmenter, Instruction, Numbers, Received, Role,
    StateNumber, StateOutcome,
};

const PATH: PathId = PathId::new(1);

/// The time between what is said. An acknowledgement is not delayed for longer.
const PAUSE: Duration = Duration::from_millis(300);

/// The work of a largest control function beside that of an instruction: all cells of the largest screen, copied and
/// changed.
const WORK_MAX: u64 =
    INSTRUCTION_WORK_MAX + 2 * INSTRUCTION_BYTES_MAX as u64 + 4 * Size::CELLS_MAX as u64;

/// The highest number of a state that is no goodbye.
pub(crate) const LAST: u64 = StateNumber::SHUTDOWN.get() - 1;

/// The point that the conversation has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    BeforeTheFirstAnswer,
    Connected,
    /// The victim says goodbye, and is not answered.
    ShuttingDown,
    /// The session was there before, and the one who speaks has taken it.
    Attached,
}

pub(crate) const STAGES: [Stage; 4] = [
    Stage::BeforeTheFirstAnswer,
    Stage::Connected,
    Stage::ShuttingDown,
    Stage::Attached,
];

enum Machine {
    Client(Box<Client>),
    Server(Box<Server>),
}

/// One end, attacked by the other.
pub(crate) struct Victim {
    machine: Machine,
    role: Role,
    agreement: Option<Agreement>,
    sealer: Sealer,
    deflater: Deflater,
    next_id: u64,
    now: Time,
    /// The newest state of ours that the victim has taken.
    pub(crate) ours: u64,
    /// The newest state of the victim's that it has sent.
    pub(crate) theirs: u64,
    pub(crate) has_ended: bool,
    checker: Checker,
    terminal: Terminal,
    typed: Vec<u8>,
}

fn key(number: u8) -> Key {
    Key::from_bytes([number; 16].into())
}

fn agreement(number: u8) -> Agreement {
    let announcement = format!("FULMAR CONNECT 1 all 0.{number}\n");
    Agreement::of(b"an offer", announcement.as_bytes(), Capabilities::ALL)
}

impl Victim {
    /// Returns an end at that stage. If `is_native`, there is an agreement on everything.
    pub(crate) fn at(stage: Stage, role: Role, is_native: bool) -> Victim {
        let agreement = is_native.then(|| agreement(1));
        let mut victim = match role {
            Role::Client => Victim::client(agreement, stage == Stage::Attached),
            Role::Server => Victim::server(agreement),
        };
        victim.turn();
        if stage != Stage::BeforeTheFirstAnswer {
            victim.say_what_is_right();
        }
        match stage {
            Stage::ShuttingDown => victim.shut_down(),
            Stage::Attached => victim.take_over(),
            Stage::BeforeTheFirstAnswer | Stage::Connected => {}
        }
        assert!(!victim.has_ended);
        victim
    }

    fn client(agreement: Option<Agreement>, attaches: bool) -> Victim {
        let config = ClientConfig {
            agreement,
            attaches,
            outer: OuterTerminal {
                vocabulary: Vocabulary::FULL,
                enter: b"\x1b[?1049h".to_vec(),
                exit: b"\x1b[?1049l".to_vec(),
                synchronized_output: true,
                ..OuterTerminal::default()
            },
            ..ClientConfig::new(key(1), [1; 32])
        };
        let mut client = Client::new(Time::ZERO, config);
        client.handle_path_opened(Time::ZERO, PATH);
        client.handle_keys(Time::ZERO, b"a");
        Victim::of(Machine::Client(Box::new(client)), Role::Client, agreement)
    }

    fn server(agreement: Option<Agreement>) -> Victim {
        let mut config = ServerConfig::new(key(1), [2; 32]);
        config.agreement = agreement;
        let server = Box::new(Server::new(Time::ZERO, config));
        Victim::of(Machine::Server(server), Role::Server, agreement)
    }

    fn of(machine: Machine, role: Role, agreement: Option<Agreement>) -> Victim {
        Victim {
            machine,
            role,
            agreement,
            sealer: Victim::sealer(role, 1),
            deflater: Deflater::new(),
            next_id: 1,
            now: Time::ZERO,
            ours: 0,
            theirs: 0,
            has_ended: false,
            checker: Checker::default(),
            terminal: Terminal::new(Size::default()),
            typed: Vec::new(),
        }
    }

    fn sealer(role: Role, number: u8) -> Sealer {
        let direction = match role {
            Role::Client => Direction::ToClient,
            Role::Server => Direction::ToServer,
        };
        Sealer::new(key(number), direction)
    }

    fn shut_down(&mut self) {
        match &mut self.machine {
            Machine::Client(client) => client.request_exit(self.now, ExitCause::Signal),
            Machine::Server(server) => {
                server.handle_program_ended(self.now, ExitStatus::Code(3));
                server.handle_pty_closed(self.now);
            }
        }
        self.turn();
    }

    /// Has another client, this one, take the session of a server, if there can be one.
    fn take_over(&mut self) {
        let Machine::Server(server) = &mut self.machine else {
            return;
        };
        if self.agreement.is_none() {
            return;
        }
        let agreement = agreement(2);
        let config = AttachConfig {
            key: key(2),
            agreement,
            size: Size::default(),
            datagram_bytes: DATAGRAM_BYTES_IPV4,
            taker: FarewellWords::new("192.0.2.7"),
            seed: [3; 32],
        };
        assert!(server.attach(self.now, config));
        self.agreement = Some(agreement);
        self.sealer = Victim::sealer(self.role, 2);
        (self.ours, self.theirs, self.next_id) = (0, 0, 1);
        self.say_what_is_right();
    }

    /// The fields of an instruction that is right, from the newest state to the next.
    pub(crate) fn next_numbers(&self) -> [u64; 4] {
        [self.ours, self.ours.saturating_add(1), self.theirs, 0]
    }

    /// Returns an instruction with these numbers (source, target, acknowledged, throwaway).
    pub(crate) fn instruction(&self, numbers: [u64; 4], difference: &[u8]) -> Vec<u8> {
        let [source, target, acknowledged, throwaway] = numbers.map(StateNumber::new);
        let numbers = Numbers {
            source,
            target,
            acknowledged,
            throwaway,
        };
        let mut instruction = Instruction::new(numbers, difference, b"");
        let digest = self.agreement.map(|agreement| agreement.digest);
        instruction.extensions.digest = digest.as_ref().map(|digest| &digest.as_bytes()[..]);
        let mut out = Vec::new();
        instruction.encode(&mut out);
        out
    }

    /// Says a difference in an instruction that is right.
    pub(crate) fn say_difference(&mut self, difference: &[u8]) {
        let instruction = self.instruction(self.next_numbers(), difference);
        self.say(&instruction);
    }

    /// Says the bytes of an instruction, whatever they are.
    pub(crate) fn say(&mut self, instruction: &[u8]) {
        let mut compressed = Vec::new();
        self.deflater.deflate(instruction, &mut compressed);
        self.say_compressed(compressed);
    }

    /// Says what should be compressed.
    pub(crate) fn say_compressed(&mut self, compressed: Vec<u8>) {
        let id = self.next_id;
        self.next_id += 1;
        let mut fragments = Fragmenter::new(id, compressed, 1252).expect("few enough");
        self.now += PAUSE;
        while let Some(fragment) = fragments.take() {
            self.hand_over(Stamps::NONE, fragment);
        }
        self.turn();
    }

    /// Says one fragment.
    pub(crate) fn say_fragment(&mut self, stamps: Stamps, fragment: Fragment<'_>) {
        self.now += PAUSE;
        self.hand_over(stamps, fragment);
        self.turn();
    }

    /// Returns the number of the next instruction, and takes it.
    pub(crate) fn take_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    fn hand_over(&mut self, stamps: Stamps, fragment: Fragment<'_>) {
        let mut datagram = Vec::new();
        let sealed = self.sealer.seal(stamps, fragment, &mut datagram);
        sealed.expect("the key is not spent");
        let arrival = Arrival {
            path: PATH,
            ecn: Ecn::NotCapable,
            bytes: &datagram,
        };
        let received: Option<Received> = match &mut self.machine {
            Machine::Client(client) => Some(client.handle_datagram(self.now, arrival)),
            Machine::Server(server) => server.handle_datagram(self.now, arrival),
        };
        let Some(received) = received else { return };
        assert!(received.work <= WORK_MAX, "{} units of work", received.work);
        if let Some(instruction) = received.instruction
            && instruction.outcome == Some(StateOutcome::Newest)
        {
            self.ours = instruction.numbers.target.get();
        }
    }
}

//! The numbers of the transport, each with where it comes from.

use std::time::Duration;

/// The version that an instruction must name.
///
/// Source: docs/protocol.md §5.1.
pub const PROTOCOL_VERSION: u32 = 2;

/// The deepest nesting of messages, the outermost counted.
///
/// Source: docs/threat-model.md §6. The deepest of ours is message, instruction, keystroke.
pub const MESSAGE_NESTING_MAX: u32 = 3;

/// The most sub-messages in a message, all levels together.
///
/// Source: docs/threat-model.md §6.
pub const SUB_MESSAGES_MAX: u32 = 16_384;

/// The most bytes in an instruction before it is compressed and after it is inflated.
///
/// Source: docs/protocol.md §4, docs/threat-model.md §6.
pub const INSTRUCTION_BYTES_MAX: usize = 4_194_304;

/// The most compressed bytes that are collected of one instruction. The 64 KiB are for what deflate adds to 4 MiB that
/// it cannot make shorter.
///
/// Source: docs/threat-model.md §6.
pub const COMPRESSED_BYTES_MAX: usize = INSTRUCTION_BYTES_MAX + 64 * 1024;

/// The most bytes that one compressed byte can become.
///
/// Source: RFC 1951 §3.2.5, a match of 258 bytes in two bits.
pub(crate) const DEFLATE_RATIO_MAX: usize = 1032;

/// The most work that applying one instruction may make, in units of [`WorkBudget`](crate::WorkBudget).
///
/// Source: docs/threat-model.md §6. It is for the largest screen, two grids of 1 048 576 cells, to be
/// resized (each cell copied and cropped) and painted anew from the longest instruction: 12.6 million.
pub const INSTRUCTION_WORK_MAX: u64 = 16 * 1024 * 1024;

/// The work in one turn of a loop after which it takes no more input: keys, signals and timers have theirs first.
///
/// Source: docs/threat-model.md §6. Some 5 ms: a unit is 0.5 to 6 ns long, as the example `worst_input` of
/// fulmar-terminal measures.
pub const TURN_WORK_MAX: u64 = 2 * 1024 * 1024;

/// The longest time for which fragments of an unfinished instruction are kept, from the first of them.
///
/// Source: docs/threat-model.md §6.
pub(crate) const ASSEMBLY_AGE_MAX: Duration = Duration::from_secs(60);

/// The most input that is under way: what comes after waits until the peer has acknowledged some. The keys of a person
/// are far below; a paste goes in pieces, so that one lost datagram costs one piece of it, and a piece fits into the
/// buffers on the way.
///
/// Chosen by eye: 54 datagrams if nothing can be compressed, which a socket's usual buffer of 208 KiB
/// takes at once. At a round trip of 100 ms a paste of 8 MB takes about 13 s.
pub const INPUT_WINDOW_BYTES: usize = 64 * 1024;

/// The input in one instruction from which on its sender is likely to wait with more.
///
/// Chosen by eye: an eighth of the window, which nobody types, and a paste of less is over with it.
pub(crate) const MUCH_INPUT_BYTES: usize = INPUT_WINDOW_BYTES / 8;

/// The most random bytes in an instruction: their number is a random byte modulo 17.
///
/// Source: docs/protocol.md §5.1.
pub(crate) const CHAFF_BYTES_MAX: usize = 16;

/// The most received states that are kept beside the throwaway floor.
///
/// Source: docs/threat-model.md §6.
pub(crate) const RECEIVED_STATES_MAX: usize = 64;

/// The most memory that the received states may hold, counting once what they share.
///
/// Source: docs/threat-model.md §6.
pub(crate) const RECEIVED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The most states above the floor that may be acknowledged and waited for at a time. They are not forgotten for lack
/// of room, because the peer may start from any of them.
///
/// Chosen as half of [`RECEIVED_STATES_MAX`]. A sender keeps 16 states in a row
/// ([`SENT_STATE_DROPPED_FROM_END`]), so with 32 acknowledgements spread over a round trip one of them
/// meets such a state as long as fewer than 512 are sent in that time.
pub(crate) const PLEDGED_STATES_MAX: usize = RECEIVED_STATES_MAX / 2;

/// The most sent states that are kept.
///
/// Source: docs/protocol.md §5.3.
pub const SENT_STATES_MAX: usize = 32;

/// The place, counted from the end, of the state that is dropped when there are more than [`SENT_STATES_MAX`]. So the
/// oldest and the newest half remain.
///
/// Source: docs/protocol.md §5.3.
pub(crate) const SENT_STATE_DROPPED_FROM_END: usize = 16;

/// The most memory that the sent states may hold, counting once what they share. The acknowledged state and the newest
/// are kept even if these two are more.
///
/// Source: docs/threat-model.md §6.
pub(crate) const SENT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A difference from the acknowledged state is preferred while it is shorter than this …
///
/// Source: docs/protocol.md §5.3.
pub(crate) const PROSPECTIVE_BYTES_MAX: usize = 1000;

/// … and less than this much longer than the one from the assumed state.
///
/// Source: docs/protocol.md §5.3.
pub(crate) const PROSPECTIVE_EXTRA_BYTES: usize = 100;

/// Round trip before the first sample, and its variation.
///
/// Source: docs/protocol.md §3.2.
pub(crate) const SRTT_INITIAL: Duration = Duration::from_millis(1000);

/// Variation of the round trip before the first sample.
///
/// Source: docs/protocol.md §3.2.
pub(crate) const RTTVAR_INITIAL: Duration = Duration::from_millis(500);

/// The shortest time after which a datagram may be thought lost.
///
/// Source: docs/protocol.md §3.2.
pub(crate) const RTO_MIN: Duration = Duration::from_millis(50);

/// The longest time after which a datagram is thought lost on a path with a round trip up to half
/// of this; on a longer path it is twice the round trip.
///
/// Source: docs/protocol.md §3.2.
pub(crate) const RTO_MAX: Duration = Duration::from_millis(1000);

/// The shortest pause between two frames: 50 in a second.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const FRAME_INTERVAL_MIN: Duration = Duration::from_millis(20);

/// The longest pause between two frames.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const FRAME_INTERVAL_MAX: Duration = Duration::from_millis(250);

/// The number of states after which a server's frames begin to wait for an interval. The interval is half a round trip
/// that nobody has measured yet.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const OPENING_STATES_MAX: u64 = 4;

/// The time for which a server waits for more output after the first change: a redraw is in several writes.
///
/// Source: docs/protocol.md §5.4.
pub const COLLECTION_DELAY: Duration = Duration::from_millis(8);

/// The time for which an acknowledgement waits for something to travel with.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const ACKNOWLEDGEMENT_DELAY: Duration = Duration::from_millis(100);

/// The longest silence of a sender.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(3000);

/// The longest pause of a client that has nothing to say to a server with which it has agreed on pauses.
///
/// Source: docs/protocol.md §13.8. Translators of addresses keep a mapping for 30 s and longer, with few exceptions.
pub(crate) const IDLE_PAUSE_MAX: Duration = Duration::from_millis(15_000);

/// The step by which such a pause becomes longer each time that a shorter one was survived.
///
/// Source: docs/protocol.md §13.8. Chosen by eye: the longest is reached within a minute.
pub(crate) const IDLE_PAUSE_STEP: Duration = Duration::from_millis(3000);

/// The time since the peer was last heard for which unacknowledged states are still sent again without being asked for.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const ACTIVE_RETRY: Duration = Duration::from_millis(10_000);

/// The allowance for the peer's delayed acknowledgement, added to the retransmission timeout.
///
/// Source: docs/protocol.md §5.3 and §5.4.
pub(crate) const RETRY_MARGIN: Duration = ACKNOWLEDGEMENT_DELAY;

/// The first pause after a datagram to a peer that never answered, or to which the path has
/// just changed. Each further pause is twice as long, up to [`REPEAT_MAX`].
///
/// Source: docs/protocol.md §5.4.
pub(crate) const REPEAT_MIN: Duration = Duration::from_millis(250);

/// The longest pause between such datagrams.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const REPEAT_MAX: Duration = HEARTBEAT_INTERVAL;

/// The shortest pause between probes of a silent path while a person types.
///
/// Source: docs/protocol.md §5.4. Chosen so that after an outage something arrives within half a second
/// over a round trip of up to 500 ms.
pub(crate) const PROBE_INTERVAL_MIN: Duration = REPEAT_MIN;

/// The longest pause between probes: then the heartbeat does as well.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const PROBE_INTERVAL_MAX: Duration = HEARTBEAT_INTERVAL;

/// The longest pause before another try of a path on which the system refuses to send.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const REFUSED_PAUSE_MAX: Duration = Duration::from_millis(1000);

/// The longest difference in a probe.
///
/// Chosen by eye: 40 keys of a person who types, one row of a screen; four such probes in a second cost
/// what one full datagram does.
pub const PROBE_DIFFERENCE_BYTES: usize = 256;

/// The count of numbers left out before that of a state to which a longer difference leads, for states on the way there
/// that probes lead to.
///
/// Chosen by eye: an outage that has hardly ended and begins again spends one of them.
pub(crate) const NUMBERS_LEFT_OUT: u64 = 16;

/// The longest pause before what takes several datagrams is sent again to a peer that has not answered.
///
/// Chosen by eye. Probes go on meanwhile, and an answer to any of them ends the pause.
pub(crate) const LARGE_PAUSE_MAX: Duration = Duration::from_secs(60);

/// The shortest time for which a peer has to leave what it was sent unanswered until somebody's report that
/// it cannot be reached is believed.
///
/// Source: docs/threat-model.md §7. Chosen by eye; it is twice the time for an answer where that is more.
pub(crate) const UNANSWERED_MIN: Duration = Duration::from_millis(1000);

/// The silence after which somebody's report that a peer cannot be reached is believed, of a peer that was sent
/// nothing but heartbeats: two of its own and a bit.
///
/// Source: docs/protocol.md §11.1.
pub(crate) const UNHEARD_MIN: Duration = Duration::from_millis(6500);

/// The time after which datagrams of a length are tried again that did not pass.
///
/// Source: RFC 8899 §5.1.1.
pub(crate) const PMTU_RAISE_TIMER: Duration = Duration::from_secs(600);

/// The longest time for which a shutdown is tried.
///
/// Source: docs/protocol.md §5.6.
pub(crate) const SHUTDOWN_AGE_MAX: Duration = Duration::from_millis(10_000);

/// The most times that a shutdown is sent.
///
/// Source: docs/protocol.md §5.6.
pub(crate) const SHUTDOWN_TRIES_MAX: u32 = 16;

/// The longest time for which an end that has answered the peer's shutdown stays for a repetition of it.
///
/// Chosen by eye: long enough for one lost answer on most paths, short enough for a person who waits
/// for the prompt to return.
pub(crate) const LINGER_MAX: Duration = Duration::from_millis(1000);

/// Bytes that a path may get before it is validated; after that heartbeats only.
///
/// Source: docs/threat-model.md §6 and §7.
pub(crate) const UNVALIDATED_BYTES_MAX: usize = 16 * 1024;

/// The time for which the validated path before the present one is remembered.
///
/// Source: docs/threat-model.md §7.
pub(crate) const PREVIOUS_PATH_AGE_MAX: Duration = Duration::from_secs(30);

/// The most paths that are remembered, never validated, with what they got, so that coming back to one does not renew
/// its allowance.
///
/// Chosen by eye. To be forgotten a path has to be followed by so many others, each at the price of
/// a datagram that the attacker had withheld from the server.
pub const UNVALIDATED_PATHS_MAX: usize = 16;

/// The time since it last heard its client for which a server goes on sending.
///
/// Source: docs/protocol.md §3.4.
pub(crate) const ASSOCIATION_AGE_MAX: Duration = Duration::from_secs(40);

/// The time for which a client keeps a local port without proof that it works.
///
/// Source: docs/protocol.md §3.5.
pub(crate) const HOP_INTERVAL: Duration = Duration::from_secs(10);

/// The most paths that a client keeps open.
///
/// Source: docs/protocol.md §3.5.
pub(crate) const OPEN_PATHS_MAX: usize = 10;

/// The age of the newest path at which the older ones are closed.
///
/// Source: docs/protocol.md §3.5.
pub(crate) const OLD_PATHS_AGE_MAX: Duration = Duration::from_secs(60);

/// The most datagrams in one transmission.
///
/// Source: Linux, `UDP_MAX_SEGMENTS` of generic segmentation offload.
pub(crate) const TRANSMISSION_DATAGRAMS_MAX: usize = 64;

/// The most bytes in one transmission: the payload of the largest UDP datagram over IPv4, which the
/// system makes of it before it is cut.
///
/// Source: RFC 768 and RFC 791, 65 535 less 28 bytes of headers.
pub(crate) const TRANSMISSION_BYTES_MAX: usize = 65_507;

/// The least congestion window: two full datagrams, with which a path of 64 kbit/s is busy for 0.3 s.
///
/// Source: docs/protocol.md §5.4. Chosen by eye: the keys and echoes of somebody who types fast fit into it at a round trip
/// of a second.
pub(crate) const WINDOW_BYTES_MIN: usize = 2504;

/// The most that the congestion window opens to: fifty screens of 5 kB.
///
/// Chosen by eye.
pub(crate) const WINDOW_BYTES_MAX: usize = 256 * 1024;

/// The least delay that is taken for a queue rather than for jitter.
///
/// Chosen by eye, above the jitter of Wi-Fi and of schedulers.
pub(crate) const QUEUE_DELAY_MIN: Duration = Duration::from_millis(20);

/// The most delay that a queue may cause on a long path.
///
/// Source: docs/protocol.md §5.4. Chosen by eye: as long as the longest frame interval.
pub(crate) const QUEUE_DELAY_MAX: Duration = Duration::from_millis(250);

/// The number of round trips in a row that are long if a queue stands.
///
/// Source: docs/protocol.md §5.4. Chosen by eye: where each way takes 50 to 150 ms at random, two in a row are long more
/// often than not.
pub(crate) const STANDING_ROUND_TRIPS: usize = 4;

/// The time for which the shortest round trip is believed, at least; twice as long at most.
///
/// Source: docs/protocol.md §5.4. Chosen by eye: a route that has become longer counts as a queue for a minute at most.
pub(crate) const ROUND_TRIP_FLOOR_AGE: Duration = Duration::from_secs(30);

/// The most instructions in flight that are told apart. Further ones count with the last.
///
/// Chosen by eye.
pub(crate) const IN_FLIGHT_MAX: usize = 256;

/// The pause between two datagrams that wait for no frame interval.
///
/// Source: docs/protocol.md §5.4. Chosen by eye: a key that repeats comes every 30 ms, and the bytes of a paste that a
/// terminal cuts into pieces come together.
pub(crate) const PROMPT_INTERVAL: Duration = Duration::from_millis(5);

/// The number of frames after a key that wait for no frame interval.
///
/// Source: docs/protocol.md §5.4. Chosen by eye: the echo, the output, the prompt, and one more.
pub const ANSWER_FRAMES: u8 = 4;

/// The longest pause between keys behind a full congestion window.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const CONGESTED_INTERVAL_MAX: Duration = Duration::from_millis(1000);

/// The time without further output after which an echo leaves.
///
/// Source: docs/protocol.md §5.4; measured in docs/figures.md, "redraws".
pub const ECHO_QUIET: Duration = Duration::from_micros(500);

/// The fewest datagrams that the share of lost ones is reckoned over.
///
/// Chosen by eye: what is lost first on a good path does not count for much.
pub(crate) const LOSS_SPAN_MIN: u32 = 32;

/// The most datagrams that the share of lost ones is reckoned over: one lost among them stays below [`COPIES_LOSS_MIN`].
///
/// Chosen by eye.
pub(crate) const LOSS_SPAN_MAX: u32 = 128;

/// The most that one gap counts: what an outage takes says little of what comes after it.
///
/// Chosen by eye.
pub(crate) const LOSS_GAP_MAX: u64 = 8;

/// The share of datagrams lost from which on copies are sent.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const COPIES_LOSS_MIN: f64 = 0.01;

/// The fewest numbers left out that no loss explains.
///
/// Chosen by eye: more than any sender sends within a second to somebody who does not answer.
pub(crate) const LEAP_MIN: u64 = 256;

/// The chance that an instruction and all its copies are lost, at most.
///
/// Chosen by eye: at 29 % of loss two copies follow.
pub(crate) const EXPECTED_LOSS_MAX: f64 = 0.025;

/// The most copies of an instruction.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const COPIES_MAX: u8 = 3;

/// The shortest pause before the first copy.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const COPY_PAUSE_MIN: Duration = Duration::from_millis(10);

/// The longest pause before the first copy.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const COPY_PAUSE_MAX: Duration = Duration::from_millis(50);

/// The bytes of copies in a second, on average.
///
/// Source: docs/protocol.md §5.4. Chosen by eye: three times what a key that repeats needs.
pub(crate) const COPY_BYTES_PER_SECOND: u64 = 8 * 1024;

/// The time's worth of copies that may be sent ahead of that average.
///
/// Chosen by eye: three full datagrams.
pub(crate) const COPY_DEBT_MAX: Duration = Duration::from_millis(500);

/// The longest pause between retries of what has not been acknowledged.
///
/// Source: docs/protocol.md §5.4. It is twice the round trip where that is longer.
pub(crate) const RETRY_PAUSE_MAX: Duration = Duration::from_millis(500);

/// The longest difference of which copies are sent: it fits into one datagram.
///
/// Source: docs/protocol.md §5.4.
pub(crate) const COPY_DIFFERENCE_BYTES: usize = 1000;

/// The longest difference of a link of a chain where datagrams have 1252 bytes: it grows and shrinks with them.
///
/// Chosen by eye: text with its colours, or letters at random, fill a datagram when they are compressed.
pub(crate) const LINK_DIFFERENCE_BYTES: usize = 1500;

/// The most states that are kept while a chain goes on: the others leave room for probes, and for what is typed meanwhile.
///
/// Chosen by eye: three quarters of [`SENT_STATES_MAX`].
pub(crate) const CHAIN_STATES_MAX: usize = 24;

/// The most times one after the other that a chain is sent again to a peer that is heard and acknowledges none of it, before
/// what is missing goes whole.
///
/// Chosen by eye: where 29 % are lost each way, the first link or its acknowledgement is lost half of the time, and six times
/// running in 1 of 64 cases.
pub(crate) const VAIN_ROUNDS_MAX: u32 = 6;

/// The share of the peer's datagrams that come late from which on no chains are sent.
///
/// Chosen by eye: acknowledgements are far apart. A path that changes their order changes that of links far more often.
pub(crate) const LATE_SHARE_MAX: f64 = 0.02;

/// The bytes of a difference for each of which a number is left out before that of its state.
///
/// Chosen by eye: 23 numbers for the bytes of a link ([`LINK_DIFFERENCE_BYTES`]), which takes 17.
pub(crate) const LEFT_OUT_PER_BYTES: u64 = 64;

/// The most bytes of a chain of which copies are sent.
///
/// Chosen by eye: what copies may have at once ([`COPY_DEBT_MAX`]).
pub(crate) const COPIED_CHAIN_BYTES_MAX: usize = 4096;

/// The most instructions that are remembered to find out which of them have not arrived, and the most of those that have not.
///
/// Chosen by eye: twice the states that a sender keeps ([`SENT_STATES_MAX`]).
pub(crate) const DEPARTURES_MAX: usize = 64;

/// The fewest instructions in long datagrams that have to be lost before a black hole is suspected.
///
/// Source: RFC 8899 §5.1.2, `MAX_PROBES`.
pub(crate) const BLACK_HOLE_MISSES_MIN: usize = 3;

/// The share of datagrams that any path is taken to lose: what is lost on the way there may not show on the way back.
///
/// Chosen by eye.
pub(crate) const BLACK_HOLE_LOSS_MIN: f64 = 0.02;

/// The fewest short instructions that the share of lost ones is reckoned over.
///
/// Chosen by eye.
pub(crate) const SHORT_LOSS_SPAN_MIN: u32 = 4;

/// The most short instructions that the share of lost ones is reckoned over.
///
/// Chosen by eye.
pub(crate) const SHORT_LOSS_SPAN_MAX: u32 = 16;

/// The chance of losing just the long datagrams on a path without a black hole, at most.
///
/// Chosen by eye: three single datagrams of 12 that are lost on a path that loses an eighth. Where 29 are lost of a
/// hundred, six.
pub(crate) const BLACK_HOLE_CHANCE_MAX: f64 = 0.002;

/// The chance of losing all the long datagrams that have not been acknowledged, from which on a short one is sent.
///
/// Chosen by eye: a single one on a path that loses little is tried twice, and where 29 are lost of a hundred five times.
/// With three times there, 20 kB take 4 % longer.
pub(crate) const VAIN_TRIES_CHANCE_MAX: f64 = 0.003;

/// The same after a miss.
///
/// Chosen by eye: a single one on a path that loses little is tried once, several go as links.
pub(crate) const VAIN_TRIES_CHANCE_AFTER_MISS_MAX: f64 = 0.021;

/// The chance of losing all the long datagrams that have not been acknowledged, from which on a black hole is presumed where
/// nothing short can be sent to find out.
///
/// Chosen by eye: four single ones, a time-out apart, on a path that loses little.
pub(crate) const PRESUMED_CHANCE_MAX: f64 = 0.000_001;

/// The time for which datagrams are short because a black hole is presumed, where no probes find out.
///
/// Chosen by eye. It may be loss on the way there alone, of which several short datagrams suffer more than few long ones.
pub(crate) const PRESUMED_FOR: Duration = Duration::from_secs(10);

/// The lengths of datagrams that are probed, in order: packets of 1280 bytes, 1420 (WireGuard), 1480 (one IP packet in another),
/// 1492 (PPPoE) and 1500 (Ethernet) less 48 bytes for the headers of IPv6, and less 28 for those of IPv4. The first is for
/// tunnels in tunnels.
///
/// Source: docs/protocol.md §13.10. Chosen by eye.
pub(crate) const PROBED_LENGTHS: [usize; 10] =
    [1052, 1232, 1252, 1372, 1392, 1432, 1444, 1452, 1464, 1472];

/// The number of probes of one length that are lost before it counts as too long.
///
/// Source: RFC 8899 §5.1.2, `MAX_PROBES`.
pub(crate) const SIZE_PROBES_MAX: u32 = 3;

/// The shortest time that a probe has to be answered, and from one probe to the next.
///
/// Source: RFC 8899 §5.1.1, `PROBE_TIMER`.
pub(crate) const PROBE_TIMER_MIN: Duration = Duration::from_secs(1);

/// The shortest time by which a datagram that was sent earlier may be overtaken. It is a quarter of the round trip where
/// that is longer.
///
/// Source: RFC 8985 §6.2, which allows for a quarter of the round trip. The 10 ms are chosen by eye.
pub(crate) const OVERTAKING_MIN: Duration = Duration::from_millis(10);

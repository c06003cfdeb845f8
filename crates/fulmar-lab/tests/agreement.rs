//! One exchange in virtual time and over a real link.

mod support;

use fulmar_lab::scenario::Scenario;
use fulmar_lab::selfcheck::agreement;
use fulmar_lab::trace::LinkTraces;
use fulmar_platform::lab::ThreadPriority;
use fulmar_testbed::peers;

/// Everything that draws by chance, and things that take time. No packet has to wait for another: for
/// how long would depend on when that was sent, which the two worlds do not share to the microsecond.
/// So the link is slow only where packets come one by one, and answers may overtake.
const SCENARIO: &str = "seed 11\n\
    up loss 5%, rate 2mbit queue 20p, duplicate 5%, delay 20ms..25ms\n\
    down burst-loss 5% run 2, mtu 1000, duplicate 5%, mark 50%, delay 30ms..34ms reordering";

#[test]
fn virtual_time_and_a_real_link_agree_on_every_packet() {
    let scenario = Scenario::parse(SCENARIO, &LinkTraces::none()).unwrap();
    let agreement = match agreement(&scenario, 300) {
        Ok(agreement) => agreement,
        Err(error) => return peers::leave_out(&format!("no link can be made: {error:#}")),
    };
    // The same seed draws the same for the same packets in the same order: exactly.
    assert_eq!(agreement.other_fate, 0);
    let longer = &agreement.longer;
    assert!(longer.len() > 500, "{}", longer.len());
    // Never early: not by a nanosecond, but for the rounding of doubles at the size of wall time.
    assert!(longer[0] > -1e-6, "{} s", longer[0]);
    // Late by two wake-ups of the engine, one to read the packet and one to write it. As a real-time
    // thread it has the processor within 0.1 ms, of which a debug build makes 0.2; the rest is room for
    // a busy virtual machine. As a usual thread it may have to wait for a turn of others each time.
    let tolerance = match agreement.priority {
        ThreadPriority::RealTime => 1e-3,
        ThreadPriority::Usual => 20e-3,
    };
    let median = longer[longer.len() / 2];
    eprintln!(
        "real packets take {:.3} ms longer in the median",
        median * 1e3
    );
    assert!(median < tolerance, "{median} s");
}

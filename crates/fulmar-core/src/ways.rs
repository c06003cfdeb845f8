//! The choice of a client between UDP and an ssh, for each transmission.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_datagram::Sequence;
use fulmar_transport::{Cause, StateNumber};

/// The time for which UDP may leave a question unanswered before ssh is used as well, as long as the round trip is not known.
/// Chosen by eye: longer than most, and short beside the time after which a person notices.
const DOUBT_AFTER: Duration = Duration::from_millis(500);

/// The first pause between two tries of UDP while ssh is in use, and the longest. Chosen by eye: a network that opens is
/// used soon, and one that never does costs a datagram a minute.
const TRY_PAUSE: Duration = Duration::from_secs(1);
const TRY_PAUSE_MAX: Duration = Duration::from_secs(60);

/// The time for which UDP has to have been the way so that the pauses between tries are short again. Chosen by eye: a
/// network that lets UDP pass for a moment is not tried more often for that.
const STEADY_AFTER: Duration = Duration::from_secs(60);

/// A kind of path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// UDP.
    Udp,
    /// The connection of an ssh.
    Ssh,
}

/// The user's wish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WayPreference {
    /// UDP where it works, ssh where it does not.
    #[default]
    Auto,
    /// Only this one.
    Only(Way),
}

/// The ways of one transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenWays {
    /// Send it over UDP.
    pub udp: bool,
    /// Send it over ssh.
    pub ssh: bool,
}

/// Says over what a client sends. It knows no path: it is told what comes over which way.
///
/// ```text
///            UDP leaves something unanswered, so that it is sent again: both ways
///   UDP ◄──────────────────────────────────────────────► an answer comes over ssh first: ssh
///       └─ an answer comes over UDP, which is tried once in a while ◄─────────────────────┘
/// ```
///
/// While both are used, each datagram goes both ways; the peer takes it once. So a change loses nothing. What is sent again
/// goes both ways at once, so that a way that has failed costs an echo no more than the wait for its answer.
#[derive(Clone, Debug)]
pub struct Ways {
    preference: WayPreference,
    in_use: Way,
    has_ssh: bool,
    has_used_ssh: bool,
    is_connected: bool,
    /// The departure of the first question over UDP since the last one was answered there, and its number.
    asked: Option<(Time, StateNumber)>,
    /// True if it was asked again.
    is_repeated: bool,
    /// The time for which it may remain unanswered.
    patience: Duration,
    /// The time at which the last answer came over UDP.
    udp_heard: Option<Time>,
    /// The highest number that has come over UDP.
    udp_highest: Option<Sequence>,
    /// The time since which UDP is the way.
    udp_since: Time,
    try_at: Time,
    try_pause: Duration,
}

impl Ways {
    /// Returns the ways of a client that has heard nothing, and has no ssh yet.
    pub fn new(now: Time, preference: WayPreference) -> Ways {
        let in_use = match preference {
            WayPreference::Auto => Way::Udp,
            WayPreference::Only(way) => way,
        };
        Ways {
            preference,
            in_use,
            has_ssh: false,
            has_used_ssh: false,
            is_connected: false,
            asked: None,
            is_repeated: false,
            patience: DOUBT_AFTER,
            udp_heard: None,
            udp_highest: None,
            udp_since: now,
            try_at: now,
            try_pause: TRY_PAUSE,
        }
    }

    /// Returns the way that is known to work, or that is believed to.
    pub fn in_use(&self) -> Way {
        self.in_use
    }

    /// Tells if ssh is of any use: it is the way, or was once, or nothing was heard over any.
    pub fn needs_ssh(&self) -> bool {
        self.preference != WayPreference::Only(Way::Udp)
            && (self.has_used_ssh || !self.is_connected)
    }

    /// Tells if ssh was ever the way.
    pub fn has_used_ssh(&self) -> bool {
        self.has_used_ssh
    }

    /// Tells if UDP may be used.
    pub fn may_use_udp(&self) -> bool {
        self.preference != WayPreference::Only(Way::Ssh)
    }

    /// Returns since when UDP has not answered, if it is in use and should have.
    pub fn in_doubt_since(&self, now: Time) -> Option<Time> {
        let (asked, _) = self.asked.filter(|_| self.in_use == Way::Udp)?;
        Some(asked).filter(|asked| self.is_repeated || now.since(*asked) >= self.patience)
    }

    /// Tells if an answer has come over UDP since then.
    pub fn has_heard_udp_since(&self, then: Time) -> bool {
        self.udp_heard.is_some_and(|heard| heard > then)
    }

    /// Takes note of the time after which a datagram may be thought lost, once that is known.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Takes note that there is an ssh.
    pub fn handle_ssh_opened(&mut self) {
        self.has_ssh = true;
    }

    /// Takes note that there is none any more. Returns true if UDP is the way from now on.
    #[must_use = "the path has to be told of"]
    pub fn handle_ssh_closed(&mut self, now: Time) -> bool {
        self.has_ssh = false;
        let is_change = self.in_use == Way::Ssh && self.may_use_udp();
        if is_change {
            self.in_use = Way::Udp;
            self.udp_since = now;
            self.forget_question();
        }
        is_change
    }

    /// Tells whether an authentic datagram of that number says something of the way over which it came. What anybody has seen and
    /// sent again is no proof of UDP. Of copies, those over ssh may come first.
    pub fn is_proof(&mut self, way: Way, sequence: Sequence) -> bool {
        if way == Way::Ssh {
            return true;
        }
        let is_highest = self.udp_highest.is_none_or(|highest| sequence > highest);
        if is_highest {
            self.udp_highest = Some(sequence);
        }
        is_highest
    }

    /// Takes note that something authentic has come over that way, which acknowledges a state of that number, if it says so;
    /// `is_fresh` if it was newer than all before. Returns true if that is the way from now on, and was not before.
    ///
    /// What comes over UDP and answers nothing that was sent over UDP proves one direction only.
    #[must_use = "the path has to be told of"]
    pub fn handle_heard(
        &mut self,
        now: Time,
        way: Way,
        is_fresh: bool,
        acknowledged: Option<StateNumber>,
    ) -> bool {
        let is_answer = self
            .asked
            .zip(acknowledged)
            .is_some_and(|((_, number), acknowledged)| acknowledged >= number);
        let is_first = !std::mem::replace(&mut self.is_connected, true);
        let changes = match (way, self.in_use) {
            (Way::Udp, Way::Ssh) => is_answer && self.may_use_udp(),
            // What was sent over UDP is answered over nothing but ssh.
            (Way::Ssh, Way::Udp) => is_fresh && (is_first || self.in_doubt_since(now).is_some()),
            _ => false,
        };
        match way {
            Way::Udp if is_answer => {
                self.forget_question();
                self.udp_heard = Some(now);
            }
            Way::Udp => {}
            Way::Ssh if changes || self.in_use == Way::Ssh => self.has_used_ssh = true,
            Way::Ssh => {}
        }
        if changes {
            self.change(now, way);
        }
        changes
    }

    /// Returns the ways of what is sent now for that cause, on the path that is in use, to lead to the state of that number.
    pub fn choose(&mut self, now: Time, cause: Cause, target: StateNumber) -> ChosenWays {
        let is_repeat = is_repeat(cause);
        self.is_repeated |= is_repeat && self.asked.is_some();
        let chosen = match self.preference {
            WayPreference::Only(way) => ChosenWays {
                udp: way == Way::Udp,
                ssh: way == Way::Ssh,
            },
            WayPreference::Auto => ChosenWays {
                udp: self.in_use == Way::Udp
                    || !self.is_connected
                    || self.tries_udp(now)
                    // Where something has come from.
                    || is_repeat && self.udp_heard.is_some(),
                ssh: self.has_ssh
                    && (self.in_use == Way::Ssh
                        || !self.is_connected
                        || self.in_doubt_since(now).is_some()),
            },
        };
        if chosen.udp && asks(cause) {
            self.asked.get_or_insert((now, target));
        }
        chosen
    }

    /// Has UDP be tried with the next transmission: something has changed.
    pub fn try_soon(&mut self, now: Time) {
        self.try_at = now;
        self.try_pause = TRY_PAUSE;
    }

    fn forget_question(&mut self) {
        self.asked = None;
        self.is_repeated = false;
    }

    fn change(&mut self, now: Time, way: Way) {
        self.in_use = way;
        match way {
            Way::Udp => self.udp_since = now,
            Way::Ssh => {
                if now.since(self.udp_since) >= STEADY_AFTER {
                    self.try_pause = TRY_PAUSE;
                }
                self.put_off_tries(now);
            }
        }
    }

    fn tries_udp(&mut self, now: Time) -> bool {
        let is_due = self.try_at <= now;
        if is_due {
            self.put_off_tries(now);
        }
        is_due
    }

    /// The pauses grow with each try in vain, and with each time that UDP has failed soon after it had worked.
    fn put_off_tries(&mut self, now: Time) {
        self.try_at = now + self.try_pause;
        self.try_pause = (self.try_pause * 2).min(TRY_PAUSE_MAX);
    }
}

/// Tells if the peer answers what is sent for that cause, as soon as it arrives.
fn asks(cause: Cause) -> bool {
    let is_answer = matches!(
        cause,
        Cause::Acknowledgement | Cause::Answer | Cause::Response | Cause::ShutdownAnswer
    );
    !is_answer && cause != Cause::SizeProbe
}

/// Tells if what is sent for that cause was sent before, and has no answer.
fn is_repeat(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::Retry | Cause::Resend | Cause::FirstRepeat | Cause::Probe
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const UDP: ChosenWays = ChosenWays {
        udp: true,
        ssh: false,
    };
    const SSH: ChosenWays = ChosenWays {
        udp: false,
        ssh: true,
    };
    const BOTH: ChosenWays = ChosenWays {
        udp: true,
        ssh: true,
    };

    /// The number of all that is asked and answered, but where it matters.
    const N1: StateNumber = StateNumber::new(1);

    fn at(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    fn ways() -> Ways {
        Ways::new(at(0), WayPreference::Auto)
    }

    /// Returns ways with an ssh, of which UDP works.
    fn over_udp() -> Ways {
        let mut ways = ways();
        ways.handle_ssh_opened();
        ways.choose(at(0), Cause::Frame, N1);
        assert!(!ways.handle_heard(at(10), Way::Udp, true, Some(N1)));
        ways
    }

    /// Returns ways of which only ssh works.
    fn over_ssh() -> Ways {
        let mut ways = ways();
        assert_eq!(ways.choose(at(0), Cause::Frame, N1), UDP);
        ways.handle_ssh_opened();
        assert_eq!(ways.choose(at(400), Cause::Frame, N1), BOTH);
        assert!(ways.handle_heard(at(500), Way::Ssh, true, Some(N1)));
        ways
    }

    #[test]
    fn the_first_answer_decides_and_ssh_is_needed_only_if_it_was_that() {
        let udp = over_udp();
        assert_eq!((udp.in_use(), udp.needs_ssh()), (Way::Udp, false));
        let ssh = over_ssh();
        assert_eq!((ssh.in_use(), ssh.needs_ssh()), (Way::Ssh, true));
    }

    #[test]
    fn what_was_seen_before_over_udp_proves_nothing() {
        let mut ways = over_ssh();
        let number = |number| Sequence::new(number).expect("it is one");
        assert!(ways.is_proof(Way::Ssh, number(7)) && ways.is_proof(Way::Ssh, number(7)));
        assert!(ways.is_proof(Way::Udp, number(7)), "a copy of it over ssh");
        assert!(!ways.is_proof(Way::Udp, number(7)) && !ways.is_proof(Way::Udp, number(6)));
        assert!(ways.is_proof(Way::Udp, number(8)));
    }

    #[test]
    fn it_is_known_whether_udp_has_answered_since() {
        let ways = over_udp();
        assert!(ways.has_heard_udp_since(at(9)) && !ways.has_heard_udp_since(at(10)));
        assert!(!over_ssh().has_heard_udp_since(at(0)));
    }

    #[test]
    fn udp_that_answers_late_is_doubted_and_ssh_is_the_way_if_it_alone_answers() {
        let mut ways = over_udp();
        assert_eq!(ways.choose(at(1000), Cause::Frame, N1), UDP);
        assert!(
            !ways.handle_heard(at(1400), Way::Ssh, true, Some(N1)),
            "a late copy"
        );
        assert_eq!(ways.choose(at(1499), Cause::Frame, N1), UDP);
        assert_eq!(ways.choose(at(1500), Cause::Frame, N1), BOTH);
        assert!(
            !ways.handle_heard(at(1501), Way::Ssh, false, Some(N1)),
            "an old one"
        );
        assert!(ways.handle_heard(at(1510), Way::Ssh, true, Some(N1)));
        assert_eq!(ways.choose(at(1520), Cause::Frame, N1), SSH);
    }

    #[test]
    fn what_comes_over_udp_and_answers_nothing_leaves_the_doubt() {
        let mut ways = over_udp();
        let news = StateNumber::new(2);
        ways.choose(at(1000), Cause::Frame, news);
        assert_eq!(ways.choose(at(1200), Cause::Retry, news), BOTH);
        assert!(!ways.handle_heard(at(1300), Way::Udp, true, Some(N1)));
        assert!(!ways.handle_heard(at(1300), Way::Udp, true, None));
        assert_eq!(ways.choose(at(1310), Cause::Retry, news), BOTH);
        assert!(ways.handle_heard(at(1320), Way::Ssh, true, Some(news)));
        ways.choose(at(2400), Cause::Frame, news);
        assert!(!ways.handle_heard(at(2410), Way::Udp, true, Some(N1)));
        assert!(ways.handle_heard(at(2420), Way::Udp, true, Some(news)));
    }

    #[test]
    fn what_is_sent_again_goes_both_ways_at_once() {
        let mut ways = over_udp();
        assert_eq!(ways.choose(at(100), Cause::Acknowledgement, N1), UDP);
        assert!(
            !ways.handle_heard(at(101), Way::Ssh, true, Some(N1)),
            "no question"
        );
        assert_eq!(ways.choose(at(9100), Cause::Frame, N1), UDP, "nor later");
        assert_eq!(ways.choose(at(9150), Cause::Retry, N1), BOTH);
        assert!(ways.handle_heard(at(9160), Way::Ssh, true, Some(N1)));
        assert_eq!(ways.choose(at(9170), Cause::Frame, N1), SSH);
        assert_eq!(
            ways.choose(at(9180), Cause::Retry, N1),
            BOTH,
            "UDP was heard once"
        );
        assert_eq!(over_ssh().choose(at(600), Cause::Retry, N1), SSH);
    }

    #[test]
    fn udp_that_has_worked_for_long_is_tried_soon_when_it_fails() {
        let tries = |worked: u64| {
            let mut ways = over_ssh();
            for millis in (500..70_000).step_by(100) {
                ways.choose(at(millis), Cause::Frame, N1);
            }
            assert!(ways.handle_heard(at(70_000), Way::Udp, true, Some(N1)));
            let fails = 70_000 + worked;
            ways.choose(at(fails), Cause::Frame, N1);
            assert!(ways.handle_heard(at(fails + 600), Way::Ssh, true, Some(N1)));
            ways.choose(at(fails + 1600), Cause::Frame, N1).udp
        };
        assert!(!tries(59_000) && tries(60_000));
    }

    #[test]
    fn udp_is_tried_more_and_more_seldom_and_is_the_way_as_soon_as_it_answers() {
        let mut ways = over_ssh();
        let tried: Vec<u64> = (500..70_000)
            .step_by(100)
            .filter(|millis| ways.choose(at(*millis), Cause::Frame, N1).udp)
            .collect();
        assert_eq!(tried, [1500, 3500, 7500, 15_500, 31_500, 63_500]);
        ways.try_soon(at(70_000));
        assert_eq!(ways.choose(at(70_000), Cause::Frame, N1), BOTH);
        assert!(ways.handle_heard(at(70_010), Way::Udp, false, Some(N1)));
        assert_eq!(ways.choose(at(70_020), Cause::Frame, N1), UDP);
    }

    #[test]
    fn an_ssh_that_ends_leaves_udp() {
        let mut ways = over_ssh();
        assert!(ways.handle_ssh_closed(at(600)));
        assert_eq!(ways.choose(at(600), Cause::Frame, N1), UDP);
        assert_eq!(ways.choose(at(1600), Cause::Frame, N1), UDP);
        assert!(ways.needs_ssh());
        ways.handle_ssh_opened();
        assert_eq!(ways.choose(at(1700), Cause::Frame, N1), BOTH);
    }

    #[test]
    fn only_what_the_user_wishes_is_used() {
        let mut udp = Ways::new(at(0), WayPreference::Only(Way::Udp));
        udp.handle_ssh_opened();
        assert_eq!(
            (udp.choose(at(9000), Cause::Frame, N1), udp.needs_ssh()),
            (UDP, false)
        );
        let mut ssh = Ways::new(at(0), WayPreference::Only(Way::Ssh));
        ssh.handle_ssh_opened();
        assert_eq!(ssh.choose(at(0), Cause::Frame, N1), SSH);
        assert!(!ssh.handle_heard(at(5), Way::Ssh, true, Some(N1)));
        assert_eq!(
            (ssh.choose(at(9000), Cause::Frame, N1), ssh.needs_ssh()),
            (SSH, true)
        );
        assert!(!ssh.handle_ssh_closed(at(600)));
    }
}

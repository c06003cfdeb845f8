//! The choice of the transport of a service that was started: UDP, or the ssh that has started it.
//!
//! ```text
//!  connecting ──── UDP is up ──────────────────────► over UDP
//!      └─ 3 s of silence, ─► ssh is asked for it ──► over ssh
//!         no UDP at all              └─ ssh ends ──► over UDP, if that is up by then
//! ```
//!
//! UDP comes first: only it survives another address and fills a long path. ssh is not asked at once, because the remote end
//! gives UDP up for it; three seconds leave room for a handshake whose first packet is lost, which QUIC repeats after one
//! second (RFC 9002 §6.2.2).
//!
//! The program carries it out in `copy/connection.rs`. If both come at once the remote end chooses, in `copy/remote_end.rs`.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_core::{Way, WayPreference};

/// The time that UDP may be silent at the beginning before ssh is asked.
///
/// Source: docs/protocol.md §2.10.
const UDP_WITHIN: Duration = Duration::from_secs(3);

/// The reason why ssh carries nothing where only UDP is wanted.
const UNWANTED_SSH: &str = "no UDP comes back, and --transport=udp keeps ssh from being used";

/// A transport of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// UDP.
    Udp,
    /// The connection of ssh.
    Ssh,
}

/// An order or a piece of news from the choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportEvent {
    /// UDP does not answer, or cannot be tried: ask ssh to carry it.
    AskSsh,
    /// It is settled.
    Chosen(Transport),
    /// UDP is given up.
    DropUdp,
    /// Nothing carries it any more.
    Failed(TransportError),
}

/// A failure of both, or of the one that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportError {
    /// The connection has ended, for that reason.
    Lost(String),
    /// The remote end says that ssh carries it, and was not asked.
    NotAsked,
}

/// The state of the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChoiceStage {
    /// UDP is tried.
    Connecting,
    /// ssh was asked to carry it. UDP may yet be quicker.
    Asking,
    /// It is settled.
    Chosen(Transport),
    /// Nothing carries it.
    Over,
}

/// The choice between UDP and ssh, which knows neither. It is told what they do.
#[derive(Debug)]
pub struct TransportChoice {
    stage: ChoiceStage,
    transport: Option<Transport>,
    since: Time,
    has_udp: bool,
    is_udp_open: bool,
    /// The reason why ssh cannot carry it, if there is one.
    without_ssh: Option<&'static str>,
    events: VecDeque<TransportEvent>,
}

impl TransportChoice {
    /// Begins with an ssh, and with UDP on its way if there is a way for it. What the user does not want is not used.
    pub fn begin(now: Time, wanted: WayPreference, has_udp: bool) -> TransportChoice {
        let without_ssh = (wanted == WayPreference::Only(Way::Udp)).then_some(UNWANTED_SSH);
        TransportChoice {
            stage: ChoiceStage::Connecting,
            transport: None,
            since: now,
            has_udp: has_udp && wanted != WayPreference::Only(Way::Ssh),
            is_udp_open: false,
            without_ssh,
            events: VecDeque::new(),
        }
    }

    /// Returns what carries it, or has carried it, once that is settled.
    pub fn transport(&self) -> Option<Transport> {
        self.transport
    }

    /// Takes note that the connection over UDP is there. Once ssh was asked, the remote end may have heard that first.
    pub fn handle_udp_open(&mut self) {
        self.is_udp_open = self.has_udp;
        if self.stage == ChoiceStage::Connecting && self.has_udp {
            self.choose(Transport::Udp);
        }
    }

    /// Takes note that the connection over UDP has ended, for that reason.
    pub fn handle_udp_end(&mut self, why: String) {
        if !std::mem::take(&mut self.has_udp) {
            return;
        }
        self.is_udp_open = false;
        if self.stage == ChoiceStage::Chosen(Transport::Udp) {
            self.fail(TransportError::Lost(why));
        } else {
            // ssh is left.
            self.events.push_back(TransportEvent::DropUdp);
        }
    }

    /// Takes note that the remote end says that ssh carries it.
    pub fn handle_over_ssh(&mut self) {
        match self.stage {
            ChoiceStage::Asking if self.without_ssh.is_none() => {
                self.choose(Transport::Ssh);
                // The remote end has dropped it as well.
                if std::mem::take(&mut self.has_udp) {
                    self.events.push_back(TransportEvent::DropUdp);
                }
            }
            ChoiceStage::Over => {}
            _ => self.fail(TransportError::NotAsked),
        }
    }

    /// Takes note that ssh has ended.
    pub fn handle_ssh_end(&mut self) {
        self.without_ssh.get_or_insert("ssh has ended");
    }

    /// Takes note that the input of ssh has ended, so that it can carry nothing.
    pub fn handle_ssh_input_end(&mut self) {
        let why = "no UDP comes back, and a shell there that waited for the end of its input (exec fish) keeps ssh from being used";
        self.without_ssh.get_or_insert(why);
    }

    /// Returns when to look again.
    pub fn poll_timeout(&self) -> Option<Time> {
        let is_connecting = self.stage == ChoiceStage::Connecting;
        is_connecting.then_some(self.since + UDP_WITHIN)
    }

    /// Returns what is to be done or to be known next.
    pub fn poll_event(&mut self, now: Time) -> Option<TransportEvent> {
        if self.events.is_empty() {
            self.decide(now);
        }
        self.events.pop_front()
    }

    fn decide(&mut self, now: Time) {
        match self.stage {
            ChoiceStage::Connecting if self.since + UDP_WITHIN <= now || !self.has_udp => {
                match self.without_ssh {
                    None => {
                        self.stage = ChoiceStage::Asking;
                        self.events.push_back(TransportEvent::AskSsh);
                    }
                    Some(why) => self.fail(TransportError::Lost(why.to_owned())),
                }
            }
            // The remote end was quicker to connect than to read what it was asked.
            ChoiceStage::Asking if self.without_ssh.is_some() && self.is_udp_open => {
                self.choose(Transport::Udp);
            }
            ChoiceStage::Asking => {
                if let Some(why) = self.without_ssh {
                    self.fail(TransportError::Lost(why.to_owned()));
                }
            }
            _ => {}
        }
    }

    fn choose(&mut self, transport: Transport) {
        self.stage = ChoiceStage::Chosen(transport);
        self.transport = Some(transport);
        self.events.push_back(TransportEvent::Chosen(transport));
    }

    fn fail(&mut self, failure: TransportError) {
        self.stage = ChoiceStage::Over;
        self.events.push_back(TransportEvent::Failed(failure));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time::ZERO;

    fn at(millis: u64) -> Time {
        START + Duration::from_millis(millis)
    }

    fn drained(choice: &mut TransportChoice, now: Time) -> Vec<TransportEvent> {
        std::iter::from_fn(|| choice.poll_event(now)).collect()
    }

    #[test]
    fn udp_carries_it_if_it_answers_in_time() {
        let mut choice = TransportChoice::begin(START, WayPreference::Auto, true);
        assert_eq!(choice.poll_timeout(), Some(at(3000)));
        assert_eq!(drained(&mut choice, at(2999)), []);
        choice.handle_udp_open();
        let chosen = [TransportEvent::Chosen(Transport::Udp)];
        assert_eq!(drained(&mut choice, at(2999)), chosen);
        assert_eq!(choice.poll_timeout(), None);
        choice.handle_ssh_end();
        assert_eq!(drained(&mut choice, at(9000)), []);
        choice.handle_udp_end("gone".to_owned());
        let failed = TransportEvent::Failed(TransportError::Lost("gone".to_owned()));
        assert_eq!(drained(&mut choice, at(9000)), [failed]);
    }

    #[test]
    fn what_is_not_wanted_is_not_used() {
        let only = |way| TransportChoice::begin(START, WayPreference::Only(way), true);
        assert_eq!(
            drained(&mut only(Way::Ssh), START),
            [TransportEvent::AskSsh]
        );
        let mut over_udp = only(Way::Udp);
        assert_eq!(drained(&mut over_udp, at(2999)), []);
        let failed = TransportEvent::Failed(TransportError::Lost(UNWANTED_SSH.to_owned()));
        assert_eq!(drained(&mut over_udp, at(3000)), [failed]);
    }

    #[test]
    fn ssh_is_asked_after_three_seconds_or_where_there_is_no_udp() {
        let mut silent = TransportChoice::begin(START, WayPreference::Auto, true);
        assert_eq!(drained(&mut silent, at(3000)), [TransportEvent::AskSsh]);
        silent.handle_over_ssh();
        let over_ssh = [
            TransportEvent::Chosen(Transport::Ssh),
            TransportEvent::DropUdp,
        ];
        assert_eq!(drained(&mut silent, at(3100)), over_ssh);
        let mut without = TransportChoice::begin(START, WayPreference::Auto, false);
        assert_eq!(drained(&mut without, START), [TransportEvent::AskSsh]);
        let mut refused = TransportChoice::begin(START, WayPreference::Auto, true);
        refused.handle_udp_end("refused".to_owned());
        let asked = [TransportEvent::DropUdp, TransportEvent::AskSsh];
        assert_eq!(drained(&mut refused, at(5)), asked);
    }

    #[test]
    fn of_two_that_come_at_once_the_remote_end_decides() {
        let mut choice = TransportChoice::begin(START, WayPreference::Auto, true);
        drained(&mut choice, at(3000));
        // It may have read the question first.
        choice.handle_udp_open();
        assert_eq!(drained(&mut choice, at(3001)), []);
        // It has not: its ssh ends.
        choice.handle_ssh_end();
        let chosen = [TransportEvent::Chosen(Transport::Udp)];
        assert_eq!(drained(&mut choice, at(3002)), chosen);
    }

    #[test]
    fn without_ssh_and_udp_it_is_lost() {
        let mut choice = TransportChoice::begin(START, WayPreference::Auto, true);
        choice.handle_ssh_end();
        assert_eq!(drained(&mut choice, at(2999)), [], "UDP may come");
        let failed = TransportEvent::Failed(TransportError::Lost("ssh has ended".to_owned()));
        assert_eq!(
            drained(&mut choice, at(3000)),
            std::slice::from_ref(&failed)
        );
        let mut asked = TransportChoice::begin(START, WayPreference::Auto, true);
        drained(&mut asked, at(3000));
        asked.handle_ssh_end();
        assert_eq!(drained(&mut asked, at(3001)), [failed]);
    }

    #[test]
    fn an_ssh_whose_input_has_ended_is_not_asked() {
        let mut choice = TransportChoice::begin(START, WayPreference::Auto, true);
        choice.handle_ssh_input_end();
        assert_eq!(drained(&mut choice, at(2999)), [], "UDP may come");
        let told = drained(&mut choice, at(3000));
        assert!(matches!(
            &told[..],
            [TransportEvent::Failed(TransportError::Lost(why))] if why.contains("exec fish")
        ));
    }

    #[test]
    fn an_answer_that_was_not_asked_for_makes_no_sense() {
        let mut choice = TransportChoice::begin(START, WayPreference::Auto, true);
        choice.handle_over_ssh();
        let failed = [TransportEvent::Failed(TransportError::NotAsked)];
        assert_eq!(drained(&mut choice, START), failed);
        assert_eq!(drained(&mut choice, at(9000)), []);
    }

    /// Whatever happens in whatever order, there is one end, and nothing after it.
    #[test]
    fn in_any_order_it_comes_to_one_choice_or_one_failure() {
        for order in 0..6_usize.pow(5) {
            let mut choice = TransportChoice::begin(START, WayPreference::Auto, order % 2 == 0);
            let (mut rest, mut events) = (order, Vec::new());
            for step in 1..=5 {
                match rest % 6 {
                    0 => choice.handle_udp_open(),
                    1 => choice.handle_udp_end("end".to_owned()),
                    2 => choice.handle_over_ssh(),
                    3 => choice.handle_ssh_end(),
                    _ => {}
                }
                rest /= 6;
                events.extend(drained(&mut choice, at(step * 1000)));
            }
            choice.handle_ssh_end();
            events.extend(drained(&mut choice, at(9000)));
            let is_choice = |event: &&TransportEvent| matches!(event, TransportEvent::Chosen(_));
            let is_failure = |event: &&TransportEvent| matches!(event, TransportEvent::Failed(_));
            let count = |is: &dyn Fn(&&TransportEvent) -> bool| events.iter().filter(is).count();
            let (choices, failures) = (count(&is_choice), count(&is_failure));
            assert!(
                choices <= 1 && failures <= 1 && choices + failures > 0,
                "{order}"
            );
        }
    }
}

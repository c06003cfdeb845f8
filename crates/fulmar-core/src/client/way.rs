//! Tells the user of the way that datagrams go.

use std::time::Duration;

use fulmar_base::{SendError, Time};

use super::Client;
use crate::send_trouble;
use crate::ways::Way;

/// The time for which a server may hold back an acknowledgement.
///
/// Source: docs/protocol.md §5.5.
const ANSWER_DELAY: Duration = Duration::from_millis(100);

impl Client {
    /// Returns the time after which what was asked of the server may be thought lost, if a round trip was measured.
    pub fn patience(&self) -> Option<Duration> {
        let round_trip = self.endpoint.round_trip();
        round_trip
            .is_known()
            .then(|| round_trip.timeout() + ANSWER_DELAY)
    }

    /// Returns true if the server that was there has been silent for so long, or has not answered for so long, that the user
    /// is told.
    pub fn is_answer_missing(&self, now: Time) -> bool {
        self.is_connected() && self.notices.is_late(now, self.liveness())
    }

    /// Takes note that an ssh in the background, which can ask nobody, has failed.
    pub fn note_ssh_failed(&mut self, now: Time, why: &str) {
        let told = match self.notices.command_label('r') {
            Some(keys) => format!("{keys} runs ssh here; in the background it failed: {why}"),
            None => format!("ssh was run again in the background, and failed: {why}"),
        };
        self.tell(now, told);
    }

    /// Takes note that the server's machine, asked by way of ssh, knows no such session. It is told until the server is heard.
    pub fn note_session_missing(&mut self) {
        self.notices.note_session_missing();
        self.is_stale = true;
    }

    /// Returns true if the server's machine knows no such session any more.
    pub fn is_session_missing(&self) -> bool {
        self.notices.is_session_missing()
    }

    /// Returns the words for datagrams that could not be sent.
    pub(super) fn send_trouble(&self, error: SendError) -> String {
        if error == SendError::Unreachable && self.is_way_wished && self.way == Some(Way::Ssh) {
            return "cannot send: no ssh carries the session at present".to_owned();
        }
        send_trouble::of_system(error)
    }

    /// Takes note that the user wishes that way and no other.
    pub fn note_wished_way(&mut self, way: Way) {
        self.way = Some(way);
        self.is_way_wished = true;
    }

    /// Takes note that the ssh that carried datagrams carries none any more.
    pub fn note_ssh_gone(&mut self, now: Time) {
        if self.is_way_wished {
            let told = "the ssh that carries the session has ended, and is run again";
            self.tell(now, told.to_owned());
        } else if self.way.replace(Way::Udp) == Some(Way::Ssh) {
            let told = "the ssh that carried the session has ended: UDP is tried";
            self.tell(now, told.to_owned());
        }
    }

    /// Takes note of the way that datagrams go, where there is a choice. The user is told of a change.
    pub fn note_way(&mut self, now: Time, way: Way) {
        if self.is_way_wished {
            return;
        }
        let told = match (self.way.replace(way), way) {
            (None | Some(Way::Udp), Way::Ssh) => "UDP does not answer: ssh carries the session",
            (Some(Way::Ssh), Way::Udp) => "UDP carries the session again",
            _ => return,
        };
        self.tell(now, told.to_owned());
    }
}

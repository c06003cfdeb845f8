//! What a user is told of the way that datagrams go.

use fulmar_base::Time;

use super::Client;
use crate::ways::Way;

impl Client {
    /// Takes note that the ssh that carried datagrams carries none any more.
    pub fn note_ssh_gone(&mut self, now: Time) {
        if self.way.replace(Way::Udp) == Some(Way::Ssh) {
            let told = "the ssh that carried the session has ended: UDP is tried";
            self.tell(now, told.to_owned());
        }
    }

    /// Takes note of the way that datagrams go, where there is a choice. The user is told of a change.
    pub fn note_way(&mut self, now: Time, way: Way) {
        let told = match (self.way.replace(way), way) {
            (None | Some(Way::Udp), Way::Ssh) => "UDP does not answer: ssh carries the session",
            (Some(Way::Ssh), Way::Udp) => "UDP carries the session again",
            _ => return,
        };
        self.tell(now, told.to_owned());
    }
}

//! Words a notice, and decides what of it fits into a row.

use std::fmt;
use std::time::Duration;

use super::Delivery;

/// The thing that has been waited for too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lateness {
    Connecting {
        server: String,
    },
    NeverHeard {
        server: String,
        delivery: Delivery,
        waited: Duration,
    },
    Contact {
        silence: Duration,
    },
    Reply {
        unanswered: Duration,
    },
}

impl Lateness {
    /// Returns the wordings of what happened, since when, and what to try; the most telling first.
    fn wordings(&self) -> [String; 3] {
        match self {
            Lateness::Connecting { server } => [
                format!("waiting for the first answer from {server}"),
                format!("waiting for {server}"),
                "waiting for the server".to_owned(),
            ],
            Lateness::NeverHeard {
                server,
                delivery,
                waited,
            } => never_heard(server, *delivery, Elapsed(*waited)),
            Lateness::Contact { silence } => {
                let silence = Elapsed(*silence);
                [
                    format!(
                        "nothing heard for {silence}; check the network, what you type is kept"
                    ),
                    format!("nothing heard for {silence}; check the network"),
                    format!("nothing heard for {silence}"),
                ]
            }
            Lateness::Reply { unanswered } => {
                let unanswered = Elapsed(*unanswered);
                [
                    format!("the server has heard nothing for {unanswered}; what you type is kept"),
                    format!("the server has heard nothing for {unanswered}"),
                    format!("nothing arrives there for {unanswered}"),
                ]
            }
        }
    }
}

/// Returns what is told of a server that has never answered: which way is closed, if that is known.
fn never_heard(server: &str, delivery: Delivery, waited: Elapsed) -> [String; 3] {
    match delivery {
        Delivery::Unknown => [
            format!("no answer from {server} for {waited}; does a firewall block it?"),
            format!("no answer from {server}; does a firewall block it?"),
            format!("no answer from {server}"),
        ],
        Delivery::Awaited => [
            format!(
                "no answer from {server} for {waited}; nothing arrives there, does a firewall \
                 block UDP?"
            ),
            format!("no answer from {server}; nothing arrives there"),
            format!("nothing arrives at {server}"),
        ],
        Delivery::Heard => [
            format!(
                "{server} hears us, but its answers do not arrive here for {waited}; does a \
                 firewall block UDP?"
            ),
            format!("{server} hears us, but no answer arrives here"),
            format!("{server} hears us; no answer arrives"),
        ],
    }
}

/// A span of time as a notice writes it: seconds, then m:ss, then h:mm:ss.
///
/// Source: docs/protocol.md §11.1.
pub(super) struct Elapsed(pub(super) Duration);

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        match seconds {
            1 => write!(f, "1 second"),
            0..60 => write!(f, "{seconds} seconds"),
            60..3600 => write!(f, "{minutes}:{:02}", seconds % 60),
            _ => write!(f, "{hours}:{minutes:02}:{:02}", seconds % 60),
        }
    }
}

/// The parts of a notice.
pub(super) struct Parts {
    pub(super) program: &'static str,
    pub(super) message: Option<String>,
    pub(super) lateness: Option<Lateness>,
    pub(super) quit: Option<String>,
}

impl Parts {
    /// Returns the most telling wording that fits into `columns`, or the shortest there is. What
    /// happened is more than how to quit, and how to quit more than the last detail.
    pub(super) fn fitting(&self, columns: usize) -> Option<String> {
        let Some(lateness) = &self.lateness else {
            self.message.as_ref()?;
            let candidates = [
                self.joined(None, self.quit.as_deref()),
                self.joined(None, None),
            ];
            return pick(candidates, columns);
        };
        let [long, middle, short] = lateness.wordings();
        let quit = self.quit.as_deref();
        if self.message.is_some() {
            // The message tells what is wrong; how to leave is then more than for how long.
            let candidates = [
                self.joined(Some(&long), quit),
                self.joined(Some(&middle), quit),
                self.joined(Some(&short), quit),
                self.joined(None, quit),
                self.joined(None, None),
            ];
            return pick(candidates, columns);
        }
        let candidates = [
            self.joined(Some(&long), quit),
            self.joined(Some(&middle), quit),
            self.joined(Some(&middle), None),
            self.joined(Some(&short), quit),
            self.joined(Some(&short), None),
        ];
        pick(candidates, columns)
    }

    fn joined(&self, lateness: Option<&str>, quit: Option<&str>) -> String {
        let said: Vec<&str> = [self.message.as_deref(), lateness]
            .into_iter()
            .flatten()
            .collect();
        let quit = quit.map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{}: {}{quit}", self.program, said.join("; "))
    }
}

/// Returns the first of the texts that fits into `columns`, or the last one.
fn pick<const N: usize>(texts: [String; N], columns: usize) -> Option<String> {
    let fits = |text: &String| text.chars().count() <= columns;
    let place = texts.iter().position(fits).unwrap_or(N.saturating_sub(1));
    texts.into_iter().nth(place)
}

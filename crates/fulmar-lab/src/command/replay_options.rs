//! The user, the recording, and the link: the arguments of replays in both worlds.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::replay::{LIMITS, Replay};
use crate::typing::{Limits, TypingLoop};

/// The arguments that `replay` and `simulate` share.
#[derive(Debug, clap::Args)]
pub struct ReplayOptions {
    /// The link: a file, or entries separated by semicolons, such as "both delay 50ms; at 10s
    /// client moves". Changes count from the start of the typing. `fulmar-lab link --help` says more.
    #[arg(long, value_name = "SCENARIO", default_value = "")]
    pub scenario: String,
    /// The recording: a path, or the name of one in a folder of recordings.
    #[arg(long, value_name = "TRACE")]
    pub recording: String,
    /// The kind of user: closed waits for the answer to each key, open keeps the recorded rhythm and reads
    /// results, recorded types at the recorded times whatever happens.
    #[arg(long, value_name = "LOOP")]
    pub typing: TypingLoop,
    /// Ends after so many keys.
    #[arg(long, value_name = "NUMBER", default_value_t = LIMITS.keys)]
    pub keys: usize,
    /// Ends after so many seconds of typing.
    #[arg(long, value_name = "S", default_value_t = LIMITS.time.as_secs())]
    pub time: u64,
    /// Cuts pauses between keys to so many milliseconds.
    #[arg(long, value_name = "MS")]
    pub pause_max: Option<u64>,
}

impl ReplayOptions {
    /// Returns the replay, with nothing beside it.
    ///
    /// # Errors
    ///
    /// Where the scenario's file cannot be read.
    pub(super) fn replay(&self) -> Result<Replay> {
        let limits = Limits {
            keys: self.keys,
            time: Duration::from_secs(self.time),
            pause_max: self.pause_max.map(Duration::from_millis),
            ..LIMITS
        };
        Ok(Replay {
            limits,
            ..Replay::new(&scenario(&self.scenario)?, &self.recording, self.typing)
        })
    }
}

/// Returns the text of a scenario: that of a file, or the argument itself, with `;` between entries.
fn scenario(argument: &str) -> Result<String> {
    let file = Path::new(argument);
    if file.is_file() {
        std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))
    } else {
        Ok(argument.replace(';', "\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct CommandLine {
        #[command(flatten)]
        options: ReplayOptions,
    }

    fn replay(arguments: &[&str]) -> Replay {
        let arguments = ["replay"].iter().chain(arguments);
        let line = CommandLine::try_parse_from(arguments).expect("a command line");
        line.options.replay().expect("a replay")
    }

    #[test]
    fn without_options_the_usual_limits_hold() {
        let replay = replay(&["--recording", "own-vim", "--typing", "open"]);
        assert_eq!(replay.limits, LIMITS);
        assert_eq!(
            (replay.scenario.as_str(), replay.typing),
            ("", TypingLoop::Open)
        );
        assert!(replay.recording == "own-vim" && !replay.download && replay.keep.is_none());
    }

    #[test]
    fn options_are_limits_in_their_units() {
        let given = ["--keys", "7", "--time", "90", "--pause-max", "250"];
        let line = ["--recording", "x", "--typing", "closed"];
        let limits = replay(&[&line[..], &given].concat()).limits;
        assert_eq!((limits.keys, limits.time), (7, Duration::from_secs(90)));
        assert_eq!(limits.pause_max, Some(Duration::from_millis(250)));
        assert_eq!(limits.patience, LIMITS.patience);
    }

    #[test]
    fn a_scenario_is_a_file_or_a_text_with_semicolons() {
        assert_eq!(
            scenario("seed 7;both delay 5ms").unwrap(),
            "seed 7\nboth delay 5ms"
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "up loss 1%; 2\n").unwrap();
        let text = scenario(file.path().to_str().unwrap()).unwrap();
        assert_eq!(text, "up loss 1%; 2\n");
    }
}

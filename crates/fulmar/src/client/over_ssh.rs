//! The ssh of the login as a path of the session.
//!
//! Source: docs/protocol.md §2.12.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_core::{Capability, Way, WayPreference};
use fulmar_login::{SessionName, SessionService};

use crate::reactor::Registry;
use crate::ssh_login::{LoginAgain, SshLogin};

/// The time that UDP has to answer before ssh is used as well. Chosen by eye: where UDP works it is longer than most round
/// trips, and an ssh that was used in vain costs little; where it does not, a prompt is later by as much.
const ASK_AFTER: Duration = Duration::from_millis(400);

/// The first pause between two runs of ssh in the background, and the longest. Chosen by eye: an ssh that cannot get in
/// takes some seconds, and sshd counts those that fail.
pub(super) const RUN_PAUSE: Duration = Duration::from_secs(5);
pub(super) const RUN_PAUSE_MAX: Duration = Duration::from_secs(300);

/// The time for which an ssh that is the way may bring no answer before it counts as gone. TCP gives up after a quarter of an
/// hour only. Chosen by eye: what is shorter TCP itself survives.
pub(super) const SILENT_MAX: Duration = Duration::from_secs(30);

/// The part that an ssh has in a session: that of the login, or one that is run later.
pub(crate) struct OverSsh {
    /// The stage.
    pub(super) stage: Stage,
    /// The time at which the ssh of the login is asked.
    pub(super) ask_at: Time,
    /// The way to run ssh once more, if there is one.
    pub(super) again: Option<LoginAgain>,
    /// The ssh that was run later, in place of that of the login.
    pub(super) later: Option<SshLogin<SessionService>>,
    /// The earliest time of the next run.
    pub(super) run_at: Time,
    /// The pause behind that.
    pub(super) run_pause: Duration,
    /// The time at which an ssh ended that was the way.
    pub(super) lost_at: Option<Time>,
    /// The time since which an ssh that is the way brings no answer.
    pub(super) silent_since: Option<Time>,
    /// True if the user was told that ssh was run in vain.
    pub(super) has_told: bool,
    /// True while an ssh that was run later has the terminal.
    pub(super) is_here: bool,
    /// The name that the server has last said, if the login's is not it.
    pub(super) renamed: Option<SessionName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// None yet.
    Unasked,
    /// ssh is run once more.
    Running,
    /// The remote side was asked, and has not answered.
    Asked,
    /// Datagrams come and go.
    Open,
    /// None any more, or none ever.
    Over,
}

impl OverSsh {
    /// Returns that of a login whose server can use it, with that wish of the user.
    pub(crate) fn begin(now: Time, wish: WayPreference, again: Option<LoginAgain>) -> OverSsh {
        let patience = match wish {
            WayPreference::Auto => ASK_AFTER,
            WayPreference::Only(_) => Duration::ZERO,
        };
        OverSsh {
            stage: Stage::Unasked,
            ask_at: now + patience,
            again,
            ..OverSsh::none()
        }
    }

    /// Returns that of a session that has no such ssh.
    pub(crate) fn none() -> OverSsh {
        OverSsh {
            stage: Stage::Over,
            ask_at: Time::ZERO,
            again: None,
            later: None,
            run_at: Time::ZERO,
            run_pause: RUN_PAUSE,
            lost_at: None,
            silent_since: None,
            has_told: false,
            is_here: false,
            renamed: None,
        }
    }

    /// Tells if an ssh was run once more that carries nothing yet.
    pub(super) fn is_coming(&self) -> bool {
        matches!(self.stage, Stage::Running | Stage::Asked)
    }

    /// Tells if the user's wish can be met in a session with these capabilities.
    pub(crate) fn is_possible(agreed: fulmar_core::Capabilities, wish: WayPreference) -> bool {
        agreed.has(Capability::Ssh) && wish != WayPreference::Only(Way::Udp)
    }
}

impl OverSsh {
    /// Registers the ssh of the login, for whoever reads it.
    pub(super) fn register<'fd>(
        &'fd self,
        registry: &mut Registry<'fd>,
        login: Option<&'fd SshLogin<SessionService>>,
        wants_room: bool,
    ) {
        let login = self.later.as_ref().or(login);
        let Some(login) = login.filter(|login| login.is_running()) else {
            return;
        };
        match self.stage {
            Stage::Open => login.register_pipes(registry, true, wants_room),
            _ => login.register(registry),
        }
    }
}

//! Running the user's ssh once more, for a session that is there.

use fulmar_base::Time;
use fulmar_login::{
    BootstrapRequest, LoginConfig, Offer, SessionName, SessionService, SessionTask,
};

use super::SshLogin;

/// All that it takes to run the ssh of a login once more, in the background: it asks nobody anything.
pub(crate) struct LoginAgain {
    config: LoginConfig,
    request: BootstrapRequest,
    is_chosen: bool,
}

impl LoginAgain {
    /// Returns the same login as that of this request, `is_chosen` if the command that starts the server is the user's.
    pub(crate) fn like(
        config: &LoginConfig,
        request: &BootstrapRequest,
        is_chosen: bool,
    ) -> LoginAgain {
        let mut config = config.clone();
        config
            .ssh
            .words
            .extend(["-o", "BatchMode=yes"].map(Into::into));
        LoginAgain {
            config,
            request: BootstrapRequest {
                start: request.start.clone(),
                fallback: None,
                offer: Offer::of(request.offer.capabilities),
            },
            is_chosen,
        }
    }

    /// Runs it, so that it carries datagrams of that session. `None` if its text is too long.
    pub(crate) fn begin(&self, now: Time, name: SessionName) -> Option<SshLogin<SessionService>> {
        let mut request = self.request.clone();
        request.offer.task = Some(SessionTask::OverSsh(name));
        let encoded = request.encode_for(&self.config.command).ok()?;
        let mut service = SessionService::new(encoded).joining();
        if self.is_chosen {
            service = service.by_chosen_command();
        }
        Some(SshLogin::begin(now, self.config.clone(), service).unattended())
    }
}

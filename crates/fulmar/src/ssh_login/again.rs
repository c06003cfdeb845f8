//! Running the user's ssh once more, for a session that is there.

use std::ffi::{OsStr, OsString};

use fulmar_base::Time;
use fulmar_login::{
    BootstrapRequest, LoginConfig, Offer, SessionName, SessionService, SessionTask,
};

use super::SshLogin;

/// All that it takes to run the ssh of a login once more.
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
        LoginAgain {
            config: config.clone(),
            request: BootstrapRequest {
                start: request.start.clone(),
                fallback: None,
                offer: Offer::of(request.offer.capabilities),
            },
            is_chosen,
        }
    }

    /// Returns the host to which it leads, as the user calls it.
    pub(crate) fn host(&self) -> &OsStr {
        self.config.ssh.destination.host()
    }

    /// Runs it in the background, where it asks nobody anything, so that it carries datagrams of that session. `None` if its
    /// text is too long.
    pub(crate) fn begin_unattended(
        &self,
        now: Time,
        name: SessionName,
    ) -> Option<SshLogin<SessionService>> {
        let words = ["-o", "BatchMode=yes"].map(Into::into);
        Some(self.begin(now, name, &words)?.unattended())
    }

    /// Runs it on the terminal, where it asks what it has to ask.
    pub(crate) fn begin_attended(
        &self,
        now: Time,
        name: SessionName,
    ) -> Option<SshLogin<SessionService>> {
        self.begin(now, name, &[])
    }

    fn begin(
        &self,
        now: Time,
        name: SessionName,
        words: &[OsString],
    ) -> Option<SshLogin<SessionService>> {
        let mut request = self.request.clone();
        request.offer.task = Some(SessionTask::OverSsh(name));
        let encoded = request.encode_for(&self.config.command).ok()?;
        let mut service = SessionService::new(encoded).joining();
        if self.is_chosen {
            service = service.by_chosen_command();
        }
        let mut config = self.config.clone();
        config.ssh.words.extend_from_slice(words);
        Some(SshLogin::begin(now, config, service))
    }
}

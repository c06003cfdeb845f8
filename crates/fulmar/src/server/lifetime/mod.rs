//! Finds out what would end a session together with the login that started it, against what it is for.
//!
//! Two such things can be found out: a login manager that ends what a login has left behind, and a
//! container that lives as long as the login does. Neither is ours to change, so the user is told.

mod first_process;
mod login_manager;

use self::first_process::Ancestor;
use self::login_manager::{ProcessScope, Rules};

/// Tells if this process was started from that one, directly or by others.
pub(super) fn descends_from(pid: u32) -> bool {
    Ancestor::ours().iter().any(|ancestor| ancestor.pid == pid)
}

/// Says what is going to end a session of that user before its time, with a remedy.
pub(crate) fn warnings(user: &str) -> Vec<String> {
    let manager = login_manager::warning(
        ProcessScope::ours(),
        &Rules::of_this_machine(),
        user,
        || login_manager::lingers(user),
    );
    let container = first_process::warning(&Ancestor::ours());
    [manager, container].into_iter().flatten().collect()
}

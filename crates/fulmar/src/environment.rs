//! This process's environment.

use fulmar_settings::Environment;

/// Returns the environment as it is now.
pub(crate) fn current() -> Environment {
    std::env::vars_os().collect()
}

//! Other threads of the process, which forking and the environment do not bear.

use std::io;

/// Fails if other threads run. Where the system does not tell, it is taken for granted that none
/// do.
pub(crate) fn refuse_threads() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() > 1) {
        return Err(io::Error::other("other threads are running"));
    }
    Ok(())
}

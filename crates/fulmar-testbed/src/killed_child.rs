//! A child that does not outlive the value that holds it.

use std::process::Child;

/// A child that is killed with this value, and waited for.
#[derive(Debug)]
pub struct KilledChild(pub Child);

impl Drop for KilledChild {
    fn drop(&mut self) {
        // It may have ended, or have been waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::KilledChild;
    use crate::Process;

    #[test]
    fn a_child_is_gone_with_its_value() {
        let started = Command::new("cat").stdin(Stdio::piped()).spawn();
        let child = KilledChild(started.expect("there is cat"));
        let pid = child.0.id();
        assert!(Process::of(pid).is_some());
        drop(child);
        assert!(Process::of(pid).is_none(), "nobody has waited for it");
    }
}

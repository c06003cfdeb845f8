//! The options of writing a tree.

/// The options of writing a tree.
#[derive(Clone, Copy, Debug, Default)]
pub struct TargetOptions {
    /// Folders are expected, and the target itself may be made as one.
    pub recursive: bool,
    /// Modes and times become exactly those of the source.
    pub preserve: bool,
    /// PartialFile of interrupted copies, and files that are the same already, are used.
    pub resume: bool,
    /// Nothing is changed.
    pub dry_run: bool,
    /// There are several sources, or what is in a folder is meant: the target has to be a folder.
    pub into_folder: bool,
    /// All data comes in order, as a pipe needs it ([`is_pipe`](crate::TreeTarget::is_pipe)).
    pub in_order: bool,
    /// Permission bits that new files do not get without `preserve` ([`umask`](crate::umask)).
    pub umask: u32,
}

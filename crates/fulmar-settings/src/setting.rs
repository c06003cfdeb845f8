//! The description of a setting.

use std::ffi::OsStr;
use std::fmt;

/// Everything about a setting but the type of its value.
#[derive(Debug)]
pub struct SettingInfo {
    /// Its key in a file; with two dashes before it, its flag.
    pub name: &'static str,
    /// Our variable.
    pub variable: &'static str,
    /// The variable of stock, if there is one.
    pub stock: Option<StockVariable>,
    /// The form of its value.
    pub shape: ValueForm,
    /// Flags of one letter.
    pub letters: &'static [ShortFlag],
    /// The value if nobody sets it.
    pub default: &'static str,
    /// The heading under which it is found.
    pub group: SettingGroup,
    /// True if only the long help has it.
    pub is_rare: bool,
    /// Its purpose, in one line.
    pub help: &'static str,
}

/// A variable that stock reads as well.
#[derive(Debug)]
pub struct StockVariable {
    /// Its name.
    pub name: &'static str,
    /// A function that puts its text into our words: docs/protocol.md §2.8.
    pub meaning: fn(&OsStr) -> String,
}

/// The form of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueForm {
    /// `true` or `false`; flags are `--name` and `--no-name`. The text is the help of the latter.
    Switch(&'static str),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A file, or `none`. In the configuration file `~/` is the home folder.
    Path,
    /// A text that help calls so.
    Text(&'static str),
}

/// A flag of one letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortFlag {
    /// Short for the flag itself.
    Same(char),
    /// Sets this value.
    Value(char, &'static str),
}

/// A heading of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingGroup {
    /// The way to reach the remote machine.
    Login,
    /// Addresses and ports.
    Network,
    /// The things that are seen.
    Display,
    /// The records of a session.
    Diagnostics,
}

impl SettingGroup {
    /// Returns the heading.
    pub fn heading(self) -> &'static str {
        match self {
            SettingGroup::Login => "Login",
            SettingGroup::Network => "Network",
            SettingGroup::Display => "Display",
            SettingGroup::Diagnostics => "Diagnostics",
        }
    }

    /// Tells if a client needs it that joins a server without a login.
    pub fn is_for_clients(self) -> bool {
        matches!(self, SettingGroup::Display | SettingGroup::Diagnostics)
    }
}

/// A setting whose value is a `T`.
#[derive(Debug)]
pub(crate) struct Setting<T> {
    /// The rest.
    pub(crate) about: SettingInfo,
    /// Reads a value, or says how a value is written: the end of a sentence that begins with
    /// "predict cannot be sometimes: ".
    pub(crate) parse: fn(&OsStr) -> Result<T, String>,
}

/// A setting of whatever type.
pub trait AnySetting: fmt::Debug + Sync {
    /// Returns everything but the value's type.
    fn about(&self) -> &SettingInfo;

    /// Looks if a text is a value.
    ///
    /// # Errors
    ///
    /// How a value is written.
    fn check(&self, text: &OsStr) -> Result<(), String>;
}

impl<T: fmt::Debug> AnySetting for Setting<T> {
    fn about(&self) -> &SettingInfo {
        &self.about
    }

    fn check(&self, text: &OsStr) -> Result<(), String> {
        (self.parse)(text).map(drop)
    }
}

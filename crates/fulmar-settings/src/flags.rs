//! Flags for settings, as the table has them.

use std::ffi::OsString;

use crate::setting::{SettingGroup, SettingInfo, ShortFlag, ValueForm};
use crate::table::SETTINGS;

/// A command line on which settings are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagSet {
    /// That of a login: all settings.
    Login,
    /// That of a client that joins a server without a login.
    Client,
    /// That of a copy.
    Copy,
}

/// Settings of logins that are of no use to copies.
const NOT_FOR_COPIES: [&str; 3] = ["client", "ssh-pty", "trace"];

/// Letters that mean something else where files are copied.
const LETTERS_OF_COPIES: [char; 1] = ['p'];

impl FlagSet {
    /// Lists the settings that it has flags for, in the order of the table.
    pub fn settings(self) -> impl Iterator<Item = &'static SettingInfo> {
        let all = SETTINGS.iter().map(|known| known.about());
        all.filter(move |about| match self {
            FlagSet::Login => true,
            FlagSet::Client => about.group.is_for_clients(),
            FlagSet::Copy => {
                about.group != SettingGroup::Display && !NOT_FOR_COPIES.contains(&about.name)
            }
        })
    }

    /// Tells if a letter is short for a setting here.
    pub fn has_letter(self, letter: char) -> bool {
        self != FlagSet::Copy || !LETTERS_OF_COPIES.contains(&letter)
    }
}

/// The settings given on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenFlags(Vec<GivenSetting>);

/// One setting that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenSetting {
    /// The name of the setting.
    pub name: &'static str,
    /// The flag as the user would know it.
    pub flag: String,
    /// The value, not yet read.
    pub text: OsString,
}

impl GivenFlags {
    /// Collects what was given on a command line. `given` returns the text that was given in a form: its word, or the
    /// value that it stands for. Of the forms of one setting at most one may be given.
    pub fn collect(set: FlagSet, given: impl Fn(&FlagForm) -> Option<OsString>) -> GivenFlags {
        let find = |about: &'static SettingInfo| {
            let mut forms = about.flag_forms().into_iter();
            forms.find_map(|form| {
                Some(GivenSetting {
                    name: about.name,
                    text: given(&form)?,
                    flag: form.shown(),
                })
            })
        };
        GivenFlags(set.settings().filter_map(find).collect())
    }

    /// Adds what was given later, before which the same settings give way. Returns the first flag of these that `set`
    /// does not have, if there is one.
    ///
    /// # Errors
    ///
    /// With that flag.
    pub fn followed_by(self, later: GivenFlags, set: FlagSet) -> Result<GivenFlags, String> {
        let has = |name: &str| set.settings().any(|about| about.name == name);
        if let Some(unknown) = self.0.iter().find(|given| !has(given.name)) {
            return Err(unknown.flag.clone());
        }
        let earlier = self.0.into_iter();
        let earlier = earlier.filter(|given| later.find(given.name).is_none());
        let all: Vec<GivenSetting> = earlier.collect();
        Ok(GivenFlags(all.into_iter().chain(later.0).collect()))
    }

    /// Returns the flag that was given first in the order of the table, if any was.
    pub fn first(&self) -> Option<&str> {
        self.0.first().map(|given| given.flag.as_str())
    }

    /// Returns what was given for a setting.
    pub fn find(&self, name: &str) -> Option<&GivenSetting> {
        self.0.iter().find(|given| given.name == name)
    }

    /// Lists what was given, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = &GivenSetting> {
        self.0.iter()
    }
}

/// One way to write a setting on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagForm {
    /// A name that no other form has: its long flag if it has one.
    pub id: String,
    /// True if there are a long flag and perhaps a letter; false if there is only a letter.
    pub is_long: bool,
    /// The flag of one letter.
    pub letter: Option<char>,
    /// The value that it sets, if it takes none.
    pub value: Option<&'static str>,
    /// Its line of help.
    pub help: String,
    /// True if it only takes back another one, and need not be shown.
    pub is_hidden: bool,
}

impl FlagForm {
    /// Returns the flag as users know it.
    pub fn shown(&self) -> String {
        match self.letter {
            Some(letter) if !self.is_long => format!("-{letter}"),
            _ => format!("--{}", self.id),
        }
    }
}

impl SettingInfo {
    /// Lists all ways to write the setting on a command line.
    pub fn flag_forms(&self) -> Vec<FlagForm> {
        let same = self.letters.iter().find_map(|letter| match letter {
            ShortFlag::Same(letter) => Some(*letter),
            ShortFlag::Value(..) => None,
        });
        let name = self.name.to_owned();
        let mut forms = match self.shape {
            ValueForm::Switch(_) => vec![
                self.form(name, same, Some("true")),
                self.form(format!("no-{}", self.name), None, Some("false")),
            ],
            _ => vec![self.form(name, same, None)],
        };
        for letter in self.letters {
            if let ShortFlag::Value(letter, value) = letter {
                let id = format!("{}={value}", self.name);
                forms.push(FlagForm {
                    is_long: false,
                    ..self.form(id, Some(*letter), Some(value))
                });
            }
        }
        forms
    }

    fn form(&self, id: String, letter: Option<char>, value: Option<&'static str>) -> FlagForm {
        FlagForm {
            id,
            is_long: true,
            letter,
            value,
            help: self.flag_help(value),
            is_hidden: matches!(self.shape, ValueForm::Switch(_)) && value == Some(self.default),
        }
    }

    /// Returns the help of a flag that sets this value, or that takes one.
    fn flag_help(&self, value: Option<&str>) -> String {
        match (self.shape, value) {
            (ValueForm::Switch(off), Some("false")) => off.to_owned(),
            (ValueForm::Switch(_), _) => self.help.to_owned(),
            (_, Some(value)) => format!("The same as --{}={value}", self.name),
            (ValueForm::Word(words), None) => {
                let words = words.join(", ");
                format!(
                    "{} [possible values: {words}] [default: {}]",
                    self.help, self.default
                )
            }
            (_, None) => format!("{} [default: {}]", self.help, self.default),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn names(set: FlagSet) -> BTreeSet<&'static str> {
        set.settings().map(|about| about.name).collect()
    }

    #[test]
    fn each_command_line_has_the_settings_that_it_can_use() {
        assert_eq!(names(FlagSet::Login).len(), SETTINGS.len());
        let (client, copy) = (names(FlagSet::Client), names(FlagSet::Copy));
        assert!(client.contains("predict") && client.contains("log"));
        assert!(!client.contains("ssh") && !client.contains("port"));
        assert!(copy.contains("ssh") && copy.contains("port") && copy.contains("log"));
        assert!(!copy.contains("predict") && !copy.contains("client") && !copy.contains("trace"));
        assert!(FlagSet::Login.has_letter('p') && !FlagSet::Copy.has_letter('p'));
        assert!(FlagSet::Copy.has_letter('4'));
    }

    #[test]
    fn no_two_forms_have_the_same_flag() {
        let mut ids = BTreeSet::new();
        for form in FlagSet::Login.settings().flat_map(SettingInfo::flag_forms) {
            assert!(ids.insert(form.shown()), "{}", form.shown());
            assert!(!form.help.is_empty());
        }
    }

    #[test]
    fn a_switch_shows_the_flag_that_changes_something() {
        for about in FlagSet::Login.settings() {
            let forms = about.flag_forms();
            let hidden: Vec<_> = forms.iter().filter(|form| form.is_hidden).collect();
            let is_switch = matches!(about.shape, ValueForm::Switch(_));
            // Either changes one that is neither on nor off.
            let is_hidden = is_switch && about.default != "auto";
            assert_eq!(hidden.len(), usize::from(is_hidden), "{}", about.name);
            assert!(hidden.iter().all(|form| form.value == Some(about.default)));
        }
    }

    #[test]
    fn a_flag_that_takes_a_value_shows_the_default() {
        for about in FlagSet::Login.settings() {
            let forms = about.flag_forms();
            let mut taking = forms.iter().filter(|form| form.value.is_none());
            let default = format!("[default: {}]", about.default);
            assert!(
                taking.all(|form| form.help.ends_with(&default)),
                "{}",
                about.name
            );
        }
    }

    #[test]
    fn flags_before_a_subcommand_give_way_to_those_behind_it() {
        let given = |pairs: &'static [(&'static str, &'static str)]| {
            GivenFlags::collect(FlagSet::Login, |form| {
                let found = pairs.iter().find(|(id, _)| *id == form.id);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        let early = || given(&[("ssh", "a"), ("port", "7")]);
        let both = early().followed_by(given(&[("ssh", "b")]), FlagSet::Copy);
        let both = both.unwrap();
        assert_eq!(both.find("ssh").unwrap().text, "b");
        assert_eq!(both.find("port").unwrap().text, "7");
        let refused = early().followed_by(GivenFlags::default(), FlagSet::Client);
        assert_eq!(refused, Err("--ssh".to_owned()));
        assert_eq!(early().first(), Some("--ssh"));
    }

    #[test]
    fn what_is_given_is_found_by_the_setting_with_the_flag_that_users_know() {
        let given = |form: &FlagForm| match form.id.as_str() {
            "ssh" => Some("x".into()),
            "family=inet" | "no-init" => form.value.map(OsString::from),
            _ => None,
        };
        let flags = GivenFlags::collect(FlagSet::Login, given);
        let told: Vec<_> = flags
            .iter()
            .map(|given| (given.name, given.flag.as_str(), given.text.clone()))
            .collect();
        assert_eq!(
            told,
            [
                ("ssh", "--ssh", "x".into()),
                ("family", "-4", "inet".into()),
                ("init", "--no-init", "false".into()),
            ]
        );
        assert_eq!(flags.find("port"), None);
        assert!(
            GivenFlags::collect(FlagSet::Client, given)
                .find("ssh")
                .is_none()
        );
    }
}

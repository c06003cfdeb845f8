//! Flags for settings, as the table has them.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueHint};

use super::setting::{About, Group, Letter, Shape};
use super::table::TABLE;

/// The settings given on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(Vec<GivenSetting>);

/// One setting that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenSetting {
    /// The name of the setting.
    pub(crate) name: &'static str,
    /// The flag as the user would know it.
    pub(crate) flag: String,
    /// The value, not yet read.
    pub(crate) text: OsString,
}

/// Flags for all settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoginFlags(pub(crate) Flags);

/// Flags for the settings that a copy needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct CopyFlags(pub(crate) Flags);

/// Flags for the settings that a client needs which joins a server without a login.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientFlags(pub(crate) Flags);

/// The configuration file that is read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ConfigFile {
    /// Read this configuration file instead of the usual one, or none
    #[arg(long = "config", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) path: Option<PathBuf>,
}

impl Flags {
    /// Returns what was given for a setting.
    pub(crate) fn find(&self, name: &str) -> Option<&GivenSetting> {
        self.0.iter().find(|given| given.name == name)
    }

    fn collect(matches: &ArgMatches, is_wanted: fn(&About) -> bool) -> Flags {
        let wanted = TABLE.iter().map(|known| known.about());
        let wanted = wanted.filter(|about| is_wanted(about));
        Flags(wanted.filter_map(|about| given(about, matches)).collect())
    }
}

/// Finds what was given for one setting. The last flag for it has replaced the others.
fn given(about: &'static About, matches: &ArgMatches) -> Option<GivenSetting> {
    forms(about).into_iter().find_map(|form| {
        let text = match form.value {
            None => matches.get_one::<OsString>(&form.id)?.clone(),
            Some(value) if matches.get_flag(&form.id) => value.into(),
            Some(_) => return None,
        };
        Some(GivenSetting {
            name: about.name,
            flag: form.shown(),
            text,
        })
    })
}

/// One way to write a setting on the command line.
struct Form {
    /// Its name for clap, which is its long flag if it has one.
    id: String,
    is_long: bool,
    letter: Option<char>,
    /// The value that it sets, if it takes none.
    value: Option<&'static str>,
}

impl Form {
    fn shown(&self) -> String {
        match self.letter {
            Some(letter) if !self.is_long => format!("-{letter}"),
            _ => format!("--{}", self.id),
        }
    }
}

/// Lists all ways to write a setting.
fn forms(about: &About) -> Vec<Form> {
    let same = about.letters.iter().find_map(|letter| match letter {
        Letter::Same(letter) => Some(*letter),
        Letter::Value(..) => None,
    });
    let long = |id: String, letter, value| Form {
        id,
        is_long: true,
        letter,
        value,
    };
    let mut forms = match about.shape {
        Shape::Switch(_) => vec![
            long(about.name.to_owned(), same, Some("true")),
            long(format!("no-{}", about.name), None, Some("false")),
        ],
        _ => vec![long(about.name.to_owned(), same, None)],
    };
    for letter in about.letters {
        if let Letter::Value(letter, value) = letter {
            forms.push(Form {
                id: format!("{}={value}", about.name),
                is_long: false,
                letter: Some(*letter),
                value: Some(value),
            });
        }
    }
    forms
}

/// Describes all ways to write a setting to clap.
fn arguments(about: &'static About, taken: &[char]) -> Vec<Arg> {
    let forms = forms(about);
    let ids: Vec<String> = forms.iter().map(|form| form.id.clone()).collect();
    let describe = |form: Form| {
        let text = help(about, &form);
        let argument = Arg::new(form.id.clone())
            .help_heading(about.group.heading())
            .help(text.clone())
            // Else manuals would have no text for what the short help leaves out.
            .long_help(text)
            .hide_short_help(about.is_rare)
            .hide(is_idle(about, &form))
            .overrides_with_all(ids.clone());
        let argument = match form.letter.filter(|letter| !taken.contains(letter)) {
            Some(letter) => argument.short(letter),
            None => argument,
        };
        let argument = if form.is_long {
            argument.long(form.id)
        } else {
            argument
        };
        match form.value {
            None => with_value(argument, about),
            Some(_) => argument.action(ArgAction::SetTrue),
        }
    };
    forms.into_iter().map(describe).collect()
}

fn with_value(argument: Arg, about: &'static About) -> Arg {
    let argument = argument
        .action(ArgAction::Set)
        .value_parser(Anything(about.shape))
        .hide_possible_values(true);
    let argument = match about.name {
        // The name that stock gave it.
        "remote-ip" => argument.alias("experimental-remote-ip"),
        _ => argument,
    };
    match about.shape {
        Shape::Path => argument.value_name("FILE").value_hint(ValueHint::FilePath),
        Shape::Text(name) => argument.value_name(name).value_hint(ValueHint::Other),
        Shape::Word(_) | Shape::Switch(_) => argument.value_name("WORD"),
    }
}

/// Tells if a flag is for taking another one back, and need not be shown.
fn is_idle(about: &About, form: &Form) -> bool {
    matches!(about.shape, Shape::Switch(_)) && form.value == Some(about.default)
}

fn help(about: &About, form: &Form) -> String {
    match (about.shape, form.value) {
        (Shape::Switch(off), Some("false")) => off.to_owned(),
        (Shape::Switch(_), _) => about.help.to_owned(),
        (_, Some(value)) => format!("The same as --{}={value}", about.name),
        (Shape::Word(words), None) => {
            let words = words.join(", ");
            format!("{}: {words} [default: {}]", about.help, about.default)
        }
        (_, None) if matches!(about.default, "none" | "auto") => about.help.to_owned(),
        (_, None) => format!("{} [default: {}]", about.help, about.default),
    }
}

/// Takes any text: what is a value is decided in one place for flags, variables and files. Yet
/// completions are to know the words.
#[derive(Clone)]
struct Anything(Shape);

impl TypedValueParser for Anything {
    type Value = OsString;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<OsString, clap::Error> {
        OsStringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        match self.0 {
            Shape::Word(words) => Some(Box::new(words.iter().map(PossibleValue::new))),
            _ => None,
        }
    }
}

fn augment(command: Command, is_wanted: fn(&About) -> bool, taken: &[char]) -> Command {
    let wanted = TABLE.iter().map(|known| known.about());
    let wanted = wanted.filter(|about| is_wanted(about));
    command.args(wanted.flat_map(|about| arguments(about, taken)))
}

fn any(_: &About) -> bool {
    true
}

fn for_clients(about: &About) -> bool {
    about.group.is_for_clients()
}

/// Settings of logins that are of no use to copies.
const NOT_FOR_COPIES: [&str; 3] = ["client", "ssh-pty", "trace"];

/// Letters that mean something else where files are copied.
const LETTERS_OF_COPIES: [char; 2] = ['p', 'o'];

fn for_copies(about: &About) -> bool {
    about.group != Group::Display && !NOT_FOR_COPIES.contains(&about.name)
}

impl Args for LoginFlags {
    fn augment_args(command: Command) -> Command {
        augment(command, any, &[])
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LoginFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<LoginFlags, clap::Error> {
        Ok(LoginFlags(Flags::collect(matches, any)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for ClientFlags {
    fn augment_args(command: Command) -> Command {
        augment(command, for_clients, &[])
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ClientFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ClientFlags, clap::Error> {
        Ok(ClientFlags(Flags::collect(matches, for_clients)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for CopyFlags {
    fn augment_args(command: Command) -> Command {
        augment(command, for_copies, &LETTERS_OF_COPIES)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CopyFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<CopyFlags, clap::Error> {
        Ok(CopyFlags(Flags::collect(matches, for_copies)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        flags: LoginFlags,
    }

    fn given(line: &str) -> Vec<(&'static str, String, OsString)> {
        let words = line.split_whitespace();
        let parsed = Line::try_parse_from(std::iter::once("x").chain(words));
        let Flags(given) = parsed.unwrap_or_else(|error| panic!("{error}")).flags.0;
        let parts = |given: GivenSetting| (given.name, given.flag, given.text);
        given.into_iter().map(parts).collect()
    }

    #[track_caller]
    fn expect(line: &str, name: &'static str, flag: &str, text: &str) {
        assert_eq!(
            given(line),
            [(name, flag.to_owned(), text.into())],
            "{line}"
        );
    }

    #[test]
    fn what_is_not_given_is_not_there() {
        assert_eq!(given(""), []);
    }

    #[test]
    fn values_and_switches_are_given() {
        expect("--ssh x", "ssh", "--ssh", "x");
        expect("--port=7:9", "port", "--port", "7:9");
        expect("-p 7", "port", "--port", "7");
        expect("-4", "family", "-4", "inet");
        expect("-n", "predict", "-n", "never");
        expect("-o", "predict-overwrite", "--predict-overwrite", "true");
        expect("--no-init", "init", "--no-init", "false");
        expect("--ssh-pty", "ssh-pty", "--ssh-pty", "true");
    }

    #[test]
    fn stocks_name_of_remote_ip_is_understood() {
        expect(
            "--experimental-remote-ip=local",
            "remote-ip",
            "--remote-ip",
            "local",
        );
    }

    #[test]
    fn the_last_flag_of_a_setting_counts() {
        expect("-a --predict never", "predict", "--predict", "never");
        expect("--predict never -a", "predict", "-a", "always");
        expect("-4 -6", "family", "-6", "inet6");
        expect("--no-init --init", "init", "--init", "true");
        expect("-p 1 -p 2", "port", "--port", "2");
    }

    #[test]
    fn a_value_that_makes_no_sense_is_left_to_whoever_reads_it() {
        expect("--predict sometimes", "predict", "--predict", "sometimes");
    }
}

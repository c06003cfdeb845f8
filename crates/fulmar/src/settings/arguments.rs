//! Flags for settings and for the configuration file, as clap parses them.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueHint};

use fulmar_settings::{FlagForm, FlagSet, GivenFlags, SettingInfo, ValueForm};

/// Flags for all settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoginFlags(pub(crate) GivenFlags);

/// Flags for the settings that a copy needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct CopyFlags(pub(crate) GivenFlags);

/// Flags for the settings that a client needs which joins a server without a login.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientFlags(pub(crate) GivenFlags);

/// The configuration file that is read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ConfigArg {
    /// Read this configuration file instead of the usual one; none reads no file
    #[arg(
        long = "config",
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        help_heading = None::<&'static str>
    )]
    pub(crate) path: Option<PathBuf>,
}

/// The records that may be written about a session.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RecordArgs {
    /// Write a line about each datagram: numbers, sizes and causes, no contents
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write a log; FULMAR_LOG says what to log (info, or fulmar=debug, ...)
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
}

/// Collects what was given. The last flag for a setting has replaced the others.
fn collected(set: FlagSet, matches: &ArgMatches) -> GivenFlags {
    GivenFlags::collect(set, |form| match form.value {
        None => matches.get_one::<OsString>(&form.id).cloned(),
        Some(value) => matches.get_flag(&form.id).then(|| value.into()),
    })
}

/// The text about a copy's server, which Mosh's cannot be.
const COPY_SERVER_HELP: &str = "The shell command that starts fulmar there; auto looks for it";

/// Describes all ways to write a setting to clap.
fn arguments(about: &'static SettingInfo, set: FlagSet) -> Vec<Arg> {
    let forms = about.flag_forms();
    let ids: Vec<String> = forms.iter().map(|form| form.id.clone()).collect();
    let describe = |form: FlagForm| {
        let help = match (set, about.name) {
            (FlagSet::Copy, "server") => COPY_SERVER_HELP.to_owned(),
            _ => form.help.clone(),
        };
        let argument = Arg::new(form.id.clone())
            .help_heading(about.group.heading())
            .help(help.clone())
            // Else manuals would have no text for what the short help leaves out.
            .long_help(help)
            .hide_short_help(about.is_rare)
            .hide(form.is_hidden)
            .overrides_with_all(ids.clone());
        let argument = match form.letter.filter(|letter| set.has_letter(*letter)) {
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

fn with_value(argument: Arg, about: &'static SettingInfo) -> Arg {
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
        ValueForm::Path => argument.value_name("FILE").value_hint(ValueHint::FilePath),
        ValueForm::Text(name) => argument.value_name(name).value_hint(ValueHint::Other),
        ValueForm::Word(_) | ValueForm::Switch(_) => argument.value_name("WORD"),
    }
}

/// Takes any text: what is a value is decided in one place for flags, variables and files. Yet
/// completions are to know the words.
#[derive(Clone)]
struct Anything(ValueForm);

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
            ValueForm::Word(words) => Some(Box::new(words.iter().map(PossibleValue::new))),
            _ => None,
        }
    }
}

fn augment(command: Command, set: FlagSet) -> Command {
    command.args(set.settings().flat_map(|about| arguments(about, set)))
}

impl Args for LoginFlags {
    fn augment_args(command: Command) -> Command {
        augment(command, FlagSet::Login)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LoginFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<LoginFlags, clap::Error> {
        Ok(LoginFlags(collected(FlagSet::Login, matches)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for ClientFlags {
    fn augment_args(command: Command) -> Command {
        augment(command, FlagSet::Client)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ClientFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ClientFlags, clap::Error> {
        Ok(ClientFlags(collected(FlagSet::Client, matches)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for CopyFlags {
    fn augment_args(command: Command) -> Command {
        augment(command, FlagSet::Copy)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CopyFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<CopyFlags, clap::Error> {
        Ok(CopyFlags(collected(FlagSet::Copy, matches)))
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
        let LoginFlags(flags) = parsed.unwrap_or_else(|error| panic!("{error}")).flags;
        let given = flags.iter().cloned();
        given
            .map(|given| (given.name, given.flag, given.text))
            .collect()
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
        let overwrite = "--predict-overwrite";
        expect(overwrite, "predict-overwrite", overwrite, "true");
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

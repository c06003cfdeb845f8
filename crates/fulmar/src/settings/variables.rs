//! Variables of the environment that are no settings of the table.

use super::config_file;

/// A variable, and what it is for.
pub(crate) const OTHER_VARIABLES: [(&str, &str); 10] = [
    (
        config_file::VARIABLE,
        "The configuration file, instead of the usual one; none for no file",
    ),
    (
        "XDG_CONFIG_HOME",
        "The folder of configuration files, instead of ~/.config",
    ),
    (
        "MOSH_KEY",
        "The key of a session, for fulmar client; overwritten and removed at once",
    ),
    (
        "MOSH_SERVER_NETWORK_TMOUT",
        "Read by servers: exit after this many seconds without a client; 0 for never. The default is \
         30 days, or never under the name mosh-server",
    ),
    (
        "MOSH_SERVER_SIGNAL_TMOUT",
        "Read by servers: obey SIGUSR1 only after this many seconds without a client",
    ),
    (
        "SSH_CONNECTION",
        "Read by servers: the address that ssh reached",
    ),
    ("SHELL", "Read by servers: the shell to run in a session"),
    ("TERM", "The type of the terminal, as terminfo knows it"),
    (
        "COLORTERM",
        "truecolor or 24bit: the terminal has 24-bit colour, whatever terminfo says",
    ),
    (
        "LANG, LC_ALL, LC_CTYPE",
        "The locale, with the other locale variables; it is sent to the server",
    ),
];

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::setting::{SettingInfo, ShortFlag, ValueForm};
    use super::super::table::SETTINGS;
    use super::*;
    use crate::documents;

    fn flags(about: &SettingInfo) -> String {
        let name = about.name;
        let mut flags = match about.shape {
            ValueForm::Switch(_) => vec![format!("`--{name}`"), format!("`--no-{name}`")],
            _ => vec![format!("`--{name}`")],
        };
        flags.extend(about.letters.iter().map(|letter| match letter {
            ShortFlag::Same(letter) => format!("`-{letter}`"),
            ShortFlag::Value(letter, value) => format!("`-{letter}` ({value})"),
        }));
        flags.join(", ")
    }

    fn variables(about: &SettingInfo) -> String {
        let stock = about.stock.iter().map(|stock| stock.name);
        let names = [about.variable].into_iter().chain(stock);
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        names.join(", ")
    }

    #[test]
    fn the_settings_in_the_document_are_those_of_the_table() {
        let mut table =
            "| setting | what | default | flags | variables |\n|---|---|---|---|---|\n".to_owned();
        for about in SETTINGS.iter().map(|known| known.about()) {
            let values = match about.shape {
                ValueForm::Word(words) => format!(": {}", words.join(", ")),
                _ => String::new(),
            };
            let (name, help, default) = (about.name, about.help, about.default);
            let (flags, variables) = (flags(about), variables(about));
            let line = writeln!(
                table,
                "| `{name}` | {help}{values} | `{default}` | {flags} | {variables} |"
            );
            line.expect("memory takes it");
        }
        documents::expect_part("docs/configuration.md", "settings", &table);
    }

    #[test]
    fn the_variables_in_the_document_are_those_of_the_list() {
        let mut table = "| variable | what |\n|---|---|\n".to_owned();
        for (name, what) in OTHER_VARIABLES {
            writeln!(table, "| `{}` | {what} |", name.replace(", ", "`, `"))
                .expect("memory takes it");
        }
        documents::expect_part("docs/configuration.md", "variables", &table);
    }
}

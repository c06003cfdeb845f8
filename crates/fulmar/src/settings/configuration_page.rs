//! The tables of docs/configuration.md.

use std::fmt::Write as _;

use fulmar_settings::{OTHER_VARIABLES, SETTINGS, SettingInfo, ShortFlag, ValueForm};

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
            ValueForm::Word(words) => format!(" (`{}`)", words.join("`, `")),
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
        writeln!(table, "| `{}` | {what} |", name.replace(", ", "`, `")).expect("memory takes it");
    }
    documents::expect_part("docs/configuration.md", "variables", &table);
}

//! The manual, made from the command line's definition and the table of settings.

use clap::CommandFactory as _;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use fulmar_settings::{OTHER_VARIABLES, SETTINGS, SettingInfo};

use super::{Cli, EXAMPLE_FILE, EXAMPLES, Page};

/// The commands of keys after the escape key: docs/protocol.md §9.2, and two of ours.
const KEYS: [(&str, &str); 9] = [
    ("Ctrl-^ .", "End the session, with status 255."),
    (
        "Ctrl-^ d",
        "Leave the session, which goes on, with status 0; fulmar attach takes it again.",
    ),
    (
        "Ctrl-^ Ctrl-Z",
        "Suspend the client; the shell's fg resumes it.",
    ),
    ("Ctrl-^ ^", "Type Ctrl-^ itself."),
    (
        "Ctrl-^ i",
        "Show the state of the link: round trip, protocol, predictions, data sent and received.",
    ),
    (
        "Ctrl-^ r",
        "Run ssh on the terminal, where it can ask for a password, and have it carry the session.",
    ),
    (
        "Ctrl-^ [",
        "Read what has left the screen in $PAGER, or less -R; the session goes on.",
    ),
    (
        "Ctrl-^ ?",
        "List these keys. q, Esc, Space or Enter closes this and the state of the link.",
    ),
    (
        "Ctrl-L",
        "Repaint the screen; the program gets the key, too.",
    ),
];

const FILES: [(&str, &str); 4] = [
    (
        "~/.config/fulmar/config.toml",
        "The configuration file. It is read only if it belongs to you or to root, and nobody else may write to it.",
    ),
    (
        "~/.ssh/config",
        "Read by ssh, which logs in as you have configured it.",
    ),
    (
        "~/.local/state/fulmar/run",
        "On the server: a socket for each session, by which fulmar attach, ls, kill and rename reach it. Where that folder is on \
         a network, a private folder of /tmp is used.",
    ),
    (
        "~/.hushlogin",
        "If it exists, a server shows no message of the day.",
    ),
];

const STATUSES: [(&str, &str); 4] = [
    (
        "0",
        "The session ended normally. With a stock mosh-server the status is always 0, whatever that of the command was.",
    ),
    (
        "1 to 254",
        "The status of the command, or 128 plus the number of the signal that ended it.",
    ),
    (
        "254",
        "Another client has taken the session, which goes on.",
    ),
    (
        "255",
        "You ended the session with the escape key, or Fulmar has failed. In that case a message says what failed, and what to try. \
         Under the names mosh, mosh-client and mosh-server the status is 1 instead, and 0 after the escape key.",
    ),
];

/// Returns a page in the language of man(7).
pub(crate) fn page(page: Page) -> String {
    let mut command = Cli::command();
    command.build();
    let name = page.subcommand();
    let described = match name.and_then(|name| command.find_subcommand(name)) {
        Some(subcommand) => subcommand.clone(),
        None => command,
    };
    let title = name.map_or("fulmar".to_owned(), |name| format!("fulmar-{name}"));
    let version = format!("fulmar {}", env!("CARGO_PKG_VERSION"));
    let described = described.display_name(title.clone());
    let man = Man::new(described)
        .title(title.to_uppercase())
        // Of one blank: one that is missing would be taken for the next.
        .date(" ")
        .source(version)
        .manual("Fulmar");
    render(&man, page).unwrap_or_default()
}

/// Writing to memory does not fail, and what is written is UTF-8.
fn render(man: &Man, page: Page) -> Option<String> {
    let mut bytes = Vec::new();
    man.render_title(&mut bytes).ok()?;
    man.render_name_section(&mut bytes).ok()?;
    man.render_synopsis_section(&mut bytes).ok()?;
    man.render_description_section(&mut bytes).ok()?;
    man.render_options_section(&mut bytes).ok()?;
    let mut text = String::from_utf8(bytes).ok()?;
    if page == Page::Fulmar {
        text += &own_sections().to_roff();
    }
    Some(text)
}

fn own_sections() -> Roff {
    let mut roff = Roff::new();
    commands(&mut roff);
    section(&mut roff, "ESCAPE KEYS", &KEYS);
    configuration(&mut roff);
    roff.control("SH", ["ENVIRONMENT"]);
    let what = "Each setting has a variable, listed above; an empty one counts as not set. The others are:";
    roff.text([roman(what)]);
    terms(&mut roff, &OTHER_VARIABLES);
    section(&mut roff, "FILES", &FILES);
    section(&mut roff, "EXIT STATUS", &STATUSES);
    roff.control("SH", ["EXAMPLES"]);
    for (line, what) in EXAMPLES {
        roff.control("TP", []);
        roff.text([bold(line)]).text([roman(what)]);
    }
    roff.control("SH", ["SEE ALSO"]);
    roff.text([roman("ssh(1), ssh_config(5), mosh(1)")]);
    roff
}

fn commands(roff: &mut Roff) {
    roff.control("SH", ["COMMANDS"]);
    let command = Cli::command();
    for subcommand in command
        .get_subcommands()
        .filter(|known| !known.is_hide_set())
    {
        let name = format!("fulmar {}", subcommand.get_name());
        let about = subcommand.get_about().map(ToString::to_string);
        roff.control("TP", []);
        roff.text([bold(name)])
            .text([roman(about.unwrap_or_default())]);
    }
    let what =
        "More manuals: fulmar man, with attach, ls, kill, rename, server, client, cp or config.";
    roff.control("PP", []).text([roman(what)]);
}

fn section(roff: &mut Roff, title: &str, list: &[(&str, &str)]) {
    roff.control("SH", [title]);
    terms(roff, list);
}

fn terms(roff: &mut Roff, list: &[(&str, &str)]) {
    for (term, what) in list {
        roff.control("TP", []);
        roff.text([bold(*term)]).text([roman(*what)]);
    }
}

fn configuration(roff: &mut Roff) {
    roff.control("SH", ["CONFIGURATION"]);
    let what = "A flag overrides a variable, and a variable overrides the configuration file. The file is \
                TOML: first the settings for all hosts, then sections for some hosts. The first section \
                that matches and has the setting counts. Patterns are those of ssh_config(5) and match \
                the host as it was written. fulmar config HOST lists the settings and their sources.";
    roff.text([roman(what)]);
    roff.control("PP", []).control("nf", []);
    for line in EXAMPLE_FILE.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []).control("PP", []);
    roff.text([roman("The settings, their variables and defaults:")]);
    for about in SETTINGS.iter().map(|known| known.about()) {
        roff.control("TP", []);
        roff.text([bold(about.name), roman(format!("  {}", variables(about)))]);
        roff.text([roman(format!(
            "{}. Default: {}.",
            about.help, about.default
        ))]);
    }
}

fn variables(about: &SettingInfo) -> String {
    match &about.stock {
        Some(stock) => format!("{}, {}", about.variable, stock.name),
        None => about.variable.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_has_all_settings_and_sections() {
        let text = page(Page::Fulmar);
        let sections: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix(".SH "))
            .collect();
        for wanted in [
            "NAME",
            "SYNOPSIS",
            "LOGIN",
            "NETWORK",
            "CONFIGURATION",
            "ENVIRONMENT",
            "FILES",
            "EXAMPLES",
        ] {
            assert!(sections.contains(&wanted), "{wanted} {sections:?}");
        }
        for about in SETTINGS.iter().map(|known| known.about()) {
            assert!(text.contains(about.variable), "{}", about.variable);
            let flag = format!("\\-\\-{}", about.name.replace('-', "\\-"));
            let turned_off = format!("\\-\\-no\\-{}", about.name.replace('-', "\\-"));
            assert!(text.contains(&flag) || text.contains(&turned_off), "{flag}");
        }
    }

    #[test]
    fn no_entry_of_a_page_is_empty() {
        for part in [
            Page::Fulmar,
            Page::Attach,
            Page::Ls,
            Page::Kill,
            Page::Rename,
            Page::Server,
            Page::Client,
            Page::Cp,
            Page::Config,
        ] {
            let text = page(part);
            let mut lines = text.lines().peekable();
            while let Some(line) = lines.next() {
                if line != ".TP" {
                    continue;
                }
                let term = lines.next().unwrap_or_default();
                let what = lines.peek().copied().unwrap_or_default();
                assert!(
                    !what.is_empty() && !what.starts_with('.'),
                    "{part:?}: {term} says nothing"
                );
            }
        }
    }

    #[test]
    fn a_synopsis_names_what_options_take_or_leaves_them_out() {
        for part in [
            Page::Fulmar,
            Page::Server,
            Page::Client,
            Page::Cp,
            Page::Config,
        ] {
            let text = page(part);
            let synopsis = text.split(".SH SYNOPSIS").nth(1).unwrap_or_default();
            let synopsis = synopsis.split(".SH").next().unwrap_or_default();
            assert!(synopsis.contains("OPTIONS"), "{part:?}: {synopsis}");
        }
    }

    #[test]
    fn what_is_not_for_ssh_is_not_under_its_heading() {
        for part in [Page::Fulmar, Page::Cp] {
            let text = page(part);
            let section = text.split(".SH \"PASSED ON TO SSH\"").nth(1).unwrap();
            let section = section.split(".SH").next().unwrap_or_default();
            assert!(section.contains("jump host"), "{part:?}: {section}");
            assert!(!section.contains("\\-\\-config"), "{section}");
        }
    }

    #[test]
    fn every_part_of_the_program_has_a_page() {
        for (part, word) in [
            (Page::Server, "NAME=VALUE"),
            (Page::Client, "ADDRESS"),
            (Page::Cp, "SOURCE"),
            (Page::Config, "HOST"),
        ] {
            assert!(page(part).contains(word), "{part:?}");
        }
    }
}

//! All settings.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use fulmar_core::{EscapeKey, NotificationForm, WayPreference};
use fulmar_login::{AddressPreference, AddressSource, PortRange};
use fulmar_predict::PredictionMode;
use tracing_subscriber::filter::Targets;

use crate::setting::{
    AnySetting, Setting, SettingGroup, SettingInfo, ShortFlag, StockVariable, ValueForm,
};
use crate::values::{self, BindServer, Scrollback, TrueColor};

/// The variable that says what is logged.
pub const LOG_FILTER_VARIABLE: &str = "FULMAR_LOG";

/// The filter of the log if nobody names one.
pub const LOG_FILTER_DEFAULT: &str = "info";

/// All of them, in the order in which they are listed.
pub static SETTINGS: [&dyn AnySetting; 28] = [
    &SSH,
    &SERVER,
    &CLIENT,
    &SSH_PTY,
    &PORT,
    &FAMILY,
    &BIND_SERVER,
    &REMOTE_IP,
    &TRANSPORT,
    &PREDICT,
    &PREDICT_OVERWRITE,
    &ESCAPE_KEY,
    &TITLE_PREFIX,
    &INIT,
    &TRUE_COLOR,
    &PROBE,
    &REFLOW,
    &SCREEN_CHECKSUMS,
    &SCROLLBACK,
    &HISTORY_LINES,
    &HISTORY_BYTES,
    &NOTIFICATIONS,
    &PROGRESS,
    &WORKING_DIRECTORY,
    &COMMAND_MARKS,
    &TRACE,
    &LOG,
    &LOG_FILTER,
];

pub(crate) static SSH: Setting<Vec<OsString>> = Setting {
    about: SettingInfo {
        name: "ssh",
        variable: "FULMAR_SSH",
        stock: None,
        shape: ValueForm::Text("COMMAND"),
        letters: &[],
        default: "ssh",
        group: SettingGroup::Login,
        is_rare: false,
        help: "The ssh program and its options, quoted as in a shell",
    },
    parse: values::words,
};

pub(crate) static SERVER: Setting<Option<String>> = Setting {
    about: SettingInfo {
        name: "server",
        variable: "FULMAR_SERVER",
        stock: None,
        shape: ValueForm::Text("COMMAND"),
        letters: &[],
        default: "auto",
        group: SettingGroup::Login,
        is_rare: false,
        help: "The shell command that starts the server; auto tries fulmar server, then mosh-server",
    },
    parse: values::command,
};

pub(crate) static CLIENT: Setting<Option<PathBuf>> = Setting {
    about: SettingInfo {
        name: "client",
        variable: "FULMAR_CLIENT",
        stock: None,
        shape: ValueForm::Path,
        letters: &[],
        default: "none",
        group: SettingGroup::Login,
        is_rare: true,
        help: "Another client to run, such as mosh-client; it gets the address and the key",
    },
    parse: values::path,
};

pub(crate) static SSH_PTY: Setting<bool> = Setting {
    about: SettingInfo {
        name: "ssh-pty",
        variable: "FULMAR_SSH_PTY",
        stock: None,
        shape: ValueForm::Switch("The same; accepted because mosh has it"),
        letters: &[],
        default: "false",
        group: SettingGroup::Login,
        is_rare: true,
        help: "Accepted because mosh has it; it has no effect, as ssh is never asked for a terminal",
    },
    parse: values::switch,
};

pub(crate) static PORT: Setting<Option<PortRange>> = Setting {
    about: SettingInfo {
        name: "port",
        variable: "FULMAR_PORT",
        stock: None,
        shape: ValueForm::Text("PORT[:PORT2]"),
        letters: &[ShortFlag::Same('p')],
        default: "auto",
        group: SettingGroup::Network,
        is_rare: false,
        help: "The server's UDP port, or a range, of which the lowest free is used; auto is 60001:60999",
    },
    parse: values::ports,
};

pub(crate) static FAMILY: Setting<AddressPreference> = Setting {
    about: SettingInfo {
        name: "family",
        variable: "FULMAR_FAMILY",
        stock: None,
        shape: ValueForm::Word(&[
            "inet",
            "inet6",
            "all",
            "auto",
            "prefer-inet",
            "prefer-inet6",
        ]),
        letters: &[
            ShortFlag::Value('4', "inet"),
            ShortFlag::Value('6', "inet6"),
        ],
        default: "all",
        group: SettingGroup::Network,
        is_rare: false,
        help: "Which addresses of a host to use, or to try first",
    },
    parse: values::family,
};

pub(crate) static BIND_SERVER: Setting<BindServer> = Setting {
    about: SettingInfo {
        name: "bind-server",
        variable: "FULMAR_BIND_SERVER",
        stock: None,
        shape: ValueForm::Text("WHERE"),
        letters: &[],
        default: "auto",
        group: SettingGroup::Network,
        is_rare: true,
        help: "The server's address: any, ssh (that which ssh reached) or one; auto: any, for mosh-server ssh",
    },
    parse: values::bind_server,
};

pub(crate) static REMOTE_IP: Setting<AddressSource> = Setting {
    about: SettingInfo {
        name: "remote-ip",
        variable: "FULMAR_REMOTE_IP",
        stock: None,
        shape: ValueForm::Word(&["proxy", "local", "remote"]),
        letters: &[],
        default: "proxy",
        group: SettingGroup::Network,
        is_rare: true,
        help: "Which addresses to try: those found here, in the server's order (proxy) or ours, or the server's",
    },
    parse: values::remote_ip,
};

pub(crate) static TRANSPORT: Setting<WayPreference> = Setting {
    about: SettingInfo {
        name: "transport",
        variable: "FULMAR_TRANSPORT",
        stock: None,
        shape: ValueForm::Word(&["auto", "udp", "ssh"]),
        letters: &[],
        default: "auto",
        group: SettingGroup::Network,
        is_rare: false,
        help: "What carries a session or a copy: UDP, ssh, or UDP where it works and ssh where it does not",
    },
    parse: values::transport,
};

pub(crate) static PREDICT: Setting<PredictionMode> = Setting {
    about: SettingInfo {
        name: "predict",
        variable: "FULMAR_PREDICT",
        stock: Some(StockVariable {
            name: "MOSH_PREDICTION_DISPLAY",
            meaning: values::as_it_is,
        }),
        shape: ValueForm::Word(&["adaptive", "always", "never", "experimental"]),
        letters: &[
            ShortFlag::Value('a', "always"),
            ShortFlag::Value('n', "never"),
        ],
        default: "adaptive",
        group: SettingGroup::Display,
        is_rare: false,
        help: "When to show keys before the server answers; experimental includes keys never seen before",
    },
    parse: values::predict,
};

pub(crate) static PREDICT_OVERWRITE: Setting<bool> = Setting {
    about: SettingInfo {
        name: "predict-overwrite",
        variable: "FULMAR_PREDICT_OVERWRITE",
        stock: Some(StockVariable {
            name: "MOSH_PREDICTION_OVERWRITE",
            meaning: |text| (text == "yes").to_string(),
        }),
        shape: ValueForm::Switch("Let predicted characters push aside the text that is there"),
        letters: &[],
        default: "false",
        group: SettingGroup::Display,
        is_rare: true,
        help: "Let predicted characters replace the text that is there",
    },
    parse: values::switch,
};

pub(crate) static ESCAPE_KEY: Setting<EscapeKey> = Setting {
    about: SettingInfo {
        name: "escape-key",
        variable: "FULMAR_ESCAPE_KEY",
        stock: Some(StockVariable {
            name: "MOSH_ESCAPE_KEY",
            meaning: values::escape_key_of_stock,
        }),
        shape: ValueForm::Text("KEY"),
        letters: &[],
        default: "^^",
        group: SettingGroup::Display,
        is_rare: false,
        help: "The key before a command to the client: a character, ^ and a character for Ctrl, or none",
    },
    parse: values::escape_key,
};

pub(crate) static TITLE_PREFIX: Setting<bool> = Setting {
    about: SettingInfo {
        name: "title-prefix",
        variable: "FULMAR_TITLE_PREFIX",
        stock: Some(StockVariable {
            name: "MOSH_TITLE_NOPREFIX",
            meaning: never,
        }),
        shape: ValueForm::Switch("Show window titles as they are"),
        letters: &[],
        default: "true",
        group: SettingGroup::Display,
        is_rare: true,
        help: "Begin window titles with [fulmar]",
    },
    parse: values::switch,
};

pub(crate) static INIT: Setting<bool> = Setting {
    about: SettingInfo {
        name: "init",
        variable: "FULMAR_INIT",
        stock: Some(StockVariable {
            name: "MOSH_NO_TERM_INIT",
            meaning: never,
        }),
        shape: ValueForm::Switch("Do not use the terminal's alternate screen"),
        letters: &[],
        default: "true",
        group: SettingGroup::Display,
        is_rare: false,
        help: "Use the terminal's alternate screen, so that the normal one comes back at the end",
    },
    parse: values::switch,
};

pub(crate) static TRUE_COLOR: Setting<TrueColor> = Setting {
    about: SettingInfo {
        name: "true-color",
        variable: "FULMAR_TRUE_COLOR",
        stock: None,
        shape: ValueForm::Word(&["auto", "always", "never"]),
        letters: &[],
        default: "auto",
        group: SettingGroup::Display,
        is_rare: true,
        help: "Send 24-bit colours to the terminal; auto: if it has 256, and nothing says that it lacks them",
    },
    parse: values::true_color,
};

pub(crate) static PROBE: Setting<bool> = Setting {
    about: SettingInfo {
        name: "probe",
        variable: "FULMAR_PROBE",
        stock: None,
        shape: ValueForm::Switch("Do not ask the terminal what it can do"),
        letters: &[],
        default: "true",
        group: SettingGroup::Display,
        is_rare: true,
        help: "Ask the terminal once what it can do beyond what its type tells: links, underlines, colours",
    },
    parse: values::switch,
};

pub(crate) static REFLOW: Setting<bool> = Setting {
    about: SettingInfo {
        name: "reflow",
        variable: "FULMAR_REFLOW",
        stock: None,
        shape: ValueForm::Switch("Crop lines in a narrower window, as mosh does"),
        letters: &[],
        default: "true",
        group: SettingGroup::Display,
        is_rare: true,
        help: "Break lines anew when the window gets another width, if the server is fulmar, too",
    },
    parse: values::switch,
};

pub(crate) static SCREEN_CHECKSUMS: Setting<bool> = Setting {
    about: SettingInfo {
        name: "screen-checksums",
        variable: "FULMAR_SCREEN_CHECKSUMS",
        stock: None,
        shape: ValueForm::Switch("Do not answer programs that ask for checksums"),
        letters: &[],
        default: "false",
        group: SettingGroup::Display,
        is_rare: true,
        help: "Let programs ask for checksums of the screen (DECRQCRA): whoever writes to it can read it so",
    },
    parse: values::switch,
};

pub(crate) static SCROLLBACK: Setting<Scrollback> = Setting {
    about: SettingInfo {
        name: "scrollback",
        variable: "FULMAR_SCROLLBACK",
        stock: None,
        shape: ValueForm::Switch("Draw the session apart from it, as mosh does"),
        letters: &[],
        default: "auto",
        group: SettingGroup::Display,
        is_rare: false,
        help: "Let lines that scroll off stay in the terminal's scrollback; auto: in those known to keep them",
    },
    parse: values::scrollback,
};

pub(crate) static HISTORY_LINES: Setting<usize> = Setting {
    about: SettingInfo {
        name: "history-lines",
        variable: "FULMAR_HISTORY_LINES",
        stock: None,
        shape: ValueForm::Text("COUNT"),
        letters: &[],
        default: "10000",
        group: SettingGroup::Display,
        is_rare: true,
        help: "The most of these lines that a new session keeps on the server; 0 for none",
    },
    parse: values::count,
};

pub(crate) static HISTORY_BYTES: Setting<usize> = Setting {
    about: SettingInfo {
        name: "history-bytes",
        variable: "FULMAR_HISTORY_BYTES",
        stock: None,
        shape: ValueForm::Text("BYTES"),
        letters: &[],
        default: "64M",
        group: SettingGroup::Display,
        is_rare: true,
        help: "The most memory for them there, with K, M or G for 1024 bytes and so on; 0 for none",
    },
    parse: values::bytes,
};

pub(crate) static NOTIFICATIONS: Setting<Option<NotificationForm>> = Setting {
    about: SettingInfo {
        name: "notifications",
        variable: "FULMAR_NOTIFICATIONS",
        stock: None,
        shape: ValueForm::Word(&["off", "osc9", "osc99", "osc777"]),
        letters: &[],
        default: "off",
        group: SettingGroup::Display,
        is_rare: true,
        help: "Let programs notify you on your desktop, in the form that the terminal understands",
    },
    parse: values::notifications,
};

pub(crate) static PROGRESS: Setting<bool> = Setting {
    about: SettingInfo {
        name: "progress",
        variable: "FULMAR_PROGRESS",
        stock: None,
        shape: ValueForm::Switch("Do not show how far programs are"),
        letters: &[],
        default: "false",
        group: SettingGroup::Display,
        is_rare: true,
        help: "Have the terminal show how far programs are (OSC 9;4), which some take for a notification",
    },
    parse: values::switch,
};

pub(crate) static WORKING_DIRECTORY: Setting<bool> = Setting {
    about: SettingInfo {
        name: "working-directory",
        variable: "FULMAR_WORKING_DIRECTORY",
        stock: None,
        shape: ValueForm::Switch("Do not tell the terminal where programs are"),
        letters: &[],
        default: "false",
        group: SettingGroup::Display,
        is_rare: true,
        help: "Tell the terminal in which folder programs are (OSC 7)",
    },
    parse: values::switch,
};

pub(crate) static COMMAND_MARKS: Setting<bool> = Setting {
    about: SettingInfo {
        name: "command-marks",
        variable: "FULMAR_COMMAND_MARKS",
        stock: None,
        shape: ValueForm::Switch("Do not tell the terminal of commands"),
        letters: &[],
        default: "false",
        group: SettingGroup::Display,
        is_rare: true,
        help: "Tell the terminal when commands begin to write and end (OSC 133)",
    },
    parse: values::switch,
};

pub(crate) static TRACE: Setting<Option<PathBuf>> = Setting {
    about: SettingInfo {
        name: "trace",
        variable: "FULMAR_TRACE",
        stock: None,
        shape: ValueForm::Path,
        letters: &[],
        default: "none",
        group: SettingGroup::Diagnostics,
        is_rare: false,
        help: "Write a line about each datagram and each prediction: numbers and causes, no contents",
    },
    parse: values::path,
};

pub(crate) static LOG: Setting<Option<PathBuf>> = Setting {
    about: SettingInfo {
        name: "log",
        // FULMAR_LOG is the filter, as usual for programs that log by `tracing`.
        variable: "FULMAR_LOG_FILE",
        stock: None,
        shape: ValueForm::Path,
        letters: &[],
        default: "none",
        group: SettingGroup::Diagnostics,
        is_rare: false,
        help: "Write a log, without keys, typed text or screens",
    },
    parse: values::path,
};

pub(crate) static LOG_FILTER: Setting<Targets> = Setting {
    about: SettingInfo {
        name: "log-filter",
        variable: LOG_FILTER_VARIABLE,
        stock: None,
        shape: ValueForm::Text("FILTER"),
        letters: &[],
        default: LOG_FILTER_DEFAULT,
        group: SettingGroup::Diagnostics,
        is_rare: true,
        help: "What to log, such as info, or fulmar=debug,fulmar_core=trace",
    },
    parse: values::filter,
};

/// A variable of stock that switches something off by being there.
fn never(_: &OsStr) -> String {
    "false".to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_variable_is_named_for_its_setting() {
        for about in SETTINGS.iter().map(|known| known.about()) {
            let wanted = format!("FULMAR_{}", about.name.to_uppercase().replace('-', "_"));
            let wanted = match about.name {
                "log" => "FULMAR_LOG_FILE",
                "log-filter" => "FULMAR_LOG",
                _ => &wanted,
            };
            assert_eq!(about.variable, wanted);
        }
    }

    #[test]
    fn no_name_and_no_letter_is_given_twice() {
        let mut seen = BTreeSet::new();
        for about in SETTINGS.iter().map(|known| known.about()) {
            assert!(seen.insert(about.name.to_owned()), "{}", about.name);
            for letter in about.letters {
                let (ShortFlag::Same(letter) | ShortFlag::Value(letter, _)) = letter;
                assert!(seen.insert(letter.to_string()), "{letter}");
            }
        }
    }

    #[test]
    fn whatever_the_table_offers_is_a_value() {
        for known in SETTINGS {
            let about = known.about();
            let mut offered = vec![about.default];
            match about.shape {
                ValueForm::Switch(_) => offered.extend(["true", "false"]),
                ValueForm::Word(words) => offered.extend(words),
                ValueForm::Path => offered.push("none"),
                ValueForm::Text(_) => {}
            }
            for letter in about.letters {
                if let ShortFlag::Value(_, value) = letter {
                    offered.push(value);
                }
            }
            for text in offered {
                assert_eq!(known.check(OsStr::new(text)), Ok(()), "{}", about.name);
            }
            if let ValueForm::Word(words) = about.shape {
                let refused = known.check(OsStr::new("no-such-word")).unwrap_err();
                assert!(words.iter().all(|word| refused.contains(word)), "{refused}");
            }
        }
    }

    #[test]
    fn a_line_of_help_is_a_line() {
        for about in SETTINGS.iter().map(|known| known.about()) {
            assert!(
                about.help.len() <= 100 && !about.help.ends_with('.'),
                "{}",
                about.help
            );
        }
    }
}

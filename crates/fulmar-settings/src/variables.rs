//! Variables of the environment that are no settings of the table.

use crate::config_file;

/// A variable, and what it is for.
pub const OTHER_VARIABLES: [(&str, &str); 10] = [
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

//! The settings of a client.

use fulmar_datagram::Key;
use fulmar_datagram::limits::DATAGRAM_BYTES_IPV4;
use fulmar_terminal::Size;

use crate::agreement::Agreement;
use crate::compat_mode::CompatMode;
use crate::display::LastScreen;
use crate::escape_key::EscapeKey;
use crate::outer_terminal::OuterTerminal;
use crate::random::Seed;

/// The settings of a client.
pub struct ClientConfig {
    /// The key of the conversation.
    pub key: Key,
    /// The agreement with the server; `None` with a stock one.
    pub agreement: Option<Agreement>,
    /// The size of the user's window.
    pub size: Size,
    /// The longest datagram to send: see
    /// [`DATAGRAM_BYTES_IPV4`] and
    /// [`DATAGRAM_BYTES_IPV6`](fulmar_datagram::limits::DATAGRAM_BYTES_IPV6).
    pub datagram_bytes: usize,
    /// The user's terminal.
    pub outer: OuterTerminal,
    /// True if the session is drawn on the main screen of the terminal, below what was there before, and lines that leave the
    /// program's screen enter the terminal's scrollback.
    pub keeps_history: bool,
    /// The fate of the last screen at the end of the session.
    pub last_screen: LastScreen,
    /// True if lines of text are cut anew where the width of the window changes, by a server that does so.
    pub reflow: bool,
    /// True if programs may ask for checksums of the screen, by which they can read it.
    pub checksums: bool,
    /// The key that commands the client.
    pub escape_key: EscapeKey,
    /// The program that the client behaves as: Fulmar or Mosh.
    pub compat: CompatMode,
    /// The text before a title that a program sets; empty for none.
    pub title_prefix: String,
    /// The session as notifications of its programs call it.
    pub session_label: String,
    /// The server as notices call it, for instance `192.0.2.7, UDP port 60001`.
    pub server_label: String,
    /// True if the server is on this machine, so that nothing between it and the client can reject datagrams.
    pub is_server_local: bool,
    /// The settings of prediction: when keys are shown before the server has answered, and how.
    pub prediction: fulmar_predict::PredictionConfig,
    /// True if the server says, by another way, when it has heard us ([`Client::note_heard`](crate::Client::note_heard)). Then its
    /// silence there is a sign, too.
    pub server_reports: bool,
    /// True if the session was there before. Whoever gives up on the way into it does not end it.
    pub attaches: bool,
    /// For the chaff and the first sequence number; from the system's random source.
    pub seed: Seed,
}

impl ClientConfig {
    /// Returns what a client is without further wishes: an unknown terminal of 80x24, the default
    /// escape key, our own behaviour, datagrams for IPv4, nothing agreed on.
    pub fn new(key: Key, seed: Seed) -> ClientConfig {
        ClientConfig {
            key,
            agreement: None,
            size: Size::default(),
            datagram_bytes: DATAGRAM_BYTES_IPV4,
            outer: OuterTerminal::default(),
            keeps_history: false,
            last_screen: LastScreen::default(),
            reflow: true,
            checksums: false,
            escape_key: EscapeKey::default(),
            compat: CompatMode::Fulmar,
            title_prefix: String::new(),
            session_label: "fulmar".to_owned(),
            server_label: "the server".to_owned(),
            is_server_local: false,
            prediction: fulmar_predict::PredictionConfig::default(),
            server_reports: false,
            attaches: false,
            seed,
        }
    }
}

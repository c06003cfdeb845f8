//! The kinds of predictors, by name.

use std::time::Duration;

use fulmar_terminal::Size;
use serde::{Deserialize, Serialize};

use super::engine::Adapter;
use super::predictor::{DrawnScreen, Predictor};
use super::recorded_user::{KeyboardRead, Peer};
use super::session::{PredictionSession, ServerFrame};
use super::stock::{Mode, Stock};
use super::user_view::UserView;

/// The predictors by name.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum PredictorKind {
    /// No prediction.
    #[default]
    None,
    /// A model of stock's, as it is by default.
    Stock,
    /// The same, always on.
    StockAlways,
    /// Ours, with a stock server.
    Engine,
    /// Ours, with a server of our own that gives hints.
    EngineHints,
    /// The real client, with ours in it and a stock server.
    Client,
    /// The same with a server of our own.
    ClientHints,
    /// Shows every prediction: what the gate has to notice.
    Everything,
}

impl PredictorKind {
    /// All of them.
    pub const ALL: [PredictorKind; 8] = [
        PredictorKind::None,
        PredictorKind::Stock,
        PredictorKind::StockAlways,
        PredictorKind::Engine,
        PredictorKind::EngineHints,
        PredictorKind::Client,
        PredictorKind::ClientHints,
        PredictorKind::Everything,
    ];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            PredictorKind::None => "none",
            PredictorKind::Stock => "stock",
            PredictorKind::StockAlways => "stock-always",
            PredictorKind::Engine => "engine",
            PredictorKind::EngineHints => "engine-hints",
            PredictorKind::Client => "client",
            PredictorKind::ClientHints => "client-hints",
            PredictorKind::Everything => "everything",
        }
    }

    /// Returns the server that this predictor needs, if it is a whole client.
    pub fn watched(self) -> Option<Peer> {
        match self {
            PredictorKind::Client => Some(Peer::Stock),
            PredictorKind::ClientHints => Some(Peer::Own),
            _ => None,
        }
    }

    /// Returns its name in tables that are read without this program.
    pub const fn title(self) -> &'static str {
        match self {
            PredictorKind::None => "no prediction",
            PredictorKind::Stock => "stock's, modelled",
            PredictorKind::StockAlways => "stock's, modelled, always on",
            PredictorKind::Engine => "Fulmar, stock server",
            PredictorKind::EngineHints => "Fulmar, own server",
            PredictorKind::Client => "Fulmar's client, stock server",
            PredictorKind::ClientHints => "Fulmar's client, own server",
            PredictorKind::Everything => "everything is shown",
        }
    }

    /// Shows a session to a new one of this kind. The client's own has to have been watched.
    pub fn view(self, session: &PredictionSession) -> UserView<'_> {
        match self {
            PredictorKind::Client | PredictorKind::ClientHints => UserView::of_client(session),
            _ => UserView::of(session, self.build(session.size).as_mut()),
        }
    }

    /// Returns a new one for a window of that size; for the client one that does nothing.
    fn build(self, size: Size) -> Box<dyn Predictor> {
        match self {
            PredictorKind::None | PredictorKind::Client | PredictorKind::ClientHints => {
                Box::new(Nothing)
            }
            PredictorKind::Stock => Box::new(Stock::new(Mode::Adaptive)),
            PredictorKind::StockAlways => Box::new(Stock::new(Mode::Always)),
            PredictorKind::Engine => Box::new(Adapter::new(size, Peer::Stock)),
            PredictorKind::EngineHints => Box::new(Adapter::new(size, Peer::Own)),
            PredictorKind::Everything => Box::new(Stock::new(Mode::Everything)),
        }
    }
}

/// No prediction.
struct Nothing;

impl Predictor for Nothing {
    fn type_keys(&mut self, _: Duration, _: &KeyboardRead, _: &ServerFrame) {}

    fn take_frame(&mut self, _: Duration, _: &ServerFrame) {}

    fn draw(&mut self, _: Duration, frame: &ServerFrame) -> DrawnScreen {
        DrawnScreen::plain(frame)
    }

    fn poll_timeout(&self) -> Option<Duration> {
        None
    }
}

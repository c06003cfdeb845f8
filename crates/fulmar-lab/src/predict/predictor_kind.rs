//! The kinds of predictors, by name.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::engine::Adapter;
use super::predictor::Predictor;
use super::recorded_user::{ClientWatch, Peer};
use super::session::PredictionSession;
use super::stock::{Mode, Stock};
use super::user_view::UserView;

/// The predictors by name.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum,
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
    /// Returns its name on the command line.
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.expect("no kind is hidden").get_name().to_owned()
    }

    /// Returns the server that this predictor has.
    pub(super) fn peer(self) -> Peer {
        match self {
            PredictorKind::EngineHints | PredictorKind::ClientHints => Peer::Own,
            _ => Peer::Stock,
        }
    }

    /// Returns true if this predictor is a whole client.
    pub(super) fn is_client(self) -> bool {
        matches!(self, PredictorKind::Client | PredictorKind::ClientHints)
    }

    /// Returns the client that a session for this predictor alone has; `None` for any with a stock server.
    pub fn watch(self) -> Option<ClientWatch> {
        let watch = ClientWatch::of(self.peer());
        match self {
            PredictorKind::Client | PredictorKind::ClientHints => Some(watch),
            // What is beside the client does not care whether that predicts.
            PredictorKind::EngineHints => Some(watch.unseen()),
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

    /// Shows a session with its server to a new one of this kind. The client's own has to have been watched.
    pub fn view(self, session: &PredictionSession) -> UserView<'_> {
        let mut predictor: Box<dyn Predictor> = match self {
            PredictorKind::Client | PredictorKind::ClientHints => {
                return UserView::of_client(session);
            }
            PredictorKind::None => Box::new(Nothing),
            PredictorKind::Stock => Box::new(Stock::new(Mode::Adaptive)),
            PredictorKind::StockAlways => Box::new(Stock::new(Mode::Always)),
            PredictorKind::Engine | PredictorKind::EngineHints => {
                Box::new(Adapter::new(session.size))
            }
            PredictorKind::Everything => Box::new(Stock::new(Mode::Everything)),
        };
        UserView::of(session, predictor.as_mut())
    }
}

/// No prediction.
struct Nothing;

impl Predictor for Nothing {}

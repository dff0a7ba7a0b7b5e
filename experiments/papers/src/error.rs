//! Why a reproduction cannot be made.

use std::fmt::Display;

/// Why a reproduction cannot be made; the message says what, and on which input.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A file or folder of the corpora cannot be read.
    #[error("{0}")]
    Input(String),
    /// A limit came before the first answer: more time may help.
    #[error("{0}")]
    Limit(String),
    /// An algorithm is missing or failed, or its answer was refused.
    #[error("{0}")]
    Defect(String),
}

impl ReproduceError {
    /// A defect, with what it was met on.
    pub(crate) fn on<E: Display>(what: impl Display) -> impl FnOnce(E) -> Self {
        move |error| Self::Defect(format!("{what}: {error}"))
    }

    /// A defect whose message says enough.
    pub(crate) fn defect(error: impl Display) -> Self {
        Self::Defect(error.to_string())
    }

    /// Input that cannot be read.
    pub(crate) fn input(error: impl Display) -> Self {
        Self::Input(error.to_string())
    }
}

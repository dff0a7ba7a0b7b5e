//! Errors of a reproduction.

use std::fmt::Display;

/// The reason why a reproduction failed. The message names the input.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A file or folder of the corpora cannot be read.
    #[error("{0}")]
    Input(String),
    /// A limit was reached before the first solution. A higher limit may help.
    #[error("{0}")]
    Limit(String),
    /// An algorithm is missing or failed, or its answer was rejected.
    #[error("{0}")]
    Defect(String),
}

impl ReproduceError {
    /// Converts an error to a defect, with the input as a prefix.
    pub(crate) fn on<E: Display>(what: impl Display) -> impl FnOnce(E) -> Self {
        move |error| Self::Defect(format!("{what}: {error}"))
    }

    /// Converts an error to a defect.
    pub(crate) fn defect(error: impl Display) -> Self {
        Self::Defect(error.to_string())
    }

    /// Converts an error to one about unreadable input.
    pub(crate) fn input(error: impl Display) -> Self {
        Self::Input(error.to_string())
    }
}

//! Exit codes, and errors that know theirs.

use std::fmt;

/// Answered.
pub const ANSWERED: u8 = 0;
/// Proved infeasible, or verification failed.
pub const REFUTED: u8 = 1;
/// Bad input or usage.
pub const BAD_INPUT: u8 = 2;
/// Nothing found within the limits.
pub const NOTHING_FOUND: u8 = 3;
/// An algorithm broke, or the checker refused its answer: a defect, not an answer.
pub const INTERNAL: u8 = 4;

/// Valid, but what is claimed rests on a search that only repeating it can confirm.
pub const NOT_CHECKABLE: u8 = 5;

/// Something that ends the command without an answer.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// One line for standard error.
    pub message: String,
}

impl Failure {
    /// Bad input or usage.
    pub fn input(message: impl fmt::Display) -> Self {
        Self { code: BAD_INPUT, message: message.to_string() }
    }

    /// The same, with the file in front that it is about, unless it begins with that.
    #[must_use]
    pub fn about(self, path: &std::path::Path) -> Self {
        let path = path.display().to_string();
        let told = self.message.contains(&path);
        Self { message: if told { self.message } else { format!("{path}: {}", self.message) }, ..self }
    }

    /// A defect.
    pub fn internal(message: impl fmt::Display) -> Self {
        Self { code: INTERNAL, message: message.to_string() }
    }
}

impl From<plimsoll::model::csv::CsvError> for Failure {
    fn from(error: plimsoll::model::csv::CsvError) -> Self {
        Self::input(error)
    }
}

impl From<plimsoll::graphs::GraphRunError> for Failure {
    fn from(error: plimsoll::graphs::GraphRunError) -> Self {
        use plimsoll::graphs::GraphRunError;
        use plimsoll::model::SolveError;
        use plimsoll::run::RunError;
        match &error {
            GraphRunError::Nothing { .. } => Self { code: NOTHING_FOUND, message: error.to_string() },
            GraphRunError::Problem { .. }
            | GraphRunError::Structure { .. }
            | GraphRunError::Run { source: RunError::Solve(SolveError::Unsupported { .. }), .. } => {
                Self::input(error)
            }
            GraphRunError::Run { .. } | GraphRunError::Races { .. } => Self::internal(error),
        }
    }
}

impl From<plimsoll::branches::BranchError> for Failure {
    fn from(error: plimsoll::branches::BranchError) -> Self {
        use plimsoll::branches::BranchError;
        use plimsoll::model::SolveError;
        use plimsoll::run::RunError;
        match error {
            BranchError::Order(error) => error.into(),
            BranchError::Nothing { .. } => Self { code: NOTHING_FOUND, message: error.to_string() },
            BranchError::Program(_)
            | BranchError::Instance(_)
            | BranchError::Run { source: RunError::Solve(SolveError::Unsupported { .. }), .. } => {
                Self::input(error)
            }
            BranchError::Run { .. } | BranchError::Refused { .. } => Self::internal(error),
        }
    }
}

impl From<plimsoll::datasets::dsa::DsaError> for Failure {
    fn from(error: plimsoll::datasets::dsa::DsaError) -> Self {
        Self::input(error)
    }
}

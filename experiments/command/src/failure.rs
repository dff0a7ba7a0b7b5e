//! Exit codes, and errors that carry an exit code.

use plimsoll::model::Claim;
use plimsoll_lab::row::Failures;
use std::fmt;

pub const ANSWERED: u8 = 0;
/// Proved infeasible, or verification failed.
pub const REFUTED: u8 = 1;
pub const BAD_INPUT: u8 = 2;
/// No solution was found within the limits.
pub const NOTHING_FOUND: u8 = 3;
/// A defect: an algorithm failed, or the checker rejected its answer.
pub const INTERNAL: u8 = 4;

/// Valid, but the claim rests on a search, which only a proof or a rerun can confirm.
pub const NOT_CHECKABLE: u8 = 5;

pub const EXIT_CODES: &str = "Exit codes: 0 success, 1 proved infeasible or verification failed, \
    2 bad input or usage, 3 nothing found within the limits, 4 internal error, \
    5 the bound rests on a search that `verify` cannot check";

/// The exit codes of `bench`, `sweep` and `merge`, which run many algorithms.
pub const RUNS_CODES: &str = "Exit codes: 0 success, 1 the checker rejected an answer, 2 bad input or usage, \
    3 all runs of an external program failed or a sweep was interrupted, \
    4 all runs of a built-in algorithm failed, or internal error";

/// The environment variables and exit codes of `reproduce`.
pub const REPRODUCE_CODES: &str = "PLIMSOLL_CORPORA is the folder of real models and instances, and \
    PLIMSOLL_MINIMALLOC is the MiniMalloc binary. Rows that need a variable that is not set are skipped and listed.\n\n\
    Exit codes: 0 every row is as expected, 1 a row is not as expected, 2 bad input or usage, \
    3 nothing found within the limits, 4 internal error";

/// Returns the exit code of one run.
pub fn code(claim: Claim) -> u8 {
    match claim {
        Claim::Optimal | Claim::Feasible => ANSWERED,
        Claim::Infeasible => REFUTED,
        Claim::Unknown => NOTHING_FOUND,
    }
}

/// Returns the exit code for a set of runs. It is [`INTERNAL`] if all runs of a built-in algorithm failed.
/// Otherwise, it is [`REFUTED`] if the caller found a rejected answer (`refused`), or if the checker
/// rejected the answers of all runs of an algorithm. Otherwise, it is [`NOTHING_FOUND`] if all runs of an
/// external program failed or were refused. Otherwise, it is [`ANSWERED`].
pub fn code_of_runs(failures: &[Failures], refused: bool) -> u8 {
    let broken = |one: &Failures| one.failed == one.runs && !one.is_external();
    let wrong = |one: &Failures| one.refused == one.runs;
    if failures.iter().any(broken) {
        INTERNAL
    } else if refused || failures.iter().any(wrong) {
        REFUTED
    } else if failures.iter().any(Failures::is_total) {
        NOTHING_FOUND
    } else {
        ANSWERED
    }
}

/// An error that ends the command without an answer.
#[derive(Debug)]
pub struct Failure {
    pub code: u8,
    /// One line for standard error.
    pub message: String,
}

impl Failure {
    pub fn input(message: impl fmt::Display) -> Self {
        Self { code: BAD_INPUT, message: message.to_string() }
    }

    /// Puts the file name in front of the message, unless the message already contains it.
    #[must_use]
    pub fn about(self, path: &std::path::Path) -> Self {
        let path = path.display().to_string();
        let is_named = self.message.contains(&path);
        Self { message: if is_named { self.message } else { format!("{path}: {}", self.message) }, ..self }
    }

    pub fn internal(message: impl fmt::Display) -> Self {
        Self { code: INTERNAL, message: message.to_string() }
    }
}

/// The error of `bench` and `sweep` if they cannot read any input.
pub fn nothing_read() -> Failure {
    Failure::input("none of the instances and graphs could be read")
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
            _ => Self::internal(error),
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
            _ => Self::internal(error),
        }
    }
}

impl From<plimsoll::datasets::dsa::DsaError> for Failure {
    fn from(error: plimsoll::datasets::dsa::DsaError) -> Self {
        Self::input(error)
    }
}

//! Refutes a capacity by clause learning and keeps the derivation.

use super::log::Log;
use super::{Engine, LearnEnd, LearnRules, Problem};
use crate::offsets::search::valley::Reduced;
use plimsoll_model::{Budget, Bytes, Instance, Stop};
use std::io::{self, Write};

/// The reason why there is no proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum NoProof {
    #[error("a bound of 0 bytes needs no proof")]
    Nothing,
    #[error("clause learning would need too many variables or clauses for {buffers} buffers")]
    TooLarge { buffers: usize },
    /// The budget ran out.
    #[error("the search for a proof stopped before it proved the bound")]
    Stopped(Stop),
    /// The peak of a layout is below the bound, so the bound is wrong.
    #[error("a layout with a peak of {peak} bytes refutes the bound of {bound} bytes")]
    Refuted { peak: Bytes, bound: Bytes },
    /// The search for a proof found that some order has a peak below the bound.
    #[error("some order has a peak below the bound of {0} bytes")]
    Wrong(Bytes),
    /// The proof exceeds a limit of the checker, so nothing confirms it.
    #[error("the proof exceeds a limit of the checker: {0}")]
    TooComplex(String),
    /// The check of the proof ended before its verdict, so nothing confirms the proof.
    #[error("the check of the proof stopped before its end ({0})")]
    Unchecked(Stop),
    /// The search proved the bound, but kept no derivation. This is a defect of the search.
    #[error("the search proved the bound without a log of its derivation")]
    Unlogged,
    #[error("proofs do not support bounds by {0}")]
    Unsupported(String),
}

/// The derivation of a contradiction.
#[derive(Clone, Debug)]
pub(crate) struct Derivation {
    problem: Problem,
    log: Log,
    /// Per buffer of the derivation: its position in the instance.
    pub origin: Vec<u32>,
}

impl Derivation {
    /// Writes the statements of the derivation.
    pub fn write(&self, file: &mut dyn Write) -> io::Result<()> {
        self.log.write(&self.problem, file)
    }
}

/// Derives that no layout of an instance without empty buffers has a peak below `bound` bytes.
///
/// # Errors
/// [`NoProof`] if the instance is too large, the budget runs out, or there is such a layout.
pub(crate) fn derive(
    instance: &Instance,
    bound: Bytes,
    rules: LearnRules,
    budget: &mut Budget,
) -> Result<Derivation, NoProof> {
    let grain = instance.grain().get();
    let narrow = Reduced::of(instance).and_then(|reduced| Some((Problem::of(&reduced)?, reduced.origin)));
    let mut watch = budget.without_node_limit();
    let general =
        || Some((Problem::general(instance, grain, &mut watch)?, (0..instance.len() as u32).collect()));
    let found = narrow.or_else(general).ok_or(NoProof::TooLarge { buffers: instance.len() });
    if let Some(stop) = watch.stopped() {
        return Err(NoProof::Stopped(stop));
    }
    let (problem, origin) = found?;
    let capacity = (bound.get() - 1) / grain;
    let mut engine = Engine::logged(&problem, capacity as i64, rules);
    match engine.run(budget) {
        LearnEnd::Impossible => {}
        LearnEnd::Fits { peak, .. } => {
            return Err(NoProof::Refuted { peak: Bytes::new(peak as u64 * grain), bound });
        }
        LearnEnd::Stopped(stop) => return Err(NoProof::Stopped(stop)),
    }
    let log = engine.into_log().ok_or(NoProof::Unlogged)?;
    Ok(Derivation { problem, log, origin })
}

//! The judge of given answers to an instance, which `verify`, `compare` and `audit` share.

use super::best::Best;
use super::layouts::Compared;
use crate::failure::Failure;
use plimsoll::Listed;
use plimsoll::model::{Bytes, Instance, InstanceProblem, Problem, Setup, Violation};

use plimsoll::run::Limits;

/// Checks answers, and compares them with the best bound. `reported` is the peak that a planner reports
/// instead of the peaks of its answers. If a peak exceeds the bounds that need no search, `search` requests a
/// search for the optimum. `proved` is the bound of a checked proof. Fails if the search fails, or if a valid
/// answer refutes the proved bound.
pub fn judge<P>(
    instance: &Instance,
    answers: &[&P::Solution],
    reported: Option<Bytes>,
    search: Option<(Setup, Limits)>,
    proved: Option<Bytes>,
) -> Result<(Best<P>, Vec<Compared>), Failure>
where
    P: InstanceProblem + Listed + Problem<Violation = Violation>,
{
    let peaks: Vec<Bytes> = answers.iter().map(|answer| P::value(instance, answer)).collect();
    let mut best =
        Best::<P>::of(instance, reported.as_ref().map_or(&peaks[..], std::slice::from_ref), search)?;
    if let Some(proved) = proved {
        let refutes = |(answer, peak): &(&&P::Solution, &Bytes)| {
            **peak < proved && P::check(instance, answer).is_empty()
        };
        if let Some((_, peak)) = answers.iter().zip(&peaks).find(refutes) {
            let message = format!("a layout of peak {peak} refutes the proved bound {proved}");
            return Err(Failure::internal(message));
        }
        best.raise(proved);
    }
    let compared = answers.iter().map(|answer| Compared::of::<P>(instance, answer, &best)).collect();
    Ok((best, compared))
}

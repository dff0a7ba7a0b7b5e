//! Proofs of the bounds of runs, checked by the crate `plimsoll_proof`.
//!
//! A witness that can be recomputed, such as the load, certifies its bound. A bound from a completed search
//! is proved again, and the independent checker checks the proof.

use crate::row::{Certified, Evidence, Row, Status};
use plimsoll::graphs::OrderedRegion;
use plimsoll::posed::Provable;
use plimsoll::run::Limits;
use plimsoll_model::csv::write_instance;
use plimsoll_model::graph::Graph;
use plimsoll_model::orders::OrderProblem;
use plimsoll_model::{
    BoundError, Bytes, Claim, Instance, LowerBound, Offsets, Orders, Problem, RegionId, Stop,
};
use plimsoll_proof::{CheckError, OrderProved, Proved, Reason, check, check_orders};
use plimsoll_solvers::offsets::proof::{NoProof, Proof};
use plimsoll_solvers::orders::{OrderProof, write_problem};
use std::cell::RefCell;
use std::time::Instant;

/// A proof that the checker has accepted.
#[derive(Clone, Debug)]
pub struct Checked<P> {
    /// The text of the proof.
    pub text: Vec<u8>,
    /// What the checker confirmed, and the size of the proof.
    pub proved: P,
    /// Time to derive the proof and to write its text, in seconds.
    pub seconds: f64,
    /// Time of the checker in seconds, including the time to read the input.
    pub check_seconds: f64,
}

/// Converts an instance for the checker, which has its own reader. Runs in linear time.
///
/// # Errors
/// A message if the instance cannot be written, or if the checker cannot read the result.
pub fn instance_of_checker(instance: &Instance) -> Result<plimsoll_proof::Instance, String> {
    let mut csv = Vec::new();
    write_instance(instance, &mut csv).map_err(|error| error.to_string())?;
    plimsoll_proof::Instance::from_csv(&String::from_utf8_lossy(&csv)).map_err(|error| error.to_string())
}

/// Runs the checker within the time of the limits, or until a stop is requested. Returns the reason to stop
/// if the checker ended early.
pub fn within<T>(limits: Limits, check: impl FnOnce(&dyn Fn() -> bool) -> T) -> (T, Option<Stop>) {
    let watch = RefCell::new(limits.watch());
    let verdict = check(&|| watch.borrow_mut().check().is_some());
    (verdict, watch.into_inner().stopped())
}

/// Proves a bound within limits, and checks the proof. The target of the limits is ignored. Takes the time of
/// [`Proof::of`] and of the checker. If the limits have a deadline, the proof may use half of the time until
/// then, and the checker uses the rest. Otherwise, the time limit applies to each of them.
///
/// # Errors
/// A message if the checker rejects the proof, which is an internal error. [`NoProof`] if no proof is found
/// within the limits, if the proof exceeds a limit of the checker, or if a layout refutes the bound.
pub fn prove(
    instance: &Instance,
    bound: &LowerBound,
    limits: Limits,
) -> Result<Result<Checked<Proved>, NoProof>, String> {
    let start = Instant::now();
    let own = Limits { target: None, ..limits.share(2) };
    let proof = match Proof::of(instance, bound, &mut own.budget()) {
        Ok(proof) => proof,
        Err(reason) => return Ok(Err(reason)),
    };
    let mut text = Vec::new();
    proof.write(&mut text).map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let instance = instance_of_checker(instance)?;
    let (verdict, stop) = within(limits, |stop| check(&instance, text.as_slice(), stop));
    let proved = match accepted(verdict, stop)? {
        Ok(proved) => proved,
        Err(reason) => return Ok(Err(reason)),
    };
    if Bytes::new(proved.bound) != bound.value {
        return Err(format!("the proof is for the bound {}, not {}", proved.bound, bound.value));
    }
    Ok(Ok(Checked { text, proved, seconds, check_seconds: start.elapsed().as_secs_f64() }))
}

/// Returns what the checker confirmed, or [`NoProof`] if the checker was stopped or the proof exceeds a limit
/// of the checker.
///
/// # Errors
/// A message if the checker rejected the proof for another reason, which is an internal error.
fn accepted<P>(verdict: Result<P, CheckError>, stop: Option<Stop>) -> Result<Result<P, NoProof>, String> {
    match verdict {
        Ok(proved) => Ok(Ok(proved)),
        Err(error) if error.reason == Reason::Stopped => {
            Ok(Err(NoProof::Unchecked(stop.unwrap_or(Stop::Interrupted))))
        }
        Err(error) if error.reason.is_limit() => Ok(Err(NoProof::TooComplex(error.to_string()))),
        Err(error) => Err(format!("the checker rejected the proof: {error}")),
    }
}

/// Returns the name of a region in proofs and in the output of `order`.
pub fn region_key(graph: &Graph, region: RegionId) -> String {
    format!("{region}:{}", graph.region(region).name)
}

/// Converts an order problem for the checker. Runs in linear time.
///
/// # Errors
/// A message if the checker cannot read the written problem, which is an internal error.
pub fn problem_of_checker(problem: &OrderProblem) -> Result<plimsoll_proof::OrderProblem, String> {
    let mut text = Vec::new();
    write_problem(problem, &mut text).map_err(|error| error.to_string())?;
    plimsoll_proof::OrderProblem::from_text(&String::from_utf8_lossy(&text))
        .map_err(|error| error.to_string())
}

/// Proves the bounds of all regions within limits, and checks the proof, which lists innermost regions first.
/// The regions and the checker share the time. Takes the time of [`OrderProof::of`] for every region, and of
/// the checker.
///
/// In the enclosing region, the block of a region is as large as the peak of the region. Therefore, every
/// region except the body must have a bound that equals its peak.
///
/// # Errors
/// A message if the checker rejects the proof, which is an internal error. [`NoProof`] if no proof is found
/// within the limits, if the proof exceeds a limit of the checker, or if the bound of an inner region is
/// below its peak.
pub fn prove_orders(
    graph: &Graph,
    regions: &[OrderedRegion],
    limits: Limits,
) -> Result<Result<Checked<Vec<OrderProved>>, NoProof>, String> {
    let start = Instant::now();
    let limits = Limits { target: None, ..limits }.from_now();
    let mut text = b"plimsoll-proof 1 orders\n".to_vec();
    for (at, one) in regions.iter().enumerate() {
        let (problem, bound) = (&one.storages.problem, &one.outcome.lower_bound);
        if at + 1 < regions.len() && bound.value != one.peak {
            let peak = format!(
                "the peak of region '{}', which is not proved optimal",
                graph.region_called(one.region)
            );
            return Ok(Err(NoProof::Unsupported(peak)));
        }
        // A bound of 0 bytes on the peak of an inner region needs no proof.
        if bound.value == Bytes::ZERO && at + 1 < regions.len() {
            continue;
        }
        // The checker gets the last share.
        let mut budget = limits.share(regions.len() - at + 1).budget();
        let proof = match OrderProof::of(problem, bound, &one.order, &mut budget) {
            Ok(proof) => proof,
            Err(reason) => return Ok(Err(reason)),
        };
        proof.write(&region_key(graph, one.region), problem, &mut text).map_err(|error| error.to_string())?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let (verdict, stop) = within(limits, |stop| check_orders(text.as_slice(), stop));
    let checked = |proved| Checked { text, proved, seconds, check_seconds: start.elapsed().as_secs_f64() };
    Ok(accepted(verdict, stop)?.map(checked))
}

/// The length of a proof in bytes, and the seconds to derive and to check it.
type Figures = (usize, f64, f64);

/// Proves bounds within limits, and checks the proof.
///
/// # Errors
/// See [`prove`] and [`prove_orders`].
fn figures(bounds: Provable<'_>, limits: Limits) -> Result<Result<Figures, NoProof>, String> {
    fn of<P>(Checked { text, seconds, check_seconds, .. }: Checked<P>) -> Figures {
        (text.len(), seconds, check_seconds)
    }
    Ok(match bounds {
        Provable::Layouts(instance, bound) => prove(instance, bound, limits)?.map(of),
        Provable::Orders(graph, regions) => prove_orders(graph, regions, limits)?.map(of),
    })
}

/// Checks the witnesses of bounds.
fn confirm(bounds: Provable<'_>) -> Result<(), BoundError> {
    match bounds {
        Provable::Layouts(instance, bound) => Offsets::confirm(instance, bound),
        Provable::Orders(_, regions) => regions
            .iter()
            .try_for_each(|one| Orders::confirm(&one.storages.problem, &one.outcome.lower_bound)),
    }
}

/// Certifies the bound of a completed run, and stores in the row whether a witness or a proof certifies
/// it. If no proof is found within the limits, the column `error` contains the reason. If the bound is
/// refuted, the status becomes `refused`.
#[must_use]
pub fn certified(row: Row, bounds: Provable<'_>, limits: Limits) -> Row {
    let what = match row.claim {
        Some(Claim::Optimal) => Certified::Optimal,
        Some(Claim::Infeasible) => Certified::Infeasible,
        _ => Certified::Bound,
    };
    let by = |row: Row, how| Row { certified: Some(what), certified_by: Some(how), ..row };
    match confirm(bounds) {
        Ok(()) => return by(row, Evidence::Witness),
        Err(BoundError::NotCheckable(_)) => {}
        Err(error) => return row.without(Status::Refused, &error),
    }
    match figures(bounds, limits) {
        Err(why) => row.without(Status::Failed, &why),
        Ok(Err(why @ (NoProof::Refuted { .. } | NoProof::Wrong(_)))) => row.without(Status::Refused, &why),
        Ok(Err(why)) => {
            let mut reasons = vec![row.error.clone(), format!("not certified: {why}")];
            reasons.retain(|reason| !reason.is_empty());
            Row { error: reasons.join("; "), ..row }
        }
        Ok(Ok((bytes, seconds, check_seconds))) => Row {
            proof_bytes: Some(bytes as u64),
            proof_seconds: Some(seconds),
            check_seconds: Some(check_seconds),
            ..by(row, Evidence::Proof)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll::arithmetic::Arithmetic;
    use plimsoll_datasets::{AboveLoadParams, hard_above_load};
    use plimsoll_model::{Witness, load};

    fn done(claim: Claim) -> Row {
        Row { status: Status::Done, claim: Some(claim), ..Row::default() }
    }

    fn searched(value: Bytes) -> LowerBound {
        LowerBound::new(value, Witness::Search { solver: "ilp".to_owned() })
    }

    #[test]
    fn proofs_beyond_a_limit_of_the_checker_are_not_rejected() {
        let verdict = |reason| accepted::<()>(Err(CheckError { line: 3, reason }), Some(Stop::TimeLimit));
        let reason = verdict(Reason::TooManyLoose(6)).unwrap().unwrap_err();
        let message = "the proof exceeds a limit of the checker: line 3: more than 6 buffers follow '|'";
        assert_eq!(reason.to_string(), message);
        let reason = verdict(Reason::Stopped).unwrap().unwrap_err();
        assert_eq!(reason, NoProof::Unchecked(Stop::TimeLimit));
        assert!(verdict(Reason::NoClause(1)).is_err());
    }

    #[test]
    fn witnesses_and_proofs_certify_bounds() {
        let instance = hard_above_load(AboveLoadParams::with_buffers(24), 0).unwrap().instance;
        let (least, step) = load(&instance);
        let own = certified(
            done(Claim::Feasible),
            Provable::Layouts(&instance, &LowerBound::new(least, Witness::Load { step })),
            Limits::default(),
        );
        assert_eq!(
            (own.certified, own.certified_by, own.proof_bytes),
            (Some(Certified::Bound), Some(Evidence::Witness), None)
        );
        // A proof confirms the claim of a floating-point search.
        let floating = Row { arithmetic: Some(Arithmetic::FloatingPoint), ..done(Claim::Optimal) };
        assert_eq!(floating.arithmetic(), Arithmetic::FloatingPoint);
        let own = certified(floating, Provable::Layouts(&instance, &searched(least)), Limits::default());
        assert_eq!((own.certified, own.certified_by), (Some(Certified::Optimal), Some(Evidence::Proof)));
        assert_eq!(own.arithmetic(), Arithmetic::Exact);
        assert!(own.proof_bytes > Some(0) && own.proof_seconds.is_some() && own.check_seconds.is_some());
        let none = Limits { nodes: Some(0), ..Limits::default() };
        let own = certified(
            done(Claim::Infeasible),
            Provable::Layouts(&instance, &searched(Bytes::new(least.get() + 1))),
            none,
        );
        assert_eq!((own.status, own.certified), (Status::Done, None), "{own:?}");
        assert!(own.error.starts_with("not certified: "), "{}", own.error);
        let own = certified(
            done(Claim::Optimal),
            Provable::Layouts(&instance, &searched(instance.ceiling())),
            Limits::default(),
        );
        assert_eq!((own.status, own.certified), (Status::Refused, None));
    }
}

//! Brute force over all choices of tiers.

use super::known::no_plan;
use crate::offsets::BruteForce;
use plimsoll_model::tiers::{
    Addresses, TierPlan, TierProblem, TierWitness, Tiers, check_tiers, fitting_bound,
};
use plimsoll_model::timelines::Time;
use plimsoll_model::{
    Budget, Bytes, InstanceBuilder, LowerBound, Observer, Outcome, Silent, SolveError, Solver, Stats, Stop,
    TierId,
};

const NAME: &str = "brute-force";

/// Maximum numbers of tensors and of choices in total; larger problems are rejected.
const MOST_TENSORS: usize = 12;
const MOST_CHOICES: u64 = 1 << 20;

/// Brute force over every choice of tiers. If addresses are required, it also tries every placement order in
/// each tier, and fails if a tier contains more than nine buffers. Its name in the registry is `brute-force`.
#[derive(Clone, Copy, Debug, Default)]
pub struct TierBrute;

/// Returns the plan for a choice of tiers, or `None` if the choice is infeasible.
fn plan(problem: &TierProblem, tiers: &[TierId]) -> Result<Option<TierPlan>, SolveError> {
    let counted = problem.clone().with_addresses(Addresses::Counted);
    let mut plan = TierPlan { tiers: tiers.to_vec(), offsets: None };
    if !check_tiers(&counted, &plan).is_empty() {
        return Ok(None);
    }
    if problem.addresses() == Addresses::Counted {
        return Ok(Some(plan));
    }
    let mut offsets = vec![Bytes::ZERO; tiers.len()];
    for tier in problem.tiers() {
        let space = problem.space(tier);
        let here: Vec<usize> = (0..tiers.len())
            .filter(|&at| tiers[at] == tier && problem.size(at, tier) > Bytes::ZERO)
            .collect();
        let buffers = here.iter().map(|&at| problem.buffer(at, tier));
        let instance = InstanceBuilder::new("tier").buffers(buffers).build();
        let instance =
            instance.map_err(|error| SolveError::Internal { solver: NAME, reason: error.to_string() })?;
        let found = BruteForce.solve(&instance, &mut Budget::unlimited(), &mut Silent)?;
        match found.solution {
            Some(layout) if found.value <= Some(space.capacity) => {
                for (&at, &offset) in here.iter().zip(layout.offsets()) {
                    offsets[at] = offset;
                }
            }
            _ => return Ok(None),
        }
    }
    plan.offsets = Some(offsets);
    Ok(Some(plan))
}

/// Returns the tiers allowed for each tensor, and the total number of choices.
fn choices(problem: &TierProblem) -> Result<(Vec<Vec<TierId>>, u64), SolveError> {
    let options: Vec<Vec<TierId>> = (0..problem.tensors().len()).map(|at| problem.options(at)).collect();
    let choices = options.iter().try_fold(1u64, |product, one| product.checked_mul(one.len() as u64));
    let few = choices.filter(|&choices| options.len() <= MOST_TENSORS && choices <= MOST_CHOICES);
    let Some(choices) = few else {
        let reason = format!(
            "{} tensors or their choices of tiers exceed the limits of {MOST_TENSORS} tensors and {MOST_CHOICES} choices ({})",
            options.len(),
            problem.name()
        );
        return Err(SolveError::Unsupported { solver: NAME, reason });
    };
    Ok((options, choices))
}

impl Solver<Tiers> for TierBrute {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, problem: &TierProblem) -> Result<(), SolveError> {
        choices(problem).map(drop)
    }

    fn solve(
        &self,
        problem: &TierProblem,
        budget: &mut Budget,
        _: &mut dyn Observer<Tiers>,
    ) -> Result<Outcome<Tiers>, SolveError> {
        let (options, choices) = choices(problem)?;
        let mut best: Option<(Time, TierPlan)> = None;
        let mut stop = None;
        for mut number in 0..choices {
            stop = budget.tick();
            if stop.is_some() {
                break;
            }
            let tiers: Vec<TierId> = options
                .iter()
                .map(|options| {
                    let choice = options[(number % options.len() as u64) as usize];
                    number /= options.len() as u64;
                    choice
                })
                .collect();
            let time: Time = tiers
                .iter()
                .enumerate()
                .map(|(at, &tier)| problem.cost(at, tier).map_or(Time::ZERO, |cost| cost.time))
                .sum();
            if best.as_ref().is_none_or(|(least, _)| time < *least)
                && let Some(plan) = plan(problem, &tiers)?
            {
                best = Some((time, plan));
            }
        }
        let stats = Stats::of_nodes(budget.nodes());
        let mut bound = fitting_bound(problem);
        if let (None, Some((value, _))) = (stop, &best)
            && *value > bound.value
        {
            bound = LowerBound::new(*value, TierWitness::Search { solver: NAME.to_owned() });
        }
        if stop.is_none() && best.is_none() {
            bound = no_plan(problem, NAME);
        }
        let plan = best.map(|(_, plan)| plan);
        let stop = stop.unwrap_or(Stop::Completed);
        Ok(Outcome::of(problem, plan, bound, stop, stats))
    }
}

//! Memory tiers as an integer program.
//!
//! ```text
//! minimise  sum over tensors i, tiers t of  e_it x_it          e_it: extra cost of i in t over its cheapest tier
//! sum over t of x_it = 1                                       one tier per tensor
//! sum over i live at s of  size_it x_it <= capacity_t          for every step s, unless implied
//! sum over i in N of x_it <= |N| - 1                           if N has no addresses in t (added lazily)
//! ```
//!
//! Costs are rounded down to whole units. Every plan is then feasible for the rounded problem at no higher
//! cost, and the optimum of the rounded problem is an integer. If the unit is the granularity of all costs,
//! rounding changes nothing. Only the tiers of a solution are used; its times and bytes are recomputed.

use super::case::Case;
use super::known::{Known, Taken};
use super::search::Cut;
use crate::highs::{End, Limits, Scale, believed, solve};
use good_lp::solvers::highs::{HighsProblem, highs};
use good_lp::{Expression, ProblemVariables, SolverModel, Variable, variable};
use plimsoll_model::tiers::{Addresses, TierPlan, TierProblem, Tiers, check_tiers};
use plimsoll_model::{Budget, Observer, Outcome, Setup, SolveError, Solver, Stats, Stop, TierId};

const NAME: &str = "ilp";

/// Maximum number of variables; problems with more are rejected.
const MOST_VARIABLES: usize = 40_000;

/// Maximum number of cost units.
const MOST_UNITS: u64 = 1 << 22;

/// Maximum number of capacity units. Larger tiers are measured in coarser units, with sizes rounded down.
const MOST_SPACE: u64 = 1 << 20;

/// Maximum number of integer programs solved while cuts are added.
const ROUNDS: usize = 200;

/// The integer program for memory tiers, solved by `HiGHS`. Its name in the registry is `ilp`. One node is
/// one branch-and-bound node.
#[derive(Clone, Copy, Debug, Default)]
pub struct TierIlp {
    setup: Setup,
}

impl TierIlp {
    /// Creates the solver with the seed and thread count of `setup`.
    pub fn new(setup: Setup) -> Self {
        Self { setup }
    }
}

struct Formulation<'a> {
    case: &'a Case<'a>,
    /// Picoseconds per unit.
    unit: u64,
    /// Upper bound on the amount by which the cost of a plan exceeds that of the cheapest choices, in units.
    most: u64,
}

impl<'a> Formulation<'a> {
    fn new(case: &'a Case<'a>, value: u64) -> Self {
        let dearest: u64 = case.options.iter().filter_map(|options| Some(options.last()?.cost)).sum();
        let range = value.min(dearest) - case.base();
        let unit = case.grain() * (range / case.grain()).div_ceil(MOST_UNITS).max(1);
        Self { case, unit, most: (range / unit).max(1) }
    }

    fn excess(&self, at: usize, which: usize) -> u64 {
        let options = &self.case.options[at];
        (options[which].cost - options[0].cost) / self.unit
    }

    /// Builds the integer program. It is incomplete if the budget `watch` runs out.
    fn build(&self, cuts: &[Cut], watch: &mut Budget) -> HighsProblem {
        let mut variables = ProblemVariables::new();
        let chosen: Vec<Vec<Variable>> = self
            .case
            .options
            .iter()
            .map(|options| options.iter().map(|_| variables.add(variable().binary())).collect())
            .collect();
        let mut objective = Expression::from(0.0);
        for (at, own) in chosen.iter().enumerate() {
            for (which, &one) in own.iter().enumerate() {
                objective += self.excess(at, which) as f64 * one;
            }
        }
        let mut program = variables.minimise(objective).using(highs);
        for own in chosen.iter().filter(|own| !own.is_empty()) {
            program.add_constraint(own.iter().sum::<Expression>().eq(1.0));
        }
        for tier in self.case.problem.tiers() {
            self.capacities(tier, &chosen, &mut program, watch);
        }
        for cut in cuts {
            let own = cut.members.iter().filter_map(|&at| {
                let which = self.case.options[at].iter().position(|choice| choice.tier == cut.tier)?;
                Some(chosen[at][which])
            });
            let own: Vec<Variable> = own.collect();
            // A cut always holds if one of its members cannot be in the tier.
            if own.len() == cut.members.len() {
                program.add_constraint(own.iter().sum::<Expression>().leq(own.len() as f64 - 1.0));
            }
        }
        program
    }

    /// Adds the capacity constraints of a tier at those steps whose constraints imply all others.
    fn capacities(
        &self,
        tier: TierId,
        chosen: &[Vec<Variable>],
        program: &mut HighsProblem,
        watch: &mut Budget,
    ) {
        let problem = self.case.problem;
        let mut here = Vec::new();
        for (at, options) in self.case.options.iter().enumerate() {
            let choice = options.iter().position(|choice| choice.tier == tier && !choice.free);
            if let Some(which) = choice {
                let one = &problem.tensors()[at];
                here.push((one.lower, one.upper, options[which].size, chosen[at][which]));
            }
        }
        let capacity = problem.space(tier).capacity.get();
        let unit = problem.space(tier).alignment.get();
        let unit = unit * (capacity / unit).div_ceil(MOST_SPACE).max(1);
        for step in self.case.telling(tier) {
            if watch.tick().is_some() {
                return;
            }
            let live = here.iter().filter(|(lower, upper, ..)| (*lower..*upper).contains(&step));
            let load: Expression = live.map(|&(_, _, size, one)| (size / unit) as f64 * one).sum();
            program.add_constraint(load.leq((capacity / unit) as f64));
        }
    }

    fn read(&self, values: &[f64]) -> Option<Vec<TierId>> {
        let mut at = 0;
        let tiers = self.case.options.iter().map(|options| {
            let own = values.get(at..at + options.len())?;
            at += options.len();
            let largest = own.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
            Some(options[largest.0].tier)
        });
        tiers.collect()
    }
}

impl TierIlp {
    fn round(
        &self,
        case: &Case<'_>,
        known: &mut Known<'_>,
        budget: &mut Budget,
        stats: &mut Stats,
    ) -> Result<Round, SolveError> {
        let form = Formulation::new(case, known.value());
        let scale = Scale { most: form.most as i64, unit: 1.0 };
        let cuts = std::mem::take(&mut known.cuts);
        let answer = solve(NAME, self.setup, (Limits::of(budget), budget), scale, None, |watch| {
            form.build(&cuts, watch)
        });
        known.cuts = cuts;
        let answer = answer?;
        stats.nodes += answer.nodes;
        budget.spend(answer.nodes);
        if answer.end == End::Infeasible && known.value() < u64::MAX && known.cuts.is_empty() {
            // A plan exists, so HiGHS failed numerically.
            return Ok(Round::Over(Some(Stop::TimeLimit)));
        }
        if answer.end == End::Infeasible {
            known.searched(u64::MAX);
            return Ok(Round::Over(None));
        }
        if let Some(units) = believed(answer.bound, form.most as i64) {
            let proved = (units.max(0) as u64).saturating_mul(form.unit).saturating_add(case.base());
            known.searched(case.next_sum(proved));
        }
        let tiers = answer.values.as_deref().and_then(|values| form.read(values));
        let taken = tiers.filter(|tiers| fits(known.problem, tiers)).map(|tiers| known.take(tiers, budget));
        Ok(match answer.end {
            End::Stopped(why) => Round::Over(Some(why.unwrap_or(Stop::TimeLimit))),
            _ if matches!(taken, Some(Taken::Cut | Taken::Doubt)) => Round::Again,
            _ => Round::Over(None),
        })
    }
}

enum Round {
    Again,
    Over(Option<Stop>),
}

/// Returns true if the live bytes of every tier fit at every step, regardless of addresses. Because of
/// tolerances and coarse units, a solution of `HiGHS` may not fit.
fn fits(problem: &TierProblem, tiers: &[TierId]) -> bool {
    let counted = problem.clone().with_addresses(Addresses::Counted);
    check_tiers(&counted, &TierPlan { tiers: tiers.to_vec(), offsets: None }).is_empty()
}

impl Solver<Tiers> for TierIlp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(
        &self,
        problem: &TierProblem,
        budget: &mut Budget,
        observer: &mut dyn Observer<Tiers>,
    ) -> Result<Outcome<Tiers>, SolveError> {
        let mut known = Known::new(problem, NAME);
        known.report(observer);
        let mut stats = Stats::default();
        let mut stop = None;
        if problem.too_large().is_none() && !known.is_settled() {
            let case = Case::new(problem);
            let variables: usize = case.options.iter().map(Vec::len).sum();
            if variables > MOST_VARIABLES {
                let reason = format!(
                    "{variables} variables exceed the limit of {MOST_VARIABLES} ({})",
                    problem.name()
                );
                return Err(SolveError::Unsupported { solver: NAME, reason });
            }
            for _ in 0..ROUNDS {
                stop = budget.check();
                if stop.is_some() || known.is_settled() {
                    break;
                }
                match self.round(&case, &mut known, budget, &mut stats)? {
                    Round::Again => {}
                    Round::Over(why) => {
                        stop = why;
                        break;
                    }
                }
            }
            stats.count("cuts", known.cuts.len() as u64);
        }
        Ok(known.conclude(stop, stats))
    }
}

//! The incumbent plan and the bound of a run.

use super::pack::{Addressed, addressed};
use super::search::Cut;
use plimsoll_heuristics::tiers::{Fill, LocalSearch, by_saving, moves, plans};
use plimsoll_model::tiers::{Addresses, TierPlan, TierProblem, TierWitness, Tiers, fitting_bound};
use plimsoll_model::timelines::Time;
use plimsoll_model::{Bound, Budget, Claim, LowerBound, Observer, Outcome, Setup, Stats, Stop, TierId};

/// Result of offering a choice of tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Plan,
    /// The choice is infeasible and a cut was added.
    Cut,
    /// The feasibility of the choice is undecided. The added cut may exclude valid plans.
    Doubt,
}

pub(super) struct Known<'a> {
    pub problem: &'a TierProblem,
    pub solver: &'static str,
    pub best: Option<TierPlan>,
    pub bound: Bound<Tiers>,
    /// Sets of tensors, each with a tier that must not contain the whole set.
    pub cuts: Vec<Cut>,
    /// False once a cut may exclude valid plans. From then on, no search raises the bound.
    pub sound: bool,
    /// True if an exhaustive search found no plan.
    pub exhausted: bool,
}

impl<'a> Known<'a> {
    /// Starts from the best heuristic plan.
    pub fn new(problem: &'a TierProblem, solver: &'static str) -> Self {
        let best = plans(problem).into_iter().min_by_key(|plan| plan.time(problem));
        let bound = fitting_bound(problem);
        Self { problem, solver, best, bound, cuts: Vec::new(), sound: true, exhausted: false }
    }

    /// Improves the plan by local search, with at most a quarter of the moves that the standalone heuristic
    /// uses and at most a quarter of the remaining nodes.
    pub fn improve(&mut self, budget: &mut Budget) {
        if let Some(plan) = &self.best {
            let count = (moves(self.problem) / 4).min(budget.nodes_left().unwrap_or(u64::MAX) / 4);
            self.best = Some(LocalSearch::new(Setup::default()).improve(self.problem, plan, count, budget));
        }
    }

    /// Adopts the outcome of the same problem without addresses. A bound or a proof of infeasibility remains
    /// valid. A plan is adopted if addresses are found for it, and otherwise repaired if possible.
    pub fn relaxed(&mut self, found: Outcome<Tiers>, budget: &mut Budget) {
        if found.claim == Claim::Infeasible {
            self.exhausted = true;
            return;
        }
        let LowerBound { value, witness } = found.lower_bound;
        self.raise(value.get(), witness);
        let Some(plan) = found.solution else { return };
        let near = match addressed(self.problem, &plan.tiers, budget) {
            Addressed::Plan(plan) => Some(plan),
            Addressed::Cut(cut, proved) => {
                if proved {
                    self.cuts.push(cut);
                }
                repaired(self.problem, &plan.tiers)
            }
        };
        if let Some(plan) = near {
            self.offer(plan);
        }
    }

    /// Returns the time of the best plan, or `u64::MAX` if there is none.
    pub fn value(&self) -> u64 {
        self.best.as_ref().map_or(u64::MAX, |plan| plan.time(self.problem).get())
    }

    pub fn is_settled(&self) -> bool {
        self.value() <= self.bound.value.get()
    }

    /// Raises the bound to `value` or to the value of the best plan, whichever is lower. If the bound
    /// reaches the value of the best plan, that plan is optimal.
    pub fn raise(&mut self, value: u64, witness: TierWitness) {
        let value = value.min(self.value());
        if value > self.bound.value.get() && value < u64::MAX {
            self.bound = LowerBound::new(Time::new(value), witness);
        }
    }

    /// Raises the bound after a search has proved that every plan better than the best known one costs at
    /// least `value`.
    pub fn searched(&mut self, value: u64) {
        if !self.sound {
            return;
        }
        if self.best.is_none() && value == u64::MAX {
            self.exhausted = true;
        }
        self.raise(value, TierWitness::Search { solver: self.solver.to_owned() });
    }

    /// Offers a choice of tiers whose counted bytes fit. If addresses are required, the choice yields
    /// either a plan with addresses or a cut.
    pub fn take(&mut self, tiers: Vec<TierId>, budget: &mut Budget) -> Taken {
        if self.problem.addresses() == Addresses::Counted {
            self.offer(TierPlan { tiers, offsets: None });
            return Taken::Plan;
        }
        match addressed(self.problem, &tiers, budget) {
            Addressed::Plan(plan) => {
                self.offer(plan);
                Taken::Plan
            }
            Addressed::Cut(cut, proved) => {
                self.cuts.push(cut);
                self.sound &= proved;
                if let Some(plan) = repaired(self.problem, &tiers) {
                    self.offer(plan);
                }
                if proved { Taken::Cut } else { Taken::Doubt }
            }
        }
    }

    fn offer(&mut self, plan: TierPlan) {
        if plan.time(self.problem).get() < self.value() {
            self.best = Some(plan);
        }
    }

    pub fn report(&self, observer: &mut dyn Observer<Tiers>) {
        if let Some(best) = &self.best {
            observer.incumbent(best, best.time(self.problem));
        }
        observer.bound(&self.bound);
    }

    pub fn conclude(self, stop: Option<Stop>, stats: Stats) -> Outcome<Tiers> {
        let bound = if self.exhausted && self.best.is_none() {
            no_plan(self.problem, self.solver)
        } else {
            self.bound
        };
        Outcome::of(self.problem, self.best, bound, stop.unwrap_or(Stop::Completed), stats)
    }
}

/// Returns the bound that an exhaustive search proves if it finds no plan.
pub(super) fn no_plan(problem: &TierProblem, solver: &str) -> Bound<Tiers> {
    let mut bound = fitting_bound(problem);
    bound.raise(LowerBound::new(Time::MAX, TierWitness::Search { solver: solver.to_owned() }));
    bound
}

/// Returns a plan similar to `tiers`, a choice of tiers for which no addresses were found. Tensors that fit
/// stay in their tier. The remaining tensors move to any tier with space. Three orders of the tensors are
/// tried. Returns the plan with the lowest time, or `None` if no order yields a plan.
fn repaired(problem: &TierProblem, tiers: &[TierId]) -> Option<TierPlan> {
    let mut largest: Vec<usize> = (0..tiers.len()).collect();
    largest.sort_by_key(|&at| (std::cmp::Reverse(problem.size(at, tiers[at])), at));
    let mut longest: Vec<usize> = (0..tiers.len()).collect();
    longest.sort_by_key(|&at| {
        let one = &problem.tensors()[at];
        (std::cmp::Reverse((one.upper - one.lower, problem.size(at, tiers[at]))), at)
    });
    let orders = [by_saving(problem), largest, longest];
    let plan = |order: &Vec<usize>| {
        let mut fill = Fill::new(problem);
        let left: Vec<usize> = order.iter().copied().filter(|&at| !fill.put(at, tiers[at])).collect();
        left.into_iter().all(|at| fill.put_anywhere(at)).then(|| fill.plan()).flatten()
    };
    orders.iter().filter_map(plan).min_by_key(|plan| plan.time(problem))
}

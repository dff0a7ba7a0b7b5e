//! The best plan and the best bound, while they are improved.

use super::pack::{Addressed, addressed};
use super::search::Cut;
use plimsoll_heuristics::tiers::{Fill, LocalSearch, by_saving, moves, plans};
use plimsoll_model::tiers::{Addresses, TierPlan, TierProblem, TierWitness, Tiers, fitting_bound};
use plimsoll_model::timelines::Time;
use plimsoll_model::{Bound, Budget, Claim, LowerBound, Observer, Outcome, Setup, Stats, Stop, TierId};

/// What became of a choice of tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Plan,
    /// It is none, which is a cut now.
    Cut,
    /// It is not known to be one; the cut made of it may cut off plans.
    Doubt,
}

pub(super) struct Known<'a> {
    pub problem: &'a TierProblem,
    pub solver: &'static str,
    pub best: Option<TierPlan>,
    pub bound: Bound<Tiers>,
    /// What no plan does.
    pub cuts: Vec<Cut>,
    /// False once a cut may cut off plans: then a search proves nothing.
    pub sound: bool,
    /// True where a search left nothing out and found no plan.
    pub exhausted: bool,
}

impl<'a> Known<'a> {
    /// From the best of the heuristics.
    pub fn new(problem: &'a TierProblem, solver: &'static str) -> Self {
        let best = plans(problem).into_iter().min_by_key(|plan| plan.time(problem));
        let bound = fitting_bound(problem);
        Self { problem, solver, best, bound, cuts: Vec::new(), sound: true, exhausted: false }
    }

    /// Improves the plan by local search, a part of the moves it would take alone.
    pub fn improve(&mut self, budget: &mut Budget) {
        if let Some(plan) = &self.best {
            let count = (moves(self.problem) / 4).min(budget.nodes_left().unwrap_or(u64::MAX) / 4);
            self.best = Some(LocalSearch::new(Setup::default()).improve(self.problem, plan, count, budget));
        }
    }

    /// Takes over what is known of the same problem without addresses: its bound, and its plan where that finds addresses, or one near to
    /// it. What it leaves out fits even less here.
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

    /// The time of the best plan; the largest number where there is none.
    pub fn value(&self) -> u64 {
        self.best.as_ref().map_or(u64::MAX, |plan| plan.time(self.problem).get())
    }

    pub fn is_settled(&self) -> bool {
        self.value() <= self.bound.value.get()
    }

    /// Takes a higher bound over; one above a plan says that the plan is optimal.
    pub fn raise(&mut self, value: u64, witness: TierWitness) {
        let value = value.min(self.value());
        if value > self.bound.value.get() && value < u64::MAX {
            self.bound = LowerBound::new(Time::new(value), witness);
        }
    }

    /// What a search proves that left nothing below out.
    pub fn searched(&mut self, value: u64) {
        if !self.sound {
            return;
        }
        if self.best.is_none() && value == u64::MAX {
            self.exhausted = true;
        }
        self.raise(value, TierWitness::Search { solver: self.solver.to_owned() });
    }

    /// Takes a choice of tiers that fits by counted bytes: with addresses, where they are wanted, or as a cut.
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

/// The bound that a completed search proves where it found no plan.
pub(super) fn no_plan(problem: &TierProblem, solver: &str) -> Bound<Tiers> {
    let mut bound = fitting_bound(problem);
    bound.raise(LowerBound::new(Time::MAX, TierWitness::Search { solver: solver.to_owned() }));
    bound
}

/// A plan near to a choice of tiers that finds no addresses: what fits stays, the rest goes wherever it does.
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

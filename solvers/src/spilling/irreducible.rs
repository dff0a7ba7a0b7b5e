//! Decides whether buffers fit within a capacity. If not, finds an irreducible set of buffers that does not
//! fit.
//!
//! An infeasible set has no layout within the capacity. It is *irreducible* if removing any one of its
//! buffers makes it feasible (van Loon 1981; Chinneck, Feasibility and Infeasibility in Optimization, 2008).
//! A deletion filter finds such a set: it removes chunks of decreasing size from an infeasible set while the
//! set remains infeasible. The initial set comes from the proof of infeasibility, for example the largest
//! buffers at an overloaded step or the live buffers of a window. The filter needs O(k log n + k) decisions
//! for a set of k out of n buffers, if no decision reaches its limits.

use crate::offsets::Exact;
use plimsoll_heuristics::spilling::quick_layout;
use plimsoll_model::{
    Budget, BufferId, Bytes, Instance, Interval, Layout, LowerBound, Offsets, Problem, Reason, Reduced,
    Setup, Silent, SolveError, Solver, Stop, Witness,
};

/// The answer to the question whether buffers fit within the capacity.
#[derive(Clone, Debug)]
pub enum Fits {
    /// The buffers fit, with this layout.
    Layout(Layout),
    /// The buffers do not fit, as this bound proves.
    Never(LowerBound),
    /// The question is undecided, with the termination reason of the search.
    Unknown(Stop),
}

/// Buffers that together do not fit within the capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Irreducible {
    /// The buffers of the set, in ascending order.
    pub buffers: Vec<BufferId>,
    /// A lower bound on their peak, above the capacity. The witness refers to buffers by their ids in the
    /// instance.
    pub bound: LowerBound,
    /// Members for which a limit was reached before it was decided whether the other members fit together.
    /// The list is empty if the set is proved irreducible.
    pub doubtful: Vec<BufferId>,
}

/// Decides whether all buffers fit within the capacity of the instance. Without a capacity, they fit unless
/// their fixed offsets contradict each other.
///
/// # Errors
/// The same errors as the solver `exact`.
pub fn fits(instance: &Instance, setup: Setup, budget: &mut Budget) -> Result<Fits, SolveError> {
    let (part, kept) = match Offsets::reduced(instance) {
        Reduced::Whole => return sized_fit(instance, setup, budget),
        Reduced::Infeasible(reason) => return Ok(Fits::Never(reason)),
        Reduced::Part { input, kept } => (input, kept),
    };
    Ok(match sized_fit(&part, setup, budget)? {
        Fits::Layout(layout) => Fits::Layout(Offsets::extended(instance, &kept, layout)),
        Fits::Never(LowerBound { value, witness }) => {
            Fits::Never(LowerBound::new(value, witness.of_whole(&kept)))
        }
        unknown @ Fits::Unknown(_) => unknown,
    })
}

/// Does the same as [`fits`] for an instance without empty buffers and with consistent fixed offsets.
fn sized_fit(instance: &Instance, setup: Setup, budget: &mut Budget) -> Result<Fits, SolveError> {
    let Some(capacity) = instance.capacity() else {
        return Ok(Fits::Layout(Layout::new(vec![Bytes::ZERO; instance.len()])));
    };
    match quick_layout(instance, budget) {
        Ok(layout) if layout.peak(instance) <= capacity => return Ok(Fits::Layout(layout)),
        Err(stop) => return Ok(Fits::Unknown(stop)),
        Ok(_) => {}
    }
    let mut part = budget.part(None, None).with_target(capacity);
    let outcome = Exact::new(setup).solve(instance, &mut part, &mut Silent)?;
    budget.spend(part.nodes());
    let within = outcome.value.is_some_and(|value| value <= capacity);
    Ok(match outcome.solution.filter(|_| within) {
        Some(layout) => Fits::Layout(layout),
        None if outcome.lower_bound.value > capacity => Fits::Never(outcome.lower_bound),
        None => Fits::Unknown(outcome.stop),
    })
}

/// Takes a set of buffers that does not fit, and shrinks it until no buffer can be removed. `kept` lists the
/// buffers of the set by their ids in `instance`. `reason` proves that they do not fit and refers to them by
/// position in `kept`. Each decision is limited to `patience` nodes.
///
/// # Errors
/// The same errors as the solver `exact`.
pub fn irreducible(
    instance: &Instance,
    kept: &[BufferId],
    reason: &LowerBound,
    patience: Option<u64>,
    setup: Setup,
    budget: &mut Budget,
) -> Result<Irreducible, SolveError> {
    let mut reduction = Reduction {
        instance,
        setup,
        set: kept.to_vec(),
        bound: renamed(reason.clone(), |at| kept[at]),
        patience,
        needed: vec![false; instance.len()],
        doubtful: vec![false; instance.len()],
    };
    reduction.begin(budget)?;
    let mut chunk = reduction.set.len().div_ceil(2);
    while chunk > 0 {
        reduction.delete(chunk, budget)?;
        chunk = if chunk == 1 { 0 } else { chunk.div_ceil(2) };
    }
    if reduction.doubtful.contains(&true) {
        // The set may have shrunk since its members were tested.
        reduction.delete(1, budget)?;
    }
    let Reduction { mut set, bound, doubtful, .. } = reduction;
    set.sort_unstable();
    let doubtful = set.iter().copied().filter(|id| doubtful[id.index()]).collect();
    Ok(Irreducible { buffers: set, bound, doubtful })
}

/// An infeasible set that shrinks. The smallest buffers are removed first because a few large buffers are
/// easier to inspect than many small ones.
struct Reduction<'a> {
    instance: &'a Instance,
    setup: Setup,
    set: Vec<BufferId>,
    /// The proof that the set does not fit. It refers to buffers by their ids in the instance.
    bound: LowerBound,
    patience: Option<u64>,
    /// Per buffer: whether the others are proved to fit without it.
    needed: Vec<bool>,
    /// Per buffer: true if a limit was reached before it was decided whether the others fit without it.
    doubtful: Vec<bool>,
}

impl Reduction<'_> {
    /// Removes the buffers that the proof does not need, if the remaining set is also proved infeasible.
    fn begin(&mut self, budget: &mut Budget) -> Result<(), SolveError> {
        let capacity = self.instance.capacity().unwrap_or(Bytes::ZERO).get();
        let instance = self.instance;
        let mut named: Vec<BufferId> = match &self.bound.witness {
            Witness::Load { step } => {
                let live = |id: &&BufferId| instance.buffer(**id).lifespan().contains(*step);
                self.set.iter().filter(live).copied().collect()
            }
            Witness::Clique { buffers }
            | Witness::AlignedClique { buffers, .. }
            | Witness::Contradiction { buffers } => buffers.clone(),
            Witness::Fixed { buffer } => vec![*buffer],
            Witness::Window { lower, upper, .. } => {
                let window = Interval { lower: *lower, upper: *upper };
                let meets = |id: &&BufferId| {
                    self.instance
                        .buffer(**id)
                        .lifespan()
                        .intervals()
                        .iter()
                        .any(|part| part.intersects(window))
                };
                self.set.iter().filter(meets).copied().collect()
            }
            _ => self.set.clone(),
        };
        let size = |id: BufferId| instance.buffer(id).size().get();
        named.sort_by_key(|&id| (size(id), std::cmp::Reverse(id)));
        if matches!(self.bound.witness, Witness::Load { .. } | Witness::Clique { .. }) {
            // The buffers conflict with each other, so they need their total size. The largest buffers are
            // kept, just enough of them to exceed the capacity.
            let (mut sum, mut from) = (0u128, named.len());
            while from > 0 && sum <= u128::from(capacity) {
                from -= 1;
                sum += u128::from(size(named[from]));
            }
            named.drain(..from);
        }
        if named.len() == self.set.len() || !self.replace(named, budget)? {
            self.set.sort_by_key(|&id| (size(id), std::cmp::Reverse(id)));
            let all = self.set.clone();
            self.replace(all, budget)?;
        }
        Ok(())
    }

    /// Replaces the set by a subset if the subset is also proved infeasible. Returns true if the set was
    /// replaced.
    fn replace(&mut self, set: Vec<BufferId>, budget: &mut Budget) -> Result<bool, SolveError> {
        match self.decide(&set, budget)? {
            Fits::Never(bound) => {
                self.shrink(set, bound);
                Ok(true)
            }
            Fits::Layout(_) | Fits::Unknown(_) => Ok(false),
        }
    }

    /// Replaces the set. `bound` refers to buffers by position in the new set.
    fn shrink(&mut self, set: Vec<BufferId>, bound: LowerBound) {
        self.bound = renamed(bound, |at| set[at]);
        self.set = set;
    }

    /// Decides whether the buffers of `set` fit. The result refers to them by position in `set`.
    fn decide(&self, set: &[BufferId], budget: &mut Budget) -> Result<Fits, SolveError> {
        let mut part = budget.part(self.patience, None);
        let decided = fits(&self.instance.induced(set), self.setup, &mut part);
        budget.spend(part.nodes());
        decided
    }

    /// Tries to remove each chunk of `chunk` consecutive buffers, until the budget ends.
    fn delete(&mut self, chunk: usize, budget: &mut Budget) -> Result<(), SolveError> {
        let mut at = 0;
        while at < self.set.len() {
            if budget.check().is_some() {
                for id in &self.set[at..] {
                    self.doubtful[id.index()] = !self.needed[id.index()];
                }
                return Ok(());
            }
            let end = (at + chunk).min(self.set.len());
            let gone = self.set[at..end].to_vec();
            if end - at == self.set.len() || gone.iter().any(|id| self.needed[id.index()]) {
                at = end;
                continue;
            }
            let rest: Vec<BufferId> = self.set[..at].iter().chain(&self.set[end..]).copied().collect();
            match self.decide(&rest, budget)? {
                Fits::Never(bound) => self.shrink(rest, bound),
                decided => {
                    if chunk == 1 {
                        let known = matches!(decided, Fits::Layout(_));
                        self.needed[gone[0].index()] = known;
                        self.doubtful[gone[0].index()] = !known;
                    }
                    at = end;
                }
            }
        }
        Ok(())
    }
}

/// Returns a bound with its buffers renumbered by `number`.
fn renamed(bound: LowerBound, number: impl Fn(usize) -> BufferId) -> LowerBound {
    let mut witness = bound.witness.map(|id: BufferId| number(id.index()), |operator| operator);
    if let Witness::Clique { buffers } | Witness::AlignedClique { buffers, .. } = &mut witness {
        buffers.sort_unstable();
    }
    LowerBound::new(bound.value, witness)
}

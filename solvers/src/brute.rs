//! The simplest exact solver for offsets. It tries every placement order.
//!
//! Push the buffers of an optimal layout down one at a time until none moves. Every buffer that is not fixed
//! then lies at the lowest aligned offset above all conflicting buffers below it. To reproduce that layout,
//! place the buffers by ascending offset, each at the lowest aligned offset above all conflicting buffers
//! placed so far. The best layout over all orders is therefore optimal.
//!
//! The time is O(n! n^2) for n buffers, so at most 9 buffers are accepted. This solver exists to cross-check
//! the other solvers.

use plimsoll_model::{
    Budget, BufferId, Bytes, Instance, Layout, LowerBound, Observer, Offsets, Outcome, SolveError, Solver,
    Stats, Stop, Witness, simple_bound,
};

/// Maximum number of buffers; instances with more are rejected.
const MOST_BUFFERS: usize = 9;

/// Brute force over all placement orders. Its name in the registry is `brute-force`.
#[derive(Clone, Copy, Debug, Default)]
pub struct BruteForce;

impl Solver<Offsets> for BruteForce {
    fn name(&self) -> &'static str {
        "brute-force"
    }

    fn supports(&self, instance: &Instance) -> Result<(), SolveError> {
        if instance.len() <= MOST_BUFFERS {
            return Ok(());
        }
        let reason = format!("{} buffers exceed the limit of {MOST_BUFFERS}", instance.len());
        Err(SolveError::Unsupported { solver: self.name(), reason })
    }

    fn solve(
        &self,
        instance: &Instance,
        budget: &mut Budget,
        observer: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Offsets>, SolveError> {
        self.supports(instance)?;
        let mut orders = Orders {
            instance,
            budget,
            observer,
            offsets: vec![None; instance.len()],
            best: None,
            stop: None,
        };
        orders.stop = orders.budget.check();
        if orders.stop.is_none() {
            orders.extend(0);
        }
        let (best, stop) = (orders.best, orders.stop.unwrap_or(Stop::Completed));
        let mut bound = simple_bound(instance);
        if stop == Stop::Completed {
            let witness = Witness::Search { solver: self.name().to_owned() };
            // If no order yields a layout, the fixed offsets are infeasible at every capacity.
            let value = best.as_ref().map_or(Bytes::new(u64::MAX), |&(_, value)| value);
            bound.raise(LowerBound::new(value, witness));
        }
        let stats = Stats { nodes: budget.nodes(), ..Stats::default() };
        Ok(Outcome::conclude(instance, best, bound, stop, stats))
    }
}

struct Orders<'a> {
    instance: &'a Instance,
    budget: &'a mut Budget,
    observer: &'a mut dyn Observer<Offsets>,
    offsets: Vec<Option<u64>>,
    best: Option<(Layout, Bytes)>,
    stop: Option<Stop>,
}

impl Orders<'_> {
    fn extend(&mut self, placed: usize) {
        if placed == self.offsets.len() {
            let layout = Layout::from_raw(self.offsets.iter().copied().flatten());
            let peak = layout.peak(self.instance);
            if self.best.as_ref().is_none_or(|&(_, best)| peak < best) {
                self.observer.incumbent(&layout, peak);
                self.best = Some((layout, peak));
                if self.budget.reaches_target(peak) {
                    self.stop = Some(Stop::Target);
                }
            }
            return;
        }
        for id in self.instance.ids().filter(|id| self.offsets[id.index()].is_none()).collect::<Vec<_>>() {
            self.stop = self.stop.or_else(|| self.budget.tick());
            if self.stop.is_some() {
                return;
            }
            if let Some(offset) = self.lowest(id) {
                self.offsets[id.index()] = Some(offset);
                self.extend(placed + 1);
                self.offsets[id.index()] = None;
            }
        }
    }

    /// Returns the lowest aligned offset above all conflicting placed buffers, or the fixed offset of the
    /// buffer. Returns `None` if the fixed offset lies below the end of one of these buffers.
    fn lowest(&self, id: BufferId) -> Option<u64> {
        let b = self.instance.buffer(id);
        let floor = self
            .instance
            .ids()
            .filter(|&other| self.instance.conflict(id, other))
            .filter_map(|other| Some(self.offsets[other.index()]? + self.instance.buffer(other).size().get()))
            .max()
            .unwrap_or(0);
        match b.fixed() {
            Some(fixed) => (fixed.get() >= floor).then_some(fixed.get()),
            None => Some(floor.next_multiple_of(b.alignment().get())),
        }
    }
}

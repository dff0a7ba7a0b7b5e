//! The simplest exact solver for offsets. It tries every placement order.
//!
//! Push the buffers of an optimal layout down one at a time until none moves. Every buffer that is not fixed
//! then lies at the lowest aligned offset above all conflicting buffers below it. To reproduce that layout,
//! place the buffers by ascending offset, each at the lowest aligned offset above all conflicting buffers
//! placed so far. The best layout over all orders is therefore optimal.
//!
//! Rigid groups move as a whole. For each order, all bases are then as low as the order allows: every buffer
//! lies above the conflicting buffers that precede it. Groups can push each other up in turn, so the bases
//! rise until none changes, or until a peak below that of the best layout is impossible.
//!
//! The time is O(n! n^2) for n buffers, so at most 9 buffers are accepted. This solver exists to cross-check
//! the other solvers.

use plimsoll_model::{
    Budget, BufferId, Bytes, Instance, Layout, LowerBound, Observer, Offsets, Outcome, Problem, SolveError,
    Solver, Stop, Tracker, Witness,
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

    fn supports_groups(&self) -> bool {
        true
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
            known: Tracker::new(instance, Offsets::floor(instance), observer),
            offsets: vec![None; instance.len()],
            order: Vec::with_capacity(instance.len()),
            stop: None,
        };
        orders.stop = orders.budget.check();
        if orders.stop.is_none() && instance.has_groups() {
            orders.permute();
        } else if orders.stop.is_none() {
            orders.extend(0);
        }
        let Orders { mut known, stop, budget, .. } = orders;
        let stop = stop.unwrap_or(Stop::Completed);
        if stop == Stop::Completed {
            let witness = Witness::Search { solver: self.name().to_owned() };
            // If no order yields a layout, the fixed offsets are infeasible at every capacity.
            let value = known.value().unwrap_or(Bytes::new(u64::MAX));
            known.raise(LowerBound::new(value, witness));
        }
        Ok(known.conclude(stop, budget.nodes()))
    }
}

struct Orders<'a> {
    instance: &'a Instance,
    budget: &'a mut Budget,
    known: Tracker<'a, Offsets>,
    offsets: Vec<Option<u64>>,
    /// The buffers placed so far, if there are rigid groups.
    order: Vec<BufferId>,
    stop: Option<Stop>,
}

impl Orders<'_> {
    fn extend(&mut self, placed: usize) {
        if placed == self.offsets.len() {
            self.offer(Layout::from_raw(self.offsets.iter().copied().flatten()));
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

    fn offer(&mut self, layout: Layout) {
        let peak = self.known.offer(layout);
        if self.budget.reaches_target(peak) {
            self.stop = Some(Stop::Target);
        }
    }

    /// Tries every order in which the members of each rigid group ascend.
    fn permute(&mut self) {
        if self.order.len() == self.instance.len() {
            if let Some(layout) = self.settled() {
                self.offer(layout);
            }
            return;
        }
        let groups = self.instance.groups();
        let is_later = |a: BufferId, b: BufferId| match (groups.of(a), groups.of(b)) {
            (Some((one, low)), Some((other, high))) => one == other && low > high,
            _ => false,
        };
        for id in self.instance.ids().filter(|id| !self.order.contains(id)).collect::<Vec<_>>() {
            self.stop = self.stop.or_else(|| self.budget.tick());
            if self.stop.is_some() {
                return;
            }
            let mut open = self.instance.ids().filter(|other| !self.order.contains(other));
            if !open.any(|other| is_later(id, other)) {
                self.order.push(id);
                self.permute();
                self.order.pop();
            }
        }
    }

    /// Returns the lowest layout for the order. Returns `None` if there is none, or if its peak is not below
    /// that of the best layout.
    fn settled(&mut self) -> Option<Layout> {
        let (instance, groups) = (self.instance, self.instance.groups());
        let mut offsets: Vec<u64> =
            instance.buffers().iter().map(|b| b.fixed().unwrap_or_default().get()).collect();
        let mut bases: Vec<u64> = groups.all().iter().map(|group| group.residue().get()).collect();
        let most = self.known.value().map_or(instance.ceiling().get(), |best| best.get() - 1);
        loop {
            self.stop = self.stop.or_else(|| self.budget.check());
            for (group, &base) in groups.all().iter().zip(&bases) {
                for &(id, distance) in group.members() {
                    offsets[id.index()] = base + distance.get();
                }
            }
            let end = |id: BufferId| offsets[id.index()] + instance.buffer(id).size().get();
            if self.stop.is_some() || instance.ids().any(|id| end(id) > most) {
                return None;
            }
            let low = self.order.iter().enumerate().find_map(|(at, &id)| {
                let under = self.order[..at].iter().filter(|&&other| instance.conflict(id, other));
                let floor = under.map(|&other| end(other)).max().unwrap_or(0);
                (floor > offsets[id.index()]).then_some((id, floor))
            });
            match low {
                None => return Some(Layout::from_raw(offsets)),
                Some((id, floor)) => match groups.of(id) {
                    _ if instance.buffer(id).fixed().is_some() => return None,
                    None => {
                        offsets[id.index()] = floor.next_multiple_of(instance.buffer(id).alignment().get());
                    }
                    Some((group, distance)) => {
                        let from = Bytes::new(floor.saturating_sub(distance.get()));
                        bases[group] = groups.all()[group].base_from(from)?.get();
                    }
                },
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

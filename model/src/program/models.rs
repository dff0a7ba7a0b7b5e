//! The offset problem of a program as seen by planners that have less information about branches.

use super::Program;
use crate::graph::Control;
use crate::instance::{Buffer, Instance, InstanceBuilder};
use crate::lifespan::Lifespan;
use crate::units::{OperatorId, RegionId};

impl Program<'_> {
    /// Returns the offset problem as seen by a planner that treats branches as if they ran sequentially. A
    /// buffer is live from its first live point to its last, without gaps. O(n log n) for n buffers.
    ///
    /// # Panics
    /// Never: hulls are valid lifespans.
    pub fn sequential(&self) -> Instance {
        self.with_lifespans(|lifespan| {
            let hull = lifespan.hull();
            (hull.lower.get(), hull.upper.get())
        })
        .build()
        .expect("hulls form a valid instance")
    }

    /// Returns the offset problem as seen by a planner that has no information about branches. For n buffers
    /// and r branches, O(n^2 log n + n r).
    ///
    /// The result is like that of [`Program::sequential`], but an operator that owns branches counts as a
    /// single moment. At that moment, buffers of one branch conflict with all buffers of the other branches.
    /// They also conflict with every buffer outside the operator that is live during any part of the
    /// operator.
    ///
    /// # Panics
    /// Never: only existing buffers are separated.
    pub fn flat(&self) -> Instance {
        let points = self.points();
        let branching = (0..self.graph().operators().len()).map(OperatorId::at);
        let branching: Vec<_> = branching
            .filter(|&id| points.flow(id).is_some_and(|flow| flow.control == Control::Branch))
            .map(|id| (id, points.of_operator(id)))
            .collect();
        let homes: Vec<_> = self.buffers().iter().map(|buffer| points.of_region(buffer.home)).collect();
        let mut at = 0;
        let mut builder = self.with_lifespans(|lifespan| {
            let home = &homes[at];
            at += 1;
            let (mut lower, mut upper) = (lifespan.hull().lower.get(), lifespan.hull().upper.get());
            for (_, range) in &branching {
                let (from, to) = (range.start as u64, range.end as u64);
                // If a buffer outside the operator is live during part of the operator, it is live during all
                // of it.
                if home.start < range.start && lower < to && from < upper {
                    (lower, upper) = (lower.min(from), upper.max(to));
                }
            }
            (lower, upper)
        });
        for (id, _) in &branching {
            let regions = &self.graph().operator(*id).regions;
            let within = |region: RegionId| {
                let range = points.of_region(region);
                let inside = |&at: &usize| range.start <= homes[at].start && homes[at].end <= range.end;
                (0..homes.len()).filter(inside).collect::<Vec<_>>()
            };
            let held: Vec<Vec<usize>> = regions.iter().map(|&region| within(region)).collect();
            for (k, first) in held.iter().enumerate() {
                for second in &held[k + 1..] {
                    for &a in first {
                        for &b in second {
                            builder = builder.separate(a, b);
                        }
                    }
                }
            }
        }
        builder.build().expect("all separated buffers exist")
    }

    /// Returns a builder with the same buffers, but with the lifespans that `of` computes.
    fn with_lifespans(&self, mut of: impl FnMut(&Lifespan) -> (u64, u64)) -> InstanceBuilder {
        let mut builder = InstanceBuilder::new(self.instance().name());
        for buffer in self.instance().buffers() {
            let (lower, upper) = of(buffer.lifespan());
            let lifespan = Lifespan::single(lower, upper).expect("no shorter than it was");
            builder = builder
                .buffer(Buffer::new(buffer.name(), buffer.size(), lifespan).aligned(buffer.alignment()));
        }
        builder
    }
}

//! Conflicts derived from the structure of a graph: which allocations may share addresses, either before an
//! order is chosen or for a given order.
//!
//! The *allocations* of an [`OrderProblem`] are its storages, followed by the scratch of every operator that
//! needs scratch. They are numbered like the buffers of [`OrderProblem::instance`]. A [`Relation`] defines
//! which allocations conflict:
//!
//! | relation | two allocations may share an address if |
//! |---|---|
//! | `schedule` | they are held at disjoint steps of one sequential order |
//! | `streams=K` | all users of one finish before any user of the other starts, with operators in K streams |
//! | `reachable` | all users of one finish before any user of the other starts in every execution, even if independent operators run concurrently |
//! | `mutex` | the rules of the memory-planning patent allow it |
//!
//! The first three relations are based on a partial order of the operators, *happens before*. An
//! allocation `A` is *before* an allocation `B` if all users of `A` happen before all users of `B`, `A` is
//! not needed at the end, and `B` is not held from the start. Two allocations conflict unless one is before
//! the other. `schedule` uses the order itself, and `reachable` uses paths in the graph. `streams=K` uses
//! paths in the graph, with the operators of each stream chained in their order. Two properties do not depend
//! on the relation: whether an allocation is held from the start or to the end, and the assignment of tensors
//! to storages.
//!
//! **Invariants**, tested for all orders and all executions of small graphs:
//! - For any K and any order, the conflicts of `schedule` are a subset of those of `streams=K`, which are a
//!   subset of those of `reachable`. `streams=1` equals `schedule`. With as many streams as operators,
//!   `streams=K` equals `reachable`.
//! - Two allocations conflict in `reachable` if and only if both are held simultaneously in some execution
//!   that may run independent operators concurrently. If only one operator runs at a time, the same is true
//!   with one exception. It concerns two allocations that are each held only while one operator runs. If
//!   these two operators are independent, the allocations conflict, but are never held simultaneously.
//! - The conflicts of `mutex` are a subset of those of `reachable`, but in general neither a subset nor a
//!   superset of those of `schedule`. They lack conflicts of `schedule` because `mutex` overlooks readers: a
//!   tensor may be read even after the output of its first reader has been used. See [`Relation::Mutex`].
//!
//! **Complexity.** Reachability is a bit matrix of n^2/8 bytes, computed in O(n e / 64) time for n operators
//! and e edges. A relation of m allocations with u users each needs m^2/8 bytes and O(m^2 u) time.
//! [`MAX_MEMBERS`] limits n and m, and [`MAX_PAIRS`] limits the number of conflicts written into an
//! instance.

mod memories;
mod mutex;
mod relation;
mod streams;

pub use memories::Structure;
pub use relation::{Conflicts, Relation};

use crate::budget::Budget;
use crate::graph::{Graph, Member, Storages};
use crate::instance::{Buffer, Instance, InstanceBuilder};
use crate::lifespan::Lifespan;
use crate::orders::{Order, OrderError, OrderProblem};
use crate::units::{Bytes, OperatorId};
use memories::Memory;
use plimsoll_support::BitMatrix;

/// The maximum number of operators, and of allocations, for which relations are computed. A bit matrix of
/// this size occupies 50 MB.
pub const MAX_MEMBERS: usize = 20_000;

/// The maximum number of conflicts that are written into an instance as separations.
pub const MAX_PAIRS: u64 = 8_000_000;

/// The reason why a relation or its instance cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum StructureError {
    /// There are more operators or allocations than relations support.
    #[error("'{name}' has {count} {what}; conflict relations support at most {limit}")]
    TooLarge { name: String, count: usize, what: &'static str, limit: usize },
    #[error("'{name}': the {count} conflicts under relation '{relation}' exceed the limit of {limit}")]
    TooMany { name: String, relation: Relation, count: u64, limit: u64 },
    /// The budget was exhausted before the relation was complete.
    #[error("'{name}': the conflicts under relation '{relation}' could not be computed within the limits")]
    OutOfTime { name: String, relation: Relation },
    #[error(
        "there are {makers} lists of producers for {storages} storages, or a storage has no producer, or a producer does not use its storage"
    )]
    Makers { makers: usize, storages: usize },
    /// The order has no corresponding offset problem.
    #[error(transparent)]
    Order(#[from] OrderError),
}

impl<'a> Structure<'a> {
    /// Derives the structure of a region; see [`Structure::new`].
    ///
    /// # Errors
    /// The first [`StructureError`] found.
    ///
    /// # Panics
    /// If `graph`, `storages` and `order` do not belong together.
    pub fn of(graph: &Graph, storages: &'a Storages, order: &'a Order) -> Result<Self, StructureError> {
        let mut known = vec![None; graph.operators().len()];
        for (at, id) in storages.operators.iter().enumerate() {
            known[id.index()] = Some(OperatorId::at(at));
        }
        let maker = |one: &Member| graph.producer(one.tensor).and_then(|id| known[id.index()]);
        let makers = storages.tensors.iter().map(|tensors| tensors.iter().filter_map(maker).collect());
        Self::new(&storages.problem, makers.collect(), order)
    }

    /// Derives the structure of an order problem. O(n e / 64) for n operators and e precedences.
    ///
    /// `makers` contains, for each storage, the users that write one of its tensors. Only `mutex` uses this
    /// argument.
    ///
    /// # Errors
    /// The first [`StructureError`] found.
    ///
    /// # Panics
    /// If the order is not valid for the problem. Check it first.
    pub fn new(
        problem: &'a OrderProblem,
        makers: Vec<Vec<OperatorId>>,
        order: &'a Order,
    ) -> Result<Self, StructureError> {
        let storages = problem.storages();
        let fits = |(storage, own): (&crate::orders::Storage, &Vec<OperatorId>)| {
            own.iter().all(|maker| storage.users.contains(maker)) && (storage.from_start || !own.is_empty())
        };
        if makers.len() != storages.len() || !storages.iter().zip(&makers).all(fits) {
            return Err(StructureError::Makers { makers: makers.len(), storages: storages.len() });
        }
        let held = storages.iter().zip(makers).map(|(storage, makers)| Memory {
            name: storage.name.clone(),
            users: storage.users.clone(),
            makers,
            from_start: storage.from_start,
            to_end: storage.to_end,
        });
        let scratch = problem.ids().filter(|&id| problem.scratch(id) > Bytes::ZERO).map(|id| Memory {
            name: format!("scratch of {}#{id}", problem.operator(id)),
            users: vec![id],
            makers: vec![id],
            from_start: false,
            to_end: false,
        });
        let memories: Vec<Memory> = held.chain(scratch).collect();
        for (count, what) in [(problem.len(), "operators"), (memories.len(), "allocations")] {
            if count > MAX_MEMBERS {
                let name = problem.name().to_owned();
                return Err(StructureError::TooLarge { name, count, what, limit: MAX_MEMBERS });
            }
        }
        let mut step = vec![0; problem.len()];
        for (at, id) in order.operators().iter().enumerate() {
            step[id.index()] = at;
        }
        let reach = reach(problem, order, |_| None);
        Ok(Self { problem, order, step, memories, reach })
    }

    /// Returns the number of allocations: storages and scratch.
    pub fn len(&self) -> usize {
        self.memories.len()
    }

    /// Returns true if there are no allocations.
    pub fn is_empty(&self) -> bool {
        self.memories.is_empty()
    }

    /// Returns the name of an allocation.
    ///
    /// # Panics
    /// If the allocation does not exist.
    pub fn name(&self, memory: usize) -> &str {
        &self.memories[memory].name
    }

    /// Computes the conflicts under a relation. O(m^2 u) for m allocations with u users each, plus O(n e /
    /// 64) for n operators and e precedences. The budget `watch` is polled at least once per allocation.
    ///
    /// # Errors
    /// [`StructureError::OutOfTime`] if the budget is exhausted.
    pub fn conflicts(&self, relation: Relation, watch: &mut Budget) -> Result<Conflicts, StructureError> {
        let found = match relation {
            Relation::Schedule => self.by_steps(watch),
            Relation::Reachable => self.by_order(&self.reach, watch),
            Relation::Streams(streams) => {
                let next = self.next_in_stream(streams);
                let happens = reach(self.problem, self.order, |id| next[id.index()]);
                self.by_order(&happens, watch)
            }
            Relation::Mutex => mutex::conflicts(self, watch),
        };
        found.ok_or_else(|| StructureError::OutOfTime { name: self.problem.name().to_owned(), relation })
    }

    /// Returns the precedences that a relation adds to those of the graph. `streams=K` chains the operators
    /// of each stream, and `schedule` chains all operators in their order. `reachable` and `mutex` do not
    /// depend on the order and add no precedences.
    pub fn added(&self, relation: Relation) -> Vec<(OperatorId, OperatorId)> {
        match relation {
            Relation::Reachable | Relation::Mutex => Vec::new(),
            Relation::Schedule => self.order.operators().windows(2).map(|pair| (pair[0], pair[1])).collect(),
            Relation::Streams(streams) => {
                let next = self.next_in_stream(streams);
                self.problem.ids().filter_map(|id| Some((id, next[id.index()]?))).collect()
            }
        }
    }

    /// Returns the offset problem of a relation. It has one buffer per allocation, in the same order, and
    /// the offsets must be multiples of `align` bytes.
    ///
    /// Under `schedule`, `streams=K` and `reachable`, the buffers have the lifespans that follow from the
    /// order, and every further conflict becomes a separation. Under `mutex`, two buffers with overlapping
    /// lifespans need not conflict. Each buffer is therefore live for a single step of its own, and every
    /// conflict becomes a separation. The order of these steps is that in which the allocations begin.
    ///
    /// # Errors
    /// [`StructureError`] if there are too many conflicts, the budget is exhausted, or the alignment is
    /// invalid.
    ///
    /// # Panics
    /// Never: each lifespan has one step.
    pub fn instance(
        &self,
        relation: Relation,
        align: Bytes,
        watch: &mut Budget,
    ) -> Result<Instance, StructureError> {
        let conflicts = self.conflicts(relation, watch)?;
        let schedule = self.conflicts(Relation::Schedule, watch)?;
        self.instance_of(relation, &conflicts, &schedule, align)
    }

    /// Does the same as [`Structure::instance`] for known [`conflicts`](Structure::conflicts) under the
    /// relation and under `schedule`.
    ///
    /// # Errors
    /// [`StructureError`] if there are too many conflicts, or if the alignment is invalid.
    ///
    /// # Panics
    /// If the conflicts are those of another structure.
    pub fn instance_of(
        &self,
        relation: Relation,
        conflicts: &Conflicts,
        schedule: &Conflicts,
        align: Bytes,
    ) -> Result<Instance, StructureError> {
        let base = self.problem.instance(self.order, align)?;
        if relation == Relation::Schedule {
            return Ok(base);
        }
        let builder = InstanceBuilder::new(base.name());
        let (builder, pairs) = if relation == Relation::Mutex {
            let mut rank: Vec<usize> = (0..self.len()).collect();
            rank.sort_by_key(|&at| (base.buffers()[at].lifespan().hull().lower, at));
            let mut step = vec![0u64; self.len()];
            for (at, &memory) in rank.iter().enumerate() {
                step[memory] = at as u64;
            }
            let alone = base.buffers().iter().zip(step).map(|(buffer, step)| {
                let lifespan = Lifespan::single(step, step + 1).expect("one step is not empty");
                Buffer::new(buffer.name(), buffer.size(), lifespan).aligned(buffer.alignment())
            });
            (builder.buffers(alone), conflicts.clone())
        } else {
            (builder.buffers(base.buffers().iter().cloned()), conflicts.without(schedule))
        };
        let (count, limit) = (pairs.count(), MAX_PAIRS);
        if count > limit {
            let name = self.problem.name().to_owned();
            return Err(StructureError::TooMany { name, relation, count, limit });
        }
        let built = pairs.iter().fold(builder, |builder, (a, b)| builder.separate(a, b)).build();
        Ok(built.map_err(OrderError::from)?)
    }

    /// For each operator, returns the next operator in the same stream, if any.
    fn next_in_stream(&self, streams: u32) -> Vec<Option<OperatorId>> {
        streams::next(self.order, &self.step, &self.reach, streams)
    }

    /// Computes conflicts from steps: allocations conflict if they share a step. Step 0 precedes all
    /// operators, and each operator has one step.
    fn by_steps(&self, watch: &mut Budget) -> Option<Conflicts> {
        let steps = |memory: &Memory| {
            let own = memory.users.iter().map(|user| self.step[user.index()] + 1);
            let lower = if memory.from_start { 0 } else { own.clone().min().unwrap_or(0) };
            let upper = if memory.to_end { usize::MAX } else { own.max().unwrap_or(0) };
            (lower, upper)
        };
        let spans: Vec<(usize, usize)> = self.memories.iter().map(steps).collect();
        Conflicts::where_true(self.len(), watch, |a, b| spans[a].0 <= spans[b].1 && spans[b].0 <= spans[a].1)
    }

    /// Computes conflicts from a happens-before relation: allocations conflict unless one is before the
    /// other, as defined in the [module](self).
    fn by_order(&self, happens: &BitMatrix, watch: &mut Budget) -> Option<Conflicts> {
        let mut conflicts = Conflicts::all(self.len());
        let mut after = vec![0u64; self.problem.len().div_ceil(64)];
        for (at, memory) in self.memories.iter().enumerate() {
            if watch.check().is_some() {
                return None;
            }
            if memory.to_end {
                continue;
            }
            after.fill(u64::MAX);
            for user in &memory.users {
                for (word, &row) in after.iter_mut().zip(happens.row(user.index())) {
                    *word &= row;
                }
            }
            let follows = |user: &OperatorId| after[user.index() / 64] >> (user.index() % 64) & 1 == 1;
            for (later, other) in self.memories.iter().enumerate() {
                if !other.from_start && other.users.iter().all(follows) {
                    conflicts.part(at, later);
                }
            }
        }
        Some(conflicts)
    }
}

/// Computes the happens-before relation: paths along precedences and along the edges given by `next`.
fn reach(
    problem: &OrderProblem,
    order: &Order,
    next: impl Fn(OperatorId) -> Option<OperatorId>,
) -> BitMatrix {
    let mut reach = BitMatrix::new(problem.len(), problem.len());
    for &id in order.operators().iter().rev() {
        for &after in problem.successors(id).iter().chain(&next(id)) {
            reach.set(id.index(), after.index());
            reach.join(id.index(), after.index());
        }
    }
    reach
}

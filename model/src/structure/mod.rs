//! Conflicts from the structure of a graph: who may share memory before any order is chosen, or after one.
//!
//! What needs memory here are the *memories* of an [`OrderProblem`]: its storages, then the scratch of every operator that
//! needs some, numbered as the buffers of [`OrderProblem::instance`]. A [`Relation`] says which of them conflict:
//!
//! | relation | two memories may share an address where |
//! |---|---|
//! | `schedule` | the steps they are held at are disjoint, one operator after the other in one order |
//! | `streams=K` | all users of one have ended before the first of the other starts, operators running in K streams |
//! | `reachable` | the same whatever the order, operators that do not wait for each other running at any time |
//! | `mutex` | the rules of a patent allow it (SOURCES S2) |
//!
//! For the first three there is a partial order of the operators, *happens before*: a memory is *before* another where it is
//! not wanted at the end, the other is not held from the start, and every user of the one happens before every user of the
//! other. Memories conflict unless one is before the other. `schedule` takes the order itself; `reachable` takes paths
//! in the graph; `streams=K` takes paths in the graph with the operators of each stream joined in their order. What is held
//! from the start or to the end is so in all relations, and what shares a storage was decided before.
//!
//! **Invariants**, held by tests on all orders and all executions of small graphs:
//! - `schedule` is contained in `streams=K`, and `streams=K` in `reachable`, for any K and order; `streams=1` is `schedule`;
//!   with as many streams as operators `streams=K` is `reachable`.
//! - Two memories conflict in `reachable` exactly if some execution holds both at a time, where operators that do not wait for
//!   each other may run at the same time. With one operator at a time that is the same, but for two memories with one user
//!   each, which no such execution ever holds together.
//! - `mutex` is contained in `reachable`, and neither contains `schedule` nor is contained in it: it overlooks readers. A tensor
//!   that is read again after its first reader's output was used conflicts with its neighbours only. See [`Relation::Mutex`].
//!
//! **Complexity.** Reachability is a matrix of bits: for n operators n^2/8 bytes and O(n e / 64) time; relations of m memories
//! take m^2/8 bytes and O(m^2 + m users) time. [`MAX_MEMBERS`] and [`MAX_PAIRS`] bound both.

mod memories;
mod mutex;
mod relation;
mod streams;

pub use memories::Structure;
pub use relation::{Conflicts, Relation};

use crate::bits::BitMatrix;
use crate::budget::Budget;
use crate::graph::{Graph, Storages};
use crate::instance::{Buffer, Instance, InstanceBuilder};
use crate::lifespan::Lifespan;
use crate::orders::{Order, OrderError, OrderProblem};
use crate::units::{Bytes, OperatorId};
use memories::Memory;

/// Most operators, and most memories, of which relations are made: a matrix of this many rows takes 50 MB.
pub const MAX_MEMBERS: usize = 20_000;

/// Most conflicts that are written into an instance as separations.
pub const MAX_PAIRS: u64 = 8_000_000;

/// Why there are no such conflicts, or no instance of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum StructureError {
    /// Too much to relate everything to everything.
    #[error("'{name}' has {count} {what}, of which at most {limit} can be related to each other")]
    TooLarge { name: String, count: usize, what: &'static str, limit: usize },
    #[error("'{name}': {count} conflicts by '{relation}' are more than an instance may hold, {limit}")]
    TooMany { name: String, relation: Relation, count: u64, limit: u64 },
    /// The budget ended before everything was related to everything.
    #[error("'{name}': conflicts by '{relation}' were not found within the limits")]
    OutOfTime { name: String, relation: Relation },
    #[error("makers of {makers} storages for {storages} storages, a maker that is no user, or no maker")]
    Makers { makers: usize, storages: usize },
    /// No offset problem goes with the order.
    #[error(transparent)]
    Order(#[from] OrderError),
}

impl<'a> Structure<'a> {
    /// The structure of a region. See [`Structure::new`].
    ///
    /// # Errors
    /// See [`StructureError`].
    ///
    /// # Panics
    /// If graph, storages and order do not belong together.
    pub fn of(graph: &Graph, storages: &'a Storages, order: &'a Order) -> Result<Self, StructureError> {
        let mut known = vec![None; graph.operators().len()];
        for (at, id) in storages.operators.iter().enumerate() {
            known[id.index()] = Some(OperatorId::at(at));
        }
        let maker = |&tensor: &_| graph.producer(tensor).and_then(|id| known[id.index()]);
        let makers = storages.tensors.iter().map(|tensors| tensors.iter().filter_map(maker).collect());
        Self::new(&storages.problem, makers.collect(), order)
    }

    /// The structure of an order problem; `makers` lists per storage the users that write a tensor of it, of
    /// which only `mutex` knows. O(n e / 64) for n operators and e precedences.
    ///
    /// # Errors
    /// See [`StructureError`].
    ///
    /// # Panics
    /// If the order is not one of the problem; check it first.
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
        for (count, what) in [(problem.len(), "operators"), (memories.len(), "memories")] {
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

    /// Number of memories: storages, then scratch.
    pub fn len(&self) -> usize {
        self.memories.len()
    }

    /// True without memories.
    pub fn is_empty(&self) -> bool {
        self.memories.is_empty()
    }

    /// What a memory is called.
    ///
    /// # Panics
    /// If there is no such memory.
    pub fn name(&self, memory: usize) -> &str {
        &self.memories[memory].name
    }

    /// Who conflicts with whom. O(m^2 u) for m memories of u users each, O(n e / 64) more for n operators and e
    /// precedences; `watch` is polled once per memory.
    ///
    /// # Errors
    /// [`StructureError::OutOfTime`].
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

    /// Precedences that a relation adds to those of the graph: operators joined in the order of their stream, or, one
    /// after the other, of the order itself. `mutex` knows of no order and adds none.
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

    /// The offset problem of a relation: one buffer per memory, in their order, at multiples of `align` bytes.
    ///
    /// Buffers of `schedule`, `streams=K` and `reachable` have the lifespans of the order; conflicts beyond those are separations.
    /// Those of `mutex`, which does not contain them, are given one step each, in the order they begin; all conflicts are
    /// separations.
    ///
    /// # Errors
    /// Too many conflicts, no time for them, or no offset problem under this alignment.
    ///
    /// # Panics
    /// Never: a lifespan of one step is not empty.
    pub fn instance(
        &self,
        relation: Relation,
        align: Bytes,
        watch: &mut Budget,
    ) -> Result<Instance, StructureError> {
        let base = self.problem.instance(self.order, align)?;
        if relation == Relation::Schedule {
            return Ok(base);
        }
        let conflicts = self.conflicts(relation, watch)?;
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
            (builder.buffers(alone), conflicts)
        } else {
            (
                builder.buffers(base.buffers().iter().cloned()),
                conflicts.without(&self.conflicts(Relation::Schedule, watch)?),
            )
        };
        let (count, limit) = (pairs.count(), MAX_PAIRS);
        if count > limit {
            let name = self.problem.name().to_owned();
            return Err(StructureError::TooMany { name, relation, count, limit });
        }
        let built = pairs.iter().fold(builder, |builder, (a, b)| builder.separate(a, b)).build();
        Ok(built.map_err(OrderError::from)?)
    }

    /// The operator that follows each one in its stream.
    fn next_in_stream(&self, streams: u32) -> Vec<Option<OperatorId>> {
        streams::next(self.order, &self.step, &self.reach, streams)
    }

    /// Conflicts where steps are shared, one operator per step; step 0 is before them all.
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

    /// Conflicts unless all users of one happen before all users of the other.
    fn by_order(&self, happens: &BitMatrix, watch: &mut Budget) -> Option<Conflicts> {
        let mut conflicts = Conflicts::where_true(self.len(), watch, |_, _| true)?;
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

/// Who happens before whom: paths along precedences and from each operator to what `next` says.
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

//! Builds the tier problem of an ordered region: the accesses to every tensor, the units that perform them,
//! and their cost in each tier.
//!
//! Assumptions:
//! - A tensor occupies one tier for its whole lifespan. Its producer writes it with one access, and each
//!   reader reads it with one access. The time of an access is the setup latency of the tier plus the number
//!   of bytes divided by the bandwidth of the tier. Views move no data. Tensors that share memory occupy the
//!   same tier.
//! - Every unit that accesses a tensor must have access to its tier. Scratch is written once and read once.
//! - The regions of an operator (branches, loop bodies) form one block in one tier. The block is as large as
//!   the largest region. Every access to a tensor of the regions counts as an access to the block. For a
//!   branch, only the region that moves the most bytes counts. For a loop, one iteration counts.
//! - Weights are read from off-chip memory when their operator runs, unless weights are tensors of the
//!   problem.

use super::machine::{TierKind, TierMachine};
use super::problem::{Addresses, TierError, TierProblem, TierSpace, TierStep, TierTensor, TierUse};
use crate::graph::{Control, Graph, Member, Role, Storages};
use crate::orders::{Order, Storage};
use crate::time::Time;
use crate::units::{Bytes, OperatorId, RegionId, TierId, UnitId};
use std::collections::{BTreeSet, HashMap};

/// Options for building a tier problem.
#[derive(Clone, Copy, Debug)]
pub struct TierOptions<'a> {
    /// Whether plans need addresses.
    pub addresses: Addresses,
    /// True if inputs and outputs of the graph stay in off-chip memory.
    pub boundary_off_chip: bool,
    /// The group of each operator, indexed by operator of the graph. Operators of a group run as one. With
    /// `None`, each operator is a group of its own.
    pub groups: Option<&'a [usize]>,
}

/// An ordered region, and the machine on which it runs.
#[derive(Clone, Copy, Debug)]
pub struct TierRegion<'a> {
    /// The graph that contains the region.
    pub graph: &'a Graph,
    /// The storages of the region. These storages must include the inputs and outputs of the region.
    pub storages: &'a Storages,
    /// The order of the operators.
    pub order: &'a Order,
    /// The units and memories of the machine.
    pub machine: &'a TierMachine,
    /// The unit of each operator of the graph.
    pub units: &'a [UnitId],
}

/// An access: its step, its bytes, and its direction.
#[derive(Clone, Copy, Debug)]
struct Access {
    step: usize,
    bytes: Bytes,
    writes: bool,
}

/// The times of one run that do not depend on the tiers of tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TierTimes {
    /// The total time of computation.
    pub compute: Time,
    /// The total time to start operators. Consecutive operators of the same group count as one start.
    pub overhead: Time,
    /// The reads of weights from off-chip memory.
    pub weights: TierUse,
}

impl TierRegion<'_> {
    /// Returns the operators of the graph in execution order.
    fn operators(&self) -> impl Iterator<Item = OperatorId> + '_ {
        self.order.operators().iter().map(|id| self.storages.operators[id.index()])
    }

    /// Builds the tier problem. O(s (t + b)), where s is the size of the region and of the regions nested
    /// inside it, t is the number of tiers, and b is the number of inputs and outputs of the graph.
    ///
    /// # Errors
    /// The first [`TierError`] found.
    pub fn problem(&self, options: TierOptions<'_>) -> Result<TierProblem, TierError> {
        let orders = &self.storages.problem;
        let mut when: HashMap<OperatorId, usize> = HashMap::new();
        let mut steps = self.lead();
        let ids: Vec<OperatorId> = self.operators().collect();
        let lead = steps.len();
        for (at, (&id, own)) in ids.iter().zip(self.order.operators()).enumerate() {
            when.insert(id, lead + at);
            let group = options.groups.map_or(at, |groups| groups[id.index()]);
            let name = orders.operator(*own).to_owned();
            steps.push(TierStep { name, unit: self.units[id.index()], group });
        }
        let accesses = self.accesses(&when);
        let mut tensors = Vec::new();
        for (at, storage) in orders.storages().iter().enumerate() {
            let constant =
                |one: &Member| matches!(self.graph.tensor(one.tensor).role, Role::Weight | Role::State);
            let outside = self.storages.tensors[at].iter().any(|one| self.is_interface(one.tensor));
            let off_chip =
                options.boundary_off_chip && outside && !self.storages.tensors[at].iter().any(constant);
            let (lower, upper) = lifespan(storage, &self.steps_of(storage, &when), steps.len());
            let mut units = BTreeSet::new();
            accesses[at].iter().for_each(|access| self.reaching(ids[access.step - lead], &mut units));
            let mut one = self.tensor(&storage.name, &units, &accesses[at], off_chip)?;
            (one.bytes, one.lower, one.upper) = (storage.size, lower, upper);
            tensors.push(one);
        }
        for (step, (&id, own)) in ids.iter().zip(self.order.operators()).enumerate() {
            let bytes = orders.scratch(*own);
            if bytes > Bytes::ZERO {
                let name = format!("scratch of {}#{own}", orders.operator(*own));
                tensors.push(self.scratch(name, bytes, lead + step, id)?);
            }
        }
        let space = |tier: &super::machine::Tier| TierSpace {
            name: tier.name.clone(),
            kind: tier.kind,
            units: tier.units.clone(),
            capacity: tier.capacity,
            alignment: self.machine.alignment,
        };
        let spaces = self.machine.tiers.iter().map(space).collect();
        TierProblem::new(orders.name(), spaces, steps, tensors, options.addresses)
    }

    /// Returns true if the tensor is an input or output of the graph.
    fn is_interface(&self, tensor: crate::units::TensorId) -> bool {
        let body = self.graph.region(Graph::BODY);
        body.inputs.contains(&tensor) || body.outputs.contains(&tensor)
    }

    /// Returns the steps before the first operator: one step if some input has no reader, otherwise none.
    fn lead(&self) -> Vec<TierStep> {
        let first = self.operators().next().filter(|_| self.storages.problem.lead() > 0);
        let step = |id: OperatorId| TierStep {
            name: "start".to_owned(),
            unit: self.units[id.index()],
            group: usize::MAX,
        };
        first.map(step).into_iter().collect()
    }

    /// Returns the steps at which a storage is used.
    fn steps_of(&self, storage: &Storage, when: &HashMap<OperatorId, usize>) -> Vec<usize> {
        storage.users.iter().map(|user| when[&self.storages.operators[user.index()]]).collect()
    }

    /// Returns the accesses to each storage.
    fn accesses(&self, when: &HashMap<OperatorId, usize>) -> Vec<Vec<Access>> {
        let mut home = HashMap::new();
        for (at, tensors) in self.storages.tensors.iter().enumerate() {
            home.extend(tensors.iter().map(|one| (one.tensor, at)));
        }
        let mut found = vec![Vec::new(); self.storages.tensors.len()];
        for id in self.operators() {
            let operator = self.graph.operator(id);
            if self.graph.moves_nothing(id) && operator.regions.is_empty() {
                continue;
            }
            let step = when[&id];
            let mut add = |tensor, writes| {
                if let Some(&at) = home.get(&tensor) {
                    let bytes = self.graph.tensor(tensor).bytes;
                    found[at].push(Access { step, bytes, writes });
                }
            };
            self.graph.reads(id).into_iter().for_each(|tensor| add(tensor, false));
            operator.outputs.iter().for_each(|&tensor| add(tensor, true));
        }
        found
    }

    /// Creates a tensor with the cost of its accesses in each tier that all given units can access. The
    /// caller sets the size and the lifespan.
    fn tensor(
        &self,
        name: &str,
        units: &BTreeSet<UnitId>,
        accesses: &[Access],
        off_chip: bool,
    ) -> Result<TierTensor, TierError> {
        let moved: Vec<Bytes> = accesses.iter().map(|access| access.bytes).collect();
        let uses = self.uses(name, units, &moved, off_chip)?;
        let producer = accesses.iter().find(|access| access.writes).map(|access| access.step);
        let mut consumers: Vec<usize> =
            accesses.iter().filter(|access| !access.writes).map(|access| access.step).collect();
        consumers.sort_unstable();
        consumers.dedup();
        let (name, bytes) = (name.to_owned(), Bytes::ZERO);
        Ok(TierTensor { name, bytes, lower: 0, upper: 0, producer, consumers, uses })
    }

    /// Creates the tensor for the scratch of an operator.
    fn scratch(
        &self,
        name: String,
        bytes: Bytes,
        step: usize,
        id: OperatorId,
    ) -> Result<TierTensor, TierError> {
        let mut units = BTreeSet::new();
        self.reaching(id, &mut units);
        let own = self.graph.operator(id).scratch;
        let mut moved = if own > Bytes::ZERO { vec![own, own] } else { Vec::new() };
        moved.extend(self.inner(id));
        let uses = self.uses(&name, &units, &moved, false)?;
        let (producer, consumers) = (Some(step), vec![step]);
        Ok(TierTensor { name, bytes, lower: step, upper: step + 1, producer, consumers, uses })
    }

    /// Collects the units that run an operator or any operator in its regions.
    fn reaching(&self, id: OperatorId, units: &mut BTreeSet<UnitId>) {
        units.insert(self.units[id.index()]);
        for &region in &self.graph.operator(id).regions {
            for &inner in &self.graph.region(region).operators {
                self.reaching(inner, units);
            }
        }
    }

    /// Returns the sizes of the accesses to tensors inside the regions of an operator.
    fn inner(&self, id: OperatorId) -> Vec<Bytes> {
        let operator = self.graph.operator(id);
        let regions = operator.regions.iter().map(|&region| self.inside(region));
        if self.is_branch(id) {
            let moved = |list: &Vec<Bytes>| list.iter().map(|bytes| u128::from(bytes.get())).sum::<u128>();
            regions.max_by_key(moved).unwrap_or_default()
        } else {
            regions.flatten().collect()
        }
    }

    fn inside(&self, region: RegionId) -> Vec<Bytes> {
        let mut found = Vec::new();
        for &id in &self.graph.region(region).operators {
            let operator = self.graph.operator(id);
            if !self.graph.moves_nothing(id) || !operator.regions.is_empty() {
                let tensors = self.graph.reads(id).into_iter().chain(operator.outputs.iter().copied());
                let own = tensors.filter(|&tensor| {
                    self.graph.place(tensor) == region && self.graph.tensor(tensor).role != Role::Weight
                });
                found.extend(own.map(|tensor| self.graph.tensor(tensor).bytes));
            }
            found.extend(self.inner(id));
        }
        found
    }

    fn is_branch(&self, id: OperatorId) -> bool {
        self.graph.flow(id).is_ok_and(|flow| flow.is_some_and(|flow| flow.control == Control::Branch))
    }

    /// Returns, for each tier, the cost if the given units perform accesses of the sizes in `moved`.
    fn uses(
        &self,
        name: &str,
        units: &BTreeSet<UnitId>,
        moved: &[Bytes],
        off_chip: bool,
    ) -> Result<Vec<Option<TierUse>>, TierError> {
        let too_large = || TierError::TooLarge { tensor: name.to_owned() };
        let traffic = moved.iter().try_fold(Bytes::ZERO, |sum, &bytes| sum.checked_add(bytes));
        let traffic = traffic.ok_or_else(too_large)?;
        let mut uses = Vec::new();
        for tier in &self.machine.tiers {
            let allowed =
                units.iter().all(|&unit| tier.is_reached_by(unit)) && !(off_chip && tier.kind.is_on_chip());
            if !allowed {
                uses.push(None);
                continue;
            }
            let time = moved.iter().try_fold(Time::ZERO, |sum, &bytes| sum.checked_add(tier.access(bytes)?));
            let time = time.ok_or_else(|| TierError::TooLong { tensor: name.to_owned() })?;
            uses.push(Some(TierUse { time, traffic }));
        }
        Ok(uses)
    }

    /// Returns the times of a run that do not depend on the tiers of tensors; `None` on overflow. The time is
    /// linear in the size of the region and of the regions nested inside it.
    ///
    /// `weights` states whether weights are tensors of the problem.
    pub fn times(&self, options: TierOptions<'_>, weights: bool) -> Option<TierTimes> {
        let mut times = TierTimes::default();
        let mut last = None;
        for id in self.operators() {
            times = added(times, self.own_times(id, weights)?)?;
            let group = options.groups.map(|groups| groups[id.index()]);
            if group.is_none() || group != last {
                let overhead = self.machine.rates[self.units[id.index()].index()].overhead;
                times.overhead = times.overhead.checked_add(overhead)?;
            }
            last = group;
        }
        Some(times)
    }

    fn own_times(&self, id: OperatorId, weights: bool) -> Option<TierTimes> {
        let operator = self.graph.operator(id);
        let unit = self.units[id.index()];
        let compute = self.machine.compute(self.graph, id, unit)?;
        let mut times = TierTimes { compute, ..TierTimes::default() };
        if !weights && !self.graph.moves_nothing(id) {
            for (at, &tensor) in operator.inputs.iter().enumerate() {
                let one = self.graph.tensor(tensor);
                // A weight that is listed twice is read only once.
                if one.role == Role::Weight && !operator.inputs[..at].contains(&tensor) {
                    times.weights.time = times.weights.time.checked_add(self.off_chip(one.bytes)?)?;
                    times.weights.traffic = times.weights.traffic.checked_add(one.bytes)?;
                }
            }
        }
        let mut inner = Vec::new();
        for &region in &operator.regions {
            let mut sum = TierTimes::default();
            for &id in &self.graph.region(region).operators {
                sum = added(sum, self.own_times(id, weights)?)?;
                let overhead = self.machine.rates[self.units[id.index()].index()].overhead;
                sum.overhead = sum.overhead.checked_add(overhead)?;
            }
            inner.push(sum);
        }
        if self.is_branch(id) {
            let all = |one: &TierTimes| {
                let rest = one.overhead.get().saturating_add(one.weights.time.get());
                one.compute.get().saturating_add(rest)
            };
            inner = inner.into_iter().max_by_key(all).into_iter().collect();
        }
        inner.into_iter().try_fold(times, added)
    }

    /// Returns the time of one access to the fastest off-chip tier; `None` on overflow.
    fn off_chip(&self, bytes: Bytes) -> Option<Time> {
        let tiers = self.machine.tiers.iter().filter(|tier| tier.kind == TierKind::Ddr);
        tiers.filter_map(|tier| tier.access(bytes)).min()
    }
}

/// Returns the half-open range of steps at which a storage is held. `used` contains the steps at which the
/// storage is used, and `count` is the number of steps.
fn lifespan(storage: &Storage, used: &[usize], count: usize) -> (usize, usize) {
    let last = used.iter().max().map_or(1, |last| last + 1);
    let lower = if storage.from_start { 0 } else { used.iter().copied().min().unwrap_or(0) };
    (lower, if storage.to_end { count.max(1) } else { last })
}

fn added(a: TierTimes, b: TierTimes) -> Option<TierTimes> {
    Some(TierTimes {
        compute: a.compute.checked_add(b.compute)?,
        overhead: a.overhead.checked_add(b.overhead)?,
        weights: TierUse {
            time: a.weights.time.checked_add(b.weights.time)?,
            traffic: a.weights.traffic.checked_add(b.weights.traffic)?,
        },
    })
}

/// Returns the on-chip and the off-chip traffic of the placed tensors, in bytes.
pub fn on_and_off_chip(problem: &TierProblem, traffic: &[Bytes]) -> (u64, u64) {
    let sum = |on: bool| {
        let tiers = problem.tiers().filter(|tier: &TierId| problem.space(*tier).kind.is_on_chip() == on);
        tiers.map(|tier| traffic[tier.index()].get()).sum()
    };
    (sum(true), sum(false))
}

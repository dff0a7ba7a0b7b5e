//! Tier problems: tensors with lifespans, and the tiers that are allowed for each tensor.

use super::machine::TierKind;
use crate::instance::Buffer;
use crate::lifespan::Lifespan;
use crate::time::Time;
use crate::units::{Bytes, TierId, UnitId};

/// A tier of a tier problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierSpace {
    /// The name of the memory.
    pub name: String,
    /// The location of the memory.
    pub kind: TierKind,
    /// The units that have access to the memory, ascending; `None` if all units have access.
    pub units: Option<Vec<UnitId>>,
    /// The size in bytes.
    pub capacity: Bytes,
    /// The alignment in bytes of offsets and sizes in this tier.
    pub alignment: Bytes,
}

impl TierSpace {
    /// Returns true if a unit has access to the tier.
    pub fn is_reached_by(&self, unit: UnitId) -> bool {
        self.units.as_ref().is_none_or(|units| units.contains(&unit))
    }
}

/// The cost, per run, of storing a tensor in a given tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TierUse {
    /// The total time of all accesses to the tensor.
    pub time: Time,
    /// The bytes moved to and from the tier.
    pub traffic: Bytes,
}

/// A tensor that occupies one tier for its whole lifespan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierTensor {
    /// The name of the tensor.
    pub name: String,
    /// The size in bytes, not rounded.
    pub bytes: Bytes,
    /// The first step at which the tensor is live.
    pub lower: usize,
    /// The first step after the lifespan.
    pub upper: usize,
    /// The step that produces the tensor; `None` if it comes from outside.
    pub producer: Option<usize>,
    /// The steps that read the tensor, ascending.
    pub consumers: Vec<usize>,
    /// The cost in each tier; `None` if the tier is not allowed.
    pub uses: Vec<Option<TierUse>>,
}

/// A step: an operator, the unit that runs it, and its fusion group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierStep {
    /// The name of the operator.
    pub name: String,
    /// The unit that runs the operator.
    pub unit: UnitId,
    /// The index of the fusion group. The operators of a group run as one operator.
    pub group: usize,
}

/// Whether plans contain addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addresses {
    /// Plans contain no addresses. Only the total bytes at every step are limited, so the optimum is a lower
    /// bound on the time of plans with addresses.
    Counted,
    /// Plans contain the address of every tensor in its tier.
    #[default]
    Placed,
}

/// The reason why tensors and tiers do not form a tier problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum TierError {
    /// There is no tier, or there are too many tiers.
    #[error("the problem has {0} tiers; 1 to 64 are allowed")]
    Tiers(usize),
    #[error("tier '{tier}' has alignment 0")]
    Alignment { tier: String },
    /// The tensor is live at no step, or at steps that do not exist.
    #[error(
        "the lifespan [{lower}, {upper}) of tensor '{tensor}' must be non-empty and lie within the {steps} steps"
    )]
    Lifespan {
        tensor: String,
        /// The first live step.
        lower: usize,
        /// The first step after the lifespan.
        upper: usize,
        steps: usize,
    },
    #[error("the number of costs of tensor '{tensor}' is {given}, but the number of tiers is {tiers}")]
    Uses { tensor: String, given: usize, tiers: usize },
    #[error("tensor '{tensor}' has no allowed tier: no tier is accessible to all its units")]
    Homeless { tensor: String },
    /// Sizes or traffic add up to 2^63 bytes or more.
    #[error("the rounded sizes or the traffic of the tensors up to '{tensor}' add up to 2^63 bytes or more")]
    TooLarge { tensor: String },
    #[error(
        "the transfer times of the tensors up to '{tensor}' add up to more than 106 days (2^63 picoseconds)"
    )]
    TooLong { tensor: String },
}

/// Tensors that each occupy one of several tiers for their whole lifespan. A tier problem is validated and
/// immutable.
///
/// Even if every tensor is in its most expensive tier, the times add up to at most [`Time::LONGEST`], and
/// traffic and sizes each add up to less than 2^63 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierProblem {
    name: String,
    spaces: Vec<TierSpace>,
    steps: Vec<TierStep>,
    tensors: Vec<TierTensor>,
    addresses: Addresses,
}

impl TierProblem {
    /// Creates a problem from its parts. If there are no steps, tensors are live at a single step. O(n t) for
    /// n tensors and t tiers.
    ///
    /// # Errors
    /// The first [`TierError`] found.
    pub fn new(
        name: impl Into<String>,
        spaces: Vec<TierSpace>,
        steps: Vec<TierStep>,
        tensors: Vec<TierTensor>,
        addresses: Addresses,
    ) -> Result<Self, TierError> {
        if !(1..=64).contains(&spaces.len()) {
            return Err(TierError::Tiers(spaces.len()));
        }
        if let Some(space) = spaces.iter().find(|space| space.alignment == Bytes::ZERO) {
            return Err(TierError::Alignment { tier: space.name.clone() });
        }
        let count = steps.len().max(1);
        let (mut sizes, mut moved, mut time) = (0u128, 0u128, 0u128);
        for one in &tensors {
            let tensor = one.name.clone();
            if one.lower >= one.upper || one.upper > count {
                let (lower, upper) = (one.lower, one.upper);
                return Err(TierError::Lifespan { tensor, lower, upper, steps: count });
            }
            if one.uses.len() != spaces.len() {
                return Err(TierError::Uses { tensor, given: one.uses.len(), tiers: spaces.len() });
            }
            let uses = || one.uses.iter().flatten();
            if uses().next().is_none() {
                return Err(TierError::Homeless { tensor });
            }
            let rounded = spaces.iter().map(|space| one.bytes.align_up(space.alignment).map(Bytes::get));
            let most = rounded.max_by_key(|size| size.map_or(u128::MAX, u128::from)).flatten();
            sizes += most.map_or(1 << 64, u128::from);
            moved += uses().map(|one| u128::from(one.traffic.get())).max().unwrap_or(0);
            time += uses().map(|one| u128::from(one.time.get())).max().unwrap_or(0);
            if sizes.max(moved) > i64::MAX as u128 {
                return Err(TierError::TooLarge { tensor });
            }
            if time > u128::from(Time::LONGEST.get()) {
                return Err(TierError::TooLong { tensor });
            }
        }
        Ok(Self { name: name.into(), spaces, steps, tensors, addresses })
    }

    /// Returns the problem with the given choice of addresses.
    #[must_use]
    pub fn with_addresses(mut self, addresses: Addresses) -> Self {
        self.addresses = addresses;
        self
    }

    /// Returns the name of the problem, used in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns all tiers, indexed by id.
    pub fn spaces(&self) -> &[TierSpace] {
        &self.spaces
    }

    /// Returns the tier with the given id.
    ///
    /// # Panics
    /// If the problem has no tier with this id.
    pub fn space(&self, tier: TierId) -> &TierSpace {
        &self.spaces[tier.index()]
    }

    /// Returns the ids of the tiers, ascending.
    pub fn tiers(&self) -> impl DoubleEndedIterator<Item = TierId> + ExactSizeIterator + use<> {
        (0..self.spaces.len()).map(TierId::at)
    }

    /// Returns the steps, which are the operators in execution order. In a problem built from a graph, a
    /// step named `start` precedes them if some input has no reader.
    pub fn steps(&self) -> &[TierStep] {
        &self.steps
    }

    /// Returns the number of steps at which tensors may be live, which is at least one.
    pub fn duration(&self) -> usize {
        self.steps.len().max(1)
    }

    /// Returns all tensors to place.
    pub fn tensors(&self) -> &[TierTensor] {
        &self.tensors
    }

    /// Returns whether plans contain addresses.
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Returns the bytes that a tensor occupies in a tier, rounded up to the alignment of the tier.
    ///
    /// # Panics
    /// If the tensor or the tier does not exist.
    pub fn size(&self, tensor: usize, tier: TierId) -> Bytes {
        let rounded = self.tensors[tensor].bytes.align_up(self.space(tier).alignment);
        rounded.expect("TierProblem::new bounds rounded sizes")
    }

    /// Converts a tensor to a buffer of the offset problem of a tier. The name of the buffer is the index of
    /// the tensor.
    ///
    /// # Panics
    /// If the tensor or the tier does not exist.
    pub fn buffer(&self, tensor: usize, tier: TierId) -> Buffer {
        let one = &self.tensors[tensor];
        let lifespan = Lifespan::single(one.lower as u64, one.upper as u64);
        let lifespan = lifespan.expect("a tensor is live at a step");
        let buffer = Buffer::new(tensor.to_string(), self.size(tensor, tier), lifespan);
        buffer.aligned(self.space(tier).alignment)
    }

    /// Returns the cost of a tensor in a tier; `None` if the tier is not allowed or too small.
    pub fn cost(&self, tensor: usize, tier: TierId) -> Option<TierUse> {
        let cost = self.tensors[tensor].uses[tier.index()]?;
        (self.size(tensor, tier) <= self.space(tier).capacity).then_some(cost)
    }

    /// Returns the tiers in which a tensor may be stored, fastest first. Ties are broken in favour of the
    /// lower id.
    pub fn options(&self, tensor: usize) -> Vec<TierId> {
        let mut options: Vec<TierId> =
            self.tiers().filter(|&tier| self.cost(tensor, tier).is_some()).collect();
        options.sort_by_key(|&tier| self.cost(tensor, tier).map(|cost| cost.time));
        options
    }

    /// Returns the first tensor that fits into none of its allowed tiers, if any. If there is one, no plan
    /// exists.
    pub fn too_large(&self) -> Option<usize> {
        (0..self.tensors.len()).find(|&at| self.is_too_large(at))
    }

    /// Returns true if a tensor fits into none of its allowed tiers.
    pub(crate) fn is_too_large(&self, tensor: usize) -> bool {
        tensor < self.tensors.len() && self.tiers().all(|tier| self.cost(tensor, tier).is_none())
    }
}

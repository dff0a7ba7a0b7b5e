//! Tensors with lifespans, and the tiers each may live in.

use super::machine::TierKind;
use crate::instance::Buffer;
use crate::lifespan::Lifespan;
use crate::time::Time;
use crate::units::{Bytes, TierId, UnitId};

/// A tier as the problem sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierSpace {
    /// The name of the memory.
    pub name: String,
    /// On chip or off, inside a unit or between units.
    pub kind: TierKind,
    /// The units with access to it, ascending; none where all have.
    pub units: Option<Vec<UnitId>>,
    /// Size, bytes.
    pub capacity: Bytes,
    /// Tensors begin at multiples of this here, and are rounded up to it.
    pub alignment: Bytes,
}

impl TierSpace {
    /// Whether a unit reaches it.
    pub fn is_reached_by(&self, unit: UnitId) -> bool {
        self.units.as_ref().is_none_or(|units| units.contains(&unit))
    }
}

/// What one run costs for a tensor that lives in one tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TierUse {
    /// Time of all its accesses.
    pub time: Time,
    /// Bytes they move to and from the tier.
    pub traffic: Bytes,
}

/// A tensor that occupies one tier from its first step to its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierTensor {
    /// Its name.
    pub name: String,
    /// Bytes, not rounded.
    pub bytes: Bytes,
    /// First step at which it is live.
    pub lower: usize,
    /// First step after.
    pub upper: usize,
    /// The step that makes it; none where it comes from outside.
    pub producer: Option<usize>,
    /// Steps that read it, ascending.
    pub consumers: Vec<usize>,
    /// Per tier: what it costs there; none where it may not live there.
    pub uses: Vec<Option<TierUse>>,
}

/// One step: an operator, the unit that runs it, the group it is fused into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierStep {
    /// Name of the operator.
    pub name: String,
    /// The unit that runs it.
    pub unit: UnitId,
    /// Operators of one number run as one.
    pub group: usize,
}

/// What a plan says of places inside a tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addresses {
    /// Nothing: bytes are counted at every step. What that costs is a bound for plans with addresses.
    Counted,
    /// The address of every tensor in its tier.
    #[default]
    Placed,
}

/// Why tensors and tiers are no problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum TierError {
    /// No tier at all, or too many.
    #[error("{0} tiers; there must be from 1 to 64")]
    Tiers(usize),
    #[error("tier '{tier}' has alignment 0")]
    Alignment { tier: String },
    /// A tensor that is alive at no step, or at some that are not there.
    #[error("tensor '{tensor}' is alive from step {lower} to {upper}, of {steps}")]
    Lifespan {
        tensor: String,
        /// First step alive.
        lower: usize,
        /// First step after.
        upper: usize,
        steps: usize,
    },
    #[error("tensor '{tensor}' has costs for {given} tiers, of {tiers}")]
    Uses { tensor: String, given: usize, tiers: usize },
    #[error("tensor '{tensor}' may live in no tier: its units share none")]
    Homeless { tensor: String },
    /// Sizes or traffic whose sum leaves 63 bits.
    #[error("tensors up to '{tensor}' add up to 2^63 bytes or more, rounded or moved")]
    TooLarge { tensor: String },
    #[error("transfers up to those of '{tensor}' add up to more than 106 days")]
    TooLong { tensor: String },
}

/// Tensors, each to live in one of several tiers all its life. Validated once, immutable.
///
/// The dearest choices add up to at most [`Time::LONGEST`], and to less than 2^63 bytes of traffic and of room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierProblem {
    name: String,
    spaces: Vec<TierSpace>,
    steps: Vec<TierStep>,
    tensors: Vec<TierTensor>,
    addresses: Addresses,
}

impl TierProblem {
    /// A problem from its parts. Where there are no steps, tensors are alive at one. O(tensors x tiers).
    ///
    /// # Errors
    /// See [`TierError`].
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
        let (mut room, mut moved, mut time) = (0u128, 0u128, 0u128);
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
            room += most.map_or(1 << 64, u128::from);
            moved += uses().map(|one| u128::from(one.traffic.get())).max().unwrap_or(0);
            time += uses().map(|one| u128::from(one.time.get())).max().unwrap_or(0);
            if room.max(moved) > i64::MAX as u128 {
                return Err(TierError::TooLarge { tensor });
            }
            if time > u128::from(Time::LONGEST.get()) {
                return Err(TierError::TooLong { tensor });
            }
        }
        Ok(Self { name: name.into(), spaces, steps, tensors, addresses })
    }

    /// The same with or without addresses.
    #[must_use]
    pub fn with_addresses(mut self, addresses: Addresses) -> Self {
        self.addresses = addresses;
        self
    }

    /// The name that messages give the problem.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All tiers, by id.
    pub fn spaces(&self) -> &[TierSpace] {
        &self.spaces
    }

    /// One tier.
    ///
    /// # Panics
    /// If it is of another problem.
    pub fn space(&self, tier: TierId) -> &TierSpace {
        &self.spaces[tier.index()]
    }

    /// Ids of the tiers, ascending.
    pub fn tiers(&self) -> impl DoubleEndedIterator<Item = TierId> + ExactSizeIterator + use<> {
        (0..self.spaces.len()).map(TierId::at)
    }

    /// The operators in the order they run.
    pub fn steps(&self) -> &[TierStep] {
        &self.steps
    }

    /// Number of steps at which something may be alive: at least one.
    pub fn duration(&self) -> usize {
        self.steps.len().max(1)
    }

    /// All tensors to place.
    pub fn tensors(&self) -> &[TierTensor] {
        &self.tensors
    }

    /// Whether plans need addresses.
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Bytes that a tensor takes in a tier.
    ///
    /// # Panics
    /// If either is of another problem.
    pub fn size(&self, tensor: usize, tier: TierId) -> Bytes {
        let rounded = self.tensors[tensor].bytes.align_up(self.space(tier).alignment);
        rounded.expect("rounded sizes are bounded when a problem is made")
    }

    /// A tensor as a buffer of a tier's offset problem, named by its number.
    ///
    /// # Panics
    /// If either is of another problem.
    pub fn buffer(&self, tensor: usize, tier: TierId) -> Buffer {
        let one = &self.tensors[tensor];
        let lifespan = Lifespan::single(one.lower as u64, one.upper as u64);
        let lifespan = lifespan.expect("a tensor is alive at a step");
        let buffer = Buffer::new(tensor.to_string(), self.size(tensor, tier), lifespan);
        buffer.aligned(self.space(tier).alignment)
    }

    /// What a tensor costs in a tier; none where it may not live there, or is larger than it.
    pub fn cost(&self, tensor: usize, tier: TierId) -> Option<TierUse> {
        let cost = self.tensors[tensor].uses[tier.index()]?;
        (self.size(tensor, tier) <= self.space(tier).capacity).then_some(cost)
    }

    /// Tiers that a tensor may live in, the fastest first; of equals the first.
    pub fn options(&self, tensor: usize) -> Vec<TierId> {
        let mut options: Vec<TierId> =
            self.tiers().filter(|&tier| self.cost(tensor, tier).is_some()).collect();
        options.sort_by_key(|&tier| self.cost(tensor, tier).map(|cost| cost.time));
        options
    }

    /// The first tensor that fits no tier it may live in: then there is no plan.
    pub fn too_large(&self) -> Option<usize> {
        (0..self.tensors.len()).find(|&at| self.is_too_large(at))
    }

    /// True where a tensor of this position fits no tier it may live in.
    pub(crate) fn is_too_large(&self, tensor: usize) -> bool {
        tensor < self.tensors.len() && self.tiers().all(|tier| self.cost(tensor, tier).is_none())
    }
}

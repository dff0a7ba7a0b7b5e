//! A partial tier plan that keeps track of the free space.

use crate::offsets::report::{Fallback, anytime};
use plimsoll_model::tiers::{Addresses, TierKind, TierPlan, TierProblem, Tiers};
use plimsoll_model::timelines::Time;
use plimsoll_model::{Budget, Bytes, Solver, TierId};

/// The contents of a tier.
#[derive(Clone, Debug)]
struct Shelf {
    /// Live bytes at each step.
    loads: Vec<u64>,
    /// Per block of [`BLOCK`] consecutive steps: the tensors that are live in this block. The list is empty
    /// if plans have no addresses.
    blocks: Vec<Vec<u32>>,
}

/// Number of consecutive steps that share one list of tensors.
const BLOCK: usize = 32;

/// A partial tier plan that never exceeds a capacity.
///
/// Adding or removing a tensor takes time linear in the number of steps at which the tensor is live. With
/// addresses, adding a tensor also takes O(k log k) time for k tensors that are in the same tier at about the
/// same time.
#[derive(Clone, Debug)]
pub struct Fill<'a> {
    problem: &'a TierProblem,
    shelves: Vec<Shelf>,
    tiers: Vec<Option<TierId>>,
    offsets: Vec<Bytes>,
    time: u64,
}

impl<'a> Fill<'a> {
    /// Creates a plan without tensors.
    pub fn new(problem: &'a TierProblem) -> Self {
        let blocks = match problem.addresses() {
            Addresses::Counted => Vec::new(),
            Addresses::Placed => vec![Vec::new(); problem.duration().div_ceil(BLOCK)],
        };
        let shelf = Shelf { loads: vec![0; problem.duration()], blocks };
        let count = problem.tensors().len();
        Self {
            problem,
            shelves: vec![shelf; problem.spaces().len()],
            tiers: vec![None; count],
            offsets: vec![Bytes::ZERO; count],
            time: 0,
        }
    }

    /// Returns the tier of a tensor, or `None` if it is not placed.
    pub fn tier(&self, tensor: usize) -> Option<TierId> {
        self.tiers[tensor]
    }

    /// Returns the address of a placed tensor, or 0 if plans have no addresses. The result is meaningless if
    /// the tensor is not placed.
    pub fn offset(&self, tensor: usize) -> Bytes {
        self.offsets[tensor]
    }

    /// Returns the transfer time of the placed tensors.
    pub fn time(&self) -> Time {
        Time::new(self.time)
    }

    /// Returns the bytes that are free in a tier throughout the lifespan of a tensor.
    pub fn free(&self, tensor: usize, tier: TierId) -> u64 {
        let one = &self.problem.tensors()[tensor];
        let most = self.shelves[tier.index()].loads[one.lower..one.upper].iter().max();
        self.problem.space(tier).capacity.get() - most.copied().unwrap_or(0)
    }

    /// Places a tensor in a tier, at the lowest free address if plans have addresses. If the tensor is not
    /// allowed in the tier or does not fit, changes nothing and returns false.
    pub fn put(&mut self, tensor: usize, tier: TierId) -> bool {
        let Some(cost) = self.problem.cost(tensor, tier) else { return false };
        let size = self.problem.size(tensor, tier).get();
        if size > self.free(tensor, tier) {
            return false;
        }
        let mut offset = 0;
        if self.problem.addresses() == Addresses::Placed {
            for (start, end) in self.taken(tensor, tier) {
                if start >= offset + size {
                    break;
                }
                offset = offset.max(end);
            }
            if offset + size > self.problem.space(tier).capacity.get() {
                return false;
            }
        }
        self.hold(tensor, tier, offset, size);
        self.time += cost.time.get();
        true
    }

    /// Returns the address ranges of a tier that are in use during the lifespan of a tensor, in ascending
    /// order.
    fn taken(&self, tensor: usize, tier: TierId) -> Vec<(u64, u64)> {
        let tensors = self.problem.tensors();
        let one = &tensors[tensor];
        let first = one.lower / BLOCK;
        let mut taken = Vec::new();
        for (at, block) in
            self.shelves[tier.index()].blocks[first..one.upper.div_ceil(BLOCK)].iter().enumerate()
        {
            for &id in block {
                let other = &tensors[id as usize];
                // A tensor in several blocks counts only in the first of them.
                let is_first = (other.lower / BLOCK).max(first) == first + at;
                if is_first && other.lower < one.upper && one.lower < other.upper {
                    let start = self.offsets[id as usize].get();
                    taken.push((start, start + self.problem.size(id as usize, tier).get()));
                }
            }
        }
        taken.sort_unstable();
        taken
    }

    /// Puts a tensor back into its previous tier, at its previous address.
    pub fn put_back(&mut self, tensor: usize, tier: TierId, offset: Bytes) {
        let size = self.problem.size(tensor, tier).get();
        self.hold(tensor, tier, offset.get(), size);
        self.time += self.problem.cost(tensor, tier).map_or(0, |cost| cost.time.get());
    }

    fn hold(&mut self, tensor: usize, tier: TierId, offset: u64, size: u64) {
        let one = &self.problem.tensors()[tensor];
        let shelf = &mut self.shelves[tier.index()];
        shelf.loads[one.lower..one.upper].iter_mut().for_each(|load| *load += size);
        if self.problem.addresses() == Addresses::Placed {
            for block in &mut shelf.blocks[one.lower / BLOCK..one.upper.div_ceil(BLOCK)] {
                block.push(tensor as u32);
            }
        }
        self.tiers[tensor] = Some(tier);
        self.offsets[tensor] = Bytes::new(offset);
    }

    /// Removes a tensor and returns its tier, if it was placed.
    pub fn take(&mut self, tensor: usize) -> Option<TierId> {
        let tier = self.tiers[tensor].take()?;
        let one = &self.problem.tensors()[tensor];
        let size = self.problem.size(tensor, tier).get();
        let shelf = &mut self.shelves[tier.index()];
        shelf.loads[one.lower..one.upper].iter_mut().for_each(|load| *load -= size);
        if self.problem.addresses() == Addresses::Placed {
            for block in &mut shelf.blocks[one.lower / BLOCK..one.upper.div_ceil(BLOCK)] {
                block.retain(|&other| other as usize != tensor);
            }
        }
        self.time -= self.problem.cost(tensor, tier).map_or(0, |cost| cost.time.get());
        Some(tier)
    }

    /// Places a tensor in the fastest tier with enough space. Returns false if no tier has enough space.
    pub fn put_anywhere(&mut self, tensor: usize) -> bool {
        self.problem.options(tensor).into_iter().any(|tier| self.put(tensor, tier))
    }

    /// Returns the plan, or `None` if some tensor is not placed.
    pub fn plan(&self) -> Option<TierPlan> {
        let tiers: Option<Vec<TierId>> = self.tiers.iter().copied().collect();
        let placed = self.problem.addresses() == Addresses::Placed;
        Some(TierPlan { tiers: tiers?, offsets: placed.then(|| self.offsets.clone()) })
    }
}

/// Places a tensor in the fastest off-chip tier with enough space.
pub(super) fn off_chip(fill: &mut Fill<'_>, problem: &TierProblem, at: usize) -> bool {
    let options = problem.options(at);
    let mut outside = options.into_iter().filter(|&tier| problem.space(tier).kind == TierKind::Ddr);
    outside.any(|tier| fill.put(at, tier))
}

impl Fallback for Tiers {}

/// Creates a heuristic with the given name from a planning function.
pub(super) fn planner(
    name: &'static str,
    plan: impl Fn(&TierProblem, &mut Budget) -> Option<TierPlan> + Send + Sync + 'static,
) -> Box<dyn Solver<Tiers>> {
    anytime(name, move |problem: &TierProblem, budget, run| {
        if let Some(plan) = plan(problem, budget) {
            run.offer(plan);
        }
        budget.spend(problem.tensors().len() as u64).map_or(Ok(()), Err)
    })
}

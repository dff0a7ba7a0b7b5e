//! The spilling problem: which buffers stay in on-chip memory if they do not all fit.
//!
//! A *spilled* buffer is stored in the slower tier for its whole lifespan. Every access then moves the bytes
//! of the buffer, and the total over all accesses is its *traffic*. The other buffers need a layout within
//! the capacity. The goal is to minimise the traffic. The slower tier is unlimited. The problem is from the
//! cross-unit fusion paper, where tensors that do not fit are stored in DDR. In optimisation it is known as
//! storage allocation with rejection.

use crate::bound::{BoundError, LowerBound, Witness};
use crate::instance::{Buffer, Instance, InstanceBuilder};
use crate::offsets::check::conflict::{conflict, share_a_step};
use crate::offsets::check::{Violation, check_placed};
use crate::offsets::{Layout, Offsets};
use crate::problem::{Problem, Reduced};
use crate::units::{BufferId, Bytes};

/// The input of the spilling problem: buffers, a capacity, and the traffic of each buffer if it is spilled.
#[derive(Clone, Debug)]
pub struct SpillProblem {
    instance: Instance,
    traffic: Vec<Option<Bytes>>,
    capacity: Bytes,
    total: Bytes,
}

/// The reason why buffers and traffic do not form a spilling problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum SpillError {
    #[error("instance '{instance}' has no capacity")]
    NoCapacity { instance: String },
    #[error("there are {given} traffic values, but {expected} buffers")]
    Count { given: usize, expected: usize },
    #[error(
        "instance '{instance}' has rigid groups (column 'above'), which the spilling problem does not support"
    )]
    Groups { instance: String },
    #[error("the traffic of all buffers adds up to 2^63 - 1 bytes or more")]
    TooMuch,
}

impl SpillProblem {
    /// Creates a spilling problem with the capacity of the instance.
    ///
    /// `traffic` contains, for each buffer, the bytes moved if it is spilled, or `None` if it must stay in
    /// on-chip memory. Spilling a buffer of size 0 moves no bytes.
    ///
    /// # Errors
    /// The first [`SpillError`] found.
    pub fn new(instance: Instance, mut traffic: Vec<Option<Bytes>>) -> Result<Self, SpillError> {
        let Some(capacity) = instance.capacity() else {
            return Err(SpillError::NoCapacity { instance: instance.name().to_owned() });
        };
        if instance.has_groups() {
            return Err(SpillError::Groups { instance: instance.name().to_owned() });
        }
        if traffic.len() != instance.len() {
            return Err(SpillError::Count { given: traffic.len(), expected: instance.len() });
        }
        let moved = traffic.iter_mut().zip(instance.buffers()).filter(|(_, buffer)| buffer.is_empty());
        moved.for_each(|(bytes, _)| *bytes = bytes.map(|_| Bytes::ZERO));
        let total: u128 = traffic.iter().flatten().map(|bytes| u128::from(bytes.get())).sum();
        let total = u64::try_from(total).ok().filter(|total| *total < i64::MAX as u64);
        let total = Bytes::new(total.ok_or(SpillError::TooMuch)?);
        Ok(Self { instance, traffic, capacity, total })
    }

    /// Creates a spilling problem in which every buffer is [written once and read once](written_and_read).
    ///
    /// # Errors
    /// The first [`SpillError`] found.
    pub fn written_and_read(instance: Instance) -> Result<Self, SpillError> {
        let traffic = written_and_read(&instance);
        Self::new(instance, traffic)
    }

    /// Returns the instance with the buffers and the capacity.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// Returns the size of on-chip memory in bytes.
    pub fn capacity(&self) -> Bytes {
        self.capacity
    }

    /// Returns the bytes moved if a buffer is spilled; `None` if the buffer must stay in on-chip memory.
    pub fn traffic(&self, id: BufferId) -> Option<Bytes> {
        self.traffic[id.index()]
    }

    /// Returns the traffic in bytes if every buffer that may be spilled is spilled.
    pub fn total(&self) -> Bytes {
        self.total
    }
}

/// Returns the traffic of each buffer if it is written once and read once: twice its size, which is less than
/// 2^64.
pub fn written_and_read(instance: &Instance) -> Vec<Option<Bytes>> {
    instance.buffers().iter().map(|buffer| Some(Bytes::new(buffer.size().get() * 2))).collect()
}

/// The answer to the spilling problem: an offset for each buffer that stays on chip, and `None` for each
/// spilled buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    offsets: Vec<Option<Bytes>>,
}

impl Spill {
    /// Creates an answer from offsets, indexed by buffer.
    pub fn new(offsets: Vec<Option<Bytes>>) -> Self {
        Self { offsets }
    }

    /// Creates an answer that keeps the buffers in `kept` at the offsets of `layout` and spills the others.
    /// `layout` is a layout of the instance [induced](Instance::induced) by `kept`.
    pub fn of_layout(problem: &SpillProblem, kept: &[BufferId], layout: &Layout) -> Self {
        let mut offsets = vec![None; problem.instance.len()];
        for (id, offset) in kept.iter().zip(layout.offsets()) {
            offsets[id.index()] = Some(*offset);
        }
        Self { offsets }
    }

    /// Returns the offsets in bytes, indexed by buffer. Spilled buffers have `None`.
    pub fn offsets(&self) -> &[Option<Bytes>] {
        &self.offsets
    }

    /// Returns the ids of the spilled buffers, ascending.
    pub fn spilled(&self) -> impl Iterator<Item = BufferId> + '_ {
        self.offsets.iter().enumerate().filter(|(_, offset)| offset.is_none()).map(|(at, _)| BufferId::at(at))
    }

    /// Returns the peak in bytes: the highest end of the buffers that stay on chip.
    pub fn peak(&self, problem: &SpillProblem) -> Bytes {
        let ends = self.offsets.iter().zip(problem.instance.buffers());
        let end = |(offset, b): (&Option<Bytes>, &Buffer)| {
            let offset = offset.as_ref().filter(|_| !b.is_empty())?;
            Some(offset.get().saturating_add(b.size().get()))
        };
        Bytes::new(ends.filter_map(end).max().unwrap_or(0))
    }

    /// Returns the traffic in bytes. If the answer spills a buffer that must stay on chip, this buffer adds
    /// no traffic, and the checker rejects the answer.
    pub fn traffic(&self, problem: &SpillProblem) -> Bytes {
        Bytes::new(self.spilled().filter_map(|id| problem.traffic.get(id.index())?.map(Bytes::get)).sum())
    }
}

/// Returns all violations of a spilling answer. The buffers that stay on chip are checked as in
/// [`check_layout`](crate::check_layout).
pub fn check_spill(problem: &SpillProblem, spill: &Spill) -> Vec<Violation> {
    let mut violations = check_placed(&problem.instance, &spill.offsets);
    for id in spill.spilled().take_while(|id| id.index() < problem.instance.len()) {
        if problem.traffic[id.index()].is_none() {
            let name = problem.instance.buffer(id).name().to_owned();
            violations.push(Violation::MayNotLeave { buffer: id, name });
        }
    }
    violations
}

/// The spilling problem: choose the buffers that stay in on-chip memory, and minimise the traffic.
///
/// [`Problem::capacity`] is the traffic of spilling every buffer that may be spilled. A bound above this
/// traffic proves that the buffers that must stay on chip do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spilling {}

impl Problem for Spilling {
    type Input = SpillProblem;
    type Solution = Spill;
    type Value = Bytes;
    type Witness = Witness;
    type Violation = Violation;
    const NAME: &'static str = "spilling";

    fn value(input: &SpillProblem, solution: &Spill) -> Bytes {
        solution.traffic(input)
    }

    fn capacity(input: &SpillProblem) -> Option<Bytes> {
        Some(input.total)
    }

    fn floor(_: &SpillProblem) -> LowerBound {
        LowerBound::trivial()
    }

    /// Removes buffers of size 0. Contradictory fixed offsets do not prove infeasibility, because spilling
    /// may resolve them.
    fn reduced(input: &SpillProblem) -> Reduced<Self> {
        let instance = &input.instance;
        if !instance.has_empty() {
            return Reduced::Whole;
        }
        let kept: Vec<BufferId> = instance.ids().filter(|&id| !instance.buffer(id).is_empty()).collect();
        let part = SpillProblem {
            instance: instance.induced(&kept),
            traffic: kept.iter().map(|&id| input.traffic(id)).collect(),
            ..*input
        };
        Reduced::Part { input: part, kept }
    }

    /// Keeps the removed buffers on chip, at their fixed offsets or at 0. They have size 0.
    fn extended(input: &SpillProblem, kept: &[BufferId], part: Spill) -> Spill {
        let stays = |b: &Buffer| Some(b.fixed().unwrap_or_default());
        let mut offsets: Vec<Option<Bytes>> = input.instance.buffers().iter().map(stays).collect();
        for (id, offset) in kept.iter().zip(part.offsets()) {
            offsets[id.index()] = *offset;
        }
        Spill { offsets }
    }

    fn explain(input: &SpillProblem, witness: &Witness) -> String {
        witness.in_words(&input.instance)
    }

    fn name_of<'a>(input: &'a SpillProblem, member: &str, index: usize) -> Option<&'a str> {
        Offsets::name_of(&input.instance, member, index)
    }

    fn check(input: &SpillProblem, solution: &Spill) -> Vec<Violation> {
        check_spill(input, solution)
    }

    fn confirm(input: &SpillProblem, bound: &LowerBound) -> Result<(), BoundError> {
        let shown = match &bound.witness {
            Witness::Trivial => Bytes::ZERO,
            Witness::Excess { buffers } => excess_cost(input, buffers)?,
            Witness::Search { solver } => return Err(BoundError::NotCheckable(solver.clone())),
            other => return Err(BoundError::Foreign(other.in_words(&input.instance))),
        };
        bound.shown_by(shown)
    }
}

/// Returns a lower bound on the traffic. The given buffers conflict pairwise, so spilling must remove the
/// excess of their total size over the capacity. The bound is the minimum traffic under two assumptions:
/// fractions of a buffer may be spilled, and spilling a whole buffer removes at most the excess. If spilling
/// cannot remove the excess, the function returns one byte more than the total traffic. O(k^2) for k buffers.
///
/// # Errors
/// [`BoundError`] if a buffer does not exist or is repeated, or if two of the buffers do not conflict.
pub fn excess_cost(problem: &SpillProblem, buffers: &[BufferId]) -> Result<Bytes, BoundError> {
    let instance = &problem.instance;
    let together = share_a_step(instance, buffers);
    let mut seen = vec![false; instance.len()];
    for (at, &a) in buffers.iter().enumerate() {
        if seen.get_mut(a.index()).is_none_or(|seen| std::mem::replace(seen, true)) {
            return Err(BoundError::bad_buffer(instance, a));
        }
        if !together && let Some(&b) = buffers[..at].iter().find(|&&b| !conflict(instance, a, b)) {
            return Err(BoundError::no_conflict(instance, b, a));
        }
    }
    let size = |id: BufferId| u128::from(instance.buffer(id).size().get());
    let all: u128 = buffers.iter().map(|&id| size(id)).sum();
    let mut excess = all.saturating_sub(u128::from(problem.capacity.get()));
    let mut offers: Vec<(u128, u128)> = buffers
        .iter()
        // A buffer larger than the excess removes at most the excess, whether it is spilled completely or in
        // part.
        .filter_map(|&id| Some((u128::from(problem.traffic(id)?.get()), size(id).min(excess))))
        .filter(|&(_, size)| size > 0)
        .collect();
    // Buffers with the least traffic per byte come first. The comparison uses cross products of numbers
    // below 2^63.
    offers.sort_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)).then(a.cmp(b)));
    let mut cost = 0u128;
    for (traffic, size) in offers {
        if excess == 0 {
            break;
        }
        let taken = excess.min(size);
        cost += if taken == size { traffic } else { (traffic * taken).div_ceil(size) };
        excess -= taken;
    }
    let beyond = u128::from(problem.total.get()) + 1;
    Ok(Bytes::new(u64::try_from(if excess > 0 { beyond } else { cost }).unwrap_or(u64::MAX)))
}

impl Instance {
    /// Returns the instance restricted to the buffers in `kept`, with their separations, exclusions and rigid
    /// groups, and with the capacity. `kept` must be ascending.
    ///
    /// The base of a group cannot become negative if its lowest members are removed. Therefore, every layout
    /// of the part can be extended to removed buffers that conflict with no other buffer.
    #[must_use]
    pub fn induced(&self, kept: &[BufferId]) -> Self {
        self.induced_with(kept, |buffer| buffer)
    }

    /// Returns the same instance as [`induced`](Self::induced), with each buffer modified by `change`. The
    /// modified buffers must be valid.
    pub(crate) fn induced_with(&self, kept: &[BufferId], change: impl FnMut(Buffer) -> Buffer) -> Self {
        let mut place = vec![usize::MAX; self.len()];
        for (at, id) in kept.iter().enumerate() {
            place[id.index()] = at;
        }
        let buffers: Vec<Buffer> = kept.iter().map(|&id| self.buffer(id).clone()).map(change).collect();
        let groups = self.groups().restricted(&place, &buffers);
        let mut builder = InstanceBuilder::new(self.name()).buffers(buffers).capacity(self.capacity());
        let inside =
            |&(a, b): &(BufferId, BufferId)| place[a.index()] != usize::MAX && place[b.index()] != usize::MAX;
        for (a, b) in self.separations().iter().filter(inside) {
            builder = builder.separate(place[a.index()], place[b.index()]);
        }
        for (a, b) in self.exclusions().iter().filter(inside) {
            builder = builder.exclude(place[a.index()], place[b.index()]);
        }
        builder.build().expect("a part of a valid instance is valid").with_groups(groups)
    }
}

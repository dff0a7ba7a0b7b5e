//! The problems on instances: offsets, split buffers and shared objects.

use super::bound::{simple_bound, verify_bound};
use super::check::{Violation, check_layout, check_shared_objects, check_split_buffers};
use super::layout::{Layout, PoolPlan, SplitLayout};
use super::normal::{normalised, rounded};
use crate::bound::{BoundError, LowerBound, Reason as _, Witness};
use crate::instance::{Buffer, Instance};
use crate::load::{live_at, load};
use crate::problem::{Problem, Reduced};
use crate::units::{BufferId, Bytes, PoolId, Step};

/// Removes buffers of size 0.
fn sized<P: Problem<Input = Instance>>(input: &Instance) -> Reduced<P> {
    if !input.has_empty() {
        return Reduced::Whole;
    }
    let kept: Vec<BufferId> = input.ids().filter(|&id| !input.buffer(id).is_empty()).collect();
    Reduced::Part { input: input.induced(&kept), kept }
}

/// Removes buffers of size 0, or proves that fixed offsets contradict each other.
fn placeable<P>(input: &Instance) -> Reduced<P>
where
    P: Problem<Input = Instance, Value = Bytes, Witness = Witness>,
{
    input.contradiction().map_or_else(|| sized(input), Reduced::Infeasible)
}

/// Extends the offsets of a part to the whole instance. Each buffer outside the part is placed at its fixed
/// offset, or at 0 if it has none.
fn spread(input: &Instance, kept: &[BufferId], part: &[Bytes]) -> Vec<Bytes> {
    let mut offsets: Vec<Bytes> = input.buffers().iter().map(|b| b.fixed().unwrap_or_default()).collect();
    for (id, offset) in kept.iter().zip(part) {
        offsets[id.index()] = *offset;
    }
    offsets
}

/// Places the members of size 0 of each rigid group at their distances from the others. If all members have
/// size 0, the base is as low as possible.
fn attached(input: &Instance, mut offsets: Vec<Bytes>) -> Vec<Bytes> {
    for group in input.groups().all() {
        let sized = group.members().iter().find(|(id, _)| !input.buffer(*id).is_empty());
        let base = sized.map_or(group.residue(), |&(id, distance)| {
            Bytes::new(offsets[id.index()].get().saturating_sub(distance.get()))
        });
        for &(id, distance) in group.members().iter().filter(|(id, _)| input.buffer(*id).is_empty()) {
            offsets[id.index()] = Bytes::new(base.get() + distance.get());
        }
    }
    offsets
}

/// Returns the total size of the buffers that are live at `step`.
fn sum_at(instance: &Instance, step: Step) -> Bytes {
    Bytes::new(live_at(instance, step).into_iter().map(|id| instance.buffer(id).size().get()).sum())
}

/// The items shared by all problems whose input is an instance: the capacity, the text of witnesses, the
/// checker, and all associated types except the solution.
macro_rules! on_instances {
    ($check:path) => {
        type Input = Instance;
        type Value = Bytes;
        type Witness = Witness;
        type Violation = Violation;

        fn capacity(input: &Instance) -> Option<Bytes> {
            input.capacity()
        }

        fn has_groups(input: &Instance) -> bool {
            input.has_groups()
        }

        fn explain(input: &Instance, witness: &Witness) -> String {
            witness.in_words(input)
        }

        fn name_of<'a>(input: &'a Instance, member: &str, index: usize) -> Option<&'a str> {
            input.buffers().get(index).filter(|_| member == "buffer").map(Buffer::name)
        }

        fn check(input: &Instance, solution: &Self::Solution) -> Vec<Violation> {
            $check(input, solution)
        }

        fn check_unlimited(input: &Instance, solution: &Self::Solution) -> Vec<Violation> {
            $check(&input.clone().with_capacity(None), solution)
        }
    };
}

/// The offset problem: assign one offset to each buffer and minimise the peak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offsets {}

impl Problem for Offsets {
    type Solution = Layout;
    const NAME: &'static str = "offsets";
    on_instances!(check_layout);

    fn value(input: &Instance, solution: &Layout) -> Bytes {
        solution.peak(input)
    }

    fn limit(input: &Instance) -> Option<Bytes> {
        Some(input.limit())
    }

    fn floor(input: &Instance) -> LowerBound {
        simple_bound(input)
    }

    /// Removes buffers of size 0 and constraints without effect.
    fn reduced(input: &Instance) -> Reduced<Self> {
        match placeable(input) {
            Reduced::Whole => match normalised(input) {
                Some(normal) => Reduced::Part { input: normal, kept: input.ids().collect() },
                None => Reduced::Whole,
            },
            Reduced::Part { input: part, kept } => {
                let input = normalised(&part).unwrap_or(part);
                Reduced::Part { input, kept }
            }
            infeasible @ Reduced::Infeasible(_) => infeasible,
        }
    }

    fn extended(input: &Instance, kept: &[BufferId], part: Layout) -> Layout {
        Layout::new(attached(input, rounded(input, spread(input, kept, part.offsets()))))
    }

    /// A load of the part may count a buffer at a step at which it is not live in the whole. The buffers then
    /// conflict at other steps.
    fn lifted(input: &Instance, part: &Instance, kept: &[BufferId], bound: LowerBound) -> LowerBound {
        let witness = match bound.witness {
            Witness::Load { step } if sum_at(input, step) < bound.value => {
                Witness::Clique { buffers: live_at(part, step) }
            }
            witness => witness,
        };
        LowerBound::new(bound.value, witness.of_whole(kept))
    }

    fn confirm(input: &Instance, bound: &LowerBound) -> Result<(), BoundError> {
        verify_bound(input, bound)
    }
}

/// The split-buffer problem: the offset problem for buffers that may be divided into pieces (memory-planning
/// patent).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitBuffers {}

impl Problem for SplitBuffers {
    type Solution = SplitLayout;
    const NAME: &'static str = "split-buffers";
    on_instances!(check_split_buffers);

    fn value(_: &Instance, solution: &SplitLayout) -> Bytes {
        solution.peak()
    }

    fn limit(input: &Instance) -> Option<Bytes> {
        Some(input.limit())
    }

    /// Conflicting buffers never share addresses, whether they are split or not. The simple bound therefore
    /// also holds for split buffers.
    fn floor(input: &Instance) -> LowerBound {
        simple_bound(input)
    }

    fn reduced(input: &Instance) -> Reduced<Self> {
        placeable(input)
    }

    fn extended(input: &Instance, kept: &[BufferId], part: SplitLayout) -> SplitLayout {
        let mut pieces = vec![Vec::new(); input.len()];
        for (id, own) in kept.iter().zip(part.pieces()) {
            pieces[id.index()].clone_from(own);
        }
        SplitLayout::new(pieces)
    }

    fn confirm(input: &Instance, bound: &LowerBound) -> Result<(), BoundError> {
        verify_bound(input, bound)
    }
}

/// The shared-object problem: assign one object to each buffer and minimise the sum of the object sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedObjects {}

impl Problem for SharedObjects {
    type Solution = PoolPlan;
    const NAME: &'static str = "shared-objects";
    on_instances!(check_shared_objects);

    fn value(_: &Instance, solution: &PoolPlan) -> Bytes {
        solution.total()
    }

    /// Returns the load, or the size of the largest buffer if the instance has exclusions. Alignments and
    /// fixed offsets are ignored, because shared objects have no addresses.
    fn floor(input: &Instance) -> LowerBound {
        if input.exclusions().is_empty() && !input.is_empty() {
            let (value, step) = load(input);
            return LowerBound::new(value, Witness::Load { step });
        }
        let largest = input.ids().max_by_key(|&id| (input.buffer(id).size(), std::cmp::Reverse(id)));
        largest.map_or_else(LowerBound::trivial, |id| {
            LowerBound::new(input.buffer(id).size(), Witness::Clique { buffers: vec![id] })
        })
    }

    /// Removes buffers of size 0. Fixed offsets are ignored, because shared objects have no addresses.
    fn reduced(input: &Instance) -> Reduced<Self> {
        sized(input)
    }

    /// Assigns the removed buffers to the first object. They have size 0 and fit into any object.
    fn extended(input: &Instance, kept: &[BufferId], part: PoolPlan) -> PoolPlan {
        let mut assignment = vec![PoolId::at(0); input.len()];
        for (id, pool) in kept.iter().zip(part.assignment()) {
            assignment[id.index()] = *pool;
        }
        let sizes = if part.sizes().is_empty() { vec![Bytes::ZERO] } else { part.sizes().to_vec() };
        PoolPlan::new(assignment, sizes)
    }

    fn confirm(input: &Instance, bound: &LowerBound) -> Result<(), BoundError> {
        // Alignments and fixed offsets concern addresses, which shared objects do not have.
        match bound.witness {
            Witness::AlignedClique { .. }
            | Witness::Fixed { .. }
            | Witness::Raised { .. }
            | Witness::Contradiction { .. } => Err(BoundError::Foreign(bound.witness.in_words(input))),
            _ => verify_bound(input, bound),
        }
    }
}

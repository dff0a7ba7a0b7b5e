//! The trait that all problems implement, the problems on instances, and the order problem.

use crate::bound::{BoundError, LowerBound, Reason, Witness, verify_bound};
use crate::check::{Violation, check_layout, check_shared_objects, check_split_buffers};
use crate::instance::{Buffer, Instance};
use crate::layout::{Layout, PoolPlan, SplitLayout};
use crate::load::live_at;
use crate::normal::{normalised, rounded};
use crate::orders::{Order, OrderProblem, check_order, confirm_order_bound, recomputed_peak};
use crate::units::{BufferId, Bytes, OperatorId, PoolId, Step};
use crate::value::Value;
use std::fmt;

/// A kind of problem: it defines the input, the solution, the value to minimise, and the checker.
///
/// Smaller values are better. A problem that maximises a quantity orders its values in reverse.
pub trait Problem: Copy + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// The input.
    type Input;
    /// The answer.
    type Solution: Clone + fmt::Debug + PartialEq + Send;
    /// The value to minimise.
    type Value: Value;
    /// The reason for a bound.
    type Witness: Reason;
    /// A violation that the checker finds in a solution.
    type Violation: fmt::Debug + fmt::Display + PartialEq;
    /// The name of the problem in tables and files.
    const NAME: &'static str;

    /// Returns the value of a solution. The solution may be invalid.
    fn value(input: &Self::Input, solution: &Self::Solution) -> Self::Value;

    /// Returns the worst value that a solution may have; `None` if the value is not limited.
    fn capacity(_input: &Self::Input) -> Option<Self::Value> {
        None
    }

    /// Returns a limit that the value of an optimal solution does not exceed if any solution exists. A lower
    /// bound above this limit proves infeasibility. By default, the limit is the capacity.
    fn limit(input: &Self::Input) -> Option<Self::Value> {
        Self::capacity(input)
    }

    /// Returns true if the input has rigid groups, which only some algorithms support.
    fn has_groups(_input: &Self::Input) -> bool {
        false
    }

    /// Returns the part of an input that an algorithm needs. [`guarded`](crate::guarded()) passes only this
    /// part to the algorithm.
    fn reduced(_input: &Self::Input) -> Reduced<Self> {
        Reduced::Whole
    }

    /// Extends a solution of the part that [`Problem::reduced`] returned to a solution of the whole input.
    fn extended(_input: &Self::Input, _kept: &[BufferId], part: Self::Solution) -> Self::Solution {
        part
    }

    /// Converts a bound for the part that [`Problem::reduced`] returned into a bound for the whole input.
    fn lifted(
        _input: &Self::Input,
        _part: &Self::Input,
        kept: &[BufferId],
        bound: Bound<Self>,
    ) -> Bound<Self> {
        Bound::<Self>::new(bound.value, bound.witness.of_whole(kept))
    }

    /// Describes a witness as text, with the names that the input uses.
    fn explain(_input: &Self::Input, witness: &Self::Witness) -> String {
        witness.to_string()
    }

    /// Returns the name that the input uses for the item with this index. `member` is the member of the
    /// witness that refers to the item, such as `buffer` or `operator`.
    fn name_of<'a>(_input: &'a Self::Input, _member: &str, _index: usize) -> Option<&'a str> {
        None
    }

    /// Returns all violations that the checker finds in a solution.
    fn check(input: &Self::Input, solution: &Self::Solution) -> Vec<Self::Violation>;

    /// Returns all violations except those of the capacity.
    fn check_unlimited(input: &Self::Input, solution: &Self::Solution) -> Vec<Self::Violation> {
        Self::check(input, solution)
    }

    /// Confirms a bound by recomputing its witness from the definitions.
    ///
    /// # Errors
    /// The first reason why the witness does not prove the bound. [`BoundError::NotCheckable`] means that the
    /// bound can be confirmed only by repeating a search.
    fn confirm(input: &Self::Input, bound: &Bound<Self>) -> Result<(), BoundError>;
}

/// A value that no solution of a problem can improve on, with its witness.
pub type Bound<P> = LowerBound<<P as Problem>::Value, <P as Problem>::Witness>;

/// The part of an input that an algorithm needs.
pub enum Reduced<P: Problem> {
    /// The whole input, unchanged.
    Whole,
    /// No part: the bound proves that no solution exists.
    Infeasible(Bound<P>),
    /// The input restricted to the buffers in `kept`, in a form that may have fewer constraints.
    Part {
        /// The restricted input.
        input: P::Input,
        /// The buffers of the restricted input, by their ids in the whole input, ascending.
        kept: Vec<BufferId>,
    },
}

/// A problem whose input is an [`Instance`] and whose value is in bytes.
pub trait InstanceProblem: Problem<Input = Instance, Value = Bytes, Witness = Witness> {}

impl<P: Problem<Input = Instance, Value = Bytes, Witness = Witness>> InstanceProblem for P {}

/// Removes buffers of size 0.
fn sized<P: InstanceProblem>(input: &Instance) -> Reduced<P> {
    if !input.has_empty() {
        return Reduced::Whole;
    }
    let kept: Vec<BufferId> = input.ids().filter(|&id| !input.buffer(id).is_empty()).collect();
    Reduced::Part { input: input.induced(&kept), kept }
}

/// Removes buffers of size 0, or proves that fixed offsets contradict each other.
fn placeable<P: InstanceProblem>(input: &Instance) -> Reduced<P> {
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

/// The order problem: find a topological order of the operators that minimises the peak live bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {}

impl Problem for Orders {
    type Input = OrderProblem;
    type Solution = Order;
    type Value = Bytes;
    type Witness = Witness;
    type Violation = Violation;
    const NAME: &'static str = "orders";

    fn value(input: &OrderProblem, order: &Order) -> Bytes {
        recomputed_peak(input, order)
    }

    fn check(input: &OrderProblem, order: &Order) -> Vec<Violation> {
        check_order(input, order)
    }

    fn explain(input: &OrderProblem, witness: &Witness) -> String {
        input.explain(witness)
    }

    fn name_of<'a>(input: &'a OrderProblem, member: &str, index: usize) -> Option<&'a str> {
        let exists = member == "operator" && index < input.len();
        exists.then(|| input.operator(OperatorId::at(index)))
    }

    fn confirm(input: &OrderProblem, bound: &LowerBound) -> Result<(), BoundError> {
        confirm_order_bound(input, bound)
    }
}

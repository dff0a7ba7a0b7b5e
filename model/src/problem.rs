//! The trait that all problems share, and the problems on buffers.

use crate::bound::{BoundError, LowerBound, Reason, Witness, verify_bound};
use crate::check::{Violation, check_layout, check_shared_objects, check_split_buffers};
use crate::instance::Instance;
use crate::layout::{Layout, PoolPlan, SplitLayout};
use crate::orders::{Order, OrderProblem, check_order, confirm_order_bound, recomputed_peak};
use crate::units::{BufferId, Bytes, PoolId};
use crate::value::Value;
use std::fmt;

/// A kind of problem: what goes in, what comes out, what is optimised, how an answer is checked.
///
/// The smaller of two values is the better one. A problem that maximises orders its values the other way round.
pub trait Problem: Copy + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// What goes in.
    type Input;
    /// What comes out.
    type Solution: Clone + fmt::Debug + PartialEq + Send;
    /// What is optimised.
    type Value: Value;
    /// Why a bound holds.
    type Witness: Reason;
    /// What can be wrong with a solution.
    type Violation: fmt::Debug + fmt::Display + PartialEq;
    /// Its word in tables and files.
    const NAME: &'static str;

    /// The value of a solution. The solution may be invalid.
    fn value(input: &Self::Input, solution: &Self::Solution) -> Self::Value;

    /// The worst value that a solution may have.
    fn capacity(_input: &Self::Input) -> Option<Self::Value> {
        None
    }

    /// The worst value that a solution has where one exists: a bound above it proves that none exists. The
    /// capacity, unless something better is known.
    fn limit(input: &Self::Input) -> Option<Self::Value> {
        Self::capacity(input)
    }

    /// What an algorithm has to see of an input; [`guarded`](crate::guarded) shows it no more.
    fn reduced(_input: &Self::Input) -> Reduced<Self> {
        Reduced::Whole
    }

    /// The solution of the whole that goes with the solution of a part, as [`Problem::reduced`] gave it.
    fn extended(_input: &Self::Input, _kept: &[BufferId], part: Self::Solution) -> Self::Solution {
        part
    }

    /// A witness in words, with the names of the input.
    fn explain(_input: &Self::Input, witness: &Self::Witness) -> String {
        witness.to_string()
    }

    /// Everything wrong with a solution, by the checker.
    fn check(input: &Self::Input, solution: &Self::Solution) -> Vec<Self::Violation>;

    /// The same but for the capacity, which the solution may exceed.
    fn check_unlimited(input: &Self::Input, solution: &Self::Solution) -> Vec<Self::Violation> {
        Self::check(input, solution)
    }

    /// Confirms that the witness of a bound shows it, from the definitions.
    ///
    /// # Errors
    /// The first reason for doubt; [`BoundError::NotCheckable`] where only a repeated search could tell.
    fn confirm(input: &Self::Input, bound: &Bound<Self>) -> Result<(), BoundError>;
}

/// A value that no solution of a problem can be better than, and why.
pub type Bound<P> = LowerBound<<P as Problem>::Value, <P as Problem>::Witness>;

/// What of an input an algorithm has to see.
pub enum Reduced<P: Problem> {
    /// All of it, unchanged.
    Whole,
    /// Nothing: no solution exists, for this reason.
    Infeasible(Bound<P>),
    /// The input of the buffers `kept`, ascending ids of the whole.
    Part {
        /// That input.
        input: P::Input,
        /// Its buffers, by their ids in the whole.
        kept: Vec<BufferId>,
    },
}

/// A problem whose input is an instance and whose value is a number of bytes.
pub trait InstanceProblem: Problem<Input = Instance, Value = Bytes, Witness = Witness> {}

impl<P: Problem<Input = Instance, Value = Bytes, Witness = Witness>> InstanceProblem for P {}

/// An instance without buffers of size 0.
fn sized<P: InstanceProblem>(input: &Instance) -> Reduced<P> {
    if !input.has_empty() {
        return Reduced::Whole;
    }
    let kept: Vec<BufferId> = input.ids().filter(|&id| !input.buffer(id).is_empty()).collect();
    Reduced::Part { input: input.induced(&kept), kept }
}

/// The same, where fixed offsets can be kept.
fn placeable<P: InstanceProblem>(input: &Instance) -> Reduced<P> {
    input.contradiction().map_or_else(|| sized(input), Reduced::Infeasible)
}

/// Offsets of a part as offsets of the whole: what is not in the part lies at its fixed offset, or at 0.
fn spread(input: &Instance, kept: &[BufferId], part: &[Bytes]) -> Vec<Bytes> {
    let mut offsets: Vec<Bytes> = input.buffers().iter().map(|b| b.fixed().unwrap_or_default()).collect();
    for (id, offset) in kept.iter().zip(part) {
        offsets[id.index()] = *offset;
    }
    offsets
}

/// What problems share whose input is an instance: the associated types but the solution, the capacity, witnesses in
/// words, and the checker.
macro_rules! on_instances {
    ($check:path) => {
        type Input = Instance;
        type Value = Bytes;
        type Witness = Witness;
        type Violation = Violation;

        fn capacity(input: &Instance) -> Option<Bytes> {
            input.capacity()
        }

        fn explain(input: &Instance, witness: &Witness) -> String {
            witness.in_words(input)
        }

        fn check(input: &Instance, solution: &Self::Solution) -> Vec<Violation> {
            $check(input, solution)
        }

        fn check_unlimited(input: &Instance, solution: &Self::Solution) -> Vec<Violation> {
            $check(&input.clone().with_capacity(None), solution)
        }
    };
}

/// The offset problem: one offset per buffer, minimum peak.
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

    fn reduced(input: &Instance) -> Reduced<Self> {
        placeable(input)
    }

    fn extended(input: &Instance, kept: &[BufferId], part: Layout) -> Layout {
        Layout::new(spread(input, kept, part.offsets()))
    }

    fn confirm(input: &Instance, bound: &LowerBound) -> Result<(), BoundError> {
        verify_bound(input, bound)
    }
}

/// The offset problem where buffers may be cut into pieces (SOURCES S2).
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

/// The shared-object problem: one pool per buffer, minimum sum of pool sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedObjects {}

impl Problem for SharedObjects {
    type Solution = PoolPlan;
    const NAME: &'static str = "shared-objects";
    on_instances!(check_shared_objects);

    fn value(_: &Instance, solution: &PoolPlan) -> Bytes {
        solution.total()
    }

    /// Fixed offsets concern addresses, of which pools have none.
    fn reduced(input: &Instance) -> Reduced<Self> {
        sized(input)
    }

    /// What takes no byte fits into any pool.
    fn extended(input: &Instance, kept: &[BufferId], part: PoolPlan) -> PoolPlan {
        let mut assignment = vec![PoolId::at(0); input.len()];
        for (id, pool) in kept.iter().zip(part.assignment()) {
            assignment[id.index()] = *pool;
        }
        let sizes = if part.sizes().is_empty() { vec![Bytes::ZERO] } else { part.sizes().to_vec() };
        PoolPlan::new(assignment, sizes)
    }

    fn confirm(input: &Instance, bound: &LowerBound) -> Result<(), BoundError> {
        // Alignments and fixed offsets concern addresses, of which pools have none.
        match bound.witness {
            Witness::AlignedClique { .. } | Witness::Fixed { .. } | Witness::Contradiction { .. } => {
                Err(BoundError::Foreign(bound.witness.in_words(input)))
            }
            _ => verify_bound(input, bound),
        }
    }
}

/// The order problem: a topological order of the operators, least peak of bytes alive.
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

    fn confirm(input: &OrderProblem, bound: &LowerBound) -> Result<(), BoundError> {
        confirm_order_bound(input, bound)
    }
}

//! One trait for every algorithm, fast or exact, and the entries a registry is made of.

use crate::bound::{BoundError, LowerBound, Witness, verify_bound};
use crate::budget::Budget;
use crate::check::{Violation, check_layout, check_pools, check_scattered};
use crate::guarded::Reduced;
use crate::instance::Instance;
use crate::layout::{Layout, PoolPlan, ScatteredLayout};
use crate::order::{Order, OrderProblem, check_order, confirm_order_bound, recomputed_peak};
use crate::outcome::Outcome;
use crate::units::{BufferId, Bytes, PoolId};
use std::fmt;

/// A kind of problem: what goes in, what comes out, what is minimised, how an answer is checked.
pub trait Problem: 'static {
    /// What goes in.
    type Input;
    /// What comes out.
    type Solution: Clone + fmt::Debug + Send;
    /// Its word in tables and files.
    const NAME: &'static str;

    /// The value that is minimised, in bytes.
    fn value(input: &Self::Input, solution: &Self::Solution) -> Bytes;

    /// The most bytes a solution may take.
    fn capacity(_input: &Self::Input) -> Option<Bytes> {
        None
    }

    /// The most bytes that a solution takes where there is one: a bound above it says that there is none. The
    /// capacity, unless something less is known.
    fn limit(input: &Self::Input) -> Option<Bytes> {
        Self::capacity(input)
    }

    /// What an algorithm has to see of an input; [`guarded`](crate::guarded) shows it no more.
    fn reduced(_input: &Self::Input) -> Reduced<Self::Input> {
        Reduced::Whole
    }

    /// The solution of the whole that goes with the solution of a part, as [`Problem::reduced`] gave it.
    fn extended(_input: &Self::Input, _kept: &[BufferId], part: Self::Solution) -> Self::Solution {
        part
    }

    /// A witness in words, with the names of the input.
    fn explain(_input: &Self::Input, witness: &Witness) -> String {
        witness.to_string()
    }

    /// Everything wrong with a solution, by the checker.
    fn check(input: &Self::Input, solution: &Self::Solution) -> Vec<Violation>;

    /// The same but for the capacity, which the solution may exceed.
    fn check_unlimited(input: &Self::Input, solution: &Self::Solution) -> Vec<Violation> {
        Self::check(input, solution)
    }

    /// Confirms that the witness of a bound shows it, from the definitions.
    ///
    /// # Errors
    /// The first reason for doubt; [`BoundError::NotCheckable`] where only a repeated search could tell.
    fn confirm(input: &Self::Input, bound: &LowerBound) -> Result<(), BoundError>;
}

/// An instance without buffers of size 0.
fn sized(input: &Instance) -> Reduced<Instance> {
    if !input.has_empty() {
        return Reduced::Whole;
    }
    let kept: Vec<BufferId> = input.ids().filter(|&id| !input.buffer(id).is_empty()).collect();
    Reduced::Part { input: input.induced(&kept), kept }
}

/// The same, where fixed offsets can be kept.
fn placeable(input: &Instance) -> Reduced<Instance> {
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

/// The offset problem: one offset per buffer, minimum peak.
#[derive(Debug)]
pub enum Offsets {}

impl Problem for Offsets {
    type Input = Instance;
    type Solution = Layout;
    const NAME: &'static str = "offsets";

    fn value(input: &Instance, solution: &Layout) -> Bytes {
        solution.peak(input)
    }

    fn check(input: &Instance, solution: &Layout) -> Vec<Violation> {
        check_layout(input, solution)
    }

    fn capacity(input: &Instance) -> Option<Bytes> {
        input.capacity()
    }

    fn limit(input: &Instance) -> Option<Bytes> {
        Some(input.limit())
    }

    fn reduced(input: &Instance) -> Reduced<Instance> {
        placeable(input)
    }

    fn extended(input: &Instance, kept: &[BufferId], part: Layout) -> Layout {
        Layout::new(spread(input, kept, part.offsets()))
    }

    fn explain(input: &Instance, witness: &Witness) -> String {
        witness.in_words(input)
    }

    fn check_unlimited(input: &Instance, solution: &Self::Solution) -> Vec<Violation> {
        check_layout(&input.clone().with_capacity(None), solution)
    }

    fn confirm(input: &Instance, bound: &LowerBound) -> Result<(), BoundError> {
        verify_bound(input, bound)
    }
}

/// The offset problem where buffers may be cut into pieces (SOURCES S2).
#[derive(Debug)]
pub enum Scattered {}

impl Problem for Scattered {
    type Input = Instance;
    type Solution = ScatteredLayout;
    const NAME: &'static str = "scattered";

    fn value(_: &Instance, solution: &ScatteredLayout) -> Bytes {
        solution.peak()
    }

    fn check(input: &Instance, solution: &ScatteredLayout) -> Vec<Violation> {
        check_scattered(input, solution)
    }

    fn capacity(input: &Instance) -> Option<Bytes> {
        input.capacity()
    }

    fn limit(input: &Instance) -> Option<Bytes> {
        Some(input.limit())
    }

    fn reduced(input: &Instance) -> Reduced<Instance> {
        placeable(input)
    }

    fn extended(input: &Instance, kept: &[BufferId], part: ScatteredLayout) -> ScatteredLayout {
        let mut pieces = vec![Vec::new(); input.len()];
        for (id, own) in kept.iter().zip(part.pieces()) {
            pieces[id.index()].clone_from(own);
        }
        ScatteredLayout::new(pieces)
    }

    fn explain(input: &Instance, witness: &Witness) -> String {
        witness.in_words(input)
    }

    fn check_unlimited(input: &Instance, solution: &Self::Solution) -> Vec<Violation> {
        check_scattered(&input.clone().with_capacity(None), solution)
    }

    fn confirm(input: &Instance, bound: &LowerBound) -> Result<(), BoundError> {
        verify_bound(input, bound)
    }
}

/// The shared-object problem: one pool per buffer, minimum sum of pool sizes.
#[derive(Debug)]
pub enum Pools {}

impl Problem for Pools {
    type Input = Instance;
    type Solution = PoolPlan;
    const NAME: &'static str = "pools";

    fn value(_: &Instance, solution: &PoolPlan) -> Bytes {
        solution.total()
    }

    fn check(input: &Instance, solution: &PoolPlan) -> Vec<Violation> {
        check_pools(input, solution)
    }

    fn capacity(input: &Instance) -> Option<Bytes> {
        input.capacity()
    }

    /// Fixed offsets concern addresses, of which pools have none.
    fn reduced(input: &Instance) -> Reduced<Instance> {
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

    fn explain(input: &Instance, witness: &Witness) -> String {
        witness.in_words(input)
    }

    fn check_unlimited(input: &Instance, solution: &Self::Solution) -> Vec<Violation> {
        check_pools(&input.clone().with_capacity(None), solution)
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
#[derive(Debug)]
pub enum Orders {}

impl Problem for Orders {
    type Input = OrderProblem;
    type Solution = Order;
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

/// Broken machinery or a problem the algorithm cannot take. Running out of budget is no error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SolveError {
    /// The algorithm does not handle this.
    #[error("{solver} does not support this instance: {reason}")]
    Unsupported {
        /// Which algorithm.
        solver: &'static str,
        /// Why not.
        reason: String,
    },
    /// Something it relies on failed.
    #[error("{solver} failed: {reason}")]
    Machinery {
        /// Which algorithm.
        solver: &'static str,
        /// How.
        reason: String,
    },
}

/// Told of progress as it happens. All methods default to nothing.
pub trait Observer<P: Problem> {
    /// A better solution, with its value in bytes.
    fn incumbent(&mut self, _solution: &P::Solution, _value: Bytes) {}

    /// A better bound.
    fn bound(&mut self, _bound: &LowerBound) {}

    /// A new phase of the algorithm.
    fn phase(&mut self, _name: &str) {}
}

/// The observer that looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl<P: Problem> Observer<P> for Silent {}

/// An algorithm for a problem.
///
/// `solve` reads nothing but its arguments and the parameters it was built with; the same input, parameters and
/// node limit give the same outcome.
pub trait Solver<P: Problem>: Send + Sync {
    /// Its name in the registry.
    fn name(&self) -> &'static str;

    /// Solves within the budget.
    ///
    /// # Errors
    /// [`SolveError`] for input it does not support or machinery that broke; never for limits or infeasibility.
    fn solve(
        &self,
        input: &P::Input,
        budget: &mut Budget,
        observer: &mut dyn Observer<P>,
    ) -> Result<Outcome<P::Solution>, SolveError>;

    /// Says why it would decline this input, if so.
    ///
    /// # Errors
    /// [`SolveError::Unsupported`] with the reason.
    fn supports(&self, _input: &P::Input) -> Result<(), SolveError> {
        Ok(())
    }
}

/// What every algorithm can be given from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Seed of all randomness.
    pub seed: u64,
    /// Threads it may use.
    pub threads: usize,
}

impl Default for Setup {
    fn default() -> Self {
        Self { seed: 0, threads: 1 }
    }
}

/// Fast without proof, or slow with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An answer without proof.
    Heuristic,
    /// An answer with a proof, given time.
    Exact,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Heuristic => "heuristic",
            Self::Exact => "exact",
        })
    }
}

/// One line of the registry.
pub struct Entry<P: Problem> {
    /// The name users type.
    pub name: &'static str,
    /// Heuristic or exact.
    pub kind: Kind,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Makes one, [guarded](crate::guarded).
    pub build: fn(Setup) -> Box<dyn Solver<P>>,
}

impl<P: Problem> fmt::Debug for Entry<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("problem", &P::NAME)
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

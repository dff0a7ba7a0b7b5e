//! The trait that all problems implement.

use crate::bound::{BoundError, LowerBound, Reason};
use crate::units::BufferId;
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

    /// Returns a lower bound that takes little time to compute.
    fn floor(input: &Self::Input) -> Bound<Self>;

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

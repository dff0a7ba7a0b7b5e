//! Adapters that turn a function into a solver, shared by all heuristics.

use crate::offsets::laid_end_to_end;
use plimsoll_model::{
    Budget, Instance, Layout, Observer, Offsets, Orders, Outcome, Parameter, Piece, Problem, SolveError,
    Solver, SplitBuffers, SplitLayout, Stop, Tracker, guarded,
};

/// A problem with heuristics that end at limits.
pub(crate) trait Fallback: Problem {
    /// Returns a simple solution in O(n log n) time, if there is one. It is the answer of a run that reaches
    /// a limit before it finds a solution.
    fn fallback(_input: &Self::Input) -> Option<Self::Solution> {
        None
    }
}

/// Offers the simple solution if a run ended at a limit and found none.
pub(crate) fn or_fallback<P: Fallback>(run: &mut Tracker<P>, stop: Stop) {
    if stop != Stop::Completed
        && run.best.is_none()
        && let Some(solution) = P::fallback(run.input)
    {
        run.offer(solution);
    }
}

impl Fallback for Offsets {
    fn fallback(instance: &Instance) -> Option<Layout> {
        laid_end_to_end(instance)
    }
}

impl Fallback for SplitBuffers {
    fn fallback(instance: &Instance) -> Option<SplitLayout> {
        Some(unsplit(instance, &laid_end_to_end(instance)?))
    }
}

impl Fallback for Orders {}

/// Returns a layout of one piece per buffer.
pub fn unsplit(instance: &Instance, layout: &Layout) -> SplitLayout {
    let places = instance.buffers().iter().zip(layout.offsets());
    let pieces = places.map(|(buffer, &start)| vec![Piece { start, length: buffer.size() }]);
    SplitLayout::new(pieces.collect())
}

/// A heuristic that runs a function. The function offers solutions to the tracker. If it ends early, its
/// error is the termination reason.
struct Heuristic<F> {
    name: &'static str,
    /// Whether the heuristic supports rigid groups.
    groups: bool,
    parameters: &'static [Parameter],
    search: F,
}

impl<P, F> Solver<P> for Heuristic<F>
where
    P: Fallback,
    F: Fn(&P::Input, &mut Budget, &mut Tracker<P>) -> Result<(), Stop> + Send + Sync,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn supports_groups(&self) -> bool {
        self.groups
    }

    fn parameters(&self) -> Vec<Parameter> {
        self.parameters.to_vec()
    }

    fn solve(
        &self,
        input: &P::Input,
        budget: &mut Budget,
        observer: &mut dyn Observer<P>,
    ) -> Result<Outcome<P>, SolveError> {
        let (mut run, before) = (Tracker::start(input, P::floor(input), observer), budget.nodes());
        let stop = (self.search)(input, budget, &mut run).err().unwrap_or(Stop::Completed);
        or_fallback(&mut run, stop);
        Ok(run.conclude(stop, budget.nodes() - before))
    }
}

/// Creates an anytime heuristic, which may offer many solutions.
pub(crate) fn anytime<P: Fallback>(
    name: &'static str,
    search: impl Fn(&P::Input, &mut Budget, &mut Tracker<P>) -> Result<(), Stop> + Send + Sync + 'static,
) -> Box<dyn Solver<P>> {
    guarded(Heuristic { name, groups: false, parameters: &[], search })
}

/// Creates an anytime heuristic for offsets that supports rigid groups.
pub(crate) fn anytime_with_groups(
    name: &'static str,
    search: impl Fn(&Instance, &mut Budget, &mut Tracker<Offsets>) -> Result<(), Stop> + Send + Sync + 'static,
) -> Box<dyn Solver<Offsets>> {
    guarded(Heuristic { name, groups: true, parameters: &[], search })
}

/// Creates a heuristic for offsets that finds at most one solution and supports rigid groups.
pub(crate) fn single_with_groups(
    name: &'static str,
    find: impl Fn(&Instance, &mut Budget) -> Result<Option<Layout>, Stop> + Send + Sync + 'static,
) -> Box<dyn Solver<Offsets>> {
    anytime_with_groups(name, offering(find))
}

/// Creates a heuristic that finds at most one solution.
pub(crate) fn single<P: Fallback>(
    name: &'static str,
    find: impl Fn(&P::Input, &mut Budget) -> Result<Option<P::Solution>, Stop> + Send + Sync + 'static,
) -> Box<dyn Solver<P>> {
    single_with_parameters(name, &[], find)
}

/// Creates a heuristic that finds at most one solution and accepts parameters.
pub(crate) fn single_with_parameters<P: Fallback>(
    name: &'static str,
    parameters: &'static [Parameter],
    find: impl Fn(&P::Input, &mut Budget) -> Result<Option<P::Solution>, Stop> + Send + Sync + 'static,
) -> Box<dyn Solver<P>> {
    guarded(Heuristic { name, groups: false, parameters, search: offering(find) })
}

/// Returns a function that offers the solution that another function finds.
fn offering<P: Fallback>(
    find: impl Fn(&P::Input, &mut Budget) -> Result<Option<P::Solution>, Stop> + Send + Sync + 'static,
) -> impl Fn(&P::Input, &mut Budget, &mut Tracker<P>) -> Result<(), Stop> + Send + Sync + 'static {
    move |input, budget, run| {
        if let Some(solution) = find(input, budget)? {
            run.offer(solution);
        }
        Ok(())
    }
}

//! Alternatives to a plan that does not fit: another order, operators that write in place, or a smaller
//! batch. An alternative is reported only after it has been planned.

use super::args::PlanArgs;
use crate::commands::choose;
use crate::failure::{Failure, NOTHING_FOUND};
use plimsoll::Registry;
use plimsoll::branches::SchemeEntry;
use plimsoll::datasets::{Import, ImportOptions, import_file};
use plimsoll::graphs::{GraphRun, Placement};
use plimsoll::model::Bytes;
use plimsoll::model::graph::{Graph, LivenessOptions, Role};
use plimsoll::run::Limits;

/// The arena and the bound of a plan that was computed as an alternative.
pub struct Tried {
    pub arena: Bytes,
    /// A lower bound over all orders and layouts, and its reason.
    pub bound: Bytes,
    pub reason: String,
}

/// The results of planning smaller batches.
pub(super) struct Batches {
    /// The batch of the plan.
    pub now: u64,
    /// The largest batch found to fit, with the arena of its plan.
    pub fits: Option<(u64, Bytes)>,
    /// The smallest batch below `now` that was planned and does not fit, with its arena.
    pub above: Option<(u64, Bytes)>,
}

/// The model given on the command line, and the settings of its plan.
pub(super) struct Alternatives<'a> {
    pub args: &'a PlanArgs,
    pub import: &'a Import,
    pub run: &'a GraphRun<'a>,
    pub registry: &'a Registry,
    pub scheme: &'static SchemeEntry,
    pub placement: Placement<'a>,
    /// The function that plans a graph without printing a report.
    pub plan: PlanOf,
    /// True if the plan is made for the arena of `tflite-micro`.
    pub is_micro: bool,
}

/// A function that plans a graph with the settings of the command line, except that placement and limits are
/// arguments.
pub(super) type PlanOf = fn(&Alternatives<'_>, &Graph, Placement<'_>, Limits) -> Result<Tried, Failure>;

impl Alternatives<'_> {
    /// Returns the limits of the plan itself. If alternatives may be planned, the plan gets half of the
    /// remaining time, and the alternatives share the rest.
    pub fn own_limits(&self) -> Limits {
        if self.args.capacity.is_some() { self.run.limits.share(2) } else { self.run.limits }
    }

    /// Plans order and layout together, as `--joint` does. Returns `None` if the plan itself is already
    /// joint, or if no plan is found within the limits.
    pub fn order(&self) -> Result<Option<Tried>, Failure> {
        if matches!(self.placement, Placement::Joint(_)) {
            return Ok(None);
        }
        let joint = choose::named(&self.registry.joint, "exact", "joint solver")?;
        self.plan(&self.import.graph, Placement::Joint(joint), self.run.limits.share(3))
    }

    /// Plans with operators that write in place where the rules allow it. Returns `None` if the plan itself
    /// already does so, or if no plan is found within the limits.
    pub fn in_place(&self) -> Result<Option<Tried>, Failure> {
        if self.run.liveness.in_place {
            return Ok(None);
        }
        let liveness = LivenessOptions { in_place: true, ..self.run.liveness };
        let run = GraphRun { liveness, ..*self.run };
        let asked = Alternatives { run: &run, ..*self };
        asked.plan(&self.import.graph, self.placement, self.run.limits.share(3))
    }

    /// Searches by bisection for the largest batch below the current one that fits. The model is imported
    /// again for every batch. Returns `None` if the file is a graph, if the inputs of the model do not
    /// share a first dimension above 1, or if no smaller batch could be planned.
    pub fn batch(&self, capacity: Bytes) -> Result<Option<Batches>, Failure> {
        let options = self.args.model.import.options()?;
        let Some(now) = batch_of(&self.import.graph, &options).filter(|_| !self.import.places.is_empty())
        else {
            return Ok(None);
        };
        let mut found = Batches { now, fits: None, above: None };
        let (mut low, mut high) = (1, now);
        while low < high {
            // A batch of 1 comes first: if it does not fit, no batch does.
            let batch = if found.fits.is_none() { 1 } else { low.midpoint(high) };
            let Some(import) = self.with_batch(&options, batch, now) else { break };
            let limits = self.run.limits.share(6);
            let Some(tried) = self.plan(&import.graph, self.placement, limits)? else { break };
            if tried.arena <= capacity {
                found.fits = Some((batch, tried.arena));
                low = batch + 1;
            } else {
                found.above = Some((batch, tried.arena));
                high = batch;
            }
        }
        Ok((found.fits.is_some() || found.above.is_some()).then_some(found))
    }

    /// Imports the model with another batch. Returns `None` if the import fails.
    fn with_batch(&self, options: &ImportOptions, batch: u64, now: u64) -> Option<Import> {
        let mut options = ImportOptions { batch: Some(batch), ..options.clone() };
        let path = &self.args.model.model;
        let import = import_file(path, &options).or_else(|_| {
            // The batch may be a named dimension that `--dim` binds.
            options.dims.values_mut().filter(|value| **value == now).for_each(|value| *value = batch);
            import_file(path, &options)
        });
        import.ok()
    }

    /// Plans a graph with the settings of the command line. Returns `None` if no plan is found within the
    /// limits.
    fn plan(
        &self,
        graph: &Graph,
        placement: Placement<'_>,
        limits: Limits,
    ) -> Result<Option<Tried>, Failure> {
        match (self.plan)(self, graph, placement, limits) {
            Ok(tried) => Ok(Some(tried)),
            Err(failure) if failure.code == NOTHING_FOUND => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

/// Returns the first dimension of the inputs to which `--batch` applies. Returns `None` if none of these
/// inputs has a first dimension, if the first dimensions differ, or if they are at most 1.
fn batch_of(graph: &Graph, options: &ImportOptions) -> Option<u64> {
    let inputs = graph.tensors().iter().filter(|tensor| tensor.role == Role::Input);
    let free = inputs.filter(|tensor| !options.input_shapes.contains_key(&tensor.name));
    let mut extents = free.filter_map(|tensor| tensor.shape.as_ref()?.first().copied());
    let first = extents.next()?;
    (first > 1 && extents.all(|extent| extent == first)).then_some(first)
}

//! Runs an engine over the parts of an instance, and maintains the incumbent and the bound.

use super::greedy;
use super::part::Part;
use plimsoll_model::{
    Budget, Bytes, ConflictGraph, Instance, Layout, LowerBound, Observer, Offsets, Outcome, Problem,
    SolveError, Stats, Stop, Tracker, Witness, check_layout,
};
use std::time::Instant;

/// A task for an engine: find a layout of the part whose peak is as low as possible and at most `upper`. All
/// values are in units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    pub part: &'a Part,
    /// The bound on the whole instance so far. Lowering the peak of the part below this bound does not
    /// improve the instance.
    pub lower: i64,
    /// The peak at or below which the engine may stop.
    pub enough: i64,
    /// The highest peak that improves the part and fits the capacity.
    pub upper: i64,
    /// The best known layout of the part. Its peak exceeds `upper`.
    pub known: &'a [i64],
}

/// The result that an engine proved for its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Proved {
    /// Lower bound on the peak of the part, in units. It equals the `lower` of the task if the engine proved
    /// nothing.
    pub lower: i64,
    /// The termination reason, if the engine stopped early.
    pub stop: Option<Stop>,
}

/// A callback for every layout found. It returns whether the checker accepted the layout.
pub(crate) type Found<'a> = dyn FnMut(&[i64]) -> bool + 'a;

/// An exact algorithm for one part.
pub(crate) trait Engine {
    fn name(&self) -> &'static str;

    /// Runs a task until it is settled or the budget runs out. Passes every layout to `found`.
    ///
    /// # Errors
    /// If the engine fails internally.
    fn solve(
        &self,
        task: Task<'_>,
        budget: &mut Budget,
        stats: &mut Stats,
        found: &mut Found<'_>,
    ) -> Result<Proved, SolveError>;
}

/// Solves an instance part by part.
///
/// The incumbent combines the best layouts of the parts, so its peak is the highest of their peaks. A part is
/// solved only if its peak exceeds the capacity, or exceeds both the bound and the target. The parts with the
/// most conflicts come last, so a limit affects as few parts as possible. The bound of the instance starts at
/// [`Problem::floor`]. It is raised by the heaviest clique of each part and by proofs of the engine, which have
/// the witness [`Witness::Search`].
pub(crate) fn drive(
    engine: &dyn Engine,
    absorb: bool,
    instance: &Instance,
    budget: &mut Budget,
    observer: &mut dyn Observer<Offsets>,
) -> Result<Outcome<Offsets>, SolveError> {
    let mut watch = budget.without_node_limit();
    let mut run = Run::start(engine.name(), absorb, instance, observer, &mut watch);
    if budget.check().is_none() {
        run.raise_by_cliques();
    }
    run.solve_parts(engine, budget)?;
    Ok(run.conclude(budget))
}

struct Run<'a> {
    name: &'static str,
    /// The best layout combines the best offsets of the parts.
    known: Tracker<'a, Offsets>,
    grain: i64,
    parts: Vec<Part>,
    /// Best offsets of each part, in units.
    best: Vec<Vec<i64>>,
    stop: Option<Stop>,
}

impl<'a> Run<'a> {
    fn start(
        name: &'static str,
        absorb: bool,
        instance: &'a Instance,
        observer: &'a mut dyn Observer<Offsets>,
        watch: &mut Budget,
    ) -> Self {
        let started = Instant::now();
        observer.phase("greedy");
        let parts = Part::split(instance, &ConflictGraph::of(instance), absorb, watch);
        let best: Vec<Vec<i64>> = parts.iter().map(greedy::place).collect();
        let mut known = Tracker::start(instance, Offsets::floor(instance), observer);
        known.stats.count("parts", parts.len() as u64);
        known.stats.count("absorbed", parts.iter().map(|part| part.absorbed() as u64).sum());
        let grain = instance.grain().get() as i64;
        let mut run = Self { name, known, grain, parts, best, stop: None };
        let layout = run.assemble(&run.best);
        debug_assert!(check_layout(&instance.clone().with_capacity(None), &layout).is_empty());
        run.known.offer(layout);
        run.known.stats.phases.push(("greedy".to_owned(), started.elapsed().as_secs_f64()));
        run
    }

    fn assemble(&self, best: &[Vec<i64>]) -> Layout {
        let mut offsets = vec![Bytes::ZERO; self.known.input.len()];
        for (part, best) in self.parts.iter().zip(best) {
            part.expand(best, &mut offsets);
        }
        Layout::new(offsets)
    }

    /// Replaces the layout of one part if the checker accepts the new one and its peak is lower. Returns
    /// whether the checker accepted it.
    fn accept(&mut self, at: usize, offsets: &[i64]) -> bool {
        let mut best = self.best.clone();
        best[at] = offsets.to_vec();
        let layout = self.assemble(&best);
        // Other parts may still exceed the capacity. This does not make the layout of this part invalid.
        if !Offsets::check_unlimited(self.known.input, &layout).is_empty() {
            self.known.stats.count("rejected", 1);
            return false;
        }
        if self.parts[at].peak(offsets) < self.parts[at].peak(&self.best[at]) {
            self.best = best;
            // The peak of the whole layout does not rise. If it stays equal, the new layout replaces the old.
            let peak = self.known.offer(layout.clone());
            self.known.best = Some((layout, peak));
        }
        true
    }

    /// Raises the bound by the heaviest clique of each part.
    fn raise_by_cliques(&mut self) {
        let heaviest: Vec<LowerBound> = self
            .parts
            .iter()
            .filter_map(|part| {
                let (clique, weight) = part.heaviest()?;
                let buffers = clique.iter().map(|&i| part.ids[i]).collect();
                Some(LowerBound::new(Bytes::new((weight * self.grain) as u64), Witness::Clique { buffers }))
            })
            .collect();
        for bound in heaviest {
            self.known.raise(bound);
        }
    }

    /// Returns the bound of the instance in units, rounded up because every peak is a multiple of the grain.
    fn lower(&self) -> i64 {
        (self.known.bound.value.get() as i64 + self.grain - 1) / self.grain
    }

    fn solve_parts(&mut self, engine: &dyn Engine, budget: &mut Budget) -> Result<(), SolveError> {
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        order.sort_by_key(|&at| (self.parts[at].pairs.len(), at));
        for at in order {
            if self.known.settled(budget).is_some() {
                break;
            }
            self.stop = budget.check();
            if self.stop.is_some() {
                break;
            }
            self.solve_part(engine, at, budget)?;
        }
        Ok(())
    }

    fn solve_part(&mut self, engine: &dyn Engine, at: usize, budget: &mut Budget) -> Result<(), SolveError> {
        let lower = self.lower();
        let units = |bytes: Bytes| (bytes.get() / self.grain as u64).min(i64::MAX as u64) as i64;
        let capacity = self.known.input.capacity().map_or(i64::MAX, units);
        let peak = self.parts[at].peak(&self.best[at]);
        let enough = lower.max(budget.target().map_or(0, units)).min(capacity);
        if peak <= enough {
            return Ok(());
        }
        let started = Instant::now();
        self.known.observer.phase(&format!("{} part {at}", self.name));
        let (part, known) = (self.parts[at].clone(), self.best[at].clone());
        let upper = (peak - 1).min(capacity);
        let task = Task { part: &part, lower, enough, upper, known: &known };
        let mut stats = std::mem::take(&mut self.known.stats);
        let verdict = engine.solve(task, budget, &mut stats, &mut |offsets| self.accept(at, offsets));
        stats.phases.push((format!("{} part {at}", self.name), started.elapsed().as_secs_f64()));
        for (name, by) in std::mem::replace(&mut self.known.stats, stats).counters {
            self.known.stats.count(&name, by);
        }
        let verdict = verdict?;
        let value = Bytes::new((verdict.lower * self.grain) as u64);
        // If nothing was proved, `verdict.lower` is the bound of the whole instance, and the peak of this
        // part may be lower.
        if verdict.lower > lower && verdict.lower > self.parts[at].peak(&self.best[at]) {
            let reason =
                format!("the bound of {value} bytes exceeds the peak of a layout that passed the checker");
            return Err(SolveError::Internal { solver: self.name, reason });
        }
        if verdict.lower > lower {
            self.known.raise(LowerBound::new(value, Witness::Search { solver: self.name.to_owned() }));
        }
        self.stop = self.stop.or(verdict.stop);
        Ok(())
    }

    fn conclude(self, budget: &mut Budget) -> Outcome<Offsets> {
        let stop = self.known.settled(budget).or(self.stop).or_else(|| budget.check());
        self.known.conclude(stop.unwrap_or(Stop::Completed), budget.nodes())
    }
}

//! The search for the front over sets of resident weights, schedules and capacities.

use super::point::{BUFFERS, Effort, Kept, Progress, Ranked, Try, steps};
use crate::run::Limits;
use crate::timelines::{ScheduleError, Scheduled, draft, fits, prefetched, schedule};
use plimsoll_heuristics::timelines::{Worth, fitting, resident_sets};
use plimsoll_model::timelines::{Machine, OverlapError, OverlapProgram, Time, Timelines, time_bound};
use plimsoll_model::{Budget, Bytes, Entry, Setup};
use std::collections::HashSet;

/// Shares of the remaining memory that resident weights may occupy, in eighths.
const SHARES: [u64; 4] = [2, 4, 6, 8];
/// Budget of scheduled steps for improving existing points with neighbouring resident sets.
const POLISH: u64 = 400_000;
/// Budget of scheduled steps for resident sets of any size at the capacity of the machine, and the maximum
/// number of these sets.
const SIZES: u64 = 400_000;
const MOST_SIZES: u64 = 2_000;
/// Maximum number of resident sets for exact schedules at each capacity except the last, besides the empty
/// set and the set of the fastest point.
const CHOICES: usize = 3;
/// Cost of a search that exhausts its limits. The next three constants are budgets of exact schedules:
/// `EACH` at all capacities except the last, `LAST` at the last one, and `POINTS` for points found by other
/// schedules.
const FULL: u64 = 1_000;
const EACH: u64 = 10 * FULL;
const LAST: u64 = FULL;
const POINTS: u64 = 50 * FULL;
/// Minimum cost of a search, and the number of steps that add one unit of cost.
const SEARCH: u64 = 10;
const STEPS: u64 = 200;

/// A set of resident blocks under one order, and its makespan with `prefetch` at one capacity.
#[derive(Clone, Debug)]
struct Choice {
    /// Index of the candidate.
    of: usize,
    set: Vec<usize>,
    fetched: Option<Time>,
}

/// The remaining budget of exact schedules, and the limits of each search.
struct ExactBudget {
    limits: Limits,
    left: u64,
}

impl ExactBudget {
    /// Deducts the cost of a search. Without a node limit, a search that proved its answer costs only the
    /// minimum and the units for its steps.
    fn charge(&mut self, steps: usize, found: &Scheduled) {
        let share = match self.limits.nodes {
            Some(limit) => u128::from(found.nodes) * u128::from(FULL) / u128::from(limit.max(1)),
            None if found.lower_bound == found.makespan => 0,
            None => u128::from(FULL),
        };
        let cost = u128::from(SEARCH + steps as u64 / STEPS) + share;
        self.left = u64::try_from(cost).map_or(0, |cost| self.left.saturating_sub(cost));
    }
}

pub(super) struct Search<'a> {
    machine: &'a Machine,
    effort: Effort,
    fast: Vec<&'static Entry<Timelines>>,
    exact: Vec<&'static Entry<Timelines>>,
    kept: Kept,
    tried: usize,
    /// Ends the search when the time runs out.
    watch: Budget,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        machine: &'a Machine,
        effort: Effort,
        fast: Vec<&'static Entry<Timelines>>,
        exact: Vec<&'static Entry<Timelines>>,
    ) -> Self {
        Self { machine, effort, fast, exact, kept: Kept::default(), tried: 0, watch: effort.each.watch() }
    }

    fn is_over(&mut self) -> bool {
        self.watch.check().is_some()
    }

    /// Runs the whole search at the given capacities, which must be ascending. Returns the kept attempts and
    /// the number of attempts to schedule the whole program.
    pub(super) fn run(
        mut self,
        ranked: &[Ranked<'_>],
        capacities: &[Bytes],
    ) -> Result<(Vec<Try>, usize), ScheduleError> {
        let mut levels: Vec<(Bytes, Vec<Choice>)> = Vec::with_capacity(capacities.len());
        for &capacity in capacities {
            let mut choices = Vec::new();
            for (of, one) in ranked.iter().enumerate().filter(|(_, one)| one.need <= capacity) {
                if self.is_over() {
                    break;
                }
                let mut sets: Vec<Vec<usize>> = Vec::new();
                for order in &one.orders {
                    let program = &one.candidate.program;
                    let own = resident_sets(program, order, capacity, self.machine.alignment, &SHARES);
                    sets.extend(own);
                }
                self.choose(ranked, of, sets, capacity, &mut choices)?;
            }
            levels.push((capacity, choices));
        }
        if let Some(entry) = self.fast.iter().copied().find(|entry| entry.name == "prefetch") {
            let mut left = POLISH;
            while self.polish(ranked, entry, &mut left)? {}
        }
        let mut budget = ExactBudget { limits: self.effort.each, left: POINTS };
        self.exact_on_points(ranked, &mut budget)?;
        if let Some((capacity, choices)) = levels.last_mut() {
            self.any_size(ranked, *capacity, choices)?;
        }
        if !self.exact.is_empty()
            && let Some(last) = levels.pop()
        {
            self.exact_at(
                ranked,
                &last,
                usize::MAX,
                &mut ExactBudget { limits: self.effort.last, left: LAST },
            )?;
            budget.left = 0;
            for level in &levels {
                budget.left += EACH / levels.len() as u64;
                self.exact_at(ranked, level, CHOICES, &mut budget)?;
            }
        }
        if self.is_over() {
            self.last_resort(ranked)?;
        }
        Ok((self.kept.0, self.tried))
    }

    /// If the time ran out before any timelines were found, runs fast schedules at the capacity of the
    /// machine until one of them finds timelines.
    fn last_resort(&mut self, ranked: &[Ranked<'_>]) -> Result<(), ScheduleError> {
        let capacity = self.machine.capacity;
        self.watch = Budget::unlimited();
        for one in ranked.iter().filter(|one| one.need <= capacity) {
            for entry in self.fast.clone() {
                if self.kept.0.is_empty() {
                    self.attempt(one, &[], capacity, entry, *BUFFERS.start())?;
                }
            }
        }
        Ok(())
    }

    /// Tries resident sets of any size at the capacity of the machine, not only sets within fixed shares of
    /// the remaining memory.
    fn any_size(
        &mut self,
        ranked: &[Ranked<'_>],
        capacity: Bytes,
        choices: &mut Vec<Choice>,
    ) -> Result<(), ScheduleError> {
        let orders = ranked.iter().filter(|one| one.need <= capacity).count() * Worth::ALL.len();
        for (of, one) in ranked.iter().enumerate().filter(|(_, one)| one.need <= capacity) {
            if self.is_over() {
                break;
            }
            let program = &one.candidate.program;
            let cost = (steps(program) * (self.fast.len() + BUFFERS.count()) * orders + 1) as u64;
            let most = (SIZES / cost).min(MOST_SIZES);
            let sets = one.orders.iter();
            let sets = sets.flat_map(|order| sizes(program, order, capacity, self.machine.alignment, most));
            self.choose(ranked, of, sets.collect(), capacity, choices)?;
        }
        Ok(())
    }

    /// Runs all fast schedules with each resident set that is not yet among the choices. Adds these sets to
    /// the choices, and sorts the choices by the makespan of `prefetch`.
    fn choose(
        &mut self,
        ranked: &[Ranked<'_>],
        of: usize,
        sets: Vec<Vec<usize>>,
        capacity: Bytes,
        choices: &mut Vec<Choice>,
    ) -> Result<(), ScheduleError> {
        let own = choices.iter().filter(|one| one.of == of);
        let mut known: HashSet<Vec<usize>> = own.map(|one| one.set.clone()).collect();
        for set in sets {
            if self.is_over() {
                break;
            }
            if known.insert(set.clone()) {
                let fetched = self.fast(&ranked[of], &set, capacity)?;
                choices.push(Choice { of, set, fetched });
            }
        }
        choices.sort_by_key(|one| (one.fetched.is_none(), one.fetched));
        Ok(())
    }

    /// Runs all fast schedules with one resident set. Returns the makespan of `prefetch`. If `prefetch` is
    /// not one of these schedules, its makespan is computed only if there are exact schedules.
    fn fast(
        &mut self,
        one: &Ranked<'_>,
        set: &[usize],
        capacity: Bytes,
    ) -> Result<Option<Time>, ScheduleError> {
        let mut fetched = None;
        for entry in self.fast.clone() {
            let buffers = if entry.name == "k-buffers" { BUFFERS } else { 0..=0 };
            for buffers in buffers {
                let time = self.attempt(one, set, capacity, entry, buffers)?;
                fetched = if entry.name == "prefetch" { time } else { fetched };
            }
        }
        if fetched.is_none() && !self.exact.is_empty() {
            fetched = self.program(one, set, capacity)?.and_then(|program| prefetched(&program));
        }
        Ok(fetched)
    }

    /// Runs one schedule and returns its makespan. If its timelines leave memory unused, the schedule runs
    /// again with their peak as the capacity, unless a kept attempt would dominate the result.
    fn attempt(
        &mut self,
        one: &Ranked<'_>,
        set: &[usize],
        capacity: Bytes,
        entry: &'static Entry<Timelines>,
        buffers: usize,
    ) -> Result<Option<Time>, ScheduleError> {
        let Some((found, peak)) = self.drafted(one, set, capacity, entry, buffers)? else { return Ok(None) };
        let tight = peak.align_up(self.machine.alignment).filter(|tight| *tight < capacity);
        let makespan = found.makespan();
        self.kept.insert(found);
        if let Some(tight) = tight.filter(|tight| self.kept.wants(*tight, makespan))
            && let Some((found, _)) = self.drafted(one, set, tight, entry, buffers)?
        {
            self.kept.insert(found);
        }
        Ok(Some(makespan))
    }

    /// Returns the program with a set of resident blocks; `None` if they do not fit.
    fn program(
        &self,
        one: &Ranked<'_>,
        set: &[usize],
        memory: Bytes,
    ) -> Result<Option<OverlapProgram>, ScheduleError> {
        let small = Machine { capacity: memory, ..self.machine.clone() };
        match one.candidate.program.with_resident(&small, set) {
            Ok(program) => Ok(Some(program)),
            Err(OverlapError::Resident { .. }) => Ok(None),
            Err(_) => Err(ScheduleError::TooLong),
        }
    }

    /// Returns the timelines of one schedule and their peak; `None` if the schedule finds none.
    fn drafted(
        &mut self,
        one: &Ranked<'_>,
        set: &[usize],
        memory: Bytes,
        entry: &'static Entry<Timelines>,
        buffers: usize,
    ) -> Result<Option<(Try, Bytes)>, ScheduleError> {
        let Some(program) = self.program(one, set, memory)? else { return Ok(None) };
        self.tried += 1;
        match draft(&program, entry, Setup { buffers, ..Setup::default() }, self.effort.each) {
            Ok(draft) => {
                let buffers = (entry.name == "k-buffers").then_some(buffers);
                let (order, schedule, peak) = (one.candidate.order, entry.name, draft.peak);
                let progress = Progress::Draft(draft);
                Ok(Some((Try { memory, order, schedule, buffers, program, progress }, peak)))
            }
            Err(error @ (ScheduleError::Refused { .. } | ScheduleError::TooLong)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// At every point, tries the resident sets that differ by one block until one of them yields a new point.
    /// Returns true if there is a new point and neither the step budget nor the time ran out.
    fn polish(
        &mut self,
        ranked: &[Ranked<'_>],
        entry: &'static Entry<Timelines>,
        left: &mut u64,
    ) -> Result<bool, ScheduleError> {
        let mut better = false;
        for point in self.kept.0.clone() {
            let Some(one) = ranked.iter().find(|one| one.candidate.order == point.order) else { continue };
            let cost = steps(&one.candidate.program) as u64 + 1;
            for set in neighbours(&point.program.residency().blocks, &one.orders[0]) {
                if *left < cost || self.is_over() {
                    return Ok(false);
                }
                *left -= cost;
                let Some((found, _)) = self.drafted(one, &set, point.memory, entry, 0)? else { continue };
                if self.kept.wants(found.memory, found.makespan()) {
                    self.kept.insert(found);
                    better = true;
                    break;
                }
            }
        }
        Ok(better)
    }

    /// Runs exact schedules at one capacity. First, they run under every order without resident weights.
    /// Next, they run with the resident set of the fastest point that fits this capacity. Finally, they run
    /// with the best other sets, at most `most` of them.
    fn exact_at(
        &mut self,
        ranked: &[Ranked<'_>],
        (capacity, choices): &(Bytes, Vec<Choice>),
        most: usize,
        budget: &mut ExactBudget,
    ) -> Result<(), ScheduleError> {
        let (mut empty, other): (Vec<&Choice>, Vec<&Choice>) =
            choices.iter().partition(|one| one.set.is_empty());
        empty.sort_by_key(|one| one.of);
        let before = self.kept.0.iter().rev().find(|one| one.memory <= *capacity);
        let before = before.and_then(|point| {
            let of = ranked.iter().position(|one| one.candidate.order == point.order)?;
            Some(Choice { of, set: point.program.residency().blocks.clone(), fetched: None })
        });
        let other = other.into_iter().take(most);
        for one in empty.into_iter().chain(&before).chain(other) {
            if budget.left == 0 || self.is_over() {
                break;
            }
            self.exact(&ranked[one.of], &one.set, *capacity, budget)?;
        }
        Ok(())
    }

    /// Runs exact schedules with the order, the resident set and the capacity of every point that another
    /// schedule found.
    fn exact_on_points(
        &mut self,
        ranked: &[Ranked<'_>],
        budget: &mut ExactBudget,
    ) -> Result<(), ScheduleError> {
        for point in self.kept.0.clone() {
            if self.exact.iter().any(|entry| entry.name == point.schedule) || budget.left == 0 {
                continue;
            }
            if self.is_over() {
                break;
            }
            let Some(one) = ranked.iter().find(|one| one.candidate.order == point.order) else { continue };
            self.exact(one, &point.program.residency().blocks, point.memory, budget)?;
        }
        Ok(())
    }

    /// Runs exact schedules with one resident set, unless the bounds show that every result would be
    /// dominated. While the timelines leave memory unused, the schedules run again with their peak as the
    /// capacity.
    fn exact(
        &mut self,
        one: &Ranked<'_>,
        set: &[usize],
        capacity: Bytes,
        budget: &mut ExactBudget,
    ) -> Result<(), ScheduleError> {
        let Some(program) = self.program(one, set, capacity)? else { return Ok(()) };
        if fits(&program).is_err() {
            return Ok(());
        }
        let steps = steps(&program);
        budget.left = budget.left.saturating_sub(1 + steps as u64 / STEPS);
        let bounds: Vec<Time> =
            program.segments().iter().map(|segment| time_bound(&segment.problem).value).collect();
        let bound = program.longest(&|at| bounds[at]).ok_or(ScheduleError::TooLong)?;
        if !self.kept.wants(capacity, bound) {
            return Ok(());
        }
        let mut tighter: Option<Bytes> = None;
        for (nth, entry) in self.exact.clone().into_iter().enumerate() {
            // Further exact schedules are slow and rarely improve the front. They run only in the case that
            // the command handles without `--front`: the whole capacity and no resident weights.
            if nth > 0 && !(set.is_empty() && capacity == self.machine.capacity) {
                break;
            }
            self.tried += 1;
            let scheduled = match schedule(&program, entry, Setup::default(), budget.limits) {
                Ok(scheduled) => scheduled,
                Err(error @ (ScheduleError::Refused { .. } | ScheduleError::TooLong)) => return Err(error),
                Err(_) => continue,
            };
            budget.charge(steps, &scheduled);
            let (makespan, settled) = (scheduled.makespan, scheduled.lower_bound == scheduled.makespan);
            let tight = scheduled.peak.align_up(self.machine.alignment).filter(|tight| *tight < capacity);
            let tight = tight.filter(|tight| self.kept.wants(*tight, makespan));
            tighter = tight.or(tighter);
            let progress = Progress::Bounded(scheduled);
            let (order, schedule, program) = (one.candidate.order, entry.name, program.clone());
            self.kept.insert(Try { memory: capacity, order, schedule, buffers: None, program, progress });
            if settled {
                break;
            }
        }
        match tighter {
            Some(tight) if budget.left > 0 && !self.is_over() => self.exact(one, set, tight, budget),
            _ => Ok(()),
        }
    }
}

/// Returns the sets that [`fitting`] chooses as the space grows from 0 to `capacity`. The space grows in
/// steps of at least `capacity / most` bytes, so some sets may be skipped. Returns no set if `most` is 0.
/// Takes O(n) time per set for n blocks.
fn sizes(
    program: &OverlapProgram,
    order: &[usize],
    capacity: Bytes,
    alignment: Bytes,
    most: u64,
) -> Vec<Vec<usize>> {
    let Some(pace) = capacity.get().checked_div(most) else { return Vec::new() };
    let mut sets = Vec::new();
    let mut space = 0u64;
    loop {
        sets.push(fitting(program, order, Bytes::new(space), alignment));
        // The smallest shortfall over all skipped blocks.
        let (mut left, mut shortfall) = (space, None::<u64>);
        for &at in order {
            let Some(size) = program.blocks()[at].bytes.align_up(alignment).map(Bytes::get) else { continue };
            match left.checked_sub(size) {
                Some(rest) => left = rest,
                None => shortfall = Some(shortfall.map_or(size - left, |other| other.min(size - left))),
            }
        }
        let next = shortfall.and_then(|shortfall| space.checked_add(shortfall.max(pace)));
        match next.filter(|next| *next <= capacity.get()) {
            Some(next) => space = next,
            None => return sets,
        }
    }
}

/// Returns the sets that differ from `set` by one added, exchanged or removed block, in this order. New
/// blocks are tried in the order of `order`.
fn neighbours<'a>(set: &'a [usize], order: &'a [usize]) -> impl Iterator<Item = Vec<usize>> + 'a {
    let without = |gone: usize| set.iter().copied().filter(move |&at| at != gone);
    let known: HashSet<usize> = set.iter().copied().collect();
    let outside: Vec<usize> = order.iter().copied().filter(|at| !known.contains(at)).collect();
    let more = outside.clone().into_iter().map(|new| set.iter().copied().chain([new]).collect());
    let less = set.iter().map(move |&gone| without(gone).collect());
    let exchanged = outside
        .into_iter()
        .flat_map(move |new| set.iter().map(move |&gone| without(gone).chain([new]).collect()));
    more.chain(exchanged).chain(less)
}

//! Least makespans for a fixed order of operators: branch and bound over the order of transfers.
//!
//! Some timeline of least makespan starts every transfer as early as the ones that start before it allow, and computes
//! as early as weights are there, so that only the order of transfers is searched. Depth first, operators in order
//! first: a transfer starts when a channel is free and, for every operator that still computes before its own, activations,
//! weights and all buffers held by then fit the capacity. Memory is *counted* there, not placed, which can only be
//! faster; an order whose buffers find no addresses leaves its makespan as a bound, and is no answer.
//!
//! - A node is left where the operators not yet timed cannot end before the best timeline: each waits for the one before,
//!   for the transfers up to it, and for its own, which cannot start before the last operator beside which it does not fit.
//! - With one channel, where all that is left fits at once, it is fetched in the order of the operators: whoever exchanges two
//!   neighbours that are not delays nobody.
//! - Copies by the processor are not searched. Where the machine has them, `synchronous` may be the answer, and the completed
//!   search proves nothing beyond the general bound.

use plimsoll_heuristics::SCHEDULES as HEURISTICS;
use plimsoll_model::overlap::{
    ScheduleEntry, ScheduleSetup, Scheduler, Span, Time, TimeBound, TimeWitness, Timeline, TimelineOutcome,
    TimelineProblem, Transfer, time_bound,
};
use plimsoll_model::{Budget, Bytes, Kind, OperatorId, SolveError, Stats, Stop};

const NAME: &str = "exact";

/// Schedules with proof.
pub const SCHEDULES: &[ScheduleEntry] = &[ScheduleEntry {
    name: NAME,
    kind: Kind::Exact,
    about: "searches all orders of transfers for the fixed order of operators; what is left when limits end it is a gap",
    source: "own",
    build: |_| Box::new(ExactTimeline),
}];

/// The search described [above](self), from the best of all heuristics.
///
/// Reads no seed and uses one thread. A node costs one, and one more for every 10 000 pairs of operators.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactTimeline;

impl Scheduler for ExactTimeline {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(&self, problem: &TimelineProblem, budget: &mut Budget) -> Result<TimelineOutcome, SolveError> {
        let mut bound = time_bound(problem);
        let mut stats = Stats::default();
        if problem.too_large().is_some() {
            return Ok(TimelineOutcome::conclude(problem, None, bound, Stop::Completed, stats));
        }
        let mut best: Option<Timeline> = None;
        for entry in HEURISTICS {
            let found = (entry.build)(ScheduleSetup::default()).solve(problem, &mut Budget::unlimited());
            let found = found.ok().and_then(|outcome| outcome.timeline);
            if let Some(found) =
                found.filter(|new| best.as_ref().is_none_or(|old| new.makespan() < old.makespan()))
            {
                best = Some(found);
            }
        }
        let mut search = Search::new(problem, best, bound.value.get());
        let before = budget.nodes();
        let stop = search.descend(&Node::root(problem), budget);
        let counted = search.counted.min(search.limit());
        if stop.is_none() && problem.copy_rate().is_none() && counted > bound.value.get() {
            let witness = TimeWitness::Search { solver: NAME.to_owned() };
            bound = TimeBound { value: Time::new(counted), witness };
        }
        stats.nodes = budget.nodes() - before;
        stats.count("orders that find no addresses", search.unplaced);
        Ok(TimelineOutcome::conclude(problem, search.best, bound, stop.unwrap_or(Stop::Completed), stats))
    }
}

/// One transfer: whose, when, on which channel.
type Start = (usize, u64, usize);

/// Transfers started so far, and what follows from them.
#[derive(Clone)]
struct Node {
    starts: Vec<Start>,
    /// Per channel: when it is free.
    free: Vec<u64>,
    /// Per operator: when its weights are there.
    arrived: Vec<Option<u64>>,
    /// Per operator from the first on, as far as all weights are under way: when it ends.
    ends: Vec<u64>,
    /// Per operator: bytes that may still be held beside it.
    slack: Vec<i128>,
}

impl Node {
    fn root(problem: &TimelineProblem) -> Self {
        let slack = problem.operators().iter().map(|one| {
            let needs = i128::from(one.activations.get()) + i128::from(one.weights.get());
            i128::from(problem.capacity().get()) - needs
        });
        let mut node = Self {
            starts: Vec::new(),
            free: vec![0; problem.dma().channels as usize],
            arrived: vec![None; problem.len()],
            ends: Vec::with_capacity(problem.len()),
            slack: slack.collect(),
        };
        node.compute(problem);
        node
    }

    /// Times operators as far as their weights are under way.
    fn compute(&mut self, problem: &TimelineProblem) {
        while self.ends.len() < problem.len() {
            let at = self.ends.len();
            let fetched = if problem.load(at).is_none() { Some(0) } else { self.arrived[at] };
            let Some(fetched) = fetched else { return };
            let start = fetched.max(self.ends.last().copied().unwrap_or(0));
            self.ends.push(start + problem.operators()[at].compute.get());
        }
    }

    /// When the next transfer can start at the earliest, and on which channel.
    fn next(&self) -> (u64, usize) {
        let (channel, &free) =
            self.free.iter().enumerate().min_by_key(|&(_, free)| free).expect("there is a channel");
        (free.max(self.starts.last().map_or(0, |start| start.1)), channel)
    }

    /// The earliest start of a transfer after all that have started; none where another one must start before.
    fn earliest(&self, problem: &TimelineProblem, at: usize) -> Option<u64> {
        let weights = i128::from(problem.operators()[at].weights.get());
        let (mut start, _) = self.next();
        loop {
            let running = self.ends.partition_point(|&end| end <= start).min(at);
            let room = self.slack[running..at].iter().min().is_none_or(|&slack| weights <= slack);
            if room {
                return Some(start);
            }
            start = *self.ends.get(running)?;
        }
    }

    fn started(&self, problem: &TimelineProblem, at: usize, start: u64) -> Self {
        let mut node = self.clone();
        let (_, channel) = self.next();
        let end = start + problem.load(at).unwrap_or_default().get();
        let running = node.ends.partition_point(|&end| end <= start).min(at);
        for slack in &mut node.slack[running..at] {
            *slack -= i128::from(problem.operators()[at].weights.get());
        }
        node.free[channel] = end;
        node.arrived[at] = Some(end);
        node.starts.push((at, start, channel));
        node.compute(problem);
        node
    }

    /// No timeline with these transfers first ends before this.
    fn bound(&self, problem: &TimelineProblem) -> u64 {
        let channels = self.free.len() as u64;
        let (now, _) = self.next();
        let running = self.ends.partition_point(|&end| end <= now);
        let mut ends = self.ends.clone();
        let mut work = 0u64;
        for at in self.ends.len()..problem.len() {
            let mut start = ends.last().copied().unwrap_or(0);
            match (self.arrived[at], problem.load(at)) {
                (Some(arrived), _) => start = start.max(arrived),
                (None, None) => {}
                (None, Some(load)) => {
                    work += load.get();
                    let weights = i128::from(problem.operators()[at].weights.get());
                    let crowded = (running.min(at)..at).rev().find(|&other| self.slack[other] < weights);
                    let earliest = crowded.map_or(now, |other| now.max(ends[other]));
                    start = start.max(earliest + load.get()).max(now + work.div_ceil(channels));
                }
            }
            ends.push(start + problem.operators()[at].compute.get());
        }
        ends.last().copied().unwrap_or(0)
    }
}

struct Search<'a> {
    problem: &'a TimelineProblem,
    weighted: Vec<usize>,
    best: Option<Timeline>,
    /// Nothing is below this.
    floor: u64,
    /// The least makespan of an order whose buffers found no addresses.
    counted: u64,
    unplaced: u64,
    /// What a node costs.
    price: u64,
}

impl<'a> Search<'a> {
    fn new(problem: &'a TimelineProblem, best: Option<Timeline>, floor: u64) -> Self {
        let count = problem.len() as u64;
        let price = 1 + count * count / 10_000;
        let weighted = problem.weighted();
        Self { problem, weighted, best, floor, counted: u64::MAX, unplaced: 0, price }
    }

    /// Only what is below this is of interest.
    fn limit(&self) -> u64 {
        self.best.as_ref().map_or(u64::MAX, |best| best.makespan().get())
    }

    fn descend(&mut self, node: &Node, budget: &mut Budget) -> Option<Stop> {
        if self.limit() <= self.floor {
            return None;
        }
        if let Some(stop) = budget.spend(self.price) {
            return Some(stop);
        }
        if node.bound(self.problem) >= self.limit() {
            return None;
        }
        if node.starts.len() == self.weighted.len() {
            self.leaf(node);
            return None;
        }
        for at in self.choices(node) {
            let Some(start) = node.earliest(self.problem, at) else { continue };
            let stop = self.descend(&node.started(self.problem, at, start), budget);
            if stop.is_some() {
                return stop;
            }
        }
        None
    }

    /// Operators whose weights may be fetched next.
    fn choices(&self, node: &Node) -> Vec<usize> {
        let open = |at: &usize| node.arrived[*at].is_none();
        let mut choices: Vec<usize> = self.weighted.iter().copied().filter(open).collect();
        let (now, _) = node.next();
        let running = node.ends.partition_point(|&end| end <= now);
        let rest: i128 =
            choices.iter().map(|&at| i128::from(self.problem.operators()[at].weights.get())).sum();
        let roomy = node.slack[running..].iter().all(|&slack| rest <= slack);
        if roomy && node.free.len() == 1 {
            choices.truncate(1);
        }
        choices
    }

    fn leaf(&mut self, node: &Node) {
        if let Some(timeline) = placed(self.problem, node) {
            self.best = Some(timeline);
        } else {
            self.counted = self.counted.min(node.ends.last().copied().unwrap_or(0));
            self.unplaced += 1;
        }
    }
}

/// A buffer that needs an address.
#[derive(Clone, Copy)]
struct Held {
    position: usize,
    start: u64,
    end: u64,
    size: Bytes,
    /// Activations lie below this while it is held.
    floor: Bytes,
}

/// What greedy placements go by, ascending.
type Key = fn(&Held) -> (u64, u64);

/// The timeline of a node where all transfers have started, if one of some greedy ways finds addresses.
fn placed(problem: &TimelineProblem, node: &Node) -> Option<Timeline> {
    let held: Vec<Held> = node
        .starts
        .iter()
        .enumerate()
        .map(|(position, &(at, start, _))| {
            let running = node.ends.partition_point(|&end| end <= start).min(at);
            let floor = problem.operators()[running..=at].iter().map(|one| one.activations).max();
            let (size, floor) = (problem.buffer(at), floor.unwrap_or(Bytes::ZERO));
            Held { position, start, end: node.ends[at], size, floor }
        })
        .collect();
    let keys: [Key; 4] = [
        |one| (one.start, 0),
        |one| (u64::MAX - one.size.get(), one.start),
        |one| (u64::MAX - one.floor.get(), one.start),
        |one| (u64::MAX - (one.end - one.start), one.start),
    ];
    let offsets = keys.into_iter().find_map(|key| {
        let mut order = held.clone();
        order.sort_by_key(key);
        greedy(problem, &order)
    })?;
    let mut timeline = Timeline::default();
    for (&(at, start, channel), offset) in node.starts.iter().zip(offsets) {
        let end = start + problem.load(at)?.get();
        timeline.transfers.push(Transfer {
            operator: OperatorId::at(at),
            channel: Some(channel as u32),
            bytes: problem.operators()[at].weights,
            span: Span { start: Time::new(start), end: Time::new(end) },
            offset,
            size: problem.buffer(at),
        });
    }
    for (one, &end) in problem.operators().iter().zip(&node.ends) {
        let span = Span { start: Time::new(end).saturating_sub(one.compute), end: Time::new(end) };
        timeline.computations.push(span);
    }
    Some(timeline)
}

/// Each at the highest free address, in this order; offsets by position.
fn greedy(problem: &TimelineProblem, order: &[Held]) -> Option<Vec<Bytes>> {
    let mut offsets = vec![Bytes::ZERO; order.len()];
    for (rank, one) in order.iter().enumerate() {
        let before = order[..rank].iter().filter(|other| other.start < one.end && one.start < other.end);
        let mut taken: Vec<(u64, Bytes)> = before
            .map(|other| (offsets[other.position].get() + other.size.get(), offsets[other.position]))
            .collect();
        taken.sort_unstable_by(|a, b| b.cmp(a));
        let mut end = problem.capacity();
        let mut offset = None;
        for (above, below) in taken {
            let candidate = problem.below(end, one.size)?;
            if candidate.get() >= above {
                offset = Some(candidate);
                break;
            }
            end = end.min(below);
        }
        let offset = offset.or_else(|| problem.below(end, one.size)).filter(|offset| *offset >= one.floor)?;
        offsets[one.position] = offset;
    }
    Some(offsets)
}

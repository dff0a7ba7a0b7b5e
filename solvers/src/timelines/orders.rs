//! Finds the minimum makespan over all orders of the operators, for small graphs.
//!
//! A depth-first search branches on the operator that runs next and tries the operator with the lowest bound
//! first. The order determines the memory of activations ([`Order::profile`]). [`ExactTimeline`] searches for
//! the timeline of every complete order whose bound is below the makespan of the best timeline. Two lower
//! bounds prune partial orders:
//!
//! - **Without memory**: the relaxation fetches weights in the order of the operators, on a single channel
//!   that is as fast as all channels together. This is a two-machine flow shop. Without precedences,
//!   Johnson's rule gives its minimum makespan over all orders, from any state of the machines. This minimum
//!   is a lower bound for every completion of a partial order.
//! - **With memory**: the ordered operators end no earlier than in a problem without the other operators. The
//!   other operators compute afterwards.
//!
//! The search ends as soon as the makespan of a timeline equals the bound over all orders.

use super::ExactTimeline;
use plimsoll_model::orders::{Order, OrderProblem};
use plimsoll_model::timelines::{
    Dma, Time, TimeWitness, TimedOperator, Timeline, TimelineError, TimelineProblem, Timelines, sliced,
    time_bound,
};
use plimsoll_model::{
    Bound, Budget, Bytes, Claim, LowerBound, OperatorId, Silent, SolveError, Solver, Stats, Stop,
};

const NAME: &str = "exact-orders";

/// Node limit of the search for the timeline of one order.
const ORDER_NODES: u64 = 2_000;

/// A timeline problem in which the order of operators is free.
#[derive(Clone, Debug)]
pub struct FreeOrder<'a> {
    /// The precedences and storages of the operators.
    pub orders: &'a OrderProblem,
    /// Times and weights, indexed by operator id. Activations are ignored because they follow from the order.
    pub operators: Vec<TimedOperator>,
    /// The DMA channels that fetch weights.
    pub dma: Dma,
    /// Bytes per second at which the processor copies weights, or `None` if it cannot copy them.
    pub copy: Option<u64>,
    /// The on-chip memory, in bytes.
    pub capacity: Bytes,
    /// The alignment of weight buffers, in bytes.
    pub alignment: Bytes,
    /// Maximum bytes of weights per slice. Operators with more bytes of weights run in slices. If this is
    /// `None`, no operator is sliced.
    pub slice: Option<Bytes>,
    /// Whether the peak of the activations is reserved for the whole run.
    pub peak: bool,
}

impl FreeOrder<'_> {
    /// Returns the timeline problem under an order. Takes time linear in the size of the order problem and
    /// the number of slices.
    ///
    /// # Errors
    /// See [`TimelineError`].
    pub fn timeline(&self, order: &Order) -> Result<TimelineProblem, TimelineError> {
        self.prefix(order, self.orders.len())
    }

    /// Returns the timeline problem of the first `count` operators of an order.
    fn prefix(&self, order: &Order, count: usize) -> Result<TimelineProblem, TimelineError> {
        let profile = order.profile(self.orders);
        let peak = profile.iter().copied().fold(self.orders.at_start(), Bytes::max);
        let operators = order.operators()[..count].iter().zip(profile).map(|(&id, live)| {
            // The peak of the whole order is unknown until the order is complete.
            let activations = if self.peak && count == self.orders.len() { peak } else { live };
            TimedOperator { activations, ..self.operators[id.index()].clone() }
        });
        let mut operators: Vec<TimedOperator> = operators.collect();
        if let Some(slice) = self.slice {
            operators = sliced(operators, slice);
        }
        TimelineProblem::new(self.orders.name(), operators, self.dma, self.capacity, self.alignment)?
            .with_copy(self.copy)
    }
}

/// The best order found, and the bound over all orders.
#[derive(Clone, Debug)]
pub struct FreeOrderOutcome {
    /// The claim over all orders.
    pub claim: Claim,
    /// The best order, its timeline problem and its timeline.
    pub best: Option<(Order, TimelineProblem, Timeline)>,
    /// A lower bound on the makespan of any order.
    pub lower_bound: Bound<Timelines>,
    /// The reason why the search ended.
    pub stop: Stop,
    /// The number of nodes and other counters.
    pub stats: Stats,
}

impl FreeOrderOutcome {
    /// Returns the makespan of the best timeline, if any.
    pub fn makespan(&self) -> Option<Time> {
        self.best.as_ref().map(|(.., timeline)| timeline.makespan())
    }
}

/// Finds the minimum makespan over all orders. The search tries the order `first` first.
///
/// The search is single-threaded and uses no seed. Nodes are those of the search over orders and of all
/// searches for timelines.
///
/// # Errors
/// If an order yields no timeline problem because its times are out of range.
///
/// # Panics
/// If the number of timed operators differs from the number of operators in the order problem, or if `first`
/// is not an order of these operators.
pub fn exact_orders(
    input: &FreeOrder<'_>,
    first: &Order,
    budget: &mut Budget,
) -> Result<FreeOrderOutcome, SolveError> {
    assert_eq!(input.operators.len(), input.orders.len(), "one timed operator per operator");
    let before = budget.nodes();
    let mut search = Search::new(input);
    let floor = search.shop(&[]);
    search.floor = floor;
    let mut stop = search.complete(first, budget)?;
    if stop.is_none() {
        let mut prefix = Vec::new();
        stop = search.descend(&mut prefix, budget)?;
    }
    let reached = search.limit();
    let mut value = Time::new(floor);
    let mut witness = TimeWitness::Search { solver: "flow-shop".to_owned() };
    let proved = search.open.min(reached);
    if stop.is_none() && proved > floor && proved < u64::MAX {
        value = Time::new(proved);
        witness = TimeWitness::Search { solver: NAME.to_owned() };
    }
    let claim = match &search.best {
        Some((.., timeline)) => Claim::of_solution(timeline.makespan() == value),
        None => Claim::without_solution(stop.is_none() && search.open == u64::MAX),
    };
    let mut stats = Stats::of_nodes(budget.nodes() - before);
    stats.count("orders", search.orders);
    let lower_bound = LowerBound::new(value, witness);
    Ok(FreeOrderOutcome {
        claim,
        best: search.best,
        lower_bound,
        stop: stop.unwrap_or(Stop::Completed),
        stats,
    })
}

struct Search<'a> {
    input: &'a FreeOrder<'a>,
    /// Operators in the order of Johnson's rule.
    johnson: Vec<usize>,
    /// Per operator: the time to fetch its weights on all channels together, rounded down, and the computing
    /// time.
    times: Vec<(u64, u64)>,
    best: Option<(Order, TimelineProblem, Timeline)>,
    floor: u64,
    /// The lowest bound among the orders whose timelines are not proved optimal.
    open: u64,
    orders: u64,
}

impl<'a> Search<'a> {
    fn new(input: &'a FreeOrder<'a>) -> Self {
        let Dma { channels, startup, bandwidth } = input.dma;
        let times: Vec<(u64, u64)> = input
            .operators
            .iter()
            .map(|one| {
                // Slices incur more setup latencies, so their total time is never shorter.
                let load = Time::at_rate(one.weights.get(), bandwidth).unwrap_or(Time::ZERO).get();
                let startup = if one.weights == Bytes::ZERO { 0 } else { startup.get() };
                (load.saturating_add(startup) / u64::from(channels), one.compute.get())
            })
            .collect();
        let mut search =
            Self { input, johnson: Vec::new(), times, best: None, floor: 0, open: u64::MAX, orders: 0 };
        search.johnson = search.rule();
        search
    }

    /// Returns the operators in the order of Johnson's rule. Operators that compute longer than they fetch
    /// come first, in ascending order of transfer time. All other operators follow in descending order of
    /// computing time.
    fn rule(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.times.len()).collect();
        order.sort_by_key(|&at| {
            let (load, compute) = self.times[at];
            if load < compute { (0, load) } else { (1, u64::MAX - compute) }
        });
        order
    }

    /// Returns a lower bound on the makespan of orders that begin with `prefix`, without regard to memory.
    fn shop(&self, prefix: &[OperatorId]) -> u64 {
        let is_sliced =
            |at: usize| self.input.slice.is_some_and(|slice| self.input.operators[at].weights > slice);
        if self.input.copy.is_some() || (0..self.times.len()).any(is_sliced) {
            // The computation of one slice may overlap the transfer of the next slice of the same operator.
            // Then only the total times are bounds. If the processor can copy weights, transfers may be
            // avoided, and only the total computing time is a bound.
            let (loads, computes) = self.times.iter().fold((0u64, 0u64), |(a, b), &(load, compute)| {
                (a.saturating_add(load), b.saturating_add(compute))
            });
            return if self.input.copy.is_some() { computes } else { loads.max(computes) };
        }
        let mut ordered = vec![false; self.times.len()];
        for id in prefix {
            ordered[id.index()] = true;
        }
        let rest = self.johnson.iter().copied().filter(|&at| !ordered[at]);
        let (mut fetched, mut computed) = (0u64, 0u64);
        for at in prefix.iter().map(|id| id.index()).chain(rest) {
            let (load, compute) = self.times[at];
            fetched = fetched.saturating_add(load);
            computed = computed.max(fetched).saturating_add(compute);
        }
        computed
    }

    fn limit(&self) -> u64 {
        self.best.as_ref().map_or(u64::MAX, |(.., timeline)| timeline.makespan().get())
    }

    /// Searches for the timeline of a complete order, unless a bound proves that it is no better than the
    /// best timeline.
    fn complete(&mut self, order: &Order, budget: &mut Budget) -> Result<Option<Stop>, SolveError> {
        self.orders += 1;
        let problem = self.problem(order, order.operators().len())?;
        if problem.too_large().is_some() || time_bound(&problem).value.get() >= self.limit() {
            return Ok(budget.spend(1));
        }
        let mut part = budget.part(Some(ORDER_NODES), None);
        let found = ExactTimeline.solve(&problem, &mut part, &mut Silent)?;
        let stop = budget.spend(part.nodes() + 1);
        if found.claim != Claim::Optimal && found.lower_bound.value.get() < self.limit() {
            self.open = self.open.min(found.lower_bound.value.get());
        }
        if let Some(timeline) = found.solution.filter(|one| one.makespan().get() < self.limit()) {
            self.best = Some((order.clone(), problem, timeline));
        }
        Ok(stop)
    }

    fn problem(&self, order: &Order, count: usize) -> Result<TimelineProblem, SolveError> {
        let internal =
            |error: TimelineError| SolveError::Internal { solver: NAME, reason: error.to_string() };
        self.input.prefix(order, count).map_err(internal)
    }

    /// Returns some completion of a prefix. The live bytes during the operators of the prefix do not depend
    /// on the rest.
    fn filled(&self, prefix: &[OperatorId]) -> Order {
        let mut done = vec![false; self.times.len()];
        let mut order = prefix.to_vec();
        for id in prefix {
            done[id.index()] = true;
        }
        // The ids of an order problem need not be topologically sorted, so look for a ready operator each
        // time.
        while order.len() < done.len() {
            let orders = self.input.orders;
            let is_ready = |id: &OperatorId| {
                !done[id.index()] && orders.predecessors(*id).iter().all(|other| done[other.index()])
            };
            let next = orders.ids().find(is_ready).expect("an order problem has no cycles");
            done[next.index()] = true;
            order.push(next);
        }
        Order::new(order)
    }

    /// Returns a lower bound on the makespan of orders that begin with `prefix`.
    fn bound(&self, prefix: &[OperatorId]) -> Result<u64, SolveError> {
        let shop = self.shop(prefix);
        if shop >= self.limit() {
            return Ok(shop);
        }
        let problem = self.problem(&self.filled(prefix), prefix.len())?;
        if problem.too_large().is_some() {
            return Ok(u64::MAX);
        }
        let mut rest: u64 = self.times.iter().map(|time| time.1).sum();
        rest -= prefix.iter().map(|id| self.times[id.index()].1).sum::<u64>();
        Ok(shop.max(time_bound(&problem).value.get().saturating_add(rest)))
    }

    fn descend(
        &mut self,
        prefix: &mut Vec<OperatorId>,
        budget: &mut Budget,
    ) -> Result<Option<Stop>, SolveError> {
        if self.limit() <= self.floor {
            return Ok(None);
        }
        if let Some(stop) = budget.spend(1) {
            return Ok(Some(stop));
        }
        let orders = self.input.orders;
        if prefix.len() == orders.len() {
            return self.complete(&Order::new(prefix.clone()), budget);
        }
        let ready: Vec<OperatorId> = orders
            .ids()
            .filter(|id| {
                let ran = |id: &OperatorId| prefix.contains(id);
                !ran(id) && orders.predecessors(*id).iter().all(ran)
            })
            .collect();
        let mut choices = Vec::with_capacity(ready.len());
        for id in ready {
            prefix.push(id);
            let bound = self.bound(prefix)?;
            prefix.pop();
            choices.push((bound, id));
        }
        choices.sort_unstable();
        for (bound, id) in choices {
            if bound >= self.limit() {
                break;
            }
            prefix.push(id);
            let stop = self.descend(prefix, budget)?;
            prefix.pop();
            if stop.is_some() {
                return Ok(stop);
            }
        }
        Ok(None)
    }
}

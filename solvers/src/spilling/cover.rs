//! Chooses the buffers to spill without regard to addresses. This is a covering problem, solved by decision
//! diagrams.
//!
//! Every *row* lists buffers with weights and limits the total weight of those that stay on chip. In a row
//! for buffers that conflict pairwise, the weights are their sizes, and the limit is the capacity. In a row
//! for a set that is proved not to fit, every weight is one, and at least one member must be spilled. The
//! objective is to minimise the traffic of the spilled buffers. Rows ignore addresses, so the optimum is a
//! lower bound. If the remaining buffers have a layout, the choice is also optimal for the spilling problem.
//!
//! Buffers are decided one at a time in time order. A row is *open* until all its buffers are decided, and is
//! then checked. A *state* records the minimum traffic so far and, for every decided buffer in an open row,
//! whether the buffer stays. A state dominates another if its traffic is no greater and it keeps a subset of
//! the buffers that the other keeps.
//!
//! With few simultaneously live buffers, the diagram is small and exact: it has O(n 2^w) states for n
//! buffers, at most w of them simultaneously live. If a layer grows too wide, a *restricted* diagram drops
//! the states with the highest bounds and yields a solution. A *relaxed* diagram merges these states into one
//! and yields a bound. In the merged state, a buffer stays if it stays in all of these states, and the
//! traffic is their minimum. The search continues from the last exact layer.
//!
//! A single row is a knapsack problem. If no item occurs in two rows, each row is therefore solved on its own
//! ([`knapsack`]). Otherwise, the optimum of a row is a lower bound on its cost, and the costs of rows over
//! disjoint ranges of items add up. Multipliers of the rows give another bound on the cost below a state
//! ([`Duals`]). It also decides which states of a layer are dropped or merged.
//!
//! **Source.** Branch and bound with decision diagrams (Bergman, Cire, van Hoeve, Hooker 2016), applied to a
//! temporal knapsack problem.

use super::duals::Duals;
use super::knapsack::{Item, knapsack};
use plimsoll_heuristics::spilling::fractional_cover;
use plimsoll_model::{Budget, BufferId, Bytes, SpillProblem, Stop};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

/// Maximum width of the layers of the first restricted diagram, which finds a solution quickly. [`WIDE`] is
/// the maximum width of the second one, which is usually exact, and [`NARROW`] that of all other diagrams.
const BEAM: usize = 64;
const WIDE: usize = 4_096;
const NARROW: usize = 512;

/// Maximum number of cheaper states that are compared with a state to find one that dominates it. The
/// cheapest state is compared in addition.
const COMPARED: usize = 48;

/// Maximum number of knapsack states for the bounds of all rows. The other rows have fractional bounds.
const ROW_STATES: u64 = 1 << 21;

/// A row of the cover: items with a total weight of at most `most` may stay.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Pairs of item and weight, in ascending order of items.
    pub items: Vec<(usize, u64)>,
    /// Maximum total weight of the items that stay.
    pub most: u64,
}

impl Row {
    fn first(&self) -> usize {
        self.items.first().map_or(0, |item| item.0)
    }

    fn last(&self) -> usize {
        self.items.last().map_or(0, |item| item.0)
    }

    /// Returns true if the items that must stay exceed the limit of the row.
    fn is_impossible(&self, costs: &[Option<u64>]) -> bool {
        row_cost(self, costs) == u64::MAX
    }

    /// Returns for each item of a possible row whether it stays, at minimum cost if there were no other rows.
    /// Returns `None` if the budget runs out.
    fn choice(&self, costs: &[Option<u64>], budget: &mut Budget) -> Option<Vec<bool>> {
        let fixed = self.items.iter().filter(|&&(item, _)| costs[item].is_none());
        let most = self.most.checked_sub(fixed.map(|item| item.1).sum())?;
        // An item that must stay is chosen, because it has no weight here.
        let item = |&(at, weight): &(usize, u64)| {
            costs[at].map_or(Item { weight: 0, value: 0 }, |value| Item { weight, value })
        };
        knapsack(&self.items.iter().map(item).collect::<Vec<_>>(), most, budget)
    }

    /// Returns the cost of spilling the items of the row that do not stay.
    fn cost(&self, costs: &[Option<u64>], stays: &[bool]) -> u64 {
        let gone = self.items.iter().zip(stays).filter(|(_, stays)| !**stays);
        gone.filter_map(|((item, _), _)| costs[*item]).sum()
    }

    /// Returns the weight that must be spilled.
    pub fn excess(&self) -> u128 {
        let all: u128 = self.items.iter().map(|item| u128::from(item.1)).sum();
        all.saturating_sub(u128::from(self.most))
    }
}

/// The covering problem. Items are buffers in time order.
#[derive(Clone, Debug)]
pub(super) struct Cover {
    /// Per item: its buffer.
    pub buffers: Vec<BufferId>,
    /// Per item: its traffic if it is spilled, or `None` if it must stay.
    pub costs: Vec<Option<u64>>,
    /// Limits on the items that stay.
    pub rows: Vec<Row>,
    /// Per buffer: its item.
    item: Vec<usize>,
}

/// The result of a search for the minimum cost.
#[derive(Clone, Debug)]
pub(super) struct Covered {
    /// Lower bound on the cost, or `None` if no choice satisfies all rows.
    pub bound: Option<u64>,
    /// Per item: whether it stays in the cheapest solution found, or `None` if no solution below the limit
    /// was found.
    pub stays: Option<Vec<bool>>,
    /// The termination reason, if the search ended before the bound was tight.
    pub stop: Option<Stop>,
}

#[cfg(feature = "ilp")]
impl Covered {
    /// Combines this result with that of a later attempt at the same cover.
    pub fn then(self, later: Self) -> Self {
        let (bound, stays) = (self.bound.max(later.bound), later.stays.or(self.stays));
        Self { bound, stays, stop: later.stop }
    }
}

impl Cover {
    /// Builds the cover with one row per clique. The total size of every clique must exceed the capacity.
    pub fn new(problem: &SpillProblem, cliques: &[Vec<BufferId>]) -> Self {
        let instance = problem.instance();
        let mut buffers: Vec<BufferId> = instance.ids().collect();
        buffers.sort_by_key(|&id| (instance.buffer(id).lifespan().hull().lower, id));
        let mut item = vec![0; buffers.len()];
        for (at, id) in buffers.iter().enumerate() {
            item[id.index()] = at;
        }
        let costs = buffers.iter().map(|&id| problem.traffic(id).map(Bytes::get)).collect();
        let mut cover = Self { buffers, costs, rows: Vec::new(), item };
        for clique in cliques {
            let weigh = |&id: &BufferId| (cover.item[id.index()], instance.buffer(id).size().get());
            let mut items: Vec<(usize, u64)> = clique.iter().map(weigh).collect();
            items.sort_unstable();
            cover.rows.push(Row { items, most: problem.capacity().get() });
        }
        cover
    }

    /// Adds a row that requires at least one of the given buffers to be spilled.
    pub fn cut(&mut self, buffers: &[BufferId]) {
        let mut items: Vec<(usize, u64)> = buffers.iter().map(|id| (self.item[id.index()], 1)).collect();
        items.sort_unstable();
        let most = (items.len() as u64).saturating_sub(1);
        self.rows.push(Row { items, most });
    }

    /// Looks for multipliers of the rows. `least` is a known bound.
    pub fn duals(&self, least: u64, watch: &mut Budget) -> Duals {
        let rows = self.rows.iter().map(|row| (row.excess(), row.items.as_slice()));
        Duals::of(&self.costs, rows, least, watch)
    }

    /// Returns the total number of entries in all rows.
    #[cfg(feature = "ilp")]
    pub fn entries(&self) -> usize {
        self.rows.iter().map(|row| row.items.len()).sum()
    }

    /// Returns true if every row is satisfied when all spillable items are spilled.
    #[cfg(feature = "ilp")]
    pub fn is_possible(&self) -> bool {
        self.rows.iter().all(|row| row_cost(row, &self.costs) < u64::MAX)
    }

    /// Returns the cost of spilling all items that do not stay.
    #[cfg(feature = "ilp")]
    pub fn cost(&self, stays: &[bool]) -> u64 {
        let gone = self.costs.iter().zip(stays).filter(|(_, stays)| !**stays);
        gone.filter_map(|(cost, _)| *cost).sum()
    }

    /// Returns the buffers that stay, in ascending order.
    pub fn kept(&self, stays: &[bool]) -> Vec<BufferId> {
        let mut kept: Vec<BufferId> =
            self.buffers.iter().zip(stays).filter(|(_, stays)| **stays).map(|(id, _)| *id).collect();
        kept.sort_unstable();
        kept
    }

    /// Returns the least cover if no item occurs in two rows: the rows are then independent. Returns `None`
    /// if they are not, or if the budget runs out.
    pub fn by_rows(&self, limit: u64, budget: &mut Budget) -> Option<Covered> {
        let mut is_named = vec![false; self.buffers.len()];
        let named = self.rows.iter().flat_map(|row| &row.items);
        if named.into_iter().any(|&(item, _)| std::mem::replace(&mut is_named[item], true)) {
            return None;
        }
        let (mut all, mut total) = (vec![true; self.buffers.len()], 0);
        for row in &self.rows {
            if row.is_impossible(&self.costs) {
                return Some(Covered { bound: None, stays: None, stop: None });
            }
            let chosen = row.choice(&self.costs, budget)?;
            total += row.cost(&self.costs, &chosen);
            row.items.iter().zip(chosen).for_each(|(&(item, _), stays)| all[item] = stays);
        }
        Some(Covered { bound: Some(total), stays: (total < limit).then_some(all), stop: None })
    }
}

/// Returns the minimum fractional cost of removing the excess of a row, or `u64::MAX` if this is impossible.
fn row_cost(row: &Row, costs: &[Option<u64>]) -> u64 {
    let offers = row.items.iter().filter_map(|&(at, weight)| Some((weight, costs[at]?)));
    fractional_cover(row.excess(), offers).unwrap_or(u64::MAX)
}

/// A bitset of the items that stay, with one bit per slot.
type Bits = Box<[u64]>;

#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    cost: u64,
    /// The sum of [`Duals::base`] and the reduced costs of the spilled items.
    dual: i128,
    stays: Bits,
}

impl State {
    fn has(&self, slot: usize) -> bool {
        self.stays[slot / 64] >> (slot % 64) & 1 == 1
    }

    fn is_within(&self, other: &Self) -> bool {
        self.stays.iter().zip(&other.stays).all(|(mine, theirs)| mine & !theirs == 0)
    }
}

/// Data shared by all diagrams of a problem.
struct Diagram<'a> {
    cover: &'a Cover,
    /// Per item: its slot while an open row contains it.
    slot: Vec<Option<usize>>,
    /// Per item: slots that become free once it is decided.
    closing: Vec<Vec<usize>>,
    /// Per item: the rows that end with it.
    ending: Vec<Vec<usize>>,
    /// Per item: the first row that contains it. Without gaps, no other row that contains the item has more
    /// bytes of earlier items.
    entry: Vec<Option<usize>>,
    /// Per item: whether any row contains it.
    named: Vec<bool>,
    /// Per item: a lower bound on the total cost of this and all later items.
    tail: Vec<u64>,
    duals: Duals,
    words: usize,
}

struct Compiled {
    /// The minimum cost in the last layer, and whether each item stays.
    best: Option<(u64, Vec<bool>)>,
    /// True if no state was dropped or merged.
    is_exact: bool,
    /// The last exact layer, with a lower bound per state. It is empty unless the diagram is relaxed and not
    /// exact.
    cut: Vec<Open>,
    stop: Option<Stop>,
}

/// A state from which the search continues.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    bound: u64,
    layer: usize,
    state: State,
    /// Decisions up to the layer.
    path: Vec<bool>,
}

impl Ord for Open {
    /// Compares two states. The state with the lowest bound is the greatest. Ties are broken in favour of the
    /// deeper layer.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |one: &Self| (std::cmp::Reverse(one.bound), one.layer);
        key(self).cmp(&key(other)).then_with(|| other.state.stays.cmp(&self.state.stays))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The predecessor of a state: its index in the previous layer, and whether the item stays.
type Parent = (u32, bool);

impl<'a> Diagram<'a> {
    fn new(cover: &'a Cover, watch: &mut Budget) -> Self {
        let n = cover.buffers.len();
        let (mut last, mut named) = (vec![None; n], vec![false; n]);
        let (mut ending, mut entry) = (vec![Vec::new(); n], vec![None; n]);
        for (at, row) in cover.rows.iter().enumerate() {
            let end = row.last();
            ending.get_mut(end).into_iter().for_each(|ending| ending.push(at));
            for &(item, _) in &row.items {
                named[item] = true;
                entry[item] = entry[item].or(Some(at));
                last[item] = last[item].max(Some(end));
            }
        }
        let (mut slot, mut closing) = (vec![None; n], vec![Vec::new(); n]);
        let (mut free, mut slots) = (Vec::new(), 0);
        for item in 0..n {
            if let Some(end) = last[item].filter(|&end| end > item) {
                let taken = free.pop().unwrap_or_else(|| {
                    slots += 1;
                    slots - 1
                });
                slot[item] = Some(taken);
                closing[end].push(taken);
            }
            free.extend(closing[item].iter().copied());
        }
        let tail = Self::tails(cover, watch);
        let duals = cover.duals(tail[0], watch);
        Self { cover, slot, closing, ending, entry, named, tail, duals, words: usize::div_ceil(slots, 64) }
    }

    /// Returns, for each item, a lower bound on the total cost of this and all later items. The costs of
    /// rows over disjoint ranges of items add up, so the bound is the cost of the most expensive chain of
    /// such rows.
    fn tails(cover: &Cover, watch: &mut Budget) -> Vec<u64> {
        let n = cover.buffers.len();
        let mut from: Vec<Vec<(usize, u64)>> = vec![Vec::new(); n];
        let mut states = watch.part(Some(ROW_STATES), None);
        for row in cover.rows.iter().filter(|row| !row.items.is_empty()) {
            // A partial result is also a valid bound.
            if watch.tick().is_some() {
                break;
            }
            let mut cost = row_cost(row, &cover.costs);
            if cost < u64::MAX
                && let Some(choice) = row.choice(&cover.costs, &mut states)
            {
                cost = row.cost(&cover.costs, &choice);
            }
            from[row.first()].push((row.last() + 1, cost));
        }
        let mut tail = vec![0u64; n + 1];
        for item in (0..n).rev() {
            let chains = from[item].iter().map(|&(next, cost)| tail[next].saturating_add(cost));
            tail[item] = chains.max().unwrap_or(0).max(tail[item + 1]);
        }
        tail
    }

    fn root(&self) -> Open {
        let state = State { cost: 0, dual: self.duals.base, stays: vec![0; self.words].into() };
        Open { bound: self.bound(&state, 0), layer: 0, state, path: Vec::new() }
    }

    /// Returns a lower bound on the cost of all choices below a state, whose items from `item` on are
    /// undecided.
    fn bound(&self, state: &State, item: usize) -> u64 {
        state.cost.saturating_add(self.tail[item]).max(self.duals.bound(state.dual, item))
    }

    /// Returns the state after an item is decided. Returns `None` if the item would be spilled but must
    /// stay, or if it violates a row that ends with it or its first row.
    fn after(&self, state: &State, item: usize, stays: bool) -> Option<State> {
        let cost = if stays { state.cost } else { state.cost.checked_add(self.cover.costs[item]?)? };
        // Early checks avoid dead ends: a row may be violated long before it ends.
        let entry = self.entry[item].filter(|_| stays);
        for &row in self.ending[item].iter().chain(&entry) {
            let row = &self.cover.rows[row];
            let kept = |&&(at, _): &&(usize, u64)| match at.cmp(&item) {
                Ordering::Less => self.slot[at].is_some_and(|slot| state.has(slot)),
                Ordering::Equal => stays,
                Ordering::Greater => self.cover.costs[at].is_none(),
            };
            let weight: u128 = row.items.iter().filter(kept).map(|item| u128::from(item.1)).sum();
            if weight > u128::from(row.most) {
                return None;
            }
        }
        let dual = state.dual + if stays { 0 } else { self.duals.reduced[item] };
        let mut next = State { cost, dual, stays: state.stays.clone() };
        if let Some(slot) = self.slot[item].filter(|_| stays) {
            next.stays[slot / 64] |= 1 << (slot % 64);
        }
        for &slot in &self.closing[item] {
            next.stays[slot / 64] &= !(1 << (slot % 64));
        }
        Some(next)
    }

    /// Returns the states after an item, without duplicates or dominated states. States whose bound reaches
    /// `limit` are dropped.
    fn layer(&self, states: &[State], item: usize, limit: u64) -> (Vec<State>, Vec<Parent>) {
        let (mut next, mut parents): (Vec<State>, Vec<Parent>) = (Vec::new(), Vec::new());
        let mut seen: HashMap<Bits, usize> = HashMap::new();
        for (from, state) in states.iter().enumerate() {
            // An item that is in no row stays.
            let choices: &[bool] = if self.named[item] { &[true, false] } else { &[true] };
            for &stays in choices {
                let Some(one) = self.after(state, item, stays) else { continue };
                if self.bound(&one, item + 1) >= limit {
                    continue;
                }
                let parent = (from as u32, stays);
                match seen.get(&one.stays) {
                    Some(&at) if next[at].cost <= one.cost => {}
                    Some(&at) => (next[at], parents[at]) = (one, parent),
                    None => {
                        seen.insert(one.stays.clone(), next.len());
                        next.push(one);
                        parents.push(parent);
                    }
                }
            }
        }
        undominated(next, parents)
    }

    /// Builds the diagram below a state, with layers of at most `width` states.
    fn compile(
        &self,
        from: &Open,
        width: usize,
        is_relaxed: bool,
        limit: u64,
        budget: &mut Budget,
    ) -> Compiled {
        let n = self.cover.buffers.len();
        let mut states = vec![from.state.clone()];
        let mut parents: Vec<Vec<Parent>> = Vec::with_capacity(n - from.layer);
        let mut is_exact = true;
        let mut cut: Vec<Open> = Vec::new();
        let mut stop = None;
        for item in from.layer..n {
            stop = stop.or(budget.spend(states.len() as u64));
            if stop.is_some() {
                return Compiled { best: None, is_exact: false, cut: Vec::new(), stop };
            }
            let (mut next, mut made) = self.layer(&states, item, limit);
            if next.len() > width {
                if is_exact && is_relaxed {
                    cut = self.opened(from, &states, &parents, item);
                }
                is_exact = false;
                // The states with the lowest bounds are the most promising.
                let mut both: Vec<(State, Parent)> = next.into_iter().zip(made).collect();
                both.sort_by_key(|(state, _)| (self.bound(state, item + 1), state.cost));
                (next, made) = both.into_iter().unzip();
                if is_relaxed {
                    merge(&mut next, width);
                }
                next.truncate(width);
                made.truncate(width);
            }
            states = next;
            parents.push(made);
            if states.is_empty() {
                break;
            }
        }
        // The last layer has one state, because no row is open there.
        let best = states.first().map(|state| (state.cost, path(from, &parents, 0)));
        if let Some((cost, _)) = &best {
            // The minimum cost of a relaxed diagram is at most the cost of any solution that it represents.
            for one in &mut cut {
                one.bound = one.bound.max(*cost);
            }
        } else {
            cut.clear();
        }
        Compiled { best, is_exact, cut, stop: None }
    }

    /// Returns the states of a layer as search nodes.
    fn opened(&self, from: &Open, states: &[State], parents: &[Vec<Parent>], layer: usize) -> Vec<Open> {
        let open = |(at, state): (usize, &State)| Open {
            bound: from.bound.max(self.bound(state, layer)),
            layer,
            state: state.clone(),
            path: path(from, parents, at),
        };
        states.iter().enumerate().map(open).collect()
    }
}

/// Returns the decisions that lead to a state of the last layer.
fn path(from: &Open, parents: &[Vec<Parent>], mut at: usize) -> Vec<bool> {
    let mut below = Vec::with_capacity(parents.len());
    for layer in parents.iter().rev() {
        let (parent, stays) = layer[at];
        below.push(stays);
        at = parent as usize;
    }
    from.path.iter().copied().chain(below.into_iter().rev()).collect()
}

/// Removes dominated states and sorts the others by ascending cost. A state is dominated if another state
/// costs no more and keeps a subset of its items. The number of comparisons per state is limited
/// ([`COMPARED`]).
fn undominated(states: Vec<State>, parents: Vec<Parent>) -> (Vec<State>, Vec<Parent>) {
    let count = |state: &State| state.stays.iter().map(|word| word.count_ones()).sum::<u32>();
    let mut both: Vec<(State, Parent)> = states.into_iter().zip(parents).collect();
    both.sort_by(|(a, _), (b, _)| {
        a.cost.cmp(&b.cost).then_with(|| count(a).cmp(&count(b))).then_with(|| a.stays.cmp(&b.stays))
    });
    let mut kept: Vec<(State, Parent)> = Vec::with_capacity(both.len());
    for (state, parent) in both {
        let nearest = kept.iter().rev().take(COMPARED);
        if !nearest.chain(kept.first()).any(|(other, _)| other.is_within(&state)) {
            kept.push((state, parent));
        }
    }
    kept.into_iter().unzip()
}

/// Merges the states beyond `width` into the last state within it. The merged state keeps the items that stay
/// in all of these states, and has their minimum cost.
fn merge(states: &mut [State], width: usize) {
    let mut merged = states[width - 1].clone();
    for other in &states[width..] {
        for (mine, theirs) in merged.stays.iter_mut().zip(&other.stays) {
            *mine &= theirs;
        }
        (merged.cost, merged.dual) = (merged.cost.min(other.cost), merged.dual.min(other.dual));
    }
    states[width - 1] = merged;
}

/// A search for the minimum cost of a cover, which can be interrupted and resumed.
pub(super) struct Search<'a> {
    diagram: Diagram<'a>,
    /// Exclusive upper limit on the cost of a better solution.
    best: u64,
    stays: Option<Vec<bool>>,
    open: BinaryHeap<Open>,
    /// The maximum width of the next restricted diagram.
    width: usize,
}

impl<'a> Search<'a> {
    pub fn new(cover: &'a Cover, budget: &Budget) -> Self {
        let diagram = Diagram::new(cover, &mut budget.without_node_limit());
        let open = BinaryHeap::from([diagram.root()]);
        Self { diagram, best: u64::MAX, stays: None, open, width: BEAM }
    }

    /// Continues the search until it finds the minimum cost, proves that it is at least `limit`, or the
    /// budget runs out. One node is one expanded state. Returns the best solution found by this call.
    pub fn advance(&mut self, limit: u64, budget: &mut Budget) -> Covered {
        // Some row cannot be satisfied even if all its spillable items are spilled.
        if self.diagram.tail[0] == u64::MAX {
            return Covered { bound: None, stays: None, stop: None };
        }
        self.best = self.best.min(limit);
        let stop = self.run(budget);
        let open = self.open.peek().map_or(u64::MAX, |one| one.bound);
        let bound = self.best.min(if stop.is_some() { open } else { u64::MAX });
        Covered { bound: (bound < u64::MAX).then_some(bound), stays: self.stays.take(), stop }
    }

    fn run(&mut self, budget: &mut Budget) -> Option<Stop> {
        while let Some(one) = self.open.pop() {
            if one.bound >= self.best {
                self.open.clear();
                return None;
            }
            let stop = if self.width == BEAM { self.dive(&one, budget) } else { self.expand(&one, budget) };
            if let Some(stop) = stop {
                self.open.push(one);
                return Some(stop);
            }
            self.width = NARROW;
        }
        None
    }

    /// Looks for a first solution below the root. If it may not be the best, the search ends for now, so that
    /// the solution can be used.
    fn dive(&mut self, root: &Open, budget: &mut Budget) -> Option<Stop> {
        let restricted = self.diagram.compile(root, BEAM, false, self.best, budget);
        if restricted.stop.is_some() {
            return restricted.stop;
        }
        self.width = WIDE;
        self.adopt(restricted.best);
        (!restricted.is_exact).then_some(Stop::NodeLimit)
    }

    fn adopt(&mut self, found: Option<(u64, Vec<bool>)>) {
        if let Some((cost, stays)) = found.filter(|found| found.0 < self.best) {
            (self.best, self.stays) = (cost, Some(stays));
        }
    }

    /// Searches below one state. Adopts a better solution if it finds one, and queues the states that remain
    /// open.
    fn expand(&mut self, one: &Open, budget: &mut Budget) -> Option<Stop> {
        let restricted = self.diagram.compile(one, self.width, false, self.best, budget);
        if restricted.stop.is_some() {
            return restricted.stop;
        }
        self.adopt(restricted.best);
        if restricted.is_exact {
            return None;
        }
        let relaxed = self.diagram.compile(one, NARROW, true, self.best, budget);
        if relaxed.stop.is_some() {
            return relaxed.stop;
        }
        self.adopt(relaxed.best.filter(|_| relaxed.is_exact));
        self.open.extend(relaxed.cut.into_iter().filter(|open| open.bound < self.best));
        None
    }
}

//! Who has to go, addresses apart: a covering problem, solved by decision diagrams.
//!
//! Every *row* names buffers and says how much of them may stay: a set in mutual conflict may stay as far as the capacity
//! goes, a set that is known not to fit may stay but for one. Wanted is the least traffic of those that go. The rows leave out
//! addresses, so the answer is a lower bound, and the answer itself where what stays turns out to have a layout.
//!
//! Buffers are decided one by one in order of time; a *state* is who of those decided stays, as far as a row still open
//! asks for it, with the least traffic so far. A row is looked at when its last buffer is decided, which for sections
//! is the step at which that begins. Of two states, the one with less traffic and fewer that stay makes the other needless.
//! Where there are few alive at a time the diagram is small and exact: O(n 2^w) for w alive. Where a layer grows too wide,
//! a *restricted* diagram drops the dearest states and gives an answer, a *relaxed* one merges them (who stays in all of them,
//! least traffic) and gives a bound, and the search goes on from the last layer that was exact.
//!
//! Source: branch and bound by decision diagrams (Bergman, Cire, van Hoeve, Hooker 2016), on temporal knapsack.

use plimsoll_heuristics::fractional_cover;
use plimsoll_model::{Budget, BufferId, Bytes, SpillProblem, Stop};
use std::collections::{BinaryHeap, HashMap};

/// States of a layer in the first diagram, which is hoped to be exact, and in those of the search.
const WIDE: usize = 4_096;
const NARROW: usize = 512;

/// States before it that one is compared with for dominance.
const COMPARED: usize = 48;

/// At most `most` of the weight of these items may stay.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Item and weight, by ascending item.
    pub items: Vec<(usize, u64)>,
    /// Weight that may stay.
    pub most: u64,
}

impl Row {
    fn first(&self) -> usize {
        self.items.first().map_or(0, |item| item.0)
    }

    fn last(&self) -> usize {
        self.items.last().map_or(0, |item| item.0)
    }

    /// Weight that has to go.
    pub fn excess(&self) -> u128 {
        let all: u128 = self.items.iter().map(|item| u128::from(item.1)).sum();
        all.saturating_sub(u128::from(self.most))
    }
}

/// The covering problem. Items are buffers in order of time.
#[derive(Clone, Debug)]
pub(super) struct Cover {
    /// Per item: its buffer.
    pub buffers: Vec<BufferId>,
    /// Per item: traffic where it goes; none where it has to stay.
    pub costs: Vec<Option<u64>>,
    /// What may stay.
    pub rows: Vec<Row>,
    /// Per buffer: its item.
    item: Vec<usize>,
}

/// What is known of the least cost.
#[derive(Clone, Debug)]
pub(super) struct Covered {
    /// Nothing costs less. None where nothing is allowed at all.
    pub bound: Option<u64>,
    /// Per item: whether it stays, in the cheapest that was found below the limit.
    pub stays: Option<Vec<bool>>,
    /// Why it ended before the bound was the least cost.
    pub stop: Option<Stop>,
}

#[cfg(feature = "ilp")]
impl Covered {
    /// The same after another attempt at the same cover, which ended like this.
    pub fn then(self, later: Self) -> Self {
        let (bound, stays) = (self.bound.max(later.bound), later.stays.or(self.stays));
        Self { bound, stays, stop: later.stop }
    }
}

impl Cover {
    /// The rows of these cliques above the capacity.
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

    /// One of these has to go.
    pub fn cut(&mut self, buffers: &[BufferId]) {
        let mut items: Vec<(usize, u64)> = buffers.iter().map(|id| (self.item[id.index()], 1)).collect();
        items.sort_unstable();
        let most = (items.len() as u64).saturating_sub(1);
        self.rows.push(Row { items, most });
    }

    /// Numbers in all rows.
    #[cfg(feature = "ilp")]
    pub fn entries(&self) -> usize {
        self.rows.iter().map(|row| row.items.len()).sum()
    }

    /// Whether every row is kept where all go that may.
    #[cfg(feature = "ilp")]
    pub fn is_possible(&self) -> bool {
        self.rows.iter().all(|row| row_cost(row, &self.costs) < u64::MAX)
    }

    /// What it costs that the others go.
    #[cfg(feature = "ilp")]
    pub fn cost(&self, stays: &[bool]) -> u64 {
        let gone = self.costs.iter().zip(stays).filter(|(_, stays)| !**stays);
        gone.filter_map(|(cost, _)| *cost).sum()
    }

    /// Who stays, as buffers, ascending.
    pub fn kept(&self, stays: &[bool]) -> Vec<BufferId> {
        let mut kept: Vec<BufferId> =
            self.buffers.iter().zip(stays).filter(|(_, stays)| **stays).map(|(id, _)| *id).collect();
        kept.sort_unstable();
        kept
    }

    /// The least cost below `limit`. A node is a state looked at.
    pub fn least(&self, limit: u64, budget: &mut Budget) -> Covered {
        let diagram = Diagram::new(self, &mut budget.without_node_limit());
        // Some row is beyond what may go.
        if diagram.tail[0] == u64::MAX {
            return Covered { bound: None, stays: None, stop: None };
        }
        let mut search = Search { diagram: &diagram, best: limit, stays: None, open: BinaryHeap::new() };
        let stop = search.run(budget);
        let open = search.open.peek().map_or(u64::MAX, |one| one.bound);
        let bound = search.best.min(if stop.is_some() { open } else { u64::MAX });
        Covered { bound: (bound < u64::MAX).then_some(bound), stays: search.stays, stop }
    }
}

/// The least cost, parts of items allowed, that takes from a row what may not stay; `u64::MAX` where that cannot be.
fn row_cost(row: &Row, costs: &[Option<u64>]) -> u64 {
    let offers = row.items.iter().filter_map(|&(at, weight)| Some((weight, costs[at]?)));
    fractional_cover(row.excess(), offers).unwrap_or(u64::MAX)
}

/// Who stays, one bit per slot.
type Bits = Box<[u64]>;

#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    cost: u64,
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

/// What all diagrams of a problem share.
struct Diagram<'a> {
    cover: &'a Cover,
    /// Per item: its bit while some row is open that names it.
    slot: Vec<Option<usize>>,
    /// Per item: slots that are free once it is decided.
    closing: Vec<Vec<usize>>,
    /// Per item: rows of which it is the last.
    ending: Vec<Vec<usize>>,
    /// Per item: whether any row names it.
    named: Vec<bool>,
    /// What is still to come costs at least this, from each item on.
    tail: Vec<u64>,
    words: usize,
}

struct Compiled {
    /// The least cost at its end, and who stays.
    best: Option<(u64, Vec<bool>)>,
    /// Nothing was dropped or merged.
    is_exact: bool,
    /// The last exact layer, with what each state costs at least; of relaxed diagrams that are not exact.
    cut: Vec<Open>,
    stop: Option<Stop>,
}

/// A state from which the search goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    bound: u64,
    layer: usize,
    state: State,
    /// Decisions up to the layer.
    path: Vec<bool>,
}

impl Ord for Open {
    /// The lowest bound is the greatest, then the deepest.
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

/// Where a state came from: position in the layer before, and whether the item stays.
type Parent = (u32, bool);

impl<'a> Diagram<'a> {
    fn new(cover: &'a Cover, watch: &mut Budget) -> Self {
        let n = cover.buffers.len();
        let (mut last, mut named) = (vec![None; n], vec![false; n]);
        let mut ending = vec![Vec::new(); n];
        for (at, row) in cover.rows.iter().enumerate() {
            let end = row.last();
            ending.get_mut(end).into_iter().for_each(|ending| ending.push(at));
            for &(item, _) in &row.items {
                named[item] = true;
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
        Self { cover, slot, closing, ending, named, tail, words: usize::div_ceil(slots, 64) }
    }

    /// Rows that share no item add up: the best chain of rows one after the other.
    fn tails(cover: &Cover, watch: &mut Budget) -> Vec<u64> {
        let n = cover.buffers.len();
        let mut from: Vec<Vec<(usize, u64)>> = vec![Vec::new(); n];
        for row in cover.rows.iter().filter(|row| !row.items.is_empty()) {
            // Less is a bound too.
            if watch.tick().is_some() {
                break;
            }
            from[row.first()].push((row.last() + 1, row_cost(row, &cover.costs)));
        }
        let mut tail = vec![0u64; n + 1];
        for item in (0..n).rev() {
            let chains = from[item].iter().map(|&(next, cost)| tail[next].saturating_add(cost));
            tail[item] = chains.max().unwrap_or(0).max(tail[item + 1]);
        }
        tail
    }

    fn root(&self) -> Open {
        let state = State { cost: 0, stays: vec![0; self.words].into() };
        Open { bound: self.tail[0], layer: 0, state, path: Vec::new() }
    }

    /// The state after an item is decided; none where a row that ends there forbids it.
    fn after(&self, state: &State, item: usize, stays: bool) -> Option<State> {
        let cost = if stays { state.cost } else { state.cost.checked_add(self.cover.costs[item]?)? };
        for &row in &self.ending[item] {
            let row = &self.cover.rows[row];
            let kept = |&&(at, _): &&(usize, u64)| {
                if at == item { stays } else { self.slot[at].is_some_and(|slot| state.has(slot)) }
            };
            let weight: u128 = row.items.iter().filter(kept).map(|item| u128::from(item.1)).sum();
            if weight > u128::from(row.most) {
                return None;
            }
        }
        let mut next = State { cost, stays: state.stays.clone() };
        if let Some(slot) = self.slot[item].filter(|_| stays) {
            next.stays[slot / 64] |= 1 << (slot % 64);
        }
        for &slot in &self.closing[item] {
            next.stays[slot / 64] &= !(1 << (slot % 64));
        }
        Some(next)
    }

    /// The states after an item, equal ones once; those at `limit` or above are left out.
    fn layer(&self, states: &[State], item: usize, limit: u64) -> (Vec<State>, Vec<Parent>) {
        let (mut next, mut parents): (Vec<State>, Vec<Parent>) = (Vec::new(), Vec::new());
        let mut seen: HashMap<Bits, usize> = HashMap::new();
        for (from, state) in states.iter().enumerate() {
            // Whom no row names stays.
            let choices: &[bool] = if self.named[item] { &[true, false] } else { &[true] };
            for &stays in choices {
                let Some(one) = self.after(state, item, stays) else { continue };
                if one.cost.saturating_add(self.tail[item + 1]) >= limit {
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

    /// The diagram below a state, layers of at most `width` states.
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
        // Layers come by ascending cost.
        let best = states.first().map(|state| (state.cost, path(from, &parents, 0)));
        if let Some((cost, _)) = &best {
            // The merged states of a relaxed diagram cost no more than any of those they stand for.
            for one in &mut cut {
                one.bound = one.bound.max(*cost);
            }
        } else {
            cut.clear();
        }
        Compiled { best, is_exact, cut, stop: None }
    }

    /// The states of a layer, to go on from.
    fn opened(&self, from: &Open, states: &[State], parents: &[Vec<Parent>], layer: usize) -> Vec<Open> {
        let open = |(at, state): (usize, &State)| Open {
            bound: from.bound.max(state.cost.saturating_add(self.tail[layer])),
            layer,
            state: state.clone(),
            path: path(from, parents, at),
        };
        states.iter().enumerate().map(open).collect()
    }
}

/// The decisions that lead to a state of the last layer there is.
fn path(from: &Open, parents: &[Vec<Parent>], mut at: usize) -> Vec<bool> {
    let mut below = Vec::with_capacity(parents.len());
    for layer in parents.iter().rev() {
        let (parent, stays) = layer[at];
        below.push(stays);
        at = parent as usize;
    }
    from.path.iter().copied().chain(below.into_iter().rev()).collect()
}

/// Drops states that cost no less and keep no fewer than another; ascending by cost.
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

/// The dearest become one: who stays in all of them, at the least cost. Its place among the others is by that cost.
fn merge(states: &mut [State], width: usize) {
    let mut merged = states[width - 1].clone();
    for other in &states[width..] {
        for (mine, theirs) in merged.stays.iter_mut().zip(&other.stays) {
            *mine &= theirs;
        }
    }
    states[width - 1] = merged;
}

struct Search<'a> {
    diagram: &'a Diagram<'a>,
    best: u64,
    stays: Option<Vec<bool>>,
    open: BinaryHeap<Open>,
}

impl Search<'_> {
    fn run(&mut self, budget: &mut Budget) -> Option<Stop> {
        self.open.push(self.diagram.root());
        let mut width = WIDE;
        while let Some(one) = self.open.pop() {
            if one.bound >= self.best {
                self.open.clear();
                return None;
            }
            if let Some(stop) = self.expand(&one, width, budget) {
                self.open.push(one);
                return Some(stop);
            }
            width = NARROW;
        }
        None
    }

    /// An answer from below one state, and what is left open there.
    fn expand(&mut self, one: &Open, width: usize, budget: &mut Budget) -> Option<Stop> {
        let restricted = self.diagram.compile(one, width, false, self.best, budget);
        if restricted.stop.is_some() {
            return restricted.stop;
        }
        if let Some((cost, stays)) = restricted.best
            && cost < self.best
        {
            (self.best, self.stays) = (cost, Some(stays));
        }
        if restricted.is_exact {
            return None;
        }
        let relaxed = self.diagram.compile(one, NARROW, true, self.best, budget);
        if relaxed.stop.is_some() {
            return relaxed.stop;
        }
        if relaxed.is_exact
            && let Some((cost, stays)) = relaxed.best
            && cost < self.best
        {
            (self.best, self.stays) = (cost, Some(stays));
        }
        self.open.extend(relaxed.cut.into_iter().filter(|open| open.bound < self.best));
        None
    }
}

//! Lower bounds on the heights below and above each buffer, with explanations.

use super::log::Log;
use super::problem::{Lit, MOST_TOGETHER, Problem};
use super::{LearnRules, Wrong};
use std::collections::{BinaryHeap, VecDeque};

const NONE: u32 = u32::MAX;

/// A raised bound. The stack that implies it is `stacked[reason.0..reason.1]`, unless another member of the
/// same rigid group implies it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    node: u32,
    value: i64,
    /// The end of the stack. `value` is this end, rounded up to the next value that corresponds to an aligned
    /// offset.
    end: i64,
    /// The previous entry of the same node.
    before: u32,
    reason: (u32, u32),
    /// The node of the member that implies the bound, and the difference of the bounds.
    tie: Option<(u32, i64)>,
}

/// The bounds of all buffers. A buffer `b` has two nodes: `2 b` for the height below it (side 0), and
/// `2 b + 1` for the height above it (side 1). Side 1 is the layout turned upside down, so all orders are
/// reversed there.
#[derive(Clone, Debug)]
pub(super) struct Bounds<'p> {
    problem: &'p Problem,
    pub rules: LearnRules,
    /// The highest peak that a layout may have, in units.
    capacity: i64,
    /// The bound of each node, in units.
    pub value: Vec<i64>,
    /// The bound of each node before any order is decided.
    base: Vec<i64>,
    latest: Vec<u32>,
    entries: Vec<Entry>,
    stacked: Vec<u32>,
    /// Entries below this index are permanent.
    root: u32,
    /// Queue of nodes to propagate again.
    dirty: VecDeque<u32>,
    is_dirty: Vec<bool>,
    /// Per entry: the value that the current explanation requires, or 0.
    wanted: Vec<i64>,
    heap: BinaryHeap<u32>,
}

/// A set of buffers that form a stack.
#[derive(Clone, Copy, Debug)]
struct Stack {
    buffers: [u32; MOST_TOGETHER],
    count: usize,
}

impl Stack {
    fn of(row: &[(i64, u32)]) -> Self {
        let mut stack = Self { count: row.len(), ..Self::default() };
        row.iter().zip(&mut stack.buffers).for_each(|(&(_, b), place)| *place = b);
        stack
    }
}

impl Default for Stack {
    fn default() -> Self {
        Self { buffers: [0; MOST_TOGETHER], count: 0 }
    }
}

/// A fact to explain, as a node and a value: the bound of the node is at least this value.
pub(super) type Demand = (usize, i64);

impl<'p> Bounds<'p> {
    pub fn new(problem: &'p Problem, capacity: i64, rules: LearnRules) -> Self {
        let nodes = 2 * problem.size.len();
        let base: Vec<i64> = (0..nodes).map(|node| problem.base(node, capacity)).collect();
        Self {
            problem,
            rules,
            capacity,
            value: base.clone(),
            base,
            latest: vec![NONE; nodes],
            entries: Vec::new(),
            stacked: Vec::new(),
            root: 0,
            dirty: VecDeque::new(),
            is_dirty: vec![false; nodes],
            wanted: Vec::new(),
            heap: BinaryHeap::new(),
        }
    }

    /// Returns the number of entries. It serves as a mark for [`Bounds::undo`] and [`Bounds::explain`].
    pub fn mark(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Makes all current entries permanent.
    pub fn settle(&mut self) {
        self.root = self.mark();
    }

    pub fn touch(&mut self, node: usize) {
        if !std::mem::replace(&mut self.is_dirty[node], true) {
            self.dirty.push_back(node as u32);
        }
    }

    pub fn next_dirty(&mut self) -> Option<usize> {
        let node = self.dirty.pop_front()? as usize;
        self.is_dirty[node] = false;
        Some(node)
    }

    /// Removes the entries after a mark and clears the queue.
    pub fn undo(&mut self, mark: u32) {
        while self.mark() > mark {
            let entry = self.entries.pop().expect("entries follow the mark");
            let node = entry.node as usize;
            self.latest[node] = entry.before;
            let before = self.entries.get(entry.before as usize);
            self.value[node] = before.map_or(self.base[node], |before| before.value);
            self.stacked.truncate(entry.reason.0 as usize);
        }
        while self.next_dirty().is_some() {}
    }

    /// Raises the bound of a node to the best bound that its predecessors in one of its cliques, or the other
    /// members of its rigid group, imply. Returns true if the bound rose.
    ///
    /// Suppose that all buffers of a set are simultaneously live and lie below another buffer. That buffer
    /// then lies at least as high as the lowest bound in the set plus the total size of the set. The best
    /// set consists of all buffers whose bound is at or above some threshold.
    pub fn update(&mut self, node: usize, truth: &[i8]) -> bool {
        let (buffer, side) = (node / 2, node % 2);
        let problem = self.problem;
        let (mut best, mut stack) = (self.value[node], Stack::default());
        let mut end = best;
        let mut row = [(0, 0); MOST_TOGETHER];
        for &(c, at) in &problem.memberships[buffer] {
            let clique = &problem.cliques[c as usize];
            let k = clique.members.len();
            let mut count = 0;
            for (i, &other) in clique.members.iter().enumerate() {
                // True if the other buffer lies below this one, or above it on side 1.
                if i != at as usize && truth[(clique.below[i * k + at as usize] ^ side as Lit) as usize] > 0 {
                    row[count] = (self.value[2 * other as usize + side], other);
                    count += 1;
                }
            }
            row[..count].sort_unstable_by(|a, b| b.cmp(a));
            let mut sum = 0;
            for (i, &(value, other)) in row[..count].iter().enumerate() {
                let size = problem.size[other as usize];
                sum = if self.rules.stacks { sum + size } else { size };
                let sum = sum + i64::from(self.rules.is_wrong(Wrong::Stack));
                if value + sum > end {
                    end = value + sum;
                    stack = if self.rules.stacks { Stack::of(&row[..=i]) } else { Stack::of(&row[i..=i]) };
                }
            }
        }
        let mut tie = None;
        for (other, more) in problem.tied(node) {
            if self.value[other] + more > end {
                end = self.value[other] + more;
                (tie, stack.count) = (Some((other as u32, more)), 0);
            }
        }
        if end == best {
            return false;
        }
        best = problem.rounded(node, end, self.capacity);
        let from = self.stacked.len() as u32;
        self.stacked.extend_from_slice(&stack.buffers[..stack.count]);
        let entry = Entry {
            node: node as u32,
            value: best,
            end,
            before: self.latest[node],
            reason: (from, self.stacked.len() as u32),
            tie,
        };
        self.latest[node] = self.mark();
        self.entries.push(entry);
        self.value[node] = best;
        true
    }

    /// Logs the reason of the latest entry.
    pub fn log_latest(&self, log: &mut Log) {
        match self.entries.last() {
            Some(&Entry { tie: Some((other, _)), node, .. }) => log.tie(other / 2, node / 2),
            Some(entry) => {
                log.stack(entry.node, &self.stacked[entry.reason.0 as usize..entry.reason.1 as usize]);
            }
            None => {}
        }
    }

    /// Returns the value that a node had when there were `limit` entries.
    pub fn value_at(&self, node: usize, limit: u32) -> i64 {
        let mut at = self.latest[node];
        while at != NONE && at >= limit {
            at = self.entries[at as usize].before;
        }
        if at == NONE { self.base[node] } else { self.entries[at as usize].value }
    }

    fn want(&mut self, (node, value): Demand, limit: u32) {
        if value <= self.base[node] {
            return;
        }
        let mut at = self.latest[node];
        while at != NONE {
            let before = self.entries[at as usize].before;
            let early = at < limit;
            if early && (before == NONE || self.entries[before as usize].value < value) {
                break;
            }
            at = before;
        }
        debug_assert!(at != NONE, "an explained bound holds");
        if at == NONE || at < self.root {
            return;
        }
        let wanted = &mut self.wanted[at as usize];
        if *wanted == 0 {
            self.heap.push(at);
        }
        *wanted = value.max(*wanted);
    }

    /// Extends `literals` by orders that imply the demands. Uses only the first `limit` entries. If a stack
    /// exceeds the demand, its smallest buffers are omitted. The stacks are logged from the last to the
    /// first.
    pub fn explain(
        &mut self,
        demands: &[Demand],
        limit: u32,
        literals: &mut Vec<Lit>,
        mut log: Option<&mut Log>,
    ) {
        self.wanted.resize(self.entries.len(), 0);
        for &demand in demands {
            self.want(demand, limit);
        }
        let problem = self.problem;
        let mut reason: Vec<u32> = Vec::new();
        while let Some(at) = self.heap.pop() {
            let entry = self.entries[at as usize];
            let wanted = std::mem::take(&mut self.wanted[at as usize]);
            let (buffer, side) = (entry.node as usize / 2, entry.node as usize % 2);
            let wanted = problem.least(entry.node as usize, wanted, self.capacity);
            if let Some((other, more)) = entry.tie {
                if let Some(log) = log.as_deref_mut() {
                    log.tie(other / 2, entry.node / 2);
                }
                self.want((other as usize, wanted - more), at);
                continue;
            }
            reason.clear();
            reason.extend(&self.stacked[entry.reason.0 as usize..entry.reason.1 as usize]);
            reason.sort_unstable_by_key(|&b| problem.size[b as usize]);
            // At least one buffer must remain because its own bound may imply the demand.
            let (mut spare, mut left) = (entry.end - wanted, reason.len());
            reason.retain(|&b| {
                let drop = problem.size[b as usize] <= spare && left > 1 && self.rules.shorten;
                if drop {
                    spare -= problem.size[b as usize];
                    left -= 1;
                }
                !drop
            });
            let sum: i64 = reason.iter().map(|&b| problem.size[b as usize]).sum();
            let sum = sum + i64::from(self.rules.is_wrong(Wrong::Stack));
            if let Some(log) = log.as_deref_mut() {
                log.stack(entry.node, &reason);
            }
            for &b in &reason {
                literals.push(problem.below(b as usize, buffer) ^ side as Lit);
                self.want((2 * b as usize + side, wanted - sum), at);
            }
        }
    }
}

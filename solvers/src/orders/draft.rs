//! The order problem while it is being reduced. A node is a sequence of operators, and a storage is live from
//! its first to its last use.
//!
//! A [`Draft`] is symmetric in time. A storage is live from its first user to its last, or from the start if
//! it is `begun`, or to the end if it is `kept`. Let `live(D)` be the bytes live after the nodes of a downset
//! `D` (a set closed under predecessors) have run. Each storage contributes its size times
//! `([some user in D] - [all users in D])`. The first bracket is 1 if the storage is `begun`, and the second
//! is 0 if it is `kept`. The live bytes are a submodular function of `D`:
//!
//! ```text
//! live(A and B) + live(A or B) <= live(A) + live(B)
//! ```
//!
//! Here, `A and B` is the intersection of two downsets, and `A or B` is their union. The bytes live while a
//! given node runs are submodular too. Most proofs in this module follow from this inequality.

use plimsoll_model::OperatorId;
use plimsoll_model::orders::OrderProblem;

/// One operator of a node.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub operator: OperatorId,
    pub touch: Vec<u32>,
    pub scratch: u64,
}

/// Memory that is live from its first to its last use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Store {
    pub size: u64,
    /// Whether the storage is live before any node runs.
    pub begun: bool,
    /// Whether the storage is live after all nodes have run.
    pub kept: bool,
}

/// Nodes, precedences, storages, and the number of bytes that are always live.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// Per node: its operators, which run consecutively.
    pub nodes: Vec<Vec<Work>>,
    pub before: Vec<Vec<u32>>,
    pub after: Vec<Vec<u32>>,
    pub stores: Vec<Store>,
    pub base: u64,
}

impl Draft {
    /// Returns, for each storage, the nodes that touch it, in ascending order. The time is linear in the
    /// size of the draft.
    pub fn users(&self) -> Vec<Vec<u32>> {
        let mut users = vec![Vec::new(); self.stores.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            for &s in node.iter().flat_map(|work| &work.touch) {
                users[s as usize].push(at as u32);
            }
        }
        users.iter_mut().for_each(Vec::dedup);
        users
    }

    /// Builds one node per operator. Storages that are always live become a constant. The time is linear in
    /// the size of the problem.
    pub fn of(problem: &OrderProblem) -> Self {
        let mut draft = Self::default();
        let list = |ids: &[OperatorId]| ids.iter().map(|id| id.get()).collect::<Vec<u32>>();
        for id in problem.ids() {
            let (touch, scratch) = (problem.touched(id).to_vec(), problem.scratch(id).get());
            draft.nodes.push(vec![Work { operator: id, touch, scratch }]);
            draft.before.push(list(problem.predecessors(id)));
            draft.after.push(list(problem.successors(id)));
        }
        let store = |s: &plimsoll_model::orders::Storage| Store {
            size: s.size.get(),
            begun: s.from_start,
            kept: s.to_end,
        };
        draft.stores = problem.storages().iter().map(store).collect();
        draft.tidied()
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Turns storages that are always live into a constant and removes storages without users.
    pub fn tidied(mut self) -> Self {
        let mut used = vec![false; self.stores.len()];
        self.works().for_each(|work| work.touch.iter().for_each(|&s| used[s as usize] = true));
        let mut place = vec![None; self.stores.len()];
        let mut kept = Vec::with_capacity(self.stores.len());
        for (at, store) in self.stores.iter().enumerate() {
            if store.begun && store.kept {
                self.base += store.size;
            } else if used[at] {
                place[at] = Some(kept.len() as u32);
                kept.push(*store);
            }
        }
        self.stores = kept;
        for work in self.nodes.iter_mut().flatten() {
            work.touch = work.touch.iter().filter_map(|&s| place[s as usize]).collect();
        }
        self
    }

    pub fn works(&self) -> impl Iterator<Item = &Work> {
        self.nodes.iter().flatten()
    }

    /// Returns the problem with time reversed. A reversed order has the same peak.
    pub fn reversed(&self) -> Self {
        let mut nodes = self.nodes.clone();
        for node in &mut nodes {
            node.reverse();
        }
        let turn = |s: &Store| Store { begun: s.kept, kept: s.begun, ..*s };
        Self {
            nodes,
            before: self.after.clone(),
            after: self.before.clone(),
            stores: self.stores.iter().map(turn).collect(),
            base: self.base,
        }
    }

    /// Splits the problem into one part per stage that has nodes. `stage` assigns each node a number below
    /// `stages`. All nodes of a lower stage must run before all nodes of a higher one. The time is linear in
    /// the size of the draft.
    pub fn split(self, stage: &[u32], stages: usize) -> Vec<Self> {
        let mut place = vec![0u32; self.len()];
        let mut sizes = vec![0u32; stages];
        for (at, &stage) in stage.iter().enumerate() {
            place[at] = sizes[stage as usize];
            sizes[stage as usize] += 1;
        }
        let near = |at: usize, list: &[u32]| -> Vec<u32> {
            let same = list.iter().filter(|&&other| stage[other as usize] == stage[at]);
            same.map(|&other| place[other as usize]).collect()
        };
        let spans = self.spans(stage, stages);
        let mut parts: Vec<Self> = vec![Self::default(); stages];
        for at in 0..self.len() {
            let part = &mut parts[stage[at] as usize];
            part.before.push(near(at, &self.before[at]));
            part.after.push(near(at, &self.after[at]));
        }
        // Per storage: the most recent part that uses it, and its index in that part.
        let mut own: Vec<(u32, u32)> = vec![(u32::MAX, 0); self.stores.len()];
        let through = self.through(&spans, stages);
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&at| stage[at]);
        let mut nodes: Vec<Option<Vec<Work>>> = self.nodes.into_iter().map(Some).collect();
        for at in order {
            let now = stage[at];
            let part = &mut parts[now as usize];
            let mut node = nodes[at].take().unwrap_or_default();
            for s in node.iter_mut().flat_map(|work| &mut work.touch) {
                let (first, last) = spans[*s as usize];
                let place = &mut own[*s as usize];
                if place.0 != now {
                    *place = (now, part.stores.len() as u32);
                    let store = Store {
                        size: self.stores[*s as usize].size,
                        begun: first < i64::from(now),
                        kept: last > i64::from(now),
                    };
                    part.stores.push(store);
                }
                *s = place.1;
            }
            part.nodes.push(node);
        }
        let base = self.base;
        let full = |(at, mut part): (usize, Self)| {
            let touched = part.stores.iter().filter(|s| s.begun && s.kept).map(|s| s.size).sum::<u64>();
            part.base = base + through[at] - touched;
            part.tidied()
        };
        parts.into_iter().enumerate().filter(|(_, part)| part.len() > 0).map(full).collect()
    }

    /// Returns, for each storage, the stages of its first and last user. The first is -1 if the storage is
    /// begun, and the last is `stages` if it is kept.
    fn spans(&self, stage: &[u32], stages: usize) -> Vec<(i64, i64)> {
        let mut spans = vec![(i64::MAX / 2, i64::MIN / 2); self.stores.len()];
        for (node, &stage) in self.nodes.iter().zip(stage) {
            for &s in node.iter().flat_map(|work| &work.touch) {
                let span = &mut spans[s as usize];
                *span = (span.0.min(i64::from(stage)), span.1.max(i64::from(stage)));
            }
        }
        for (span, store) in spans.iter_mut().zip(&self.stores) {
            *span = (if store.begun { -1 } else { span.0 }, if store.kept { stages as i64 } else { span.1 });
        }
        spans
    }

    /// Returns, for each stage, the bytes that are live both before and after it.
    fn through(&self, spans: &[(i64, i64)], stages: usize) -> Vec<u64> {
        let mut change = vec![0i128; stages + 1];
        for (&(first, last), store) in spans.iter().zip(&self.stores) {
            let (from, to) = (first + 1, last);
            if from < to {
                change[from as usize] += i128::from(store.size);
                change[(to as usize).min(stages)] -= i128::from(store.size);
            }
        }
        let mut sum = 0;
        let mut run = |change: &i128| {
            sum += change;
            sum as u64
        };
        change[..stages].iter().map(&mut run).collect()
    }

    /// Returns the nodes in topological order. Among ready nodes, the lowest number comes first.
    pub fn sorted(&self) -> Vec<u32> {
        use std::cmp::Reverse;
        let mut waiting: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let ready = (0..self.len()).filter(|&at| waiting[at] == 0).map(|at| Reverse(at as u32));
        let mut ready: std::collections::BinaryHeap<_> = ready.collect();
        let mut order = Vec::with_capacity(self.len());
        while let Some(Reverse(at)) = ready.pop() {
            order.push(at);
            for &next in &self.after[at as usize] {
                waiting[next as usize] -= 1;
                if waiting[next as usize] == 0 {
                    ready.push(Reverse(next));
                }
            }
        }
        order
    }
}

/// The transitive predecessors and successors of each node as two bitsets, without the node itself.
pub(super) struct Reach {
    pub words: usize,
    before: Vec<u64>,
    after: Vec<u64>,
}

impl Reach {
    /// Computes the transitive closure in O(n (n + e) / 64) time and n^2 / 4 bytes for n nodes and e edges.
    pub fn of(draft: &Draft) -> Self {
        let words = draft.len().div_ceil(64);
        let order = draft.sorted();
        let close = |order: &mut dyn Iterator<Item = u32>, next: &[Vec<u32>]| {
            let mut rows = vec![0u64; draft.len() * words];
            let mut row = vec![0u64; words];
            for at in order {
                row.fill(0);
                for &other in &next[at as usize] {
                    let theirs = &rows[other as usize * words..][..words];
                    row.iter_mut().zip(theirs).for_each(|(own, their)| *own |= their);
                    row[other as usize / 64] |= 1 << (other % 64);
                }
                rows[at as usize * words..][..words].copy_from_slice(&row);
            }
            rows
        };
        let before = close(&mut order.iter().copied(), &draft.before);
        let after = close(&mut order.iter().rev().copied(), &draft.after);
        Self { words, before, after }
    }

    pub fn before(&self, at: usize) -> &[u64] {
        &self.before[at * self.words..][..self.words]
    }

    pub fn after(&self, at: usize) -> &[u64] {
        &self.after[at * self.words..][..self.words]
    }

    pub fn precedes(&self, a: u32, b: u32) -> bool {
        self.after(a as usize)[b as usize / 64] >> (b % 64) & 1 == 1
    }

    /// Returns the closure of the reversed draft.
    pub fn reversed(self) -> Self {
        Self { words: self.words, before: self.after, after: self.before }
    }
}

pub(super) fn count(row: &[u64]) -> usize {
    row.iter().map(|word| word.count_ones() as usize).sum()
}

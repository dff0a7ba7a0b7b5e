//! Dynamic programming over downsets in order of increasing peak. The result is a bottleneck shortest path.
//!
//! Downsets are vertices, and running a node is an edge whose length is the peak while the node runs (Ahn et
//! al. 2020, SERENITY). Unlike SERENITY, this search needs no guess of a memory budget. All downsets
//! reachable within a level are visited before the level rises to the lowest peak of a rejected step. At any
//! time, the level is a proved lower bound. The first path to the full set is optimal. Time and memory are
//! proportional to the number of downsets within the level, which is 2^n at worst for n nodes.

use super::ahead::Ahead;
use super::draft::Reach;
use super::memo::{Memo, Seen};
use super::net::{Net, State, bits};
use super::search::{OrderRules, tick};
use super::settle::settle;
use plimsoll_model::{Budget, Stop};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// An optimal order, whose peak is the level.
    Found(Vec<u32>),
    /// The level has reached the known value.
    Met,
    /// The search stopped at a limit of the budget, or at the limit on memory (`None`).
    Stopped(Option<Stop>),
}

/// The predecessor of a stored downset.
#[derive(Clone, Copy, Debug)]
struct Origin {
    from: u32,
    /// The range in `moves` of the nodes that run between the predecessor and this downset.
    moves: (u32, u32),
}

/// The search, which can be interrupted and resumed.
pub(super) struct Paths<'a> {
    net: &'a Net,
    rules: OrderRules,
    ahead: Option<Ahead>,
    memo: Memo,
    origins: Vec<Origin>,
    moves: Vec<u32>,
    todo: Vec<u32>,
    /// Downsets with rejected steps, keyed by the lowest level at which one of these steps is allowed. A new
    /// downset whose lookahead bound exceeds the level is keyed by this bound.
    later: BinaryHeap<Reverse<(u64, u32)>>,
    level: u64,
    state: State<'a>,
    trail: Vec<(u32, u64)>,
    /// Length of the prefix of the trail that the lookahead has processed.
    processed: usize,
    begun: bool,
}

impl<'a> Paths<'a> {
    pub fn new(net: &'a Net, reach: &Reach, rules: OrderRules, bound: u64) -> Self {
        let ahead = rules.ahead.then(|| Ahead::of(net, reach));
        let need = ahead.as_ref().map_or(0, Ahead::most);
        let state = State::new(net);
        let level = bound.max(need).max(state.live);
        Self {
            net,
            rules,
            ahead,
            memo: Memo::new(net.words(), rules.memo_bytes / 2),
            origins: Vec::new(),
            moves: Vec::new(),
            todo: Vec::new(),
            later: BinaryHeap::new(),
            level,
            state,
            trail: Vec::new(),
            processed: 0,
            begun: false,
        }
    }

    /// Returns the level, a proved lower bound on the peak of any order.
    pub fn level(&self) -> u64 {
        self.level
    }

    pub fn places(&self) -> u64 {
        self.memo.len() as u64
    }

    /// Continues until the level reaches `known`, an order is found, or the budget or the memory runs out.
    /// One node of the budget is one visit to a downset.
    pub fn run(&mut self, known: u64, budget: &mut Budget) -> End {
        if !self.begun {
            self.begun = true;
            match self.arrive(u32::MAX) {
                Arrival::End(order) => return End::Found(order),
                Arrival::Full => return End::Stopped(None),
                Arrival::Place | Arrival::Known => {}
            }
            self.undo();
        }
        loop {
            if self.level >= known {
                return End::Met;
            }
            while let Some(place) = self.todo.pop() {
                if let Some(stop) = tick(self.net, budget) {
                    self.todo.push(place);
                    return End::Stopped(Some(stop));
                }
                match self.visit(place) {
                    Arrival::End(order) => return End::Found(order),
                    Arrival::Full => {
                        self.todo.push(place);
                        return End::Stopped(None);
                    }
                    Arrival::Place | Arrival::Known => {}
                }
            }
            let Some(&Reverse((level, _))) = self.later.peek() else {
                // This is unreachable because an order exists.
                return End::Met;
            };
            self.level = self.level.max(level);
            while let Some(&Reverse((peak, place))) = self.later.peek()
                && peak <= self.level
            {
                self.later.pop();
                self.todo.push(place);
            }
        }
    }

    /// Visits a downset and stores every downset that one step within the level reaches.
    fn visit(&mut self, place: u32) -> Arrival {
        let row = self.memo.row(place).to_vec();
        self.state.load(&row);
        self.trail.clear();
        self.processed = 0;
        if let Some(ahead) = &mut self.ahead {
            ahead.load(self.net, &row);
        }
        settle(&mut self.state, self.level, self.rules.settling, &mut self.trail);
        if !self.trail.is_empty() {
            // The level has risen since the downset was stored, so more safe runs are within the level.
            return self.arrive(place);
        }
        let mut later = u64::MAX;
        let options: Vec<(u64, u32)> = bits(&self.state.ready)
            .filter_map(|node| {
                let effect = self.state.probe(node);
                if effect.peak > self.level {
                    later = later.min(effect.peak);
                }
                (effect.peak <= self.level).then_some((effect.live, node))
            })
            .collect();
        if later < u64::MAX {
            self.later.push(Reverse((later, place)));
        }
        let mut options = options;
        // The downset that is pushed last is visited next.
        options.sort_unstable_by(|a, b| b.cmp(a));
        for (_, node) in options {
            self.trail.push((node, self.state.live));
            self.state.run(node);
            match self.arrive(place) {
                Arrival::Place | Arrival::Known => self.undo(),
                other => return other,
            }
        }
        Arrival::Known
    }

    /// Applies safe runs and stores the resulting downset if it is new.
    fn arrive(&mut self, from: u32) -> Arrival {
        settle(&mut self.state, self.level, self.rules.settling, &mut self.trail);
        let mut need = 0;
        if let Some(ahead) = &mut self.ahead {
            let done = &self.state.done;
            // The lookahead bounds of the predecessor are within the level, so only increased bounds matter.
            let ran = self.trail[self.processed..].iter();
            need = ran.map(|&(node, _)| ahead.run(self.net, node, done).0).max().unwrap_or(0);
            self.processed = self.trail.len();
        }
        if self.state.left == 0 {
            return Arrival::End(self.way(from));
        }
        match self.memo.show(&self.state) {
            Seen::Known(_) => Arrival::Known,
            Seen::Full => Arrival::Full,
            Seen::New(place) => {
                let first = self.moves.len() as u32;
                self.moves.extend(self.trail.iter().map(|&(node, _)| node));
                self.origins.push(Origin { from, moves: (first, self.moves.len() as u32) });
                if need > self.level {
                    self.later.push(Reverse((need, place)));
                } else {
                    self.todo.push(place);
                }
                Arrival::Place
            }
        }
    }

    /// Returns the order that leads to the current downset.
    fn way(&self, mut from: u32) -> Vec<u32> {
        let mut parts: Vec<Vec<u32>> = vec![self.trail.iter().map(|&(node, _)| node).collect()];
        while from != u32::MAX {
            let origin = self.origins[from as usize];
            parts.push(self.moves[origin.moves.0 as usize..origin.moves.1 as usize].to_vec());
            from = origin.from;
        }
        parts.into_iter().rev().flatten().collect()
    }

    fn undo(&mut self) {
        let mut processed = std::mem::take(&mut self.processed);
        while let Some((node, live)) = self.trail.pop() {
            self.state.unrun(node, live);
            if processed > self.trail.len()
                && let Some(ahead) = &mut self.ahead
            {
                ahead.unrun(self.net, node);
                processed = self.trail.len();
            }
        }
    }
}

enum Arrival {
    Place,
    Known,
    /// All nodes have run, in this order.
    End(Vec<u32>),
    /// A new downset exceeds the limit on memory.
    Full,
}

//! The clause-learning search.

use super::bounds::{Bounds, Demand};
use super::clauses::{Clauses, Place};
use super::heap::Heap;
use super::log::{Log, MIRROR, TWIN};
use super::problem::{Lit, Problem};
use super::{LearnRules, Wrong};
use crate::offsets::search::tree::luby;
use plimsoll_model::{Budget, Stop};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug)]
enum Reason {
    /// The literal is a decision or permanent.
    None,
    /// All other literals of this clause are false.
    Clause(Place),
    /// The opposite order would exceed the capacity. This follows from the bounds at the time when they had
    /// this number of entries.
    Bounds(u32),
}

enum Conflict {
    Clause(Place),
    /// The heights below and above this buffer leave no space for it.
    Space(usize),
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LearnEnd {
    /// A layout within the capacity.
    Fits {
        /// Offset of each buffer in units, in the order of [`Reduced`].
        offsets: Vec<i64>,
        /// The peak of the layout in units.
        peak: i64,
    },
    /// There is no layout within the capacity.
    Impossible,
    /// The budget ran out.
    Stopped(Stop),
}

/// Number of nodes charged per conflict. A conflict takes about as long as this number of states of a sweep.
const NODES_PER_CONFLICT: u64 = 64;

/// Number of conflicts in the shortest run.
const SHORTEST_RUN: u64 = 100;

/// Number of learnt clauses that triggers the first reduction. After each reduction, this number grows by
/// [`MORE_KEPT`].
const KEPT: usize = 4_000;
const MORE_KEPT: usize = 500;

/// Factor by which activities decay per conflict.
const DECAY: f64 = 0.95;

/// A search for layouts within a capacity. The capacity can be lowered without losing learnt clauses.
#[derive(Clone, Debug)]
pub struct Engine<'p> {
    problem: &'p Problem,
    capacity: i64,
    bounds: Bounds<'p>,
    clauses: Clauses,
    heap: Heap,
    /// Per literal: 1 if it is true, -1 if it is false, 0 if it is unassigned.
    truth: Vec<i8>,
    phase: Vec<bool>,
    level: Vec<u32>,
    reason: Vec<Reason>,
    trail: Vec<Lit>,
    followed: usize,
    /// The lengths of the trail and of the bounds at the start of each level.
    levels: Vec<(usize, u32)>,
    seen: Vec<bool>,
    conflicts: u64,
    /// Conflict count at which the current run ends. `runs` is the number of restarts.
    run_until: u64,
    runs: u64,
    most_learnt: usize,
    impossible: bool,
    log: Option<Log>,
}

impl<'p> Engine<'p> {
    /// Creates a search for layouts of at most `capacity` units.
    pub fn new(problem: &'p Problem, capacity: i64, rules: LearnRules) -> Self {
        Self::with_log(problem, capacity, rules, None)
    }

    /// Creates a search that logs its derivations. The log is valid for this capacity only.
    pub(super) fn logged(problem: &'p Problem, capacity: i64, rules: LearnRules) -> Self {
        Self::with_log(problem, capacity, rules, Some(Log::default()))
    }

    fn with_log(problem: &'p Problem, capacity: i64, rules: LearnRules, log: Option<Log>) -> Self {
        let vars = problem.vars;
        let activity = |&(a, b): &(u32, u32)| {
            let units = problem.size[a as usize] + problem.size[b as usize];
            units as f64 / capacity.max(1) as f64
        };
        let mut engine = Self {
            problem,
            capacity,
            bounds: Bounds::new(problem, capacity, rules),
            clauses: Clauses::new(vars),
            heap: Heap::new(problem.pairs.iter().map(activity).collect()),
            truth: vec![0; 2 * vars],
            phase: vec![false; vars],
            level: vec![0; vars],
            reason: vec![Reason::None; vars],
            trail: Vec::new(),
            followed: 0,
            levels: Vec::new(),
            seen: vec![false; vars],
            conflicts: 0,
            run_until: SHORTEST_RUN,
            runs: 0,
            most_learnt: KEPT,
            impossible: false,
            log,
        };
        for [x, y, z] in problem.triangles() {
            let wrong = usize::from(rules.is_wrong(Wrong::Triangle));
            engine.clauses.add(&[x, y, z][..3 - wrong], 0, 0);
            engine.clauses.add(&[x ^ 1, y ^ 1, z ^ 1], 0, 0);
        }
        engine.order_members();
        if rules.symmetry {
            engine.break_symmetry();
        }
        engine.look_everywhere();
        engine
    }

    /// Fixes the orders of members of the same rigid group.
    fn order_members(&mut self) {
        let problem = self.problem;
        for (at, &(a, b)) in (0..).zip(&problem.pairs) {
            let group = |b: u32| problem.places.get(b as usize).and_then(|place| place.group);
            let (Some((one, low)), Some((other, high))) = (group(a), group(b)) else { continue };
            if one == other {
                let lit = 2 * at + u32::from(low > high);
                let (low, high) = problem.pair(lit);
                if let Some(log) = &mut self.log {
                    log.opposite(high, low);
                    log.settle();
                }
                self.assign(lit, Reason::None);
            }
        }
    }

    /// Fixes the order of twins by their index. If no buffer is fixed or aligned, a layout turned upside down
    /// is also a layout, so the order of one pair can be fixed as well. The chosen pair is the conflicting
    /// pair with the largest total size. Buffers with twins are not eligible, because their order is already
    /// fixed.
    fn break_symmetry(&mut self) {
        let twin = &self.problem.twin;
        let n = twin.len();
        let mut has_twin = vec![false; n];
        for b in 0..n {
            let first = twin[b] as usize;
            if first != b {
                (has_twin[b], has_twin[first]) = (true, true);
            }
        }
        let size = &self.problem.size;
        let mut largest: Option<(i64, Lit)> = None;
        for (at, &(a, b)) in (0..).zip(&self.problem.pairs) {
            let (a, b) = (a as usize, b as usize);
            let same_size = self.bounds.rules.is_wrong(Wrong::Twin) && size[a] == size[b];
            if (twin[a] == twin[b] || same_size) && self.truth[2 * at] == 0 {
                let lit = 2 * at as Lit + u32::from(a > b);
                self.assign(lit, Reason::None);
                self.log_symmetry(TWIN, lit);
            }
            let both = size[a] + size[b];
            if !has_twin[a] && !has_twin[b] && largest.is_none_or(|(most, _)| both > most) {
                largest = Some((both, 2 * at as Lit));
            }
        }
        if self.bounds.rules.is_wrong(Wrong::Mirror) {
            let all = 0..self.problem.vars;
            for at in all.filter(|at| self.truth[2 * at] == 0).collect::<Vec<_>>() {
                self.assign(2 * at as Lit, Reason::None);
                self.log_symmetry(MIRROR, 2 * at as Lit);
            }
        } else if let Some((_, lit)) = largest.filter(|_| self.problem.places.is_empty()) {
            self.assign(lit, Reason::None);
            self.log_symmetry(MIRROR, lit);
        }
    }

    fn log_symmetry(&mut self, kind: u32, lit: Lit) {
        if let Some(log) = &mut self.log {
            let (low, high) = self.problem.pair(lit);
            log.symmetry(kind, low, high);
        }
    }

    /// Lowers the capacity.
    pub fn aim(&mut self, capacity: i64) {
        debug_assert!(capacity <= self.capacity);
        if capacity < self.capacity {
            self.capacity = capacity;
            self.back_to(0);
            self.look_everywhere();
        }
    }

    /// Returns the capacity in units.
    pub fn capacity(&self) -> i64 {
        self.capacity
    }

    /// Returns the number of restarts.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Sets the preferred orders to those of a layout.
    pub fn suggest(&mut self, offsets: &[i64]) {
        for (phase, &(a, b)) in self.phase.iter_mut().zip(&self.problem.pairs) {
            *phase = offsets[a as usize] < offsets[b as usize];
        }
    }

    /// Propagates every bound at the root level, initially and whenever the capacity has changed.
    fn look_everywhere(&mut self) {
        for node in 0..self.bounds.value.len() {
            if let Some(buffer) = self.look_at(node) {
                self.learn(&Conflict::Space(buffer));
                return;
            }
        }
    }

    /// Returns the log, or `None` if the search was not logged or has not proved its capacity infeasible.
    pub(super) fn into_log(self) -> Option<Log> {
        self.log.filter(|_| self.impossible)
    }

    /// Searches until there is a result or the budget runs out.
    pub fn run(&mut self, budget: &mut Budget) -> LearnEnd {
        loop {
            if self.impossible {
                return LearnEnd::Impossible;
            }
            if let Some(stop) = budget.tick() {
                self.back_to(0);
                return LearnEnd::Stopped(stop);
            }
            if let Some(conflict) = self.propagate() {
                self.learn(&conflict);
                self.conflicts += 1;
                if let Some(stop) = budget.spend(NODES_PER_CONFLICT) {
                    self.back_to(0);
                    return LearnEnd::Stopped(stop);
                }
                continue;
            }
            if self.levels.is_empty() {
                self.bounds.settle();
            }
            if self.conflicts >= self.run_until && !self.levels.is_empty() {
                self.restart();
                continue;
            }
            let Some(lit) = self.choose() else {
                let n = self.problem.size.len();
                let offsets: Vec<i64> = (0..n).map(|b| self.bounds.value[2 * b]).collect();
                let peak = (0..n).map(|b| offsets[b] + self.problem.size[b]).max().unwrap_or(0);
                return LearnEnd::Fits { offsets, peak };
            };
            self.levels.push((self.trail.len(), self.bounds.mark()));
            self.assign(lit, Reason::None);
        }
    }

    fn restart(&mut self) {
        self.runs += 1;
        self.run_until = self.conflicts + SHORTEST_RUN * luby(self.runs);
        self.back_to(0);
        if self.clauses.learnt > self.most_learnt {
            self.clauses.reduce(&self.truth, self.most_learnt / 2);
            self.most_learnt += MORE_KEPT;
        }
    }

    fn choose(&mut self) -> Option<Lit> {
        while let Some(var) = self.heap.pop() {
            if self.truth[2 * var as usize] == 0 {
                return Some(2 * var + u32::from(!self.phase[var as usize]));
            }
        }
        None
    }

    fn assign(&mut self, lit: Lit, reason: Reason) {
        if self.levels.is_empty()
            && let (Some(log), Reason::Bounds(_)) = (&mut self.log, reason)
        {
            let (low, high) = self.problem.pair(lit);
            log.opposite(high, low);
            log.settle();
        }
        let var = lit as usize / 2;
        self.truth[lit as usize] = 1;
        self.truth[lit as usize ^ 1] = -1;
        self.level[var] = self.levels.len() as u32;
        self.reason[var] = reason;
        self.trail.push(lit);
    }

    fn back_to(&mut self, level: usize) {
        let Some(&(length, mark)) = self.levels.get(level) else {
            return;
        };
        for lit in self.trail.drain(length..) {
            let var = lit as usize / 2;
            self.truth[lit as usize] = 0;
            self.truth[lit as usize ^ 1] = 0;
            self.phase[var] = lit & 1 == 0;
            self.heap.insert(var as u32);
        }
        self.followed = length;
        self.bounds.undo(mark);
        self.levels.truncate(level);
    }

    /// Propagates to a fixpoint. Clauses come before bounds, so the orders are acyclic when the bounds use
    /// them.
    fn propagate(&mut self) -> Option<Conflict> {
        loop {
            while let Some(&lit) = self.trail.get(self.followed) {
                self.followed += 1;
                let level = self.levels.len() as u32;
                let length = self.trail.len();
                let (trail, levels, reasons) = (&mut self.trail, &mut self.level, &mut self.reason);
                let broken = self.clauses.follow(lit, &mut self.truth, |truth, lit, clause| {
                    truth[lit as usize] = 1;
                    truth[lit as usize ^ 1] = -1;
                    levels[lit as usize / 2] = level;
                    reasons[lit as usize / 2] = Reason::Clause(clause);
                    trail.push(lit);
                });
                if self.log.is_some() && self.levels.is_empty() {
                    for at in length..self.trail.len() {
                        self.log_implied(self.trail[at]);
                        self.log.iter_mut().for_each(Log::settle);
                    }
                }
                if let Some(clause) = broken {
                    return Some(Conflict::Clause(clause));
                }
                let (low, high) = self.problem.pair(lit);
                self.bounds.touch(2 * high);
                self.bounds.touch(2 * low + 1);
            }
            let node = self.bounds.next_dirty()?;
            if self.bounds.update(node, &self.truth) {
                if self.levels.is_empty()
                    && let Some(log) = &mut self.log
                {
                    self.bounds.log_latest(log);
                    log.settle();
                }
                if let Some(buffer) = self.look_at(node) {
                    return Some(Conflict::Space(buffer));
                }
            }
        }
    }

    /// Propagates the bound of a node. Returns the buffer of the node if there is no space for this buffer.
    fn look_at(&mut self, node: usize) -> Option<usize> {
        let problem = self.problem;
        let (buffer, side) = (node / 2, node % 2);
        let value = self.bounds.value[node] + problem.size[buffer];
        let wrong = |rule| i64::from(self.bounds.rules.is_wrong(rule));
        let (space, pair) = (wrong(Wrong::Space), wrong(Wrong::Pair));
        if value + self.bounds.value[node ^ 1] + space > self.capacity {
            return Some(buffer);
        }
        for (other, _) in problem.tied(node) {
            self.bounds.touch(other);
        }
        for &(other, lit) in &problem.others[buffer] {
            // The literal that states that the buffer precedes the other one on this side.
            let before = lit ^ side as Lit;
            let other = other as usize;
            match self.truth[before as usize] {
                1 => self.bounds.touch(2 * other + side),
                0 => {
                    let rest = problem.size[other] + self.bounds.value[2 * other + 1 - side];
                    if value + rest + pair > self.capacity {
                        self.assign(before ^ 1, Reason::Bounds(self.bounds.mark()));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Logs that a literal follows from a clause.
    fn log_clause(&mut self, clause: Place, lit: Lit) {
        if let Some(log) = &mut self.log {
            match self.clauses.number(clause) {
                0 => log.path(self.problem, self.clauses.literals(clause), lit),
                number => log.unit(number),
            }
        }
    }

    /// Logs that a literal follows from the clause that is its reason.
    fn log_implied(&mut self, lit: Lit) {
        if let Reason::Clause(clause) = self.reason[lit as usize / 2] {
            self.log_clause(clause, lit);
        }
    }

    /// Collects true literals that a conflict shows to be incompatible.
    fn explain_conflict(&mut self, conflict: &Conflict, literals: &mut Vec<Lit>) {
        match *conflict {
            Conflict::Clause(clause) => {
                self.log_clause(clause, self.clauses.literals(clause)[0]);
                literals.extend(self.clauses.literals(clause).iter().map(|l| l ^ 1));
            }
            Conflict::Space(buffer) => {
                if let Some(log) = &mut self.log {
                    log.no_space([buffer as u32]);
                }
                let wrong = i64::from(self.bounds.rules.is_wrong(Wrong::Space));
                let need = self.capacity + 1 - wrong - self.problem.size[buffer];
                self.explain_sum((2 * buffer, 2 * buffer + 1), need, self.bounds.mark(), literals);
            }
        }
    }

    /// Collects true literals that imply `lit`.
    fn explain_literal(&mut self, lit: Lit, literals: &mut Vec<Lit>) {
        match self.reason[lit as usize / 2] {
            Reason::None => {}
            Reason::Clause(clause) => {
                self.log_clause(clause, lit);
                literals.extend(self.clauses.literals(clause).iter().filter(|&&l| l != lit).map(|l| l ^ 1));
            }
            Reason::Bounds(mark) => {
                // In the opposite order, `high` would lie below `low`.
                let (low, high) = self.problem.pair(lit);
                if let Some(log) = &mut self.log {
                    log.opposite(high, low);
                }
                let wrong = i64::from(self.bounds.rules.is_wrong(Wrong::Pair));
                let need = self.capacity + 1 - wrong - self.problem.size[low] - self.problem.size[high];
                self.explain_sum((2 * high, 2 * low + 1), need, mark, literals);
            }
        }
    }

    /// Explains why the bounds of two nodes add up to at least `need`. If they add up to more, the surplus
    /// relaxes the demand on one of them.
    fn explain_sum(&mut self, (a, b): (usize, usize), need: i64, mark: u32, literals: &mut Vec<Lit>) {
        let (x, y) = (self.bounds.value_at(a, mark), self.bounds.value_at(b, mark));
        let spare = x + y - need;
        debug_assert!(spare >= 0);
        let demands: [Demand; 2] = if x <= spare {
            [(a, 0), (b, need)]
        } else if y <= spare {
            [(a, need), (b, 0)]
        } else {
            [(a, x - spare), (b, y)]
        };
        self.bounds.explain(&demands, mark, literals, self.log.as_mut());
    }

    /// Learns a clause from a conflict, backjumps to the level where it becomes unit, and propagates it.
    fn learn(&mut self, conflict: &Conflict) {
        let mut literals = Vec::new();
        self.explain_conflict(conflict, &mut literals);
        let deepest = literals.iter().map(|&lit| self.level[lit as usize / 2]).max().unwrap_or(0);
        if deepest == 0 {
            self.impossible = true;
            self.log.iter_mut().for_each(Log::settle);
            return;
        }
        self.back_to(deepest as usize);
        let mut learnt: Vec<Lit> = vec![0];
        let (mut open, mut at) = (0, self.trail.len());
        let first = loop {
            for &lit in &literals {
                let var = lit as usize / 2;
                if self.level[var] == 0 || std::mem::replace(&mut self.seen[var], true) {
                    continue;
                }
                self.heap.bump(var as u32);
                if self.level[var] == deepest {
                    open += 1;
                } else {
                    learnt.push(lit ^ 1);
                }
            }
            let lit = loop {
                at -= 1;
                if self.seen[self.trail[at] as usize / 2] {
                    break self.trail[at];
                }
            };
            open -= 1;
            if open == 0 {
                break lit;
            }
            self.seen[lit as usize / 2] = false;
            literals.clear();
            self.explain_literal(lit, &mut literals);
        };
        learnt[0] = first ^ 1;
        self.heap.decay(DECAY);
        self.add_learnt(&learnt);
    }

    /// Adds a clause without its redundant literals and backjumps to the second-highest of its levels. Only
    /// the first literal may belong to the deepest level.
    fn add_learnt(&mut self, all: &[Lit]) {
        let implied = |lit: &Lit| match self.reason[*lit as usize / 2] {
            Reason::Clause(clause) => self.clauses.literals(clause).iter().all(|&other| {
                other ^ 1 == *lit || self.seen[other as usize / 2] || self.level[other as usize / 2] == 0
            }),
            _ => false,
        };
        let mut learnt = vec![all[0]];
        learnt.extend(all[1..].iter().filter(|lit| !implied(lit)));
        learnt.truncate(
            learnt.len() - usize::from(self.bounds.rules.is_wrong(Wrong::Clause) && learnt.len() > 1),
        );
        let number = if self.log.is_some() { self.log_learnt(all, &learnt) } else { 0 };
        for &lit in all {
            self.seen[lit as usize / 2] = false;
        }
        let level = |lit: Lit| self.level[lit as usize / 2];
        let Some(second) = (1..learnt.len()).max_by_key(|&at| level(learnt[at])) else {
            self.back_to(0);
            self.assign(learnt[0], Reason::None);
            if let Some(log) = &mut self.log {
                log.unit(number);
                log.settle();
            }
            return;
        };
        learnt.swap(1, second);
        let mut levels: Vec<u32> = learnt.iter().map(|&lit| level(lit)).collect();
        levels.sort_unstable();
        levels.dedup();
        self.back_to(level(learnt[1]) as usize);
        let clause = self.clauses.add(&learnt, levels.len() as u32, number);
        self.assign(learnt[0], Reason::Clause(clause));
    }

    /// Logs a clause without its redundant literals. The derivation begins with the redundant literals, in
    /// the order of the trail. Returns the number of the clause.
    fn log_learnt(&mut self, all: &[Lit], learnt: &[Lit]) -> u32 {
        let mut redundant: Vec<Lit> =
            all.iter().filter(|lit| !learnt.contains(lit)).map(|lit| lit ^ 1).collect();
        if !redundant.is_empty() {
            let at: HashMap<Lit, usize> = self.trail.iter().copied().zip(0..).collect();
            redundant.sort_unstable_by_key(|lit| std::cmp::Reverse(at[lit]));
        }
        for lit in redundant {
            self.log_implied(lit);
        }
        self.log.as_mut().map_or(0, |log| log.derived(learnt))
    }
}

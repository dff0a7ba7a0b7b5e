//! The search over components, with restarts.

use super::analyse::{Branch, Dead, OPEN, Scratch, View};
use super::reduce::Reduced;
use super::state::{NONE, State};
use crate::search::memo::Memo;
use crate::search::{Verdict, deepen};
use plimsoll_model::Budget;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Switches of the search, for ablation; all on by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Start over after a Luby-long run of nodes, with other noise in the order of branches.
    ///
    /// Sound: a restart only forgets where the search was; what the memo knows stays true.
    pub restarts: bool,
    /// Nodes of the shortest run.
    pub restart_base: u64,
    /// Remember components without a layout.
    ///
    /// Sound: whether a component can be completed depends on its floors, on which of them are real, and on who is
    /// unplaced in it, and keys are compared in full.
    pub memo: bool,
    /// Bytes the memo may take.
    pub memo_bytes: usize,
    /// Fail where what fits into a valley cannot fill a section up to the lower wall and slack does not pay for the
    /// rest.
    ///
    /// Sound: what covers the section and does not fit into the valley covers a wall, so lies at or above it; at
    /// least `depth - fitting` units of the section below the wall stay empty.
    pub wall_waste: bool,
    /// Try only the first of several unplaced buffers with the same sections and size.
    ///
    /// Sound: exchanging twins changes no floor.
    pub twins: bool,
    /// Prefer sections that failed often (a failure counts 0.1 % more than the one before).
    pub failure_weights: bool,
    /// Relative noise in the order of branches.
    pub noise: f64,
    /// How much a buffer gains, as a share of its attraction, for each wall it touches.
    pub touch: f64,
    /// By how much a buffer's attraction is multiplied where its top is level with the lower wall.
    pub flush: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            restarts: true,
            restart_base: 250,
            memo: true,
            memo_bytes: 256 << 20,
            wall_waste: true,
            twins: true,
            failure_weights: true,
            noise: 0.1,
            touch: 0.5,
            flush: 5.0,
        }
    }
}

/// How much more a failure counts than the one before.
const FAILURE_GROWTH: f64 = 1.001;

enum End {
    Fits,
    Impossible,
    /// The run of this restart is over, or the budget.
    Pause,
}

/// Where the search is.
#[derive(Clone, Copy)]
struct Node {
    component: (usize, usize),
    /// Exclusive or of this and the state's hash is the hash of the component.
    others: u64,
    /// Sections whose floors have changed.
    changed: (usize, usize),
    /// Where the branches of this node begin.
    valleys: usize,
}

/// A search at one capacity that can be continued.
#[derive(Debug)]
pub struct Engine<'a> {
    reduced: &'a Reduced,
    rules: Rules,
    state: State,
    scratch: Scratch,
    memo: Memo,
    rng: Xoshiro256PlusPlus,
    weight: Vec<f64>,
    increment: f64,
    /// Attraction of each buffer in this run.
    value: Vec<f64>,
    /// Options of all open nodes, one after the other.
    options: Vec<(f64, u32)>,
    components: Vec<(u32, u32)>,
    /// The best branch of every valley, node after node.
    valleys: Vec<Branch>,
    restarts: u64,
    run_left: u64,
}

impl<'a> Engine<'a> {
    /// A search for layouts of at most `capacity` units.
    pub fn new(reduced: &'a Reduced, capacity: i64, rules: Rules, seed: u64) -> Self {
        Self {
            reduced,
            rules,
            state: State::new(reduced, capacity),
            scratch: Scratch::new(reduced.sections),
            memo: Memo::new(rules.memo_bytes),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            weight: vec![1.0; reduced.sections],
            increment: 1.0,
            value: vec![0.0; reduced.len()],
            options: Vec::new(),
            components: Vec::new(),
            valleys: Vec::new(),
            restarts: 0,
            run_left: 0,
        }
    }

    /// Searches until a layout is found, none can exist, or the budget is spent. May be called again to go on: what
    /// was learnt stays.
    pub fn run(&mut self, budget: &mut Budget) -> Verdict {
        let reduced = self.reduced;
        if (0..reduced.sections).any(|s| self.state.slack(s) < 0) {
            return Verdict::Impossible;
        }
        let start = self.state.mark();
        loop {
            if let Some(stop) = budget.check() {
                return Verdict::Stopped(stop);
            }
            self.restarts += 1;
            self.run_left =
                if self.rules.restarts { self.rules.restart_base * luby(self.restarts) } else { u64::MAX };
            self.shuffle_values();
            self.valleys.clear();
            match self.solve((0, reduced.sections), budget) {
                End::Fits => {
                    let layout = reduced.layout(&self.state.offset);
                    self.state.undo(reduced, start);
                    return Verdict::Fits(layout);
                }
                End::Impossible => {
                    self.state.undo(reduced, start);
                    return Verdict::Impossible;
                }
                End::Pause => self.state.undo(reduced, start),
            }
        }
    }

    /// Restarts so far.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Draws the attraction of every buffer; four settings take turns.
    fn shuffle_values(&mut self) {
        for b in 0..self.reduced.len() {
            let width = f64::from(self.reduced.end[b] - self.reduced.start[b]);
            let size = self.reduced.size[b] as f64;
            let base = match self.restarts % 4 {
                0 => width * size,
                1 => width * size.sqrt(),
                2 => size * width.sqrt(),
                _ => width,
            };
            let noise = self.rules.noise * (self.rng.random::<f64>() - 0.5);
            self.value[b] = base * (1.0 + noise);
        }
    }

    /// Completes `left..right`, component by component, the tightest first: one that fails ends it all.
    fn solve(&mut self, (left, right): (usize, usize), budget: &mut Budget) -> End {
        let first = self.components.len();
        self.split(left, right);
        while self.components.len() > first {
            let (left, right) = self.components.pop().expect("there is one more than before");
            let bounds = (left as usize, right as usize);
            let others = self.state.hash ^ self.state.hash_of(self.reduced, bounds);
            let node = Node { component: bounds, others, changed: bounds, valleys: self.valleys.len() };
            match deepen(|| self.solve_component(node, budget)) {
                End::Fits => {}
                other => {
                    self.components.truncate(first);
                    return other;
                }
            }
        }
        End::Fits
    }

    /// Pushes the components of `left..right` that still have buffers, the tightest last.
    fn split(&mut self, left: usize, right: usize) {
        let first = self.components.len();
        let mut b = self.state.first_unplaced(self.reduced, left);
        let mut open: Option<(u32, u32)> = None;
        while b != NONE {
            let (start, end) = (self.reduced.start[b as usize], self.reduced.end[b as usize]);
            if start as usize >= right {
                break;
            }
            match &mut open {
                Some((_, until)) if start < *until => *until = end.max(*until),
                _ => {
                    self.components.extend(open.take());
                    open = Some((start, end));
                }
            }
            b = self.state.next_unplaced(b);
        }
        self.components.extend(open);
        if self.components.len() > first + 1 {
            let state = &self.state;
            let mean_slack = |&(left, right): &(u32, u32)| {
                let sum: i64 = (left..right).map(|s| state.slack(s as usize)).sum();
                sum as f64 / f64::from(right - left)
            };
            self.components[first..].sort_by(|a, b| mean_slack(b).total_cmp(&mean_slack(a)));
        }
    }

    /// Completes a component of which `node.changed` has changed; `self.valleys[node.valleys..]` holds the branches
    /// known before the change, and is given up.
    fn solve_component(&mut self, node: Node, budget: &mut Budget) -> End {
        if self.run_left == 0 || budget.tick().is_some() {
            self.valleys.truncate(node.valleys);
            return End::Pause;
        }
        self.run_left -= 1;
        let mark = self.state.mark();
        let view = View {
            reduced: self.reduced,
            component: node.component,
            rules: &self.rules,
            weight: &self.weight,
        };
        let known = (&mut self.valleys, node.valleys);
        let seen = self.scratch.look(view, &mut self.state, node.changed, known);
        let end = match seen {
            Ok(()) => self.try_known(node, budget),
            Err(Dead(section)) => {
                self.blame(section);
                End::Impossible
            }
        };
        self.valleys.truncate(node.valleys);
        if !matches!(end, End::Fits) {
            self.state.undo(self.reduced, mark);
        }
        end
    }

    /// Branches unless the memo knows better.
    fn try_known(&mut self, node: Node, budget: &mut Budget) -> End {
        if !self.rules.memo {
            return self.branch(node, budget);
        }
        let (reduced, component) = (self.reduced, node.component);
        let hash = self.state.hash ^ node.others;
        if self.memo.contains(hash, |key| self.state.write_key(reduced, component, key)) {
            return End::Impossible;
        }
        let end = self.branch(node, budget);
        if matches!(end, End::Impossible) {
            self.memo.insert(hash, |key| self.state.write_key(reduced, component, key));
        }
        end
    }

    /// Tries every option of the most attractive section, then none.
    fn branch(&mut self, node: Node, budget: &mut Budget) -> End {
        let known = node.valleys..self.valleys.len();
        let least = |a: &&Branch, b: &&Branch| a.score.total_cmp(&b.score).then(a.section.cmp(&b.section));
        let branch = *self.valleys[known.clone()]
            .iter()
            .min_by(least)
            .expect("the lowest floor of a component lies in a valley with options");
        let first = self.options.len();
        self.gather(branch);
        let last = self.options.len();
        for at in first..last {
            let b = self.options[at].1 as usize;
            let mark = self.state.mark();
            let end = if self.state.place(self.reduced, b) {
                self.solve(node.component, budget)
            } else {
                let changed = (self.reduced.start[b] as usize, self.reduced.end[b] as usize);
                let valleys = self.valleys.len();
                self.valleys.extend_from_within(known.clone());
                deepen(|| self.solve_component(Node { changed, valleys, ..node }, budget))
            };
            if !matches!(end, End::Impossible) {
                self.options.truncate(first);
                return end;
            }
            self.state.undo(self.reduced, mark);
        }
        self.options.truncate(first);
        let section = branch.section as usize;
        let Some(raise) = branch.raise else {
            self.blame(section);
            return End::Impossible;
        };
        let mark = self.state.mark();
        self.state.raise(section, self.state.floor[section] + raise);
        let valleys = self.valleys.len();
        self.valleys.extend_from_within(known);
        let end = deepen(|| {
            self.solve_component(Node { changed: (section, section + 1), valleys, ..node }, budget)
        });
        if matches!(end, End::Impossible) {
            self.state.undo(self.reduced, mark);
        }
        end
    }

    /// Pushes the unplaced buffers that can lie on the floor of the section, the most attractive first.
    fn gather(&mut self, branch: Branch) {
        let first = self.options.len();
        let (reduced, state) = (self.reduced, &self.state);
        let (section, left, right) = (branch.section as usize, branch.left as usize, branch.right as usize);
        let mut b = state.first_unplaced(reduced, left);
        let mut last_twin = NONE;
        while b != NONE {
            let at = b as usize;
            let (start, end) = (reduced.start[at] as usize, reduced.end[at] as usize);
            if start > section {
                break;
            }
            let covers = end > section && end <= right;
            let seen = self.rules.twins && reduced.twin[at] == last_twin;
            if covers && !seen && state.real[start..end].contains(&true) {
                last_twin = reduced.twin[at];
                let mut value = self.value[at];
                let touches = u32::from(start == left) + u32::from(end == right);
                value *= 1.0 + self.rules.touch * f64::from(touches);
                if branch.depth != OPEN && reduced.size[at] == branch.depth {
                    value *= self.rules.flush;
                }
                self.options.push((value, b));
            }
            b = state.next_unplaced(b);
        }
        self.options[first..].sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    }

    fn blame(&mut self, section: usize) {
        if !self.rules.failure_weights {
            return;
        }
        self.weight[section] += self.increment;
        self.increment *= FAILURE_GROWTH;
        if self.increment > 1e100 {
            for weight in &mut self.weight {
                *weight = 1.0 + *weight / self.increment;
            }
            self.increment = 1.0;
        }
    }
}

/// The `i`-th number, from 1, of the sequence 1 1 2 1 1 2 4 1 1 2 ...
fn luby(mut i: u64) -> u64 {
    loop {
        let k = u64::from(64 - i.leading_zeros());
        if i == (1 << k) - 1 {
            return 1 << (k - 1);
        }
        i -= (1 << (k - 1)) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luby_starts_as_known() {
        let start: Vec<u64> = (1..=15).map(luby).collect();
        assert_eq!(start, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }
}

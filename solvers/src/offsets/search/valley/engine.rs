//! The search, with restarts. Components are solved separately.
//!
//! See [`super::options`] for the order of options.

use super::analyse::{Branch, Dead, Scratch, View};
use super::failures::Failures;
use super::reduce::Reduced;
use super::rules::Rules;
use super::state::{NONE, State};
use crate::offsets::search::decide::{Decide, Decision, deepen};
use crate::offsets::search::memo::Memo;
use plimsoll_model::Budget;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

enum End {
    Fits,
    Impossible,
    /// The current run has ended, or the budget has run out.
    Pause,
}

#[derive(Clone, Copy)]
pub(super) struct Node {
    pub component: (usize, usize),
    /// The hash of the rest of the state. The XOR of this hash and the hash of the state is the hash of the
    /// component.
    pub others: u64,
    /// Sections whose floors have changed.
    pub changed: (usize, usize),
    /// Index of the first branch of this node in [`Engine::valleys`].
    pub valleys: usize,
}

/// A resumable search at one capacity.
#[derive(Debug)]
pub struct Engine<'a> {
    pub(super) reduced: &'a Reduced,
    pub(super) rules: Rules,
    pub(super) state: State,
    pub(super) scratch: Scratch,
    pub(super) memo: Memo,
    pub(super) rng: Xoshiro256PlusPlus,
    pub(super) failures: Failures,
    /// Score of each buffer in the current run.
    pub(super) value: Vec<f64>,
    /// The options of all open nodes, stored as one stack.
    pub(super) options: Vec<(f64, u32)>,
    pub(super) components: Vec<(u32, u32)>,
    /// The best branches of the valleys of all open nodes, stored as one stack.
    pub(super) valleys: Vec<Branch>,
    pub(super) restarts: u64,
    pub(super) run_left: u64,
    /// Number of nodes so far, excluding those of lookahead.
    pub(super) visited: u64,
    /// The highest level on the path to the current node (see [`Rules::levels`]).
    pub(super) level: i128,
}

impl<'a> Engine<'a> {
    /// Creates a search for layouts of at most `capacity` units.
    pub fn new(reduced: &'a Reduced, capacity: i64, rules: Rules, seed: u64) -> Self {
        Self {
            reduced,
            rules,
            state: State::new(reduced, capacity),
            scratch: Scratch::new(reduced.sections),
            memo: Memo::new(rules.memo_bytes),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            failures: Failures::new(reduced.sections, rules.failure_weights),
            value: vec![0.0; reduced.len()],
            options: Vec::new(),
            components: Vec::new(),
            valleys: Vec::new(),
            restarts: 0,
            run_left: 0,
            visited: 0,
            level: 0,
        }
    }

    /// Searches until a layout is found, the capacity is proved infeasible, or the budget runs out. Another
    /// call resumes the search with the memo and the failure weights.
    pub fn run(&mut self, budget: &mut Budget) -> Decision {
        let reduced = self.reduced;
        if (0..reduced.sections).any(|s| self.state.slack(s) < 0) {
            return Decision::Impossible;
        }
        let start = self.state.mark();
        loop {
            if let Some(stop) = budget.check() {
                return Decision::Stopped(stop);
            }
            self.start_run();
            self.valleys.clear();
            match self.solve((0, reduced.sections), budget) {
                End::Fits => {
                    let layout = reduced.layout(&self.state.offset);
                    self.state.undo(reduced, start);
                    return Decision::Fits(layout);
                }
                End::Impossible => {
                    self.state.undo(reduced, start);
                    return Decision::Impossible;
                }
                End::Pause => self.state.undo(reduced, start),
            }
        }
    }

    fn start_run(&mut self) {
        self.restarts += 1;
        self.run_left =
            if self.rules.restarts { self.rules.restart_base * luby(self.restarts) } else { u64::MAX };
        self.draw_values();
    }

    fn is_past_plain_runs(&self) -> bool {
        self.restarts > self.rules.plain_runs
    }

    /// Completes the sections `left..right` component by component, the tightest first. Ends at the first
    /// component that is not completed.
    fn solve(&mut self, (left, right): (usize, usize), budget: &mut Budget) -> End {
        let first = self.components.len();
        self.split(left, right);
        while self.components.len() > first {
            let (left, right) = self.components.pop().expect("a component was pushed");
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

    /// Pushes the components of `left..right` that have unplaced buffers, the tightest last.
    fn split(&mut self, left: usize, right: usize) {
        let first = self.components.len();
        let mut b = self.state.first_unplaced(self.reduced, left);
        let mut open: Option<(u32, u32)> = None;
        while b != NONE {
            let (start, end) = (self.reduced.spans[b as usize].start, self.reduced.spans[b as usize].end);
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
                let sum: i128 = (left..right).map(|s| i128::from(state.slack(s as usize))).sum();
                sum as f64 / f64::from(right - left)
            };
            self.components[first..].sort_by(|a, b| mean_slack(b).total_cmp(&mean_slack(a)));
        }
    }

    /// Completes a component after the floors of the sections `node.changed` have changed.
    /// `self.valleys[node.valleys..]` must contain the branches before the change. On return, these entries
    /// are removed.
    fn solve_component(&mut self, node: Node, budget: &mut Budget) -> End {
        if self.run_left == 0 || budget.tick().is_some() {
            self.valleys.truncate(node.valleys);
            return End::Pause;
        }
        self.run_left -= 1;
        self.visited += 1;
        let mark = self.state.mark();
        let view = View {
            reduced: self.reduced,
            component: node.component,
            rules: &self.rules,
            weight: &self.failures.weight,
        };
        let known = (&mut self.valleys, node.valleys);
        let seen = self.scratch.look(view, &mut self.state, node.changed, known);
        let end = match seen {
            Ok(()) => self.try_known(node, budget),
            Err(Dead(section)) => {
                self.failures.blame(section);
                End::Impossible
            }
        };
        self.valleys.truncate(node.valleys);
        if !matches!(end, End::Fits) {
            self.state.undo(self.reduced, mark);
        }
        end
    }

    /// Branches unless the memo refutes the component.
    fn try_known(&mut self, node: Node, budget: &mut Budget) -> End {
        if !self.rules.memo {
            return self.try_runs(node, budget);
        }
        let (reduced, component) = (self.reduced, node.component);
        let hash = self.state.hash ^ node.others;
        if self.memo.contains(hash, |key| self.state.write_key(reduced, component, key)) {
            return End::Impossible;
        }
        let visited = self.visited;
        let end = self.try_runs(node, budget);
        if matches!(end, End::Impossible) && self.visited - visited >= self.rules.memo_least {
            self.memo.insert(hash, |key| self.state.write_key(reduced, component, key));
        }
        end
    }

    /// Branches on a component. If the path has just reached a new level, an undecided run is followed by
    /// further runs from this node.
    ///
    /// Success is a rare event that is reached in stages, so a path that placed much of the area is worth
    /// several attempts at the rest.
    fn try_runs(&mut self, node: Node, budget: &mut Budget) -> End {
        if !self.rules.restarts || !self.is_past_plain_runs() {
            return self.branch(node, budget);
        }
        let level = i128::from(self.rules.levels) * self.state.area / self.state.total_area;
        if level <= self.level {
            return self.branch(node, budget);
        }
        let lower = std::mem::replace(&mut self.level, level);
        let mark = self.state.mark();
        let mut end = self.branch(node, budget);
        for _ in 1..self.rules.tries {
            if !matches!(end, End::Pause) || budget.check().is_some() {
                break;
            }
            self.state.undo(self.reduced, mark);
            self.start_run();
            end = self.branch(node, budget);
        }
        self.level = lower;
        end
    }

    /// Tries the options of the most promising section in order.
    fn branch(&mut self, node: Node, budget: &mut Budget) -> End {
        let known = node.valleys..self.valleys.len();
        let least = |a: &&Branch, b: &&Branch| a.score.total_cmp(&b.score).then(a.section.cmp(&b.section));
        let branch = *self.valleys[known]
            .iter()
            .min_by(least)
            .expect("the lowest floor of a component lies in a valley with options");
        let first = self.options.len();
        self.gather(branch);
        if self.rules.lookahead && self.is_past_plain_runs() && self.options.len() > first + 1 {
            self.look_ahead(node, branch, first, budget);
        }
        let mut end = End::Impossible;
        for at in first..self.options.len() {
            let option = self.options[at].1;
            let mark = self.state.mark();
            end = self.follow(node, branch, option, budget);
            if !matches!(end, End::Impossible) {
                break;
            }
            self.state.undo(self.reduced, mark);
        }
        self.options.truncate(first);
        if matches!(end, End::Impossible) && branch.raise.is_none() {
            self.failures.blame(branch.section as usize);
        }
        end
    }

    /// Solves the components that remain after an option.
    fn follow(&mut self, node: Node, branch: Branch, option: u32, budget: &mut Budget) -> End {
        let known = node.valleys..self.valleys.len();
        let (changed, apart) = self.apply(branch, option);
        if apart {
            return self.solve(node.component, budget);
        }
        let valleys = self.valleys.len();
        self.valleys.extend_from_within(known);
        deepen(|| self.solve_component(Node { changed, valleys, ..node }, budget))
    }

    /// Applies an option. Returns the sections whose floors have changed, and whether the component may have
    /// split.
    pub(super) fn apply(&mut self, branch: Branch, option: u32) -> ((usize, usize), bool) {
        if option == NONE {
            let section = branch.section as usize;
            let raise = branch.raise.expect("an empty floor is an option only if it may be raised");
            self.state.raise(section, self.state.floor[section] + raise);
            return ((section, section + 1), false);
        }
        let b = option as usize;
        let apart = self.state.place(self.reduced, b);
        (self.reduced.spans[b].sections(), apart)
    }
}

/// Returns the number at position `i`, counted from 1, in the sequence 1 1 2 1 1 2 4 1 1 2 ... of Luby,
/// Sinclair, Zuckerman 1993.
pub(in crate::offsets::search) fn luby(mut i: u64) -> u64 {
    loop {
        let k = u64::from(64 - i.leading_zeros());
        if i == (1 << k) - 1 {
            return 1 << (k - 1);
        }
        i -= (1 << (k - 1)) - 1;
    }
}

impl Decide for Engine<'_> {
    fn decide(&mut self, budget: &mut Budget) -> Decision {
        self.run(budget)
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

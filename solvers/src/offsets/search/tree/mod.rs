//! The search tree that valley branching and branching over cliques share: restarts, components, memo,
//! levels, lookahead and failure weights.
//!
//! A [`Skyline`] defines the states: floors with unplaced buffers above them. The tree decides which valley
//! to branch on and in which order to try its options. Components are solved separately, the tightest first.
//! [`Rules`] has a switch and a soundness argument for each technique.

mod failures;
mod rules;

use super::decide::{Decide, Decision, deepen};
use super::memo::{Key, Memo};
use failures::Failures;
use plimsoll_model::{Budget, Layout};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
pub(super) use rules::Rules;

/// The option that leaves the floor empty. As an index, it also marks the end of a list of buffers.
pub(super) const NONE: u32 = u32::MAX;

/// An unlimited height. It is above every floor and is never applied as a raise, because raises are limited
/// by the slack.
pub(super) const OPEN: i64 = i64::MAX;

/// Score of [`NONE`]. It is far below the scores of buffers, but lookahead can rank it above a buffer that
/// consumes nearly all slack.
const NOTHING: f64 = 1e-9;

/// Penalty of an option that lookahead did not try. It is larger than any penalty for consumed slack.
const UNSEEN: f64 = 1e6;

/// The fraction of the capacity that is added to every slack, so that small differences do not matter.
const SOFT: f64 = 0.01;

/// Length of the shortest *wild* run, and its noise. If runs [vary](Skyline::VARIES), every second run from
/// the root is wild, except for the plain ones.
const WILD: (u64, f64) = (150, 1.0);

/// Number of runs from the root after which failure weights are forgotten, if runs vary.
const FORGET: u64 = 4;

/// A section that rules out every continuation of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dead(pub usize);

/// The most promising section of a valley.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Branch {
    /// The score of the branch. Smaller is better.
    pub score: f64,
    pub section: u32,
    /// The first section of its valley.
    pub left: u32,
    /// The first section after its valley.
    pub right: u32,
    /// Height of the lower wall above the floor, or [`OPEN`] if both sides are borders of the component.
    pub depth: i64,
    /// Amount by which the floor rises if no buffer lies on it, or `None` if this exceeds the slack.
    pub raise: Option<i64>,
}

/// The floors of a layout under construction, and the unplaced buffers above them. Decisions can be undone.
pub(super) trait Skyline: Send {
    /// A component: sections and buffers that no unplaced buffer connects to the others.
    type Part: Copy + Send;
    /// A position in the trail of decisions.
    type Mark: Copy;
    /// The number of parts that are stored.
    type Stored: Copy;

    /// Whether runs differ in length and noise, and forget failure weights. This helps if the time to a
    /// layout varies by orders of magnitude between seeds.
    const VARIES: bool;

    /// Returns the number of sections.
    fn sections(&self) -> usize;

    /// Returns the number of sections that each buffer covers, and its size.
    fn shapes(&self) -> impl Iterator<Item = (f64, f64)>;

    /// Returns true if no section of the current state refutes the capacity.
    fn is_open(&self) -> bool;

    /// Stores the part of all sections, and forgets all others.
    fn whole(&mut self) -> Self::Part;

    /// Returns the number of parts that are stored.
    fn stored(&self) -> Self::Stored;

    /// Forgets the parts stored later.
    fn forget(&mut self, stored: Self::Stored);

    /// Pushes the components of a part that have unplaced buffers, the tightest last.
    fn divide(&mut self, part: Self::Part, parts: &mut Vec<Self::Part>);

    /// Marks all sections of a part as changed. Returns the hash of everything else: its XOR with
    /// [`Skyline::hash`] is the hash of the part.
    fn enter(&mut self, part: Self::Part) -> u64;

    /// Returns the hash of the state.
    fn hash(&self) -> u64;

    /// Writes the part of the state that determines whether the part can be completed.
    fn write_key(&self, part: Self::Part, key: &mut Key);

    /// Returns the current position in the trail.
    fn mark(&self) -> Self::Mark;

    /// Undoes all decisions since a position.
    fn undo(&mut self, mark: Self::Mark);

    /// Propagates within a part after the changed sections have changed. On entry, `found[first..]` contains
    /// the best branch of every valley before the change; on success, those after it. `weight` contains the
    /// failure weight of each section.
    ///
    /// # Errors
    /// Returns [`Dead`] if the part cannot be completed.
    fn look(
        &mut self,
        part: Self::Part,
        rules: (&Rules, &[f64]),
        found: (&mut Vec<Branch>, usize),
    ) -> Result<(), Dead>;

    /// Pushes the unplaced buffers that can lie on the floor of a branch with their scores. `value` contains
    /// the score of each buffer in the current run.
    fn gather(&self, branch: Branch, rules: &Rules, value: &[f64], options: &mut Vec<(f64, u32)>);

    /// Places a buffer on its floors, and marks its sections as changed. Returns true if the component may
    /// have split.
    fn place(&mut self, buffer: u32) -> bool;

    /// Raises the floor of a section, and marks it as changed.
    fn raise(&mut self, section: u32, by: i64);

    /// Returns the area of the placed buffers and that of all buffers, which is not zero.
    fn area(&self) -> (i128, i128);

    /// Returns the slack consumed by raises since a position, as a difference of logarithms summed over
    /// sections. The fraction `soft` of the capacity is added to every slack.
    fn burnt_since(&mut self, mark: Self::Mark, soft: f64) -> f64;

    /// Returns the layout of a state without unplaced buffers.
    fn layout(&self) -> Layout;
}

enum End {
    Fits,
    Impossible,
    /// The current run has ended, or the budget has run out.
    Pause,
}

#[derive(Clone, Copy)]
struct Node<P> {
    part: P,
    /// See [`Skyline::enter`].
    others: u64,
    /// Index of the first branch of this node in [`Tree::valleys`].
    valleys: usize,
}

/// A resumable search at one capacity.
#[derive(Debug)]
pub(super) struct Tree<S: Skyline> {
    skyline: S,
    rules: Rules,
    memo: Memo,
    rng: Xoshiro256PlusPlus,
    failures: Failures,
    /// Score of each buffer in the current run.
    value: Vec<f64>,
    /// The options of all open nodes, stored as one stack.
    options: Vec<(f64, u32)>,
    parts: Vec<S::Part>,
    /// The best branches of the valleys of all open nodes, stored as one stack.
    valleys: Vec<Branch>,
    restarts: u64,
    /// Number of runs from the root that are not plain.
    root_runs: u64,
    is_wild: bool,
    run_left: u64,
    /// Number of nodes so far, excluding those of lookahead.
    visited: u64,
    /// The highest level on the path to the current node (see [`Rules::levels`]).
    level: i128,
    is_open: bool,
}

impl<S: Skyline> Tree<S> {
    /// Creates a search from a state without placed buffers.
    pub fn over(skyline: S, rules: Rules, seed: u64) -> Self {
        Self {
            rules,
            memo: Memo::new(rules.memo_bytes),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            failures: Failures::new(skyline.sections(), rules.failure_weights),
            value: Vec::new(),
            options: Vec::new(),
            parts: Vec::new(),
            valleys: Vec::new(),
            restarts: 0,
            root_runs: 0,
            is_wild: false,
            run_left: 0,
            visited: 0,
            level: 0,
            is_open: skyline.is_open(),
            skyline,
        }
    }

    /// Searches until a layout is found, the capacity is proved infeasible, or the budget runs out. Another
    /// call resumes the search with the memo and the failure weights.
    pub fn run(&mut self, budget: &mut Budget) -> Decision {
        if !self.is_open {
            return Decision::Impossible;
        }
        let start = self.skyline.mark();
        loop {
            if let Some(stop) = budget.check() {
                return Decision::Stopped(stop);
            }
            self.start_at_root();
            self.valleys.clear();
            let whole = self.skyline.whole();
            let end = self.solve(whole, budget);
            let layout = matches!(end, End::Fits).then(|| self.skyline.layout());
            self.skyline.undo(start);
            match (end, layout) {
                (End::Impossible, _) => return Decision::Impossible,
                (_, Some(layout)) => return Decision::Fits(layout),
                _ => {}
            }
        }
    }

    fn start_at_root(&mut self) {
        if S::VARIES && self.is_past_plain_runs() {
            self.is_wild = !self.root_runs.is_multiple_of(2);
            if self.root_runs.is_multiple_of(FORGET) {
                self.failures = Failures::new(self.skyline.sections(), self.rules.failure_weights);
            }
            self.root_runs += 1;
        }
        self.start_run();
    }

    fn start_run(&mut self) {
        self.restarts += 1;
        let base = if self.is_wild { WILD.0 } else { self.rules.restart_base };
        self.run_left = if self.rules.restarts { base * luby(self.restarts) } else { u64::MAX };
        self.draw_values();
    }

    fn is_past_plain_runs(&self) -> bool {
        self.restarts > self.rules.plain_runs
    }

    /// Computes a score with random noise for every buffer.
    fn draw_values(&mut self) {
        let amplitude = if self.is_wild { WILD.1 } else { self.rules.noise };
        let (run, rng) = (self.restarts, &mut self.rng);
        let value = |(width, size)| {
            let noise = amplitude * (rng.random::<f64>() - 0.5);
            base_score(run, width, size) * (1.0 + noise)
        };
        self.value.clear();
        self.value.extend(self.skyline.shapes().map(value));
    }

    /// Completes a part component by component, the tightest first. Ends at the first component that is not
    /// completed.
    fn solve(&mut self, part: S::Part, budget: &mut Budget) -> End {
        let (first, stored) = (self.parts.len(), self.skyline.stored());
        self.skyline.divide(part, &mut self.parts);
        let mut end = End::Fits;
        while self.parts.len() > first && matches!(end, End::Fits) {
            let part = self.parts.pop().expect("a part was pushed");
            let node = Node { part, others: self.skyline.enter(part), valleys: self.valleys.len() };
            end = deepen(|| self.solve_component(node, budget));
        }
        self.parts.truncate(first);
        self.skyline.forget(stored);
        end
    }

    /// Completes a component after some of its floors have changed. `self.valleys[node.valleys..]` must
    /// contain the branches before the change. On return, these entries are removed.
    fn solve_component(&mut self, node: Node<S::Part>, budget: &mut Budget) -> End {
        if self.run_left == 0 || budget.tick().is_some() {
            self.valleys.truncate(node.valleys);
            return End::Pause;
        }
        self.run_left -= 1;
        self.visited += 1;
        let mark = self.skyline.mark();
        let end =
            if self.look(node.part, node.valleys) { self.try_known(node, budget) } else { End::Impossible };
        self.valleys.truncate(node.valleys);
        if !matches!(end, End::Fits) {
            self.skyline.undo(mark);
        }
        end
    }

    /// Propagates within a component. Returns false if it cannot be completed.
    fn look(&mut self, part: S::Part, valleys: usize) -> bool {
        let rules = (&self.rules, &self.failures.weight[..]);
        match self.skyline.look(part, rules, (&mut self.valleys, valleys)) {
            Ok(()) => true,
            Err(Dead(section)) => {
                self.failures.blame(section);
                false
            }
        }
    }

    /// Branches unless the memo refutes the component.
    fn try_known(&mut self, node: Node<S::Part>, budget: &mut Budget) -> End {
        if !self.rules.memo {
            return self.try_runs(node, budget);
        }
        let hash = self.skyline.hash() ^ node.others;
        if self.memo.contains(hash, |key| self.skyline.write_key(node.part, key)) {
            return End::Impossible;
        }
        let visited = self.visited;
        let end = self.try_runs(node, budget);
        if matches!(end, End::Impossible) && self.visited - visited >= self.rules.memo_least {
            self.memo.insert(hash, |key| self.skyline.write_key(node.part, key));
        }
        end
    }

    /// Branches on a component. If the path has just reached a new level, an undecided run is followed by
    /// further runs from this node.
    ///
    /// Success is a rare event that is reached in stages, so a path that placed much of the area is worth
    /// several attempts at the rest.
    fn try_runs(&mut self, node: Node<S::Part>, budget: &mut Budget) -> End {
        if !self.rules.restarts || !self.is_past_plain_runs() {
            return self.branch(node, budget);
        }
        let (area, total) = self.skyline.area();
        let level = i128::from(self.rules.levels) * area / total;
        if level <= self.level {
            return self.branch(node, budget);
        }
        let lower = std::mem::replace(&mut self.level, level);
        let mark = self.skyline.mark();
        let mut end = self.branch(node, budget);
        for _ in 1..self.rules.tries {
            if !matches!(end, End::Pause) || budget.check().is_some() {
                break;
            }
            self.skyline.undo(mark);
            self.start_run();
            end = self.branch(node, budget);
        }
        self.level = lower;
        end
    }

    /// Tries the options of the most promising section in order.
    fn branch(&mut self, node: Node<S::Part>, budget: &mut Budget) -> End {
        let known = node.valleys..self.valleys.len();
        let least = |a: &&Branch, b: &&Branch| a.score.total_cmp(&b.score).then(a.section.cmp(&b.section));
        let branch = *self.valleys[known]
            .iter()
            .min_by(least)
            .expect("the lowest floor of a component lies in a valley with options");
        let first = self.options.len();
        self.skyline.gather(branch, &self.rules, &self.value, &mut self.options);
        self.sort_options(first);
        if branch.raise.is_some() {
            self.options.push((NOTHING, NONE));
        }
        if self.rules.lookahead && self.is_past_plain_runs() && self.options.len() > first + 1 {
            self.look_ahead(node, branch, first, budget);
        }
        let mut end = End::Impossible;
        for at in first..self.options.len() {
            let option = self.options[at].1;
            let mark = self.skyline.mark();
            end = self.follow(node, branch, option, budget);
            if !matches!(end, End::Impossible) {
                break;
            }
            self.skyline.undo(mark);
        }
        self.options.truncate(first);
        if matches!(end, End::Impossible) && branch.raise.is_none() {
            self.failures.blame(branch.section as usize);
        }
        end
    }

    /// Solves the components that remain after an option.
    fn follow(&mut self, node: Node<S::Part>, branch: Branch, option: u32, budget: &mut Budget) -> End {
        let known = node.valleys..self.valleys.len();
        if self.apply(branch, option) {
            return self.solve(node.part, budget);
        }
        let valleys = self.valleys.len();
        self.valleys.extend_from_within(known);
        deepen(|| self.solve_component(Node { valleys, ..node }, budget))
    }

    /// Applies an option. Returns true if the component may have split.
    fn apply(&mut self, branch: Branch, option: u32) -> bool {
        if option == NONE {
            let raise = branch.raise.expect("an empty floor is an option only if it may be raised");
            self.skyline.raise(branch.section, raise);
            return false;
        }
        self.skyline.place(option)
    }

    fn sort_options(&mut self, first: usize) {
        self.options[first..].sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    }

    /// Tries the best options from index `first` on for one step. Removes those that fail immediately and
    /// sorts the others by score and consumed slack. Every trial counts as a node.
    fn look_ahead(&mut self, node: Node<S::Part>, branch: Branch, first: usize, budget: &mut Budget) {
        let mut kept = first;
        for at in first..self.options.len() {
            let (value, option) = self.options[at];
            if at - first >= self.rules.looks && option != NONE {
                self.options[kept] = (value.ln() - UNSEEN, option);
                kept += 1;
                continue;
            }
            budget.tick();
            self.run_left = self.run_left.saturating_sub(1);
            if let Some(burnt) = self.burnt_by(node, branch, option) {
                self.options[kept] = (value.ln() - self.rules.burn * burnt, option);
                kept += 1;
            }
        }
        self.options.truncate(kept);
        self.sort_options(first);
    }

    /// Returns the slack consumed by the raises that an option forces. Returns `None` if the option fails.
    fn burnt_by(&mut self, node: Node<S::Part>, branch: Branch, option: u32) -> Option<f64> {
        let mark = self.skyline.mark();
        let known = node.valleys..self.valleys.len();
        self.apply(branch, option);
        let valleys = self.valleys.len();
        self.valleys.extend_from_within(known);
        let placed = if option == NONE { mark } else { self.skyline.mark() };
        let burnt = self.look(node.part, valleys).then(|| self.skyline.burnt_since(placed, SOFT));
        self.valleys.truncate(valleys);
        self.skyline.undo(mark);
        burnt
    }
}

impl<S: Skyline> Decide for Tree<S> {
    fn decide(&mut self, budget: &mut Budget) -> Decision {
        self.run(budget)
    }
}

/// Returns the score of a buffer that covers `width` sections, without noise. Successive runs cycle through
/// four scores.
fn base_score(run: u64, width: f64, size: f64) -> f64 {
    match run % 4 {
        0 => width * size,
        1 => width * size.sqrt(),
        2 => size * width.sqrt(),
        _ => width,
    }
}

/// Returns the number at position `i`, counted from 1, in the sequence 1 1 2 1 1 2 4 1 1 2 ... of Luby,
/// Sinclair, Zuckerman 1993.
pub(super) fn luby(mut i: u64) -> u64 {
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

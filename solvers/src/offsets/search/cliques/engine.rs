//! The search, with restarts. Components are solved separately.

use super::analyse::{Branch, Dead, Scratch, View};
use super::problem::Cliques;
use super::state::{NONE, OPEN, State};
use crate::offsets::search::decide::{Decide, Decision, deepen};
use crate::offsets::search::memo::Memo;
use crate::offsets::search::valley::{Failures, NOTHING, Rules, SOFT, UNSEEN, base_score, luby};
use plimsoll_model::{Budget, Bytes};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Factor for the score of a buffer with an alignment. Such a buffer fits on few floors.
const ALIGNED: f64 = 2.0;

/// Length of the shortest *wild* run, and its noise. Every second run from the root is wild, except for the
/// plain ones. The time to a layout varies by orders of magnitude between seeds, so runs should differ.
const WILD: (u64, f64) = (150, 1.0);

/// Number of runs from the root after which failure weights are forgotten, for the same reason.
const FORGET: u64 = 4;

enum End {
    Fits,
    Impossible,
    /// The current run has ended, or the budget has run out.
    Pause,
}

/// A component: ranges of sections and split buffers, as ranges of the stacks of [`Engine`].
#[derive(Clone, Copy, Debug)]
struct Part {
    ranges: (usize, usize),
    split: (usize, usize),
    mean_slack: f64,
}

#[derive(Clone, Copy)]
struct Node {
    part: Part,
    /// The hash of the rest of the state. The XOR of this hash and the hash of the state is the hash of the
    /// component.
    others: u64,
    /// Index of the first branch of this node in [`Engine::valleys`].
    valleys: usize,
}

/// A resumable search at one capacity.
#[derive(Debug)]
pub(crate) struct Engine<'a> {
    problem: &'a Cliques,
    rules: Rules,
    state: State<'a>,
    scratch: Scratch,
    memo: Memo,
    rng: Xoshiro256PlusPlus,
    failures: Failures,
    /// Score of each buffer in the current run.
    value: Vec<f64>,
    /// The options of all open nodes, stored as one stack.
    options: Vec<(f64, u32)>,
    parts: Vec<Part>,
    /// The ranges of sections and the split buffers of all open components, as stacks.
    ranges: Vec<(u32, u32)>,
    split: Vec<u32>,
    /// The best branches of the valleys of all open nodes, stored as one stack.
    valleys: Vec<Branch>,
    /// Per range of the part being divided: itself, or an earlier range to which it is joined.
    roots: Vec<u32>,
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

impl<'a> Engine<'a> {
    /// Creates a search for layouts of at most `capacity` bytes.
    pub fn new(problem: &'a Cliques, capacity: Bytes, rules: Rules, seed: u64) -> Self {
        let state = State::new(problem, capacity.get());
        let is_open =
            problem.fixed_end <= capacity.get() && (0..problem.sections()).all(|s| state.slack(s) >= 0);
        Self {
            problem,
            rules,
            state,
            scratch: Scratch::new(problem),
            memo: Memo::new(rules.memo_bytes),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            failures: Failures::new(problem.sections(), rules.failure_weights),
            value: vec![0.0; problem.len()],
            options: Vec::new(),
            parts: Vec::new(),
            ranges: Vec::new(),
            split: Vec::new(),
            valleys: Vec::new(),
            roots: Vec::new(),
            restarts: 0,
            root_runs: 0,
            is_wild: false,
            run_left: 0,
            visited: 0,
            level: 0,
            is_open,
        }
    }

    /// Searches until a layout is found, the capacity is proved infeasible, or the budget runs out. Another
    /// call resumes the search with the memo and the failure weights.
    pub fn run(&mut self, budget: &mut Budget) -> Decision {
        if !self.is_open {
            return Decision::Impossible;
        }
        let problem = self.problem;
        let start = self.state.mark();
        loop {
            if let Some(stop) = budget.check() {
                return Decision::Stopped(stop);
            }
            self.start_at_root();
            self.valleys.clear();
            self.ranges.clear();
            self.split.clear();
            self.ranges.push((0, problem.sections() as u32));
            self.split.extend(problem.whole as u32..problem.len() as u32);
            let whole = Part { ranges: (0, 1), split: (0, self.split.len()), mean_slack: 0.0 };
            let end = self.solve(whole, budget);
            let layout = matches!(end, End::Fits).then(|| problem.layout(&self.state.offset));
            self.state.undo(start);
            match (end, layout) {
                (End::Impossible, _) => return Decision::Impossible,
                (_, Some(layout)) => return Decision::Fits(layout),
                _ => {}
            }
        }
    }

    fn start_at_root(&mut self) {
        if self.is_past_plain_runs() {
            self.is_wild = !self.root_runs.is_multiple_of(2);
            if self.root_runs.is_multiple_of(FORGET) {
                self.failures = Failures::new(self.problem.sections(), self.rules.failure_weights);
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
        for b in 0..self.problem.len() {
            let width = self.problem.cover.of_index(b).len() as f64;
            let size = self.problem.size[b] as f64;
            let base = base_score(self.restarts, width, size);
            let noise = amplitude * (self.rng.random::<f64>() - 0.5);
            self.value[b] = base * (1.0 + noise);
        }
    }

    /// Completes a part component by component, the tightest first. Ends at the first component that is not
    /// completed.
    fn solve(&mut self, part: Part, budget: &mut Budget) -> End {
        let (first, stacks) = (self.parts.len(), (self.ranges.len(), self.split.len()));
        self.divide(part);
        if self.parts.len() > first + 1 {
            self.parts[first..].sort_by(|a, b| b.mean_slack.total_cmp(&a.mean_slack));
        }
        let mut end = End::Fits;
        while self.parts.len() > first && matches!(end, End::Fits) {
            let part = self.parts.pop().expect("a part was pushed");
            let ranges = &self.ranges[part.ranges.0..part.ranges.1];
            let split = &self.split[part.split.0..part.split.1];
            let others = self.state.hash ^ self.state.hash_of(ranges, split);
            self.scratch.changed.clear();
            self.scratch.changed.extend_from_slice(ranges);
            let node = Node { part, others, valleys: self.valleys.len() };
            end = deepen(|| self.solve_component(node, budget));
        }
        self.parts.truncate(first);
        self.ranges.truncate(stacks.0);
        self.split.truncate(stacks.1);
        end
    }

    /// Pushes the components of a part that have unplaced buffers.
    fn divide(&mut self, part: Part) {
        let first = self.ranges.len();
        for at in part.ranges.0..part.ranges.1 {
            let (left, right) = self.ranges[at];
            let mut start = left;
            for s in left..right {
                if s > start && self.state.crossing[s as usize] == 0 {
                    self.push_range(start, s);
                    start = s;
                }
            }
            self.push_range(start, right);
        }
        let last = self.ranges.len();
        self.roots.clear();
        self.roots.extend(0..(last - first) as u32);
        for at in part.split.0..part.split.1 {
            let b = self.split[at] as usize;
            if !self.state.placed[b] {
                let one = self.root_of(first, b, 0);
                for other in self.problem.together(b) {
                    for run in 0..self.problem.runs.of_index(other).len() {
                        let (one, other) = (self.root(one), self.root_of(first, other, run));
                        self.roots[one.max(other) as usize] = one.min(other);
                    }
                }
            }
        }
        for root in 0..last - first {
            if self.roots[root] == root as u32 {
                self.push_part(part, (first, last), root as u32);
            }
        }
    }

    fn push_range(&mut self, start: u32, end: u32) {
        if self.state.open[start as usize] > 0 {
            self.ranges.push((start, end));
        }
    }

    fn root(&self, mut at: u32) -> u32 {
        while self.roots[at as usize] != at {
            at = self.roots[at as usize];
        }
        at
    }

    /// Returns the root of the range, among those from `first` on, that contains a run of a split buffer.
    fn root_of(&self, first: usize, b: usize, run: usize) -> u32 {
        let start = self.problem.runs.of_index(b)[run].0;
        self.root(self.ranges[first..].partition_point(|&(_, end)| end <= start) as u32)
    }

    /// Pushes the component of all ranges with a root.
    fn push_part(&mut self, whole: Part, (first, last): (usize, usize), root: u32) {
        let (ranges, split) = (self.ranges.len(), self.split.len());
        let (mut slack, mut sections) = (0.0, 0);
        for at in first..last {
            if self.root((at - first) as u32) == root {
                let (left, right) = self.ranges[at];
                slack += (left..right).map(|s| self.state.slack(s as usize) as f64).sum::<f64>();
                sections += right - left;
                self.ranges.push((left, right));
            }
        }
        for at in whole.split.0..whole.split.1 {
            let b = self.split[at];
            if !self.state.placed[b as usize] {
                let start = self.problem.hull[b as usize].0;
                let at = self.ranges[first..last].partition_point(|&(_, end)| end <= start);
                if self.root(at as u32) == root {
                    self.split.push(b);
                }
            }
        }
        let mean_slack = slack / f64::from(sections);
        let (ranges, split) = ((ranges, self.ranges.len()), (split, self.split.len()));
        self.parts.push(Part { ranges, split, mean_slack });
    }

    /// Completes a component after the floors of the sections in [`Scratch::changed`] have changed.
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
        let end =
            if self.look(node.part, node.valleys) { self.try_known(node, budget) } else { End::Impossible };
        self.valleys.truncate(node.valleys);
        if !matches!(end, End::Fits) {
            self.state.undo(mark);
        }
        end
    }

    /// Propagates within a component. Returns false if it cannot be completed.
    fn look(&mut self, part: Part, valleys: usize) -> bool {
        let view = View {
            problem: self.problem,
            split: &self.split[part.split.0..part.split.1],
            rules: &self.rules,
            weight: &self.failures.weight,
        };
        match self.scratch.look(view, &mut self.state, (&mut self.valleys, valleys)) {
            Ok(()) => true,
            Err(Dead(section)) => {
                self.failures.blame(section);
                false
            }
        }
    }

    /// Branches unless the memo refutes the component.
    fn try_known(&mut self, node: Node, budget: &mut Budget) -> End {
        if !self.rules.memo {
            return self.try_runs(node, budget);
        }
        let hash = self.state.hash ^ node.others;
        let (ranges, split) = (node.part.ranges, node.part.split);
        let (state, all, all_split) = (&self.state, &self.ranges, &self.split);
        let write =
            |key: &mut _| state.write_key(&all[ranges.0..ranges.1], &all_split[split.0..split.1], key);
        if self.memo.contains(hash, write) {
            return End::Impossible;
        }
        let visited = self.visited;
        let end = self.try_runs(node, budget);
        if matches!(end, End::Impossible) && self.visited - visited >= self.rules.memo_least {
            let (state, all, all_split) = (&self.state, &self.ranges, &self.split);
            let write =
                |key: &mut _| state.write_key(&all[ranges.0..ranges.1], &all_split[split.0..split.1], key);
            self.memo.insert(hash, write);
        }
        end
    }

    /// Branches on a component. If the path has just reached a new level, an undecided run is followed by
    /// further runs from this node.
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
            self.state.undo(mark);
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
            self.state.undo(mark);
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
        if self.apply(branch, option) {
            return self.solve(node.part, budget);
        }
        let valleys = self.valleys.len();
        self.valleys.extend_from_within(known);
        deepen(|| self.solve_component(Node { valleys, ..node }, budget))
    }

    /// Applies an option, and notes the sections whose floors have changed. Returns true if the component may
    /// have split.
    fn apply(&mut self, branch: Branch, option: u32) -> bool {
        self.scratch.changed.clear();
        if option == NONE {
            let section = branch.section as usize;
            let raise = branch.raise.expect("an empty floor is an option only if it may be raised");
            self.state.raise(section, self.state.floor[section] + raise);
            self.scratch.changed.push((branch.section, branch.section + 1));
            return false;
        }
        for b in self.problem.together(option as usize) {
            self.scratch.changed.extend_from_slice(self.problem.runs.of_index(b));
        }
        self.state.put(option as usize)
    }

    /// Pushes the unplaced buffers that can lie on the floor of the section, the most promising first. Then
    /// pushes [`NONE`], the option of an empty floor, if the slack allows it.
    fn gather(&mut self, branch: Branch) {
        let first = self.options.len();
        let (problem, state) = (self.problem, &self.state);
        let (section, left, right) = (branch.section as usize, branch.left as usize, branch.right as usize);
        let floor = state.floor[section];
        let mut b = state.first_unplaced(left);
        let mut last_twin = NONE;
        while b != NONE {
            let at = b as usize;
            let (start, end) = (problem.hull[at].0 as usize, problem.hull[at].1 as usize);
            if start > section {
                break;
            }
            let covers = end > section && end <= right;
            let seen = self.rules.twins && problem.twin[at] == last_twin;
            if covers
                && !seen
                && (problem.is_plain[at] || state.settled(at, floor) == floor)
                && state.is_supported(at)
            {
                last_twin = problem.twin[at];
                let touches = u32::from(start == left) + u32::from(end == right);
                let is_flush = branch.depth != OPEN && problem.size[at] == branch.depth;
                self.options.push((self.score(at, f64::from(touches), is_flush), b));
            }
            b = state.next_unplaced(b);
        }
        for &b in self.problem.split_in.of_index(section) {
            let b = b as usize;
            if !self.state.placed[b] && self.state.place(b).offset == floor && self.state.can_rest(b) {
                let twin =
                    |&(_, other): &(f64, u32)| self.problem.twin[other as usize] == self.problem.twin[b];
                if !(self.rules.twins && self.options[first..].iter().any(twin)) {
                    let (touches, is_flush) = self.beside(b, floor);
                    self.options.push((self.score(b, touches, is_flush), b as u32));
                }
            }
        }
        self.sort_options(first);
        if branch.raise.is_some() {
            self.options.push((NOTHING, NONE));
        }
    }

    /// Returns the score of a buffer on the floor of its sections, where it touches `touches` walls. It is
    /// flush if its top is level with a wall or with the bottom of a fixed buffer.
    fn score(&self, b: usize, touches: f64, is_flush: bool) -> f64 {
        let problem = self.problem;
        let top = self.state.floor[problem.hull[b].0 as usize] + problem.size[b];
        let is_flush = is_flush || problem.walls.of_index(b).iter().any(|&(low, _)| low == top);
        let aligned = if problem.alignment[b] > 1 { ALIGNED } else { 1.0 };
        let value = self.value[b] * aligned * (1.0 + self.rules.touch * touches);
        if is_flush { value * self.rules.flush } else { value }
    }

    /// Returns twice the share of the ends of the runs of a split buffer that touch a wall, and whether a
    /// wall is as high as its top.
    fn beside(&self, b: usize, floor: i64) -> (f64, bool) {
        let (state, top) = (&self.state, floor + self.problem.size[b]);
        let wall = |border: usize, beside: usize| {
            let linked = border < state.floor.len() && state.crossing[border] > 0;
            if linked { state.floor[beside] } else { OPEN }
        };
        let runs = self.problem.runs.of_index(b);
        let (mut touches, mut is_flush) = (0, false);
        for &(start, end) in runs {
            let (start, end) = (start as usize, end as usize);
            for wall in [wall(start, start.wrapping_sub(1)), wall(end, end)] {
                touches += u32::from(wall > floor);
                is_flush |= wall == top;
            }
        }
        (f64::from(touches) / runs.len() as f64, is_flush)
    }

    fn sort_options(&mut self, first: usize) {
        self.options[first..].sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    }

    /// Tries the best options from index `first` on for one step. Removes those that fail immediately and
    /// sorts the others by score and consumed slack. Every trial counts as a node.
    fn look_ahead(&mut self, node: Node, branch: Branch, first: usize, budget: &mut Budget) {
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

    /// Returns the slack consumed by the raises that an option forces, as a difference of logarithms summed
    /// over sections. Returns `None` if the option fails.
    fn burnt_by(&mut self, node: Node, branch: Branch, option: u32) -> Option<f64> {
        let mark = self.state.mark();
        let known = node.valleys..self.valleys.len();
        self.apply(branch, option);
        let valleys = self.valleys.len();
        self.valleys.extend_from_within(known);
        let placed = if option == NONE { mark } else { self.state.mark() };
        let burnt = self.look(node.part, valleys).then(|| self.state.burnt_since(placed, SOFT));
        self.valleys.truncate(valleys);
        self.state.undo(mark);
        burnt
    }
}

impl Decide for Engine<'_> {
    fn decide(&mut self, budget: &mut Budget) -> Decision {
        self.run(budget)
    }
}

//! The floors of an instance with any constraint, as the search tree uses them.

use super::analyse::{Scratch, View};
use super::problem::Cliques;
use super::state::{Mark, State};
use crate::offsets::search::memo::Key;
use crate::offsets::search::tree::{Branch, Dead, NONE, OPEN, Rules, Skyline, Tree};
use plimsoll_model::{Bytes, Layout};

/// Factor for the score of a buffer with an alignment. Such a buffer fits on few floors.
const ALIGNED: f64 = 2.0;

/// A component: ranges of sections and split buffers, as ranges of the stacks of [`CliqueSkyline`].
#[derive(Clone, Copy, Debug)]
pub(in crate::offsets::search) struct Part {
    ranges: (usize, usize),
    split: (usize, usize),
    mean_slack: f64,
}

/// The floors, the unplaced buffers, and the arrays of the analysis.
#[derive(Debug)]
pub(in crate::offsets::search) struct CliqueSkyline<'a> {
    problem: &'a Cliques,
    capacity: Bytes,
    state: State<'a>,
    scratch: Scratch,
    /// The ranges of sections and the split buffers of all open components, as stacks.
    ranges: Vec<(u32, u32)>,
    split: Vec<u32>,
    /// Per range of the part being divided: itself, or an earlier range to which it is joined.
    roots: Vec<u32>,
}

/// Branching over cliques at one capacity.
pub(in crate::offsets::search) type Engine<'a> = Tree<CliqueSkyline<'a>>;

impl<'a> Engine<'a> {
    /// Creates a search for layouts of at most `capacity` bytes.
    pub fn new(problem: &'a Cliques, capacity: Bytes, rules: Rules, seed: u64) -> Self {
        let (state, scratch) = (State::new(problem, capacity.get()), Scratch::new(problem));
        let (ranges, split, roots) = (Vec::new(), Vec::new(), Vec::new());
        Self::over(CliqueSkyline { problem, capacity, state, scratch, ranges, split, roots }, rules, seed)
    }
}

impl CliqueSkyline<'_> {
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

    /// Stores the component of all ranges with a root.
    fn joined(&mut self, whole: Part, (first, last): (usize, usize), root: u32) -> Part {
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
        Part { ranges, split, mean_slack }
    }

    /// Returns the ranges of sections and the split buffers of a component.
    fn of(&self, part: Part) -> (&[(u32, u32)], &[u32]) {
        (&self.ranges[part.ranges.0..part.ranges.1], &self.split[part.split.0..part.split.1])
    }

    /// Returns the score of a buffer on the floor of its sections, where it touches `touches` walls. It is
    /// flush if its top is level with a wall or with the bottom of a fixed buffer.
    fn score(&self, b: usize, rules: &Rules, value: f64, (touches, is_flush): (f64, bool)) -> f64 {
        let problem = self.problem;
        let top = self.state.floor[problem.hull[b].0 as usize] + problem.size[b];
        let is_flush = is_flush || problem.walls.of_index(b).iter().any(|&(low, _)| low == top);
        let aligned = if problem.alignment[b] > 1 { ALIGNED } else { 1.0 };
        let value = value * aligned * (1.0 + rules.touch * touches);
        if is_flush { value * rules.flush } else { value }
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
}

impl Skyline for CliqueSkyline<'_> {
    type Part = Part;
    type Mark = Mark;
    type Stored = (usize, usize);

    const VARIES: bool = true;

    fn sections(&self) -> usize {
        self.problem.sections()
    }

    fn shapes(&self) -> impl Iterator<Item = (f64, f64)> {
        let problem = self.problem;
        (0..problem.len()).map(|b| (problem.cover.of_index(b).len() as f64, problem.size[b] as f64))
    }

    fn is_open(&self) -> bool {
        self.problem.fixed_end <= self.capacity.get()
            && (0..self.sections()).all(|s| self.state.slack(s) >= 0)
    }

    fn whole(&mut self) -> Part {
        self.forget((0, 0));
        self.ranges.push((0, self.problem.sections() as u32));
        self.split.extend(self.problem.whole as u32..self.problem.len() as u32);
        Part { ranges: (0, 1), split: (0, self.split.len()), mean_slack: 0.0 }
    }

    fn stored(&self) -> (usize, usize) {
        (self.ranges.len(), self.split.len())
    }

    fn forget(&mut self, (ranges, split): (usize, usize)) {
        self.ranges.truncate(ranges);
        self.split.truncate(split);
    }

    fn divide(&mut self, part: Part, parts: &mut Vec<Part>) {
        let (before, first) = (parts.len(), self.ranges.len());
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
                let part = self.joined(part, (first, last), root as u32);
                parts.push(part);
            }
        }
        parts[before..].sort_by(|a, b| b.mean_slack.total_cmp(&a.mean_slack));
    }

    fn enter(&mut self, part: Part) -> u64 {
        let ranges = &self.ranges[part.ranges.0..part.ranges.1];
        self.scratch.changed.clear();
        self.scratch.changed.extend_from_slice(ranges);
        let (ranges, split) = self.of(part);
        self.state.hash ^ self.state.hash_of(ranges, split)
    }

    fn hash(&self) -> u64 {
        self.state.hash
    }

    fn write_key(&self, part: Part, key: &mut Key) {
        let (ranges, split) = self.of(part);
        self.state.write_key(ranges, split, key);
    }

    fn mark(&self) -> Mark {
        self.state.mark()
    }

    fn undo(&mut self, mark: Mark) {
        self.state.undo(mark);
    }

    fn look(
        &mut self,
        part: Part,
        (rules, weight): (&Rules, &[f64]),
        found: (&mut Vec<Branch>, usize),
    ) -> Result<(), Dead> {
        let split = &self.split[part.split.0..part.split.1];
        let view = View { problem: self.problem, split, rules, weight };
        self.scratch.look(view, &mut self.state, found)
    }

    fn gather(&self, branch: Branch, rules: &Rules, value: &[f64], options: &mut Vec<(f64, u32)>) {
        let first = options.len();
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
            let seen = rules.twins && problem.twin[at] == last_twin;
            if covers
                && !seen
                && (problem.is_plain[at] || state.settled(at, floor) == floor)
                && state.is_supported(at)
            {
                last_twin = problem.twin[at];
                let touches = u32::from(start == left) + u32::from(end == right);
                let is_flush = branch.depth != OPEN && problem.size[at] == branch.depth;
                options.push((self.score(at, rules, value[at], (f64::from(touches), is_flush)), b));
            }
            b = state.next_unplaced(b);
        }
        for &b in self.problem.split_in.of_index(section) {
            let b = b as usize;
            if !self.state.placed[b] && self.state.place(b).offset == floor && self.state.can_rest(b) {
                let twin =
                    |&(_, other): &(f64, u32)| self.problem.twin[other as usize] == self.problem.twin[b];
                if !(rules.twins && options[first..].iter().any(twin)) {
                    options.push((self.score(b, rules, value[b], self.beside(b, floor)), b as u32));
                }
            }
        }
    }

    fn place(&mut self, buffer: u32) -> bool {
        self.scratch.changed.clear();
        for b in self.problem.together(buffer as usize) {
            self.scratch.changed.extend_from_slice(self.problem.runs.of_index(b));
        }
        self.state.put(buffer as usize)
    }

    fn raise(&mut self, section: u32, by: i64) {
        self.scratch.changed.clear();
        self.scratch.changed.push((section, section + 1));
        self.state.raise(section as usize, self.state.floor[section as usize] + by);
    }

    fn area(&self) -> (i128, i128) {
        (self.state.area, self.state.total_area)
    }

    fn burnt_since(&mut self, mark: Mark, soft: f64) -> f64 {
        self.state.burnt_since(mark, soft)
    }

    fn layout(&self) -> Layout {
        self.problem.layout(&self.state.offset)
    }
}

//! The floors of an instance of plain intervals, as the search tree uses them.

use super::analyse::{Scratch, View};
use super::reduce::Reduced;
use super::state::{Mark, State};
use crate::offsets::search::memo::Key;
use crate::offsets::search::tree::{Branch, Dead, NONE, OPEN, Rules, Skyline, Tree};
use plimsoll_model::Layout;

/// The floors, the unplaced buffers, and the arrays of the analysis.
#[derive(Debug)]
pub(in crate::offsets::search) struct IntervalSkyline<'a> {
    reduced: &'a Reduced,
    state: State,
    scratch: Scratch,
    /// The sections that have changed since the last analysis.
    changed: (usize, usize),
}

/// Valley branching at one capacity.
pub(in crate::offsets::search) type Engine<'a> = Tree<IntervalSkyline<'a>>;

impl<'a> Engine<'a> {
    /// Creates a search for layouts of at most `capacity` units.
    pub fn new(reduced: &'a Reduced, capacity: i64, rules: Rules, seed: u64) -> Self {
        let (state, scratch) = (State::new(reduced, capacity), Scratch::new(reduced.sections));
        Self::over(IntervalSkyline { reduced, state, scratch, changed: (0, 0) }, rules, seed)
    }
}

impl Skyline for IntervalSkyline<'_> {
    type Part = (usize, usize);
    type Mark = Mark;
    type Stored = ();

    const VARIES: bool = false;

    fn sections(&self) -> usize {
        self.reduced.sections
    }

    fn shapes(&self) -> impl Iterator<Item = (f64, f64)> {
        self.reduced.spans.iter().map(|span| (f64::from(span.end - span.start), span.size as f64))
    }

    fn is_open(&self) -> bool {
        (0..self.reduced.sections).all(|s| self.state.slack(s) >= 0)
    }

    fn whole(&mut self) -> Self::Part {
        (0, self.reduced.sections)
    }

    fn stored(&self) {}

    fn forget(&mut self, (): ()) {}

    fn divide(&mut self, (left, right): Self::Part, parts: &mut Vec<Self::Part>) {
        let first = parts.len();
        let mut b = self.state.first_unplaced(self.reduced, left);
        let mut open: Option<(usize, usize)> = None;
        while b != NONE {
            let (start, end) = self.reduced.spans[b as usize].sections();
            if start >= right {
                break;
            }
            match &mut open {
                Some((_, until)) if start < *until => *until = end.max(*until),
                _ => {
                    parts.extend(open.take());
                    open = Some((start, end));
                }
            }
            b = self.state.next_unplaced(b);
        }
        parts.extend(open);
        if parts.len() > first + 1 {
            let mean_slack = |&(left, right): &(usize, usize)| {
                let sum: i128 = (left..right).map(|s| i128::from(self.state.slack(s))).sum();
                sum as f64 / (right - left) as f64
            };
            parts[first..].sort_by(|a, b| mean_slack(b).total_cmp(&mean_slack(a)));
        }
    }

    fn enter(&mut self, part: Self::Part) -> u64 {
        self.changed = part;
        self.state.hash ^ self.state.hash_of(self.reduced, part)
    }

    fn hash(&self) -> u64 {
        self.state.hash
    }

    fn write_key(&self, part: Self::Part, key: &mut Key) {
        self.state.write_key(self.reduced, part, key);
    }

    fn mark(&self) -> Mark {
        self.state.mark()
    }

    fn undo(&mut self, mark: Mark) {
        self.state.undo(self.reduced, mark);
    }

    fn look(
        &mut self,
        component: Self::Part,
        (rules, weight): (&Rules, &[f64]),
        found: (&mut Vec<Branch>, usize),
    ) -> Result<(), Dead> {
        let view = View { reduced: self.reduced, component, rules, weight };
        self.scratch.look(view, &mut self.state, self.changed, found)
    }

    fn gather(&self, branch: Branch, rules: &Rules, value: &[f64], options: &mut Vec<(f64, u32)>) {
        let (reduced, state) = (self.reduced, &self.state);
        let (section, left, right) = (branch.section as usize, branch.left as usize, branch.right as usize);
        let mut b = state.first_unplaced(reduced, left);
        let mut last_twin = NONE;
        while b != NONE {
            let at = b as usize;
            let (start, end) = reduced.spans[at].sections();
            if start > section {
                break;
            }
            let covers = end > section && end <= right;
            let seen = rules.twins && reduced.twin[at] == last_twin;
            if covers && !seen && state.real[start..end].contains(&true) {
                last_twin = reduced.twin[at];
                let touches = u32::from(start == left) + u32::from(end == right);
                let mut value = value[at] * (1.0 + rules.touch * f64::from(touches));
                if branch.depth != OPEN && reduced.spans[at].size == branch.depth {
                    value *= rules.flush;
                }
                options.push((value, b));
            }
            b = state.next_unplaced(b);
        }
    }

    fn place(&mut self, buffer: u32) -> bool {
        let b = buffer as usize;
        self.changed = self.reduced.spans[b].sections();
        self.state.place(self.reduced, b)
    }

    fn raise(&mut self, section: u32, by: i64) {
        let s = section as usize;
        self.changed = (s, s + 1);
        self.state.raise(s, self.state.floor[s] + by);
    }

    fn area(&self) -> (i128, i128) {
        (self.state.area, self.state.total_area)
    }

    fn burnt_since(&mut self, mark: Mark, soft: f64) -> f64 {
        self.state.burnt_since(mark, soft)
    }

    fn layout(&self) -> Layout {
        self.reduced.layout(&self.state.offset)
    }
}

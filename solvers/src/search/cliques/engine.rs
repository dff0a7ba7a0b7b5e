//! The search, with restarts. Components are solved separately.

use super::analyse::{self, Assessment, Branch, Part};
use super::problem::Cliques;
use super::state::{self, Dead, Member, State, buffer_hash};
use crate::search::decide::{Decide, Verdict, deepen};
use crate::search::memo::{Key, Memo};
use crate::search::valley::{FAILURE_GROWTH, NOTHING, Rules, SOFT, UNSEEN, base_score, luby};
use plimsoll_model::{Budget, Bytes};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// The option of an empty floor.
const NONE: u32 = u32::MAX;

enum End {
    Fits,
    Impossible,
    /// The current run has ended, or the budget has run out.
    Pause,
}

/// A resumable search at one capacity.
#[derive(Debug)]
pub(crate) struct Engine<'a> {
    problem: &'a Cliques,
    rules: Rules,
    state: State<'a>,
    seen: Assessment,
    memo: Memo,
    rng: Xoshiro256PlusPlus,
    weight: Vec<f64>,
    increment: f64,
    value: Vec<f64>,
    options: Vec<(f64, u32)>,
    parts: Vec<Part>,
    restarts: u64,
    run_left: u64,
    visited: u64,
    level: i128,
    /// Whether the fixed buffers fit and every buffer has a place.
    is_open: bool,
}

impl<'a> Engine<'a> {
    /// Creates a search for layouts of at most `capacity` bytes.
    pub fn new(problem: &'a Cliques, capacity: Bytes, rules: Rules, seed: u64) -> Self {
        let mut state = State::new(problem, capacity.get());
        let mut seen = Assessment::new(problem);
        let is_open = problem.fixed_end <= capacity.get()
            && state.start().is_ok()
            && seen.look(problem, &mut state, &rules).is_ok();
        Self {
            problem,
            rules,
            state,
            seen,
            memo: Memo::new(rules.memo_bytes),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            weight: vec![1.0; problem.sections()],
            increment: 1.0,
            value: vec![0.0; problem.len()],
            options: Vec::new(),
            parts: Vec::new(),
            restarts: 0,
            run_left: 0,
            visited: 0,
            level: 0,
            is_open,
        }
    }

    /// Searches until a layout is found, the capacity is proved infeasible, or the budget runs out. Another
    /// call resumes the search with the memo and the failure weights.
    pub fn run(&mut self, budget: &mut Budget) -> Verdict {
        if !self.is_open {
            return Verdict::Impossible;
        }
        let start = self.mark();
        loop {
            if let Some(stop) = budget.check() {
                return Verdict::Stopped(stop);
            }
            self.start_run();
            self.parts.clear();
            self.seen.sections.clear();
            self.seen.buffers.clear();
            self.seen.sections.extend(0..self.problem.sections() as u32);
            let end = self.solve((0, self.problem.sections()), budget);
            let layout = matches!(end, End::Fits).then(|| self.problem.layout(&self.state.place));
            self.undo(start);
            match (end, layout) {
                (End::Impossible, _) => return Verdict::Impossible,
                (_, Some(layout)) => return Verdict::Fits(layout),
                _ => {}
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

    /// Computes a score with random noise for every buffer.
    fn draw_values(&mut self) {
        for b in 0..self.problem.len() {
            let width = self.problem.cover.of_index(b).len() as f64;
            let size = self.problem.size[b] as f64;
            let base = base_score(self.restarts, width, size);
            let noise = self.rules.noise * (self.rng.random::<f64>() - 0.5);
            self.value[b] = base * (1.0 + noise);
        }
    }

    /// Completes some sections component by component, the tightest first. Ends at the first component that
    /// is not completed.
    fn solve(&mut self, sections: (usize, usize), budget: &mut Budget) -> End {
        let (first, stacks) = (self.parts.len(), (self.seen.sections.len(), self.seen.buffers.len()));
        self.seen.split(self.problem, &self.state, sections, &mut self.parts);
        if self.parts.len() > first + 1 {
            let (state, all) = (&self.state, &self.seen.sections);
            let mean_slack = |part: &Part| {
                let own = &all[part.sections.0..part.sections.1];
                own.iter().map(|&s| state.slack(s as usize) as f64).sum::<f64>() / own.len() as f64
            };
            self.parts[first..].sort_by(|a, b| mean_slack(b).total_cmp(&mean_slack(a)));
        }
        let mut end = End::Fits;
        while self.parts.len() > first && matches!(end, End::Fits) {
            let part = self.parts.pop().expect("there is another part");
            end = deepen(|| self.solve_component(part, budget));
        }
        self.parts.truncate(first);
        self.seen.sections.truncate(stacks.0);
        self.seen.buffers.truncate(stacks.1);
        end
    }

    fn solve_component(&mut self, part: Part, budget: &mut Budget) -> End {
        if self.run_left == 0 || budget.tick().is_some() {
            return End::Pause;
        }
        self.run_left -= 1;
        self.visited += 1;
        self.try_known(part, budget)
    }

    fn mark(&self) -> (state::Mark, analyse::Mark) {
        (self.state.mark(), self.seen.mark())
    }

    fn undo(&mut self, mark: (state::Mark, analyse::Mark)) {
        self.state.undo(mark.0);
        self.seen.undo(mark.1);
    }

    /// Branches unless the memo refutes the component.
    fn try_known(&mut self, part: Part, budget: &mut Budget) -> End {
        if !self.rules.memo {
            return self.try_runs(part, budget);
        }
        let hash = self.hash_of(part);
        let (seen, state) = (&self.seen, &self.state);
        if self.memo.contains(hash, |key| write_key(seen, state, part, key)) {
            return End::Impossible;
        }
        let visited = self.visited;
        let end = self.try_runs(part, budget);
        if matches!(end, End::Impossible) && self.visited - visited >= self.rules.memo_least {
            let (seen, state) = (&self.seen, &self.state);
            self.memo.insert(hash, |key| write_key(seen, state, part, key));
        }
        end
    }

    fn hash_of(&self, part: Part) -> u64 {
        let sections = self.seen.sections[part.sections.0..part.sections.1].iter();
        let buffers = self.seen.buffers[part.buffers.0..part.buffers.1].iter();
        let buffers = buffers.filter(|&&b| !self.state.placed[b as usize]);
        let sections = sections.map(|&s| self.state.section_hash(s as usize));
        sections.chain(buffers.map(|&b| buffer_hash(b))).fold(0, |hash, one| hash ^ one)
    }

    /// Branches on a component. If the path has just reached a new level, an undecided run is followed by
    /// further runs from this node.
    fn try_runs(&mut self, part: Part, budget: &mut Budget) -> End {
        if !self.rules.restarts || !self.is_past_plain_runs() {
            return self.branch(part, budget);
        }
        let level = i128::from(self.rules.levels) * self.state.area / self.state.total_area;
        if level <= self.level {
            return self.branch(part, budget);
        }
        let lower = std::mem::replace(&mut self.level, level);
        let mark = self.mark();
        let mut end = self.branch(part, budget);
        for _ in 1..self.rules.tries {
            if !matches!(end, End::Pause) || budget.check().is_some() {
                break;
            }
            self.undo(mark);
            self.start_run();
            end = self.branch(part, budget);
        }
        self.level = lower;
        end
    }

    /// Tries the options of the most promising section in order.
    fn branch(&mut self, part: Part, budget: &mut Budget) -> End {
        let branch = self.seen.choose(self.problem, &self.state, part, &self.weight);
        let first = self.options.len();
        self.gather(branch);
        if self.rules.lookahead && self.is_past_plain_runs() && self.options.len() > first + 1 {
            self.look_ahead(branch, first, budget);
        }
        let mut end = End::Impossible;
        for at in first..self.options.len() {
            let option = self.options[at].1;
            let mark = self.mark();
            end = match self.apply(branch, option) {
                Ok(true) => self.solve(part.sections, budget),
                Ok(false) => deepen(|| self.solve_component(part, budget)),
                Err(Dead(section)) => {
                    self.blame(section);
                    End::Impossible
                }
            };
            if !matches!(end, End::Impossible) {
                break;
            }
            self.undo(mark);
        }
        self.options.truncate(first);
        if matches!(end, End::Impossible) && branch.raise.is_none() {
            self.blame(branch.section as usize);
        }
        end
    }

    /// Applies an option and all its consequences. Returns true if the component may have split.
    fn apply(&mut self, branch: Branch, option: u32) -> Result<bool, Dead> {
        let apart = if option == NONE {
            let height = branch.raise.expect("an empty floor is an option only if it may be raised");
            self.state.raise(branch.section as usize, height)?;
            false
        } else {
            self.state.put(option as usize)?
        };
        self.seen.look(self.problem, &mut self.state, &self.rules)?;
        Ok(apart)
    }

    /// Pushes the unplaced buffers that can lie on the floor of the section, the most promising first. Then
    /// pushes [`NONE`], the option of an empty floor, if the slack allows it.
    fn gather(&mut self, branch: Branch) {
        let first = self.options.len();
        let s = branch.section as usize;
        let mut seen: Vec<u32> = Vec::new();
        for &Member { buffer: b, .. } in self.state.unplaced(s) {
            let twin = self.problem.twin[b as usize];
            if self.seen.is_option(&self.state, s, b as usize) && !(self.rules.twins && seen.contains(&twin))
            {
                seen.push(twin);
                self.options.push((self.score(b as usize), b));
            }
        }
        self.sort_options(first);
        if branch.raise.is_some() {
            self.options.push((NOTHING, NONE));
        }
    }

    /// Returns the score of a buffer at its place, with bonuses for walls beside it.
    fn score(&self, b: usize) -> f64 {
        let (place, top) = (self.state.place[b], self.state.top(b));
        let cover = self.problem.cover.of_index(b);
        let (mut ends, mut touches, mut flush) = (0, 0, false);
        let mut beside = |s: Option<usize>| {
            ends += 1;
            let floor = match s.map(|s| &self.state.sections[s]) {
                Some(section) if section.open > 0 => section.floor,
                _ => i64::MAX,
            };
            touches += u32::from(floor > place);
            flush |= floor == top;
        };
        for (at, &s) in cover.iter().enumerate() {
            if at == 0 || cover[at - 1] + 1 != s {
                beside((s as usize).checked_sub(1));
            }
            if at + 1 == cover.len() || cover[at + 1] != s + 1 {
                beside(Some(s as usize + 1).filter(|&next| next < self.problem.sections()));
            }
        }
        let share = 2.0 * f64::from(touches) / f64::from(ends);
        let value = self.value[b] * (1.0 + self.rules.touch * share);
        if flush { value * self.rules.flush } else { value }
    }

    fn sort_options(&mut self, first: usize) {
        self.options[first..].sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    }

    /// Tries the best options from index `first` on for one step. Removes those that fail immediately and
    /// sorts the others by score and consumed slack. Every trial counts as a node.
    fn look_ahead(&mut self, branch: Branch, first: usize, budget: &mut Budget) {
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
            let mark = self.mark();
            match self.apply(branch, option) {
                Ok(_) => {
                    let burnt = self.state.burnt_since(mark.0, SOFT);
                    self.options[kept] = (value.ln() - self.rules.burn * burnt, option);
                    kept += 1;
                }
                Err(Dead(section)) => self.blame(section),
            }
            self.undo(mark);
        }
        self.options.truncate(kept);
        self.sort_options(first);
    }

    /// Records a failure of a section.
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

/// Writes the key of a component: its sections with their floors, and its unplaced buffers.
fn write_key(seen: &Assessment, state: &State<'_>, part: Part, key: &mut Key) {
    let mut sections = seen.sections[part.sections.0..part.sections.1].to_vec();
    let mut buffers = seen.buffers[part.buffers.0..part.buffers.1].to_vec();
    buffers.retain(|&b| !state.placed[b as usize]);
    sections.sort_unstable();
    buffers.sort_unstable();
    key.put(sections.len() as u64);
    for s in sections {
        key.put(u64::from(s));
        key.put(state.sections[s as usize].floor as u64);
        key.put(state.depth(s as usize));
    }
    let mut last = 0;
    for b in buffers {
        key.put(u64::from(b - last));
        last = b;
    }
}

impl Decide for Engine<'_> {
    fn decide(&mut self, budget: &mut Budget) -> Verdict {
        self.run(budget)
    }
}

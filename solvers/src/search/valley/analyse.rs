//! One look at a component: valleys, what fits into them, what follows, where to branch.

use super::engine::Rules;
use super::reduce::Reduced;
use super::state::State;

/// A height without limit, small enough that sums of two do not overflow.
pub(super) const OPEN: i64 = i64::MAX / 4;

/// What a look found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// Nothing can lie lowest at this section: no layout continues the state.
    Dead(usize),
    /// Floors were raised; look again.
    Raised,
    /// The section to branch on.
    Branch(Branch),
}

/// Where to branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Branch {
    /// The section.
    pub section: usize,
    /// Its valley.
    pub left: usize,
    /// First section after its valley.
    pub right: usize,
    /// How far the lower wall rises above the floor, [`OPEN`] without walls.
    pub depth: i64,
    /// By how much the floor rises where nothing lies on it; `None` where slack forbids that.
    pub raise: Option<i64>,
}

/// Arrays per section that a look fills; made once.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// End of the valley a section lies in, 0 outside valleys.
    valley_end: Vec<u32>,
    /// Changes, from section to section, of the number of options and of the units that fit.
    options: Vec<i32>,
    fitting: Vec<i64>,
    /// Smallest fitting buffer whose last section is this, and whose first is this.
    ends_here: Vec<i64>,
    starts_here: Vec<i64>,
    /// Smallest fitting buffer that starts at or after a section.
    after: Vec<i64>,
    /// Number of real floors before a section.
    real_before: Vec<u32>,
    valleys: Vec<(u32, u32, i64)>,
    raises: Vec<(u32, i64)>,
}

impl Scratch {
    pub fn new(sections: usize) -> Self {
        Self {
            valley_end: vec![0; sections + 1],
            options: vec![0; sections + 1],
            fitting: vec![0; sections + 1],
            ends_here: vec![OPEN; sections + 1],
            starts_here: vec![OPEN; sections + 1],
            after: vec![OPEN; sections + 2],
            real_before: vec![0; sections + 1],
            valleys: Vec::new(),
            raises: Vec::new(),
        }
    }

    /// Where the component `left..right` stands. O(sections + unplaced buffers) of the component.
    pub fn look(
        &mut self,
        reduced: &Reduced,
        state: &mut State,
        (left, right): (usize, usize),
        rules: &Rules,
        weight: &[f64],
    ) -> Finding {
        self.find_valleys(state, left, right);
        self.sum_fitting(reduced, state, left, right);
        self.raises.clear();
        let mut best: Option<(f64, Branch)> = None;
        for v in 0..self.valleys.len() {
            let (from, to, depth) = self.valleys[v];
            let valley = (from as usize, to as usize, depth);
            if let Err(dead) = self.judge_valley(state, valley, rules, weight, &mut best) {
                return Finding::Dead(dead);
            }
        }
        if !self.raises.is_empty() {
            for &(s, height) in &self.raises {
                state.raise(s as usize, height);
            }
            return Finding::Raised;
        }
        let (_, branch) = best.expect("the lowest floor of a component lies in a valley with options");
        Finding::Branch(branch)
    }

    fn find_valleys(&mut self, state: &State, left: usize, right: usize) {
        self.valleys.clear();
        let floor = &state.floor[..right];
        let mut from = left;
        let mut wall_left = OPEN;
        let mut real = 0;
        while from < right {
            let height = floor[from];
            let mut to = from;
            while to < right && floor[to] == height {
                self.real_before[to] = real;
                real += u32::from(state.real[to]);
                self.options[to] = 0;
                self.fitting[to] = 0;
                self.ends_here[to] = OPEN;
                self.starts_here[to] = OPEN;
                to += 1;
            }
            let wall_right = if to < right { floor[to] } else { OPEN };
            let is_valley = wall_left > height && wall_right > height;
            let end = if is_valley { to as u32 } else { 0 };
            self.valley_end[from..to].fill(end);
            if is_valley {
                let wall = wall_left.min(wall_right);
                let depth = if wall == OPEN { OPEN } else { wall - height };
                self.valleys.push((from as u32, to as u32, depth));
            }
            wall_left = height;
            from = to;
        }
        self.real_before[right] = real;
        self.options[right] = 0;
        self.fitting[right] = 0;
    }

    fn sum_fitting(&mut self, reduced: &Reduced, state: &State, left: usize, right: usize) {
        state.each_unplaced(reduced, left, right, |b| {
            let (start, end) = (reduced.start[b as usize] as usize, reduced.end[b as usize] as usize);
            if end <= self.valley_end[start] as usize {
                let size = reduced.size[b as usize];
                self.fitting[start] += size;
                self.fitting[end] -= size;
                if self.real_before[end] > self.real_before[start] {
                    self.options[start] += 1;
                    self.options[end] -= 1;
                }
                self.ends_here[end - 1] = self.ends_here[end - 1].min(size);
                self.starts_here[start] = self.starts_here[start].min(size);
            }
        });
    }

    /// Looks at every section of a valley; `Err` names one where nothing can lie lowest.
    fn judge_valley(
        &mut self,
        state: &State,
        (from, to, depth): (usize, usize, i64),
        rules: &Rules,
        weight: &[f64],
        best: &mut Option<(f64, Branch)>,
    ) -> Result<(), usize> {
        let mut least = OPEN;
        self.after[to] = OPEN;
        for s in (from..to).rev() {
            least = least.min(self.starts_here[s]);
            self.after[s] = least;
        }
        let (mut options, mut fitting, mut before) = (0i32, 0i64, OPEN);
        for (s, &weight) in (from..to).zip(&weight[from..to]) {
            options += self.options[s];
            fitting += self.fitting[s];
            // A buffer that ends before s or starts after it does not cover it.
            let smallest_beside = before.min(self.after[s + 1]);
            before = before.min(self.ends_here[s]);
            let slack = state.slack(s);
            if rules.wall_waste && depth != OPEN && depth - fitting > slack {
                return Err(s);
            }
            let raise = depth.min(smallest_beside);
            let may_raise = raise <= slack;
            if options == 0 {
                if !may_raise {
                    return Err(s);
                }
                self.raises.push((s as u32, state.floor[s] + raise));
            } else if self.raises.is_empty() {
                let branches = options + i32::from(may_raise);
                let score = rules.section_score(f64::from(branches), slack, state.capacity) / weight;
                if best.as_ref().is_none_or(|&(least, _)| score < least) {
                    let raise = may_raise.then_some(raise);
                    *best = Some((score, Branch { section: s, left: from, right: to, depth, raise }));
                }
            }
        }
        Ok(())
    }
}

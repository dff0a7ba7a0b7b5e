//! Propagates within part of a component: finds valleys and the buffers that fit into them, applies forced
//! raises, and rates the possible branches.
//!
//! Only valleys that a decision may have changed are analysed again. A valley depends on its own sections and
//! its walls. A *level run* is a maximal run of sections with equal floors. If the floors of the sections
//! `a..b` have changed, the valleys to analyse are level runs that overlap `a - 1..b + 1`.

use super::reduce::{Reduced, Span};
use super::state::State;
use crate::offsets::search::tree::{Branch, Dead, OPEN, Rules};

/// Inputs of the analysis in addition to the state.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub reduced: &'a Reduced,
    pub component: (usize, usize),
    pub rules: &'a Rules,
    /// Failure weight of each section. Later failures count more.
    pub weight: &'a [f64],
}

/// Aggregates of the buffers that fit into the valley of a section, stored together for locality.
#[derive(Clone, Copy, Debug)]
struct Sums {
    /// The total size of the buffers that fit, minus the same total of the previous section. `options` is the
    /// corresponding difference between the numbers of options.
    fitting: i64,
    options: i32,
    /// Smallest size of a fitting buffer whose last section is this one. `starts_here` is the smallest size
    /// of a fitting buffer whose first section is this one.
    ends_here: i64,
    starts_here: i64,
}

impl Sums {
    const NONE: Self = Self { fitting: 0, options: 0, ends_here: OPEN, starts_here: OPEN };
}

/// Reusable arrays of the analysis, most of them indexed by section.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// End of the valley that contains the section, or 0 if there is none.
    valley_end: Vec<u32>,
    sums: Vec<Sums>,
    /// Smallest size of a fitting buffer that starts at or after the section.
    after: Vec<i64>,
    /// Number of real floors before the section.
    real_before: Vec<u32>,
    valleys: Vec<(u32, u32, i64)>,
    raises: Vec<(u32, i64)>,
}

impl Scratch {
    pub fn new(sections: usize) -> Self {
        Self {
            valley_end: vec![0; sections + 1],
            sums: vec![Sums::NONE; sections + 1],
            after: vec![OPEN; sections + 2],
            real_before: vec![0; sections + 1],
            valleys: Vec::new(),
            raises: Vec::new(),
        }
    }

    /// Propagates to a fixpoint after the floors of the sections `changed` have changed.
    ///
    /// On entry, `found[first..]` contains the best branch of every valley before the change. On success, it
    /// contains the best branches after the change. The time is linear in the sections and unplaced buffers
    /// of the affected level runs and in the number of valleys.
    pub fn look(
        &mut self,
        view: View<'_>,
        state: &mut State,
        mut changed: (usize, usize),
        (found, first): (&mut Vec<Branch>, usize),
    ) -> Result<(), Dead> {
        let View { reduced, component, rules, weight } = view;
        loop {
            let (from, to) = runs_around(&state.floor, component, changed);
            let mut at = first;
            while at < found.len() {
                let outside = (found[at].right as usize) <= from || found[at].left as usize >= to;
                if outside {
                    at += 1;
                } else {
                    found.swap_remove(at);
                }
            }
            self.find_valleys(state, component, (from, to));
            self.sum_fitting(reduced, state, from, to);
            self.raises.clear();
            for v in 0..self.valleys.len() {
                let (left, right, depth) = self.valleys[v];
                let valley = (left as usize, right as usize, depth);
                if let Some(branch) = self.assess_valley(state, valley, rules, weight)? {
                    found.push(branch);
                }
            }
            let (Some(&(low, _)), Some(&(high, _))) = (self.raises.first(), self.raises.last()) else {
                return Ok(());
            };
            for &(s, height) in &self.raises {
                state.raise(s as usize, height);
            }
            changed = (low as usize, high as usize + 1);
        }
    }

    fn find_valleys(&mut self, state: &State, component: (usize, usize), (left, right): (usize, usize)) {
        self.valleys.clear();
        let floor = &state.floor;
        let mut from = left;
        let mut wall_left = if left > component.0 { floor[left - 1] } else { OPEN };
        let mut real = 0;
        while from < right {
            let height = floor[from];
            let mut to = from;
            while to < right && floor[to] == height {
                self.real_before[to] = real;
                real += u32::from(state.real[to]);
                self.sums[to] = Sums::NONE;
                to += 1;
            }
            let wall_right = if to < component.1 { floor[to] } else { OPEN };
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
        self.sums[right] = Sums::NONE;
    }

    fn sum_fitting(&mut self, reduced: &Reduced, state: &State, left: usize, right: usize) {
        state.each_unplaced(reduced, left, right, |b| {
            let Span { start, end, size } = reduced.spans[b as usize];
            let (start, end) = (start as usize, end as usize);
            if end <= self.valley_end[start] as usize {
                let option = i32::from(self.real_before[end] > self.real_before[start]);
                let first = &mut self.sums[start];
                first.fitting += size;
                first.options += option;
                first.starts_here = first.starts_here.min(size);
                let last = &mut self.sums[end - 1];
                last.ends_here = last.ends_here.min(size);
                let after = &mut self.sums[end];
                after.fitting -= size;
                after.options -= option;
            }
        });
    }

    /// Analyses every section of a valley. Returns the best branch, or `None` if floors must be raised first.
    fn assess_valley(
        &mut self,
        state: &State,
        (from, to, depth): (usize, usize, i64),
        rules: &Rules,
        weight: &[f64],
    ) -> Result<Option<Branch>, Dead> {
        let Self { sums, after, raises, .. } = self;
        // Slices of the valley: the loops below take most of the time, and indices would be checked.
        let (sums, after) = (&sums[from..to], &mut after[from..=to]);
        let (floor, rest) = (&state.floor[from..to], &state.rest[from..to]);
        let mut least = OPEN;
        after[to - from] = OPEN;
        for (sums, after) in sums.iter().zip(&mut *after).rev() {
            least = least.min(sums.starts_here);
            *after = least;
        }
        let mut best: Option<Branch> = None;
        let raises_before = raises.len();
        let (mut options, mut fitting, mut before) = (0i32, 0i64, OPEN);
        let sections =
            (from..to).zip(&weight[from..to]).zip(sums).zip(&after[1..]).zip(floor.iter().zip(rest));
        for ((((s, &weight), sums), &after), (&floor, &rest)) in sections {
            options += sums.options;
            fitting += sums.fitting;
            // A buffer that ends before `s` or starts after `s` does not cover `s`.
            let smallest_beside = before.min(after);
            before = before.min(sums.ends_here);
            let slack = state.capacity - floor - rest;
            if rules.wall_waste && depth != OPEN && depth - fitting > slack {
                return Err(Dead(s));
            }
            let raise = depth.min(smallest_beside);
            let may_raise = raise <= slack;
            if options == 0 {
                if !may_raise {
                    return Err(Dead(s));
                }
                raises.push((s as u32, floor + raise));
            } else {
                // Sections with few branches come first. A section that often failed may have more branches.
                let branches = f64::from(options + i32::from(may_raise));
                let score = branches * branches / weight;
                if best.is_none_or(|best| score < best.score) {
                    let raise = may_raise.then_some(raise);
                    let (section, left, right) = (s as u32, from as u32, to as u32);
                    best = Some(Branch { score, section, left, right, depth, raise });
                }
            }
        }
        // If floors are raised, the valley changes and is analysed again.
        Ok(best.filter(|_| raises.len() == raises_before))
    }
}

/// Returns the range of the level runs within the component that overlap `a - 1..b + 1`.
fn runs_around(floor: &[i64], (left, right): (usize, usize), (a, b): (usize, usize)) -> (usize, usize) {
    let mut from = if a > left { a - 1 } else { a };
    while from > left && floor[from - 1] == floor[from] {
        from -= 1;
    }
    let mut to = if b < right { b + 1 } else { b };
    while to < right && floor[to] == floor[to - 1] {
        to += 1;
    }
    (from, to)
}

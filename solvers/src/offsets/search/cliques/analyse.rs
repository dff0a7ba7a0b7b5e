//! Propagates within a component: finds valleys and the buffers that lie on their floors, applies forced
//! raises, and rates the possible branches.
//!
//! Only valleys that a decision may have changed are analysed again. A valley depends on its own sections and
//! its walls, and on the places of split buffers. A *level run* is a maximal run of sections with equal
//! floors of which each shares an unplaced buffer with the next.

use super::problem::Cliques;
use super::split::{Least, SplitSet, Tops};
use super::state::State;
use crate::offsets::search::tree::{Branch, Dead, OPEN, Rules};

/// A half-open range of sections.
pub(super) type Window = (u32, u32);

/// Inputs of the analysis in addition to the state.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub problem: &'a Cliques,
    /// The split buffers of the component.
    pub split: &'a [u32],
    pub rules: &'a Rules,
    /// Failure weight of each section. Later failures count more.
    pub weight: &'a [f64],
}

/// Aggregates of the buffers in the valley of a section. Heights are relative to its floor.
#[derive(Clone, Copy, Debug)]
struct Sums {
    /// The total size of the buffers on the floor, minus the same total of the previous section. `options` is
    /// the corresponding difference between the numbers of options.
    fitting: i64,
    options: i32,
    /// Whether a split buffer on the floor is not level.
    is_blocked: bool,
    /// Lowest top of a buffer in the valley whose last section is this one. `starts_here` is the lowest top
    /// of a buffer whose first section is this one.
    ends_here: i64,
    starts_here: i64,
    /// Lowest place above the floor of a buffer of this section in the valley.
    above: i64,
    /// Lowest top of another buffer that may keep a buffer of this section from lying on the floor.
    beside: i64,
}

impl Sums {
    const NONE: Self = Self {
        fitting: 0,
        options: 0,
        is_blocked: false,
        ends_here: OPEN,
        starts_here: OPEN,
        above: OPEN,
        beside: OPEN,
    };
}

/// Reusable arrays of the analysis, most of them indexed by section.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// The sections that have changed since the last analysis.
    pub changed: Vec<Window>,
    /// End of the valley that contains the section, or 0 if there is none.
    valley_end: Vec<u32>,
    sums: Vec<Sums>,
    /// Lowest top of a buffer that starts at or after the section, within its valley.
    after: Vec<i64>,
    /// Number of floors before the section that are bases.
    real_before: Vec<u32>,
    valleys: Vec<(u32, u32, i64)>,
    raises: Vec<(u32, i64)>,
    split: SplitSet,
    tops: Tops,
}

impl Scratch {
    pub fn new(problem: &Cliques) -> Self {
        let sections = problem.sections();
        Self {
            tops: Tops::new(sections),
            split: SplitSet::new(problem.len() - problem.whole),
            changed: Vec::new(),
            valley_end: vec![0; sections + 1],
            sums: vec![Sums::NONE; sections + 1],
            after: vec![OPEN; sections + 2],
            real_before: vec![0; sections + 1],
            valleys: Vec::new(),
            raises: Vec::new(),
        }
    }

    /// Propagates to a fixpoint after the floors of the sections [`Scratch::changed`] have changed.
    ///
    /// On entry, `found[first..]` contains the best branch of every valley before the change. On success, it
    /// contains the best branches after the change. The time is linear in the sections and unplaced buffers
    /// of the affected level runs, in the number of valleys, and in the sections of the split buffers there.
    pub fn look(
        &mut self,
        view: View<'_>,
        state: &mut State<'_>,
        (found, first): (&mut Vec<Branch>, usize),
    ) -> Result<(), Dead> {
        loop {
            if !view.split.is_empty() {
                self.move_split(view, state)?;
                self.tops.forget();
            }
            for window in &mut self.changed {
                *window = runs_around(state, *window);
            }
            merge(&mut self.changed);
            self.raises.clear();
            for at in 0..self.changed.len() {
                let (from, to) = self.changed[at];
                let mut at = first;
                while at < found.len() {
                    if found[at].right <= from || found[at].left >= to {
                        at += 1;
                    } else {
                        found.swap_remove(at);
                    }
                }
                self.analyse(view, state, (from as usize, to as usize), found)?;
            }
            self.changed.clear();
            for &(s, height) in &self.raises {
                state.raise(s as usize, height);
                match self.changed.last_mut() {
                    Some(last) if last.1 == s => last.1 = s + 1,
                    _ => self.changed.push((s, s + 1)),
                }
            }
            if self.changed.is_empty() {
                return Ok(());
            }
        }
    }

    /// Updates the places of the split buffers that the change may have moved. Their sections count as
    /// changed if they have moved.
    fn move_split(&mut self, view: View<'_>, state: &mut State<'_>) -> Result<(), Dead> {
        self.split.clear();
        for at in 0..self.changed.len() {
            let (from, to) = self.changed[at];
            self.split.add(view.problem, state, (from as usize, to as usize));
        }
        if !view.problem.rigid.groups.is_empty() {
            let rigid = view.split.iter().filter(|&&b| view.problem.rigid.of[b as usize].is_some());
            rigid.for_each(|&b| self.split.add_one(view.problem, state, b, 0));
        }
        for at in 0..self.split.list.len() {
            let b = self.split.list[at] as usize;
            if !state.move_up(b, self.split.high(view.problem, b)) {
                continue;
            }
            if state.place(b).offset > state.highest[b] {
                let by_floor = |&&s: &&u32| state.floor[s as usize];
                let highest = view.problem.cover.of_index(b).iter().max_by_key(by_floor);
                return Err(Dead(highest.map_or(0, |&s| s as usize)));
            }
            self.changed.extend_from_slice(view.problem.runs.of_index(b));
        }
        Ok(())
    }

    /// Analyses the level runs in a range of sections.
    fn analyse(
        &mut self,
        view: View<'_>,
        state: &State<'_>,
        (left, right): (usize, usize),
        found: &mut Vec<Branch>,
    ) -> Result<(), Dead> {
        self.find_valleys(state, (left, right));
        self.sum_whole(view.problem, state, left, right)?;
        if !view.split.is_empty() {
            self.split.clear();
            self.split.add(view.problem, state, (left, right));
            for at in 0..self.split.list.len() {
                self.sum_split(view.problem, state, self.split.list[at] as usize, (left, right));
            }
        }
        for v in 0..self.valleys.len() {
            let (left, right, depth) = self.valleys[v];
            let valley = (left as usize, right as usize, depth);
            if let Some(branch) = self.assess_valley(view, state, valley)? {
                found.push(branch);
            }
        }
        Ok(())
    }

    fn find_valleys(&mut self, state: &State<'_>, (left, right): (usize, usize)) {
        self.valleys.clear();
        let (floor, crossing) = (&state.floor, &state.crossing);
        let wall = |s: usize, beside: usize| if crossing[s] > 0 { floor[beside] } else { OPEN };
        let mut from = left;
        let mut real = 0;
        while from < right {
            let height = floor[from];
            let mut to = from;
            while to < right && floor[to] == height && (to == from || crossing[to] > 0) {
                self.real_before[to] = real;
                real += u32::from(state.base[to] == height);
                self.sums[to] = Sums::NONE;
                to += 1;
            }
            let wall_left = if from > 0 { wall(from, from - 1) } else { OPEN };
            let wall_right = if to < floor.len() { wall(to, to) } else { OPEN };
            let is_valley = wall_left > height && wall_right > height && state.open[from] > 0;
            let end = if is_valley { to as u32 } else { 0 };
            self.valley_end[from..to].fill(end);
            if is_valley {
                let wall = wall_left.min(wall_right);
                let depth = if wall == OPEN { OPEN } else { wall - height };
                self.valleys.push((from as u32, to as u32, depth));
            }
            from = to;
        }
        self.real_before[right] = real;
        self.sums[right] = Sums::NONE;
    }

    /// Adds the buffers that are not split.
    fn sum_whole(
        &mut self,
        problem: &Cliques,
        state: &State<'_>,
        left: usize,
        right: usize,
    ) -> Result<(), Dead> {
        let mut dead = None;
        state.each_unplaced(left, right, |b| {
            let (start, end) = (problem.hull[b].0 as usize, problem.hull[b].1 as usize);
            if end > self.valley_end[start] as usize {
                return;
            }
            let (size, floor) = (problem.size[b], state.floor[start]);
            let place = if problem.is_plain[b] { floor } else { state.settled(b, floor) };
            if place > state.highest[b] {
                dead = Some(Dead(start));
            }
            let top = place - floor + size;
            let first = &mut self.sums[start];
            first.starts_here = first.starts_here.min(top);
            let last = &mut self.sums[end - 1];
            last.ends_here = last.ends_here.min(top);
            if place > floor {
                for sums in &mut self.sums[start..end] {
                    sums.above = sums.above.min(place - floor);
                }
                return;
            }
            let supported = self.real_before[end] > self.real_before[start]
                || problem.alignment[b] > 1 && state.is_supported(b);
            let option = i32::from(supported);
            self.add(start, end, size, option);
        });
        dead.map_or(Ok(()), Err)
    }

    /// Adds a split buffer to the valleys between `left` and `right` that it covers in part.
    fn sum_split(&mut self, problem: &Cliques, state: &State<'_>, b: usize, (left, right): (usize, usize)) {
        let (place, size) = (state.place(b), problem.size[b]);
        let runs = problem.runs.of_index(b);
        let option = i32::from(state.can_rest(b));
        // Several runs share the minimum over all sections.
        let beside = (place.is_level && runs.len() > 2)
            .then(|| Least::beside(&mut self.tops, problem, state, b, None));
        let mut last_valley = (0, 0);
        let first = runs.partition_point(|run| run.1 as usize <= left);
        for (at, &(start, end)) in runs.iter().enumerate().skip(first) {
            let (mut s, end) = ((start as usize).max(left), (end as usize).min(right));
            if s >= right {
                break;
            }
            while s < end {
                let valley_end = self.valley_end[s] as usize;
                if valley_end == 0 {
                    s += 1;
                    continue;
                }
                let to = end.min(valley_end);
                let floor = state.floor[s];
                let top = place.offset - floor + size;
                if last_valley.1 == valley_end {
                    // Sections of this valley between two runs.
                    for sums in &mut self.sums[last_valley.0..s] {
                        sums.beside = sums.beside.min(top);
                    }
                } else {
                    self.sums[s].starts_here = self.sums[s].starts_here.min(top);
                }
                let more = runs.get(at + 1).is_some_and(|next| (next.0 as usize) < valley_end);
                if !more {
                    self.sums[to - 1].ends_here = self.sums[to - 1].ends_here.min(top);
                }
                last_valley = (to, valley_end);
                self.sum_run(problem, state, (b, beside), (s, to), option);
                s = to;
            }
        }
    }

    /// Adds a split buffer to the sections `from..to` of a valley, all of which it covers.
    fn sum_run(
        &mut self,
        problem: &Cliques,
        state: &State<'_>,
        (b, least): (usize, Option<Least>),
        (from, to): (usize, usize),
        option: i32,
    ) {
        let (place, size, floor) = (state.place(b), problem.size[b], state.floor[from]);
        if place.offset > floor {
            for sums in &mut self.sums[from..to] {
                sums.above = sums.above.min(place.offset - floor);
            }
            return;
        }
        self.add(from, to, size, option);
        let beside = if place.is_level {
            let valley = self.valley_of(from);
            let outside = least.filter(|least| !(valley.0..valley.1).contains(&least.section));
            let least =
                outside.unwrap_or_else(|| Least::beside(&mut self.tops, problem, state, b, Some(valley)));
            let lowest = match problem.rigid.of[b] {
                None => least.top,
                Some(group) => lowest_beside_group(problem, state, (b, least.top), group),
            };
            if lowest == OPEN { OPEN } else { (lowest - floor).max(problem.alignment[b]) }
        } else {
            OPEN
        };
        for sums in &mut self.sums[from..to] {
            sums.is_blocked |= !place.is_level;
            sums.beside = sums.beside.min(beside);
        }
    }

    /// Adds a buffer that lies on the floor of the sections `from..to` of a valley.
    #[inline]
    fn add(&mut self, from: usize, to: usize, size: i64, option: i32) {
        let first = &mut self.sums[from];
        first.fitting += size;
        first.options += option;
        // Another valley may begin at the end of this one.
        if to < self.valley_end[from] as usize {
            let after = &mut self.sums[to];
            after.fitting -= size;
            after.options -= option;
        }
    }

    /// Returns the valley that contains a section.
    fn valley_of(&self, s: usize) -> (usize, usize) {
        let end = self.valley_end[s];
        let from = self.valleys.partition_point(|&(_, to, _)| to < end);
        (self.valleys[from].0 as usize, end as usize)
    }

    /// Analyses every section of a valley. Returns the best branch, or `None` if floors must be raised first
    /// or no section is ready.
    fn assess_valley(
        &mut self,
        View { problem, rules, weight, .. }: View<'_>,
        state: &State<'_>,
        (from, to, depth): (usize, usize, i64),
    ) -> Result<Option<Branch>, Dead> {
        let mut least = OPEN;
        self.after[to] = OPEN;
        for s in (from..to).rev() {
            least = least.min(self.sums[s].starts_here);
            self.after[s] = least;
        }
        let mut best: Option<Branch> = None;
        let raises_before = self.raises.len();
        let (mut options, mut fitting, mut before) = (0i32, 0i64, OPEN);
        for (s, &weight) in (from..to).zip(&weight[from..to]) {
            let sums = self.sums[s];
            options += sums.options;
            fitting += sums.fitting;
            // A buffer that ends before `s` or starts after `s` does not cover `s`.
            let lowest_beside = before.min(self.after[s + 1]).min(sums.beside);
            before = before.min(sums.ends_here);
            let slack = state.slack(s);
            let wall = depth.min(sums.above);
            let fixed = |height: i64| {
                if problem.has_pins { state.fixed_below(s, state.floor[s] + height) } else { 0 }
            };
            if rules.wall_waste
                && wall != OPEN
                && wall - fitting > slack
                && wall - fitting - fixed(wall) > slack
            {
                return Err(Dead(s));
            }
            if sums.is_blocked {
                continue;
            }
            let raise = wall.min(lowest_beside);
            let may_raise =
                raise <= slack || raise != OPEN && problem.has_pins && raise - fixed(raise) <= slack;
            if options == 0 {
                if !may_raise {
                    return Err(Dead(s));
                }
                self.raises.push((s as u32, state.floor[s] + raise));
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
        Ok(best.filter(|_| self.raises.len() == raises_before))
    }
}

/// Returns the lowest offset to which another buffer can lift a member of a rigid group, if `own` is that to
/// which one beside the member itself can. A buffer under another member may be at any height above its
/// floors.
fn lowest_beside_group(problem: &Cliques, state: &State<'_>, (b, own): (usize, i64), group: u32) -> i64 {
    let members = &problem.rigid.groups[group as usize];
    let distance_of_b = problem.distance(b, group);
    let of_member = |&(m, distance): &(u32, i64)| {
        let m = m as usize;
        if m == b {
            return own;
        }
        let sections = problem.cover.of_index(m).iter().map(|&t| t as usize);
        let tops = sections.flat_map(|t| {
            let others = state.unplaced(t).filter(|&other| problem.rigid.of[other] != Some(group));
            others.map(move |other| state.floor[t] + problem.size[other])
        });
        tops.min().map_or(OPEN, |top| top - (distance - distance_of_b))
    };
    members.iter().map(of_member).min().unwrap_or(OPEN)
}

/// Returns the range of the level runs that overlap a window or are its neighbours.
fn runs_around(state: &State<'_>, (a, b): Window) -> Window {
    let (floor, crossing, sections) = (&state.floor, &state.crossing, state.floor.len());
    let (mut from, mut to) = (a as usize, b as usize);
    if crossing[from] > 0 {
        from -= 1;
    }
    while crossing[from] > 0 && floor[from - 1] == floor[from] {
        from -= 1;
    }
    if to < sections && crossing[to] > 0 {
        to += 1;
    }
    while to < sections && crossing[to] > 0 && floor[to] == floor[to - 1] {
        to += 1;
    }
    (from as u32, to as u32)
}

/// Sorts windows and joins those that overlap.
fn merge(windows: &mut Vec<Window>) {
    if windows.len() < 2 {
        return;
    }
    windows.sort_unstable();
    let mut kept = 0;
    for at in 1..windows.len() {
        let next = windows[at];
        if next.0 <= windows[kept].1 {
            windows[kept].1 = windows[kept].1.max(next.1);
        } else {
            kept += 1;
            windows[kept] = next;
        }
    }
    windows.truncate(kept + 1);
}

//! Assesses the sections of a component: which of them are ready, what may lie on their floors, and how high
//! a floor rises if nothing does.

use super::problem::Cliques;
use super::state::{Dead, Member, State};
use crate::search::valley::Rules;

const OPEN: i64 = i64::MAX;

/// A section on which the search branches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Branch {
    pub section: u32,
    /// The floor that the section has if no buffer lies on its present floor. `None` if this is impossible.
    pub raise: Option<i64>,
}

/// A component: its sections and its unplaced buffers, as ranges of the stacks of [`Assessment`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub sections: (usize, usize),
    pub buffers: (usize, usize),
}

/// What is known of a section, in addition to its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Info {
    /// The lowest top of an unplaced buffer at its place.
    least_top: i64,
    /// The base of the section, or -1 before the first assessment.
    base: i64,
    /// Number of unplaced buffers that may lie on the floor, or `None` if the section is not ready.
    options: Option<u32>,
}

/// What is known of an unplaced buffer, in addition to its place: whether it is closed, and whether it is
/// also supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Standing {
    closed: bool,
    supported: bool,
}

/// A position in the trail of an assessment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    infos: usize,
    standings: usize,
}

/// The assessment of all sections and buffers.
#[derive(Clone, Debug)]
pub(super) struct Assessment {
    /// The sections and the buffers of the open components, as stacks.
    pub sections: Vec<u32>,
    pub buffers: Vec<u32>,
    infos: Vec<Info>,
    standings: Vec<Standing>,
    old_infos: Vec<(u32, Info)>,
    old_standings: Vec<(u32, Standing)>,
    seen_sections: Vec<u32>,
    seen_buffers: Vec<u32>,
    stamp: u32,
    recount: Vec<u32>,
    /// Sections of which the least top or the base has changed, and the lowest place of a buffer that this
    /// may affect.
    affected: Vec<(u32, i64)>,
    ready: Vec<(f64, u32)>,
    forced: Vec<(u32, i64)>,
}

impl Assessment {
    pub fn new(problem: &Cliques) -> Self {
        Self {
            sections: Vec::new(),
            buffers: Vec::new(),
            infos: vec![Info { least_top: OPEN, base: -1, options: None }; problem.sections()],
            standings: vec![Standing { closed: false, supported: false }; problem.len()],
            old_infos: Vec::new(),
            old_standings: Vec::new(),
            seen_sections: vec![0; problem.sections()],
            seen_buffers: vec![0; problem.len()],
            stamp: 0,
            recount: Vec::new(),
            affected: Vec::new(),
            ready: Vec::new(),
            forced: Vec::new(),
        }
    }

    #[inline]
    pub fn mark(&self) -> Mark {
        Mark { infos: self.old_infos.len(), standings: self.old_standings.len() }
    }

    /// Undoes all changes since `mark`.
    pub fn undo(&mut self, mark: Mark) {
        while self.old_infos.len() > mark.infos {
            let (s, info) = self.old_infos.pop().expect("the trail is longer than the mark");
            self.infos[s as usize] = info;
        }
        while self.old_standings.len() > mark.standings {
            let (b, standing) = self.old_standings.pop().expect("the trail is longer than the mark");
            self.standings[b as usize] = standing;
        }
    }

    fn next_stamp(&mut self) -> u32 {
        if self.stamp == u32::MAX {
            self.seen_sections.fill(0);
            self.seen_buffers.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
        self.stamp
    }

    /// Appends the components of the sections in a range of the stack to `parts`.
    pub fn split(
        &mut self,
        problem: &Cliques,
        state: &State<'_>,
        (from, to): (usize, usize),
        parts: &mut Vec<Part>,
    ) {
        let stamp = self.next_stamp();
        for at in from..to {
            let seed = self.sections[at];
            if self.seen_sections[seed as usize] == stamp || state.sections[seed as usize].open == 0 {
                continue;
            }
            let (sections, buffers) = (self.sections.len(), self.buffers.len());
            self.seen_sections[seed as usize] = stamp;
            self.sections.push(seed);
            let mut next = sections;
            while next < self.sections.len() {
                let s = self.sections[next] as usize;
                next += 1;
                for &Member { buffer, .. } in state.unplaced(s) {
                    if std::mem::replace(&mut self.seen_buffers[buffer as usize], stamp) == stamp {
                        continue;
                    }
                    self.buffers.push(buffer);
                    for &t in problem.cover.of_index(buffer as usize) {
                        if std::mem::replace(&mut self.seen_sections[t as usize], stamp) != stamp {
                            self.sections.push(t);
                        }
                    }
                }
            }
            let part =
                Part { sections: (sections, self.sections.len()), buffers: (buffers, self.buffers.len()) };
            parts.push(part);
        }
    }

    /// Assesses what has changed, and applies all forced raises.
    pub fn look(&mut self, problem: &Cliques, state: &mut State<'_>, rules: &Rules) -> Result<(), Dead> {
        while !state.stale.is_empty() {
            self.assess(problem, state, rules)?;
            for at in 0..self.forced.len() {
                let (s, height) = self.forced[at];
                // An earlier raise may have lifted the floor as well.
                if height > state.sections[s as usize].floor {
                    state.raise(s as usize, height)?;
                }
            }
        }
        Ok(())
    }

    fn assess(&mut self, problem: &Cliques, state: &mut State<'_>, rules: &Rules) -> Result<(), Dead> {
        self.forced.clear();
        self.recount.clear();
        self.affected.clear();
        for at in 0..state.stale.len() {
            let s = state.stale[at] as usize;
            let known = self.infos[s];
            let info = Info {
                least_top: least_top(state, s, rules)?,
                base: state.sections[s].base,
                options: known.options,
            };
            if info != known {
                self.old_infos.push((s as u32, known));
                self.infos[s] = info;
                // A buffer below the least top was closed with respect to this section, and remains so.
                let from = if info.base == known.base { known.least_top } else { 0 };
                self.affected.push((s as u32, from));
            }
        }
        let stamp = self.next_stamp();
        for at in 0..state.stale.len() {
            let s = state.stale[at];
            self.seen_sections[s as usize] = stamp;
            self.recount.push(s);
        }
        for at in 0..state.risen.len() {
            let b = state.risen[at];
            if std::mem::replace(&mut self.seen_buffers[b as usize], stamp) != stamp {
                self.stand(problem, state, b as usize, stamp);
            }
        }
        for at in 0..self.affected.len() {
            let (s, from) = self.affected[at];
            for member in state.unplaced(s as usize) {
                let b = member.buffer as usize;
                if member.place >= from && std::mem::replace(&mut self.seen_buffers[b], stamp) != stamp {
                    self.stand(problem, state, b, stamp);
                }
            }
        }
        state.clear_stale();
        for at in 0..self.recount.len() {
            let s = self.recount[at] as usize;
            let options = self.count(state, s);
            if options != self.infos[s].options {
                self.old_infos.push((s as u32, self.infos[s]));
                self.infos[s].options = options;
            }
            if options == Some(0) {
                let height = self.raised(problem, state, s);
                if !can_raise(state, s, height) {
                    return Err(Dead(s));
                }
                self.forced.push((s as u32, height));
            }
        }
        Ok(())
    }

    /// Determines whether a buffer is closed and supported. If this has changed, its sections are counted
    /// again.
    fn stand(&mut self, problem: &Cliques, state: &State<'_>, b: usize, stamp: u32) {
        let (place, cover) = (state.place[b], problem.cover.of_index(b));
        let closed = cover.iter().all(|&s| self.infos[s as usize].least_top > place);
        let standing = Standing { closed, supported: closed && state.is_supported(b) };
        if standing == self.standings[b] {
            return;
        }
        self.old_standings.push((b as u32, self.standings[b]));
        self.standings[b] = standing;
        for &s in cover {
            if std::mem::replace(&mut self.seen_sections[s as usize], stamp) != stamp {
                self.recount.push(s);
            }
        }
    }

    /// Returns the number of buffers that may lie on the floor of a section, or `None` if it is not ready.
    fn count(&self, state: &State<'_>, s: usize) -> Option<u32> {
        let floor = state.sections[s].floor;
        let mut options = 0;
        for member in state.unplaced(s) {
            if member.place == floor {
                let standing = self.standings[member.buffer as usize];
                if !standing.closed {
                    return None;
                }
                options += u32::from(standing.supported);
            }
        }
        (state.sections[s].open > 0).then_some(options)
    }

    /// Returns the floor that a ready section has if no unplaced buffer lies on its present floor.
    fn raised(&mut self, problem: &Cliques, state: &State<'_>, s: usize) -> i64 {
        let stamp = self.next_stamp();
        let floor = state.sections[s].floor;
        let mut height = OPEN;
        for member in state.unplaced(s) {
            self.seen_buffers[member.buffer as usize] = stamp;
            if member.place > floor {
                height = height.min(member.place);
            }
        }
        self.seen_sections[s] = stamp;
        for member in state.unplaced(s).iter().filter(|member| member.place == floor) {
            for &t in problem.cover.of_index(member.buffer as usize) {
                let t = t as usize;
                if std::mem::replace(&mut self.seen_sections[t], stamp) == stamp
                    || self.infos[t].least_top >= height
                {
                    continue;
                }
                for other in state.unplaced(t) {
                    if other.top() < height && self.seen_buffers[other.buffer as usize] != stamp {
                        height = other.top();
                    }
                }
            }
        }
        height
    }

    /// Returns true if a ready section has an unplaced buffer on its floor that fits below `height`, the
    /// result of [`Assessment::raised`] just before, and nothing else can be in its way.
    fn has_hole(&self, problem: &Cliques, state: &State<'_>, s: usize, height: i64) -> bool {
        let (floor, stamp) = (state.sections[s].floor, self.stamp);
        let is_free = |b: usize, top: i64| {
            let others = problem.cover.of_index(b).iter().map(|&t| t as usize);
            let mut others = others.filter(|&t| t != s && state.sections[t].floor < top);
            let inside = |member: &Member| self.seen_buffers[member.buffer as usize] == stamp;
            others.all(|t| state.unplaced(t).iter().all(|member| member.place >= top || inside(member)))
        };
        let fits = |member: &Member| {
            member.place == floor && member.top() <= height && is_free(member.buffer as usize, member.top())
        };
        state.unplaced(s).iter().any(fits)
    }

    /// Returns the most promising ready section of a component.
    pub fn choose(&mut self, problem: &Cliques, state: &State<'_>, part: Part, weight: &[f64]) -> Branch {
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        // Sections with few branches come first. A section that often failed may have more branches.
        let score = |options: u32, s: u32| f64::from(options * options) / weight[s as usize];
        for &s in &self.sections[part.sections.0..part.sections.1] {
            if let Some(options) = self.infos[s as usize].options {
                ready.push((score(options, s), s));
            }
        }
        let mut best: Option<(f64, Branch)> = None;
        let by_score = |x: &(f64, u32), y: &(f64, u32)| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1));
        while let Some(at) = (0..ready.len()).min_by(|&x, &y| by_score(&ready[x], &ready[y])) {
            let (least, s) = ready.swap_remove(at);
            if best.is_some_and(|(known, _)| known <= least) {
                break;
            }
            let height = self.raised(problem, state, s as usize);
            let may_raise =
                can_raise(state, s as usize, height) && !self.has_hole(problem, state, s as usize, height);
            let options = self.infos[s as usize].options.unwrap_or(0) + u32::from(may_raise);
            if best.is_none_or(|(known, _)| score(options, s) < known) {
                let branch = Branch { section: s, raise: may_raise.then_some(height) };
                best = Some((score(options, s), branch));
            }
        }
        self.ready = ready;
        best.expect("a section with the lowest floor is ready").1
    }

    /// Returns true if an unplaced buffer may lie on the floor of a ready section.
    pub fn is_option(&self, state: &State<'_>, s: usize, b: usize) -> bool {
        state.place[b] == state.sections[s].floor && self.standings[b].supported
    }
}

/// Returns true if the slack of a section allows its floor to rise to `height`.
fn can_raise(state: &State<'_>, s: usize, height: i64) -> bool {
    let floor = state.sections[s].floor;
    height != OPEN && height - floor - state.fixed_below(s, height) <= state.slack(s)
}

/// Returns the lowest top of an unplaced buffer of a section. Fails if too much of the section would remain
/// empty.
fn least_top(state: &State<'_>, s: usize, rules: &Rules) -> Result<i64, Dead> {
    let floor = state.sections[s].floor;
    let (mut least_top, mut wall, mut filled) = (OPEN, OPEN, 0);
    for member in state.unplaced(s) {
        least_top = least_top.min(member.top());
        let rests = member.place == floor;
        filled += if rests { member.size } else { 0 };
        wall = wall.min(if rests { OPEN } else { member.place });
    }
    if rules.wall_waste && wall != OPEN && wall - floor > filled {
        let waste = wall - floor - filled - state.fixed_below(s, wall);
        if waste > state.slack(s) {
            return Err(Dead(s));
        }
    }
    Ok(least_top)
}

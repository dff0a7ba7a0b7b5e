//! One pass of a sweep over a window at one capacity.

use super::ahead::Ahead;
use super::border::{Border, Trace, unpack};
use super::end::SweepEnd;
use super::section::{Section, Sections};
use super::step::Step;
use plimsoll_model::Budget;

/// Highest supported capacity, in units. The largest sum that is computed consists of two paths within the
/// capacity and a size. A size is at most a quarter of the largest 32-bit number, so the sum does not
/// overflow.
pub(super) const MOST_UNITS: i32 = i32::MAX / 3;

/// A sweep over the sections `window` at a capacity in units.
#[derive(Clone, Copy, Debug)]
pub struct Pass<'a> {
    pub sections: &'a Sections<'a>,
    /// The pass covers the sections `window.0..window.1`.
    pub window: (usize, usize),
    /// Whether to sweep backwards in time.
    pub backwards: bool,
    /// The capacity in units.
    pub capacity: i64,
    /// Memory limit for the states, in bytes.
    pub bytes: usize,
    /// Number of later sections that lookahead checks.
    pub ahead: usize,
    /// Maximum number of states at a border. If there are more, only the most promising ones are kept, which
    /// is fast but proves nothing. `None` keeps all states.
    pub beam: Option<usize>,
}

impl Pass<'_> {
    /// Runs the sweep. One node of the budget is one expanded state.
    pub fn run(&self, budget: &mut Budget) -> SweepEnd {
        let Some(capacity) = i32::try_from(self.capacity).ok().filter(|&units| units <= MOST_UNITS) else {
            return SweepEnd::TooMany;
        };
        let (from, to) = self.window;
        let length = to - from;
        let place = |step: usize| if self.backwards { to - 1 - step } else { from + step };
        // The swept sections, each with the traces of the states at the border before it.
        let mut past: Vec<(Section, Vec<Trace>)> = Vec::new();
        let mut crossing = Vec::new();
        let mut border = Border::new(0);
        border.insert(&mut [], &mut [0], Trace { parent: 0, mirrored: false, order: 0, estimate: 0 });
        let (mut next, mut spent) = (i64::MAX, 0);
        for at in 0..length {
            let after = (at + 1 < length).then(|| place(at + 1));
            let Some(section) = self.sections.section(place(at), &crossing, after) else {
                return SweepEnd::TooMany;
            };
            let from = if self.beam.is_some() { at } else { at + 1 };
            let parts = if self.beam.is_some() { section.one_by_one() } else { vec![section] };
            for section in parts {
                let later = (from..length).take(self.ahead).map(|later| self.sections.live(place(later)));
                let ahead =
                    later.filter_map(|later| Ahead::of(&section, later, self.sections.reduced)).collect();
                let mut step = Step::new(&section, capacity, self.bytes.saturating_sub(spent), next, ahead);
                step.estimates = self.beam.is_some();
                if let Err(end) = step.advance(&border, budget) {
                    return end;
                }
                let after;
                (after, next) = step.done();
                if after.len() == 0 {
                    return self.nothing_left(next, at);
                }
                let traces = std::mem::replace(&mut border, after).into_traces();
                self.beam.inspect(|&most| border.truncate(most));
                spent += std::mem::size_of_val(&traces[..]);
                crossing = section.crossing();
                past.push((section, traces));
            }
        }
        // No buffer crosses the last border, so one state dominates all others.
        let peak = i64::from(border.peak().unwrap_or_default());
        let last = border.into_traces();
        SweepEnd::Least { peak, offsets: self.trace(&past, &last) }
    }

    /// Returns the result if no state remains after the section with index `at`.
    fn nothing_left(&self, next: i64, at: usize) -> SweepEnd {
        if self.beam.is_some() {
            return SweepEnd::TooMany;
        }
        let (from, to) = self.window;
        // The sections that lookahead used are part of the proof.
        let swept = (at + 1 + self.ahead).min(to - from);
        let refuted = if self.backwards { (to - swept, to) } else { (from, from + swept) };
        SweepEnd::Impossible { next, refuted }
    }

    /// Returns the offsets of the layout represented by the only state at the last border.
    fn trace(&self, past: &[(Section, Vec<Trace>)], last: &[Trace]) -> Vec<i64> {
        let reduced = self.sections.reduced;
        // Per buffer: the buffers directly above it in some section. `below` counts the buffers directly
        // below it.
        let mut above: Vec<Vec<u32>> = vec![Vec::new(); reduced.len()];
        let mut below = vec![0u32; reduced.len()];
        let (mut at, mut upside_down, mut after) = (0, false, last);
        for (section, before) in past.iter().rev() {
            let trace = after[at];
            upside_down ^= trace.mirrored;
            let live = |i: usize| section.live[unpack(trace.order, i)];
            for i in 1..section.live.len() {
                let (low, high) = if upside_down { (live(i), live(i - 1)) } else { (live(i - 1), live(i)) };
                above[low as usize].push(high);
                below[high as usize] += 1;
            }
            (at, after) = (trace.parent as usize, before);
        }
        let mut offsets = vec![0; reduced.len()];
        let mut ready: Vec<usize> = (0..below.len()).filter(|&b| below[b] == 0).collect();
        while let Some(b) = ready.pop() {
            let top = offsets[b] + reduced.spans[b].size;
            for &high in &above[b] {
                let high = high as usize;
                offsets[high] = top.max(offsets[high]);
                below[high] -= 1;
                if below[high] == 0 {
                    ready.push(high);
                }
            }
        }
        offsets
    }
}

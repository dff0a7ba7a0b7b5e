//! The parts of a problem between cuts that a proof can justify, around the steps that need the most memory.
//!
//! A proof cuts before a part by `skip`, and after it by `keep`. The checker confirms a cut only if few
//! downsets must be compared. Around each of these steps, the first cuts to try are the nearest valleys of
//! the best order. If the parts between these cuts are too hard, [`narrow`] proposes other cuts.

use super::draft::{Draft, Reach};
use super::log::{MOST_OPERATORS, Wrong};
use super::narrow::narrow;
use super::net::{State, bits};
use super::run::Side;
use super::search::least;
use plimsoll_model::Budget;
use plimsoll_model::orders::Order;
use std::cell::OnceCell;

/// Maximum number of downsets between two downsets that the checker compares.
const MOST_SETS: usize = 1 << 12;

/// Maximum number of valleys to try on each side of a step.
const MOST_VALLEYS: usize = 32;

/// A part of the problem between two cuts.
pub(super) struct Window {
    /// The groups of operators that run before the part, one per cut.
    pub skipped: Vec<Vec<u32>>,
    /// Whether other operators run after the part.
    pub is_cut_after: bool,
    /// The operators of the part, in ascending order.
    pub operators: Vec<u32>,
    draft: Draft,
    sides: [OnceCell<Side>; 2],
}

impl Window {
    /// Returns true if the part contains an operator.
    pub fn contains(&self, operator: u32) -> bool {
        self.operators.binary_search(&operator).is_ok()
    }

    /// Returns the part in forward (0) or reversed (1) time.
    pub fn side(&self, side: usize, wrong: Option<Wrong>) -> &Side {
        self.sides[side].get_or_init(|| {
            if side == 0 {
                return Side::of(&self.draft);
            }
            let mut turned = self.draft.reversed();
            if wrong == Some(Wrong::Reverse) {
                turned.stores.clone_from(&self.draft.stores);
            }
            Side::of(&turned)
        })
    }
}

fn operators(draft: &Draft) -> Vec<u32> {
    draft.works().map(|work| work.operator.get()).collect()
}

/// A problem that can be cut near the downsets of an order.
pub(super) struct Cutter<'a> {
    draft: &'a Draft,
    order: Vec<u32>,
    /// The live bytes before each step, and after the last one.
    live: Vec<u64>,
    /// The bytes live during each step.
    peaks: Vec<u64>,
    sides: [Side; 2],
    wrong: Option<Wrong>,
    /// The operators of each part that [`narrow`] proposes. Both parts and operators follow `order`.
    parts: OnceCell<Vec<Vec<u32>>>,
}

impl<'a> Cutter<'a> {
    pub fn of(draft: &'a Draft, order: &Order, wrong: Option<Wrong>) -> Self {
        let order: Vec<u32> = order.operators().iter().map(|id| id.get()).collect();
        let sides = [Side::of(draft), Side::of(&draft.reversed())];
        let mut state = State::new(&sides[0].net);
        let (mut live, mut peaks) = (vec![state.live], Vec::with_capacity(order.len()));
        for &node in &order {
            peaks.push(state.run(node).peak.max(live[live.len() - 1]));
            live.push(state.live);
        }
        Self { draft, order, live, peaks, sides, wrong, parts: OnceCell::new() }
    }

    /// Returns the steps at which the order reaches the bound.
    pub fn steps(&self, bound: u64) -> Vec<usize> {
        (0..self.order.len()).filter(|&step| self.peaks[step] >= bound).collect()
    }

    /// Returns the operator that runs at a step.
    pub fn at(&self, step: usize) -> u32 {
        self.order[step]
    }

    /// Returns the whole problem as one part.
    pub fn whole(&self) -> Window {
        self.window(Vec::new(), &self.order, false)
    }

    /// Returns a part around a step. A cut is tried only at a position with fewer live bytes than all
    /// positions between it and the step.
    pub fn near(&self, step: usize) -> Window {
        let first = self.valleys((1..=step).rev()).find(|&at| self.passes(0, &self.order[..at], &[]));
        let first = first.unwrap_or(0);
        let skipped: Vec<Vec<u32>> = if first == 0 { Vec::new() } else { vec![self.order[..first].to_vec()] };
        let turned: Vec<u32> = self.order.iter().rev().copied().collect();
        let n = self.order.len();
        let end = self.valleys(step + 1..n).find(|&at| self.passes(1, &turned[..n - at], &skipped));
        let end = end.unwrap_or(n);
        self.window(skipped, &self.order[first..end], end < n)
    }

    fn valleys(&self, positions: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
        let mut least = u64::MAX;
        let is_lower = move |at: &usize| {
            let is_lower = self.live[*at] < least;
            least = least.min(self.live[*at]);
            is_lower
        };
        positions.filter(is_lower).take(MOST_VALLEYS)
    }

    /// Returns the parts proposed by [`narrow`] in which the order reaches the bound. The parts with the
    /// highest peaks come first.
    pub fn narrowed(&self, bound: u64, budget: &mut Budget) -> Vec<usize> {
        let parts = self.parts.get_or_init(|| {
            let drafts = narrow(self.draft.clone(), &self.order, budget);
            let mut part = vec![0; self.draft.len()];
            for (at, draft) in drafts.iter().enumerate() {
                for id in operators(draft) {
                    part[id as usize] = at;
                }
            }
            let mut parts = vec![Vec::new(); drafts.len()];
            self.order.iter().for_each(|&id| parts[part[id as usize]].push(id));
            parts
        });
        let mut state = State::new(&self.sides[0].net);
        let mut peaks: Vec<(u64, usize)> = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let start = state.live;
            let peak = part.iter().fold(start, |peak, &node| peak.max(state.run(node).peak));
            if peak >= bound {
                peaks.push((peak, at));
            }
        }
        peaks.sort_by_key(|&(peak, at)| (std::cmp::Reverse(peak), at));
        peaks.into_iter().map(|(_, at)| at).collect()
    }

    /// Returns a part proposed by [`narrow`]. If the checker cannot confirm a cut, the parts on both sides of
    /// it are joined.
    pub fn part(&self, at: usize) -> Window {
        let parts = self.parts.get().map_or(&[][..], Vec::as_slice);
        let (skipped, mut own) = self.skipped(&parts[..at]);
        own.extend(&parts[at]);
        let mut last = at + 1;
        let turned = |part: &[Vec<u32>]| part.iter().flatten().rev().copied().collect::<Vec<u32>>();
        while last < parts.len() && !self.passes(1, &turned(&parts[last..]), &skipped) {
            own.extend(&parts[last]);
            last += 1;
        }
        self.window(skipped, &own, last < parts.len())
    }

    /// Returns the groups of operators that a proof can skip in sequence, and the remaining operators.
    fn skipped(&self, parts: &[Vec<u32>]) -> (Vec<Vec<u32>>, Vec<u32>) {
        let all = parts.concat();
        if all.is_empty() || self.passes(0, &all, &[]) {
            return (Some(all).into_iter().filter(|all| !all.is_empty()).collect(), Vec::new());
        }
        let Side { net, reach } = &self.sides[0];
        let (mut start, mut groups, mut own) = (State::new(net), Vec::new(), Vec::new());
        for part in parts {
            own.extend(part);
            let mut state = start.clone();
            if passes(&mut state, reach, &own, &[]) {
                groups.push(std::mem::take(&mut own));
                start = state;
            }
        }
        (groups, own)
    }

    /// Returns true if `group` can run first in one direction of time, in a problem without the operators in
    /// `gone`.
    fn passes(&self, side: usize, group: &[u32], gone: &[Vec<u32>]) -> bool {
        let Side { net, reach } = &self.sides[side];
        self.wrong == Some([Wrong::Skip, Wrong::Keep][side])
            || passes(&mut State::new(net), reach, group, gone)
    }

    fn window(&self, skipped: Vec<Vec<u32>>, own: &[u32], is_cut_after: bool) -> Window {
        let mut stage = vec![2u32; self.draft.len()];
        skipped.iter().flatten().for_each(|&id| stage[id as usize] = 0);
        for &id in own {
            stage[id as usize] = 1;
        }
        // `split` omits parts without operators.
        let mut drafts =
            self.draft.clone().split(&stage, 3).into_iter().skip(usize::from(!skipped.is_empty()));
        let draft = drafts.next().unwrap_or_default();
        Window { skipped, is_cut_after, operators: operators(&draft), draft, sides: Default::default() }
    }
}

/// Runs `group`, whose order is topological, in a problem without the operators in `gone`. Let `L` be the
/// nodes of the group on which all remaining nodes depend. Returns true if nodes remain, if no downset
/// between `L` and the whole group has fewer live bytes than the state afterwards, and if the checker can
/// confirm this.
fn passes(state: &mut State<'_>, reach: &Reach, group: &[u32], gone: &[Vec<u32>]) -> bool {
    for &node in group {
        state.run(node);
    }
    let mut inside = vec![u64::MAX; reach.words];
    gone.iter().flatten().for_each(|&node| inside[node as usize / 64] &= !(1 << (node % 64)));
    let mut common = vec![u64::MAX; reach.words];
    let mut remain = false;
    for node in bits(&state.ready).filter(|node| inside[*node as usize / 64] >> (node % 64) & 1 == 1) {
        remain = true;
        common.iter_mut().zip(reach.before(node as usize)).for_each(|(own, before)| *own &= before);
    }
    let is_free = |node: &u32| common[*node as usize / 64] >> (node % 64) & 1 == 0;
    let free: Vec<(u32, u64)> = group.iter().copied().filter(is_free).map(|node| (node, 0)).collect();
    let mut looks = MOST_SETS - 1;
    remain && free.len() <= MOST_OPERATORS && least(state.net, state, &free, &mut looks)
}

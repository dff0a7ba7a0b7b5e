//! The parts of a problem between cuts that a proof can justify.
//!
//! [`narrow`] proposes cuts. A proof cuts before a part by `skip`, and after it by `keep`. The checker confirms
//! a cut only if few downsets must be compared, so parts are joined where it could not.

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

/// A part of the problem between two cuts.
pub(super) struct Window {
    /// The groups of operators that run before it, one per cut.
    pub skipped: Vec<Vec<u32>>,
    /// Whether other operators run after it.
    pub is_cut_after: bool,
    /// Its operators in ascending order.
    pub operators: Vec<u32>,
    draft: Draft,
    sides: [OnceCell<Side>; 2],
}

impl Window {
    /// Returns the whole problem as one part.
    pub fn whole(draft: Draft) -> Self {
        let operators = operators(&draft);
        Self { skipped: Vec::new(), is_cut_after: false, operators, draft, sides: Default::default() }
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

/// The proposed parts, in order.
pub(super) struct Proposal<'a> {
    draft: &'a Draft,
    /// Per part: its operators, in the order given.
    parts: Vec<Vec<u32>>,
    sides: [OnceCell<Side>; 2],
    wrong: Option<Wrong>,
}

impl<'a> Proposal<'a> {
    /// Proposes cuts near the downsets of `order`.
    pub fn of(
        draft: &'a Draft,
        order: &Order,
        cuts: bool,
        wrong: Option<Wrong>,
        budget: &mut Budget,
    ) -> Self {
        let order: Vec<u32> = order.operators().iter().map(|id| id.get()).collect();
        let sides = Default::default();
        if !cuts {
            return Self { draft, parts: vec![order], sides, wrong };
        }
        if matches!(wrong, Some(Wrong::Skip | Wrong::Keep)) {
            return Self { draft, parts: order.into_iter().map(|id| vec![id]).collect(), sides, wrong };
        }
        let drafts = narrow(draft.clone(), &order, budget);
        let mut part = vec![0; draft.len()];
        for (at, draft) in drafts.iter().enumerate() {
            operators(draft).into_iter().for_each(|id| part[id as usize] = at);
        }
        let mut parts = vec![Vec::new(); drafts.len()];
        order.into_iter().for_each(|id| parts[part[id as usize]].push(id));
        Self { draft, parts, sides, wrong }
    }

    /// Returns the parts in which the order reaches the bound. Those with the highest peaks come first.
    pub fn critical(&self, bound: u64) -> Vec<usize> {
        let mut state = State::new(&self.side(0).net);
        let mut peaks: Vec<(u64, usize)> = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            let start = state.live;
            let peak = part.iter().fold(start, |peak, &node| peak.max(state.run(node).peak));
            if peak >= bound {
                peaks.push((peak, at));
            }
        }
        peaks.sort_by_key(|&(peak, at)| (std::cmp::Reverse(peak), at));
        peaks.into_iter().map(|(_, at)| at).collect()
    }

    fn side(&self, side: usize) -> &Side {
        self.sides[side]
            .get_or_init(|| if side == 0 { Side::of(self.draft) } else { Side::of(&self.draft.reversed()) })
    }

    /// Returns a part with cuts that the checker can confirm. If it cannot confirm a cut, the parts on both
    /// sides of it are joined.
    pub fn window(&self, at: usize) -> Window {
        let (skipped, mut own) = self.skipped(at);
        own.extend(&self.parts[at]);
        let mut last = at;
        while last + 1 < self.parts.len() && !self.keeps(&skipped, last) {
            last += 1;
            own.extend(&self.parts[last]);
        }
        let mut stage = vec![2u32; self.draft.len()];
        skipped.iter().flatten().for_each(|&id| stage[id as usize] = 0);
        own.iter().for_each(|&id| stage[id as usize] = 1);
        let draft = self.draft.clone().split(&stage, 3).into_iter();
        // Parts without operators are omitted.
        let draft = draft.skip(usize::from(!skipped.is_empty())).next().unwrap_or_default();
        Window { skipped, is_cut_after: last + 1 < self.parts.len(), ..Window::whole(draft) }
    }

    /// Returns the groups of operators that can be skipped, one by one, before a part, and the operators
    /// before the part that cannot.
    fn skipped(&self, at: usize) -> (Vec<Vec<u32>>, Vec<u32>) {
        let Side { net, reach } = self.side(0);
        let is_wrong = self.wrong == Some(Wrong::Skip);
        let inside = vec![u64::MAX; net.words()];
        let all = self.parts[..at].concat();
        if all.is_empty() || is_wrong || passes(&mut State::new(net), reach, &all, &inside) {
            return (Some(all).into_iter().filter(|all| !all.is_empty()).collect(), Vec::new());
        }
        let (mut state, mut groups, mut own) = (State::new(net), Vec::new(), Vec::new());
        let mut start = state.clone();
        for part in &self.parts[..at] {
            own.extend(part);
            state.clone_from(&start);
            if passes(&mut state, reach, &own, &inside) {
                groups.push(std::mem::take(&mut own));
                start.clone_from(&state);
            }
        }
        (groups, own)
    }

    /// Returns true if the parts up to `last`, without the skipped operators, can be kept.
    fn keeps(&self, skipped: &[Vec<u32>], last: usize) -> bool {
        let Side { net, reach } = self.side(1);
        let mut inside = vec![u64::MAX; net.words()];
        skipped.iter().flatten().for_each(|&id| inside[id as usize / 64] &= !(1 << (id % 64)));
        let rest: Vec<u32> =
            self.parts[last + 1..].iter().rev().flat_map(|part| part.iter().rev()).copied().collect();
        self.wrong == Some(Wrong::Keep) || passes(&mut State::new(net), reach, &rest, &inside)
    }
}

/// Runs `group`, whose order is topological. Returns true if no downset between the nodes of the group on
/// which all remaining nodes `inside` depend, and the whole group, has fewer live bytes than the state
/// afterwards, and if the checker can confirm this.
fn passes(state: &mut State<'_>, reach: &Reach, group: &[u32], inside: &[u64]) -> bool {
    for &node in group {
        state.run(node);
    }
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

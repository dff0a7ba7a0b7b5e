//! A dynamic program over tensors in the order in which they become live.
//!
//! A *state* records the tier of every live tensor and the cost so far. All decided tensors begin no later
//! than the next tensor. From the first step of the next tensor onwards, the usage by decided tensors only
//! decreases, so checking the bytes at that step suffices. Two states are equivalent if they agree on all
//! cuts and, for every tier and step, on the total size of the live tensors that compete for space in the
//! tier and end at the step. Of equivalent states, only the cheapest is kept. The *bound* of a state is its
//! cost plus a dual bound on the cost of the remaining tensors. A state is pruned if its bound is at least
//! the cost of the best plan. If there are more states than a given width, those with the lowest bounds are
//! kept (a beam). The lowest bound of the dropped states remains a lower bound on the cost of every plan that
//! completes a dropped state. A run that dropped no state is exhaustive.
//!
//! In full, the bound is the cost of the state plus two sums minus a third sum:
//! - Each undecided tensor contributes to the first sum the minimum, over its tiers, of its time plus its
//!   size times the multipliers of its steps.
//! - Each live tensor contributes to the second sum its size times the multipliers of its tier, from the
//!   current step until the tensor ends.
//! - Each tier contributes to the third sum its capacity times its multipliers from the current step on.
//!
//! If a capacity is divided into parts, the shares of the tensors replace their sizes, and the number of
//! parts replaces the capacity.
//!
//! A *cut* is a set of tensors that do not fit into a tier although their bytes fit at every step. For each
//! cut with a decided tensor, a state records whether all decided tensors of the cut are in that tier.

use super::case::{Case, Choice, PARTS};
use plimsoll_model::tiers::{MULTIPLIER_UNIT, TierMultiplier};
use plimsoll_model::{Budget, TierId};

/// Tensors that must not all be in one tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub tier: TierId,
    /// The tensors, in ascending order.
    pub members: Vec<usize>,
}

pub(super) struct Found {
    /// The cheapest plan found that takes less than the given time: its cost, and the choice of every tensor.
    pub best: Option<(u64, Vec<Choice>)>,
    /// The lowest total cost that the bounds of the dropped states allow, or `None` if no state was dropped.
    pub dropped: Option<u64>,
}

/// The total size of those live tensors that are in the same tier and end at the same step. Tensors that
/// never compete for space in the tier do not count.
#[derive(Clone, Copy, Debug)]
struct Held {
    tier: u8,
    upper: u32,
    size: u64,
    /// The total shares of these tensors, by number of parts. They affect only bounds.
    parts: [u32; PARTS],
}

impl Held {
    /// Returns everything on which the feasibility of later choices depends, apart from cuts.
    fn key(&self) -> (u8, u32, u64) {
        (self.tier, self.upper, self.size)
    }
}

#[derive(Clone, Debug)]
struct State {
    held: Vec<Held>,
    /// The cuts, in ascending order, that have at least one decided tensor and whose decided tensors are all
    /// in the tier of the cut.
    cuts: Vec<u32>,
    cost: u64,
    /// Lower bound on the cost of any completion, times 2^16.
    bound: i128,
    /// Index of the stored node, for backtracking.
    node: u32,
}

#[derive(Clone, Copy)]
struct Node {
    before: u32,
    choice: u8,
}

/// The effect of one tensor on a cut.
struct Turn {
    cut: u32,
    tier: TierId,
    is_first: bool,
    is_last: bool,
}

fn held(choice: &Choice, upper: usize) -> Held {
    let tier = choice.tier.index() as u8;
    Held { tier, upper: upper as u32, size: choice.size, parts: choice.parts }
}

/// A search over one case with fixed multipliers.
pub(super) struct Search<'a> {
    case: &'a Case<'a>,
    /// Per tier: prefix sums of the multipliers over the steps, one row per way of counting (0 for bytes,
    /// otherwise the number of parts).
    paid: Vec<Vec<(usize, Vec<i128>)>>,
    /// Per position in the order: the sum, over the tensors from this position onwards, of the minimum over
    /// tiers of time plus multipliers times size.
    rest: Vec<i128>,
    /// Per step: the sum of multiplier times capacity over all tiers, from this step on.
    income: Vec<i128>,
}

impl<'a> Search<'a> {
    /// Computes the sums of the multipliers. The time is O(t (n + s)) for n tensors, t tiers and s steps.
    pub fn new(case: &'a Case<'a>, multipliers: &[TierMultiplier]) -> Self {
        let problem = case.problem;
        let duration = problem.duration();
        let mut paid: Vec<Vec<(usize, Vec<i128>)>> = vec![Vec::new(); problem.spaces().len()];
        let mut income = vec![0i128; duration + 1];
        for one in multipliers {
            let (lines, parts) = (&mut paid[one.tier.index()], one.parts as usize);
            let at = lines.iter().position(|(own, _)| *own == parts).unwrap_or_else(|| {
                lines.push((parts, vec![0; duration + 1]));
                lines.len() - 1
            });
            lines[at].1[one.step + 1] = i128::from(one.multiplier);
            let bytes = i128::from(problem.space(one.tier).capacity.get());
            income[one.step] += i128::from(one.multiplier) * if parts == 0 { bytes } else { parts as i128 };
        }
        for (_, line) in paid.iter_mut().flatten() {
            for step in 0..duration {
                line[step + 1] += line[step];
            }
        }
        for step in (0..duration).rev() {
            income[step] += income[step + 1];
        }
        let mut search = Self { case, paid, rest: Vec::new(), income };
        let mut rest = vec![0i128; case.order.len() + 1];
        for (place, &at) in case.order.iter().enumerate().rev() {
            let one = &problem.tensors()[at];
            let all = |choice: &Choice| {
                let pays = search.pays(&held(choice, one.upper), one.lower);
                (i128::from(choice.cost) << MULTIPLIER_UNIT) + pays
            };
            let least = case.options[at].iter().map(all).min();
            rest[place] = rest[place + 1] + least.unwrap_or(0);
        }
        search.rest = rest;
        search
    }

    /// Returns the size of the tensors in `held`, or their share of the parts, times the multipliers from the
    /// step `lower` until these tensors end. The result is the sum over all ways of counting.
    fn pays(&self, held: &Held, lower: usize) -> i128 {
        let pays = |(parts, line): &(usize, Vec<i128>)| {
            let weight = parts.checked_sub(1).map_or(i128::from(held.size), |at| i128::from(held.parts[at]));
            weight * (line[held.upper as usize] - line[lower])
        };
        self.paid[usize::from(held.tier)].iter().map(pays).sum()
    }

    /// Returns the step at which the tensor at a position of the order becomes live, or the duration if the
    /// position is past the end of the order.
    fn step(&self, place: usize) -> usize {
        let tensors = self.case.problem.tensors();
        self.case.order.get(place).map_or(self.case.problem.duration(), |&at| tensors[at].lower)
    }

    fn bound(&self, place: usize, cost: u64, held: &[Held]) -> i128 {
        let step = self.step(place);
        let pays = held.iter().map(|one| self.pays(one, step));
        (i128::from(cost) << MULTIPLIER_UNIT) + self.rest[place] + pays.sum::<i128>() - self.income[step]
    }

    /// Returns the least possible total cost that a bound allows.
    fn least(&self, bound: i128) -> u64 {
        let whole = (bound.max(0) + (1 << MULTIPLIER_UNIT) - 1) >> MULTIPLIER_UNIT;
        self.case.next_sum(u64::try_from(whole).unwrap_or(u64::MAX))
    }

    /// Returns the effects of each tensor on the cuts, by position in the order.
    fn turns(&self, cuts: &[Cut]) -> Vec<Vec<Turn>> {
        let mut place = vec![0; self.case.order.len()];
        for (at, &tensor) in self.case.order.iter().enumerate() {
            place[tensor] = at;
        }
        let mut turns: Vec<Vec<Turn>> = place.iter().map(|_| Vec::new()).collect();
        for (at, cut) in cuts.iter().enumerate() {
            let mut places: Vec<usize> = cut.members.iter().map(|&tensor| place[tensor]).collect();
            places.sort_unstable();
            for (which, &here) in places.iter().enumerate() {
                let (is_first, is_last) = (which == 0, which + 1 == places.len());
                turns[here].push(Turn { cut: at as u32, tier: cut.tier, is_first, is_last });
            }
        }
        turns
    }

    /// Looks for a plan that takes less time than `below`, while keeping at most `width` states. One node of
    /// the budget is one generated state. Returns `None` if the budget runs out.
    pub fn run(&self, below: u64, width: usize, cuts: &[Cut], budget: &mut Budget) -> Option<Found> {
        let turns = self.turns(cuts);
        let mut nodes: Vec<Node> = vec![Node { before: 0, choice: 0 }];
        let root =
            State { held: Vec::new(), cuts: Vec::new(), cost: 0, bound: self.bound(0, 0, &[]), node: 0 };
        let mut layer = vec![root];
        let mut dropped: Option<u64> = None;
        for (place, turns) in turns.iter().enumerate() {
            let mut next = Vec::new();
            for state in &layer {
                for (which, choice) in self.case.options[self.case.order[place]].iter().enumerate() {
                    if budget.tick().is_some() {
                        return None;
                    }
                    if let Some(mut child) = self.child(place, state, *choice, turns)
                        && self.least(child.bound) < below
                    {
                        // Until the state has a node, this field contains its index in `next`.
                        child.node = (next.len()) as u32;
                        next.push((child, state.node, which as u8));
                    }
                }
            }
            next.sort_by(|(a, ..), (b, ..)| {
                let keys = a.held.iter().map(Held::key).cmp(b.held.iter().map(Held::key));
                let keys = keys.then_with(|| a.cuts.cmp(&b.cuts));
                keys.then(a.cost.cmp(&b.cost)).then(a.node.cmp(&b.node))
            });
            next.dedup_by(|(later, ..), (first, ..)| {
                later.cuts == first.cuts
                    && later.held.iter().map(Held::key).eq(first.held.iter().map(Held::key))
            });
            if next.len() > width {
                next.sort_by(|(a, ..), (b, ..)| a.bound.cmp(&b.bound).then(a.node.cmp(&b.node)));
                let least = self.least(next[width].0.bound);
                dropped = Some(dropped.map_or(least, |dropped| dropped.min(least)));
                next.truncate(width);
            }
            layer.clear();
            for (mut state, before, choice) in next {
                state.node = nodes.len() as u32;
                nodes.push(Node { before, choice });
                layer.push(state);
            }
        }
        let best = layer.first().map(|state| (state.cost, self.choices(&nodes, state.node)));
        Some(Found { best, dropped })
    }

    fn child(&self, place: usize, state: &State, choice: Choice, turns: &[Turn]) -> Option<State> {
        let tensor = &self.case.problem.tensors()[self.case.order[place]];
        let tier = choice.tier.index() as u8;
        if !choice.free {
            let used: u64 = state.held.iter().filter(|one| one.tier == tier).map(|one| one.size).sum();
            if used + choice.size > self.case.problem.space(choice.tier).capacity.get() {
                return None;
            }
        }
        let mut cuts = state.cuts.clone();
        for turn in turns {
            let so_far = turn.is_first || cuts.binary_search(&turn.cut).is_ok();
            let now = so_far && turn.tier == choice.tier;
            if now && turn.is_last {
                return None;
            }
            match cuts.binary_search(&turn.cut) {
                Ok(at) if !now => drop(cuts.remove(at)),
                Err(at) if now => cuts.insert(at, turn.cut),
                _ => {}
            }
        }
        let step = self.step(place + 1);
        let mut held: Vec<Held> =
            state.held.iter().copied().filter(|one| one.upper as usize > step).collect();
        if !choice.free && tensor.upper > step {
            let own = self::held(&choice, tensor.upper);
            match held.binary_search_by_key(&(tier, own.upper), |one| (one.tier, one.upper)) {
                Ok(at) => {
                    held[at].size += own.size;
                    (0..PARTS).for_each(|part| held[at].parts[part] += own.parts[part]);
                }
                Err(at) => held.insert(at, own),
            }
        }
        let cost = state.cost + choice.cost;
        // The bound of the predecessor is also valid for this state.
        let bound = self.bound(place + 1, cost, &held).max(state.bound);
        Some(State { held, cuts, cost, bound, node: 0 })
    }

    /// Returns the choice of every tensor on the path to a node.
    fn choices(&self, nodes: &[Node], mut node: u32) -> Vec<Choice> {
        let mut chosen: Vec<Option<Choice>> = vec![None; self.case.order.len()];
        for &at in self.case.order.iter().rev() {
            let Node { before, choice } = nodes[node as usize];
            chosen[at] = Some(self.case.options[at][usize::from(choice)]);
            node = before;
        }
        chosen.into_iter().flatten().collect()
    }
}

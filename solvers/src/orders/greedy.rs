//! Fast greedy orders, which serve as initial solutions.

use super::net::{Net, State, bits};
use plimsoll_model::Budget;
use std::collections::BTreeSet;

/// The node to run next if each ready node raises the live bytes or the peak so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The node that [`Front::lowest`] returns.
    Peak,
    /// The node that adds the fewest live bytes.
    Live,
    /// The node with the lowest peak among the ready successors of the node that ran last. If there are none,
    /// the rule is that of `Peak`.
    Depth,
}

/// Returns the best order and its peak. The candidates are the topological order `sorted` and several greedy
/// orders, built forwards or backwards. Each greedy order takes about O(s log n) time for n nodes and a net
/// of size s. Orders that are not finished within the budget are skipped.
pub(super) fn greedy(net: &Net, backwards: &Net, sorted: Vec<u32>, budget: &mut Budget) -> (Vec<u32>, u64) {
    let mut best = (net.peak(&sorted), sorted);
    for rule in [Rule::Peak, Rule::Live, Rule::Depth] {
        for (turned, side) in [(false, net), (true, backwards)] {
            let Some(mut order) = Front::new(side).order(rule, budget) else { break };
            if turned {
                order.reverse();
            }
            let peak = net.peak(&order);
            if peak < best.0 {
                best = (peak, order);
            }
        }
    }
    (best.1, best.0)
}

/// The ready nodes, sorted by their effect on the live bytes. The effect of a node changes only when one of
/// its storages begins or has a single remaining user.
struct Front<'a> {
    state: State<'a>,
    /// Keys: the bytes that the node adds, the bytes that it needs above the live bytes while it runs, and
    /// the node. In `by_rise`, the first two are exchanged.
    by_change: BTreeSet<(i128, i128, u32)>,
    by_rise: BTreeSet<(i128, i128, u32)>,
    effects: Vec<Option<(i128, i128)>>,
    peak: i128,
}

impl<'a> Front<'a> {
    fn new(net: &'a Net) -> Self {
        let (state, effects) = (State::new(net), vec![None; net.len()]);
        let peak = i128::from(state.live);
        let mut front = Self { state, by_change: BTreeSet::new(), by_rise: BTreeSet::new(), effects, peak };
        for node in bits(&front.state.ready.clone()) {
            front.learn(node);
        }
        front
    }

    fn forget(&mut self, node: u32) {
        if let Some((change, rise)) = self.effects[node as usize].take() {
            self.by_change.remove(&(change, rise, node));
            self.by_rise.remove(&(rise, change, node));
        }
    }

    /// Computes the keys of a ready node.
    fn learn(&mut self, node: u32) {
        self.forget(node);
        let (effect, live) = (self.state.probe(node), i128::from(self.state.live));
        let (change, rise) = (i128::from(effect.live) - live, i128::from(effect.peak) - live);
        self.effects[node as usize] = Some((change, rise));
        self.by_change.insert((change, rise, node));
        self.by_rise.insert((rise, change, node));
    }

    fn run(&mut self, node: u32) {
        self.forget(node);
        let net = self.state.net;
        self.peak = self.peak.max(i128::from(self.state.run(node).peak));
        for &next in &net.after[node as usize] {
            if self.state.is_ready(next) {
                self.learn(next);
            }
        }
        for &s in net.touch(node) {
            if self.state.has_turned(s) {
                for &user in &net.held[s as usize].users {
                    if self.state.is_ready(user) {
                        self.learn(user);
                    }
                }
            }
        }
    }

    /// Returns a node that raises neither the live bytes nor the peak so far, if any.
    fn free(&self) -> Option<u32> {
        let space = self.peak - i128::from(self.state.live);
        let free = self.by_change.iter().take_while(|(change, _, _)| *change <= 0);
        free.filter(|(_, rise, _)| *rise <= space).map(|&(_, _, node)| node).next()
    }

    /// Returns the node that adds the fewest bytes among those that do not raise the peak so far. If there is
    /// none, returns the node that raises the peak least.
    fn lowest(&self) -> Option<u32> {
        let space = self.peak - i128::from(self.state.live);
        let within = self.by_change.iter().find(|(_, rise, _)| *rise <= space);
        within.or_else(|| self.by_rise.first()).map(|&(_, _, node)| node)
    }

    fn order(mut self, rule: Rule, budget: &mut Budget) -> Option<Vec<u32>> {
        let net = self.state.net;
        let mut order: Vec<u32> = Vec::with_capacity(net.len());
        while order.len() < net.len() {
            if order.len().is_multiple_of(256) && budget.check().is_some() {
                return None;
            }
            let next = self.free().or_else(|| match rule {
                Rule::Peak => self.lowest(),
                Rule::Live => self.by_change.first().map(|&(_, _, node)| node),
                Rule::Depth => {
                    let last = order.last().map_or(&[][..], |&last| net.after[last as usize].as_slice());
                    let ready = last.iter().copied().filter(|&node| self.state.is_ready(node));
                    let next = ready.min_by_key(|&node| (self.effects[node as usize].map(|e| e.1), node));
                    next.or_else(|| self.lowest())
                }
            });
            let node = next?;
            self.run(node);
            order.push(node);
        }
        Some(order)
    }
}

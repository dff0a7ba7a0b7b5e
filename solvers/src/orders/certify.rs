//! Writes proofs of lower bounds on the peaks of orders. The crate `plimsoll-proof` checks them.
//!
//! A bound with a simple witness is proved in one line. For a bound that rests on a completed search, a
//! separate search covers all orders below the bound: it visits downsets by increasing size, and logs for
//! each how it is refuted. The proof therefore never depends on the search that it confirms. It uses only
//! rules of the format: safe runs (`settle`), the bytes that a remaining operator needs (`ahead`), cuts at
//! downsets that some order within the limit passes through (`narrow`), and the direction of time.

use super::ahead::Ahead;
use super::draft::{Draft, Reach};
use super::greedy::greedy;
use super::narrow::narrow;
use super::net::{Net, State, bits};
use super::search::tick;
use super::settle::{Settling, settle};
use crate::search::learn::NoProof;
use plimsoll_model::orders::{Order, OrderProblem, REACH_OPERATORS, around_bound};
use plimsoll_model::{Budget, Bytes, LowerBound, Witness};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Maximum number of downsets in the first round. Each later round starts again with [`GROWTH`] times as
/// many.
const FIRST_ROUND: u64 = 1 << 11;
/// See [`FIRST_ROUND`].
const GROWTH: u64 = 8;
/// The limits of the checker: the operators and the sets of them that it compares in one step, and the bytes
/// of the sets that are not yet refuted.
const MOST_OPERATORS: usize = 64;
const MOST_SETS: usize = 1 << 12;
const MOST_BYTES: usize = 1 << 30;

/// A proof that no order of a problem has a peak below a bound.
#[derive(Clone, Debug)]
pub struct OrderProof {
    bound: u64,
    /// The statements after the bound.
    body: String,
}

/// The rules of the search for a proof.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoverRules {
    /// Sequences of operators that run without alternatives.
    pub settling: Settling,
    /// Cuts at downsets, and both directions of time.
    pub cuts: bool,
    /// The rule that a test makes unsound.
    pub wrong: Option<Wrong>,
}

/// Rules that tests make unsound, one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code, reason = "only tests use unsound rules"))]
pub(super) enum Wrong {
    /// Operators run without alternatives although they raise the live bytes.
    Run,
    /// An operator that needs one byte less than the bound refutes a downset.
    Needs,
    /// Cuts need no justification.
    Cut,
}

impl Default for CoverRules {
    fn default() -> Self {
        Self { settling: Settling::default(), cuts: true, wrong: None }
    }
}

impl OrderProof {
    /// Proves a bound. `order` is the best known order, near which cuts are sought.
    ///
    /// The time is exponential in the worst case if the bound rests on a search, and otherwise linear.
    ///
    /// # Errors
    /// [`NoProof`] if the bound cannot be proved within the budget.
    pub fn of(
        problem: &OrderProblem,
        bound: &LowerBound,
        order: &Order,
        budget: &mut Budget,
    ) -> Result<Self, NoProof> {
        Self::by(problem, bound, order, CoverRules::default(), budget)
    }

    pub(super) fn by(
        problem: &OrderProblem,
        bound: &LowerBound,
        order: &Order,
        rules: CoverRules,
        budget: &mut Budget,
    ) -> Result<Self, NoProof> {
        let value = bound.value;
        if value == Bytes::ZERO {
            return Err(NoProof::Nothing);
        }
        let simple = around_bound(problem);
        let witness = if simple.value >= value { &simple.witness } else { &bound.witness };
        let body = match witness {
            Witness::Start | Witness::End => "held\n".to_owned(),
            Witness::Around { operator } => format!("x {operator}\n"),
            Witness::Search { .. } => searched(problem, value.get(), order, rules, budget)?,
            other => return Err(NoProof::Unsupported(other.to_string())),
        };
        Ok(Self { bound: value.get(), body })
    }

    /// Returns the bound in bytes.
    pub fn bound(&self) -> Bytes {
        Bytes::new(self.bound)
    }

    /// Writes the section of a region: its name, its problem, the bound and the proof. Linear.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write(&self, region: &str, problem: &OrderProblem, file: &mut dyn Write) -> io::Result<()> {
        writeln!(file, "region {}", plimsoll_model::csv::listed_id(region))?;
        write_problem(problem, file)?;
        write!(file, "bound {}\n{}", self.bound, self.body)
    }
}

/// Writes the operators and storages of a problem as the statements of a proof. Linear.
///
/// # Errors
/// Errors of the writer.
pub fn write_problem(problem: &OrderProblem, file: &mut dyn Write) -> io::Result<()> {
    let list = |file: &mut dyn Write, ids: &[plimsoll_model::OperatorId]| {
        ids.iter().try_for_each(|id| write!(file, " {id}"))?;
        writeln!(file)
    };
    for id in problem.ids() {
        write!(file, "operator {}", problem.scratch(id).get())?;
        list(file, problem.predecessors(id))?;
    }
    for storage in problem.storages() {
        write!(file, "storage {}", storage.size.get())?;
        write!(file, "{}", if storage.from_start { " start" } else { "" })?;
        write!(file, "{}", if storage.to_end { " end" } else { "" })?;
        list(file, &storage.users)?;
    }
    Ok(())
}

/// A part of the problem between two cuts, in both directions of time.
struct Window {
    /// The operators before the part, cut by cut, and those of the part; empty without cuts.
    skipped: usize,
    operators: Vec<u32>,
    nets: [(Net, Reach); 2],
    /// The peak of a greedy order.
    peak: u64,
}

/// Covers the orders below a bound. Tries all parts between cuts, in both directions of time, with growing
/// limits.
fn searched(
    problem: &OrderProblem,
    bound: u64,
    order: &Order,
    rules: CoverRules,
    budget: &mut Budget,
) -> Result<String, NoProof> {
    if problem.len() > REACH_OPERATORS {
        return Err(NoProof::Unsupported(format!("a search over {} operators", problem.len())));
    }
    let draft = Draft::of(problem);
    let groups = if rules.cuts { groups(&draft, order, rules, budget) } else { Vec::new() };
    let mut windows = windows(draft, &groups, bound, budget);
    let mut nodes = FIRST_ROUND;
    loop {
        let mut left = Vec::new();
        for window in windows {
            let mut is_open = true;
            for side in 0..if rules.cuts { 2 } else { 1 } {
                let (net, reach) = &window.nets[side];
                let mut part = budget.part(Some(nodes), None);
                let covered = cover(net, reach, bound, rules, &mut part);
                let stop = budget.spend(part.nodes());
                match covered {
                    Covered::Refuted(lines) => return Ok(text(&window, &groups, side, &lines)),
                    Covered::Completes => is_open = false,
                    Covered::Stopped => {}
                }
                if let Some(stop) = stop {
                    return Err(NoProof::Stopped(stop));
                }
                if !is_open {
                    break;
                }
            }
            if is_open {
                left.push(window);
            }
        }
        if left.is_empty() {
            // Some order of every part stays below the bound.
            return Err(NoProof::Wrong(Bytes::new(bound)));
        }
        (windows, nodes) = (left, nodes.saturating_mul(GROWTH));
    }
}

/// Returns the statements of a proof.
fn text(window: &Window, groups: &[Vec<u32>], side: usize, lines: &[Line]) -> String {
    let mut text = String::new();
    let list = |ids: &[u32]| ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    for group in &groups[..window.skipped] {
        let _ = writeln!(text, "skip {}", list(group));
    }
    if window.skipped + 1 < groups.len() {
        let _ = writeln!(text, "keep {}", list(&groups[window.skipped]));
    }
    if side == 1 {
        text.push_str("reverse\n");
    }
    let id = |node: u32| window.operators[node as usize];
    for line in lines {
        let _ = match line {
            Line::Every => writeln!(text, "e"),
            Line::Needs(node) => writeln!(text, "x {}", id(*node)),
            Line::Run(groups) => {
                text.push('r');
                for group in groups {
                    let ids: Vec<String> = group.iter().map(|&node| id(node).to_string()).collect();
                    let _ = write!(text, " {}", ids.join("+"));
                }
                writeln!(text)
            }
        };
    }
    text
}

/// Returns the operators between cuts that the checker can confirm, in order. The cuts are downsets of
/// `order` and near it.
fn groups(draft: &Draft, order: &Order, rules: CoverRules, budget: &mut Budget) -> Vec<Vec<u32>> {
    let order: Vec<u32> = order.operators().iter().map(|id| id.get()).collect();
    let mut rest = draft.clone();
    let (mut groups, mut own) = (Vec::new(), BTreeSet::new());
    let parts = match rules.wrong {
        Some(Wrong::Cut) => order.iter().map(|&id| vec![id]).collect(),
        _ => narrow(draft.clone(), &order, budget).iter().map(operators).collect::<Vec<_>>(),
    };
    for part in parts {
        own.extend(part);
        if own.len() == rest.len() || budget.check().is_some() {
            continue;
        }
        let first: Vec<bool> = operators(&rest).iter().map(|id| own.contains(id)).collect();
        let others: Vec<bool> = first.iter().map(|first| !first).collect();
        let is_cut = rules.wrong == Some(Wrong::Cut)
            || must_pass(&Net::of(&rest), &first) && must_pass(&Net::of(&rest.reversed()), &others);
        if is_cut {
            let stage: Vec<u32> = others.iter().map(|&other| u32::from(other)).collect();
            rest = rest.split(&stage, 2).pop().unwrap_or_default();
            groups.push(std::mem::take(&mut own).into_iter().collect());
        }
    }
    groups.push(operators(&rest));
    groups
}

fn operators(draft: &Draft) -> Vec<u32> {
    draft.works().map(|work| work.operator.get()).collect()
}

/// Returns the parts between cuts, without those of which a greedy order stays below the bound. The highest
/// greedy peaks come first.
fn windows(draft: Draft, groups: &[Vec<u32>], bound: u64, budget: &mut Budget) -> Vec<Window> {
    let mut stage = vec![0u32; draft.len()];
    for (at, group) in groups.iter().enumerate() {
        for &id in group {
            stage[id as usize] = at as u32;
        }
    }
    let parts = draft.split(&stage, groups.len().max(1)).into_iter().enumerate();
    let windows = parts.map(|(skipped, part)| {
        let turned = part.reversed();
        let nets = [(Net::of(&part), Reach::of(&part)), (Net::of(&turned), Reach::of(&turned))];
        let peak = greedy(&nets[0].0, &nets[1].0, part.sorted(), budget).1;
        Window { skipped, operators: operators(&part), nets, peak }
    });
    let mut windows: Vec<Window> = windows.filter(|window| window.peak >= bound).collect();
    windows.sort_by_key(|window| (std::cmp::Reverse(window.peak), window.skipped));
    windows
}

/// Returns true if no downset between the common predecessors of all nodes outside `first`, and `first`, has
/// fewer live bytes than `first`, and if the checker can confirm this.
fn must_pass(net: &Net, first: &[bool]) -> bool {
    let mut common: Option<Vec<bool>> = None;
    for node in 0..net.len() {
        if first[node] || !net.before[node].iter().all(|&other| first[other as usize]) {
            continue;
        }
        let mut own = vec![false; net.len()];
        let mut todo = vec![node as u32];
        while let Some(at) = todo.pop() {
            for &other in &net.before[at as usize] {
                if !std::mem::replace(&mut own[other as usize], true) {
                    todo.push(other);
                }
            }
        }
        common = Some(match common {
            None => own,
            Some(all) => all.iter().zip(&own).map(|(a, b)| *a && *b).collect(),
        });
    }
    let Some(common) = common else { return false };
    let mut state = State::new(net);
    let mut done = vec![0u64; net.words()];
    (0..net.len()).filter(|&at| common[at]).for_each(|at| done[at / 64] |= 1 << (at % 64));
    state.load(&done);
    let left = (0..net.len()).filter(|&at| first[at] && !common[at]).count();
    left <= MOST_OPERATORS && is_least(&mut state, first)
}

/// Returns true if no downset between `state` and `first` has fewer live bytes than `first`, and if there are
/// few of them.
fn is_least(state: &mut State<'_>, first: &[bool]) -> bool {
    let mut known: HashSet<Vec<u64>> = HashSet::from([state.done.clone()]);
    let mut todo = vec![state.done.clone()];
    let (mut least, mut last) = (u64::MAX, 0);
    while let Some(done) = todo.pop() {
        state.load(&done);
        least = least.min(state.live);
        let ready: Vec<u32> = bits(&state.ready).filter(|&node| first[node as usize]).collect();
        if ready.is_empty() {
            last = state.live;
        }
        for node in ready {
            let mut next = done.clone();
            next[node as usize / 64] |= 1 << (node % 64);
            if known.insert(next.clone()) {
                todo.push(next);
            }
        }
        if known.len() > MOST_SETS {
            return false;
        }
    }
    last <= least
}

/// How a downset is refuted.
#[derive(Clone, Debug)]
enum Line {
    /// Every ready node exceeds the bound or leads to a downset that is listed.
    Every,
    /// These groups of nodes run without alternatives.
    Run(Vec<Vec<u32>>),
    /// This node exceeds the bound whenever it runs.
    Needs(u32),
}

enum Covered {
    Refuted(Vec<Line>),
    /// An order stays below the bound.
    Completes,
    Stopped,
}

/// Downsets by size, and in the order of the checker: as numbers, the words with the highest nodes first.
#[derive(Default)]
struct Pending {
    by_size: BTreeMap<usize, BTreeSet<Box<[u64]>>>,
    bytes: usize,
}

impl Pending {
    fn add(&mut self, state: &State<'_>) {
        let row: Box<[u64]> = state.done.iter().rev().copied().collect();
        let bytes = 8 * row.len() + 64;
        if self.by_size.entry(state.net.len() - state.left).or_default().insert(row) {
            self.bytes += bytes;
        }
    }

    fn take(&mut self) -> Option<Vec<u64>> {
        let mut first = self.by_size.first_entry()?;
        let row = first.get_mut().pop_first()?;
        if first.get().is_empty() {
            first.remove();
        }
        self.bytes -= 8 * row.len() + 64;
        Some(row.iter().rev().copied().collect())
    }
}

/// Covers all orders of a net with a peak below the bound. One node of the budget is one downset.
fn cover(net: &Net, reach: &Reach, bound: u64, rules: CoverRules, budget: &mut Budget) -> Covered {
    let limit = bound - 1;
    let mut ahead = Ahead::of(net, reach);
    let (mut pending, mut lines) = (Pending::default(), Vec::new());
    let mut state = State::new(net);
    pending.add(&state);
    while let Some(done) = pending.take() {
        if tick(net, budget).is_some() || pending.bytes > MOST_BYTES {
            return Covered::Stopped;
        }
        state.load(&done);
        ahead.load(net, &done);
        let most = limit - u64::from(rules.wrong == Some(Wrong::Needs));
        if let Some(node) = ahead.above(most, &done) {
            lines.push(Line::Needs(node));
            continue;
        }
        let groups = run(&mut state, limit, rules);
        if state.left == 0 {
            return Covered::Completes;
        }
        if !groups.is_empty() {
            pending.add(&state);
            lines.push(Line::Run(groups));
            continue;
        }
        let ready: Vec<u32> = bits(&state.ready).collect();
        for node in ready {
            let live = state.live;
            if state.probe(node).peak > limit {
                continue;
            }
            state.run(node);
            if state.left == 0 {
                return Covered::Completes;
            }
            pending.add(&state);
            state.unrun(node, live);
        }
        lines.push(Line::Every);
    }
    Covered::Refuted(lines)
}

/// Applies safe runs and returns their groups. After each group, at most as many bytes are live as before it.
fn run(state: &mut State<'_>, limit: u64, rules: CoverRules) -> Vec<Vec<u32>> {
    let mut trail = Vec::new();
    settle(state, limit, rules.settling, &mut trail);
    let mut groups = Vec::new();
    let mut group = Vec::new();
    let mut ground = 0;
    for (at, &(node, live)) in trail.iter().enumerate() {
        ground = if group.is_empty() { live } else { ground };
        group.push(node);
        let after = trail.get(at + 1).map_or(state.live, |next| next.1);
        if after <= ground {
            groups.push(std::mem::take(&mut group));
        }
    }
    if rules.wrong == Some(Wrong::Run) && groups.is_empty() {
        let wrong = bits(&state.ready).find(|&node| state.probe(node).peak <= limit);
        if let Some(node) = wrong {
            state.run(node);
            groups.push(vec![node]);
        }
    }
    groups
}

#[cfg(test)]
mod tests;

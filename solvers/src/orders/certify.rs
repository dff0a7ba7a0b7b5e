//! Writes proofs of lower bounds on the peaks of orders. The crate `plimsoll-proof` checks them.
//!
//! A bound with a simple witness is proved in one line. For a bound that rests on a completed search, a
//! separate search covers all orders below the bound, and logs for each downset how it is refuted (`log`).
//! The proof therefore never depends on the search that it confirms. The separate search uses only rules of
//! the format: safe runs (`settle`), failures that extend to earlier downsets (`search`), and the bytes that
//! a remaining operator needs (`ahead`). It also cuts the problem at downsets that some order within the
//! limit passes through (`windows`), and runs in both directions of time. If the bound is that of the problem
//! without some operators (`relax`), the proof drops these operators first.

use super::draft::Draft;
use super::log::{Log, Wrong};
use super::relax::Rest;
use super::run::Side;
use super::search::{Decision, OrderRules, Search};
use super::settle::Settling;
use super::windows::{Cutter, Window};
use crate::offsets::search::learn::NoProof;
use plimsoll_model::orders::{Order, OrderProblem, REACH_OPERATORS, around_bound};
use plimsoll_model::{Budget, Bytes, LowerBound, OperatorId, Stop, Witness};
use std::cell::OnceCell;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Maximum number of downsets that each attempt visits in the first round, and the factor by which this
/// number grows from round to round.
const FIRST_ROUND: u64 = 1 << 8;
/// See [`FIRST_ROUND`].
const GROWTH: u64 = 2;
/// Number of downsets per round above which the parts proposed by `narrow` are also tried.
const NARROW: u64 = 1 << 11;

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
    /// The kinds of safe runs to look for.
    pub settling: Settling,
    /// See [`OrderRules::jump`].
    pub jump: usize,
    /// Whether to cut the problem at downsets, and to search in both directions of time.
    pub cuts: bool,
    /// The rule that a test makes unsound.
    pub wrong: Option<Wrong>,
}

impl Default for CoverRules {
    fn default() -> Self {
        let OrderRules { settling, jump, .. } = OrderRules::default();
        Self { settling, jump, cuts: true, wrong: None }
    }
}

impl OrderProof {
    /// Proves a bound. `order` is the best known order. The search looks for cuts near the downsets of this
    /// order.
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
        let highest = simple.value.get() + u64::from(rules.wrong == Some(Wrong::Simple));
        let witness = if highest >= value.get() { &simple.witness } else { &bound.witness };
        let body = match witness {
            Witness::Start | Witness::End => "held\n".to_owned(),
            Witness::Around { operator } => format!("x {operator}\n"),
            Witness::Search { .. } => {
                let names: Vec<OperatorId> = problem.ids().collect();
                searched((problem, &names), value.get(), order, rules, budget)?
            }
            Witness::Without { operators, .. } => {
                let rest = Rest::without(problem, operators);
                let order = rest.restricted(order);
                let proof = searched((&rest.problem, &rest.kept), value.get(), &order, rules, budget)?;
                format!("drop {}\n{proof}", list(&rest.removed))
            }
            other => return Err(NoProof::Unsupported(other.to_string())),
        };
        Ok(Self { bound: value.get(), body })
    }

    /// Returns the bound in bytes.
    pub fn bound(&self) -> Bytes {
        Bytes::new(self.bound)
    }

    /// Writes the section of a region: its name, its problem, the bound and the proof. The time is linear.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write(&self, region: &str, problem: &OrderProblem, file: &mut dyn Write) -> io::Result<()> {
        writeln!(file, "region {}", plimsoll_model::csv::listed_id(region))?;
        write_problem(problem, file)?;
        write!(file, "bound {}\n{}", self.bound, self.body)
    }
}

/// Writes the operators and storages of a problem as the statements of a proof. The time is linear.
///
/// # Errors
/// Errors of the writer.
pub fn write_problem(problem: &OrderProblem, file: &mut dyn Write) -> io::Result<()> {
    let list = |file: &mut dyn Write, ids: &[OperatorId]| {
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

/// An attempt to refute all orders of a part below a bound, in one direction of time.
struct Attempt<'a> {
    window: &'a Window,
    side: usize,
    search: Search<'a>,
    has_begun: bool,
}

impl<'a> Attempt<'a> {
    fn of(window: &'a Window, side: usize, rules: CoverRules) -> Self {
        let Side { net, reach } = window.side(side, rules.wrong);
        let own = OrderRules { settling: rules.settling, jump: rules.jump, ..OrderRules::default() };
        Self { window, side, search: Search::new(net, reach, own), has_begun: false }
    }

    /// Returns the attempts for a part, one for each direction of time.
    fn all(window: &'a Window, rules: CoverRules) -> impl Iterator<Item = Self> {
        let first = usize::from(rules.wrong == Some(Wrong::Reverse));
        let sides = first..if rules.cuts { 2 } else { 1 };
        sides.map(move |side| Self::of(window, side, rules))
    }

    fn advance(&mut self, bound: u64, rules: CoverRules, budget: &mut Budget) -> Decision {
        if std::mem::replace(&mut self.has_begun, true) {
            return self.search.resume(budget);
        }
        let Side { net, .. } = self.window.side(self.side, rules.wrong);
        self.search.decide(bound - 1, Some(Log::new(net, rules.wrong)), budget)
    }
}

/// Refutes all orders of a problem below a bound. The proof uses the given names of the operators. Tries the
/// parts around the steps at which `order` reaches the bound, in both directions of time. The attempts
/// alternate, with growing limits.
fn searched(
    (problem, names): (&OrderProblem, &[OperatorId]),
    bound: u64,
    order: &Order,
    rules: CoverRules,
    budget: &mut Budget,
) -> Result<String, NoProof> {
    if problem.len() > REACH_OPERATORS {
        return Err(NoProof::Unsupported(format!("a search over {} operators", problem.len())));
    }
    let draft = Draft::of(problem);
    let cutter = Cutter::of(&draft, order, rules.wrong);
    let steps = cutter.steps(bound);
    let near: Vec<OnceCell<Window>> = steps.iter().map(|_| OnceCell::new()).collect();
    let narrowed: OnceCell<Vec<(usize, OnceCell<Window>)>> = OnceCell::new();
    let whole = OnceCell::new();
    let part = |at: usize| -> Option<&Window> {
        let is_new =
            !near[..at].iter().filter_map(OnceCell::get).any(|one| one.contains(cutter.at(steps[at])));
        is_new.then(|| near[at].get_or_init(|| cutter.near(steps[at])))
    };
    let first = if rules.cuts { steps.len() } else { 0 };
    let mut fresh: Box<dyn Iterator<Item = &Window>> = Box::new((0..first).filter_map(part));
    let (mut attempts, mut nodes, mut begin) = (Vec::new(), FIRST_ROUND, 1);
    let mut full = None;
    loop {
        if rules.cuts && nodes > NARROW && narrowed.get().is_none() {
            let all = cutter.narrowed(bound, budget).into_iter().map(|at| (at, OnceCell::new()));
            let all = narrowed.get_or_init(|| all.collect()).iter();
            let all = all.map(|(at, window)| window.get_or_init(|| cutter.part(*at)));
            fresh = Box::new(fresh.chain(all));
        }
        for window in fresh.by_ref().take(begin) {
            attempts.extend(Attempt::all(window, rules));
        }
        if attempts.is_empty() && whole.get().is_none() && (nodes > NARROW || !rules.cuts) {
            // No part proves the bound. The whole problem may still prove it because the parts may overlap.
            attempts.extend(Attempt::all(whole.get_or_init(|| cutter.whole()), rules));
        } else if attempts.is_empty() && whole.get().is_some() {
            return Err(full.map_or(NoProof::Wrong(Bytes::new(bound)), NoProof::Stopped));
        }
        match round(attempts, nodes, bound, rules, budget)? {
            Round::Proved(attempt) => return Ok(text(&attempt, names)),
            Round::Open(left, stop) => {
                attempts = left;
                full = full.or(stop);
            }
        }
        (nodes, begin) = (nodes.saturating_mul(GROWTH), begin.saturating_mul(2));
    }
}

enum Round<'a> {
    Proved(Box<Attempt<'a>>),
    /// The attempts that can continue, and the termination reason of an attempt whose log is full.
    Open(Vec<Attempt<'a>>, Option<Stop>),
}

/// Continues each attempt for at most `nodes` nodes.
fn round<'a>(
    attempts: Vec<Attempt<'a>>,
    nodes: u64,
    bound: u64,
    rules: CoverRules,
    budget: &mut Budget,
) -> Result<Round<'a>, NoProof> {
    let (mut left, mut full) = (Vec::new(), None);
    // The last part that has an order below the bound.
    let mut met: Option<&Window> = None;
    for mut attempt in attempts {
        if met.is_some_and(|met| std::ptr::eq(met, attempt.window)) {
            continue;
        }
        let mut part = budget.part(Some(nodes), None);
        let verdict = attempt.advance(bound, rules, &mut part);
        let stop = budget.spend(part.nodes());
        match verdict {
            Decision::Refuted(_) => return Ok(Round::Proved(Box::new(attempt))),
            Decision::Found(_) => met = Some(attempt.window),
            Decision::Stopped(stop) if attempt.search.log().is_some_and(Log::is_full) => full = Some(stop),
            Decision::Stopped(_) => left.push(attempt),
        }
        if let Some(stop) = stop {
            return Err(NoProof::Stopped(stop));
        }
    }
    Ok(Round::Open(left, full))
}

/// Returns the statements of a proof, with the given names of the operators.
fn text(attempt: &Attempt<'_>, names: &[OperatorId]) -> String {
    let (window, mut text) = (attempt.window, String::new());
    let named = |ids: &[u32]| ids.iter().map(|&id| names[id as usize]).collect::<Vec<OperatorId>>();
    for group in &window.skipped {
        let _ = writeln!(text, "skip {}", list(&named(group)));
    }
    if window.is_cut_after {
        let _ = writeln!(text, "keep {}", list(&named(&window.operators)));
    }
    if attempt.side == 1 {
        text.push_str("reverse\n");
    }
    if let Some(log) = attempt.search.log() {
        log.write(&named(&window.operators), &mut text);
    }
    text
}

fn list(ids: &[OperatorId]) -> String {
    ids.iter().map(OperatorId::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;

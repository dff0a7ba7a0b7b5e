//! Offset assignment as a series of questions to z3: is there a layout at or below this peak?
//!
//! Each question is a disjunction per conflicting pair, "one lies below the other", over difference
//! constraints, strengthened by what holds for this very peak: narrowed positions, forced orders, broken
//! symmetry, and bridges between cliques. Because all of these sharpen with the peak, every question gets a
//! solver of its own; learned clauses are not carried over. Questions are asked from the bound upwards:
//!
//! ```text
//!   bound      ?            ?       ?   ?     incumbent
//!     |--------|------------|-------|---|--------|
//!     1st      then halves what is left, from either side
//! ```
//!
//! The first one is the bound itself, since most instances in practice, and all perfect packings, attain
//! it. A yes lowers the incumbent to the peak of the layout pushed down, a no raises the bound, and
//! "unknown" is neither: the question is left aside and the search goes on above it while there is time.
//!
//! The theory is integer difference logic, decided by shortest paths; where alignments differ it takes linear
//! arithmetic. Source: scheduling and packing by satisfiability modulo difference logic (job-shop
//! encodings); the bridges are ours, see `formulation::bridges`.

use super::encode::Encoding;
use super::run::{Answer, decide};
use crate::bounds::conflicts;
use crate::formulation::{Domain, Engine, Found, Task, Verdict, drive};
use plimsoll_model::{Budget, Instance, Observer, Offsets, Outcome, Setup, SolveError, Solver, Stats};

/// Offset assignment by z3; the registry calls it `smt`.
///
/// One node of the budget is one conflict of z3. It runs on one thread. A cancel flag and a time limit are
/// seen within milliseconds, except while z3 simplifies a large question.
#[derive(Clone, Copy, Debug, Default)]
pub struct Smt {
    setup: Setup,
    encoding: Encoding,
}

impl Smt {
    /// With everything switched on.
    pub fn new(setup: Setup) -> Self {
        Self { setup, encoding: Encoding::default() }
    }

    /// With another encoding.
    #[must_use]
    pub(crate) fn with_encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }

    /// Is there a layout at or below `peak`? What exact narrowing refutes needs no z3.
    fn ask(
        &self,
        task: Task<'_>,
        peak: i64,
        budget: &Budget,
        stats: &mut Stats,
    ) -> Result<Answer, SolveError> {
        let domain = if self.encoding.positions {
            Domain::new(task.part, peak, self.encoding.symmetry, &mut budget.without_node_limit())
        } else {
            Domain::plain(task.part, peak, self.encoding.symmetry)
        };
        let Some(domain) = domain else {
            return Ok(Answer { exists: Some(false), offsets: None, conflicts: 0, stop: None });
        };
        stats.count("calls", 1);
        decide(task.part, domain, self.encoding, self.setup, budget)
    }
}

impl Engine for Smt {
    fn name(&self) -> &'static str {
        "smt"
    }

    fn solve(
        &self,
        task: Task<'_>,
        budget: &mut Budget,
        stats: &mut Stats,
        found: &mut Found<'_>,
    ) -> Result<Verdict, SolveError> {
        // Proved: nothing below `lower`. Open: peaks from `from` to `upper`; those between are left aside.
        let (mut lower, mut from, mut upper) = (task.lower, task.enough, task.upper);
        let mut peak = task.enough;
        let (mut stop, mut aside) = (None, None);
        while from <= upper && stop.is_none() {
            // A slice, so that one hard question does not eat all time.
            let slice = budget.time_to_end().map(|time| time / 2);
            let nodes = budget.nodes_left().map(|nodes| nodes.div_ceil(2));
            let answer = self.ask(task, peak, &budget.part(nodes, slice), stats)?;
            stop = budget.spend(answer.conflicts);
            match answer.exists {
                Some(true) => {
                    let layout = answer.offsets.and_then(|rough| task.part.settle(&rough));
                    let Some(layout) = layout.filter(|layout| found(layout)) else { break };
                    let reached = task.part.peak(&layout);
                    if reached <= task.enough || reached > peak {
                        break;
                    }
                    upper = reached - 1;
                }
                Some(false) => {
                    lower = lower.max(peak + 1);
                    from = from.max(peak + 1);
                }
                None => {
                    stats.count("unknown", 1);
                    from = peak + 1;
                    aside = aside.or(answer.stop);
                }
            }
            peak = from + (upper - from) / 2;
        }
        Ok(Verdict { lower, stop: stop.or_else(|| budget.check()).or(aside.filter(|_| lower <= upper)) })
    }
}

impl Solver<Offsets> for Smt {
    fn name(&self) -> &'static str {
        "smt"
    }

    fn solve(
        &self,
        instance: &Instance,
        budget: &mut Budget,
        observer: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Offsets>, SolveError> {
        self.supports(instance)?;
        drive(self, self.encoding.absorb, instance, budget, observer)
    }

    fn supports(&self, instance: &Instance) -> Result<(), SolveError> {
        let (pairs, most) = (conflicts(instance), self.encoding.max_pairs);
        if pairs > most as u64 {
            let reason = format!("{pairs} conflicting pairs are more than {most}");
            return Err(SolveError::Unsupported { solver: "smt", reason });
        }
        Ok(())
    }
}

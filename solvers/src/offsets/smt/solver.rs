//! Offset assignment as a series of queries to z3: is there a layout at or below a given peak?
//!
//! For every conflicting pair, a query contains the disjunction of two difference constraints: one buffer
//! lies below the other, or vice versa. The allowed peak implies further constraints that strengthen the
//! query: offset ranges, forced orders, and bridges between cliques. A query also contains constraints that
//! break symmetries. Implied constraints become tighter with a lower peak, so every query uses a new solver
//! and no learnt clauses are reused. The queries are:
//!
//! ```text
//!   bound      ?            ?       ?   ?     incumbent
//!     |--------|------------|-------|---|--------|
//!     first query     then bisection of the rest
//! ```
//!
//! The first query asks for the bound itself, which most practical instances and all perfect packings attain.
//! If the budget has a target above the bound, the first query asks for the target instead. A positive answer
//! lowers the incumbent to the peak of the pushed-down layout. A negative answer raises the bound. If the
//! answer is "unknown", the search continues with higher peaks while the budget lasts.
//!
//! The theory is integer difference logic, which is decided by shortest paths. If alignments differ, it is
//! linear arithmetic.
//!
//! **Source.** Job-shop encodings solve scheduling and packing problems in difference logic in the same way.
//! The bridges were developed in this project (see `formulation::bridges`).

use super::encode::{Encoding, Theory};
use super::run::{Answer, decide};
use crate::offsets::bounds::has_few_conflicts;
use crate::offsets::formulation::{Domain, Engine, Found, Proved, Task, drive};
use plimsoll_model::{
    Budget, Change, Instance, Observer, Offsets, Outcome, Parameter, Setup, SolveError, Solver, Stats,
    parameters,
};

/// The parameters of `smt` in its name, for ablation studies.
const PARAMETERS: &[Change<Encoding>] = &[
    ("-bridges", "no bridges between cliques", |e| e.bridges = 0),
    ("-positions", "does not propagate offset ranges", |e| e.positions = false),
    ("-absorb", "keeps dominated buffers", |e| e.absorb = false),
    ("-symmetry", "keeps twins and mirror images", |e| e.symmetry = false),
    ("theory=linear", "linear integer arithmetic instead of difference logic", |e| {
        e.theory = Theory::Linear;
    }),
];

/// Offset assignment by z3. Its name in the registry is `smt`.
///
/// One node of the budget is one conflict of z3. The solver uses one thread. Cancellation and time limits
/// take effect within milliseconds, except while z3 simplifies a large query.
#[derive(Clone, Copy, Debug, Default)]
pub struct Smt {
    setup: Setup,
    encoding: Encoding,
}

impl Smt {
    /// Creates the solver with the parameters in `setup`.
    pub fn new(setup: Setup) -> Self {
        Self { setup, encoding: setup.settings(PARAMETERS) }
    }

    /// Asks for a layout with a peak of at most `peak`. If propagation already refutes this peak, z3 is not
    /// called.
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
    ) -> Result<Proved, SolveError> {
        // No peak below `lower` is feasible. Peaks from `from` to `upper` are open. Peaks from `lower` to
        // `from - 1` are not tried: they are below `enough`, or z3 left them undecided.
        let (mut lower, mut from, mut upper) = (task.lower, task.enough, task.upper);
        let mut peak = task.enough;
        let (mut stop, mut aside) = (None, None);
        while from <= upper && stop.is_none() {
            // Each query gets half of the remaining budget, so that a hard one does not consume all of it.
            let slice = budget.time_share(0.5);
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
        Ok(Proved { lower, stop: stop.or_else(|| budget.check()).or(aside.filter(|_| lower <= upper)) })
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

    fn supports_groups(&self) -> bool {
        true
    }

    fn parameters(&self) -> Vec<Parameter> {
        parameters(PARAMETERS)
    }

    fn supports(&self, instance: &Instance) -> Result<(), SolveError> {
        let most = self.encoding.max_pairs;
        if !has_few_conflicts(instance, most as u64, &mut Budget::unlimited()) {
            let reason = format!("more than {most} pairs of buffers conflict");
            return Err(SolveError::Unsupported { solver: "smt", reason });
        }
        Ok(())
    }
}

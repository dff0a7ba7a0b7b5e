//! Offset assignment as a mixed-integer linear program.
//!
//! For every pair of conflicting buffers, a binary decides which one lies below the other. Once all binaries
//! are fixed, the lowest offsets are longest paths, so only the binaries are difficult. The plain big-M
//! formulation has a weak relaxation: with every binary at one half, buffers may overlap. The stacking cuts
//! make the relaxation strong. They use the fact that the buffers of a clique form a stack (see
//! [`Formulation`]).
//!
//! ```text
//!   |####c####|        S = {a, b, c}, a clique
//!   |####b####|        o_b >= s_a z_ab + s_c z_cb           members below b support it
//!   |####a####|        o_b + s_b + s_a z_ba + s_c z_bc <= P members above b lie on it
//! ```
//!
//! The solver first searches for a layout at the bound, a pure feasibility problem with the tightest big-M
//! constants. Only then does it minimise the peak between the bound and the incumbent. `HiGHS` computes in
//! floating point. Its layouts are therefore converted to integers by pushing the buffers down in their
//! order, and are then checked. Its bounds are accepted only with a margin of a tenth of a unit, and only
//! for peaks of at most ten million units. A unit is the grain of the instance.
//!
//! **Size.** The program has one binary and two rows per conflict. It also has two rows per member of each
//! clique of at least three buffers, one row per bridge, and at most two rows per buffer.
//!
//! **Source.** The disjunctive big-M formulation is that of two-dimensional packing and of published ILPs for
//! offset assignment. Stacking cuts are the clique inequalities of single-machine scheduling in ordering
//! variables.

mod model;

pub use model::Formulation;

use crate::highs::{Answer, End, Limits, SAFE_UNITS, Scale, believed, solve};
use crate::offsets::bounds::has_few_conflicts;
use crate::offsets::formulation::{Domain, Engine, Found, Proved, Task, drive};
use model::Model;
use plimsoll_model::{
    Budget, Change, Instance, Observer, Offsets, Outcome, Parameter, Setup, SolveError, Solver, Stats,
    parameters,
};

/// The parameters of `ilp` in its name, for ablation studies.
const PARAMETERS: &[Change<Formulation>] = &[
    ("-bridges", "no bridges between cliques", |f| f.bridges = 0),
    ("-stacking", "no stacking cuts", |f| f.stacking = false),
    ("-positions", "does not propagate offset ranges", |f| f.positions = false),
    ("-absorb", "keeps dominated buffers", |f| f.absorb = false),
    ("-symmetry", "keeps twins and mirror images", |f| f.symmetry = false),
    ("-decide", "minimises without first solving at the bound", |f| f.decide = false),
];

/// The integer program for offsets, solved by `HiGHS`. Its name in the registry is `ilp`.
///
/// Time and node limits also apply inside calls of `HiGHS`. A cancelled call is abandoned. One node of the
/// budget is one branch-and-bound node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ilp {
    setup: Setup,
    formulation: Formulation,
}

impl Ilp {
    /// Creates the solver with the parameters in `setup`.
    pub fn new(setup: Setup) -> Self {
        Self { setup, formulation: setup.settings(PARAMETERS) }
    }

    /// Replaces the formulation.
    #[must_use]
    pub fn with_formulation(mut self, formulation: Formulation) -> Self {
        self.formulation = formulation;
        self
    }

    /// Calls `HiGHS` once. Minimises the peak if `minimise` is true. Otherwise finds any layout with a peak
    /// of at most `upper`.
    ///
    /// Returns the proved bound in units, and the termination reason if the call stopped early.
    fn call(
        &self,
        task: Task<'_>,
        (upper, minimise): (i64, bool),
        limits: Limits,
        run: &mut Progress<'_, '_>,
    ) -> Result<Proved, SolveError> {
        let symmetric = |warm: bool| self.formulation.symmetry && !warm;
        let warm = self.formulation.warm && minimise;
        let upper = if warm { task.part.peak(task.known).min(upper + 1) } else { upper };
        let mut watch = run.budget.without_node_limit().part(None, limits.time);
        let Some(domain) = self.domain(task, upper, symmetric(warm), &mut watch) else {
            return Ok(Proved { lower: upper + 1, stop: None });
        };
        let model = || Model::new(task.part, &domain, self.formulation, minimise, task.lower);
        let start = (warm && task.part.peak(task.known) <= upper).then(|| model().start(task.known));
        let scale = Scale { most: upper, unit: Model::unit(&domain) };
        let answer =
            solve("ilp", self.setup, (limits, run.budget), scale, start, |watch| model().build(watch))?;
        run.note(&answer);
        let mut layout = None;
        if let Some(values) = &answer.values {
            layout = task.part.settle(&values[..task.part.len()]).filter(|offsets| (run.found)(offsets));
        }
        let peak = layout.map_or(i64::MAX, |offsets| task.part.peak(&offsets));
        Ok(conclude(task, upper, minimise, peak, &answer))
    }

    fn domain(&self, task: Task<'_>, upper: i64, symmetry: bool, watch: &mut Budget) -> Option<Domain> {
        if self.formulation.positions {
            Domain::new(task.part, upper, symmetry, watch)
        } else {
            Domain::plain(task.part, upper, symmetry)
        }
    }
}

/// Returns the bound that an answer proves, and the termination reason. The bound never exceeds `peak`, the
/// peak of the layout found.
fn conclude(task: Task<'_>, upper: i64, minimise: bool, peak: i64, answer: &Answer) -> Proved {
    let safe = upper <= SAFE_UNITS;
    let proved = match answer.end {
        End::Infeasible if safe => upper + 1,
        End::Infeasible => task.lower,
        _ if minimise => believed(answer.bound, upper).unwrap_or(task.lower).min(upper),
        _ => task.lower,
    };
    let stop = match answer.end {
        End::Stopped(stop) => stop,
        _ => None,
    };
    Proved { lower: proved.max(task.lower).min(peak), stop }
}

/// The budget and the statistics of a run, and the callback that checks its layouts.
struct Progress<'a, 'f> {
    budget: &'a mut Budget,
    stats: &'a mut Stats,
    found: &'a mut Found<'f>,
}

impl Progress<'_, '_> {
    fn note(&mut self, answer: &Answer) {
        self.budget.spend(answer.nodes);
        self.stats.count("calls", 1);
    }
}

impl Engine for Ilp {
    fn name(&self) -> &'static str {
        "ilp"
    }

    fn solve(
        &self,
        task: Task<'_>,
        budget: &mut Budget,
        stats: &mut Stats,
        found: &mut Found<'_>,
    ) -> Result<Proved, SolveError> {
        let mut lower = task.lower;
        if self.formulation.decide {
            let mut best = i64::MAX;
            let mut watch = |offsets: &[i64]| {
                let valid = found(offsets);
                if valid {
                    best = best.min(task.part.peak(offsets));
                }
                valid
            };
            let limits = Limits::of(budget).half();
            let mut run = Progress { budget, stats, found: &mut watch };
            let verdict = self.call(task, (task.enough, false), limits, &mut run)?;
            if best <= task.enough {
                return Ok(Proved { lower, stop: None });
            }
            lower = lower.max(verdict.lower);
            if lower > task.upper || budget.check().is_some() {
                return Ok(Proved { lower, stop: budget.check() });
            }
        }
        let limits = Limits { target: Some(task.enough), ..Limits::of(budget) };
        let task = Task { lower, ..task };
        let mut run = Progress { budget, stats, found };
        let verdict = self.call(task, (task.upper, true), limits, &mut run)?;
        Ok(Proved { lower: verdict.lower, stop: verdict.stop })
    }
}

impl Solver<Offsets> for Ilp {
    fn name(&self) -> &'static str {
        "ilp"
    }

    fn solve(
        &self,
        instance: &Instance,
        budget: &mut Budget,
        observer: &mut dyn Observer<Offsets>,
    ) -> Result<Outcome<Offsets>, SolveError> {
        self.supports(instance)?;
        drive(self, self.formulation.absorb, instance, budget, observer)
    }

    fn supports_groups(&self) -> bool {
        true
    }

    fn parameters(&self) -> Vec<Parameter> {
        parameters(PARAMETERS)
    }

    fn supports(&self, instance: &Instance) -> Result<(), SolveError> {
        let most = self.formulation.max_pairs;
        if !has_few_conflicts(instance, most as u64, &mut Budget::unlimited()) {
            let reason = format!("more than {most} pairs of buffers conflict");
            return Err(SolveError::Unsupported { solver: "ilp", reason });
        }
        Ok(())
    }
}

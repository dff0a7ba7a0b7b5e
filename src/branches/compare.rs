//! Runs every scheme on one program and checks the chain of inequalities between the resulting arenas.

use super::{BranchError, Planner, SCHEMES, Scheme};
use crate::arithmetic::Arithmetic;
use crate::registry::Registry;
use crate::run::Limits;
use plimsoll_model::execution::ExecutionOptions;
use plimsoll_model::program::Program;
use plimsoll_model::{Bytes, Entry, Offsets, Setup, load};
use serde::Serialize;

/// The result of one planner (a scheme and a solver) on one program.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Name of the scheme.
    pub scheme: &'static str,
    /// Name of the algorithm that placed the buffers; `-` for the naive scheme.
    pub algorithm: &'static str,
    /// Size of the arena, in bytes.
    pub arena: u64,
    /// A lower bound over all layouts that the scheme allows, in bytes.
    pub lower_bound: u64,
    /// The reason why the bound holds.
    pub witness: String,
    /// The arithmetic in which the bound was proved.
    pub arithmetic: Arithmetic,
    /// True if the arena meets the bound.
    pub optimal: bool,
    /// Running time of the solver, in seconds.
    pub seconds: f64,
    /// Number of simulated runs of the program. In all of them, every read returned the bytes last written.
    pub runs: usize,
    /// True if the simulated runs are all possible runs, up to a maximum trip count of loops.
    pub all_runs: bool,
}

/// A violation of the chain of inequalities: the arena of one scheme is below the lower bound of another
/// scheme that allows all of its layouts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{low} reports a lower bound of {bound} bytes, but {high} needs only {arena} bytes")]
pub struct Broken {
    /// Scheme and solver that reported the bound.
    pub low: String,
    /// The bound, in bytes.
    pub bound: u64,
    /// Scheme and solver whose arena is below the bound.
    pub high: String,
    /// Size of that arena, in bytes.
    pub arena: u64,
}

/// The results of all schemes on one program.
#[derive(Clone, Debug, Serialize)]
pub struct SchemeComparison {
    /// Name of the graph.
    pub graph: String,
    /// Number of regions, including the body.
    pub regions: usize,
    /// Number of buffers of the program.
    pub buffers: usize,
    /// The load: peak live bytes over all points of the program.
    pub load: u64,
    /// One line per planner. The schemes are in the order of [`SCHEMES`].
    pub lines: Vec<Line>,
    /// Messages of the planners that found nothing within the limits.
    pub missing: Vec<String>,
}

impl SchemeComparison {
    /// Returns the line with the smallest arena among the lines of a scheme.
    pub fn best(&self, scheme: Scheme) -> Option<&Line> {
        self.of(scheme).min_by_key(|line| line.arena)
    }

    /// Returns the line with the smallest arena among those lines of a scheme that use one of the three
    /// strategies of LUNA, Alg. 1, as the solver.
    pub fn fast(&self, scheme: Scheme) -> Option<&Line> {
        self.of(scheme).filter(|line| FAST.contains(&line.algorithm)).min_by_key(|line| line.arena)
    }

    /// Returns the size of the arena that a scheme needs with a solver, in bytes.
    pub fn arena(&self, scheme: Scheme, solver: &str) -> Option<u64> {
        self.of(scheme).find(|line| line.algorithm == solver).map(|line| line.arena)
    }

    fn of(&self, scheme: Scheme) -> impl Iterator<Item = &Line> {
        let name = SCHEMES.iter().find(|entry| entry.scheme == scheme).map(|entry| entry.name);
        self.lines.iter().filter(move |line| Some(line.scheme) == name)
    }

    /// Returns the best lower bound on the arena of a scheme in bytes, or 0 if there is none.
    pub fn bound(&self, scheme: Scheme) -> u64 {
        self.of(scheme).map(|line| line.lower_bound).max().unwrap_or(0)
    }

    /// Returns the optimum over all layouts in bytes, if it is proved.
    pub fn optimum(&self) -> Option<u64> {
        let best = self.lines.iter().map(|line| line.arena).min()?;
        (self.bound(Scheme::Exclusive) == best).then_some(best)
    }

    /// Returns the first violation of the chain. The lower bound of a scheme is also valid for every scheme
    /// that allows a subset of the same layouts.
    pub fn broken(&self) -> Option<Broken> {
        for low in &self.lines {
            let allowed = |high: &&Line| narrower(low.scheme, high.scheme);
            if let Some(high) = self.lines.iter().filter(allowed).find(|high| high.arena < low.lower_bound) {
                let name = |line: &Line| format!("{} by {}", line.scheme, line.algorithm);
                let (bound, arena) = (low.lower_bound, high.arena);
                return Some(Broken { low: name(low), bound, high: name(high), arena });
            }
        }
        None
    }

    /// Returns the chain from the scheme `exclusive` to the scheme `naive`, as pairs of a name and an arena
    /// in bytes. The entry `nested-exact` is present only if its arena is proved optimal. Schemes without a
    /// result are skipped.
    pub fn chain(&self) -> Vec<(String, u64)> {
        let mut chain = Vec::new();
        let mut add = |name: &str, line: Option<&Line>| {
            if let Some(line) = line {
                chain.push((name.to_owned(), line.arena));
            }
        };
        let proved = |scheme| self.best(scheme).filter(|line| line.optimal);
        let top = if self.optimum().is_some() { "optimum" } else { "exclusive, best found" };
        add(top, self.best(Scheme::Exclusive));
        add("nested-exact", proved(Scheme::Nested));
        add("nested", self.fast(Scheme::Nested));
        add("naive", self.best(Scheme::Naive));
        chain
    }

    /// Returns the steps from the scheme `naive` to the scheme `exclusive`, each with its name and its
    /// saving in bytes. A step replaces one scheme with another. Its saving is the best arena of the first
    /// scheme minus the best arena of the second, and is negative if the arena grows. A step is skipped if
    /// one of its schemes has no result.
    pub fn shares(&self) -> Vec<(&'static str, i64)> {
        let value = |scheme| self.best(scheme).map(|line| line.arena as i64);
        let steps = [
            ("memory reuse", Scheme::Naive, Scheme::Flat),
            ("sequential branches", Scheme::Flat, Scheme::Sequential),
            ("branches merged as blocks", Scheme::Sequential, Scheme::Nested),
            ("no blocks, lifespans with gaps", Scheme::Nested, Scheme::Exclusive),
        ];
        let step = |(name, from, to)| Some((name, value(from)? - value(to)?));
        steps.into_iter().filter_map(step).collect()
    }
}

/// Returns true if `low` allows every layout that `high` allows.
fn narrower(low: &str, high: &str) -> bool {
    match low {
        "exclusive" => true,
        "sequential-branches" => matches!(high, "sequential-branches" | "flat-conflict" | "naive"),
        "flat-conflict" => matches!(high, "flat-conflict" | "naive"),
        "nested" => matches!(high, "nested" | "naive"),
        _ => high == low,
    }
}

/// The three strategies of LUNA, Alg. 1: sequential, large-first and short-first.
pub(super) const FAST: [&str; 3] = ["first-fit-start", "first-fit-size", "short-first"];

/// Runs every scheme with the three strategies of LUNA, Alg. 1, and with `solvers`. The scheme `naive` needs
/// no solver and runs once. Every layout passes the layout checker and the execution checker.
///
/// # Errors
/// See [`BranchError`].
pub fn compare(
    program: &Program<'_>,
    registry: &Registry,
    solvers: &[&Entry<Offsets>],
    setup: Setup,
    limits: Limits,
    execution: ExecutionOptions,
) -> Result<SchemeComparison, BranchError> {
    let fast = FAST.iter().filter_map(|name| registry.find(name).ok());
    let mut entries: Vec<&Entry<Offsets>> = fast.collect();
    entries.extend(solvers.iter().filter(|solver| !FAST.contains(&solver.name)));
    let (mut lines, mut missing) = (Vec::new(), Vec::new());
    for scheme in SCHEMES {
        let of_scheme: &[&Entry<Offsets>] =
            if scheme.scheme == Scheme::Naive { &entries[..1] } else { &entries };
        for &solver in of_scheme {
            let limits = limits.from_now();
            let plan = match (Planner { scheme, solver, setup, limits, execution }).plan(program) {
                Err(error @ BranchError::Nothing { .. }) => {
                    missing.push(error.to_string());
                    continue;
                }
                plan => plan?,
            };
            lines.push(Line {
                scheme: scheme.name,
                algorithm: if scheme.scheme == Scheme::Naive { "-" } else { solver.name },
                arena: plan.peak.get(),
                lower_bound: plan.bound.get(),
                witness: plan.witness.clone(),
                arithmetic: plan.arithmetic,
                // The plan of a heuristic that meets the bound is optimal too.
                optimal: plan.is_optimal(),
                seconds: plan.seconds,
                runs: plan.runs,
                all_runs: plan.all_runs,
            });
        }
    }
    let load: Bytes = load(program.instance()).0;
    Ok(SchemeComparison {
        graph: program.graph().name().to_owned(),
        regions: program.graph().regions().len(),
        buffers: program.buffers().len(),
        load: load.get(),
        lines,
        missing,
    })
}

//! All schemes side by side, and the chain they must form.

use super::{BranchError, Planner, SCHEMES, Scheme};
use crate::arithmetic::Arithmetic;
use crate::registry::Registry;
use crate::run::Limits;
use plimsoll_model::execution::ExecutionOptions;
use plimsoll_model::program::Program;
use plimsoll_model::{Bytes, Entry, Offsets, Setup, load};
use serde::Serialize;

/// One planner on one program.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// What may share memory.
    pub scheme: &'static str,
    /// Who placed.
    pub solver: &'static str,
    /// The arena, bytes.
    pub arena: u64,
    /// No layout that the scheme allows takes less, bytes.
    pub lower_bound: u64,
    /// What shows that.
    pub witness: String,
    /// In which arithmetic it was proved.
    pub arithmetic: Arithmetic,
    /// True where the arena meets the bound.
    pub optimal: bool,
    /// Seconds of the algorithm.
    pub seconds: f64,
    /// Runs of the program that found what they had written.
    pub runs: usize,
    /// True where there are no others, up to the number of trips of a loop.
    pub all_runs: bool,
}

/// Two planners, or a planner and a bound, that contradict the chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{low} claims at least {bound} bytes, but {high} takes {arena}")]
pub struct Broken {
    /// Whose bound it is.
    pub low: String,
    /// The bound, bytes.
    pub bound: u64,
    /// Who is below it.
    pub high: String,
    /// The arena, bytes.
    pub arena: u64,
}

/// Every scheme on one program.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The graph.
    pub graph: String,
    /// Regions, the body included.
    pub regions: usize,
    /// Buffers of the program.
    pub buffers: usize,
    /// Most bytes alive at a point.
    pub load: u64,
    /// One line per planner.
    pub lines: Vec<Line>,
    /// Planners that found nothing within the limits.
    pub missing: Vec<String>,
}

impl Comparison {
    /// The smallest arena of a scheme.
    pub fn best(&self, scheme: Scheme) -> Option<&Line> {
        self.of(scheme).min_by_key(|line| line.arena)
    }

    /// The smallest arena of a scheme among heuristics.
    pub fn fast(&self, scheme: Scheme) -> Option<&Line> {
        self.of(scheme).filter(|line| FAST.contains(&line.solver)).min_by_key(|line| line.arena)
    }

    /// What a planner takes.
    pub fn arena(&self, scheme: Scheme, solver: &str) -> Option<u64> {
        self.of(scheme).find(|line| line.solver == solver).map(|line| line.arena)
    }

    fn of(&self, scheme: Scheme) -> impl Iterator<Item = &Line> {
        let name = SCHEMES.iter().find(|entry| entry.scheme == scheme).map(|entry| entry.name);
        self.lines.iter().filter(move |line| Some(line.scheme) == name)
    }

    /// The best bound on what a scheme can do, bytes.
    pub fn bound(&self, scheme: Scheme) -> u64 {
        self.of(scheme).map(|line| line.lower_bound).max().unwrap_or(0)
    }

    /// The optimum over all layouts, where it is proved: bytes.
    pub fn optimum(&self) -> Option<u64> {
        let best = self.lines.iter().map(|line| line.arena).min()?;
        (self.bound(Scheme::Exclusive) == best).then_some(best)
    }

    /// Where bounds and arenas contradict: a bound of a scheme holds for every scheme that allows less.
    pub fn broken(&self) -> Option<Broken> {
        for low in &self.lines {
            let allowed = |high: &&Line| narrower(low.scheme, high.scheme);
            if let Some(high) = self.lines.iter().filter(allowed).find(|high| high.arena < low.lower_bound) {
                let name = |line: &Line| format!("{} by {}", line.scheme, line.solver);
                let (bound, arena) = (low.lower_bound, high.arena);
                return Some(Broken { low: name(low), bound, high: name(high), arena });
            }
        }
        None
    }

    /// The chain from the optimum upwards, as far as it is proved: names and bytes, ascending.
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

    /// What each idea saves: bytes between a scheme's best plan and the best of the one before, which knows less. Negative
    /// where the idea loses.
    pub fn shares(&self) -> Vec<(&'static str, i64)> {
        let value = |scheme| self.best(scheme).map(|line| line.arena as i64);
        let steps = [
            ("reuse of memory", Scheme::Naive, Scheme::Flat),
            ("branches in turn", Scheme::Flat, Scheme::Sequential),
            ("branches merged as blocks", Scheme::Sequential, Scheme::Nested),
            ("no blocks", Scheme::Nested, Scheme::Exclusive),
        ];
        let step = |(name, from, to)| Some((name, value(from)? - value(to)?));
        steps.into_iter().filter_map(step).collect()
    }
}

/// True where every layout that `high` allows is one that `low` allows.
fn narrower(low: &str, high: &str) -> bool {
    match low {
        "exclusive" => true,
        "sequential-branches" => matches!(high, "sequential-branches" | "flat-conflict" | "naive"),
        "flat-conflict" => matches!(high, "flat-conflict" | "naive"),
        "nested" => matches!(high, "nested" | "naive"),
        _ => high == low,
    }
}

/// The three strategies of SOURCES S0, Alg. 1.
pub(super) const FAST: [&str; 3] = ["sequential", "large-first", "short-first"];

/// Runs every scheme with the three strategies of S0 and with `solvers`, through both checkers.
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
) -> Result<Comparison, BranchError> {
    let fast = registry.offsets.iter().copied().filter(|entry| FAST.contains(&entry.name));
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
                solver: if scheme.scheme == Scheme::Naive { "-" } else { solver.name },
                arena: plan.peak.get(),
                lower_bound: plan.bound.get(),
                witness: plan.witness.clone(),
                arithmetic: plan.arithmetic,
                // A heuristic that meets a bound is optimal all the same.
                optimal: plan.is_optimal(),
                seconds: plan.seconds,
                runs: plan.runs,
                all_runs: plan.all_runs,
            });
        }
    }
    let load: Bytes = load(program.instance()).0;
    Ok(Comparison {
        graph: program.graph().name().to_owned(),
        regions: program.graph().regions().len(),
        buffers: program.buffers().len(),
        load: load.get(),
        lines,
        missing,
    })
}

//! The cover as an integer linear program, solved by `HiGHS` through `good_lp`.
//!
//! ```text
//! x_b = 1                                             buffer b is spilled; x_b = 0 if b must stay
//! sum of weight x_b >= sum of weights - most          for every row
//! minimise sum of traffic x_b
//! ```
//!
//! Rows are divided by their right-hand side. `HiGHS` treats coefficients of at most 1e-9 as zero, which
//! would make a row too strict. Small coefficients are therefore raised to 1e-7, which only weakens the row.
//! Whether the cover is feasible is always decided in integers.

use super::cover::{Cover, Covered};
use crate::highs::{End, Limits, Scale, believed_relative, solve};
use good_lp::solvers::highs::{HighsProblem, highs};
use good_lp::{Expression, ProblemVariables, SolverModel, Variable, constraint, variable};
use plimsoll_model::{Budget, Setup, SolveError, Stop};
use plimsoll_support::gcd;

const NAME: &str = "ilp";

/// Maximum number of row entries. Programs with more are rejected because `HiGHS` does not check the clock
/// while it reads them.
pub(super) const MOST_ENTRIES: usize = 1_000_000;

const LEAST: f64 = 1e-7;

/// Finds the minimum cost, or proves that it is at least `limit`. One node is one branch-and-bound node.
pub(super) fn least(
    cover: &Cover,
    limit: u64,
    setup: Setup,
    budget: &mut Budget,
) -> Result<Covered, SolveError> {
    if !cover.is_possible() {
        return Ok(Covered { bound: None, stays: None, stop: None });
    }
    let entries = cover.entries();
    if entries > MOST_ENTRIES {
        let reason = format!("{entries} row entries exceed the limit of {MOST_ENTRIES}");
        return Err(SolveError::Unsupported { solver: NAME, reason });
    }
    let unit = cover.costs.iter().flatten().fold(0, |unit, &cost| gcd(unit, cost)).max(1);
    let most = i64::try_from(limit / unit).unwrap_or(i64::MAX);
    let scale = Scale { most, unit: 1.0 / full(most) };
    let limits = Limits::of(budget);
    let answer =
        solve(NAME, setup, (limits, budget), scale, None, |watch| build(cover, (unit, most), watch))?;
    budget.spend(answer.nodes.max(1));
    if answer.end == End::Infeasible {
        // Spilling all buffers that may be spilled is a solution of the cover, so HiGHS failed
        // numerically.
        return Ok(Covered { bound: Some(0), stays: None, stop: Some(Stop::TimeLimit) });
    }
    let stays: Option<Vec<bool>> =
        answer.values.map(|values| values[..cover.buffers.len()].iter().map(|&value| value < 0.5).collect());
    let value = stays.as_ref().map(|stays| cover.cost(stays));
    let proved =
        believed_relative(answer.bound, most).map_or(0, |units| (units.max(0) as u64).saturating_mul(unit));
    let bound = Some(proved.min(limit).min(value.unwrap_or(u64::MAX)));
    let stop = match answer.end {
        End::Stopped(why) => Some(why.unwrap_or(Stop::TimeLimit)),
        _ => None,
    };
    Ok(Covered { bound, stays: stays.filter(|_| value.is_some_and(|value| value < limit)), stop })
}

/// Returns the divisor of objective values: the smallest power of two above `most`, or 1024, whichever is
/// smaller. Tolerances are then small compared with one unit.
fn full(most: i64) -> f64 {
    2f64.powi(64 - (most.max(1) as u64).leading_zeros() as i32).min(1024.0)
}

/// Builds the integer program. It is incomplete if the budget `watch` runs out.
fn build(cover: &Cover, (unit, most): (u64, i64), watch: &mut Budget) -> HighsProblem {
    let mut variables = ProblemVariables::new();
    let goes: Vec<Variable> = cover
        .costs
        .iter()
        .map(|cost| {
            let one = variable().binary();
            variables.add(if cost.is_none() { one.max(0.0) } else { one })
        })
        .collect();
    let worth = 1.0 / full(most);
    let priced = cover.costs.iter().zip(&goes).filter_map(|(cost, &goes)| Some((goes, (*cost)? / unit)));
    let objective: Expression = priced.map(|(goes, cost)| goes * (cost as f64 * worth)).sum();
    let mut model = variables.minimise(objective).using(highs);
    for row in &cover.rows {
        if watch.tick().is_some() {
            break;
        }
        let excess = row.excess();
        if excess > 0 {
            // The row is divided by its excess because tolerances are absolute. A weight above the excess
            // counts as the excess.
            let space = excess as f64;
            let share = |weight: u64| (u128::from(weight).min(excess) as f64 / space).max(LEAST);
            let sum: Expression = row.items.iter().map(|&(at, weight)| goes[at] * share(weight)).sum();
            model.add_constraint(constraint!(sum >= 1.0));
        }
    }
    model
}

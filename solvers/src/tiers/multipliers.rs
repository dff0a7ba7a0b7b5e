//! Computes dual multipliers of capacities by subgradient ascent on the Lagrangian dual (Held, Wolfe and
//! Crowder 1974).
//!
//! For given multipliers, every tensor is assigned to the tier in which its transfer time, plus its size
//! times the multipliers of its steps, is lowest. The multiplier of an overfull tier rises in proportion to
//! the excess, and that of a tier with free space falls. Step sizes shrink when progress stops. If the step
//! direction reverses, the new direction keeps part of the previous one (Camerini, Fratta and Maffioli 1975).
//! Only time steps whose capacity constraints are not implied by others have multipliers. Any multipliers
//! prove a bound, which is recomputed in integers.

use super::case::{Case, Choice, PARTS};
use plimsoll_model::tiers::{MULTIPLIER_UNIT, TierMultiplier};
use plimsoll_model::{Budget, TierId};

/// Maximum number of rounds. [`PATIENCE`] is the number of rounds without progress after which step sizes are
/// halved.
const ROUNDS: usize = 3000;
const PATIENCE: usize = 15;

/// Weight of the previous direction if the direction reverses, as a multiple of the weight that would make
/// the new direction orthogonal to the previous one.
const DEFLECTION: f64 = 1.5;

/// Maximum total work of all rounds, counted as options, rows and steps visited.
const MOST_WORK: usize = 200_000_000;

/// Maximum value of a multiplier, which keeps sums well within 128 bits.
const DEAREST: f64 = (1u64 << 44) as f64;

/// Returns dual multipliers at the tight steps of a case. `upper` is an upper bound on the optimal time.
pub(super) fn multipliers(case: &Case<'_>, upper: u64, watch: &mut Budget) -> Vec<TierMultiplier> {
    let mut ascent = Ascent::new(case);
    let work: usize =
        case.options.iter().map(Vec::len).sum::<usize>() + ascent.rows.len() + case.problem.duration();
    let rounds = ROUNDS.min(MOST_WORK / work.max(1)).max(1);
    let mut best = (f64::NEG_INFINITY, ascent.rows.iter().map(|_| 0.0).collect::<Vec<f64>>());
    let (mut scale, mut idle) = (1.0f64, 0);
    for _ in 0..rounds {
        // Any multipliers prove a valid bound, so the ascent may stop at any time.
        if watch.check().is_some() {
            break;
        }
        let value = ascent.evaluate();
        if value > best.0 {
            idle = if value > best.0 + 1e-6 * (upper as f64 - best.0).abs() { 0 } else { idle + 1 };
            best = (value, ascent.rows.iter().map(|row| row.multiplier).collect());
        } else {
            idle += 1;
        }
        if idle >= PATIENCE {
            (scale, idle) = (scale / 2.0, 0);
            for (row, &multiplier) in ascent.rows.iter_mut().zip(&best.1) {
                row.multiplier = multiplier;
            }
            ascent.evaluate();
            ascent.rows.iter_mut().for_each(|row| row.direction = 0.0);
        }
        let norm = ascent.deflect();
        let space = upper as f64 - value;
        // Times are integers, so a bound within half a picosecond of `upper` proves the plan optimal.
        if norm <= 0.0 || space <= 0.0 || best.0 > upper as f64 - 0.5 || scale < 1e-4 {
            break;
        }
        let step = scale * space / norm;
        for row in &mut ascent.rows {
            // The step is relative to the capacity, so that large and small tiers are treated alike.
            row.multiplier = (row.multiplier + step * row.direction / row.capacity).clamp(0.0, DEAREST);
        }
    }
    let whole = |(row, &multiplier): (&Row, &f64)| TierMultiplier {
        tier: row.tier,
        step: row.step,
        parts: row.parts as u32,
        multiplier: (multiplier * f64::from(1u32 << MULTIPLIER_UNIT)) as u64,
    };
    ascent.rows.iter().zip(&best.1).map(whole).filter(|one| one.multiplier > 0).collect()
}

/// A capacity constraint of one tier at one tight step, in bytes or in parts.
struct Row {
    tier: TierId,
    step: usize,
    /// Number of parts into which the capacity is divided, or zero if the constraint is in bytes.
    parts: usize,
    /// The capacity in bytes or parts.
    capacity: f64,
    /// The multiplier, in picoseconds per byte or part.
    multiplier: f64,
    /// The usage beyond the capacity, as a fraction of the capacity.
    excess: f64,
    /// The last step direction of the multiplier.
    direction: f64,
}

struct Ascent<'a, 'b> {
    case: &'a Case<'b>,
    rows: Vec<Row>,
    /// Per tier and number of parts (0 for bytes): prefix sums of the multipliers over the steps.
    sums: Vec<[Vec<f64>; PARTS + 1]>,
}

/// Returns the coefficient of a choice in the constraint of a row with the given number of parts (0 for
/// bytes).
fn weight(choice: &Choice, parts: usize) -> f64 {
    match parts.checked_sub(1) {
        None => choice.size as f64,
        Some(at) => f64::from(choice.parts[at]),
    }
}

impl<'a, 'b> Ascent<'a, 'b> {
    fn new(case: &'a Case<'b>) -> Self {
        let mut rows = Vec::new();
        for tier in case.problem.tiers() {
            let steps = case.telling(tier);
            for parts in 0..=PARTS {
                let bytes = case.problem.space(tier).capacity.get();
                let capacity = if parts == 0 { bytes as f64 } else { parts as f64 };
                let row = |&step: &usize| Row {
                    tier,
                    step,
                    parts,
                    capacity,
                    multiplier: 0.0,
                    excess: 0.0,
                    direction: 0.0,
                };
                rows.extend(steps.iter().map(row));
            }
        }
        let line = || vec![0.0; case.problem.duration() + 1];
        let sums = (0..case.problem.spaces().len()).map(|_| std::array::from_fn(|_| line())).collect();
        Self { case, rows, sums }
    }

    /// Computes the step direction and returns its squared norm. If the excess opposes the last direction, a
    /// multiple of the last direction is added, so that the scalar product of the new and the last direction
    /// is positive.
    fn deflect(&mut self) -> f64 {
        let (mut back, mut before) = (0.0, 0.0);
        for row in &self.rows {
            back += row.excess * row.direction;
            before += row.direction * row.direction;
        }
        let keep = if back < 0.0 && before > 0.0 { -DEFLECTION * back / before } else { 0.0 };
        let mut norm = 0.0;
        for row in &mut self.rows {
            row.direction = row.excess + keep * row.direction;
            norm += row.direction * row.direction;
        }
        norm
    }

    /// Returns the dual bound and updates the excess of every row.
    fn evaluate(&mut self) -> f64 {
        let case = self.case;
        for line in self.sums.iter_mut().flatten() {
            line.fill(0.0);
        }
        let mut value = 0.0;
        for row in &self.rows {
            self.sums[row.tier.index()][row.parts][row.step + 1] = row.multiplier;
            value -= row.multiplier * row.capacity;
        }
        self.sums.iter_mut().flatten().for_each(|line| add_up(line));
        let line = || vec![0.0f64; case.problem.duration() + 1];
        let mut change: Vec<[Vec<f64>; PARTS + 1]> =
            (0..case.problem.spaces().len()).map(|_| std::array::from_fn(|_| line())).collect();
        for (at, options) in case.options.iter().enumerate() {
            let one = &case.problem.tensors()[at];
            let mut least: Option<(f64, &Choice)> = None;
            for choice in options {
                let sums = &self.sums[choice.tier.index()];
                let pays =
                    |parts: usize| weight(choice, parts) * (sums[parts][one.upper] - sums[parts][one.lower]);
                let all = choice.cost as f64 + (0..=PARTS).map(pays).sum::<f64>();
                if least.is_none_or(|(least, _)| all < least) {
                    least = Some((all, choice));
                }
            }
            if let Some((all, choice)) = least {
                value += all;
                for (parts, line) in change[choice.tier.index()].iter_mut().enumerate() {
                    line[one.lower] += weight(choice, parts);
                    line[one.upper] -= weight(choice, parts);
                }
            }
        }
        change.iter_mut().flatten().for_each(|line| add_up(line));
        for row in &mut self.rows {
            row.excess = change[row.tier.index()][row.parts][row.step] / row.capacity - 1.0;
            if row.multiplier <= 0.0 && row.excess < 0.0 {
                row.excess = 0.0;
            }
        }
        value
    }
}

/// Replaces values by their prefix sums.
fn add_up(line: &mut [f64]) {
    for step in 1..line.len() {
        line[step] += line[step - 1];
    }
}

//! Fits rates to samples by least squares of relative errors.

/// Fits the coefficients of a linear model by least squares of relative errors. The relative error of a row
/// is the difference between its weighted sum and its target, divided by the target, which must be
/// positive. As long as any coefficient is negative, the most negative one is set to zero, and the others are
/// fitted again. Returns `None` if the rows do not determine the coefficients. O(r c^3 + c^4) for r rows
/// and c columns.
pub fn least_squares(rows: &[Vec<f64>], targets: &[f64]) -> Option<Vec<f64>> {
    let columns = rows.first()?.len();
    let mut used: Vec<usize> = (0..columns).collect();
    loop {
        let found = solve(rows, targets, &used)?;
        let least = found.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
        if least.1 >= 0.0 {
            let mut all = vec![0.0; columns];
            for (&column, value) in used.iter().zip(found) {
                all[column] = value;
            }
            return Some(all);
        }
        used.remove(least.0);
    }
}

/// Solves the normal equations of some columns by Gaussian elimination with partial pivoting.
fn solve(rows: &[Vec<f64>], targets: &[f64], used: &[usize]) -> Option<Vec<f64>> {
    let size = used.len();
    let mut system = vec![vec![0.0; size + 1]; size];
    for (row, target) in rows.iter().zip(targets) {
        if *target <= 0.0 {
            return None;
        }
        for (at, &column) in used.iter().enumerate() {
            let own = row[column] / target;
            for (to, &other) in used.iter().enumerate() {
                system[at][to] += own * row[other] / target;
            }
            system[at][size] += own;
        }
    }
    // Columns differ by many orders of magnitude, so they are scaled to equal norms.
    let scale: Vec<f64> = (0..size).map(|at| system[at][at].sqrt()).collect();
    if scale.iter().any(|&scale| scale <= 0.0 || !scale.is_finite()) {
        return None;
    }
    for (at, row) in system.iter_mut().enumerate() {
        for (to, value) in row.iter_mut().enumerate() {
            *value /= scale[at] * scale.get(to).copied().unwrap_or(1.0);
        }
    }
    for at in 0..size {
        let pivot = (at..size).max_by(|&a, &b| system[a][at].abs().total_cmp(&system[b][at].abs()))?;
        system.swap(at, pivot);
        if system[at][at].abs() < 1e-9 {
            return None;
        }
        let (above, below) = system.split_at_mut(at + 1);
        let pivot = &above[at];
        for row in below {
            let factor = row[at] / pivot[at];
            for (value, by) in row.iter_mut().zip(pivot) {
                *value -= factor * by;
            }
        }
    }
    let mut found = vec![0.0; size];
    for at in (0..size).rev() {
        let known: f64 = (at + 1..size).map(|to| system[at][to] * found[to]).sum();
        found[at] = (system[at][size] - known) / system[at][at];
    }
    Some(found.iter().zip(scale).map(|(value, scale)| value / scale).collect())
}

/// Returns the median, which is the middle number or the mean of the middle two. Returns `None` if there are
/// no numbers.
pub fn median(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = numbers.into_iter().collect();
    all.sort_by(f64::total_cmp);
    let half = all.len() / 2;
    match all.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(all[half]),
        _ => Some(f64::midpoint(all[half - 1], all[half])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_coefficients_are_found() {
        let truth = [2e-6, 1e-10, 5e-11];
        let row = |at: usize| {
            let amount = 1000.0 * f64::from(1 << (at % 12));
            if at.is_multiple_of(2) { vec![1.0, amount, 0.0] } else { vec![1.0, 0.0, amount] }
        };
        let rows: Vec<Vec<f64>> = (0..40).map(row).collect();
        let target = |(at, row): (usize, &Vec<f64>)| {
            let exact: f64 = row.iter().zip(truth).map(|(a, b)| a * b).sum();
            exact * if at % 3 == 0 { 1.01 } else { 0.995 }
        };
        let targets: Vec<f64> = rows.iter().enumerate().map(target).collect();
        let found = least_squares(&rows, &targets).unwrap();
        for (found, truth) in found.iter().zip(truth) {
            assert!((found / truth - 1.0).abs() < 0.02, "{found} for {truth}");
        }
    }

    #[test]
    fn negative_coefficients_become_zero_and_gaps_are_detected() {
        let rows = vec![vec![1.0, 1.0], vec![1.0, 2.0], vec![1.0, 4.0]];
        let found = least_squares(&rows, &[1.0, 3.0, 7.0]).unwrap();
        assert!(found[0] == 0.0 && found[1] > 1.0, "{found:?}");
        assert_eq!(least_squares(&[vec![1.0, 0.0]], &[1.0]), None);
        assert_eq!(least_squares(&[vec![1.0, 2.0], vec![2.0, 4.0]], &[1.0, 2.0]), None);
        assert_eq!(least_squares(&[], &[]), None);
        assert_eq!(least_squares(&[vec![1.0]], &[0.0]), None);
    }

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
    }
}

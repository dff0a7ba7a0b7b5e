//! Rigid groups: buffers that lie at given distances from each other.
//!
//! The column `above` places a buffer a number of bytes above another one. The buffers that are linked in
//! this way form a tree. Its root is the lowest of them, because distances are never negative.

use crate::error::InstanceError;

/// The largest distance and the largest alignment of a group, in bytes.
const MOST: i128 = i64::MAX as i128;

/// A field of the column `above`: the buffer at position `upper` lies `distance` bytes above the one at
/// position `lower`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Above {
    pub line: u64,
    pub upper: usize,
    pub lower: usize,
    pub distance: i128,
}

/// Returns, for each buffer of a group, its root and its distance from the root in bytes. Every buffer has at
/// most one statement. The time is linear in the number of buffers.
pub(crate) fn distances(count: usize, stated: &[Above]) -> Result<Vec<Option<(usize, i128)>>, InstanceError> {
    let mut below: Vec<Option<&Above>> = vec![None; count];
    for one in stated {
        below[one.upper] = Some(one);
    }
    let mut found: Vec<Option<(usize, i128)>> = vec![None; count];
    for one in stated {
        if below[one.lower].is_none() {
            found[one.lower] = Some((one.lower, 0));
        }
    }
    for first in stated {
        let (mut path, mut at) = (Vec::new(), first.upper);
        while let (None, Some(one)) = (found[at], below[at]) {
            if path.len() == stated.len() {
                return Err(fail(one.line, "the buffer lies above itself"));
            }
            path.push(one);
            at = one.lower;
        }
        for one in path.into_iter().rev() {
            let Some((root, distance)) = found[one.lower] else { continue };
            let distance = distance + one.distance;
            if distance > MOST {
                return Err(fail(one.line, "the distance is too large"));
            }
            found[one.upper] = Some((root, distance));
        }
    }
    Ok(found)
}

/// Returns the alignment and the residue of a base if, for each pair `(alignment, distance)`, the base plus
/// the distance must be a multiple of the alignment. Returns `None` if there is no such base, or if the
/// alignment is too large.
pub(crate) fn base(members: &[(i128, i128)]) -> Option<(i128, i128)> {
    members.iter().try_fold((1, 0), |(step, residue), &(alignment, distance)| {
        let common = gcd(step, alignment);
        let missing = (-distance - residue).rem_euclid(alignment);
        let (rest, whole) = (alignment / common, step * (alignment / common));
        if missing % common != 0 || whole > MOST {
            return None;
        }
        // The residue plus this number of steps satisfies the new condition as well.
        let steps = missing / common * inverse(step / common, rest) % rest;
        Some((whole, residue + step * steps))
    })
}

/// Returns the inverse of `value` modulo `modulus`, which have no common divisor, by Euclid's algorithm.
fn inverse(value: i128, modulus: i128) -> i128 {
    let (mut a, mut b, mut x, mut y) = (value % modulus, modulus, 1, 0);
    while b != 0 {
        let quotient = a / b;
        (a, b, x, y) = (b, a - quotient * b, y, x - quotient * y);
    }
    x.rem_euclid(modulus)
}

/// Returns the greatest common divisor.
pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn fail(line: u64, reason: &str) -> InstanceError {
    InstanceError { line, reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_meet_all_conditions() {
        for (a, b) in (1..=9).flat_map(|a| (1..=9).map(move |b| (a, b))) {
            for (low, high) in [(0, 0), (0, 5), (3, 4), (7, 100)] {
                let all: Vec<i128> =
                    (0..200).filter(|at| (at + low) % a == 0 && (at + high) % b == 0).collect();
                match base(&[(a, low), (b, high)]) {
                    Some((step, residue)) => {
                        assert!(all.iter().copied().eq((residue..200).step_by(step as usize)), "{a} {b}");
                    }
                    None => assert!(all.is_empty(), "{a} {b} {low} {high}"),
                }
            }
        }
    }
}

//! Half-open intervals of steps, and lifespans built from them.

use crate::units::Step;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A half-open interval of steps `[lower, upper)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Interval {
    /// The first step in the interval.
    pub lower: Step,
    /// The first step after the interval.
    pub upper: Step,
}

impl Interval {
    /// Creates the interval `[lower, upper)`. It may be empty; a [`Lifespan`] rejects empty intervals.
    pub fn new(lower: impl Into<Step>, upper: impl Into<Step>) -> Self {
        Self { lower: lower.into(), upper: upper.into() }
    }

    /// Returns true if the interval contains no step.
    pub fn is_empty(self) -> bool {
        self.upper <= self.lower
    }

    /// Returns the number of steps inside.
    pub fn duration(self) -> u64 {
        self.upper.get().saturating_sub(self.lower.get())
    }

    /// Returns true if the two intervals share a step.
    #[inline]
    pub fn intersects(self, other: Self) -> bool {
        self.lower < other.upper && other.lower < self.upper
    }

    /// Returns true if `step` lies inside.
    #[inline]
    pub fn contains(self, step: Step) -> bool {
        self.lower <= step && step < self.upper
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.lower, self.upper)
    }
}

/// The reason why intervals do not form a lifespan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum LifespanError {
    #[error("a lifespan needs at least one interval")]
    Empty,
    #[error("interval {0} contains no step: upper must exceed lower")]
    EmptyInterval(Interval),
    /// Two intervals of one lifespan share a step.
    #[error("intervals {0} and {1} of one lifespan overlap")]
    Overlapping(Interval, Interval),
    /// A gap is not inside the lifespan.
    #[error("gap {gap} does not lie inside {within}")]
    GapOutside { gap: Interval, within: Interval },
    /// A gap shares a step with the previous gap.
    #[error("gaps {0} and {1} overlap")]
    GapsOverlap(Interval, Interval),
    #[error("the gaps leave no live step in {0}")]
    NothingLive(Interval),
}

/// The steps at which a buffer is live: disjoint half-open intervals in ascending order.
///
/// Adjacent intervals are merged, so the representation is canonical. A single interval needs no allocation.
/// Only a buffer of size 0 may have a lifespan [without steps](Self::empty_at).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lifespan {
    hull: Interval,
    /// All intervals; `None` if there is exactly one.
    parts: Option<Box<[Interval]>>,
}

impl Lifespan {
    /// Creates a lifespan of one interval `[lower, upper)`.
    ///
    /// # Errors
    /// [`LifespanError::EmptyInterval`] if `upper <= lower`.
    pub fn single(lower: impl Into<Step>, upper: impl Into<Step>) -> Result<Self, LifespanError> {
        Self::from_intervals([Interval::new(lower, upper)])
    }

    /// Creates a lifespan from disjoint intervals in any order. O(k log k) for k intervals.
    ///
    /// # Errors
    /// [`LifespanError`] if there is no interval, an interval is empty, or two intervals overlap.
    pub fn from_intervals(intervals: impl IntoIterator<Item = Interval>) -> Result<Self, LifespanError> {
        let mut sorted: Vec<Interval> = intervals.into_iter().collect();
        sorted.sort_unstable();
        if let Some(&empty) = sorted.iter().find(|interval| interval.is_empty()) {
            return Err(LifespanError::EmptyInterval(empty));
        }
        let mut merged: Vec<Interval> = Vec::with_capacity(sorted.len());
        for interval in sorted {
            match merged.last_mut() {
                Some(last) if interval.lower < last.upper => {
                    return Err(LifespanError::Overlapping(*last, interval));
                }
                Some(last) if interval.lower == last.upper => last.upper = interval.upper,
                _ => merged.push(interval),
            }
        }
        let (Some(first), Some(last)) = (merged.first(), merged.last()) else {
            return Err(LifespanError::Empty);
        };
        let hull = Interval::new(first.lower, last.upper);
        let parts = (merged.len() > 1).then(|| merged.into_boxed_slice());
        Ok(Self { hull, parts })
    }

    /// Creates a lifespan from an interval and the gaps in it, as in `MiniMalloc`'s CSV format.
    ///
    /// # Errors
    /// [`LifespanError`] if `hull` is empty, if a gap is empty, is not inside `hull` or overlaps another gap,
    /// or if no live step remains.
    pub fn with_gaps(
        hull: Interval,
        gaps: impl IntoIterator<Item = Interval>,
    ) -> Result<Self, LifespanError> {
        if hull.is_empty() {
            return Err(LifespanError::EmptyInterval(hull));
        }
        let mut gaps: Vec<Interval> = gaps.into_iter().collect();
        gaps.sort_unstable();
        let mut live = Vec::with_capacity(gaps.len() + 1);
        let mut from = hull.lower;
        let mut before = None;
        for gap in gaps {
            if gap.is_empty() {
                return Err(LifespanError::EmptyInterval(gap));
            }
            if gap.lower < hull.lower || gap.upper > hull.upper {
                return Err(LifespanError::GapOutside { gap, within: hull });
            }
            if let Some(before) = before
                && gap.lower < from
            {
                return Err(LifespanError::GapsOverlap(before, gap));
            }
            before = Some(gap);
            if from < gap.lower {
                live.push(Interval::new(from, gap.lower));
            }
            from = gap.upper;
        }
        if from < hull.upper {
            live.push(Interval::new(from, hull.upper));
        }
        if live.is_empty() {
            return Err(LifespanError::NothingLive(hull));
        }
        Self::from_intervals(live)
    }

    /// Creates a lifespan without steps, written `[step, step)`. Some planners write such a lifespan for
    /// buffers of size 0. An instance rejects it for buffers of any other size.
    pub fn empty_at(step: impl Into<Step>) -> Self {
        let step = step.into();
        Self { hull: Interval::new(step, step), parts: Some(Box::default()) }
    }

    /// Returns true if the lifespan contains no step.
    pub fn is_empty(&self) -> bool {
        self.hull.is_empty()
    }

    /// Returns the interval from the first live step to the step after the last one. It is empty if there is
    /// no live step.
    #[inline]
    pub fn hull(&self) -> Interval {
        self.hull
    }

    /// Returns the disjoint intervals in ascending order. No two of them are adjacent.
    #[inline]
    pub fn intervals(&self) -> &[Interval] {
        match &self.parts {
            Some(parts) => parts,
            None => std::slice::from_ref(&self.hull),
        }
    }

    /// Returns true if the lifespan has more than one interval.
    #[inline]
    pub fn has_gaps(&self) -> bool {
        self.parts.as_ref().is_some_and(|parts| !parts.is_empty())
    }

    /// Returns the number of live steps. Gaps do not count.
    pub fn duration(&self) -> u64 {
        self.intervals().iter().map(|i| i.duration()).sum()
    }

    /// Returns true if `step` is a live step.
    pub fn contains(&self, step: Step) -> bool {
        let parts = self.intervals();
        let after = parts.partition_point(|part| part.upper <= step);
        parts.get(after).is_some_and(|part| part.contains(step))
    }

    /// Returns true if the two lifespans share a live step. O(k) for k intervals in total.
    #[inline]
    pub fn intersects(&self, other: &Self) -> bool {
        if !self.hull.intersects(other.hull) {
            return false;
        }
        if self.parts.is_none() && other.parts.is_none() {
            return true;
        }
        let (mut mine, mut theirs) = (self.intervals(), other.intervals());
        while let (Some(a), Some(b)) = (mine.first(), theirs.first()) {
            if a.intersects(*b) {
                return true;
            }
            if a.upper <= b.upper {
                mine = &mine[1..];
            } else {
                theirs = &theirs[1..];
            }
        }
        false
    }
}

impl fmt::Display for Lifespan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return self.hull.fmt(f);
        }
        for (i, part) in self.intervals().iter().enumerate() {
            if i > 0 {
                f.write_str(" + ")?;
            }
            part.fmt(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lifespan(parts: &[(u64, u64)]) -> Lifespan {
        Lifespan::from_intervals(parts.iter().map(|&(l, u)| Interval::new(l, u))).unwrap()
    }

    #[test]
    fn adjacent_intervals_are_one() {
        let merged = lifespan(&[(4, 6), (0, 4)]);
        assert_eq!(merged, Lifespan::single(0, 6).unwrap());
        assert!(!merged.has_gaps());
    }

    #[test]
    fn intersects_respects_gaps() {
        let gapped = lifespan(&[(0, 2), (5, 8)]);
        assert!(!gapped.intersects(&lifespan(&[(2, 5)])));
        assert!(gapped.intersects(&lifespan(&[(2, 6)])));
        assert!(gapped.intersects(&lifespan(&[(1, 2), (9, 10)])));
        assert!(gapped.contains(Step::new(5)) && !gapped.contains(Step::new(2)));
        assert_eq!(gapped.duration(), 5);
    }

    #[test]
    fn gaps_must_lie_inside() {
        let hull = Interval::new(0, 10);
        let gapped = Lifespan::with_gaps(hull, [Interval::new(3, 5)]).unwrap();
        assert_eq!(gapped, lifespan(&[(0, 3), (5, 10)]));
        assert!(Lifespan::with_gaps(hull, [Interval::new(8, 11)]).is_err());
        assert!(Lifespan::with_gaps(hull, [Interval::new(0, 10)]).is_err());
        assert!(Lifespan::with_gaps(hull, [Interval::new(2, 5), Interval::new(4, 6)]).is_err());
    }

    #[test]
    fn an_empty_lifespan_intersects_nothing() {
        let empty = Lifespan::empty_at(3);
        assert!(empty.is_empty() && !empty.has_gaps() && empty.intervals().is_empty());
        assert!(!empty.contains(Step::new(3)) && empty.duration() == 0);
        assert!(!empty.intersects(&lifespan(&[(0, 9)])) && !lifespan(&[(0, 9)]).intersects(&empty));
        assert!(!empty.intersects(&lifespan(&[(0, 4), (6, 9)])) && !empty.intersects(&empty));
        assert_eq!(empty.to_string(), "[3, 3)");
    }

    #[test]
    fn empty_and_overlapping_intervals_are_rejected() {
        assert!(Lifespan::single(3, 3).is_err());
        assert!(Lifespan::from_intervals([]).is_err());
        assert!(Lifespan::from_intervals([Interval::new(0, 3), Interval::new(2, 4)]).is_err());
    }
}

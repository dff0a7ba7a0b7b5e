//! Sequences of jobs, described by hills and valleys of live bytes, and their optimal merge.
//!
//! A job temporarily raises the live bytes by its *hill*. Its *net* is the change in live bytes that remains
//! after the job. A sequence of jobs is divided into segments that are never worth interrupting. Before the
//! lowest valley of the sequence, segments have a negative net, and their hills are ascending. After it,
//! segments have a non-negative net, and their drops from the hill to the end (`hill - net`) are descending.
//! Sorting the segments of independent sequences merges the sequences optimally. Segments that free memory
//! come first, by ascending hill. The others follow, by descending drop. A segment that would not sort after
//! its predecessor in the sequence is joined to it.
//!
//! **Source.** Trees: Liu (1987), An application of generalized tree pebbling to sparse matrix factorization.
//! Series-parallel graphs: Abdel-Wahab, Kameda (1978), Scheduling to minimize maximum cumulative cost subject
//! to series-parallel precedence constraints.

use std::collections::VecDeque;

/// The ascending sort key of segments when independent sequences are merged.
type Rank = (bool, i64);

/// Consecutive jobs that run without interruption. The jobs form a linked list in [`Chains`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Peak live bytes relative to those before the segment.
    pub hill: i64,
    /// Live bytes after the segment relative to those before it.
    pub net: i64,
    /// The first and the last job.
    pub ends: (u32, u32),
}

impl Segment {
    pub(super) fn rank(&self) -> Rank {
        if self.net < 0 { (false, self.hill) } else { (true, self.net - self.hill) }
    }
}

/// The successor of every job within its segment.
#[derive(Clone, Debug)]
pub struct Chains {
    after: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Chains {
    /// Creates chains for jobs that are numbered from 0, in O(n).
    pub fn new(jobs: usize) -> Self {
        Self { after: vec![NONE; jobs] }
    }

    fn join(&mut self, a: Segment, b: Segment) -> Segment {
        self.after[a.ends.1 as usize] = b.ends.0;
        let hill = a.hill.max(a.net + b.hill);
        Segment { hill, net: a.net + b.net, ends: (a.ends.0, b.ends.1) }
    }

    /// Returns the jobs of a segment in order.
    pub fn jobs(&self, segment: &Segment) -> impl Iterator<Item = u32> {
        let last = segment.ends.1;
        std::iter::successors(Some(segment.ends.0), move |&job| {
            if job == last { None } else { Some(self.after[job as usize]) }
        })
    }
}

/// A sequence of jobs, stored as segments in ascending order of rank.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    segments: VecDeque<Segment>,
}

impl Sequence {
    /// Returns a sequence of one job with its hill and net in bytes.
    pub fn single(job: u32, hill: i64, net: i64) -> Self {
        Self { segments: VecDeque::from([Segment { hill, net, ends: (job, job) }]) }
    }

    /// Returns the segments in order.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter()
    }

    /// Appends another sequence to this one. Takes amortised time linear in the number of segments of the
    /// shorter sequence.
    #[must_use]
    pub fn then(mut self, mut other: Self, chains: &mut Chains) -> Self {
        if other.segments.len() <= self.segments.len() {
            while let Some(mut next) = other.segments.pop_front() {
                let mut joined = false;
                while let Some(&last) = self.segments.back()
                    && last.rank() >= next.rank()
                {
                    self.segments.pop_back();
                    next = chains.join(last, next);
                    joined = true;
                }
                self.segments.push_back(next);
                if !joined {
                    // The remaining segments are already in ascending order of rank.
                    self.segments.append(&mut other.segments);
                }
            }
            return self;
        }
        while let Some(mut last) = self.segments.pop_back() {
            let mut joined = false;
            while let Some(&next) = other.segments.front()
                && last.rank() >= next.rank()
            {
                other.segments.pop_front();
                last = chains.join(last, next);
                joined = true;
            }
            other.segments.push_front(last);
            if !joined {
                self.segments.append(&mut other.segments);
                return self;
            }
        }
        other
    }

    /// Merges two independent sequences into one with the lowest peak. Among segments of equal rank, those of
    /// the longer sequence come first. O(s log l) for s segments in the shorter sequence and l in the longer
    /// one, plus the moves of insertion.
    #[must_use]
    pub fn beside(mut self, mut other: Self) -> Self {
        if other.segments.len() > self.segments.len() {
            std::mem::swap(&mut self, &mut other);
        }
        for segment in other.segments {
            let at = self.segments.partition_point(|one| one.rank() <= segment.rank());
            self.segments.insert(at, segment);
        }
        self
    }
}

//! Sequences of jobs as hills and valleys of live bytes, and their optimal merge.
//!
//! A job raises the live bytes by at most its *hill* and changes them by its *net*. A sequence of jobs is
//! divided into segments; interrupting a segment never pays. Before the lowest valley of the sequence,
//! segments have negative net, with ascending hills. After it, segments have non-negative net, with
//! descending `hill - net`. Independent sequences are merged optimally by sorting their segments in this
//! order. Segments that free memory come first, by ascending hill; the others follow, by descending drop from
//! hill to end. A segment that would sort before its predecessor is joined to it.
//!
//! **Source.** Liu: An application of generalized tree pebbling to sparse matrix factorization, 1987, for
//! trees; Abdel-Wahab, Kameda: Scheduling to minimize maximum cumulative cost subject to series-parallel
//! precedence constraints, 1978.

use std::collections::VecDeque;

/// The sort key of segments when independent sequences are merged; smaller comes first.
type Rank = (bool, i64);

/// A run of jobs without interruption. The jobs form a linked list in [`Chains`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// Peak live bytes relative to those before the segment.
    pub hill: i64,
    /// Live bytes after the segment relative to those before it.
    pub net: i64,
    /// First and last job.
    pub ends: (u32, u32),
}

impl Segment {
    pub fn rank(&self) -> Rank {
        if self.net < 0 { (false, self.hill) } else { (true, self.net - self.hill) }
    }
}

/// The successor of every job within its segment.
pub(super) struct Chains {
    after: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Chains {
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

/// A sequence of jobs, as segments in ascending order of rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    segments: VecDeque<Segment>,
}

impl Sequence {
    pub fn single(job: u32, hill: i64, net: i64) -> Self {
        Self { segments: VecDeque::from([Segment { hill, net, ends: (job, job) }]) }
    }

    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter()
    }

    /// Concatenates this sequence and another. O(segments of the shorter), amortised over joins.
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
                    // The remaining segments already ascend by rank.
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

    /// Merges two independent sequences with the least peak. Ties go to the longer sequence.
    /// O(segments of the shorter times the logarithm of the longer), plus the moves of insertion.
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

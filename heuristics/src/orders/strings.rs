//! Strings: sequences of jobs as hills and valleys, and how to merge them.
//!
//! A job raises what is alive by at most its *hill* and leaves it changed by its *net*. A sequence of jobs is cut into
//! segments, each a job by itself that is best not interrupted. Going down to the lowest valley of the sequence come
//! segments of negative net, hills ascending; coming up from it segments of other nets, `hill - net` descending.
//! Independent sequences are merged optimally by sorting their segments in that order: first those that free, the
//! lowest hill first, then the others, the largest fall from hill to end first. A segment that would have to come before
//! the one it follows is joined to it.
//!
//! **Source.** Liu: An application of generalized tree pebbling to sparse matrix factorization, 1987, for trees; Abdel-Wahab,
//! Kameda: Scheduling to minimize maximum cumulative cost subject to series-parallel precedence constraints, 1978.

use std::collections::VecDeque;

/// What comes first when independent segments are merged: smaller first.
type Rank = (bool, i64);

/// Jobs run without interruption. The jobs themselves are a chain of numbers in [`Chains`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The most bytes alive beyond those before it.
    pub hill: i64,
    /// Bytes alive after it beyond those before it.
    pub net: i64,
    /// First and last job.
    pub ends: (u32, u32),
}

impl Segment {
    pub fn rank(&self) -> Rank {
        if self.net < 0 { (false, self.hill) } else { (true, self.net - self.hill) }
    }
}

/// Which job follows which in its segment.
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

    /// The jobs of a segment in sequence.
    pub fn jobs(&self, segment: &Segment) -> impl Iterator<Item = u32> {
        let last = segment.ends.1;
        std::iter::successors(Some(segment.ends.0), move |&job| {
            if job == last { None } else { Some(self.after[job as usize]) }
        })
    }
}

/// A sequence, its segments in the order of their ranks.
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

    /// This one, then the other. O(segments of the shorter), amortised over joins.
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
                    // The rest follows in the order of ranks already.
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

    /// Both, interleaved so that the peak is least. Ties: the longer one's first.
    /// O(segments of the shorter times the logarithm of the longer), beyond moving what lies between.
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

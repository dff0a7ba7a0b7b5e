//! Which placed buffer lies directly above or below another, per section.

use crate::offsets::search::valley::Span;
use std::sync::Arc;

/// The buffers directly above and below each placed buffer, as runs of sections.
///
/// A border lies below and above all buffers. Its index is the number of buffers. The runs of a buffer cover
/// its sections, those of the border all sections, and consecutive runs have different buffers. Each start
/// and each end of a buffer adds at most a constant number of runs, so a buffer has a few runs on average,
/// however many sections it covers.
#[derive(Debug)]
pub(super) struct Contacts {
    spans: Arc<[Span]>,
    above: Vec<Vec<Run>>,
    below: Vec<Vec<Run>>,
    /// Per section: the buffer below the one that is about to be added.
    under: Vec<u32>,
}

/// A neighbour, from a section up to the next run of the same buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    from: u32,
    buffer: u32,
}

impl Contacts {
    /// Creates the border without buffers.
    pub fn new(spans: Arc<[Span]>) -> Self {
        let lists = vec![Vec::new(); spans.len() + 1];
        let sections = spans.iter().map(|span| span.end as usize).max().unwrap_or(0);
        let under = vec![0; sections];
        let mut own = Self { spans, above: lists.clone(), below: lists, under };
        own.clear();
        own
    }

    /// Removes all buffers.
    pub fn clear(&mut self) {
        let border = self.border();
        for lists in [&mut self.above, &mut self.below] {
            lists.iter_mut().for_each(Vec::clear);
            lists[border as usize].push(Run { from: 0, buffer: border });
        }
    }

    /// Lists the buffers directly above a buffer. A removed buffer keeps its list.
    pub fn above(&self, b: u32) -> impl Iterator<Item = u32> {
        self.buffers(&self.above[b as usize])
    }

    /// Lists the buffers directly below a buffer. A removed buffer keeps its list.
    pub fn below(&self, b: u32) -> impl Iterator<Item = u32> {
        self.buffers(&self.below[b as usize])
    }

    /// Lists the buffers of runs, without the border.
    fn buffers(&self, runs: &[Run]) -> impl Iterator<Item = u32> {
        let border = self.border();
        runs.iter().map(|run| run.buffer).filter(move |&other| other != border)
    }

    /// Adds a buffer above the given ones, which are in descending order, and below all others.
    pub fn add(&mut self, b: u32, below: impl Iterator<Item = u32>) {
        let (start, end) = self.spans[b as usize].sections();
        let border = self.border();
        self.under[start..end].fill(border);
        let mut open = end - start;
        for other in below {
            let (first, last) = self.spans[other as usize].sections();
            for under in &mut self.under[first.max(start)..last.min(end)] {
                if *under == border {
                    *under = other;
                    open -= 1;
                }
            }
            if open == 0 {
                break;
            }
        }
        self.link(b);
    }

    /// Adds a buffer above all others.
    pub fn add_on_top(&mut self, b: u32) {
        let (start, end) = self.spans[b as usize].sections();
        for (from, to, other) in pieces(&self.below[self.border() as usize], (start, end), self.under.len()) {
            self.under[from..to].fill(other);
        }
        self.link(b);
    }

    /// Removes a buffer. The neighbours below and above it become neighbours.
    pub fn remove(&mut self, b: u32) {
        let (start, end) = self.spans[b as usize].sections();
        let below = std::mem::take(&mut self.below[b as usize]);
        let above = std::mem::take(&mut self.above[b as usize]);
        for (first, last, low) in pieces(&below, (start, end), end) {
            for (from, to, high) in pieces(&above, (first, last), end) {
                self.join(low, high, (from, to));
            }
        }
        (self.below[b as usize], self.above[b as usize]) = (below, above);
    }

    fn border(&self) -> u32 {
        self.spans.len() as u32
    }

    /// Returns the section after the last of a buffer or of the border.
    fn end(&self, b: u32) -> usize {
        self.spans.get(b as usize).map_or(self.under.len(), |span| span.end as usize)
    }

    /// Inserts a buffer directly above those in `under`.
    fn link(&mut self, b: u32) {
        let (start, end) = self.spans[b as usize].sections();
        let border = Run { from: start as u32, buffer: self.border() };
        for lists in [&mut self.above, &mut self.below] {
            lists[b as usize].clear();
            lists[b as usize].push(border);
        }
        let mut from = start;
        while from < end {
            let low = self.under[from];
            let to = from + self.under[from..end].iter().take_while(|&&other| other == low).count();
            let above = std::mem::take(&mut self.above[low as usize]);
            for (first, last, high) in pieces(&above, (from, to), self.end(low)) {
                self.join(b, high, (first, last));
            }
            self.above[low as usize] = above;
            self.join(low, b, (from, to));
            from = to;
        }
    }

    /// Makes two buffers neighbours in a range of sections.
    fn join(&mut self, low: u32, high: u32, range: (usize, usize)) {
        let (low_end, high_end) = (self.end(low), self.end(high));
        replace(&mut self.above[low as usize], range, low_end, high);
        replace(&mut self.below[high as usize], range, high_end, low);
    }
}

/// Lists the parts of runs within a range of sections, as (first section, section after the last, buffer).
/// `end` is the section after the last run.
fn pieces(
    runs: &[Run],
    (from, to): (usize, usize),
    end: usize,
) -> impl Iterator<Item = (usize, usize, u32)> + '_ {
    let first = runs.partition_point(|run| run.from as usize <= from).saturating_sub(1);
    (first..runs.len()).map_while(move |at| {
        let run = runs[at];
        let last = runs.get(at + 1).map_or(end, |next| next.from as usize);
        let piece = ((run.from as usize).max(from), last.min(to), run.buffer);
        (piece.0 < piece.1).then_some(piece)
    })
}

/// Replaces the neighbour in a range of sections. `end` is the section after the last run.
fn replace(runs: &mut Vec<Run>, (from, to): (usize, usize), end: usize, buffer: u32) {
    let first = runs.partition_point(|run| (run.from as usize) < from);
    let last = runs.partition_point(|run| run.from as usize <= to);
    let before = first.checked_sub(1).map(|at| runs[at].buffer);
    let after = last.checked_sub(1).map(|at| runs[at].buffer).filter(|_| to < end);
    let own = Run { from: from as u32, buffer };
    let rest = after.filter(|&after| after != buffer).map(|buffer| Run { from: to as u32, buffer });
    let own = Some(own).filter(|_| before != Some(buffer));
    runs.splice(first..last, own.into_iter().chain(rest));
}

#[cfg(test)]
impl PartialEq for Contacts {
    fn eq(&self, other: &Self) -> bool {
        let border = self.border() as usize;
        // Removed buffers keep their lists, so only buffers that the border reaches count.
        let mut open = vec![border];
        let mut seen = vec![false; border + 1];
        while let Some(b) = open.pop() {
            if !std::mem::replace(&mut seen[b], true) {
                if self.above[b] != other.above[b] || self.below[b] != other.below[b] {
                    return false;
                }
                open.extend(self.above[b].iter().map(|run| run.buffer as usize));
            }
        }
        true
    }
}

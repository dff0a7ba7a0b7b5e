//! From an instance to buffers over runs of sections, in units of the common divisor.

use plimsoll_model::{Bytes, Instance, Layout, Step, sections};

/// An interval instance reduced to sections: a buffer covers a run of them with a number of units.
///
/// Buffers are renumbered by start, then end; `origin` maps back. O(n log n + total size of the sections).
#[derive(Clone, Debug)]
pub struct Reduced {
    /// Bytes per unit.
    pub grain: u64,
    /// Number of sections.
    pub sections: usize,
    /// Sections and size of each buffer, by ascending start.
    pub spans: Vec<Span>,
    /// The first buffer with the same sections and size.
    pub twin: Vec<u32>,
    /// Index in the instance.
    pub origin: Vec<u32>,
    /// `first_at[s]..first_at[s + 1]` are the buffers that start at section `s`.
    pub first_at: Vec<u32>,
    /// Units live in each section.
    pub load: Vec<i64>,
}

/// The sections that a buffer covers, and its size, stored together for locality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First section.
    pub start: u32,
    /// The section after the last.
    pub end: u32,
    /// Units.
    pub size: i64,
}

impl Span {
    /// First section, and the section after the last, as indices.
    pub fn sections(self) -> (usize, usize) {
        (self.start as usize, self.end as usize)
    }
}

impl Reduced {
    /// Reduces an interval instance without alignments and fixed offsets; `None` for others.
    pub fn of(instance: &Instance) -> Option<Self> {
        if !instance.is_interval() || instance.has_alignment() || instance.has_fixed() {
            return None;
        }
        let grain = instance.grain().get();
        // Sections are disjoint intervals in ascending order: a buffer covers a run of them.
        let intervals: Vec<(Step, Step)> =
            sections(instance).iter().map(|s| (s.interval.lower, s.interval.upper)).collect();
        let mut rows: Vec<(u32, u32, i64, u32)> = Vec::with_capacity(instance.len());
        for id in instance.ids() {
            let b = instance.buffer(id);
            let hull = b.lifespan().hull();
            let start = intervals.partition_point(|&(_, upper)| upper <= hull.lower);
            let end = intervals.partition_point(|&(lower, _)| lower < hull.upper);
            rows.push((start as u32, end as u32, (b.size().get() / grain) as i64, id.get()));
        }
        Some(Self::from_rows(grain, intervals.len(), rows))
    }

    /// The sections `from..to` only: lifespans are clipped to them and buffers outside are omitted. `origin`
    /// indexes the buffers of `self`. This is a relaxation: what is infeasible here is infeasible for the
    /// whole. O(n log n).
    ///
    /// # Panics
    /// If the window is empty or extends beyond the sections.
    #[must_use]
    pub fn clipped(&self, from: usize, to: usize) -> Self {
        assert!(from < to && to <= self.sections, "a window holds a section");
        let clip = |s: u32| (s as usize).clamp(from, to) as u32 - from as u32;
        let rows = (0..self.first_at[to] as usize)
            .filter(|&b| self.spans[b].end as usize > from)
            .enumerate()
            .map(|(at, b)| {
                let Span { start, end, size } = self.spans[b];
                (clip(start), clip(end), size, at as u32)
            })
            .collect();
        Self::from_rows(self.grain, to - from, rows)
    }

    /// Builds from rows (first section, section after the last, units, index in the instance).
    fn from_rows(grain: u64, sections: usize, mut rows: Vec<(u32, u32, i64, u32)>) -> Self {
        rows.sort_unstable_by_key(|&(start, end, size, id)| (start, end, -size, id));
        let twin = rows
            .iter()
            .scan((0u32, (0, 0, 0)), |(first, shape), row| {
                let own = (row.0, row.1, row.2);
                if *shape != own {
                    let position = rows.partition_point(|r| (r.0, r.1, -r.2) < (row.0, row.1, -row.2));
                    (*first, *shape) = (position as u32, own);
                }
                Some(*first)
            })
            .collect();
        let mut first_at = vec![0u32; sections + 1];
        let mut change = vec![0i64; sections + 1];
        for &(start, end, size, _) in &rows {
            first_at[start as usize + 1] += 1;
            change[start as usize] += size;
            change[end as usize] -= size;
        }
        for s in 1..first_at.len() {
            first_at[s] += first_at[s - 1];
            change[s] += change[s - 1];
        }
        change.pop();
        Self {
            grain,
            sections,
            spans: rows.iter().map(|&(start, end, size, _)| Span { start, end, size }).collect(),
            twin,
            origin: rows.iter().map(|r| r.3).collect(),
            first_at,
            load: change,
        }
    }

    /// Number of buffers.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Converts offsets in units, in this numbering, to a layout of the instance.
    pub fn layout(&self, offsets: &[i64]) -> Layout {
        let mut original = vec![Bytes::ZERO; self.len()];
        for (&offset, &origin) in offsets.iter().zip(&self.origin) {
            original[origin as usize] = Bytes::new(offset as u64 * self.grain);
        }
        Layout::new(original)
    }

    /// Converts a layout to offsets in units, rounded down, in this numbering.
    pub fn offsets(&self, layout: &Layout) -> Vec<i64> {
        let offsets = layout.offsets();
        self.origin.iter().map(|&b| (offsets[b as usize].get() / self.grain) as i64).collect()
    }
}

//! Converts an instance to buffers that cover runs of sections, with sizes in units of the grain.

use plimsoll_model::{
    Buffer, Bytes, Instance, InstanceBuilder, Interval, Layout, Lifespan, section_intervals,
};

/// An interval instance reduced to sections. Each buffer covers a run of sections and has a size in units.
///
/// Buffers are sorted by start, then by end, then by descending size. `origin` maps their indices back to
/// the instance. The reduction takes O(n log n) for n buffers.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// Bytes per unit.
    pub grain: u64,
    /// Number of sections.
    pub sections: usize,
    /// The sections and the size of each buffer, in ascending order of start.
    pub spans: Vec<Span>,
    /// Per buffer: the first buffer with the same sections and the same size.
    pub twin: Vec<u32>,
    /// Per buffer: its index in the instance.
    pub origin: Vec<u32>,
    /// The buffers that start at section `s` are `first_at[s]..first_at[s + 1]`.
    pub first_at: Vec<u32>,
    /// Total size of the live buffers of each section, in units.
    pub load: Vec<i64>,
}

/// The sections that a buffer covers, and its size, stored together for locality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first section.
    pub start: u32,
    /// The section after the last.
    pub end: u32,
    /// The size in units.
    pub size: i64,
}

impl Span {
    /// Returns the first section, and the section after the last, as indices.
    pub fn sections(self) -> (usize, usize) {
        (self.start as usize, self.end as usize)
    }
}

/// Returns the sum of lifespans, in sections. The time is linear.
pub fn lifespans(spans: &[Span]) -> usize {
    spans.iter().map(|span| (span.end - span.start) as usize).sum()
}

impl Reduced {
    /// Reduces an interval instance without alignments or fixed offsets. Returns `None` for other instances.
    pub fn of(instance: &Instance) -> Option<Self> {
        if !instance.is_interval() || instance.has_alignment() || instance.has_fixed() {
            return None;
        }
        let grain = instance.grain().get();
        // Sections are disjoint intervals in ascending order, so a buffer covers a run of them.
        let intervals: Vec<Interval> = section_intervals(instance);
        let mut rows: Vec<(u32, u32, i64, u32)> = Vec::with_capacity(instance.len());
        for id in instance.ids() {
            let b = instance.buffer(id);
            let hull = b.lifespan().hull();
            let start = intervals.partition_point(|one| one.upper <= hull.lower);
            let end = intervals.partition_point(|one| one.lower < hull.upper);
            rows.push((start as u32, end as u32, (b.size().get() / grain) as i64, id.get()));
        }
        Some(Self::from_rows(grain, intervals.len(), rows))
    }

    /// Returns the highest load of a section, in units, or 0 if there are no sections.
    pub fn highest_load(&self) -> i64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    /// Returns the buffers that are live in some of the sections `from..to`, with lifespans clipped to them
    /// and counted from `from`. The time is O(n) for n buffers.
    ///
    /// # Panics
    /// If the window is empty or extends beyond the sections.
    fn within(&self, from: usize, to: usize) -> impl Iterator<Item = Span> {
        assert!(from < to && to <= self.sections, "a window must be non-empty and within the sections");
        let clip = move |s: u32| (s as usize).clamp(from, to) as u32 - from as u32;
        let begun = &self.spans[..self.first_at[to] as usize];
        let live = begun.iter().filter(move |span| span.end as usize > from);
        live.map(move |&Span { start, end, size }| Span { start: clip(start), end: clip(end), size })
    }

    /// Restricts the instance to the sections `from..to`: clips lifespans to them and omits buffers that are
    /// live only outside. In the result, `origin` does not refer to the instance. The restriction is a
    /// relaxation, so a capacity that is infeasible for the result is infeasible for the whole instance. The
    /// time is O(n log n) for n buffers.
    ///
    /// # Panics
    /// If the window is empty or extends beyond the sections.
    #[must_use]
    pub fn clipped(&self, from: usize, to: usize) -> Self {
        let row = |(at, Span { start, end, size })| (start, end, size, at);
        Self::from_rows(self.grain, to - from, (0..).zip(self.within(from, to)).map(row).collect())
    }

    /// Returns the buffers that are live in some but not all of the sections `from..to`, with lifespans
    /// clipped to them, and the total size of those that are live in all of these sections, in units. The
    /// time is O(n) for n buffers.
    ///
    /// # Panics
    /// If the window is empty or extends beyond the sections.
    pub fn core(&self, from: usize, to: usize) -> (Instance, i64) {
        let mut slabs = 0;
        let mut builder = InstanceBuilder::new("core");
        for (b, span) in self.within(from, to).enumerate() {
            if span.sections() == (0, to - from) {
                slabs += span.size;
                continue;
            }
            let life = Lifespan::single(u64::from(span.start), u64::from(span.end));
            let life = life.expect("the buffer is live in the window");
            let size = Bytes::new(span.size as u64 * self.grain);
            builder = builder.buffer(Buffer::new(b.to_string(), size, life));
        }
        (builder.build().expect("names are distinct and sizes are within limits"), slabs)
    }

    /// Builds the instance from rows (first section, section after the last, size in units, origin).
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

    /// Returns true if the live bytes of most sections equal the load. The optimum is then often above the
    /// load.
    pub fn is_flat(&self) -> bool {
        let most = self.highest_load();
        2 * self.load.iter().filter(|&&own| own == most).count() > self.load.len()
    }

    /// Returns the maximum number of simultaneously live buffers. The time is linear.
    pub fn widest(&self) -> usize {
        let mut change = vec![0i32; self.sections + 1];
        for span in &self.spans {
            change[span.start as usize] += 1;
            change[span.end as usize] -= 1;
        }
        let live = change.iter().scan(0, |live, change| {
            *live += change;
            Some(*live)
        });
        live.max().unwrap_or(0) as usize
    }

    /// Returns the number of buffers.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Converts offsets in units, in the order of [`Reduced::spans`], to a layout of the instance.
    pub fn layout(&self, offsets: &[i64]) -> Layout {
        let mut original = vec![Bytes::ZERO; self.len()];
        for (&offset, &origin) in offsets.iter().zip(&self.origin) {
            original[origin as usize] = Bytes::new(offset as u64 * self.grain);
        }
        Layout::new(original)
    }

    /// Converts a layout to offsets in units, rounded down, in the order of [`Reduced::spans`].
    pub fn offsets(&self, layout: &Layout) -> Vec<i64> {
        let offsets = layout.offsets();
        self.origin.iter().map(|&b| (offsets[b as usize].get() / self.grain) as i64).collect()
    }
}

//! The sections of a sweep.

use crate::offsets::search::valley::Reduced;

/// Maximum number of live buffers per section. It is limited because an order is packed into 64 bits.
pub(super) const MOST_LIVE: usize = 16;

/// The live buffers of each section.
#[derive(Clone, Debug)]
pub struct Sections<'a> {
    pub(super) reduced: &'a Reduced,
    /// The live buffers of each section in ascending order. `None` if there are more than [`MOST_LIVE`], or
    /// if their total size exceeds a quarter of the largest 32-bit integer.
    live: Vec<Option<Vec<u32>>>,
}

impl<'a> Sections<'a> {
    /// Lists the live buffers of all sections. O(m) for sections with m live buffers in total.
    pub fn of(reduced: &'a Reduced) -> Self {
        let mut live = vec![Some(Vec::new()); reduced.sections];
        // Buffers are sorted by start, so `open` is always in ascending order.
        let mut open: Vec<u32> = Vec::new();
        for (s, list) in live.iter_mut().enumerate() {
            open.retain(|&b| reduced.spans[b as usize].end as usize > s);
            open.extend(reduced.first_at[s]..reduced.first_at[s + 1]);
            let fits = open.len() <= MOST_LIVE && reduced.load[s] <= i64::from(i32::MAX / 4);
            *list = fits.then(|| open.clone());
        }
        Self { reduced, live }
    }

    /// Returns the number of live buffers in a section, or `None` if a sweep is not possible there.
    pub fn width(&self, section: usize) -> Option<usize> {
        self.live[section].as_ref().map(Vec::len)
    }

    /// Returns the number of sections.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Prepares the section `at` for a sweep. `crossing` contains the buffers that are also live in the
    /// previously swept section, in the order in which the states number them. `after` is the section swept
    /// next. Returns `None` if the section `at` cannot be swept.
    pub(super) fn section(&self, at: usize, crossing: &[u32], after: Option<usize>) -> Option<Section> {
        let reduced = self.reduced;
        let stays = |b: u32| {
            let (start, end) = reduced.spans[b as usize].sections();
            after.is_some_and(|after| (start..end).contains(&after))
        };
        let mut born: Vec<u32> =
            self.live[at].as_ref()?.iter().copied().filter(|b| !crossing.contains(b)).collect();
        // Buffers that cross the next border come first, so that those that die here are inserted last. Twins
        // are adjacent.
        born.sort_by_key(|&b| (!stays(b), -reduced.spans[b as usize].size, reduced.twin[b as usize], b));
        let old = crossing.len();
        let live: Vec<u32> = crossing.iter().copied().chain(born).collect();
        let twin = |i: usize| reduced.twin[live[i] as usize];
        let elder =
            (0..live.len()).map(|i| (i > old && twin(i) == twin(i - 1)).then(|| i as u8 - 1)).collect();
        let stay = (0..live.len() as u8).filter(|&i| stays(live[i as usize])).collect();
        let size = live.iter().map(|&b| reduced.spans[b as usize].size as i32).collect();
        let brief = (0..live.len()).map(|i| i >= old && !stays(live[i])).collect();
        Some(Section { live, old, stay, size, brief, elder })
    }

    /// Returns the live buffers of a section in ascending order. The list is empty if a sweep is not possible
    /// there.
    pub(super) fn live(&self, section: usize) -> &[u32] {
        self.live[section].as_deref().unwrap_or_default()
    }
}

/// A section prepared for a sweep, with the births and deaths of its buffers.
#[derive(Clone, Debug)]
pub(super) struct Section {
    /// The live buffers: first those that crossed the previous border, in the order in which the states
    /// number them, and then the newborn ones.
    pub live: Vec<u32>,
    /// Number of buffers that crossed the previous border.
    pub old: usize,
    /// Positions in `live` of the buffers that cross the next border.
    pub stay: Vec<u8>,
    /// The sizes of `live`.
    pub size: Vec<i32>,
    /// Per live buffer: whether it is born and dies in this section.
    pub brief: Vec<bool>,
    /// Per live buffer: the position of the preceding twin that is born in this section, if any.
    pub elder: Vec<Option<u8>>,
}

impl Section {
    /// Splits the section into parts with one newborn buffer each. Buffers die only in the last part.
    pub fn one_by_one(&self) -> Vec<Self> {
        let parts = self.old + 1..=self.live.len();
        let part = |live: usize| {
            let last = live == self.live.len();
            Self {
                live: self.live[..live].to_vec(),
                old: live - 1,
                stay: if last { self.stay.clone() } else { (0..live as u8).collect() },
                size: self.size[..live].to_vec(),
                brief: self.brief[..live].to_vec(),
                elder: self.elder[..live].to_vec(),
            }
        };
        if parts.is_empty() { vec![self.clone()] } else { parts.map(part).collect() }
    }

    /// Returns the buffers that cross the next border, in the order in which the states there number them.
    pub fn crossing(&self) -> Vec<u32> {
        self.stay.iter().map(|&i| self.live[i as usize]).collect()
    }
}

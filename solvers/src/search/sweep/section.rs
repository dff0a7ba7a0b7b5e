//! What a sweep meets, section by section.

use crate::search::valley::Reduced;

/// Most buffers alive in one section: an order is packed into 64 bits.
pub(super) const MOST_ALIVE: usize = 16;

/// An instance as a sweep sees it: who is alive in each section.
#[derive(Clone, Debug)]
pub struct Sections<'a> {
    pub(super) reduced: &'a Reduced,
    /// Ascending; `None` where there are more than [`MOST_ALIVE`], or sizes that do not fit 32 bits.
    alive: Vec<Option<Vec<u32>>>,
}

impl<'a> Sections<'a> {
    /// O(total number alive), at most 17 per section.
    pub fn of(reduced: &'a Reduced) -> Self {
        let mut alive = vec![Some(Vec::new()); reduced.sections];
        // In the order of their starts: those alive at a section are among the last that are not over.
        let mut open: Vec<u32> = Vec::new();
        for (s, list) in alive.iter_mut().enumerate() {
            open.retain(|&b| reduced.spans[b as usize].end as usize > s);
            open.extend(reduced.first_at[s]..reduced.first_at[s + 1]);
            let fits = open.len() <= MOST_ALIVE && reduced.load[s] <= i64::from(i32::MAX / 4);
            *list = fits.then(|| open.clone());
        }
        Self { reduced, alive }
    }

    /// How many are alive in a section; `None` where they are too many for a sweep.
    pub fn width(&self, section: usize) -> Option<usize> {
        self.alive[section].as_ref().map(Vec::len)
    }

    /// How many sections there are.
    pub fn len(&self) -> usize {
        self.alive.len()
    }

    /// The section `at` with those that cross into it from the section swept before, as the state lists them, and the
    /// section swept after.
    pub(super) fn section(&self, at: usize, crossing: &[u32], after: Option<usize>) -> Option<Section> {
        let reduced = self.reduced;
        let stays = |b: u32| {
            let (start, end) = reduced.spans[b as usize].sections();
            after.is_some_and(|after| (start..end).contains(&after))
        };
        let mut born: Vec<u32> =
            self.alive[at].as_ref()?.iter().copied().filter(|b| !crossing.contains(b)).collect();
        // Those that stay first, so that what dies at once is tried last. Twins lie side by side.
        born.sort_by_key(|&b| (!stays(b), -reduced.spans[b as usize].size, reduced.twin[b as usize], b));
        let old = crossing.len();
        let alive: Vec<u32> = crossing.iter().copied().chain(born).collect();
        let twin = |i: usize| reduced.twin[alive[i] as usize];
        let elder =
            (0..alive.len()).map(|i| (i > old && twin(i) == twin(i - 1)).then(|| i as u8 - 1)).collect();
        let stay = (0..alive.len() as u8).filter(|&i| stays(alive[i as usize])).collect();
        let size = alive.iter().map(|&b| reduced.spans[b as usize].size as i32).collect();
        let brief = (0..alive.len()).map(|i| i >= old && !stays(alive[i])).collect();
        Some(Section { alive, old, stay, size, brief, elder })
    }

    /// Who is alive in a section, ascending; nobody where they are too many.
    pub(super) fn alive(&self, section: usize) -> &[u32] {
        self.alive[section].as_deref().unwrap_or_default()
    }
}

/// One section of a sweep, with its buffers by how they come and go.
#[derive(Clone, Debug)]
pub(super) struct Section {
    /// Who is alive: first those that crossed the border before, as the state lists them, then the newborn.
    pub alive: Vec<u32>,
    /// How many of them crossed the border before.
    pub old: usize,
    /// Positions in `alive` of those that cross the border after.
    pub stay: Vec<u8>,
    /// The sizes of `alive`.
    pub size: Vec<i32>,
    /// True for those that are born and die here.
    pub brief: Vec<bool>,
    /// For each of `alive` the position of a twin that was born with it, if there is one before it.
    pub elder: Vec<Option<u8>>,
}

impl Section {
    /// The same in parts, one newborn each; nobody dies before the last.
    pub fn one_by_one(&self) -> Vec<Self> {
        let parts = self.old + 1..=self.alive.len();
        let part = |alive: usize| {
            let last = alive == self.alive.len();
            Self {
                alive: self.alive[..alive].to_vec(),
                old: alive - 1,
                stay: if last { self.stay.clone() } else { (0..alive as u8).collect() },
                size: self.size[..alive].to_vec(),
                brief: self.brief[..alive].to_vec(),
                elder: self.elder[..alive].to_vec(),
            }
        };
        if parts.is_empty() { vec![self.clone()] } else { parts.map(part).collect() }
    }

    /// Who crosses the border after, in the order the states list them.
    pub fn crossing(&self) -> Vec<u32> {
        self.stay.iter().map(|&i| self.alive[i as usize]).collect()
    }
}

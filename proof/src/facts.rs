//! The facts at one point of a proof: orders of buffers, and heights below and above them.

use crate::error::Reason;
use crate::groups::gcd;
use crate::instance::Instance;
use crate::sweep::Live;
use crate::work::Work;
use std::collections::HashSet;

/// The result of adding a fact: it was added, or it contradicts another fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    Fact,
    Contradiction,
}

/// A change to the facts, with the data needed to undo it.
#[derive(Clone, Copy, Debug)]
enum Change {
    Order(u32, u32),
    Height { side: usize, buffer: u32, before: i128 },
}

/// The facts about the declared buffers. Buffers are numbered in the order of their declarations.
pub(crate) struct Facts<'a> {
    instance: &'a Instance,
    work: &'a Work<'a>,
    /// The largest peak in bytes that the proof excludes, minus the sizes of the slabs. It may be negative.
    capacity: i128,
    /// The position of each declared buffer in the instance.
    origin: Vec<usize>,
    /// The positions of the slabs.
    slabs: Vec<usize>,
    /// Pairs of buffers. The first of each pair lies below the second.
    orders: HashSet<(u32, u32)>,
    /// The heights below and above each buffer: lower bounds, in bytes, on its offset and on the distance
    /// from its end to the capacity.
    heights: [Vec<i128>; 2],
    changes: Vec<Change>,
}

impl<'a> Facts<'a> {
    pub fn new(instance: &'a Instance, capacity: i128, work: &'a Work<'a>) -> Self {
        let (origin, heights, changes) = (Vec::new(), [Vec::new(), Vec::new()], Vec::new());
        let (slabs, orders) = (Vec::new(), HashSet::new());
        Self { instance, work, capacity, origin, slabs, orders, heights, changes }
    }

    /// Returns true if the proof has slabs.
    pub fn has_slabs(&self) -> bool {
        !self.slabs.is_empty()
    }

    /// Declares a buffer of the instance.
    pub fn declare(&mut self, position: usize) {
        let (number, buffer) = (self.origin.len() as u32, &self.instance.buffers[position]);
        self.origin.push(position);
        let above = |offset: i128| (self.capacity - offset - buffer.size).max(0);
        // The root of a rigid group has an offset of at least 0, and all members end within the capacity.
        let [below, above] = match (buffer.fixed, buffer.group) {
            (Some(offset), _) => [offset, above(offset)],
            (None, Some((_, distance))) => [self.rounded(0, number, distance), buffer.over],
            (None, None) => [0, 0],
        };
        self.heights[0].push(below);
        self.heights[1].push(self.rounded(1, number, above));
    }

    /// Omits a buffer that conflicts with all declared buffers and all other slabs. Returns false if it does
    /// not, or if an alignment, a fixed offset or a rigid group could prevent buffers from moving down by its
    /// size.
    pub fn slab(&mut self, position: usize) -> Result<bool, Reason> {
        for &other in self.origin.iter().chain(&self.slabs) {
            if !self.is_free(other) || !self.conflict(position, other)? {
                return Ok(false);
            }
        }
        if !self.is_free(position) {
            return Ok(false);
        }
        self.slabs.push(position);
        self.capacity -= self.instance.buffers[position].size;
        Ok(true)
    }

    /// Returns true if two buffers of the instance conflict, and counts the work of this test.
    fn conflict(&self, a: usize, b: usize) -> Result<bool, Reason> {
        self.work.spend(self.instance.work(a, b))?;
        Ok(self.instance.conflict(a, b))
    }

    /// Returns true if every offset of a buffer is permitted.
    fn is_free(&self, position: usize) -> bool {
        let buffer = &self.instance.buffers[position];
        buffer.alignment == 1 && buffer.fixed.is_none() && buffer.group.is_none()
    }

    /// Returns the capacity in units of `unit` bytes. Returns `None` if it is negative, or if a layout might
    /// need offsets that are not multiples of the unit. The unit must divide all sizes and be a multiple of
    /// all alignments. No buffer may be fixed or belong to a rigid group.
    pub fn units(&self, unit: u64) -> Option<u64> {
        let unit = i128::from(unit);
        let fits = |&at: &usize| {
            let buffer = &self.instance.buffers[at];
            let is_free = buffer.fixed.is_none() && buffer.group.is_none();
            is_free && buffer.size % unit == 0 && unit % buffer.alignment == 0
        };
        (unit > 0 && self.capacity >= 0 && self.origin.iter().all(fits))
            .then(|| (self.capacity / unit) as u64)
    }

    /// Returns the declared buffers that are live at a step, with their sizes in units. Fails if two of them
    /// do not conflict.
    pub fn live(&self, step: u64, unit: u64) -> Result<Vec<Live>, Reason> {
        let is_live = |&(_, at): &(u32, &usize)| {
            self.instance.buffers[*at].live.iter().any(|&(lower, upper)| (lower..upper).contains(&step))
        };
        self.work.spend(self.instance.intervals)?;
        let live: Vec<u32> = (0..).zip(&self.origin).filter(is_live).map(|(buffer, _)| buffer).collect();
        self.pairwise(&live)?;
        let size = |buffer: u32| self.instance.buffers[self.origin[buffer as usize]].size / i128::from(unit);
        Ok(live.into_iter().map(|buffer| Live { buffer, size: size(buffer) as u64 }).collect())
    }

    fn position(&self, buffer: u32) -> Result<usize, Reason> {
        self.origin.get(buffer as usize).copied().ok_or(Reason::Undeclared(buffer))
    }

    /// Checks that two buffers conflict.
    fn conflicting(&self, a: u32, b: u32) -> Result<(), Reason> {
        let conflict = self.conflict(self.position(a)?, self.position(b)?)?;
        if conflict { Ok(()) } else { Err(Reason::NoConflict(a, b)) }
    }

    /// Checks that buffers conflict pairwise, in linear time if they are all live at a common step.
    fn pairwise(&self, buffers: &[u32]) -> Result<(), Reason> {
        let mut positions =
            buffers.iter().map(|&b| self.position(b)).collect::<Result<Vec<usize>, Reason>>()?;
        let intervals = positions.iter().map(|&at| self.instance.buffers[at].live.len());
        self.work.spend(4 * intervals.sum::<usize>())?;
        positions.sort_unstable();
        let is_distinct = positions.is_sorted_by(|a, b| a < b);
        if is_distinct && self.instance.share_a_step(&positions) {
            return Ok(());
        }
        for (at, &b) in buffers.iter().enumerate() {
            buffers[..at].iter().try_for_each(|&a| self.conflicting(a, b))?;
        }
        Ok(())
    }

    /// Rounds a height up until it corresponds to an aligned offset of the buffer.
    fn rounded(&self, side: usize, buffer: u32, height: i128) -> i128 {
        let b = &self.instance.buffers[self.origin[buffer as usize]];
        if side == 0 {
            return height + (b.residue - height).rem_euclid(b.alignment);
        }
        // If the highest offset is negative, the facts are already contradictory.
        let highest = self.capacity - b.size - height;
        height + if highest < 0 { 0 } else { (highest - b.residue).rem_euclid(b.alignment) }
    }

    /// Returns a mark for [`Facts::undo`].
    pub fn mark(&self) -> usize {
        self.changes.len()
    }

    /// Removes all facts that were added after a mark.
    pub fn undo(&mut self, mark: usize) {
        for change in self.changes.drain(mark..).rev() {
            match change {
                Change::Order(a, b) => {
                    self.orders.remove(&(a, b));
                }
                Change::Height { side, buffer, before } => self.heights[side][buffer as usize] = before,
            }
        }
    }

    /// Makes all facts permanent.
    pub fn settle(&mut self) {
        self.changes.clear();
    }

    /// Returns true if it is a fact that `a` lies below `b`.
    pub fn knows(&self, a: u32, b: u32) -> bool {
        self.orders.contains(&(a, b))
    }

    /// Adds the fact that `a` lies below `b`.
    pub fn order(&mut self, a: u32, b: u32) -> Result<Added, Reason> {
        self.conflicting(a, b)?;
        if self.knows(b, a) {
            return Ok(Added::Contradiction);
        }
        if self.orders.insert((a, b)) {
            self.changes.push(Change::Order(a, b));
        }
        Ok(Added::Fact)
    }

    /// `twin`: fixes the order of two interchangeable buffers.
    pub fn twin(&mut self, a: u32, b: u32) -> Result<Added, Reason> {
        let (p, q) = (self.position(a)?, self.position(b)?);
        let (x, y) = (&self.instance.buffers[p], &self.instance.buffers[q]);
        let alike = (x.size, x.alignment) == (y.size, y.alignment) && (x.fixed, y.fixed) == (None, None);
        let alike = alike && (x.group, y.group) == (None, None);
        if a >= b || !alike {
            return Err(Reason::NotTwins(a, b));
        }
        for &other in self.origin.iter().filter(|&&other| other != p && other != q) {
            if self.conflict(p, other)? != self.conflict(q, other)? {
                return Err(Reason::NotTwins(a, b));
            }
        }
        self.order(a, b)
    }

    /// `mirror`: fixes the order of one pair if all layouts can be turned upside down.
    pub fn mirror(&mut self, a: u32, b: u32) -> Result<Added, Reason> {
        self.work.spend(self.origin.len())?;
        if !self.origin.iter().all(|&position| self.is_free(position)) {
            return Err(Reason::NotMirrored(a, b));
        }
        self.order(a, b)
    }

    /// `t`: adds the fact that the first buffer of a path lies below the last one.
    pub fn path(&mut self, path: &[u32]) -> Result<Added, Reason> {
        for pair in path.windows(2) {
            if !self.knows(pair[0], pair[1]) {
                return Err(Reason::NotKnown(pair[0], pair[1]));
            }
        }
        match path {
            [first, .., last] => self.order(*first, *last),
            _ => Err(Reason::MissingWord("a buffer")),
        }
    }

    /// `b` (side 0) and `a` (side 1): raises the height on the given side of a buffer to the end of a stack
    /// on that side.
    pub fn stack(&mut self, side: usize, buffer: u32, stack: &[u32]) -> Result<Added, Reason> {
        self.position(buffer)?;
        self.pairwise(stack)?;
        for &other in stack {
            let (low, high) = if side == 0 { (other, buffer) } else { (buffer, other) };
            if !self.knows(low, high) {
                return Err(Reason::NotKnown(low, high));
            }
        }
        let Some(end) = self.end(side, stack) else { return Err(Reason::MissingWord("a buffer")) };
        self.raise(side, buffer, end);
        Ok(Added::Fact)
    }

    /// Returns a lower bound on the end of a stack: the smallest height of its buffers on the given side plus
    /// the sum of their sizes. The sizes of all buffers except the last of the stack are rounded up to
    /// multiples of the greatest common divisor of the alignments and residues. Any buffer may be the last,
    /// so the largest padding is subtracted.
    fn end(&self, side: usize, stack: &[u32]) -> Option<i128> {
        let lowest = stack.iter().map(|&b| self.heights[side][b as usize]).min()?;
        let buffer = |b: &u32| &self.instance.buffers[self.origin[*b as usize]];
        let common = stack.iter().map(buffer).fold(0, |common, b| gcd(gcd(common, b.alignment), b.residue));
        let padding = |b: &u32| (-buffer(b).size).rem_euclid(common);
        let (all, most) = (stack.iter().map(padding).sum::<i128>(), stack.iter().map(padding).max()?);
        Some(lowest + self.sizes(stack) + all - most)
    }

    fn sizes(&self, buffers: &[u32]) -> i128 {
        buffers.iter().map(|&b| self.instance.buffers[self.origin[b as usize]].size).sum()
    }

    fn exceeds(&self, needed: i128) -> Result<(), Reason> {
        if needed > self.capacity {
            return Ok(());
        }
        Err(Reason::EnoughSpace { needed, capacity: self.capacity })
    }

    /// Returns the number of bytes by which the offset of `b` exceeds that of `a`, if both are in one rigid
    /// group.
    fn distance(&self, a: u32, b: u32) -> Result<Option<i128>, Reason> {
        let group = |b| Ok::<_, Reason>(self.instance.buffers[self.position(b)?].group);
        Ok(match (group(a)?, group(b)?) {
            (Some((one, low)), Some((other, high))) if one == other => Some(high - low),
            _ => None,
        })
    }

    /// `r`: raises both heights of `b` to the values that follow from those of `a` and from the distance of
    /// the two buffers.
    pub fn rigid(&mut self, a: u32, b: u32) -> Result<Added, Reason> {
        let distance = self.distance(a, b)?.ok_or(Reason::NotRigid(a, b))?;
        let above = self.sizes(&[a]) - self.sizes(&[b]) - distance;
        for (side, more) in [(0, distance), (1, above)] {
            let end = self.heights[side][a as usize] + more;
            self.raise(side, b, end);
        }
        Ok(Added::Fact)
    }

    /// Raises a height to a value, rounded up until it corresponds to an aligned offset.
    fn raise(&mut self, side: usize, buffer: u32, value: i128) {
        let (height, before) = (self.rounded(side, buffer, value), self.heights[side][buffer as usize]);
        if height > before {
            self.changes.push(Change::Height { side, buffer, before });
            self.heights[side][buffer as usize] = height;
        }
    }

    /// `o`: adds the fact that `b` lies below `a` if there is not enough space for the opposite order, or if
    /// the distance of the two buffers in a rigid group excludes it.
    pub fn opposite(&mut self, a: u32, b: u32) -> Result<Added, Reason> {
        self.conflicting(a, b)?;
        if self.distance(a, b)?.is_some_and(|distance| distance < self.sizes(&[a])) {
            return self.order(b, a);
        }
        let heights = self.heights[0][a as usize] + self.heights[1][b as usize];
        self.exceeds(heights + self.sizes(&[a, b]))?;
        self.order(b, a)
    }

    /// `x`: finds a contradiction if there is not enough space for pairwise conflicting buffers.
    pub fn no_space(&mut self, buffers: &[u32]) -> Result<Added, Reason> {
        self.pairwise(buffers)?;
        let Some(end) = self.end(0, buffers) else { return Err(Reason::MissingWord("a buffer")) };
        let above = buffers.iter().map(|&b| self.heights[1][b as usize]).min();
        self.exceeds(end + above.unwrap_or(0))?;
        Ok(Added::Contradiction)
    }
}

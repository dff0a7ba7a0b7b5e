//! Perfect packings: instances of any size with an optimum known by construction.
//!
//! A rectangle of `steps` x `bytes` is cut into one piece per buffer. Every step is full, so the load is the
//! height of the rectangle. The pieces form a layout of that height, so the optimum equals the load.
//!
//! ```text
//! guillotine: cuts from edge to edge       pinwheel: no cut goes from edge to edge
//!  ┌──────┬─────────┐                       ┌───┬──────────┐
//!  │      │         │                       │   │          │
//!  │      ├────┬────┤                       │   ├──────┬───┤
//!  ├──────┤    │    │                       │   │      │   │
//!  │      │    │    │                       ├───┴──────┤   │
//!  │      │    │    │                       │          │   │
//!  └──────┴────┴────┘                       └──────────┴───┘
//! ```
//!
//! An algorithm that splits at a step or at an address can undo guillotine cuts one at a time, but it cannot
//! decompose a pinwheel. The generator never assigns more pieces to a rectangle than fit into it, so it
//! always succeeds. It takes O(n) time and memory for n buffers.

use crate::error::{GenerateError, at_least, share};
use plimsoll_model::{Buffer, Bytes, Instance, InstanceBuilder, Layout, Lifespan};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

/// The parameters of a packing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PackingParams {
    /// The number of buffers, at least 1.
    pub buffers: u64,
    /// The width of the rectangle in steps.
    pub steps: u64,
    /// The height of the rectangle in bytes, which is the load and the optimum. It must be a multiple of
    /// `unit`.
    pub bytes: u64,
    /// The minimum duration of a buffer in steps.
    pub min_duration: u64,
    /// The minimum size of a buffer in bytes. It must be a multiple of `unit`.
    pub min_size: u64,
    /// The unit of all sizes in bytes. All sizes are multiples of it.
    pub unit: u64,
    /// The probability, from 0 to 1, of cutting a rectangle into a pinwheel if one fits. [`guillotine`]
    /// ignores it.
    pub pinwheel_share: f64,
}

impl PackingParams {
    /// Returns parameters for `buffers` buffers in a rectangle of 2^20 bytes, with units of 1024 bytes, four
    /// steps per buffer and a pinwheel probability of one half.
    pub fn with_buffers(buffers: u64) -> Self {
        Self {
            buffers,
            steps: buffers.saturating_mul(4).max(16),
            bytes: 1 << 20,
            min_duration: 2,
            min_size: 1 << 10,
            unit: 1 << 10,
            pinwheel_share: 0.5,
        }
    }

    fn validate(&self) -> Result<(), GenerateError> {
        at_least("buffers", self.buffers, 1)?;
        at_least("unit", self.unit, 1)?;
        at_least("min_duration", self.min_duration, 1)?;
        at_least("min_size", self.min_size, 1)?;
        for (name, value) in [("bytes", self.bytes), ("min_size", self.min_size)] {
            if value % self.unit != 0 {
                return Err(GenerateError::NoMultiple { name, value, of_name: "unit", of: self.unit });
            }
        }
        share("pinwheel_share", self.pinwheel_share)?;
        let space = self.pieces_that_fit(self.whole());
        if space < u128::from(self.buffers) {
            return Err(GenerateError::NoSpace { buffers: self.buffers, space });
        }
        Ok(())
    }

    fn whole(&self) -> Rectangle {
        Rectangle { x: 0, y: 0, w: self.steps, h: self.bytes / self.unit }
    }

    fn min_height(&self) -> u64 {
        self.min_size / self.unit
    }

    /// Returns the number of pieces of minimum size that fit into a rectangle.
    fn pieces_that_fit(&self, r: Rectangle) -> u128 {
        u128::from(r.w / self.min_duration) * u128::from(r.h / self.min_height())
    }
}

/// An instance and a layout that is optimal by construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    /// The buffers, in random order.
    pub instance: Instance,
    /// The offsets of the pieces, which form an optimal layout.
    pub layout: Layout,
    /// The height of the layout in bytes. It is the load, and therefore also the optimum.
    pub optimum: Bytes,
}

/// Generates a packing with only edge-to-edge cuts. The same parameters and seed give the same packing.
///
/// # Errors
/// [`GenerateError`] for parameters out of range, or if the buffers do not fit into the rectangle.
pub fn guillotine(params: PackingParams, seed: u64) -> Result<Packing, GenerateError> {
    pack(PackingParams { pinwheel_share: 0.0, ..params }, seed, "guillotine")
}

/// Generates a packing that mixes pinwheels and edge-to-edge cuts. The same parameters and seed give the same
/// packing. A pinwheel consists of at least five buffers.
///
/// # Errors
/// [`GenerateError`] for parameters out of range, or if the buffers do not fit into the rectangle.
pub fn perfect_packing(params: PackingParams, seed: u64) -> Result<Packing, GenerateError> {
    pack(params, seed, "perfect")
}

/// A rectangle, with steps on the horizontal axis and units of bytes on the vertical axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rectangle {
    pub x: u64,
    pub y: u64,
    pub w: u64,
    pub h: u64,
}

/// Returns the pieces of the rectangle in random order, with heights in units. O(n) for n pieces.
pub(crate) fn pieces(
    params: PackingParams,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<Vec<Rectangle>, GenerateError> {
    params.validate()?;
    let mut cutter = Cutter { params, rng };
    let mut pieces = cutter.cut_up();
    pieces.shuffle(rng);
    Ok(pieces)
}

fn pack(params: PackingParams, seed: u64, family: &str) -> Result<Packing, GenerateError> {
    let pieces = pieces(params, &mut Xoshiro256PlusPlus::seed_from_u64(seed))?;
    let mut builder = InstanceBuilder::new(format!("{family}-{}-{seed}", params.buffers));
    let mut offsets = Vec::with_capacity(pieces.len());
    for (i, piece) in pieces.iter().enumerate() {
        let lifespan = Lifespan::single(piece.x, piece.x + piece.w).expect("a piece has a width");
        builder = builder.buffer(Buffer::new(format!("b{i}"), piece.h * params.unit, lifespan));
        offsets.push(Bytes::new(piece.y * params.unit));
    }
    let instance = builder.build()?;
    Ok(Packing { instance, layout: Layout::new(offsets), optimum: Bytes::new(params.bytes) })
}

struct Cutter<'a> {
    params: PackingParams,
    rng: &'a mut Xoshiro256PlusPlus,
}

impl Cutter<'_> {
    fn cut_up(&mut self) -> Vec<Rectangle> {
        let mut pieces = Vec::with_capacity(self.params.buffers as usize);
        let mut waiting = vec![(self.params.whole(), self.params.buffers)];
        while let Some((r, count)) = waiting.pop() {
            if count == 1 {
                pieces.push(r);
                continue;
            }
            let parts = self.pinwheel(r, count).unwrap_or_else(|| self.guillotine_cut(r, count).to_vec());
            self.share_out(&parts, count, &mut waiting);
        }
        pieces
    }

    /// Gives every part at least one piece and at most as many as fit. Within these limits, the shares are
    /// proportional to the areas, with noise.
    fn share_out(&mut self, parts: &[Rectangle], count: u64, waiting: &mut Vec<(Rectangle, u64)>) {
        let mut left = count;
        for (i, &part) in parts.iter().enumerate() {
            let later = &parts[i + 1..];
            if later.is_empty() {
                waiting.push((part, left));
                return;
            }
            let later_capacity: u128 = later.iter().map(|&r| self.params.pieces_that_fit(r)).sum();
            let least = u128::from(left).saturating_sub(later_capacity).max(1);
            let most = self.params.pieces_that_fit(part).min(u128::from(left) - later.len() as u128);
            let area = |r: &Rectangle| u128::from(r.w) * u128::from(r.h);
            let total: u128 = parts[i..].iter().map(area).sum();
            // Draw from half to one and a half times the fair share, in steps of 1/64, so that areas stay
            // below 2^128.
            let noise = u128::from(self.rng.random_range(32..=96u64));
            let fair = area(&part) / total.div_ceil(u128::from(left)).max(1);
            let given = (fair * noise / 64).clamp(least, most) as u64;
            waiting.push((part, given));
            left -= given;
        }
    }

    /// Cuts a rectangle from edge to edge. `count` must be at least 2, and at least `count` pieces must fit
    /// into the rectangle.
    fn guillotine_cut(&mut self, r: Rectangle, count: u64) -> [Rectangle; 2] {
        let (least_w, least_h) = (self.params.min_duration, self.params.min_height());
        let in_time = match (r.w >= 2 * least_w, r.h >= 2 * least_h) {
            (true, true) => {
                // Cut the relatively longer side three times out of four.
                let whole = self.params.whole();
                let wide = u128::from(r.w) * u128::from(whole.h) >= u128::from(r.h) * u128::from(whole.w);
                wide == self.rng.random_bool(0.75)
            }
            (in_time, _) => in_time,
        };
        let (length, least) = if in_time { (r.w, least_w) } else { (r.h, least_h) };
        let at = self.place(least, length - least);
        let parts = split(r, in_time, at);
        if parts.iter().map(|&part| self.params.pieces_that_fit(part)).sum::<u128>() >= u128::from(count) {
            return parts;
        }
        // A cut at a multiple of the minimum length wastes no space.
        split(r, in_time, (at / least).max(1) * least)
    }

    /// Draws a position for a cut. Positions near the ends are rare.
    fn place(&mut self, from: u64, to: u64) -> u64 {
        let (a, b) = (self.rng.random_range(from..=to), self.rng.random_range(from..=to));
        a.midpoint(b)
    }

    /// Draws a pinwheel of five rectangles with the given probability, if one fits.
    fn pinwheel(&mut self, r: Rectangle, count: u64) -> Option<Vec<Rectangle>> {
        let (least_w, least_h) = (self.params.min_duration, self.params.min_height());
        if count < 5 || r.w / 3 < least_w || r.h / 3 < least_h {
            return None;
        }
        if !self.rng.random_bool(self.params.pinwheel_share) {
            return None;
        }
        let (x1, x2) = self.two_places(least_w, r.w);
        let (y1, y2) = self.two_places(least_h, r.h);
        let parts = whirl(r, [x1, x2], [y1, y2], self.rng.random_bool(0.5));
        let capacity: u128 = parts.iter().map(|&part| self.params.pieces_that_fit(part)).sum();
        (capacity >= u128::from(count)).then(|| parts.to_vec())
    }

    /// Draws two positions on an axis of the given length, with a distance of at least `least` between them
    /// and from both ends.
    fn two_places(&mut self, least: u64, length: u64) -> (u64, u64) {
        let spare = length - 3 * least;
        let (a, b) = (self.rng.random_range(0..=spare), self.rng.random_range(0..=spare));
        (least + a.min(b), 2 * least + a.max(b))
    }
}

/// Returns a pinwheel: four rectangles around a fifth, which lies between the two given positions on each
/// axis.
pub(crate) fn whirl(r: Rectangle, [x1, x2]: [u64; 2], [y1, y2]: [u64; 2], mirrored: bool) -> [Rectangle; 5] {
    let corners = [(0, 0, x2, y1), (x2, 0, r.w, y2), (x1, y2, r.w, r.h), (0, y1, x1, r.h), (x1, y1, x2, y2)];
    corners.map(|(left, low, right, high)| {
        let (left, right) = if mirrored { (r.w - right, r.w - left) } else { (left, right) };
        Rectangle { x: r.x + left, y: r.y + low, w: right - left, h: high - low }
    })
}

/// Splits a rectangle in two at a step (`in_time`) or at an address.
pub(crate) fn split(r: Rectangle, in_time: bool, at: u64) -> [Rectangle; 2] {
    if in_time {
        [Rectangle { w: at, ..r }, Rectangle { x: r.x + at, w: r.w - at, ..r }]
    } else {
        [Rectangle { h: at, ..r }, Rectangle { y: r.y + at, h: r.h - at, ..r }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::{LoadProfile, check_layout};
    use proptest::prelude::*;

    fn confirm(packing: &Packing, params: PackingParams) {
        let Packing { instance, layout, optimum } = packing;
        assert_eq!(instance.len() as u64, params.buffers);
        let profile = LoadProfile::of(instance);
        assert_eq!(profile.pieces().len(), 1, "the load is flat");
        assert_eq!(profile.peak().0, *optimum);
        assert_eq!(layout.peak(instance), *optimum);
        for b in instance.buffers() {
            assert!(b.size().get() >= params.min_size && b.size().get().is_multiple_of(params.unit));
            assert!(b.lifespan().duration() >= params.min_duration);
        }
        if instance.len() <= 500 {
            assert_eq!(check_layout(instance, layout), []);
        }
    }

    proptest! {
        #[test]
        fn every_packing_is_perfect(
            buffers in 1u64..120,
            steps in 1u64..200,
            height in 1u64..200,
            min_duration in 1u64..4,
            min_height in 1u64..4,
            unit in 1u64..5,
            pinwheel_share in 0.0..=1.0f64,
            seed: u64,
        ) {
            let params = PackingParams {
                buffers, steps, bytes: height * unit, min_duration, min_size: min_height * unit, unit,
                pinwheel_share,
            };
            for make in [guillotine, perfect_packing] {
                match make(params, seed) {
                    Ok(packing) => {
                        confirm(&packing, params);
                        prop_assert_eq!(make(params, seed), Ok(packing));
                    }
                    Err(error) => {
                        let space = u128::from(steps / min_duration) * u128::from(height / min_height);
                        prop_assert_eq!(error, GenerateError::NoSpace { buffers, space });
                        prop_assert!(space < u128::from(buffers));
                    }
                }
            }
        }
    }

    /// Returns true if there is a step or an address that no piece crosses.
    fn edge_to_edge(packing: &Packing, params: PackingParams) -> bool {
        let uncut = |mut ranges: Vec<(u64, u64)>, length: u64| {
            ranges.sort_unstable();
            let mut reach = 0;
            ranges.iter().any(|&(from, to)| {
                let free = from == reach && from != 0;
                reach = reach.max(to);
                free && from < length
            })
        };
        let spans = packing.instance.buffers().iter().map(|b| {
            let hull = b.lifespan().hull();
            (hull.lower.get(), hull.upper.get())
        });
        let addresses = packing.instance.buffers().iter().zip(packing.layout.offsets());
        let addresses = addresses.map(|(b, offset)| (offset.get(), offset.get() + b.size().get()));
        uncut(spans.collect(), params.steps) || uncut(addresses.collect(), params.bytes)
    }

    #[test]
    fn pinwheels_resist_cuts_and_guillotines_do_not() {
        let params = PackingParams { pinwheel_share: 1.0, ..PackingParams::with_buffers(40) };
        for seed in 0..20 {
            assert!(edge_to_edge(&guillotine(params, seed).unwrap(), params));
            assert!(!edge_to_edge(&perfect_packing(params, seed).unwrap(), params));
        }
    }

    #[test]
    fn a_million_pieces_are_cut() {
        let params = PackingParams { bytes: 1 << 30, ..PackingParams::with_buffers(1_000_000) };
        confirm(&perfect_packing(params, 1).unwrap(), params);
    }

    #[test]
    fn pieces_are_not_slivers() {
        let params = PackingParams::with_buffers(200);
        let packing = guillotine(params, 7).unwrap();
        let at_least_size = packing.instance.buffers().iter().filter(|b| b.size().get() == params.min_size);
        assert!(at_least_size.count() < 40);
    }

    #[test]
    fn bad_parameters_are_named() {
        let params = PackingParams::with_buffers(20);
        let error = |params| guillotine(params, 0).unwrap_err().to_string();
        assert_eq!(error(PackingParams { buffers: 0, ..params }), "buffers is 0, but must be at least 1");
        assert_eq!(
            error(PackingParams { bytes: 1025, ..params }),
            "bytes is 1025, but must be a multiple of unit, which is 1024"
        );
        assert_eq!(
            error(PackingParams { steps: 4, bytes: 4096, ..params }),
            "20 buffers do not fit: the rectangle holds at most 8 of the minimum size and duration"
        );
        let share = PackingParams { pinwheel_share: 1.5, ..params };
        assert_eq!(
            perfect_packing(share, 0).unwrap_err().to_string(),
            "pinwheel_share is 1.5, but must lie between 0 and 1"
        );
    }
}

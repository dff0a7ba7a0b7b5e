//! Instances similar to the challenging benchmarks of google/minimalloc.
//!
//! These properties were measured on the instances A to K, each of which has a known layout of 2^20 bytes:
//!
//! - Sizes are multiples of 1024 bytes, and times are multiples of 1024 steps. An instance has 1024 units
//!   of time and 154 to 454 buffers, most of which end where others begin.
//! - A to E and I to K (*all magnitudes*): a tenth of the buffers live for at most 4 to 33 units of time,
//!   depending on the instance. The median duration is 23 to 234 units, and some buffers live throughout. The
//!   smallest size is 1 KiB. The largest is 207 or 861 KiB, depending on the instance, and the median is 17
//!   to 86 KiB. On average, 18 to 78 buffers are live. Between 3 and 46 % of the buffers live for more than a
//!   quarter of the time. Large buffers are short-lived, and small ones are long-lived. The mean of the live
//!   bytes is 81 to 98 % of the load, which is reached at 1 to 78 % of the steps.
//! - F, G and H (*bricks*): durations are 11 to 57 units, with a median of 31. Sizes are 30 to 119 KiB, with
//!   a median of 65 KiB. On average, 11 buffers are live. The live bytes grow from zero and reach the load
//!   after two thirds of the time. They equal the load at 8 to 17 % of the steps, and stay at about 85 % of
//!   it afterwards.
//!
//! Generation starts from a layout, so the capacity of 2^20 bytes always suffices:
//!
//! - *All magnitudes*: the first piece is the whole rectangle. In each round, three random pieces are picked,
//!   and the largest of them is cut at a random position. With a probability of `cuts` percent, the cut
//!   splits the duration of the piece instead of its size. With a probability of `pinwheels` percent, a piece
//!   that is large enough becomes a pinwheel instead. For every hundred buffers, 100 + `holes` pieces are
//!   cut. `holes` of them, chosen at random, are omitted.
//! - *Bricks*: the first piece is the whole rectangle. The largest piece is repeatedly cut near the middle
//!   or into a pinwheel, until there are two thirds more pieces than needed. Pieces measure 31 x 65 units
//!   on average. The probability of omitting a piece falls from 100 % to 15 % over the first 57 % of the
//!   time.
//!
//! The instances are about as hard as the originals. The best first-fit layout over the usual orders is 4 to
//! 34 % above the optimum on A to K. On six generated instances per distribution, it is 15 to 30 % above.
//! `search` needs 300 to 5,000,000 nodes on A to K, and 500 to 30,000,000 on the generated instances. It
//! needs the most nodes with `law` 0.
//!
//! No piece is omitted in a contiguous interval of `full` percent of the steps, so the load, the capacity
//! and the optimum coincide. The number of steps grows with the number of buffers, which keeps the number
//! of live buffers about constant. Generation takes O(n log n) time for n buffers.

use crate::error::GenerateError;
use crate::family::Params;
use crate::packing::{Rectangle, split, whirl};
use crate::rows::{Generated, PlainBuffer};
use plimsoll_model::Bytes;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use std::collections::BinaryHeap;

/// The number of bytes or steps per unit.
const UNIT: u64 = 1024;
const HEIGHT: u64 = 1024;

pub(super) fn minimalloc_like(params: &Params, seed: u64) -> Result<Generated, GenerateError> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (buffers, full) = (params.get("buffers"), params.percent("full")?);
    let (holes, cuts) = (params.percent("holes")?, params.percent("cuts")?);
    let pinwheels = params.percent("pinwheels")?;
    let pieces = if params.at_most("law", 1)? == 0 {
        let width = HEIGHT * buffers.div_ceil(512);
        let cut = |count, rng: &mut _| Square { width, cuts, pinwheels }.cut_up(count, rng);
        thinned(buffers, buffers + buffers * holes / 100, (width, full), |_| 0, cut, &mut rng)
    } else {
        let count = buffers + buffers * 2 / 3;
        let width = (count * BRICK[0] * BRICK[1]).div_ceil(HEIGHT).max(2 * BRICK[0]);
        let cut = |count, rng: &mut _| bricks(count, width, pinwheels, rng);
        // The probability falls linearly from 100 % at the start to 15 % after 57 % of the time.
        let excluded = |x: u64| 100 - (150 * x / width).min(85);
        thinned(buffers, count, (width, full), excluded, cut, &mut rng)
    };
    let row = |r: Rectangle| PlainBuffer { lower: r.x * UNIT, upper: (r.x + r.w) * UNIT, size: r.h * UNIT };
    let capacity = Some(Bytes::new(HEIGHT * UNIT));
    Ok(Generated { capacity, at_most: capacity, ..Generated::plain(pieces.into_iter().map(row)) })
}

/// The width and height of the median brick, in units.
const BRICK: [u64; 2] = [31, 65];

/// Cuts the whole rectangle into `count` pieces of similar area. Each cut turns the largest piece into a
/// pinwheel or splits it in two near the middle. A split is made across the side that is longer relative to a
/// brick.
fn bricks(count: u64, width: u64, pinwheels: u64, rng: &mut Xoshiro256PlusPlus) -> Vec<Rectangle> {
    let mut pieces = vec![Rectangle { x: 0, y: 0, w: width, h: HEIGHT }];
    let mut largest = BinaryHeap::from([(width * HEIGHT, 0)]);
    let near = |length: u64, rng: &mut Xoshiro256PlusPlus| {
        rng.random_range((length * 2 / 5).max(1)..=(length * 3 / 5).min(length - 1))
    };
    while (pieces.len() as u64) < count {
        let Some((_, at)) = largest.pop() else { break };
        let r: Rectangle = pieces[at];
        let [w, h] = [r.w * BRICK[1], r.h * BRICK[0]];
        let five = count - pieces.len() as u64 >= 4 && w.min(h) >= 3 * BRICK[0] * BRICK[1];
        let before = pieces.len();
        if five && rng.random_range(0..100) < pinwheels {
            let third = |length: u64, rng: &mut Xoshiro256PlusPlus| {
                let first = rng.random_range(length / 4..=length * 2 / 5);
                [first, length - rng.random_range(length / 4..=length * 2 / 5)]
            };
            let (x, y) = (third(r.w, rng), third(r.h, rng));
            let [first, others @ ..] = whirl(r, x, y, rng.random_bool(0.5));
            pieces[at] = first;
            pieces.extend(others);
        } else {
            let in_time = w >= h && r.w >= 2;
            let parts = split(r, in_time, near(if in_time { r.w } else { r.h }, rng));
            pieces[at] = parts[0];
            pieces.push(parts[1]);
        }
        let new = std::iter::once(at).chain(before..pieces.len());
        largest.extend(new.map(|at| (pieces[at].w * pieces[at].h, at)));
    }
    pieces
}

/// Cuts `count` pieces and keeps `buffers` of them. A piece whose midpoint in time is `x` is omitted with a
/// probability of `excluded(x)` percent until enough are omitted. If too few are omitted in this way, further
/// pieces are omitted at random. No piece is omitted in an interval of `full` percent of the steps.
fn thinned(
    buffers: u64,
    count: u64,
    (width, full): (u64, u64),
    excluded: impl Fn(u64) -> u64,
    mut cut: impl FnMut(u64, &mut Xoshiro256PlusPlus) -> Vec<Rectangle>,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<Rectangle> {
    let stretch = (width * full / 100).max(1);
    // If fewer pieces are omitted at later positions, the interval begins in the last third of the steps, or
    // earlier if it is longer than that third.
    let first = if excluded(0) > excluded(width) { width * 2 / 3 } else { 0 };
    let from = rng.random_range(first.min(width - stretch)..=width - stretch);
    let mut pieces = cut(count, rng);
    let spare = |piece: &Rectangle| piece.x >= from + stretch || piece.x + piece.w <= from;
    let mut spare: Vec<usize> = (0..pieces.len()).filter(|&at| spare(&pieces[at])).collect();
    let surplus = (count - buffers) as usize;
    if surplus > spare.len() {
        // If too few pieces lie outside the interval, no piece is omitted.
        return cut(buffers, rng);
    }
    // Pieces drawn with the probability of their position are omitted first, in random order. The other
    // pieces follow, also in random order.
    spare.shuffle(rng);
    let mut drawn = |at: usize| {
        let Rectangle { x, w, .. } = pieces[at];
        rng.random_range(0..100) < excluded(x + w / 2)
    };
    let (mut out, later): (Vec<usize>, Vec<usize>) = spare.into_iter().partition(|&at| drawn(at));
    out.extend(later);
    out.truncate(surplus);
    out.sort_unstable_by(|a, b| b.cmp(a));
    for at in out {
        pieces.swap_remove(at);
    }
    pieces.shuffle(rng);
    pieces
}

/// The whole rectangle, which is cut into pieces of all magnitudes.
struct Square {
    width: u64,
    cuts: u64,
    pinwheels: u64,
}

/// The number of pieces drawn for a cut. The largest of them is cut.
const CONTEST: usize = 3;

impl Square {
    fn cut_up(&self, count: u64, rng: &mut Xoshiro256PlusPlus) -> Vec<Rectangle> {
        let count = count as usize;
        let mut pieces = Vec::with_capacity(count);
        pieces.push(Rectangle { x: 0, y: 0, w: self.width, h: HEIGHT });
        while pieces.len() < count {
            let any = |rng: &mut Xoshiro256PlusPlus| rng.random_range(0..pieces.len() as u64) as usize;
            let drawn = [(); CONTEST].map(|()| any(rng));
            let largest = drawn.into_iter().max_by_key(|&at| pieces[at].w * pieces[at].h).expect("some");
            let r: Rectangle = pieces[largest];
            let spare = count - pieces.len();
            if spare >= 4 && r.w >= 3 && r.h >= 3 && rng.random_range(0..100) < self.pinwheels {
                let places = |length: u64, rng: &mut Xoshiro256PlusPlus| {
                    let first = rng.random_range(1..length - 1);
                    [first, rng.random_range(first + 1..length)]
                };
                let (x, y) = (places(r.w, rng), places(r.h, rng));
                let [first, others @ ..] = whirl(r, x, y, rng.random_bool(0.5));
                pieces[largest] = first;
                pieces.extend(others);
                continue;
            }
            // A piece of one unit cannot be cut. Another piece is larger, since there are more units than
            // pieces.
            let in_time = rng.random_range(0..100) < self.cuts;
            let in_time = if in_time { r.w >= 2 } else { r.h < 2 && r.w >= 2 };
            if in_time || r.h >= 2 {
                let parts = split(r, in_time, rng.random_range(1..if in_time { r.w } else { r.h }));
                pieces[largest] = parts[0];
                pieces.push(parts[1]);
            }
        }
        pieces
    }
}

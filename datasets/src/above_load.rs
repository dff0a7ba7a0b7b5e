//! Instances whose optimum tends to lie above the load.
//!
//! At every step, exactly `bytes` bytes are live. Whenever buffers die, their bytes are divided at random
//! among new buffers, their *heirs*. Such a replacement is an *exchange* of buffers.
//!
//! A layout whose peak is the load leaves no byte idle, so buffers that die together must lie where their
//! heirs fit. For example, two buffers that are replaced by one heir must be adjacent. Such requirements
//! soon contradict each other. Neither the load, nor a clique of buffers live at one step, nor an area
//! bound detects such a contradiction.
//!
//! Because no byte is idle, a layout at the load consists of one order of the live buffers, bottom to top,
//! per step. [`hard_above_load`] tracks all possible orders over time. If none remains, the optimum
//! provably exceeds the load. It exceeds the load by at least one unit, since all sizes are multiples of
//! the unit.
//!
//! ```text
//!  ┌───┐
//!  │ c │ ?         a and c die together, and their only heir has their total size.
//!  ├───┴─────┐     With b between them, the heir fits into neither hole:
//!  │    b    │     in a layout at the load, a and c must be adjacent.
//!  ├───┬─────┘
//!  │ a │ ?
//!  └───┘
//! ```

use crate::error::{GenerateError, at_least};
use crate::rows::PlainBuffer;
use plimsoll_model::{Bytes, Instance, InstanceBuilder, Interval};
use plimsoll_support::interrupt;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeSet;

/// The parameters of an instance with constant load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AboveLoadParams {
    /// The number of buffers, at least `live`.
    pub buffers: u64,
    /// The approximate number of buffers that are live at a step, at least 3.
    pub live: u64,
    /// The load at every step, in bytes: a multiple of `unit`, and at least four units per live buffer.
    pub bytes: u64,
    /// The unit of all sizes in bytes, at least 1. All sizes are multiples of it.
    pub unit: u64,
    /// The maximum number of buffers that die together, and the maximum number of their heirs. At least 3.
    /// With a value of 3, early decisions constrain late ones. With a large value, the difficulty is to find
    /// subsets whose sizes match.
    pub turnover: u64,
}

impl AboveLoadParams {
    /// Returns parameters for `buffers` buffers, about six of them simultaneously live, with a load of 256
    /// units of 1 KiB.
    pub fn with_buffers(buffers: u64) -> Self {
        Self { buffers, live: 6, bytes: 1 << 18, unit: 1 << 10, turnover: 3 }
    }

    fn validate(&self) -> Result<(), GenerateError> {
        at_least("unit", self.unit, 1)?;
        at_least("alive", self.live, 3)?;
        at_least("turnover", self.turnover, 3)?;
        at_least("buffers", self.buffers, self.live)?;
        if !self.bytes.is_multiple_of(self.unit) {
            let (name, value) = ("bytes", self.bytes);
            return Err(GenerateError::NoMultiple { name, value, of_name: "unit", of: self.unit });
        }
        at_least("bytes / unit", self.bytes / self.unit, self.live.saturating_mul(4))
    }
}

/// An instance with constant load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AboveLoad {
    /// The buffers, in random order.
    pub instance: Instance,
    /// A lower bound on the peak in bytes: the load, or one unit more if `proved` is true.
    pub lower_bound: Bytes,
    /// True if the generator proved that there is no layout at the load. False if there is one, or if the
    /// search for a proof gave up.
    pub proved: bool,
}

/// Generates an instance with constant load whose optimum tends to exceed the load. The share of seeds whose
/// optimum exceeds the load grows with the number of buffers. The same parameters and seed give the same
/// instance. A [stop request](plimsoll_support::interrupt) ends the generation.
///
/// Generation takes O(n k) time for n buffers, k of them live at a step. The proof that the optimum exceeds
/// the load tracks at most [`ORDERS`] orders at a time. With more than about eight live buffers, the proof
/// starts at steps with fewer live buffers. If that does not help, the search for a proof gives up.
///
/// # Errors
/// [`GenerateError`] for parameters out of range, or after a stop request.
pub fn hard_above_load(params: AboveLoadParams, seed: u64) -> Result<AboveLoad, GenerateError> {
    finished(params, false, seed, format!("above-load-{}-{seed}", params.buffers))
}

fn hard_lives(params: AboveLoadParams, rng: &mut Xoshiro256PlusPlus) -> Lives {
    let mut lives = Lives::first(params, rng);
    while lives.left() > 0 {
        lives.turn(rng);
    }
    lives
}

/// Generates an instance like [`hard_above_load`], but with a late contradiction. Every exchange of buffers
/// except the last is redrawn until a layout at the load survives it. The last exchange is redrawn until no
/// such layout survives. Hence, no short interval of time shows that the optimum exceeds the load, and a
/// proof must cover many exchanges. Each exchange is drawn at most [`DRAWS`] times, and the last draw is
/// kept.
///
/// Takes O(n k + n d o) time for n buffers, k of them live at a step. Here, d is the number of draws per
/// exchange, at most [`DRAWS`], and o is the number of orders, at most [`ORDERS`]. With more than eight
/// buffers at the first step, there are too many orders to track, and the result is that of
/// [`hard_above_load`].
///
/// # Errors
/// [`GenerateError`] for parameters out of range, or after a stop request.
pub fn late_above_load(params: AboveLoadParams, seed: u64) -> Result<AboveLoad, GenerateError> {
    finished(params, true, seed, format!("above-load-late-{}-{seed}", params.buffers))
}

fn late_lives(params: AboveLoadParams, rng: &mut Xoshiro256PlusPlus) -> Lives {
    let mut lives = Lives::first(params, rng);
    let mut orders = next_orders(&lives.made, 0, &BTreeSet::new());
    while lives.left() > 0 {
        let mut drawn = lives.clone();
        let mut after = None;
        for _ in 0..DRAWS {
            drawn = lives.clone();
            drawn.turn(rng);
            let step = drawn.step - 1;
            after = orders.as_ref().and_then(|orders| next_orders(&drawn.made, step, orders));
            let last = drawn.left() == 0;
            if after.as_ref().is_none_or(|after| after.is_empty() == last) {
                break;
            }
        }
        (lives, orders) = (drawn, after);
    }
    lives
}

/// The maximum number of draws per exchange in [`late_above_load`].
pub const DRAWS: usize = 200;

fn finished(
    params: AboveLoadParams,
    late: bool,
    seed: u64,
    name: String,
) -> Result<AboveLoad, GenerateError> {
    let (rows, proved) = above_load_rows(params, late, seed)?;
    let buffers = rows.enumerate().map(|(at, row)| row.buffer(at));
    let instance = InstanceBuilder::new(name).buffers(buffers).build()?;
    let lower_bound = Bytes::new(params.bytes + if proved { params.unit } else { 0 });
    Ok(AboveLoad { instance, lower_bound, proved })
}

/// Returns the rows of [`hard_above_load`] or [`late_above_load`] in random order, and whether there is a
/// proof that no layout at the load exists.
pub(crate) fn above_load_rows(
    params: AboveLoadParams,
    late: bool,
    seed: u64,
) -> Result<(impl Iterator<Item = PlainBuffer>, bool), GenerateError> {
    params.validate()?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let lives = if late { late_lives(params, &mut rng) } else { hard_lives(params, &mut rng) };
    let mut made = lives.end();
    let proved = is_above_load(&made);
    // The search for orders was cut short, so the instance would depend on the time of the request.
    if interrupt::is_requested() {
        return Err(GenerateError::Interrupted);
    }
    made.shuffle(&mut rng);
    let row = move |(size, life): (u64, Interval)| PlainBuffer {
        lower: life.lower.get(),
        upper: life.upper.get(),
        size: size * params.unit,
    };
    Ok((made.into_iter().map(row), proved))
}

/// The size in units and the lifespan of every buffer so far, in order of birth. Live buffers have no end
/// yet.
#[derive(Clone)]
struct Lives {
    params: AboveLoadParams,
    made: Vec<(u64, Interval)>,
    live: Vec<usize>,
    step: u64,
}

impl Lives {
    fn first(params: AboveLoadParams, rng: &mut Xoshiro256PlusPlus) -> Self {
        let made = Vec::with_capacity(params.buffers as usize);
        let mut lives = Self { params, made, live: Vec::new(), step: 0 };
        lives.bear(params.bytes / params.unit, params.live, rng);
        lives
    }

    fn bear(&mut self, freed: u64, heirs: u64, rng: &mut Xoshiro256PlusPlus) {
        for size in divided(freed, heirs, rng) {
            self.live.push(self.made.len());
            self.made.push((size, Interval::new(self.step, u64::MAX)));
        }
        self.step += 1;
    }

    fn left(&self) -> u64 {
        self.params.buffers - self.made.len() as u64
    }

    /// Ends the lifespans of randomly chosen buffers and adds their heirs.
    fn turn(&mut self, rng: &mut Xoshiro256PlusPlus) {
        let live = &mut self.live;
        live.shuffle(rng);
        // Exchanging a single buffer would only divide it. Exchanging all live buffers would make the layout
        // independent of earlier steps.
        let least = self.params.turnover - 1;
        let dying = rng.random_range(least..=least + 1).min((live.len() as u64).saturating_sub(1)).max(1);
        let mut freed = 0;
        for position in live.drain(live.len() - dying as usize..) {
            freed += self.made[position].0;
            self.made[position].1.upper = self.step.into();
        }
        let staying = live.len() as u64;
        let heirs = heir_count(dying, staying, self.params, rng).min(self.left()).min(freed);
        self.bear(freed, heirs, rng);
    }

    fn end(mut self) -> Vec<(u64, Interval)> {
        for position in self.live {
            self.made[position].1.upper = self.step.into();
        }
        self.made
    }
}

/// The maximum number of orders tracked at a time.
pub const ORDERS: usize = 50_000;

/// The maximum number of consecutive search steps that find no order. If many buffers are exchanged at once,
/// nearly all ways to fill the holes are dead ends.
const VAIN: u64 = 1 << 12;

/// Returns true if there is a proof that no layout without an idle byte exists. The proof starts at the first
/// step or, if that needs too many orders, at later ones. Ignoring everything before the start is a
/// relaxation.
fn is_above_load(made: &[(u64, Interval)]) -> bool {
    match fits_at_load(made) {
        Some(fits) => !fits,
        None => starts_of_stretches(made)
            .into_iter()
            .any(|step| fits_at_load(&live_from(made, step)) == Some(false)),
    }
}

/// Returns up to [`STRETCHES`] steps at which the proof can start, those with the fewest live buffers first.
/// For more than 4,096 buffers, the list is empty, because finding these steps takes O(n^2) time for n
/// buffers.
fn starts_of_stretches(made: &[(u64, Interval)]) -> Vec<u64> {
    if made.len() > 4096 {
        return Vec::new();
    }
    let live = |step: u64| made.iter().filter(|(_, life)| life.contains(step.into())).count();
    let mut steps: Vec<u64> = made.iter().map(|(_, life)| life.lower.get()).collect();
    steps.dedup();
    steps.sort_by_key(|&step| (live(step), step));
    steps.truncate(STRETCHES);
    steps
}

/// The maximum number of steps at which the proof starts.
const STRETCHES: usize = 8;

/// Returns the buffers that are live at or after a step, in order of birth. Their lifespans are clipped to
/// begin no earlier than the step.
fn live_from(made: &[(u64, Interval)], step: u64) -> Vec<(u64, Interval)> {
    let after = made.iter().filter(|(_, life)| life.upper.get() > step);
    after.map(|&(size, life)| (size, Interval::new(life.lower.get().max(step), life.upper.get()))).collect()
}

/// Decides whether buffers with constant load, listed in order of birth, have a layout without an idle byte.
/// Returns `None` if there are too many orders to track.
fn fits_at_load(made: &[(u64, Interval)]) -> Option<bool> {
    let first = made.partition_point(|&(_, life)| life.lower == made[0].1.lower);
    // At the start, all orders are possible. Mirror images are equivalent.
    let mut orders = 1;
    for live in 3..=first {
        orders *= live;
        if orders > ORDERS {
            return None;
        }
    }
    let mut orders = BTreeSet::new();
    for heirs in made.chunk_by(|a, b| a.1.lower == b.1.lower) {
        orders = next_orders(made, heirs[0].1.lower.get(), &orders)?;
        if orders.is_empty() {
            return Some(false);
        }
    }
    Some(true)
}

/// Returns the orders at a step, bottom to top, that continue one of the preceding orders. An order and its
/// mirror image count as one. Returns `None` if there are too many orders, or if the search for them takes
/// too many steps.
fn next_orders(
    made: &[(u64, Interval)],
    step: u64,
    orders: &BTreeSet<Vec<usize>>,
) -> Option<BTreeSet<Vec<usize>>> {
    let first = made.partition_point(|&(_, life)| life.lower.get() < step);
    let heirs: Vec<usize> = (first..made.len()).take_while(|&i| made[i].1.lower.get() == step).collect();
    let mut next = BTreeSet::new();
    let mut follow = |order: Vec<Slot>| {
        let (heirs, found) = (&heirs, &mut next);
        let mut filling = Filling { made, heirs, order: Vec::new(), found, left: VAIN };
        filling.fill(&order, 0);
        filling.left > 0 && next.len() <= ORDERS
    };
    if first == 0 && !follow(vec![Slot::Hole(heirs.iter().map(|&i| made[i].0).sum())]) {
        return None;
    }
    for order in orders {
        let slots = order
            .iter()
            .map(|&i| if made[i].1.upper.get() == step { Slot::Hole(made[i].0) } else { Slot::Kept(i) });
        if !follow(merged(slots)) {
            return None;
        }
    }
    Some(next)
}

/// A range of addresses during an exchange: a buffer that stays, or a hole of the given size.
#[derive(Clone, Copy)]
enum Slot {
    Kept(usize),
    Hole(u64),
}

/// Merges adjacent holes.
fn merged(slots: impl Iterator<Item = Slot>) -> Vec<Slot> {
    let mut merged: Vec<Slot> = Vec::new();
    for slot in slots {
        match (merged.last_mut(), slot) {
            (Some(Slot::Hole(below)), Slot::Hole(size)) => *below += size,
            _ => merged.push(slot),
        }
    }
    merged
}

/// Enumerates the ways to fill the holes of one order with heirs.
struct Filling<'a> {
    made: &'a [(u64, Interval)],
    heirs: &'a [usize],
    order: Vec<usize>,
    found: &'a mut BTreeSet<Vec<usize>>,
    /// The number of remaining search steps. It is reset whenever an order is found.
    left: u64,
}

impl Filling<'_> {
    /// Fills the slots in every possible way. The lowest `used` units of the first slot are already filled.
    /// Stops if too many orders were found or too many attempts failed.
    fn fill(&mut self, slots: &[Slot], used: u64) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || self.found.len() > ORDERS || interrupt::is_requested() {
            return;
        }
        match slots.first() {
            None => {
                let mirrored: Vec<usize> = self.order.iter().rev().copied().collect();
                self.found.insert(mirrored.min(self.order.clone()));
                self.left = VAIN;
            }
            Some(&Slot::Kept(i)) => {
                self.order.push(i);
                self.fill(&slots[1..], 0);
                self.order.pop();
            }
            Some(&Slot::Hole(size)) if size == used => self.fill(&slots[1..], 0),
            Some(&Slot::Hole(size)) => {
                for &heir in self.heirs {
                    if self.made[heir].0 <= size - used && !self.order.contains(&heir) {
                        self.order.push(heir);
                        self.fill(slots, used + self.made[heir].0);
                        self.order.pop();
                    }
                }
            }
        }
    }
}

/// Draws a number of heirs, biased towards the desired number of live buffers. One dying buffer never gets
/// exactly one heir, because such an exchange would change nothing.
fn heir_count(dying: u64, staying: u64, params: AboveLoadParams, rng: &mut Xoshiro256PlusPlus) -> u64 {
    let (least, most) = (params.turnover - 2, params.turnover);
    let heirs = rng.random_range(least..=most);
    let heirs = match (staying + heirs).cmp(&params.live) {
        std::cmp::Ordering::Less => (heirs + 1).min(most),
        std::cmp::Ordering::Equal => heirs,
        std::cmp::Ordering::Greater => (heirs - 1).max(least),
    };
    if dying == 1 && heirs == 1 { 2 } else { heirs }
}

/// Splits `whole` at random into `parts` positive summands. `whole` must be at least `parts`.
fn divided(whole: u64, parts: u64, rng: &mut Xoshiro256PlusPlus) -> Vec<u64> {
    let mut sizes = Vec::with_capacity(parts as usize);
    let mut left = whole;
    for later in (0..parts).rev() {
        let most = left - later;
        // Draw between one third of the fair share and twice the fair share.
        let fair = left / (later + 1);
        let size = if later == 0 { left } else { rng.random_range((fair / 3).max(1)..=(2 * fair).min(most)) };
        sizes.push(size);
        left -= size;
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brute::optimum_up_to;
    use plimsoll_model::LoadProfile;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_load_is_flat(buffers in 3u64..150, live in 3u64..7, units in 12u64..400, unit in 1u64..5, seed: u64) {
            let params = AboveLoadParams { buffers, live, bytes: units * unit, unit, turnover: 3 };
            match hard_above_load(params, seed) {
                Ok(made) => {
                    prop_assert_eq!(made.instance.len() as u64, buffers);
                    let profile = LoadProfile::of(&made.instance);
                    prop_assert_eq!(profile.pieces().len(), 1);
                    prop_assert_eq!(profile.peak().0.get(), units * unit);
                    prop_assert_eq!(hard_above_load(params, seed).unwrap(), made);
                }
                Err(_) => prop_assert!(buffers < live || units < 4 * live),
            }
        }
    }

    #[test]
    fn the_proof_agrees_with_brute_force() {
        let mut above = 0;
        for seed in 0..12 {
            let params = AboveLoadParams { buffers: 18, live: 6, bytes: 60, unit: 1, turnover: 3 };
            let made = hard_above_load(params, seed).unwrap();
            assert_eq!(optimum_up_to(&made.instance, 60).is_none(), made.proved, "seed {seed}");
            above += u32::from(made.proved);
        }
        assert!((1..12).contains(&above), "expected both answers, but {above} of 12 exceed the load");
    }

    #[test]
    fn what_a_stretch_proves_holds_for_the_whole() {
        let mut above = 0;
        for seed in 0..60 {
            let params = AboveLoadParams { buffers: 30, live: 5, bytes: 40, unit: 1, turnover: 3 };
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut lives = Lives::first(params, &mut rng);
            while lives.left() > 0 {
                lives.turn(&mut rng);
            }
            let made = lives.end();
            for step in starts_of_stretches(&made) {
                let part = fits_at_load(&live_from(&made, step)).unwrap();
                assert!(part || !fits_at_load(&made).unwrap(), "seed {seed}, from step {step}");
                above += u32::from(!part);
            }
        }
        assert!(above > 20, "only {above} stretches have a proof");
    }

    #[test]
    fn the_optimum_is_often_above_the_load() {
        for (buffers, least) in [(20, 10), (40, 10), (120, 10)] {
            let proved =
                |&seed: &u64| hard_above_load(AboveLoadParams::with_buffers(buffers), seed).unwrap().proved;
            let share = (0..20).filter(proved).count();
            assert!(share >= least, "{buffers} buffers: only {share} of 20 seeds have a proof");
        }
    }
}

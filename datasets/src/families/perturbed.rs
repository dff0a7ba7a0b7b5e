//! Perfect packings with shrunk pieces. The pieces still form a layout, but not necessarily an optimal one.

use super::laws::rectangle;
use crate::error::GenerateError;
use crate::family::Params;
use crate::packing::{PackingParams, Rectangle, pieces};
use crate::rows::{Generated, PlainBuffer};
use plimsoll_model::Bytes;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Cuts a rectangle and shrinks each piece with a probability of `share` percent. A shrunk piece loses up to
/// `sizes` percent of its bytes, in whole units. It also loses up to `lives` percent of its steps at each
/// end. At least one unit and one step remain.
///
/// Pieces only shrink, so they still fit at their positions, and the height of the rectangle remains an
/// upper bound on the optimum. The load, a lower bound, is usually less than this height. O(n) for n
/// buffers.
pub(super) fn perturbed(params: &Params, seed: u64) -> Result<Generated, GenerateError> {
    let percent = |name| params.percent(name);
    let (share, sizes, lives) = (percent("share")?, percent("sizes")?, percent("lives")?);
    let pinwheel_share = percent("pinwheels")? as f64 / 100.0;
    let whole = PackingParams { pinwheel_share, ..rectangle(params)? };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let pieces = pieces(whole, &mut rng)?;
    let rows = pieces.into_iter().map(move |Rectangle { x, w, h, .. }| {
        let (mut lower, mut upper, mut height) = (x, x + w, h);
        if rng.random_range(0..100) < share {
            let part = |of: u64, percent: u64| (u128::from(of) * u128::from(percent) / 100) as u64;
            height -= rng.random_range(0..=part(h, sizes).min(h - 1));
            lower += rng.random_range(0..=part(w, lives).min(w - 1));
            upper -= rng.random_range(0..=part(w, lives).min(upper - lower - 1));
        }
        PlainBuffer { lower, upper, size: height * whole.unit }
    });
    Ok(Generated { at_most: Some(Bytes::new(whole.bytes)), ..Generated::plain(rows) })
}

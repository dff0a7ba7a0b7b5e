//! Tests of the bounds that the multipliers of a cover give.

use super::cover::Cover;
use plimsoll_heuristics::spilling::excess;
use plimsoll_model::{Budget, Buffer, Bytes, InstanceBuilder, Lifespan, SpillProblem};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

fn random(rng: &mut StdRng) -> SpillProblem {
    let (mut builder, mut traffic) = (InstanceBuilder::new("random"), Vec::new());
    for at in 0..10 {
        let lower = rng.random_range(0..6);
        let lifespan = Lifespan::single(lower, rng.random_range(lower + 1..=6)).unwrap();
        builder = builder.buffer(Buffer::new(format!("b{at}"), rng.random_range(1..40u64), lifespan));
        traffic.push(rng.random_bool(0.9).then(|| Bytes::new(rng.random_range(0..1000))));
    }
    let capacity = Some(Bytes::new(rng.random_range(20..120)));
    SpillProblem::new(builder.build().unwrap().with_capacity(capacity), traffic).unwrap()
}

/// No choice that satisfies all rows costs less than any bound on its way.
#[test]
fn bounds_hold_for_every_choice_and_every_prefix() {
    let mut rng = StdRng::seed_from_u64(4);
    let mut tight = 0;
    for round in 0..300 {
        let problem = random(&mut rng);
        let mut budget = Budget::unlimited();
        let cover = Cover::new(&problem, &excess(&problem, &budget).0);
        let duals = cover.duals(1, &mut budget);
        let mut least = None;
        for mask in 0..1u32 << cover.costs.len() {
            let goes = |item: usize| mask >> item & 1 == 1;
            let kept = |items: &[(usize, u64)]| {
                items.iter().filter(|one| !goes(one.0)).map(|one| one.1).sum::<u64>()
            };
            let is_valid = cover.rows.iter().all(|row| kept(&row.items) <= row.most)
                && (0..cover.costs.len()).all(|item| !goes(item) || cover.costs[item].is_some());
            if !is_valid {
                continue;
            }
            let spilled = (0..cover.costs.len()).filter(|&item| goes(item));
            let cost: u64 = spilled.filter_map(|item| cover.costs[item]).sum();
            least = least.into_iter().chain([cost]).min();
            let mut sum = duals.base;
            for item in 0..=cover.costs.len() {
                assert!(duals.bound(sum, item) <= cost, "round {round}, item {item}");
                if item < cover.costs.len() && goes(item) {
                    sum += duals.reduced[item];
                }
            }
        }
        let root = duals.bound(duals.base, 0);
        tight += usize::from(least.is_some_and(|least| 10 * root >= 8 * least));
    }
    assert!(tight > 150, "{tight} bounds are close to the optimum");
}

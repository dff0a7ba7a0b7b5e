//! Tests Alg. 1 to 3 of cross-unit fusion on small cases that were computed by hand.

use plimsoll_heuristics::tiers::Fused;
use plimsoll_model::tiers::{
    Addresses, TierKind, TierProblem, TierSpace, TierStep, TierTensor, TierUse, check_tiers,
};
use plimsoll_model::timelines::Time;
use plimsoll_model::{Bytes, TierId, UnitId};

const BUFFER: usize = 0;
const RAM: usize = 1;
const DDR: usize = 2;

/// Builds a problem with a buffer of unit 0, a RAM between the units 0 and 1, and off-chip memory.
fn problem(capacities: [u64; 3], steps: &[(u32, usize)], tensors: &[(u64, usize, &[usize])]) -> TierProblem {
    let kinds = [TierKind::Buffer, TierKind::Ram, TierKind::Ddr];
    let spaces = kinds.iter().zip(capacities).map(|(&kind, capacity)| TierSpace {
        name: kind.as_str().to_owned(),
        kind,
        units: (kind == TierKind::Buffer).then(|| vec![UnitId::new(0)]),
        capacity: Bytes::new(capacity),
        alignment: Bytes::new(1),
    });
    let step = |(at, &(unit, group)): (usize, &(u32, usize))| TierStep {
        name: format!("op{at}"),
        unit: UnitId::new(unit),
        group,
    };
    let tensor = |(at, &(bytes, producer, consumers)): (usize, &(u64, usize, &[usize]))| {
        let own = consumers.iter().chain([&producer]).all(|&step| steps[step].0 == 0);
        let cost = |time: u64| Some(TierUse { time: Time::new(time * bytes), traffic: Bytes::new(bytes) });
        TierTensor {
            name: format!("t{at}"),
            bytes: Bytes::new(bytes),
            lower: producer,
            upper: consumers.iter().max().unwrap() + 1,
            producer: Some(producer),
            consumers: consumers.to_vec(),
            uses: vec![cost(1).filter(|_| own), cost(2), cost(10)],
        }
    };
    let tensors = tensors.iter().enumerate().map(tensor).collect();
    let steps = steps.iter().enumerate().map(step).collect();
    TierProblem::new("by hand", spaces.collect(), steps, tensors, Addresses::Placed).unwrap()
}

fn tiers(problem: &TierProblem, variant: Fused) -> Vec<usize> {
    let plan = variant.plan(problem).unwrap();
    assert!(check_tiers(problem, &plan).is_empty());
    plan.tiers.into_iter().map(TierId::index).collect()
}

#[test]
fn inside_a_group_buffer_then_ram_then_ddr_is_used() {
    // All steps are in one group. Steps 0, 1 and 3 run on unit 0, and step 2 runs on unit 1.
    let steps = [(0, 0), (0, 0), (1, 0), (0, 0)];
    let run = |capacities| {
        let problem = problem(capacities, &steps, &[(4, 0, &[1]), (4, 1, &[2]), (4, 2, &[3])]);
        tiers(&problem, Fused::RETURNING)
    };
    assert_eq!(run([5, 100, 1000]), [BUFFER, RAM, RAM]);
    // The paper requires more free bytes than the tensor has, so four bytes do not fit into four free bytes.
    assert_eq!(run([4, 100, 1000]), [RAM, RAM, RAM]);
    // The second and the third tensor are simultaneously live at step 2.
    assert_eq!(run([5, 8, 1000]), [BUFFER, RAM, DDR]);
    assert_eq!(run([1, 4, 1000]), [DDR, DDR, DDR]);
}

#[test]
fn printed_variant_never_releases_memory() {
    let steps = [(0, 0); 4];
    let problem = problem([6, 1, 1000], &steps, &[(4, 0, &[1]), (4, 2, &[3])]);
    assert_eq!(tiers(&problem, Fused::RETURNING), [BUFFER, BUFFER]);
    assert_eq!(tiers(&problem, Fused::PRINTED), [BUFFER, DDR]);
}

#[test]
fn between_groups_all_bytes_up_to_the_last_consumer_must_fit() {
    // The groups are {0}, {1, 2} and {3}. Operators 1 and 3 read the output of 0. Operators 1 and 2 produce 2
    // and 3 bytes.
    let steps = [(0, 0), (0, 1), (0, 1), (1, 2)];
    let run = |capacities| {
        let problem = problem(capacities, &steps, &[(4, 0, &[1, 3]), (2, 1, &[2]), (3, 2, &[3])]);
        tiers(&problem, Fused::RETURNING)
    };
    assert_eq!(run([3, 10, 1000]), [RAM, BUFFER, RAM]);
    // The groups up to that of operator 3 produce 4 + 2 + 3 = 9 bytes, which is not less than the 9 free
    // bytes. The output of operator 2 needs more than 5 free bytes.
    assert_eq!(run([3, 9, 1000]), [DDR, BUFFER, RAM]);
    assert_eq!(run([3, 5, 1000]), [DDR, BUFFER, DDR]);
}

#[test]
fn any_tier_is_used_if_ddr_is_full() {
    let steps = [(0, 0), (1, 1)];
    let problem = problem([100, 100, 2], &steps, &[(90, 0, &[1]), (90, 0, &[1]), (3, 0, &[1])]);
    assert!(Fused::RETURNING.plan(&problem).is_none());
    let problem = self::problem([1, 90, 3], &steps, &[(90, 0, &[1]), (3, 0, &[1])]);
    assert_eq!(tiers(&problem, Fused::RETURNING), [RAM, DDR]);
}

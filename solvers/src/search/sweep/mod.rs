//! Sweep: an exact optimum by dynamic programming over time, for instances with few buffers alive at a time.
//!
//! # Definition
//!
//! A layout orders the buffers alive in a section from bottom to top. Conversely, take one order per section such
//! that neighbouring sections agree on the buffers they share. Together the orders say who lies above whom, without
//! contradiction: conflicts of intervals form a chordal graph, so a shortest circle of "lies above" would be three
//! buffers, which are alive together in some section, whose order has no circle. The lowest layout with these orders
//! puts every buffer at the length of the longest path from the ground to it, and its peak is the longest path to the
//! top.
//!
//! ```text
//!  ceiling ─┬──────────           The sweep passes a border between two sections. b, d and e cross it. Whatever
//!        ┌──┴──┬──┐ │ e           happened before shows only in distances: the top of b must be at least this far
//!    ┌───┤  d  │  └─┤             below the bottom of d, d so far below e, b so far below e, and likewise for
//!    │ c ├─────┤    │             ground and ceiling. A state is the order (b, d, e) with these distances.
//!    ├───┤  b  └────┤
//!    │ a │          │
//!  ──┴───┴──────────┴─ ground
//! ```
//!
//! The sections are swept one after the other. At a border only the buffers that cross it matter: a path through a
//! buffer that died is kept as the least *distance* between the top of one crossing buffer and the bottom of a higher
//! one, ground and ceiling included. These distances are exactly the projection of all constraints so far, because
//! constraints are differences. The next section puts its newborn buffers at every position of the order, updates the
//! longest paths, and forgets who dies. A state whose longest path exceeds the capacity is dropped; the least such
//! path is a lower bound on the next capacity worth asking for.
//!
//! # Pruning
//!
//! - *Dominance.* Of two states with the same order, the one whose distances are all at most those of the other
//!   suffices: every continuation of the other continues it too, with longest paths that are no longer. The
//!   distance from ground to ceiling is the peak so far, so that the least peak is found in one pass.
//! - *Mirror.* Upside down, a layout is a layout of the same peak: an order and its reverse, with distances reversed,
//!   are one state.
//! - *Brief lives.* Neighbours in the order that are born and die in the same section leave the same distances either way
//!   round: one way is tried. The same holds for twins wherever they lie.
//! - *Look-ahead.* The buffers alive in a later section that are not yet born must fill the distances left between
//!   those that are; what cannot be filled is lost, and more than the slack of that section must not be lost.
//!
//! Time O(states · alive^2) per section. The number of states grows with the orders of those that cross a border,
//! k!/2, times the distances that differ: eight crossing are quick, twelve are hopeless unless slack is short.
//! What is swept may be a *window* of sections: lifespans are clipped to it and what lies outside is left out, which
//! is a relaxation, so that a capacity impossible for the window is impossible for the whole.
//!
//! Sources: our own; the projection is that of difference bounds (Dill 1989, zones of timed automata), the sweep that
//! of dynamic programs over path decompositions, the longest paths those of the disjunctive graph of shop scheduling.

mod ahead;
mod border;
mod end;
mod pass;
mod section;
mod step;

pub(crate) use end::SweepEnd;
pub(crate) use pass::Pass;
pub(crate) use section::Sections;

#[cfg(test)]
mod tests {
    use super::pass::MOST_UNITS;
    use super::{Pass, Sections, SweepEnd};
    use crate::BruteForce;
    use crate::search::valley::Reduced;
    use plimsoll_datasets::{AboveLoadParams, SmallParams, hard_above_load, small_instance};
    use plimsoll_model::{
        Budget, Buffer, Bytes, Instance, InstanceBuilder, Lifespan, Offsets, Problem, Silent, Solver,
    };
    use proptest::prelude::*;

    /// The optimum by sweeps from the load up; every answer is checked.
    fn optimum(instance: &Instance, backwards: bool, ahead: usize) -> i64 {
        let reduced = Reduced::of(instance).unwrap();
        let sections = Sections::of(&reduced);
        let (window, bytes) = ((0, reduced.sections), 1 << 24);
        let mut capacity = reduced.load.iter().copied().max().unwrap_or(0);
        loop {
            let pass = Pass { sections: &sections, window, backwards, capacity, bytes, ahead, beam: None };
            match pass.run(&mut Budget::unlimited()) {
                SweepEnd::Least { peak, offsets } => {
                    let layout = reduced.layout(&offsets);
                    assert_eq!(Offsets::check(instance, &layout), []);
                    assert_eq!(layout.peak(instance).get(), peak as u64 * reduced.grain);
                    return peak * reduced.grain as i64;
                }
                SweepEnd::Impossible { next, .. } => {
                    assert!(next > capacity);
                    capacity = next;
                }
                end => panic!("{end:?}"),
            }
        }
    }

    /// Paths grow with every step of the stairs. Where two of them could pass 32 bits there is no answer.
    #[test]
    fn stairs_of_large_buffers_are_swept_up_to_the_highest_capacity() {
        let size = |i: u64| (1 << 28) - 1 - 2 * i;
        let life = |i: u64| Lifespan::single(i, i + 2).unwrap();
        let buffers = (0..16).map(|i| Buffer::new(format!("b{i}"), Bytes::new(size(i)), life(i)));
        let t = InstanceBuilder::new("stairs").buffers(buffers).build().unwrap();
        let reduced = Reduced::of(&t).unwrap();
        assert_eq!(reduced.grain, 1);
        let sections = Sections::of(&reduced);
        let window = (0, reduced.sections);
        for (backwards, ahead) in [(false, 2), (false, 0), (true, 2), (true, 0)] {
            let run = |capacity: i32| {
                let (capacity, bytes) = (i64::from(capacity), 1 << 24);
                let pass =
                    Pass { sections: &sections, window, backwards, capacity, bytes, ahead, beam: None };
                pass.run(&mut Budget::unlimited())
            };
            let least = run(MOST_UNITS);
            assert!(
                matches!(least, SweepEnd::Least { peak, .. } if peak as u64 == size(0) + size(1)),
                "{least:?}"
            );
            assert_eq!(run(MOST_UNITS + 1), SweepEnd::TooMany);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn agrees_with_brute_force(n in 1usize..8, seed: u64, steps in 2u64..9, max_size in 1u64..9, ahead in 0usize..4) {
            let t = small_instance(SmallParams { steps, max_size, ..SmallParams::with_features(n, 0) }, seed);
            let judge = BruteForce.solve(&t, &mut Budget::unlimited(), &mut Silent).unwrap();
            for backwards in [false, true] {
                prop_assert_eq!(optimum(&t, backwards, ahead) as u64, judge.value.unwrap().get());
            }
        }

        #[test]
        fn both_directions_agree_far_above_the_load(seed: u64, buffers in 8u64..40, turnover in 3u64..5, ahead in 0usize..5) {
            let params = AboveLoadParams { buffers, alive: 5, bytes: 40, unit: 1, turnover };
            let t = hard_above_load(params, seed).unwrap().instance;
            prop_assert_eq!(optimum(&t, false, ahead), optimum(&t, true, 0));
        }

        #[test]
        fn a_beam_proves_nothing_and_its_layouts_are_valid(seed: u64, most in 1usize..30) {
            let params = AboveLoadParams { buffers: 30, alive: 5, bytes: 40, unit: 1, turnover: 3 };
            let t = hard_above_load(params, seed).unwrap().instance;
            let reduced = Reduced::of(&t).unwrap();
            let sections = Sections::of(&reduced);
            let window = (0, reduced.sections);
            let pass = Pass {
                sections: &sections, window, backwards: false, capacity: 50, bytes: 1 << 24, ahead: 2, beam: Some(most),
            };
            match pass.run(&mut Budget::unlimited()) {
                SweepEnd::Least { offsets, .. } => {
                    prop_assert_eq!(Offsets::check(&t, &reduced.layout(&offsets)), []);
                }
                end => prop_assert_eq!(end, SweepEnd::TooMany),
            }
        }
    }
}

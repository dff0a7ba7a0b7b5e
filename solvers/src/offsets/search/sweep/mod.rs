//! Sweep: dynamic programming over time, which finds the optimum of instances with few simultaneously live
//! buffers.
//!
//! # Definition
//!
//! A layout orders the live buffers of a section from bottom to top. Conversely, let every section have an
//! order such that neighbouring sections agree on the buffers that they share. Then the relation "lies above"
//! over all sections is acyclic. Conflicts of intervals form a chordal graph, so a shortest cycle would have
//! three buffers. These are all live in some section, whose order is acyclic. The lowest layout with these
//! orders places every buffer at the length of the longest path from the ground to it. Its peak is the length
//! of the longest path to the ceiling.
//!
//! ```text
//!  ceiling ─┬──────────           The sweep passes a border between two sections. b, d and e cross it. All
//!        ┌──┴──┬──┐ │ e           earlier constraints are summarised by distances: minimum distances from the top
//!    ┌───┤  d  │  └─┤             of b to the bottom of d, from d to e, and from b to e, and likewise for the
//!    │ c ├─────┤    │             ground and the ceiling. A state is the order (b, d, e) with these distances.
//!    ├───┤  b  └────┤
//!    │ a │          │
//!  ──┴───┴──────────┴─ ground
//! ```
//!
//! The sections are swept in order. At a border, only the crossing buffers matter. Paths through dead buffers
//! are summarised as the minimum *distance* between the top of one crossing buffer and the bottom of a higher
//! one. The ground and the ceiling count as crossing buffers. These distances are exactly the projection of
//! all constraints so far, because the constraints are difference constraints. The next section inserts its
//! newborn buffers at every position of the order, updates the longest paths, and removes the buffers that
//! die. A state whose longest path exceeds the capacity is removed. The next capacity to try is the shortest
//! of these longest paths.
//!
//! # Pruning
//!
//! - *Dominance.* A state is removed if another state has the same order and none of its distances is larger.
//!   Every continuation of the removed state is possible from the other, with paths of at most the same
//!   length. The distance from ground to ceiling is the peak so far, so one pass finds the minimum peak.
//! - *Mirror.* A layout turned upside down has the same peak, so an order and its reverse, with reversed
//!   distances, are one state.
//! - *Short lifetimes.* If two neighbours in the order are live only in the current section, both of their
//!   orders lead to the same distances, so only one is tried. Similarly, twins are tried only in one order,
//!   wherever they lie.
//! - *Lookahead.* The buffers of a later section that are not yet born must fit into the distances between
//!   those that are already live. Space that cannot be filled is wasted, and the waste must not exceed the
//!   slack of that section.
//!
//! A section with s states and w live buffers takes O(s · w^2) time. The number of states is at most the
//! number of orders of the k crossing buffers, k!/2, times the number of different combinations of distances.
//! Sweeps with eight crossing buffers are fast. With twelve, they are practical only if slack is small.
//!
//! A sweep may be restricted to a *window* of sections, to which lifespans are clipped. This is a relaxation,
//! so a capacity infeasible for the window is infeasible for the instance.
//!
//! **Source.** This project. The projection is the one used for difference bounds (Dill 1989, zones of timed
//! automata). Dynamic programs over path decompositions use the same kind of sweep. The longest paths are
//! those of the disjunctive graph in shop scheduling.

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
    use crate::offsets::BruteForce;
    use crate::offsets::search::valley::Reduced;
    use plimsoll_datasets::{AboveLoadParams, SmallParams, hard_above_load, small_instance};
    use plimsoll_model::{
        Budget, Buffer, Bytes, Instance, InstanceBuilder, Lifespan, Offsets, Problem, Silent, Solver,
    };
    use proptest::prelude::*;

    /// Returns the optimum in bytes, found by sweeps at increasing capacities that start at the load. Checks
    /// every answer.
    fn optimum(instance: &Instance, backwards: bool, ahead: usize) -> i64 {
        let reduced = Reduced::of(instance).unwrap();
        let sections = Sections::of(&reduced);
        let (window, bytes) = ((0, reduced.sections), 1 << 24);
        let mut capacity = reduced.highest_load();
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

    /// Paths grow with every step of the staircase. A sweep has no result at a capacity at which the sum of
    /// two paths could exceed 32 bits.
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
            let reference = BruteForce.solve(&t, &mut Budget::unlimited(), &mut Silent).unwrap();
            for backwards in [false, true] {
                prop_assert_eq!(optimum(&t, backwards, ahead) as u64, reference.value.unwrap().get());
            }
        }

        #[test]
        fn both_directions_agree_far_above_the_load(seed: u64, buffers in 8u64..40, turnover in 3u64..5, ahead in 0usize..5) {
            let params = AboveLoadParams { buffers, live: 5, bytes: 40, unit: 1, turnover };
            let t = hard_above_load(params, seed).unwrap().instance;
            prop_assert_eq!(optimum(&t, false, ahead), optimum(&t, true, 0));
        }

        #[test]
        fn a_beam_proves_nothing_and_its_layouts_are_valid(seed: u64, most in 1usize..30) {
            let params = AboveLoadParams { buffers: 30, live: 5, bytes: 40, unit: 1, turnover: 3 };
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

//! Learning: an exact search over orders that learns a clause from every dead end.
//!
//! # Definition
//!
//! For every two buffers alive together a variable says who lies below. Orders without circles are layouts (see
//! [`crate::search::sweep`]): every buffer as low as those below it allow. Circles need no search: conflicts of intervals form
//! a chordal graph, so a circle has a chord, and two clauses per three buffers alive together exclude all of them.
//!
//! Each buffer has two bounds: how much lies at least below it, and how much at least above. They follow from the
//! orders that are decided, and they decide others:
//! - *Stacks.* Buffers alive together that all lie below another are stacked, in whatever order: the other lies at least as high as
//!   the lowest of them may, plus all their sizes. The best of these sets holds all whose own bound exceeds some
//!   threshold. The same holds upside down.
//! - *Room.* What lies below a buffer, the buffer, and what lies above must fit the capacity.
//! - *Pairs.* If `a` below `b` would not fit, by the bound below `a`, both sizes and the bound above `b`, then `b` lies below `a`.
//!
//! # Learning
//!
//! A bound is explained by the orders it rests on, lazily and only as far as needed: what exceeds the need is spent on
//! leaving the smallest buffers out of a stack. So a dead end becomes a clause over orders: those that cannot all
//! hold within the capacity. As in every search of this kind the clause speaks of one decision of the last level (the first unique
//! implication point), the search goes back to where it says something new, variables that take part in dead ends
//! are decided first, runs are restarted after Luby's sequence, and the worse half of the clauses is forgotten now and then.
//! A clause that holds at a capacity holds at every lower one: the capacity is lowered from layout to layout, and
//! nothing is lost, until there is none.
//!
//! ```text
//!   capacity ─┬───┬──  With a below c and b below c, c lies on the stack of a and b,
//!       ┌──┬──┴─┐ │    either way round; where c and d are then too high together,
//!       │  │ c? │ │    d lies below c. Had that failed as well, the clause would be
//!    ┌──┴──┤    │ │    "not both a and b below c", here and wherever it comes up again.
//!    │  b  ├────┘ │
//!    ├─────┤  d   │
//!    │  a  │      │
//!  ──┴─────┴──────┴─ ground
//! ```
//!
//! Sources: conflict-driven clause learning (Marques-Silva, Sakallah 1999; Moskewicz and others 2001), bounds explained lazily
//! as in lazy clause generation (Ohrimenko, Stuckey, Codish 2009), stacks from the precedence rule of disjunctive
//! scheduling (Carlier, Pinson 1989); triangles instead of cycle detection, both sides, and what is left out: our own.

mod bounds;
mod clauses;
mod engine;
mod heap;
mod learner;
mod problem;

pub(crate) use engine::{Engine, LearnEnd};
pub(crate) use learner::Learner;
pub(crate) use problem::Problem;

/// Switches of learning, for ablation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LearnRules {
    /// Bounds from all that must be stacked, not from one below another alone.
    ///
    /// Sound: buffers alive together do not overlap, so the highest of them ends at least the sum of their sizes above the
    /// lowest bottom.
    pub stacks: bool,
    /// Explanations leave out what is not needed.
    ///
    /// Sound: the same rule without some buffers gives a bound that is lower by no more than their sizes.
    pub shorten: bool,
    /// Twins in the order of their numbers, one pair of buffers in a fixed order.
    ///
    /// Sound: twins can be exchanged, and a layout upside down is one of the same peak; the pair has no twins, so that the
    /// one does not undo the other.
    pub symmetry: bool,
}

impl Default for LearnRules {
    fn default() -> Self {
        Self { stacks: true, shorten: true, symmetry: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BruteForce;
    use crate::search::valley::Reduced;
    use plimsoll_datasets::{AboveLoadParams, SmallParams, hard_above_load, small_instance};
    use plimsoll_model::{Budget, Instance, Offsets, Problem as _, Silent, Solver};
    use proptest::prelude::*;

    /// The optimum from `capacity` units down, every layout checked; by a new engine for every capacity if `fresh`.
    fn optimum(instance: &Instance, rules: LearnRules, fresh: bool) -> i64 {
        let reduced = Reduced::of(instance).unwrap();
        let problem = super::Problem::of(&reduced).unwrap();
        let mut capacity = (instance.ceiling().get() / reduced.grain) as i64;
        let mut engine = Engine::new(&problem, &reduced, capacity, rules);
        loop {
            match engine.run(&mut Budget::unlimited()) {
                LearnEnd::Fits { offsets, peak } => {
                    let layout = reduced.layout(&offsets);
                    assert_eq!(Offsets::check(instance, &layout), []);
                    assert_eq!(layout.peak(instance).get(), peak as u64 * reduced.grain);
                    assert!(peak <= capacity);
                    capacity = peak - 1;
                    if fresh {
                        engine = Engine::new(&problem, &reduced, capacity, rules);
                    } else {
                        engine.suggest(&offsets);
                        engine.aim(capacity);
                    }
                }
                LearnEnd::Impossible => return (capacity + 1) * reduced.grain as i64,
                LearnEnd::Stopped(stop) => panic!("{stop:?}"),
            }
        }
    }

    fn all_rules() -> impl Iterator<Item = LearnRules> {
        (0..8).map(|on| LearnRules { stacks: on & 1 > 0, shorten: on & 2 > 0, symmetry: on & 4 > 0 })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn agrees_with_brute_force(n in 1usize..8, seed: u64, steps in 2u64..9, max_size in 1u64..9) {
            let t = small_instance(SmallParams { steps, max_size, ..SmallParams::with_features(n, 0) }, seed);
            let judge = BruteForce.solve(&t, &mut Budget::unlimited(), &mut Silent).unwrap();
            for rules in all_rules() {
                for fresh in [false, true] {
                    prop_assert_eq!(optimum(&t, rules, fresh) as u64, judge.value.unwrap().get());
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn all_rules_agree_above_the_load(seed: u64, buffers in 8u64..40, turnover in 3u64..5, bytes in 20u64..400) {
            let params = AboveLoadParams { buffers, alive: 5, bytes, unit: 1, turnover };
            let t = hard_above_load(params, seed).unwrap().instance;
            let expected = optimum(&t, LearnRules::default(), false);
            for rules in all_rules() {
                prop_assert_eq!(optimum(&t, rules, seed % 2 == 0), expected);
            }
        }
    }
}

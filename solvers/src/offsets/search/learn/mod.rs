//! Clause learning: an exact search over orders that learns a clause from every conflict.
//!
//! # Definition
//!
//! For every two simultaneously live buffers, a variable decides which one lies below. Every acyclic choice
//! of orders yields a layout (see [`crate::offsets::search::sweep`]): every buffer lies as low as the buffers below it
//! allow. Clauses exclude cycles. Conflicts of intervals form a chordal graph, in which longer cycles have
//! chords. Two clauses for every three simultaneously live buffers therefore suffice.
//!
//! Each buffer has two lower bounds, one on the height below it and one on the height above it. These bounds
//! follow from the decided orders and imply further orders:
//! - *Stacks.* Simultaneously live buffers that all lie below another buffer form a stack in some order. That
//!   buffer lies at least as high as the lowest bound in the stack plus the sum of the sizes. The best stack
//!   consists of all buffers whose own bound is at or above some threshold. Buffers above a buffer raise the
//!   bound on the height above it in the same way.
//! - *Rigid groups.* The bounds of a member imply those of the other members.
//! - *Space.* The height below a buffer, its size and the height above it must not exceed the capacity.
//! - *Pairs.* If the bound on the height below `a`, both sizes and the bound on the height above `b` together
//!   exceed the capacity, `a` cannot lie below `b`, so `b` lies below `a`.
//!
//! # Learning
//!
//! A bound is explained lazily, by the orders on which it depends. If the bound is higher than needed, the
//! smallest buffers of a stack are omitted from the explanation. A conflict thus becomes a clause over orders
//! that cannot all hold within the capacity. As usual in CDCL, the clause contains one literal of the last
//! level (the first unique implication point). The search backjumps to the level at which the clause is unit.
//! Variables in recent conflicts are decided first. The lengths of runs between restarts follow Luby's
//! sequence. The worse half of the learnt clauses is removed periodically. A clause that is valid at one
//! capacity is valid at every lower one. After every layout, the capacity is therefore lowered without losing
//! clauses, until it is infeasible.
//!
//! ```text
//!   capacity ─┬───┬──  If a and b lie below c, then c lies on the stack of a and b,
//!       ┌──┬──┴─┐ │    in either order. If d on top of c then exceeds the capacity,
//!       │  │ c? │ │    d must lie below c. If that fails as well, the clause
//!    ┌──┴──┤    │ │    "not both a and b below c" is learnt for all branches.
//!    │  b  ├────┘ │
//!    ├─────┤  d   │
//!    │  a  │      │
//!  ──┴─────┴──────┴─ ground
//! ```
//!
//! **Source.** Conflict-driven clause learning (Marques-Silva, Sakallah 1999; Moskewicz et al. 2001). Lazily
//! explained bounds come from lazy clause generation (Ohrimenko, Stuckey, Codish 2009). Stacks come from the
//! precedence rule of disjunctive scheduling (Carlier, Pinson 1989). The use of triangles instead of cycle
//! detection, the bounds on both sides and the shortened explanations were developed in this project.

mod bounds;
mod clauses;
mod derive;
mod engine;
mod general;
mod heap;
mod learner;
mod log;
mod problem;

pub use derive::NoProof;
pub(crate) use derive::{Derivation, derive};
pub(crate) use engine::{Engine, LearnEnd};
pub(crate) use learner::Learner;
pub(crate) use problem::Problem;

/// Switches of learning, for ablation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LearnRules {
    /// Whether to derive the bound of a buffer from the whole stack below it instead of from a single buffer.
    ///
    /// This is sound because simultaneously live buffers do not overlap. The highest end among them is
    /// therefore at least the lowest offset plus the sum of their sizes.
    pub stacks: bool,
    /// Whether to omit unnecessary buffers from explanations.
    ///
    /// This is sound because, without some buffers of the stack, the same rule gives a bound that is lower
    /// by at most the sum of their sizes.
    pub shorten: bool,
    /// Whether to fix the order of twins by their index, and the order of one other pair of buffers.
    ///
    /// This is sound because twins can be exchanged, and a layout turned upside down has the same peak. The
    /// other pair contains no twin, so the two rules do not interfere.
    pub symmetry: bool,
    /// An unsound rule, with which tests show that the checker rejects unsound proofs.
    pub wrong: Option<Wrong>,
}

/// An unsound change of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// A stack is one unit higher than its buffers.
    Stack,
    /// A buffer needs one unit more space than its size.
    Space,
    /// Two buffers need one unit more space than their sizes.
    Pair,
    /// Buffers of equal size count as twins.
    Twin,
    /// The mirror symmetry fixes the order of every pair instead of one.
    Mirror,
    /// Of three buffers, the first must lie below the second, or the second below the third.
    Triangle,
    /// Learnt clauses lack their last literal.
    Clause,
}

impl LearnRules {
    /// Returns true if a test has made this rule unsound.
    fn is_wrong(self, rule: Wrong) -> bool {
        cfg!(test) && self.wrong == Some(rule)
    }
}

impl Default for LearnRules {
    fn default() -> Self {
        Self { stacks: true, shorten: true, symmetry: true, wrong: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offsets::BruteForce;
    use crate::offsets::search::valley::Reduced;
    use plimsoll_datasets::{AboveLoadParams, SmallParams, hard_above_load, small_instance};
    use plimsoll_model::{Budget, Instance, Offsets, Problem as _, Silent, Solver};
    use proptest::prelude::*;

    /// Returns the optimum in bytes and checks every layout on the way. If `fresh` is true, every capacity
    /// gets a new engine.
    fn optimum(instance: &Instance, rules: LearnRules, fresh: bool) -> i64 {
        let reduced = Reduced::of(instance).unwrap();
        let problem = super::Problem::of(&reduced).unwrap();
        let mut capacity = (instance.ceiling().get() / reduced.grain) as i64;
        let mut engine = Engine::new(&problem, capacity, rules);
        loop {
            match engine.run(&mut Budget::unlimited()) {
                LearnEnd::Fits { offsets, peak } => {
                    let layout = reduced.layout(&offsets);
                    assert_eq!(Offsets::check(instance, &layout), []);
                    assert_eq!(layout.peak(instance).get(), peak as u64 * reduced.grain);
                    assert!(peak <= capacity);
                    capacity = peak - 1;
                    if fresh {
                        engine = Engine::new(&problem, capacity, rules);
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
        (0..8).map(|on| LearnRules {
            stacks: on & 1 > 0,
            shorten: on & 2 > 0,
            symmetry: on & 4 > 0,
            ..LearnRules::default()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn agrees_with_brute_force(n in 1usize..8, seed: u64, steps in 2u64..9, max_size in 1u64..9) {
            let t = small_instance(SmallParams { steps, max_size, ..SmallParams::with_features(n, 0) }, seed);
            let reference = BruteForce.solve(&t, &mut Budget::unlimited(), &mut Silent).unwrap();
            for rules in all_rules() {
                for fresh in [false, true] {
                    prop_assert_eq!(optimum(&t, rules, fresh) as u64, reference.value.unwrap().get());
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn all_rules_agree_above_the_load(seed: u64, buffers in 8u64..40, turnover in 3u64..5, bytes in 20u64..400) {
            let params = AboveLoadParams { buffers, live: 5, bytes, unit: 1, turnover };
            let t = hard_above_load(params, seed).unwrap().instance;
            let expected = optimum(&t, LearnRules::default(), false);
            for rules in all_rules() {
                prop_assert_eq!(optimum(&t, rules, seed % 2 == 0), expected);
            }
        }
    }
}

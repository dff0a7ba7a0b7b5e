//! Every algorithm of every problem: what the command, the benchmark and the tests read, and nothing else.

use plimsoll_model::fusion::FuserEntry;
use plimsoll_model::overlap::ScheduleEntry;
use plimsoll_model::tiers::PlacerEntry;
use plimsoll_model::{Entry, Joint, Offsets, Orders, Pools, Scattered, Spilling};
use plimsoll_solvers::Library;

/// All entries, heuristics first, each list in the order of its crate.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// For the offset problem.
    pub offsets: Vec<&'static Entry<Offsets>>,
    /// For the offset problem with buffers cut into pieces.
    pub scattered: Vec<&'static Entry<Scattered>>,
    /// For the shared-object problem.
    pub pools: Vec<&'static Entry<Pools>>,
    /// For the order problem.
    pub orders: Vec<&'static Entry<Orders>>,
    /// For order and offsets together.
    pub joint: Vec<&'static Entry<Joint>>,
    /// For what is spilled where memory does not suffice.
    pub spilling: Vec<&'static Entry<Spilling>>,
    /// For timelines: when weights are fetched.
    pub schedules: Vec<&'static ScheduleEntry>,
    /// For tiers of memory: which tensor lives where.
    pub placers: Vec<&'static PlacerEntry>,
    /// For fusions: which operators run as one.
    pub fusers: Vec<&'static FuserEntry>,
    /// Exact solvers for the offset problem with one part switched off each, for ablation: found by their full name,
    /// never part of a default.
    pub variants: Vec<&'static Entry<Offsets>>,
}

/// Everything this build can run.
pub fn registry() -> Registry {
    Registry {
        offsets: plimsoll_heuristics::OFFSETS.iter().chain(plimsoll_solvers::OFFSETS).collect(),
        scattered: plimsoll_heuristics::SCATTERED.iter().chain(plimsoll_solvers::SCATTERED).collect(),
        pools: plimsoll_heuristics::POOLS.iter().chain(plimsoll_solvers::POOLS).collect(),
        orders: plimsoll_heuristics::ORDERS.iter().chain(plimsoll_solvers::ORDERS).collect(),
        joint: plimsoll_solvers::JOINT.iter().collect(),
        spilling: plimsoll_heuristics::SPILLING.iter().chain(plimsoll_solvers::SPILLING).collect(),
        schedules: plimsoll_heuristics::SCHEDULES.iter().chain(plimsoll_solvers::SCHEDULES).collect(),
        placers: plimsoll_heuristics::PLACERS.iter().chain(plimsoll_solvers::PLACERS).collect(),
        fusers: plimsoll_heuristics::FUSERS.iter().chain(plimsoll_solvers::FUSERS).collect(),
        variants: plimsoll_solvers::variants().collect(),
    }
}

/// A solver that this build is without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this build is without the solver '{solver}': it needs {library}, which the feature '{feature}' brings in"
)]
pub struct LeftOut {
    /// The solver.
    pub solver: &'static str,
    /// What it needs.
    pub library: &'static str,
    /// The feature of the build.
    pub feature: &'static str,
}

/// Why there is no solver of this name, or variant of one, in this build, where another build has it.
pub fn left_out(name: &str) -> Option<LeftOut> {
    let plain = name.split_once(':').map_or(name, |(solver, _)| solver);
    let library = Library::of(name).filter(|library| !library.is_present)?;
    let solver = library.solvers.iter().find(|&&solver| solver == plain)?;
    Some(LeftOut { solver, library: library.name, feature: library.feature })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_model::Problem;
    use plimsoll_solvers::LIBRARIES;
    use std::collections::BTreeSet;

    fn check<P: Problem>(entries: &[&'static Entry<P>]) {
        let mut names = BTreeSet::new();
        for entry in entries {
            assert!(names.insert(entry.name), "{} twice among {}", entry.name, P::NAME);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(entry.name.chars().all(plain), "{}", entry.name);
            assert!(!entry.about.is_empty() && !entry.about.contains('\n'), "{}", entry.name);
            assert!(!entry.source.is_empty() && !entry.source.contains('\n'), "{}", entry.name);
            let built = (entry.build)(plimsoll_model::Setup::default());
            assert_eq!(built.name(), entry.name);
        }
    }

    #[test]
    fn names_are_unique_and_described() {
        let registry = registry();
        check(&registry.offsets);
        check(&registry.scattered);
        check(&registry.pools);
        check(&registry.orders);
        check(&registry.joint);
        check(&registry.spilling);
        let mut schedules = BTreeSet::new();
        for entry in &registry.schedules {
            assert!(schedules.insert(entry.name) && entry.name != "all", "{}", entry.name);
            let built = (entry.build)(plimsoll_model::overlap::ScheduleSetup::default());
            assert_eq!(built.name(), entry.name);
        }
        let mut placers = BTreeSet::new();
        for entry in &registry.placers {
            assert!(placers.insert(entry.name), "{}", entry.name);
            assert_eq!((entry.build)(plimsoll_model::Setup::default()).name(), entry.name);
        }
        let mut fusers = BTreeSet::new();
        for entry in &registry.fusers {
            assert!(fusers.insert(entry.name), "{}", entry.name);
            assert_eq!((entry.build)(plimsoll_model::Setup::default()).name(), entry.name);
        }
        let mut variants = BTreeSet::new();
        for entry in registry.variants {
            assert!(variants.insert(entry.name), "{} twice", entry.name);
            let built = (entry.build)(plimsoll_model::Setup::default());
            assert!(entry.name.starts_with(&format!("{}:", built.name())), "{}", entry.name);
        }
    }
    #[test]
    fn a_solver_is_there_or_left_out() {
        let registry = registry();
        let offsets = registry.offsets.iter().chain(&registry.variants).map(|entry| entry.name);
        let there: BTreeSet<&str> = offsets.chain(registry.pools.iter().map(|entry| entry.name)).collect();
        for library in LIBRARIES {
            for solver in library.solvers {
                assert_eq!(there.contains(solver), library.is_present, "{solver}");
                assert_eq!(left_out(solver).is_some(), !library.is_present, "{solver}");
            }
            let plain = format!("{}:plain", library.feature);
            assert_eq!(there.contains(plain.as_str()), left_out(&plain).is_none(), "{plain}");
        }
        assert_eq!(left_out("exact"), None);
    }
}

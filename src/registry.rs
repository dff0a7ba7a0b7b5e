//! Every algorithm of every problem: what the command, the benchmark and the tests read, and nothing else.

use plimsoll_model::fusion::Fusions;
use plimsoll_model::tiers::Tiers;
use plimsoll_model::timelines::Timelines;
use plimsoll_model::{Entry, Joint, Offsets, Orders, Problem, SharedObjects, Spilling, SplitBuffers};
use plimsoll_solvers::Library;

/// All entries, heuristics first, each list in the order of its crate.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// For the offset problem.
    pub offsets: Vec<&'static Entry<Offsets>>,
    /// For the offset problem with buffers cut into pieces.
    pub split_buffers: Vec<&'static Entry<SplitBuffers>>,
    /// For the shared-object problem.
    pub shared_objects: Vec<&'static Entry<SharedObjects>>,
    /// For the order problem.
    pub orders: Vec<&'static Entry<Orders>>,
    /// For order and offsets together.
    pub joint: Vec<&'static Entry<Joint>>,
    /// For what is spilled where memory does not suffice.
    pub spilling: Vec<&'static Entry<Spilling>>,
    /// For timelines: when weights are fetched.
    pub timelines: Vec<&'static Entry<Timelines>>,
    /// For tiers of memory: which tensor lives where.
    pub tiers: Vec<&'static Entry<Tiers>>,
    /// For fusions: which operators run as one.
    pub fusions: Vec<&'static Entry<Fusions>>,
    /// Exact solvers for the offset problem with one part switched off each, for ablation: found by their full name,
    /// never part of a default.
    pub variants: Vec<&'static Entry<Offsets>>,
}

/// A problem with a list in the registry.
pub trait Listed: Problem {
    /// Its entries.
    fn entries(registry: &Registry) -> &[&'static Entry<Self>];

    /// Its entries, to change them.
    fn entries_mut(registry: &mut Registry) -> &mut Vec<&'static Entry<Self>>;

    /// Variants of them for ablation, which take part only by name.
    fn variants(_registry: &Registry) -> &[&'static Entry<Self>] {
        &[]
    }
}

macro_rules! listed {
    ($($problem:ty => $field:ident $(and $variants:ident)?),* $(,)?) => {$(
        impl Listed for $problem {
            fn entries(registry: &Registry) -> &[&'static Entry<Self>] {
                &registry.$field
            }

            fn entries_mut(registry: &mut Registry) -> &mut Vec<&'static Entry<Self>> {
                &mut registry.$field
            }
            $(
                fn variants(registry: &Registry) -> &[&'static Entry<Self>] {
                    &registry.$variants
                }
            )?
        }
    )*};
}

listed! {
    Offsets => offsets and variants, SplitBuffers => split_buffers, SharedObjects => shared_objects, Orders => orders, Joint => joint,
    Spilling => spilling, Timelines => timelines, Tiers => tiers, Fusions => fusions,
}

impl Registry {
    /// Adds an algorithm, as [`Entry::new`] makes it.
    ///
    /// # Errors
    /// [`NameTaken`] where the problem has an algorithm of this name.
    pub fn register<P: Listed>(&mut self, entry: &'static Entry<P>) -> Result<(), NameTaken> {
        if self.find::<P>(entry.name).is_some() {
            return Err(NameTaken { problem: P::NAME, name: entry.name });
        }
        P::entries_mut(self).push(entry);
        Ok(())
    }

    /// The algorithm of this name.
    pub fn find<P: Listed>(&self, name: &str) -> Option<&'static Entry<P>> {
        P::entries(self).iter().copied().find(|entry| entry.name == name)
    }

    /// The algorithm, or variant of one, of this name.
    pub fn named<P: Listed>(&self, name: &str) -> Option<&'static Entry<P>> {
        P::entries(self).iter().chain(P::variants(self)).copied().find(|entry| entry.name == name)
    }
}

/// A second algorithm of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is an algorithm '{name}' for {problem} already")]
pub struct NameTaken {
    /// The problem.
    pub problem: &'static str,
    /// The name.
    pub name: &'static str,
}

/// Everything this build can run.
pub fn registry() -> Registry {
    Registry {
        offsets: plimsoll_heuristics::OFFSETS.iter().chain(plimsoll_solvers::OFFSETS).collect(),
        split_buffers: plimsoll_heuristics::SPLIT_BUFFERS
            .iter()
            .chain(plimsoll_solvers::SPLIT_BUFFERS)
            .collect(),
        shared_objects: plimsoll_heuristics::SHARED_OBJECTS
            .iter()
            .chain(plimsoll_solvers::SHARED_OBJECTS)
            .collect(),
        orders: plimsoll_heuristics::ORDERS.iter().chain(plimsoll_solvers::ORDERS).collect(),
        joint: plimsoll_solvers::JOINT.iter().collect(),
        spilling: plimsoll_heuristics::SPILLING.iter().chain(plimsoll_solvers::SPILLING).collect(),
        timelines: plimsoll_heuristics::TIMELINES.iter().chain(plimsoll_solvers::TIMELINES).collect(),
        tiers: plimsoll_heuristics::TIERS.iter().chain(plimsoll_solvers::TIERS).collect(),
        fusions: plimsoll_heuristics::FUSIONS.iter().chain(plimsoll_solvers::FUSIONS).collect(),
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
    use plimsoll_model::timelines::{Dma, Time, TimedOperator, TimelineProblem};
    use plimsoll_model::{Bytes, Claim, Kind, Setup, Silent};
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
        check(&registry.split_buffers);
        check(&registry.shared_objects);
        check(&registry.orders);
        check(&registry.joint);
        check(&registry.spilling);
        check(&registry.timelines);
        check(&registry.tiers);
        check(&registry.fusions);
        let mut variants = BTreeSet::new();
        for entry in registry.variants {
            assert!(variants.insert(entry.name), "{} twice", entry.name);
            let built = (entry.build)(plimsoll_model::Setup::default());
            assert!(entry.name.starts_with(&format!("{}:", built.name())), "{}", entry.name);
        }
    }

    #[test]
    fn an_own_algorithm_is_registered_once() {
        use plimsoll_model::run::{Limits, run};
        let mut registry = registry();
        let source = format!("seed {}", 7);
        let entry = Entry::new("own", Kind::Heuristic, "prefetch again", source, |_| {
            plimsoll_heuristics::timelines::Prefetch
        });
        assert_eq!(registry.register(entry), Ok(()));
        assert_eq!(registry.register(entry), Err(NameTaken { problem: "timelines", name: "own" }));
        let own = registry.find::<Timelines>("own").unwrap();
        let dma = Dma { channels: 1, startup: Time::ZERO, bandwidth: 1_000_000_000_000 };
        let operator = |at: u64| TimedOperator {
            name: format!("o{at}"),
            compute: Time::new(10),
            weights: Bytes::new(4 * at),
            activations: Bytes::new(8),
        };
        let problem =
            TimelineProblem::new("p", (0..3).map(operator).collect(), dma, Bytes::new(64), Bytes::new(1));
        let attempt = run(own, &problem.unwrap(), Setup::default(), Limits::default(), &mut Silent);
        assert_eq!(attempt.result.unwrap().claim, Claim::Optimal);
    }

    #[test]
    fn a_solver_is_there_or_left_out() {
        let registry = registry();
        let offsets = registry.offsets.iter().chain(&registry.variants).map(|entry| entry.name);
        let there: BTreeSet<&str> =
            offsets.chain(registry.shared_objects.iter().map(|entry| entry.name)).collect();
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

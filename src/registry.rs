//! The registry, which contains every algorithm of every problem. The command, the benchmarks and the tests
//! find algorithms only here.

use plimsoll_model::{Entry, ParameterError, Problem};
use plimsoll_solvers::Library;
use std::sync::OnceLock;

/// Passes the problems to the macro `$then`, each with its name in the [`Registry`], its type, its objective,
/// its heuristics and its exact solvers. Problems of instances come before problems of graphs.
macro_rules! each_problem {
    ($then:ident) => {
        $then! {
            offsets: plimsoll_model::Offsets, "the lowest peak with one offset per buffer",
                plimsoll_heuristics::offsets::ENTRIES, plimsoll_solvers::offsets::ENTRIES;
            shared_objects: plimsoll_model::SharedObjects, "the fewest bytes in objects that buffers share",
                plimsoll_heuristics::shared_objects::ENTRIES, plimsoll_solvers::shared_objects::ENTRIES;
            split_buffers: plimsoll_model::SplitBuffers, "the lowest peak if buffers may be split",
                plimsoll_heuristics::split_buffers::ENTRIES, plimsoll_solvers::split_buffers::ENTRIES;
            orders: plimsoll_model::Orders, "the operator order with the lowest peak",
                plimsoll_heuristics::orders::ENTRIES, plimsoll_solvers::orders::ENTRIES;
            joint: plimsoll_model::Joint, "the lowest peak over orders and offsets together",
                &[], plimsoll_solvers::joint::ENTRIES;
            spilling: plimsoll_model::Spilling, "the fewest bytes moved if the buffers do not all fit",
                plimsoll_heuristics::spilling::ENTRIES, plimsoll_solvers::spilling::ENTRIES;
            timelines: plimsoll_model::timelines::Timelines, "the shortest makespan with weight transfers",
                plimsoll_heuristics::timelines::ENTRIES, plimsoll_solvers::timelines::ENTRIES;
            tiers: plimsoll_model::tiers::Tiers, "the tier of each tensor for the least transfer time",
                plimsoll_heuristics::tiers::ENTRIES, plimsoll_solvers::tiers::ENTRIES;
            fusion: plimsoll_model::fusion::Fusions, "the groups of operators to run as one",
                plimsoll_heuristics::fusion::ENTRIES, plimsoll_solvers::fusion::ENTRIES;
        }
    };
}
pub(crate) use each_problem;

/// A problem with a list in the registry.
pub trait Listed: Problem {
    /// What the algorithms of the problem seek, without a full stop.
    const OBJECTIVE: &'static str;

    /// Returns the algorithms of the problem.
    fn entries(registry: &Registry) -> &[&'static Entry<Self>];

    /// Returns a mutable reference to the algorithms of the problem.
    fn entries_mut(registry: &mut Registry) -> &mut Vec<&'static Entry<Self>>;
}

macro_rules! lists {
    ($($field:ident: $problem:ty, $objective:literal, $heuristics:expr, $solvers:expr;)*) => {
        /// The algorithms of all problems. In the lists that [`registry()`] returns, the heuristics come before
        /// the exact solvers, and each group keeps the order of its crate. [`Registry::register`] appends to a
        /// list.
        #[derive(Clone, Debug, Default)]
        pub struct Registry {
            $(
                #[doc = concat!("Algorithms that seek ", $objective, ".")]
                pub $field: Vec<&'static Entry<$problem>>,
            )*
        }

        $(
            impl Listed for $problem {
                const OBJECTIVE: &'static str = $objective;

                fn entries(registry: &Registry) -> &[&'static Entry<Self>] {
                    &registry.$field
                }

                fn entries_mut(registry: &mut Registry) -> &mut Vec<&'static Entry<Self>> {
                    &mut registry.$field
                }
            }
        )*

        /// Returns the registry of this process: the [installed](Registry::install) one, or else that of all
        /// algorithms in this build.
        pub fn registry() -> Registry {
            INSTALLED.get().cloned().unwrap_or_else(|| Registry { $($field: both($heuristics, $solvers),)* })
        }
    };
}

each_problem!(lists);

static INSTALLED: OnceLock<Registry> = OnceLock::new();

impl Registry {
    /// Makes [`registry()`] return this registry from now on. Only the first call in a process has an effect.
    /// A program that installs its own algorithms and then calls `plimsoll_command::main` is the command
    /// `plimsoll` with these algorithms.
    pub fn install(self) {
        let _ = INSTALLED.set(self);
    }

    /// Adds an algorithm, built by [`Entry::new`].
    ///
    /// # Errors
    /// Returns [`NameTaken`] if the problem already has an algorithm of this name.
    pub fn register<P: Listed>(&mut self, entry: &'static Entry<P>) -> Result<(), NameTaken> {
        if P::entries(self).iter().any(|own| own.name == entry.name) {
            return Err(NameTaken { problem: P::NAME, name: entry.name });
        }
        P::entries_mut(self).push(entry);
        Ok(())
    }

    /// Finds an algorithm of a problem; see [`named`].
    ///
    /// # Errors
    /// See [`NameError`].
    pub fn find<P: Listed>(&self, name: &str) -> Result<&'static Entry<P>, NameError> {
        named(P::entries(self), name)
    }
}

/// Finds an algorithm by its name, which may end with parameters, as in `search:-memo:-twins`.
///
/// # Errors
/// See [`NameError`].
pub fn named<P: Problem>(entries: &[&'static Entry<P>], name: &str) -> Result<&'static Entry<P>, NameError> {
    let find = |name: &str| entries.iter().copied().find(|entry| entry.name == name);
    if let Some(entry) = find(name) {
        return Ok(entry);
    }
    if let Some((own, parameters)) = name.split_once(':')
        && let Some(entry) = find(own)
    {
        return Ok(entry.with(parameters)?);
    }
    let known: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    let unknown = || NameError::Unknown { name: name.to_owned(), problem: P::NAME, known: known.join(", ") };
    Err(excluded(name).map_or_else(unknown, NameError::Excluded))
}

/// Returns the first algorithm that is found. If there is none, returns the first error, but an error about an
/// unknown name only if all are. Returns `None` if there are no results.
pub fn first_found<T>(results: impl Iterator<Item = Result<T, NameError>>) -> Option<Result<T, NameError>> {
    results.min_by_key(|result| match result {
        Ok(_) => 0,
        Err(NameError::Excluded(_) | NameError::Parameter(_)) => 1,
        Err(NameError::Unknown { .. }) => 2,
    })
}

/// The reason why a name refers to no algorithm of a problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// No build contains an algorithm of this name.
    #[error("unknown algorithm '{name}' for {problem}; expected one of {known}")]
    Unknown {
        /// The unknown name.
        name: String,
        /// Name of the problem.
        problem: &'static str,
        /// The names of all algorithms, separated by commas.
        known: String,
    },
    /// This build excludes the algorithm.
    #[error(transparent)]
    Excluded(#[from] Excluded),
    /// The algorithm does not accept a parameter.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// The name of an algorithm is already in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the problem {problem} already has an algorithm named '{name}'")]
pub struct NameTaken {
    /// Name of the problem.
    pub problem: &'static str,
    /// Name of the algorithm.
    pub name: &'static str,
}

fn both<P: Problem>(heuristics: &'static [Entry<P>], solvers: &'static [Entry<P>]) -> Vec<&'static Entry<P>> {
    heuristics.iter().chain(solvers).collect()
}

/// A solver that this build excludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this build does not include the solver '{solver}': it needs {library}; build with the feature '{feature}'"
)]
pub struct Excluded {
    /// Name of the solver.
    pub solver: &'static str,
    /// The library that the solver needs.
    pub library: &'static str,
    /// The Cargo feature that adds the library.
    pub feature: &'static str,
}

/// Returns the reason why this build excludes the named solver. Returns `None` if this build includes it, or
/// if no build does. The name may end with parameters.
pub fn excluded(name: &str) -> Option<Excluded> {
    let plain = name.split_once(':').map_or(name, |(solver, _)| solver);
    let library = Library::of(name).filter(|library| !library.is_present)?;
    let solver = library.solvers.iter().find(|&&solver| solver == plain)?;
    Some(Excluded { solver, library: library.name, feature: library.feature })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posed::{PROBLEMS, Posed, Visitor, visit};
    use plimsoll_model::run::{Limits, run};
    use plimsoll_model::timelines::{Dma, Time, TimedOperator, TimelineProblem, Timelines};
    use plimsoll_model::{
        Budget, Buffer, Bytes, Claim, Instance, InstanceBuilder, Kind, Layout, Lifespan, Observer, Offsets,
        Outcome, Parameter, Setup, SharedObjects, Silent, SolveError, Solver, Stats, Stop, simple_bound,
    };
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
            let built = (entry.build)(Setup::default());
            assert_eq!(built.name(), entry.name);
            let parameters = built.parameters();
            for Parameter { name, about } in &parameters {
                assert!(!about.is_empty() && !about.contains('\n'), "{name}");
                let full = format!("{}:{name}", entry.name);
                let found = named(entries, &full).unwrap();
                assert_eq!((found.name, found.about), (&*full, entry.about));
                assert_eq!((found.build)(Setup::default()).name(), entry.name);
                assert!(std::ptr::eq(found, named(entries, &full).unwrap()), "{full} is built once");
            }
            let unique: BTreeSet<&str> = parameters.iter().map(|parameter| parameter.name).collect();
            assert_eq!(unique.len(), parameters.len(), "{}", entry.name);
        }
    }

    #[test]
    fn names_are_unique_and_have_summaries() {
        struct Check(Registry);
        impl Visitor for Check {
            type Output = ();
            fn visit<P: Posed>(&mut self) {
                check(P::entries(&self.0));
                assert!(!P::OBJECTIVE.ends_with('.'), "{}", P::NAME);
            }
        }
        let mut check = Check(registry());
        for problem in PROBLEMS {
            visit(problem, &mut check).unwrap();
        }
    }

    #[test]
    fn parameters_change_an_algorithm() {
        let registry = registry();
        let both = registry.find::<Offsets>("search:-twins:-memo").unwrap();
        assert_eq!(both.name, "search:-memo:-twins");
        let error = |name: &str| registry.find::<Offsets>(name).unwrap_err().to_string();
        let unknown = error("search:-memos");
        assert!(unknown.starts_with("'search' has no parameter '-memos'; expected -restarts, "), "{unknown}");
        assert_eq!(error("naive:-memo"), "'naive' has no parameter '-memo'; expected none");
        let unknown = error("serach:-memo");
        assert!(unknown.starts_with("unknown algorithm 'serach:-memo' for offsets; expected one of naive, "));
        let plain = registry.find::<SharedObjects>("mini-infer").unwrap();
        let exact = registry.find::<SharedObjects>("mini-infer:-rounding").unwrap();
        let buffer = Buffer::new("a", 300, Lifespan::single(0, 1).unwrap());
        let instance = InstanceBuilder::new("t").buffer(buffer).build().unwrap();
        let value = |entry: &Entry<SharedObjects>| {
            let outcome = run(entry, &instance, Setup::default(), Limits::default(), &mut Silent);
            outcome.unwrap().value.unwrap().get()
        };
        assert_eq!((value(plain), value(exact)), (512, 300));
    }

    #[test]
    fn a_custom_algorithm_is_registered_once() {
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
        let outcome = run(own, &problem.unwrap(), Setup::default(), Limits::default(), &mut Silent);
        assert_eq!(outcome.unwrap().claim, Claim::Optimal);
    }

    /// Places each buffer in a bank of its own.
    struct Banks(u64);

    impl Solver<Offsets> for Banks {
        fn name(&self) -> &'static str {
            "banks"
        }

        fn solve(
            &self,
            instance: &Instance,
            _: &mut Budget,
            _: &mut dyn Observer<Offsets>,
        ) -> Result<Outcome<Offsets>, SolveError> {
            let layout = Layout::from_raw((0..).step_by(self.0 as usize).take(instance.len()));
            let (bound, stats) = (simple_bound(instance), Stats::default());
            Ok(Outcome::of(instance, Some(layout), bound, Stop::Completed, stats))
        }
    }

    #[test]
    fn a_wasteful_layout_of_a_custom_algorithm_is_an_answer() {
        let buffer = |name, size: u64| Buffer::new(name, size, Lifespan::single(0, 1).unwrap());
        let buffers = [buffer("a", 100), buffer("b", 200), buffer("c", 50)];
        let instance = InstanceBuilder::new("t").buffers(buffers).build().unwrap();
        for (bank, peak) in [(200, 450), (4096, 8242), (1 << 40, (2 << 40) + 50)] {
            let mut registry = Registry::default();
            let entry = Entry::new("banks", Kind::Heuristic, "one bank each", "a test", move |_| Banks(bank));
            registry.register(entry).unwrap();
            let claim = |capacity| {
                let instance = instance.clone().with_capacity(capacity);
                let run =
                    run(registry.offsets[0], &instance, Setup::default(), Limits::default(), &mut Silent);
                run.map(|outcome| (outcome.claim, outcome.value)).unwrap()
            };
            let value = Some(Bytes::new(peak));
            assert_eq!((claim(None), claim(value)), ((Claim::Feasible, value), (Claim::Feasible, value)));
            assert_eq!(claim(Some(Bytes::new(peak - 1))), (Claim::Unknown, value));
        }
    }

    #[test]
    fn a_solver_is_present_or_excluded() {
        let registry = registry();
        let offsets = registry.offsets.iter().map(|entry| entry.name);
        let present: BTreeSet<&str> =
            offsets.chain(registry.shared_objects.iter().map(|entry| entry.name)).collect();
        for library in LIBRARIES {
            for solver in library.solvers {
                assert_eq!(present.contains(solver), library.is_present, "{solver}");
                assert_eq!(excluded(solver).is_some(), !library.is_present, "{solver}");
            }
            let name = format!("{}:-bridges", library.feature);
            let found = registry.find::<Offsets>(&name).map(|entry| entry.name);
            assert_eq!(found, excluded(&name).map_or(Ok(&*name), |reason| Err(reason.into())));
        }
        assert_eq!(excluded("exact"), None);
    }
}

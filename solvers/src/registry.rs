//! The registries of exact solvers for offsets, split buffers, shared objects, orders, and order and offsets
//! together.
//!
//! The registries for spilling, tiers, timelines and fusion are in the modules of these problems.

use crate::exact::Help;
use crate::joint::JointExact;
use crate::orders::{Method, OrderBrute, OrderSolver};
use crate::search::arrangements::ArrangementRules;
use crate::search::learn::LearnRules;
use crate::search::windows::WindowRules;
use crate::search::{Branching, Search, SearchParams};
use crate::{BruteForce, Exact, SplitExact};
use plimsoll_model::{
    Build, Entry, Joint, Kind, Offsets, Orders, Setup, SharedObjects, SplitBuffers, guarded,
};

/// An optional third-party library. Without its feature, the solvers that need it are absent from the
/// registries.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// The Cargo feature that links the library.
    pub feature: &'static str,
    /// The name of the library, as its authors write it.
    pub name: &'static str,
    /// The names of all solvers, for any problem, that need the library. Ablation variants are not listed.
    pub solvers: &'static [&'static str],
    /// Whether the library computes in floating point. If so, its proofs depend on tolerances.
    pub is_floating: bool,
    /// Whether this build links the library.
    pub is_present: bool,
}

impl Library {
    /// Returns the optional library that a solver needs, if any. An ablation variant `NAME:VARIANT` needs
    /// the same library as `NAME`.
    pub fn of(solver: &str) -> Option<&'static Self> {
        let plain = solver.split_once(':').map_or(solver, |(plain, _)| plain);
        LIBRARIES.iter().find(|library| library.solvers.contains(&plain))
    }
}

/// Every optional library, linked or not.
pub const LIBRARIES: &[Library] = &[
    Library {
        feature: "ilp",
        name: "HiGHS",
        solvers: &["ilp", "pool-ilp"],
        is_floating: true,
        is_present: cfg!(feature = "ilp"),
    },
    Library {
        feature: "smt",
        name: "z3",
        solvers: &["smt"],
        is_floating: false,
        is_present: cfg!(feature = "smt"),
    },
];

/// Every exact solver for the offset problem, the default first.
pub const OFFSETS: &[Entry<Offsets>] = &[
    Entry {
        name: "exact",
        kind: Kind::Exact,
        about: "bounds and placement heuristics first; branch and bound only if they leave a gap",
        source: "this project",
        time: "exponential in the number of simultaneously live buffers at worst; O(n log n) for n buffers if the first layout meets the bound",
        build: &|setup| guarded(Exact::new(setup)),
    },
    Entry {
        name: "search",
        kind: Kind::Exact,
        about: "branch and bound over valleys (for intervals) or cliques (otherwise), with restarts and a memo",
        source: "this project; Moffitt 2023, MiniMalloc",
        time: "exponential in the number n of buffers at worst; O(n + overlaps) per node",
        build: &|setup| guarded(Search::new(setup)),
    },
    #[cfg(feature = "ilp")]
    Entry {
        name: "ilp",
        kind: Kind::Exact,
        about: "integer program with binary ordering variables, tight big-M constraints and stacking cuts, solved by HiGHS",
        source: "disjunctive formulation of dynamic storage allocation; good_lp, HiGHS",
        time: "exponential in the number of overlapping pairs of buffers at worst",
        build: &|setup| guarded(crate::ilp::Ilp::new(setup)),
    },
    #[cfg(feature = "smt")]
    Entry {
        name: "smt",
        kind: Kind::Exact,
        about: "disjunctions over integer offsets, solved by z3 with bisection on the peak",
        source: "satisfiability modulo difference logic; z3 (de Moura and Bjorner 2008)",
        time: "exponential in the number of overlapping pairs of buffers at worst",
        build: &|setup| guarded(crate::smt::Smt::new(setup)),
    },
    Entry {
        name: "brute-force",
        kind: Kind::Exact,
        about: "tries every order of at most nine buffers, to cross-check other solvers",
        source: "this project",
        time: "O(n! n^2) for n buffers, at most 9",
        build: &|_| guarded(BruteForce),
    },
];

/// Every exact solver for split buffers.
pub const SPLIT_BUFFERS: &[Entry<SplitBuffers>] = &[Entry {
    name: "exact",
    kind: Kind::Exact,
    about: "maximum flow if compatibility is a partial order, otherwise column generation over stable sets",
    source: "this project; Dilworth 1950, Gilmore and Gomory 1961, Farley 1990",
    time: "polynomial if compatibility is a partial order, otherwise exponential at worst",
    build: &|setup| guarded(SplitExact::new(setup)),
}];

/// Every exact solver for the shared-object problem.
pub const SHARED_OBJECTS: &[Entry<SharedObjects>] = &[
    #[cfg(feature = "ilp")]
    Entry {
        name: "pool-ilp",
        kind: Kind::Exact,
        about: "integer program: the largest buffer of an object represents it, and an object contains at most one buffer of a clique",
        source: "asymmetric representatives for colouring (Campelo, Campos, Correa 2008); good_lp, HiGHS",
        time: "exponential in the number of conflicting pairs at worst",
        build: &|setup| guarded(crate::ilp::PoolIlp::new(setup)),
    },
];

/// Every exact solver that chooses order and offsets together, the default first.
pub const JOINT: &[Entry<Joint>] = &[
    Entry {
        name: "exact",
        kind: Kind::Exact,
        about: "places the best order; if a gap remains, tries all orders of small graphs or searches locally over good orders",
        source: "this project",
        time: "exponential in the number of operators at worst",
        build: &|setup| guarded(JointExact::new(setup)),
    },
    #[cfg(feature = "ilp")]
    Entry {
        name: "ilp",
        kind: Kind::Exact,
        about: "one integer program for steps and offsets; only for small graphs",
        source: "after MODeL (Steiner et al. 2022); good_lp, HiGHS",
        time: "exponential in the number of operators and buffers at worst",
        build: &|setup| guarded(crate::ilp::JointIlp::new(setup)),
    },
];

/// Every exact solver for the order problem, the default first.
pub const ORDERS: &[Entry<Orders>] = &[
    Entry {
        name: "exact",
        kind: Kind::Exact,
        about: "reductions and cuts, then search and bidirectional dynamic programming with growing node limits",
        source: "this project",
        time: "exponential in the number of operators at worst (up to 2^n downsets)",
        build: &|setup| guarded(OrderSolver::new(setup, Method::Staged)),
    },
    Entry {
        name: "dp",
        kind: Kind::Exact,
        about: "dynamic programming over downsets, by increasing peak",
        source: "Ahn et al. 2020, SERENITY; bottleneck shortest paths",
        time: "O(2^n n) at worst for n operators, linear in the number of visited downsets",
        build: &|setup| guarded(OrderSolver::new(setup, Method::Paths)),
    },
    Entry {
        name: "search",
        kind: Kind::Exact,
        about: "depth-first branch and bound with forced safe runs and an exact memo of failed downsets",
        source: "this project; Liu 1987 for hills and valleys",
        time: "exponential in the number of operators at worst",
        build: &|setup| guarded(OrderSolver::new(setup, Method::Search)),
    },
    #[cfg(feature = "ilp")]
    Entry {
        name: "ilp",
        kind: Kind::Exact,
        about: "integer program with one operator per step and cumulative variables, solved by HiGHS",
        source: "Steiner et al. 2022 (OLLA), 2023 (MODeL); good_lp, HiGHS",
        time: "exponential in the number of operators at worst",
        build: &|setup| guarded(crate::ilp::OrderIlp::new(setup)),
    },
    Entry {
        name: "brute-force",
        kind: Kind::Exact,
        about: "tries all downsets of at most twenty operators, to cross-check other solvers",
        source: "this project",
        time: "O(2^n n s) for n operators, at most 20, and a graph of size s",
        build: &|_| guarded(OrderBrute),
    },
];

/// Returns the ablation variants of the solvers for offsets. Most are named `NAME:no-PART` and switch off
/// one technique. The variants are meant for experiments.
pub fn variants() -> impl Iterator<Item = &'static Entry<Offsets>> {
    let all = EXACTS.iter().chain(SEARCHES);
    #[cfg(feature = "ilp")]
    let all = all.chain(crate::ilp::VARIANTS);
    #[cfg(feature = "smt")]
    let all = all.chain(crate::smt::VARIANTS);
    all
}

const EXACTS: &[Entry<Offsets>] = &[
    helped("exact:no-ejection", "branching does not alternate with an ejection search", &|setup| {
        guarded(Exact::without(setup, Help::Ejection))
    }),
    helped("exact:no-iterated", "branching does not alternate with an iterated search", &|setup| {
        guarded(Exact::without(setup, Help::Iterated))
    }),
];

const fn helped(name: &'static str, about: &'static str, build: Build<Offsets>) -> Entry<Offsets> {
    Entry { source: "ablation of exact", ..valley(name, about, build) }
}

const SEARCHES: &[Entry<Offsets>] = &[
    valley("search:no-restarts", "a single run without restarts", &|s| {
        guarded(search(s, |p| p.rules.restarts = false))
    }),
    valley("search:no-lookahead", "orders options by shape alone", &|s| {
        guarded(search(s, |p| p.rules.lookahead = false))
    }),
    valley("search:no-levels", "starts every run from the root", &|s| {
        guarded(search(s, |p| p.rules.levels = 0))
    }),
    valley("search:no-plain-runs", "uses lookahead and levels from the first run", &|s| {
        guarded(search(s, |p| p.rules.plain_runs = 0))
    }),
    valley("search:no-memo", "no memo of failed states", &|s| guarded(search(s, |p| p.rules.memo = false))),
    valley("search:no-wall-waste", "no bound on the space wasted next to walls", &|s| {
        guarded(search(s, |p| p.rules.wall_waste = false))
    }),
    valley("search:no-twins", "tries interchangeable buffers separately", &|s| {
        guarded(search(s, |p| p.rules.twins = false))
    }),
    valley("search:no-failure-weights", "does not weight sections by failures", &|s| {
        guarded(search(s, |p| p.rules.failure_weights = false))
    }),
    valley("search:canonical", "canonical branching on intervals too", &|s| {
        guarded(search(s, |p| p.branching = Branching::Canonical))
    }),
    valley("search:cliques", "branching over cliques on intervals too", &|s| {
        guarded(search(s, |p| p.branching = Branching::Cliques))
    }),
    valley("search:no-windows", "only valley branching: no sweeps, no windows", &|s| {
        guarded(search(s, |p| p.windows = None))
    }),
    valley("search:no-whole-sweep", "no sweep over all sections", &|s| {
        guarded(search(s, |p| p.windows = Some(WindowRules { whole: false, ..WindowRules::default() })))
    }),
    valley("search:no-beam", "no beam sweep to find layouts", &|s| {
        guarded(search(s, |p| p.windows = Some(WindowRules { beam: false, ..WindowRules::default() })))
    }),
    valley("search:no-inner-sweeps", "no sweeps from sections in the middle", &|s| {
        guarded(search(s, |p| p.windows = Some(WindowRules { sweeps: false, ..WindowRules::default() })))
    }),
    valley("search:no-sweep-ahead", "sweeps without lookahead", &|s| {
        guarded(search(s, |p| p.windows = Some(WindowRules { ahead: 0, ..WindowRules::default() })))
    }),
    valley("search:no-arrangements", "no sweeps over sets of arrangements", &|s| {
        guarded(search(s, |p| p.arrangements = None))
    }),
    valley("search:no-arrangement-beam", "no beam sweeps over sets of arrangements to find layouts", &|s| {
        guarded(search(s, |p| {
            p.arrangements = Some(ArrangementRules { beam: false, ..ArrangementRules::default() });
        }))
    }),
    valley("search:no-meeting", "does not compare sweeps in opposite directions", &|s| {
        guarded(search(s, |p| {
            p.arrangements = Some(ArrangementRules { meet: false, ..ArrangementRules::default() });
        }))
    }),
    valley("search:no-bonds", "sweeps over sets of arrangements ignore later exchanges", &|s| {
        guarded(search(s, |p| {
            p.arrangements = Some(ArrangementRules { bonds: false, ..ArrangementRules::default() });
        }))
    }),
    valley("search:no-cores", "no searches on cores of windows", &|s| {
        guarded(search(s, |p| p.cores = false))
    }),
    valley("search:no-reorder", "no ejection search over orders on tight instances", &|s| {
        guarded(search(s, |p| p.reorder = false))
    }),
    valley("search:no-learning", "no clause learning", &|s| guarded(search(s, |p| p.learn = None))),
    valley(
        "search:no-stacks",
        "learning bounds a buffer by one buffer below it instead of the whole stack",
        &|s| guarded(search(s, |p| p.learn = Some(LearnRules { stacks: false, ..LearnRules::default() }))),
    ),
    valley("search:no-shortening", "does not shorten learnt clauses", &|s| {
        guarded(search(s, |p| p.learn = Some(LearnRules { shorten: false, ..LearnRules::default() })))
    }),
    valley("search:no-learnt-symmetry", "learning ignores twins and mirror images", &|s| {
        guarded(search(s, |p| p.learn = Some(LearnRules { symmetry: false, ..LearnRules::default() })))
    }),
];

const fn valley(name: &'static str, about: &'static str, build: Build<Offsets>) -> Entry<Offsets> {
    Entry {
        name,
        kind: Kind::Exact,
        about,
        source: "ablation of search",
        time: "exponential at worst, like search",
        build,
    }
}

fn search(setup: Setup, change: fn(&mut SearchParams)) -> Search {
    let mut params = SearchParams::default();
    change(&mut params);
    Search::new(setup).with_params(params)
}

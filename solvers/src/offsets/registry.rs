//! The registry entries of the exact solvers for offsets.

use super::BruteForce;
use super::exact::{Exact, Help};
use super::search::arrangements::ArrangementRules;
use super::search::learn::LearnRules;
use super::search::windows::WindowRules;
use super::search::{Branching, Search, SearchParams};
use plimsoll_model::{Build, Entry, Kind, Offsets, Setup, guarded};

/// Every exact solver for the offset problem, the default first.
pub const ENTRIES: &[Entry<Offsets>] = &[
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
        build: &|setup| guarded(super::ilp::Ilp::new(setup)),
    },
    #[cfg(feature = "smt")]
    Entry {
        name: "smt",
        kind: Kind::Exact,
        about: "disjunctions over integer offsets, solved by z3 with bisection on the peak",
        source: "satisfiability modulo difference logic; z3 (de Moura and Bjorner 2008)",
        time: "exponential in the number of overlapping pairs of buffers at worst",
        build: &|setup| guarded(crate::offsets::smt::Smt::new(setup)),
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

/// Returns the ablation variants of the solvers for offsets. Most are named `NAME:no-PART` and switch off
/// one technique. The variants are meant for experiments.
pub fn variants() -> impl Iterator<Item = &'static Entry<Offsets>> {
    let all = EXACTS.iter().chain(SEARCHES);
    #[cfg(feature = "ilp")]
    let all = all.chain(super::ilp::VARIANTS);
    #[cfg(feature = "smt")]
    let all = all.chain(crate::offsets::smt::VARIANTS);
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

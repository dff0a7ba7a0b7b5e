//! Tests plans of graphs with branches and loops: every scheme, both checkers, the inequalities between the
//! optima of schemes, and known optima.

use plimsoll::Registry;
use plimsoll::branches::{Planner, SCHEMES, Scheme, SchemeEntry, compare};
use plimsoll::datasets::control_cases::CONTROL_CASES;
use plimsoll::datasets::graphs::GraphFamily;
use plimsoll::model::execution::ExecutionOptions;
use plimsoll::model::graph::{Boundary, Graph, LivenessOptions};
use plimsoll::model::program::{Carries, Program, ProgramOptions, Sharing};
use plimsoll::model::{Bytes, Entry, Offsets, OperatorId, RegionId, Setup};
use plimsoll::run::{Limits, run};
use std::collections::BTreeMap;

const FAMILIES: [&str; 5] = ["nested-if", "unbalanced-if", "shared-if", "loops", "control-mix"];

fn named<'a>(registry: &'a Registry, name: &str) -> &'a Entry<Offsets> {
    registry.offsets.iter().find(|entry| entry.name == name).unwrap()
}

fn in_file(graph: &Graph) -> Vec<Vec<OperatorId>> {
    (0..graph.regions().len()).map(|at| graph.file_order(RegionId::at(at))).collect()
}

/// Options that vary with the seed.
fn options(seed: u64) -> ProgramOptions {
    let pick = |at: u64, count: u64| (seed / at) % count;
    let liveness = LivenessOptions {
        boundary: [Boundary::Arena, Boundary::Outside, Boundary::Persistent, Boundary::Held]
            [pick(6, 4) as usize],
        weights: pick(18, 4) == 3,
        states: pick(5, 4) != 3,
        views: pick(7, 4) != 3,
        captured: pick(13, 2) == 1,
        in_place: pick(2, 2) == 1,
        file_order: pick(17, 3) == 1,
        align: Bytes::new([1, 16][pick(11, 2) as usize]),
    };
    let handover = [Sharing::Copy, Sharing::Alias][pick(3, 2) as usize];
    let carries = [Carries::Resident, Carries::Tight, Carries::Double][pick(1, 3) as usize];
    ProgramOptions { liveness, handover, carries }
}

fn execution(options: &ProgramOptions, seed: u64) -> ExecutionOptions {
    ExecutionOptions {
        runs: 64,
        seed,
        swap: options.carries == Carries::Double,
        ..ExecutionOptions::default()
    }
}

/// Returns a node limit instead of a time limit, so that the test is reproducible.
fn limits() -> Limits {
    Limits { nodes: Some(50_000), ..Limits::default() }
}

/// Runs every scheme on a graph of every family for each seed.
fn all_schemes(seeds: std::ops::Range<u64>) {
    let registry = plimsoll::registry();
    let exact = named(&registry, "exact");
    let (mut optima, mut loses, mut count) = (0, 0, 0);
    for seed in seeds {
        for family in FAMILIES {
            let graph = GraphFamily::named(family).unwrap().generate(seed, &BTreeMap::new()).unwrap();
            let options = options(seed);
            let program = Program::new(&graph, in_file(&graph), options).unwrap();
            let execution = execution(&options, seed);
            // Both checkers have run; a rejected plan would have been an error.
            let found = compare(&program, &registry, &[exact], Setup::default(), limits(), execution);
            let found = found.unwrap_or_else(|error| panic!("{family} {seed} {options:?}: {error}"));
            assert_eq!(found.broken(), None, "{family} {seed} {options:?}");
            let [merged, sequential] =
                [Scheme::Nested, Scheme::Sequential].map(|s| found.arena(s, "exact").unwrap());
            count += 1;
            optima += usize::from(found.optimum().is_some());
            loses += usize::from(merged > sequential);
        }
    }
    // Most graphs are small enough for a proof of optimality. Merging branches into blocks sometimes needs
    // more memory than running them sequentially.
    assert!(optima * 10 > count * 9, "{optima} of {count} proved");
    assert!(loses > 0);
    println!("{count} graphs: {optima} optima proved, merging lost on {loses}");
}

#[test]
fn every_scheme_passes_both_checkers_and_the_inequalities_hold() {
    all_schemes(0..40);
}

#[test]
#[ignore = "takes a minute: plans more than a thousand graphs"]
fn every_scheme_on_a_thousand_graphs() {
    all_schemes(40..300);
}

/// Checks that `search`, `ilp`, `smt` and `exact` prove the same optimum on lifespans with gaps.
fn agreement(seeds: std::ops::Range<u64>) {
    let registry = plimsoll::registry();
    let mut count = 0;
    for seed in seeds {
        for family in FAMILIES {
            let small: &[(&str, u64)] = match family {
                "nested-if" => &[("depth", 1), ("operators", 3)],
                "unbalanced-if" => &[("ifs", 1), ("operators", 3)],
                "shared-if" => &[("shared", 5), ("operators", 2)],
                "loops" => &[("loops", 1), ("carried", 1), ("operators", 2)],
                _ => &[("operators", 5)],
            };
            let params = small.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
            let graph = GraphFamily::named(family).unwrap().generate(seed, &params).unwrap();
            let program = Program::new(&graph, in_file(&graph), options(seed)).unwrap();
            if program.instance().len() > 14 {
                continue;
            }
            count += 1;
            let value = |name: &str| {
                let outcome = run(
                    named(&registry, name),
                    program.instance(),
                    Setup::default(),
                    Limits::default(),
                    &mut plimsoll::model::Silent,
                );
                let outcome = outcome.unwrap_or_else(|error| panic!("{family} {seed} {name}: {error}"));
                assert_eq!(outcome.claim.as_str(), "optimal", "{family} {seed} {name}");
                outcome.value
            };
            let expected = value("exact");
            let is_available = |name: &&str| plimsoll::excluded(name).is_none();
            for name in ["search", "ilp", "smt"].into_iter().filter(is_available) {
                assert_eq!(value(name), expected, "{family} {seed} {name}");
            }
        }
    }
    assert!(count > 0);
    println!("{count} graphs");
}

#[test]
fn exact_methods_agree_on_programs() {
    agreement(1000..1020);
}

#[test]
#[ignore = "takes minutes: solves hundreds of integer programs"]
fn exact_methods_agree_on_many_programs() {
    agreement(1020..1250);
}

#[test]
fn field_cases_have_their_optima() {
    let registry = plimsoll::registry();
    let exact = named(&registry, "exact");
    for case in CONTROL_CASES {
        let graph = (case.build)();
        // The known optima assume that the state of a loop is live only while it is needed.
        let options = ProgramOptions { carries: Carries::Tight, ..ProgramOptions::default() };
        let program = Program::new(&graph, in_file(&graph), options).unwrap();
        let plan = |name: &str| {
            let scheme = SchemeEntry::named(name).unwrap();
            let (setup, limits, execution) = (Setup::default(), Limits::default(), execution(&options, 0));
            let plan = Planner { scheme, solver: exact, setup, limits, execution }.plan(&program).unwrap();
            assert!(plan.is_optimal() && plan.all_runs, "{}", case.name);
            plan.peak
        };
        assert_eq!(Some(plan("exclusive")), case.optimum, "{}", case.name);
        let nested = plan("nested");
        assert_eq!(case.merged.unwrap_or(nested), nested, "{}", case.name);
    }
}

#[test]
fn schemes_are_described_once() {
    for (at, entry) in SCHEMES.iter().enumerate() {
        assert_eq!(SchemeEntry::named(entry.name).map(|found| found.scheme), Some(entry.scheme));
        assert!(SCHEMES[..at].iter().all(|other| other.scheme != entry.scheme));
        assert!(!entry.about.is_empty() && !entry.source.is_empty());
    }
}

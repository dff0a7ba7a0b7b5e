//! Tests memory tiers against all choices on small random problems, and across solvers on larger ones.

use plimsoll_datasets::{AboveLoadParams, late_above_load};
use plimsoll_model::run::audit;
use plimsoll_model::tiers::{
    Addresses, TierKind, TierProblem, TierSpace, TierStep, TierTensor, TierUse, Tiers, check_tiers,
};
use plimsoll_model::timelines::Time;
use plimsoll_model::{
    Budget, Bytes, Claim, Entry, Kind, Outcome, Setup, Silent, SolveError, Stop, UnitId, load,
};

/// A deterministic pseudorandom generator.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % end
    }
}

/// Returns a random problem with `count` tensors over `steps` steps. The last of `tiers` tiers is off-chip.
/// If `roomy` is true, all tensors fit into this last tier.
fn random(seed: u64, count: usize, steps: usize, tiers: usize, roomy: bool) -> TierProblem {
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let spaces = (0..tiers).map(|at| {
        let last = at + 1 == tiers;
        let capacity = if last && roomy { 100_000 } else { 8 + draw.below(40) };
        TierSpace {
            name: format!("tier{at}"),
            kind: if last { TierKind::Ddr } else { TierKind::Ram },
            units: None,
            capacity: Bytes::new(capacity),
            alignment: Bytes::new([1, 1, 2, 4][draw.below(4) as usize]),
        }
    });
    let spaces: Vec<TierSpace> = spaces.collect();
    let step = |at| TierStep { name: format!("op{at}"), unit: UnitId::new(0), group: at / 2 };
    let tensors = (0..count).map(|at| {
        let lower = draw.below(steps as u64) as usize;
        let upper = (lower + 1 + draw.below(5) as usize).min(steps);
        let bytes = 1 + draw.below(16);
        let mut uses: Vec<Option<TierUse>> = (0..tiers)
            .map(|tier| {
                let time = Time::new(bytes * (1 + tier as u64 * (1 + draw.below(3))) + draw.below(3));
                (draw.below(5) > 0).then_some(TierUse { time, traffic: Bytes::new(bytes) })
            })
            .collect();
        if let Some(last) = uses.last_mut().filter(|last| last.is_none()) {
            *last = Some(TierUse { time: Time::new(bytes * 9), traffic: Bytes::new(bytes) });
        }
        TierTensor {
            name: format!("t{at}"),
            bytes: Bytes::new(bytes),
            lower,
            upper,
            producer: Some(lower),
            consumers: vec![upper - 1],
            uses,
        }
    });
    let tensors = tensors.collect();
    TierProblem::new("random", spaces, (0..steps).map(step).collect(), tensors, Addresses::Counted).unwrap()
}

fn placers() -> impl Iterator<Item = &'static Entry<Tiers>> {
    plimsoll_heuristics::tiers::ENTRIES.iter().chain(plimsoll_solvers::tiers::ENTRIES)
}

/// Solves a problem and checks the outcome.
fn solve(entry: &Entry<Tiers>, problem: &TierProblem, budget: &mut Budget) -> Outcome<Tiers> {
    let placer = (entry.build)(Setup::default());
    let found = placer.solve(problem, budget, &mut Silent).unwrap();
    if let Some(plan) = &found.solution {
        let faults = check_tiers(problem, plan);
        assert!(faults.is_empty(), "{}: {} {problem:?}", entry.name, faults[0]);
        assert_eq!(found.value, Some(plan.time(problem)));
        assert!(found.lower_bound.value <= plan.time(problem), "{}", entry.name);
    }
    assert_eq!(audit::<Tiers>(problem, &found), Vec::<String>::new(), "{}", entry.name);
    found
}

fn named(name: &str) -> &'static Entry<Tiers> {
    placers().find(|entry| entry.name == name).unwrap()
}

#[test]
fn all_agree_with_all_choices() {
    let (mut tight, mut infeasible) = (0, 0);
    for seed in 0..100 {
        let roomy = seed % 4 != 0;
        let problem = random(seed, 3 + seed as usize % 5, 6, 2 + seed as usize % 3, roomy);
        for addresses in [Addresses::Counted, Addresses::Placed] {
            let problem = problem.clone().with_addresses(addresses);
            let reference = solve(named("brute-force"), &problem, &mut Budget::unlimited());
            for entry in placers() {
                let found = solve(entry, &problem, &mut Budget::unlimited());
                if let Some(time) = found.value {
                    assert!(
                        Some(time) >= reference.value && reference.value.is_some(),
                        "{} {seed}",
                        entry.name
                    );
                }
                if let Some(least) = reference.value {
                    assert!(found.lower_bound.value <= least, "{} {seed} {addresses:?}", entry.name);
                    assert_ne!(found.claim, Claim::Infeasible, "{} {seed}", entry.name);
                }
                if entry.kind == Kind::Exact {
                    assert_eq!(
                        found.value, reference.value,
                        "{} {seed} {addresses:?} {problem:?}",
                        entry.name
                    );
                    assert_eq!(found.claim, reference.claim, "{} {seed} {addresses:?}", entry.name);
                }
            }
            infeasible += usize::from(reference.claim == Claim::Infeasible);
            tight += usize::from(reference.lower_bound.witness.to_string().contains("search"));
        }
    }
    assert!(tight > 25 && infeasible > 3, "{tight} {infeasible}");
}

#[test]
fn larger_problems_are_solved_alike() {
    for seed in 0..6 {
        let problem = random(1000 + seed, 60, 30, 3, true);
        for addresses in [Addresses::Counted, Addresses::Placed] {
            let problem = problem.clone().with_addresses(addresses);
            let exact = solve(named("exact"), &problem, &mut Budget::unlimited().with_node_limit(2_000_000));
            assert_eq!(exact.claim, Claim::Optimal, "{seed} {addresses:?}");
            for entry in placers().filter(|entry| !["exact", "brute-force"].contains(&entry.name)) {
                let found = solve(entry, &problem, &mut Budget::unlimited());
                assert!(found.value >= exact.value, "{} {seed}", entry.name);
                assert!(found.lower_bound.value <= exact.value.unwrap(), "{} {seed}", entry.name);
                if entry.kind == Kind::Exact {
                    assert_eq!(found.value, exact.value, "{} {seed} {addresses:?}", entry.name);
                }
            }
        }
    }
}

#[test]
fn runs_repeat_and_limits_prove_nothing() {
    let problem = random(77, 80, 40, 4, true).with_addresses(Addresses::Placed);
    for entry in placers().filter(|entry| entry.name != "brute-force") {
        for nodes in [1, 50, 2000] {
            let run = || solve(entry, &problem, &mut Budget::unlimited().with_node_limit(nodes));
            let (first, second) = (run(), run());
            assert_eq!(
                (&first.solution, first.stop),
                (&second.solution, second.stop),
                "{} {nodes}",
                entry.name
            );
        }
    }
    let short = solve(named("exact"), &problem, &mut Budget::unlimited().with_node_limit(1));
    assert!(short.stop == Stop::NodeLimit || short.claim == Claim::Optimal);
    let none = Budget::unlimited().with_time_limit(std::time::Duration::ZERO);
    for entry in placers().filter(|entry| entry.name != "brute-force") {
        solve(entry, &problem, &mut none.clone());
    }
    let large = solve_error("brute-force", &problem);
    assert!(matches!(large, SolveError::Unsupported { .. }));
}

fn solve_error(name: &str, problem: &TierProblem) -> SolveError {
    (named(name).build)(Setup::default()).solve(problem, &mut Budget::unlimited(), &mut Silent).unwrap_err()
}

fn space(kind: TierKind, capacity: u64) -> TierSpace {
    let name = kind.as_str().to_owned();
    TierSpace { name, kind, units: None, capacity: Bytes::new(capacity), alignment: Bytes::new(1) }
}

fn tensor(name: &str, bytes: u64, lower: usize, upper: usize) -> TierTensor {
    let cost = |time: u64| Some(TierUse { time: Time::new(time), traffic: Bytes::new(bytes) });
    let (name, bytes, producer) = (name.to_owned(), Bytes::new(bytes), Some(lower));
    let uses = vec![cost(bytes.get()), cost(10 * bytes.get())];
    TierTensor { name, bytes, lower, upper, producer, consumers: vec![upper - 1], uses }
}

fn two_tiers(capacity: u64, tensors: Vec<TierTensor>, addresses: Addresses) -> TierProblem {
    let spaces = vec![space(TierKind::Ram, capacity), space(TierKind::Ddr, 1 << 40)];
    let duration = tensors.iter().map(|one| one.upper).max().unwrap_or(0);
    let steps = (0..duration).map(|at| TierStep { name: format!("op{at}"), unit: UnitId::new(0), group: at });
    TierProblem::new("two", spaces, steps.collect(), tensors, addresses).unwrap()
}

/// Uses instances whose minimum peak exceeds their load, with a capacity equal to the load.
#[test]
fn what_fits_by_bytes_may_find_no_addresses() {
    let mut apart = 0;
    for seed in 0..6 {
        let made = late_above_load(AboveLoadParams::with_buffers(14), seed).unwrap();
        let instance = made.instance;
        let capacity = load(&instance).0.get();
        let tensors: Vec<TierTensor> = instance
            .buffers()
            .iter()
            .map(|buffer| {
                let span = buffer.lifespan().hull();
                let (lower, upper) = (span.lower.get() as usize, span.upper.get() as usize);
                tensor(buffer.name(), buffer.size().get(), lower, upper)
            })
            .collect();
        let values = [Addresses::Counted, Addresses::Placed].map(|addresses| {
            let problem = two_tiers(capacity, tensors.clone(), addresses);
            let exact = solve(named("exact"), &problem, &mut Budget::unlimited());
            assert_eq!(exact.claim, Claim::Optimal, "{seed} {addresses:?}");
            #[cfg(feature = "ilp")]
            assert_eq!(solve(named("ilp"), &problem, &mut Budget::unlimited()).value, exact.value, "{seed}");
            exact.value
        });
        assert!(!made.proved || values[0] < values[1], "{seed}");
        apart += usize::from(made.proved);
    }
    assert!(apart > 2, "{apart}");
}

#[test]
fn odd_problems_are_answered() {
    for addresses in [Addresses::Counted, Addresses::Placed] {
        let empty =
            TierProblem::new("empty", vec![space(TierKind::Ddr, 1)], vec![], vec![], addresses).unwrap();
        let nothing = two_tiers(4, vec![tensor("zero", 0, 0, 3), tensor("one", 4, 0, 3)], addresses);
        let huge =
            two_tiers(1 << 59, vec![tensor("huge", 1 << 36, 0, 3), tensor("more", 1 << 36, 1, 2)], addresses);
        for problem in [empty, nothing, huge] {
            for entry in placers() {
                let found = solve(entry, &problem, &mut Budget::unlimited());
                assert!(found.solution.is_some(), "{} {}", entry.name, problem.name());
                if entry.kind == Kind::Exact {
                    assert_eq!(found.claim, Claim::Optimal, "{}", entry.name);
                }
            }
        }
        let mut never = tensor("never", 1 << 41, 0, 1);
        never.uses[0] = None;
        let never = two_tiers(4, vec![never], addresses);
        for entry in placers() {
            assert_eq!(
                solve(entry, &never, &mut Budget::unlimited()).claim,
                Claim::Infeasible,
                "{}",
                entry.name
            );
        }
    }
}

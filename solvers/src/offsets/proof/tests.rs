//! Tests that two checkers accept all proofs, and accept altered proofs only if they prove a true claim.

use super::*;
use crate::offsets::search::arrangements::Wrong as WrongSweep;
use crate::offsets::search::arrangements::tests::flat as large_sizes;
use crate::offsets::search::learn::Wrong;
use crate::offsets::{BruteForce, Exact};
use plimsoll_datasets::{AboveLoadParams, SmallParams, hard_above_load, small_instance};
use plimsoll_model::csv::{ReadOptions, read_instance, write_instance};
use plimsoll_model::{Buffer, Claim, InstanceBuilder, Lifespan, Silent, Solver, Stop, guarded, load};
use plimsoll_proof::{CheckError, Proved, Reason, check};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::process::Command;

mod groups;
mod veripb;

fn csv(instance: &Instance) -> String {
    let mut csv = Vec::new();
    write_instance(instance, &mut csv).unwrap();
    String::from_utf8(csv).unwrap()
}

fn text(proof: &Proof) -> String {
    let mut text = Vec::new();
    proof.write(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn checked(csv: &str, proof: &str) -> Result<Proved, CheckError> {
    check(&plimsoll_proof::Instance::from_csv(csv).unwrap(), proof.as_bytes(), &|| false)
}

fn searched(value: Bytes) -> LowerBound {
    LowerBound::new(value, Witness::Search { solver: "search".to_owned() })
}

fn prove(instance: &Instance, bound: Bytes) -> Result<Proof, NoProof> {
    Proof::of(instance, &searched(bound), &mut Budget::unlimited())
}

fn optimum(instance: &Instance) -> Bytes {
    let outcome = guarded(BruteForce).solve(instance, &mut Budget::unlimited(), &mut Silent).unwrap();
    // If fixed offsets contradict each other, every bound holds.
    let is_impossible = matches!(outcome.lower_bound.witness, Witness::Contradiction { .. });
    assert!(is_impossible || outcome.claim == Claim::Optimal, "{:?}", outcome.claim);
    if is_impossible { Bytes::new(u64::MAX) } else { outcome.lower_bound.value }
}

fn small(buffers: usize, features: u64, seed: u64) -> Instance {
    small_instance(SmallParams::with_features(buffers, features), seed).with_capacity(None)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn optima_are_proved_and_larger_bounds_are_not(n in 1usize..8, features in 0u64..16, seed: u64) {
        let t = small(n, features, seed);
        let best = optimum(&t);
        if best > Bytes::ZERO {
            let proof = text(&prove(&t, best).unwrap());
            let proved = checked(&csv(&t), &proof);
            prop_assert!(proved.as_ref().is_ok_and(|proved| proved.bound == best.get()), "{proved:?}\n{proof}");
        }
        let above = prove(&t, Bytes::new(best.get() + 1));
        let refuted = matches!(&above, Err(NoProof::Refuted { peak, .. }) if *peak == best);
        prop_assert!(refuted, "{above:?}");
    }
}

#[test]
#[ignore = "takes a minute: proves two thousand optima"]
fn both_checkers_accept_two_thousand_optima() {
    let mut pairs = Vec::new();
    for seed in 0..2_000 {
        let t = small(3 + seed as usize % 5, seed % 16, seed);
        let best = optimum(&t);
        if best == Bytes::ZERO {
            continue;
        }
        let proof = text(&prove(&t, best).unwrap());
        assert!(checked(&csv(&t), &proof).is_ok_and(|proved| proved.bound == best.get()), "{proof}");
        pairs.push((csv(&t), proof));
    }
    assert_accepted_by_oracle(&pairs);
    assert!(pairs.len() > 1_900, "{}", pairs.len());
}

/// Runs the checker in Python on pairs of an instance and a proof. Returns a line per pair.
fn oracle(pairs: &[(String, String)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (at, (instance, proof)) in pairs.iter().enumerate() {
        let paths = ["csv", "proof"].map(|end| folder.path().join(format!("{at}.{end}")));
        std::fs::write(&paths[0], instance).unwrap();
        std::fs::write(&paths[1], proof).unwrap();
        files.extend(paths);
    }
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../proof/oracle/check.py");
    let run = Command::new("python3").arg(program).args(&files).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let printed = String::from_utf8(run.stdout).unwrap();
    assert_eq!(printed.lines().count(), pairs.len());
    printed
}

fn assert_accepted_by_oracle(pairs: &[(String, String)]) {
    let printed = oracle(pairs);
    assert!(printed.lines().all(|line| line.starts_with("accepted")), "{printed}");
}

#[test]
fn simple_bounds_have_short_proofs() {
    for seed in 0..200 {
        let t = small(7, seed % 16, seed);
        let bound = crate::offsets::bounds::quick_bound(&t, &mut Budget::unlimited());
        match Proof::of(&t, &bound, &mut Budget::unlimited()) {
            Ok(proof) => assert_eq!(checked(&csv(&t), &text(&proof)).unwrap().bound, bound.value.get()),
            Err(reason) => assert_eq!((reason, bound.value), (NoProof::Nothing, Bytes::ZERO)),
        }
    }
}

/// Returns an instance with an almost constant load, so that sweeps apply. The sizes of some buffers are
/// reduced by up to `waste` units.
fn flat(steps: u64, waste: u64, seed: u64) -> Instance {
    let family = plimsoll_datasets::Family::named("recombined").unwrap();
    let params = [("steps", steps), ("unit", 8)];
    let params = params.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let made = family.generate(seed, &params).unwrap().instance().unwrap();
    let mut rng = StdRng::seed_from_u64(seed);
    let buffers = made.buffers().iter().map(|b| {
        let less = if rng.random_range(0..8) == 0 { rng.random_range(0..=waste) * 8 } else { 0 };
        let size = b.size().get().saturating_sub(less).max(8);
        plimsoll_model::Buffer::new(format!("b {}", b.name()), size, b.lifespan().clone())
    });
    InstanceBuilder::new("flat").buffers(buffers).build().unwrap()
}

/// Returns the rules of sweeps, with `wrong` as the unsound rule, and a node limit.
fn sweeps(wrong: Option<WrongSweep>) -> (ArrangementRules, u64) {
    (ArrangementRules { wrong, ..ArrangementRules::default() }, 20_000)
}

#[test]
fn sweeps_by_unsound_rules_are_rejected() {
    for wrong in [WrongSweep::Dominance, WrongSweep::Groups, WrongSweep::Waste, WrongSweep::Bonds] {
        let mut rejected = 0;
        for seed in 0..40 {
            let t = flat(12, seed % 3, seed);
            let best = low_peak(&t).get();
            for bound in [best, best + 8] {
                let swept =
                    Proof::swept(&t, Bytes::new(bound), sweeps(Some(wrong)), &mut Budget::unlimited());
                let Some(proof) = swept.ok().flatten().map(|proof| text(&proof)) else { continue };
                let verdict = checked(&csv(&t), &proof);
                assert!(bound <= best || verdict.is_err(), "{wrong:?}\n{}\n{proof}", csv(&t));
                rejected += u32::from(verdict.is_err());
            }
        }
        assert!(rejected > 0, "{wrong:?}");
    }
}

/// Proves bounds by sweeps, each with an instance. Both checkers must accept all proofs. Returns their
/// number, and the number of those with bonds.
fn sweep_all(claims: impl Iterator<Item = (Instance, u64)>) -> (usize, usize) {
    let mut pairs = Vec::new();
    for (t, bound) in claims {
        let proof = Proof::swept(&t, Bytes::new(bound), sweeps(None), &mut Budget::unlimited());
        let Some(proof) = proof.ok().flatten().map(|proof| text(&proof)) else { continue };
        let proved = checked(&csv(&t), &proof);
        let is_proved = proved.as_ref().is_ok_and(|proved| proved.bound == bound);
        assert!(is_proved, "{proved:?}\n{}\n{proof}", csv(&t));
        pairs.push((csv(&t), proof));
    }
    assert_accepted_by_oracle(&pairs);
    (pairs.len(), pairs.iter().filter(|(_, proof)| proof.contains("\nbond ")).count())
}

#[test]
fn sweeps_are_proofs() {
    let claims = (0..50).flat_map(|seed| {
        let t = flat(12, seed % 3, seed);
        let (best, load) = (low_peak(&t).get(), load(&t).0.get());
        let above = Proof::swept(&t, Bytes::new(best + 8), sweeps(None), &mut Budget::unlimited());
        assert!(!matches!(above, Ok(Some(_))), "{}\n{above:?}", csv(&t));
        (load + 8..=best).step_by(8).map(move |bound| (t.clone(), bound))
    });
    let (swept, bonded) = sweep_all(claims);
    assert!(swept >= 10 && bonded >= 5, "{bonded} of {swept}");
}

/// Checks sweeps with more than 12 free units. The choices of a checker would be too many if it tried all
/// permutations of holes.
#[test]
fn sweeps_with_many_free_units_are_proofs() {
    let claims = (0..110).filter_map(|seed| {
        let t = large_sizes(4 + seed as usize % 4, 12, 0.5, (30, 500), seed);
        let (best, load) = (low_peak(&t).get(), load(&t).0.get());
        let above = (best - load) / t.grain().get();
        (13..=52).contains(&above).then_some((t, best))
    });
    let (swept, bonded) = sweep_all(claims);
    assert!(swept >= 4 && bonded >= 1, "{bonded} of {swept}");
}

#[test]
fn sweeps_prove_bounds_of_instances_that_are_too_large_for_clause_learning() {
    let t = large_sizes(14, 1_500, 0.75, (3, 17), 1);
    let bound = Bytes::new(load(&t).0.get() + 1);
    let one_round = Proof::of(&t, &searched(bound), &mut Budget::unlimited().with_node_limit(1_000));
    assert!(matches!(one_round, Err(NoProof::Stopped(Stop::NodeLimit))), "{one_round:?}");
    let proof = text(&prove(&t, bound).unwrap());
    assert_eq!(checked(&csv(&t), &proof).unwrap().bound, bound.get());
    assert!(proof.contains("\nsweep "), "{proof}");
}

/// Returns an instance from rows of a name, the first step, the step after the last, a size, an alignment and
/// a fixed offset.
fn rows(rows: &[&str]) -> String {
    format!("id,lower,upper,size,alignment,offset\n{}\n", rows.join("\n"))
}

#[test]
fn a_slab_lowers_the_capacity_for_the_buffers_that_conflict_with_it() {
    let free = rows(&["a,0,4,4,1,", "b,2,6,3,1,", "c,3,8,4,1,", "d,5,8,4,1,"]);
    let aligned = rows(&["a,0,4,4,1,", "b,2,6,3,1,", "c,3,8,4,2,", "d,5,8,4,1,"]);
    let fixed = rows(&["a,0,4,4,1,", "b,2,6,3,1,0", "c,3,8,4,1,", "d,5,8,4,1,"]);
    let slab = Reason::NotASlab;
    let cases = [
        (&free, "buffer a\nbuffer c\nslab b\nx 0 1\n", None),
        (&free, "slab b\nslab c\nslab d\nbuffer a\nx 0\n", Some(Reason::Misplaced("buffer"))),
        (&free, "buffer a\nslab b\nslab c\nx 0\n", None),
        (&free, "buffer a\nslab d\nslab b\nx 0\n", Some(slab("d".to_owned()))),
        (&free, "buffer b\nslab a\nslab d\nx 0\n", Some(slab("d".to_owned()))),
        (&free, "buffer a\nslab a\nx 0\n", Some(Reason::DeclaredTwice("a".to_owned()))),
        (&free, "buffer a\nslab b\nslab b\nx 0\n", Some(Reason::DeclaredTwice("b".to_owned()))),
        (&free, "buffer a\nbuffer c\nx 0 1\nslab b\n", Some(Reason::EnoughSpace { needed: 8, capacity: 10 })),
        (&free, "buffer a\nbuffer c\nslab b\nx 0 2\n", Some(Reason::Undeclared(2))),
        (&aligned, "buffer a\nbuffer c\nslab b\nx 0 1\n", Some(slab("b".to_owned()))),
        (&fixed, "buffer a\nbuffer c\nslab b\nx 0 1\n", Some(slab("b".to_owned()))),
    ];
    let mut pairs = Vec::new();
    for (csv, proof, expected) in &cases {
        let proof = format!("plimsoll-proof 1\nbound 11\n{proof}");
        let reason = checked(csv, &proof).err().map(|error| error.reason);
        assert_eq!(reason, *expected, "{proof}");
        pairs.push(((*csv).clone(), proof));
    }
    for (line, (_, proof, expected)) in oracle(&pairs).lines().zip(&cases) {
        assert_eq!(line.starts_with("accepted 11"), expected.is_none(), "{line}\n{proof}");
    }
}

#[test]
fn proofs_omit_the_slabs_of_instances_and_windows() {
    let mut pairs = Vec::new();
    for seed in 0..200 {
        let t = small(7, 0, seed);
        let best = optimum(&t);
        let steps = (seed % 3, 5 + seed % 3);
        let part = live_within(&t, Interval::new(steps.0, steps.1));
        let least = optimum(&part);
        let window =
            Witness::Window { lower: steps.0.into(), upper: steps.1.into(), solver: "search".to_owned() };
        for bound in [searched(best), LowerBound::new(least, window)] {
            let Ok(proof) = Proof::of(&t, &bound, &mut Budget::unlimited()) else { continue };
            let proof = text(&proof);
            assert_eq!(checked(&csv(&t), &proof).unwrap().bound, bound.value.get(), "{proof}");
            pairs.push((csv(&t), proof));
        }
    }
    pairs.retain(|(_, proof)| proof.contains("\nslab "));
    assert!(pairs.len() > 50, "{}", pairs.len());
    assert_accepted_by_oracle(&pairs);
}

#[test]
fn contradicting_fixed_offsets_refute_every_capacity() {
    let buffer =
        |name, at: u64| plimsoll_model::Buffer::new(name, 4, Lifespan::single(0, 2).unwrap()).fixed_at(at);
    let t = InstanceBuilder::new("t").buffer(buffer("a", 0)).buffer(buffer("b", 3)).build().unwrap();
    let witness = Witness::Contradiction { buffers: t.ids().collect() };
    let proof = Proof::of(&t, &LowerBound::new(Bytes::new(99), witness), &mut Budget::unlimited()).unwrap();
    assert_eq!(checked(&csv(&t), &text(&proof)).unwrap().bound, 99);
}

#[test]
fn limits_and_large_instances_give_no_proof() {
    let hard = hard_above_load(AboveLoadParams::with_buffers(40), 1).unwrap().instance;
    let bound = searched(Bytes::new(load(&hard).0.get() + 1));
    let stopped = Proof::of(&hard, &bound, &mut Budget::unlimited().with_node_limit(1));
    assert!(matches!(stopped, Err(NoProof::Stopped(Stop::NodeLimit))), "{stopped:?}");
}

/// Alters a number, a word, a line or the length of `text`.
fn altered(text: &str, rng: &mut StdRng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = rng.random_range(0..lines.len());
    let other = rng.random_range(0..lines.len());
    match rng.random_range(0..8) {
        0 => drop(lines.remove(at)),
        1 => lines.swap(at, other),
        2 => lines.truncate(at),
        3 => lines.insert(at, lines[other].clone()),
        4 => lines[at] = lines[at].chars().rev().collect(),
        kind => {
            let mut words: Vec<String> = lines[at].split([' ', ',']).map(str::to_owned).collect();
            let word = rng.random_range(0..words.len());
            let near: u64 = words[word].parse().unwrap_or(0);
            words[word] = match kind {
                5 => rng.random_range(0..9u64).to_string(),
                6 => near.wrapping_add(rng.random_range(0..3)).saturating_sub(1).to_string(),
                _ => words[word].split('<').rev().collect::<Vec<_>>().join("<"),
            };
            let comma = if lines[at].contains(',') { "," } else { " " };
            lines[at] = words.join(comma);
        }
    }
    lines.join("\n") + "\n"
}

/// Returns the optimum of a small instance, or the peak of a good layout of a larger one.
fn low_peak(instance: &Instance) -> Bytes {
    if instance.len() < 9 {
        return optimum(instance);
    }
    let mut budget = Budget::unlimited().with_node_limit(60_000);
    Exact::default().solve(instance, &mut budget, &mut Silent).unwrap().value.unwrap()
}

/// Alters proofs and instances, and runs both checkers on them. Every accepted claim must be true.
fn alter(count: usize, seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut verdicts, mut pairs) = (Vec::new(), Vec::new());
    while verdicts.len() < count {
        let (t, proof) = if verdicts.len() % 3 == 0 {
            let t = flat(8, rng.random_range(0..3), rng.random_range(0..1 << 40));
            let bound = Bytes::new(load(&t).0.get() + 8);
            let Ok(Some(proof)) = Proof::swept(&t, bound, sweeps(None), &mut Budget::unlimited()) else {
                continue;
            };
            (t, proof)
        } else {
            let t = small(rng.random_range(4..8), rng.random_range(0..16), rng.random_range(0..1 << 40));
            let Ok(proof) = prove(&t, optimum(&t)) else { continue };
            (t, proof)
        };
        let proof = text(&proof);
        // The checker in Python takes minutes for some of the longer ones.
        if proof.len() > 6_000 {
            continue;
        }
        for _ in 0..8 {
            let (mut instance, mut proof) = (csv(&t), proof.clone());
            if rng.random_range(0..5) == 0 {
                instance = altered(&instance, &mut rng);
            } else {
                proof = altered(&proof, &mut rng);
            }
            let options = ReadOptions::default();
            let Ok(read) = read_instance("t", instance.as_bytes(), options) else {
                continue;
            };
            let verdict = checked(&csv(&read), &proof);
            if let Ok(proved) = verdict {
                let least = low_peak(&read.with_capacity(None));
                assert!(proved.bound <= least.get(), "{instance}\n{proof}");
            }
            pairs.push((instance, proof));
            verdicts.push(verdict.map(|proved| proved.bound));
        }
    }
    let mut accepted = 0;
    for ((line, verdict), (instance, proof)) in oracle(&pairs).lines().zip(&verdicts).zip(&pairs) {
        let expected = verdict.as_ref().map_or("rejected".to_owned(), |bound| format!("accepted {bound}"));
        assert!(line.starts_with(&expected), "{line}\n{verdict:?}\n{instance}\n{proof}");
        accepted += usize::from(verdict.is_ok());
    }
    // Most alterations invalidate the proof, but not all lines are needed.
    assert!(accepted > 0 && accepted < count / 2, "{accepted} of {count}");
}

#[test]
fn altered_proofs_are_rejected_or_true() {
    alter(1_000, 1);
}

#[test]
#[ignore = "takes minutes: alters ten thousand proofs"]
fn ten_thousand_altered_proofs_are_rejected_or_true() {
    alter(12_000, 2);
}

/// The unsound rules that tests can switch on.
const RULES: [Wrong; 7] =
    [Wrong::Stack, Wrong::Space, Wrong::Pair, Wrong::Twin, Wrong::Mirror, Wrong::Triangle, Wrong::Clause];

/// Returns the false proofs that an unsound rule yields, each with its instance. They claim bounds above the
/// optimum.
fn false_proofs(wrong: Wrong) -> Vec<(String, String)> {
    let rules = LearnRules { wrong: Some(wrong), ..LearnRules::default() };
    let proof = |seed: u64| {
        let t = if seed.is_multiple_of(10) {
            let params = AboveLoadParams { bytes: 200, unit: 1, ..AboveLoadParams::with_buffers(20) };
            hard_above_load(params, seed).unwrap().instance
        } else {
            let params = SmallParams::with_features(7, seed % 4 * 4);
            small_instance(SmallParams { max_size: 3 + seed % 4, ..params }, seed).with_capacity(None)
        };
        let exact = Exact::default().solve(&t, &mut Budget::unlimited(), &mut Silent).unwrap();
        let claim = Bytes::new(exact.value.unwrap().get() + 1);
        let proof = Proof::searched(&t, claim, (rules, u64::MAX), &mut Budget::unlimited()).ok()?;
        Some((text(&proof), csv(&t)))
    };
    (0..300).filter_map(proof).collect()
}

#[test]
fn proofs_by_unsound_rules_are_rejected() {
    for wrong in RULES {
        let proofs = false_proofs(wrong);
        assert!(!proofs.is_empty(), "{wrong:?}: no false claims");
        for (proof, csv) in proofs {
            let verdict = checked(&csv, &proof);
            assert!(verdict.is_err(), "{wrong:?}\n{csv}\n{proof}");
            let reason = verdict.unwrap_err().reason;
            assert!(!matches!(reason, Reason::UnknownStatement(_) | Reason::Word { .. } | Reason::Header(_)));
        }
    }
}

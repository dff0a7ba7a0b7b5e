//! Tests that two checkers accept proofs, and that they accept altered proofs only if these prove a true
//! claim.

use super::*;
use crate::orders::OrderBrute;
use crate::orders::graphs::small;
use plimsoll_model::{Silent, Solver};
use plimsoll_proof::{CheckError, OrderProved, Reason, check_orders};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::path::PathBuf;
use std::process::Command;

/// No optional rule, then one kind of rule at a time, then all rules.
const RULES: [CoverRules; 5] = {
    let safe = Settling { free: true, chain: 6 };
    let none = CoverRules { settling: Settling { free: false, chain: 0 }, jump: 0, cuts: false, wrong: None };
    let all = CoverRules { settling: safe, jump: 32, cuts: true, wrong: None };
    [
        none,
        CoverRules { settling: safe, ..none },
        CoverRules { jump: 32, ..none },
        CoverRules { cuts: true, ..none },
        all,
    ]
};

fn optimum(problem: &OrderProblem) -> (Bytes, Order) {
    let outcome = OrderBrute.solve(problem, &mut Budget::unlimited(), &mut Silent).unwrap();
    (outcome.value.unwrap(), outcome.solution.unwrap())
}

fn searched(value: Bytes) -> LowerBound {
    LowerBound::new(value, Witness::Search { solver: "exact".to_owned() })
}

fn text(proof: &OrderProof, problem: &OrderProblem) -> String {
    let mut text = b"plimsoll-proof 1 orders\n".to_vec();
    proof.write("0:main", problem, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn checked(text: &str) -> Result<u64, CheckError> {
    check_orders(text.as_bytes(), &|| false).map(|proved| proved[0].bound)
}

#[test]
fn optima_are_proved_and_larger_bounds_are_not() {
    for seed in 0..3000 {
        let problem = small(1 + seed as usize % 11, seed);
        let (best, order) = optimum(&problem);
        if best == Bytes::ZERO {
            continue;
        }
        for rules in RULES {
            let prove = |bound, order: &Order| {
                OrderProof::by(&problem, &searched(bound), order, rules, &mut Budget::unlimited())
            };
            let text = text(&prove(best, &order).unwrap(), &problem);
            assert_eq!(checked(&text), Ok(best.get()), "seed {seed}, {rules:?}\n{text}");
            let above = Bytes::new(best.get() + 1);
            for order in [&order, &problem.as_in_file()] {
                assert_eq!(prove(above, order).map(|_| ()), Err(NoProof::Wrong(above)), "seed {seed}");
            }
        }
    }
}

/// Returns a bound that is the optimum of the problem without some operators, if it is not zero.
fn without(problem: &OrderProblem, rng: &mut StdRng) -> Option<LowerBound> {
    let operators: Vec<OperatorId> = problem.ids().filter(|_| rng.random_bool(0.3)).collect();
    let (best, _) = optimum(&Rest::without(problem, &operators).problem);
    let witness = Witness::Without { operators, solver: "exact".to_owned() };
    (best > Bytes::ZERO).then(|| LowerBound::new(best, witness))
}

#[test]
fn bounds_without_some_operators_are_proved() {
    let (mut rng, mut verdicts) = (StdRng::seed_from_u64(3), Vec::new());
    for seed in 0..1000 {
        let problem = small(2 + seed as usize % 10, seed);
        let Some(bound) = without(&problem, &mut rng) else { continue };
        let (best, order) = optimum(&problem);
        assert!(bound.value <= best, "seed {seed}");
        let prove = |bound: &LowerBound| {
            let rules = RULES[seed as usize % RULES.len()];
            OrderProof::by(&problem, bound, &order, rules, &mut Budget::unlimited())
        };
        let text = text(&prove(&bound).unwrap(), &problem);
        assert_eq!(checked(&text), Ok(bound.value.get()), "seed {seed}\n{text}");
        verdicts.push((checked(&text), text));
        let above = LowerBound::new(Bytes::new(best.get() + 1), bound.witness);
        assert_eq!(prove(&above).map(|_| ()), Err(NoProof::Wrong(above.value)), "seed {seed}");
    }
    assert!(verdicts.iter().any(|(_, text)| text.contains("\ndrop ")));
    agree(&verdicts);
}

#[test]
fn sections_contain_the_problem() {
    let problem = small(9, 5);
    let (best, order) = optimum(&problem);
    let proof = OrderProof::of(&problem, &searched(best), &order, &mut Budget::unlimited()).unwrap();
    let mut own = Vec::new();
    write_problem(&problem, &mut own).unwrap();
    let own = plimsoll_proof::OrderProblem::from_text(std::str::from_utf8(&own).unwrap()).unwrap();
    let OrderProved { region, problem: stated, bound, .. } =
        check_orders(text(&proof, &problem).as_bytes(), &|| false).unwrap().remove(0);
    assert_eq!((region.as_str(), stated, bound), ("0:main", own, best.get()));
}

/// Alters a number, a word, a line or the length of a text.
fn altered(text: &str, rng: &mut StdRng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // At least half of all changes affect the proof rather than the problem.
    let first = lines.iter().position(|line| line.starts_with("bound")).unwrap_or(0);
    let from = if rng.random_bool(0.5) { first } else { 0 };
    let at = rng.random_range(from..lines.len());
    let other = rng.random_range(from..lines.len());
    match rng.random_range(0..8) {
        0 => drop(lines.remove(at)),
        1 => lines.swap(at, other),
        2 => lines.truncate(at),
        3 => lines.insert(at, lines[other].clone()),
        4 => lines[at] = lines[at].replace('+', " "),
        kind => {
            let mut words: Vec<String> = lines[at].split(' ').map(str::to_owned).collect();
            let word = rng.random_range(0..words.len());
            let near: u64 = words[word].parse().unwrap_or(0);
            words[word] = match kind {
                5 => rng.random_range(0..9u64).to_string(),
                6 => near.wrapping_add(rng.random_range(0..3)).saturating_sub(1).to_string(),
                _ => ["e", "r", "x", "start", "end", "reverse", "skip", "keep", "drop"]
                    [rng.random_range(0..9)]
                .to_owned(),
            };
            lines[at] = words.join(" ");
        }
    }
    lines.join("\n") + "\n"
}

/// Computes the optimum of the problem that a proof states, by brute force over orders.
fn least_peak(text: &str) -> Option<u64> {
    let (mut before, mut scratch, mut storages) = (Vec::new(), Vec::new(), Vec::new());
    for line in text.lines() {
        let mut words = line.split_whitespace().peekable();
        match words.next() {
            Some("operator") => {
                scratch.push(words.next()?.parse::<u64>().ok()?);
                before.push(words.map(|word| word.parse().ok()).collect::<Option<Vec<usize>>>()?);
            }
            Some("storage") => {
                let size: u64 = words.next()?.parse().ok()?;
                let start = words.next_if_eq(&"start").is_some();
                let end = words.next_if_eq(&"end").is_some();
                let users = words.map(|word| word.parse().ok()).collect::<Option<Vec<usize>>>()?;
                storages.push((size, start, end, users));
            }
            Some("bound") => break,
            _ => {}
        }
    }
    let n = before.len();
    let start: u64 = storages.iter().filter(|s| s.1).map(|s| s.0).sum();
    let mut best: Vec<Option<u64>> = vec![None; 1 << n];
    best[0] = Some(start);
    for ran in 0..1usize << n {
        let Some(peak) = best[ran] else { continue };
        for at in
            (0..n).filter(|at| ran >> at & 1 == 0 && before[*at].iter().all(|other| ran >> other & 1 == 1))
        {
            let next = ran | 1 << at;
            let live = storages.iter().filter(|(_, start, end, users)| {
                (*start || users.iter().any(|user| next >> user & 1 == 1))
                    && (*end || users.iter().any(|user| ran >> user & 1 == 0))
            });
            let peak = peak.max(live.map(|s| s.0).sum::<u64>() + scratch[at]);
            best[next] = Some(best[next].map_or(peak, |known| known.min(peak)));
        }
    }
    let end: u64 = storages.iter().filter(|s| s.2).map(|s| s.0).sum();
    // If the precedences contain a cycle, no order exists.
    Some(best[(1 << n) - 1].unwrap_or(u64::MAX).max(end))
}

/// Runs the second checker on the proofs and checks that its verdicts agree.
fn agree(verdicts: &[(Result<u64, CheckError>, String)]) {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..verdicts.len()).map(|at| folder.path().join(at.to_string())).collect();
    for (path, (_, text)) in paths.iter().zip(verdicts) {
        std::fs::write(path, text).unwrap();
    }
    let oracle = concat!(env!("CARGO_MANIFEST_DIR"), "/../proof/oracle/orders.py");
    let run = Command::new("python3").arg(oracle).args(&paths).output().unwrap();
    let printed = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(printed.lines().count(), verdicts.len());
    for (line, (verdict, text)) in printed.lines().zip(verdicts) {
        let expected = verdict.as_ref().map_or("rejected".to_owned(), |bound| format!("accepted {bound}"));
        assert!(line.starts_with(&expected), "{line}\n{verdict:?}\n{text}");
    }
}

fn alter(count: usize, seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut verdicts = Vec::new();
    while verdicts.len() < count {
        let problem = small(rng.random_range(2..9), rng.random_range(0..1 << 40));
        let (best, order) = optimum(&problem);
        let rules = RULES[rng.random_range(0..RULES.len())];
        let part = if rng.random_bool(0.2) { without(&problem, &mut rng) } else { None };
        let bound = part.unwrap_or_else(|| searched(best));
        let proof = OrderProof::by(&problem, &bound, &order, rules, &mut Budget::unlimited());
        let Ok(proof) = proof else { continue };
        // Most small problems have simple proofs, so most of these are skipped.
        if proof.body.lines().count() < 3 && rng.random_bool(0.9) {
            continue;
        }
        let proof = text(&proof, &problem);
        verdicts.push((checked(&proof), proof.clone()));
        assert!(verdicts[verdicts.len() - 1].0.is_ok());
        for _ in 0..8 {
            let mut one = altered(&proof, &mut rng);
            if rng.random_range(0..3) == 0 {
                one = altered(&one, &mut rng);
            }
            let verdict = checked(&one);
            if let Ok(bound) = verdict {
                assert!(least_peak(&one).is_some_and(|least| bound <= least), "{one}");
            }
            verdicts.push((verdict, one));
        }
    }
    agree(&verdicts);
    let accepted = verdicts.iter().filter(|(verdict, _)| verdict.is_ok()).count();
    // Most alterations invalidate the proof, but some affect only lines that it does not need.
    assert!(accepted > count / 9 && accepted < count / 2, "{accepted} of {count}");
}

#[test]
fn altered_proofs_are_rejected_or_true() {
    alter(2_000, 1);
}

#[test]
#[ignore = "takes a minute: alters many proofs"]
fn many_altered_proofs_are_rejected_or_true() {
    alter(20_000, 2);
}

#[test]
fn proofs_by_unsound_rules_are_rejected() {
    let all = RULES[4];
    let within = [Wrong::Every, Wrong::Run, Wrong::Group, Wrong::Needs].map(|wrong| (wrong, false));
    let others = [Wrong::Skip, Wrong::Keep, Wrong::Reverse, Wrong::Simple].map(|wrong| (wrong, true));
    for (wrong, cuts) in [within, others].concat() {
        let rules = CoverRules { wrong: Some(wrong), cuts, ..all };
        let mut verdicts = Vec::new();
        for seed in 0..2000 {
            let problem = small(4 + seed as usize % 7, seed);
            let (best, _) = optimum(&problem);
            let above = searched(Bytes::new(best.get() + 1));
            // The optimal order never reaches the bound, so it would lead to no cuts.
            let order = problem.as_in_file();
            let Ok(proof) = OrderProof::by(&problem, &above, &order, rules, &mut Budget::unlimited()) else {
                continue;
            };
            let text = text(&proof, &problem);
            let verdict = checked(&text);
            let error = verdict.clone().expect_err(&text);
            let is_malformed = matches!(
                error.reason,
                Reason::UnknownStatement(_)
                    | Reason::Word { .. }
                    | Reason::Header(_)
                    | Reason::MissingWord(_)
            );
            assert!(!is_malformed, "{wrong:?}: {error}\n{text}");
            verdicts.push((verdict, text));
        }
        assert!(!verdicts.is_empty(), "{wrong:?}: {} false claims", verdicts.len());
        agree(&verdicts);
    }
}

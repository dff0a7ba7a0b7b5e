//! Tests every solver for fusion against brute force on small random graphs and patterns.

use plimsoll_heuristics::fusion::longest_matches;
use plimsoll_model::fusion::{
    FusionProblem, FusionWitness, Fusions, Patterns, UnitRule, Units, check_fusion, confirm_fusion_bound,
    contracted, fusion_bound, relations,
};
use plimsoll_model::graph::{Graph, GraphBuilder, Operator, Role, Tensor};
use plimsoll_model::run::audit;
use plimsoll_model::{Bound, Budget, Claim, Outcome, Relations, Setup, Silent, Solver, Stop};
use plimsoll_solvers::fusion::{ENTRIES as FUSIONS, ExactFusion, FusionBrute};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const KINDS: [&str; 4] = ["A", "B", "C", "D"];

fn random_graph(rng: &mut Xoshiro256PlusPlus, operators: usize) -> Graph {
    let mut g = GraphBuilder::new("random");
    let x = g.tensor(Tensor::new("x", 4, Role::Input));
    let mut made = vec![x];
    let mut wanted = Vec::new();
    for at in 0..operators {
        let mut reads = Vec::new();
        for nth in 0..=usize::from(rng.random_bool(0.2)) {
            let back = if nth == 0 { 1 } else { rng.random_range(1..=3).min(made.len()) };
            reads.push(made[made.len() - back]);
        }
        let out = g.tensor(Tensor::new("", 4, Role::Activation));
        let kind = KINDS[rng.random_range(0..KINDS.len())];
        g.operator(Graph::BODY, Operator::new(format!("o{at}"), kind).reads(reads).makes([out]));
        made.push(out);
        if rng.random_bool(0.05) {
            wanted.push(out);
        }
    }
    g.interface(Graph::BODY, [x], wanted);
    g.build().unwrap()
}

fn random_patterns(rng: &mut Xoshiro256PlusPlus) -> Patterns {
    let mut text = String::new();
    for at in 0..rng.random_range(2..8) {
        let _ = write!(text, "p{at} =");
        for _ in 0..rng.random_range(2..5) {
            text += if rng.random_bool(0.2) {
                " *"
            } else {
                [" A", " B", " C", " A|D", " B|C"][rng.random_range(0..5)]
            };
        }
        text.push('\n');
    }
    Patterns::parse("random", &text).unwrap()
}

fn random_units() -> Units {
    let text = "[[unit]]\nname = \"u\"\nkinds = [\"A\", \"B\"]\n[[unit]]\nname = \"v\"\nkinds = [\"*\"]\n";
    Units::parse("units", text).unwrap()
}

fn solve(fuser: &dyn Solver<Fusions>, problem: &FusionProblem) -> Outcome<Fusions> {
    let outcome = fuser.solve(problem, &mut Budget::unlimited(), &mut Silent).unwrap();
    assert_eq!(audit::<Fusions>(problem, &outcome), Vec::<String>::new());
    outcome
}

fn optimised(outcome: &Outcome<Fusions>) -> usize {
    outcome.value.unwrap().get()
}

fn chosen(outcome: &Outcome<Fusions>) -> &[usize] {
    outcome.solution.as_deref().unwrap()
}

#[test]
fn all_agree_with_brute_force() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let units = random_units();
    let (mut compared, mut better, mut searched) = (0, 0, 0);
    for round in 0..600 {
        let operators = rng.random_range(2..16);
        let graph = random_graph(&mut rng, operators);
        let patterns = random_patterns(&mut rng);
        let rule = if round % 3 == 0 { UnitRule::Same } else { UnitRule::Any };
        let assigned = units.assign(&graph, Graph::BODY).unwrap();
        let problem = FusionProblem::new(&graph, Graph::BODY, &patterns, &assigned, rule).unwrap();
        let Ok(brute) = FusionBrute.solve(&problem, &mut Budget::unlimited(), &mut Silent) else { continue };
        let bound = fusion_bound(&problem);
        assert_eq!(confirm_fusion_bound(&problem, &bound), Ok(()));
        assert!(bound.value.get() >= optimised(&brute), "{round}");
        compared += 1;
        for entry in plimsoll_heuristics::fusion::ENTRIES.iter().chain(FUSIONS) {
            // HiGHS runs only in every tenth round because a call is slow.
            if entry.name == "ilp" && round % 10 != 0 {
                continue;
            }
            let outcome = solve((entry.build)(Setup::default()).as_ref(), &problem);
            let fused = problem.fused(&graph, chosen(&outcome)).unwrap();
            assert_eq!(check_fusion(&graph, &patterns, &units, rule, &fused), [], "{round} {}", entry.name);
            assert_eq!(
                fused.fusion.coverage(&graph).optimised,
                optimised(&outcome),
                "{round} {}",
                entry.name
            );
            assert!(outcome.lower_bound.value.get() >= optimised(&brute), "{round} {}", entry.name);
            let whole = contracted(&graph, std::slice::from_ref(&fused.fusion)).unwrap();
            assert_eq!(whole.operators().len(), fused.fusion.groups().len());
            let home = fused.fusion.group_of();
            let pairs = relations(&graph, Graph::BODY);
            let between: BTreeSet<(usize, usize)> =
                pairs.iter().map(|(a, b)| (home[a], home[b])).filter(|(a, b)| a != b).collect();
            assert_eq!(relations(&whole, Graph::BODY).len(), between.len(), "{round} {}", entry.name);
            if entry.name == "greedy" {
                better += usize::from(optimised(&brute) > optimised(&outcome));
            } else {
                assert_eq!(
                    (outcome.claim, outcome.value),
                    (Claim::Optimal, brute.value),
                    "{round} {}",
                    entry.name
                );
            }
            if entry.name == "exact" {
                searched += usize::from(matches!(outcome.lower_bound.witness, FusionWitness::Search { .. }));
            }
        }
    }
    assert!(compared > 300 && better > 10 && searched > 5, "{compared} {better} {searched}");
}

#[test]
fn a_budget_that_runs_out_proves_nothing() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let patterns = Patterns::parse("p", "p = * *\nq = A * *\nr = * B * *\n").unwrap();
    let mut stopped = 0;
    for _ in 0..40 {
        let graph = random_graph(&mut rng, 60);
        let units = Units::one("cpu").assign(&graph, Graph::BODY).unwrap();
        let problem = FusionProblem::new(&graph, Graph::BODY, &patterns, &units, UnitRule::Any).unwrap();
        let full = solve(&ExactFusion, &problem);
        assert_eq!((full.claim, full.stop), (Claim::Optimal, Stop::Completed));
        for limit in [0, 1, 5, 20] {
            let short = ExactFusion
                .solve(&problem, &mut Budget::unlimited().with_node_limit(limit), &mut Silent)
                .unwrap();
            assert!(
                short.lower_bound.value.get() >= optimised(&full) && optimised(&short) <= optimised(&full)
            );
            stopped += usize::from(short.stop == Stop::NodeLimit);
        }
    }
    assert!(stopped > 10, "{stopped}");
}

/// Compares decomposition with the integer program, if the build includes it, on components that are too
/// large for brute force.
#[test]
fn large_components_agree_with_the_integer_program() {
    let Some(ilp) = FUSIONS.iter().find(|entry| entry.name == "ilp") else { return };
    let ilp = (ilp.build)(Setup::default());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(13);
    let patterns = Patterns::parse("p", "p = * *\nq = A * *\nr = * B * *\ns = * * * * C\n").unwrap();
    let mut better = 0;
    for _ in 0..20 {
        let graph = random_graph(&mut rng, 150);
        let units = Units::one("cpu").assign(&graph, Graph::BODY).unwrap();
        let problem = FusionProblem::new(&graph, Graph::BODY, &patterns, &units, UnitRule::Any).unwrap();
        let (own, other) = (solve(&ExactFusion, &problem), solve(ilp.as_ref(), &problem));
        assert_eq!((own.claim, own.value), (Claim::Optimal, other.value));
        better += usize::from(longest_matches(&problem) != chosen(&own));
    }
    assert!(better > 5, "{better}");
}

#[test]
fn the_longest_match_first_is_not_always_best() {
    // A -> B -> C -> D -> A: greedy matching fuses the first three operators. The optimum is AB and CDA.
    let mut g = GraphBuilder::new("g");
    let x = g.tensor(Tensor::new("x", 4, Role::Input));
    let mut last = x;
    for kind in ["A", "B", "C", "D", "A"] {
        let made = g.tensor(Tensor::new("", 4, Role::Activation));
        g.operator(Graph::BODY, Operator::new("", kind).reads([last]).makes([made]));
        last = made;
    }
    g.interface(Graph::BODY, [x], [last]);
    let graph = g.build().unwrap();
    let patterns = Patterns::parse("p", "abc = A B C\nab = A B\ncda = C D A\n").unwrap();
    let units = Units::one("cpu").assign(&graph, Graph::BODY).unwrap();
    let problem = FusionProblem::new(&graph, Graph::BODY, &patterns, &units, UnitRule::Any).unwrap();
    let greedy = solve(&*(plimsoll_heuristics::fusion::ENTRIES[0].build)(Setup::default()), &problem);
    let exact = solve(&ExactFusion, &problem);
    assert_eq!((optimised(&greedy), optimised(&exact)), (2, 3));
    assert_eq!(problem.coverage(chosen(&exact)).to_string(), "3 of 4 (75.0 %)");
    let wrong = Bound::<Fusions> { value: Relations::new(2), ..fusion_bound(&problem) };
    assert!(confirm_fusion_bound(&problem, &wrong).is_err());
}

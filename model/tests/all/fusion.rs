//! Tests what units and fusions compute, and which inputs they reject.

use plimsoll_model::fusion::{
    Fused, Fusion, FusionProblem, FusionViolation, PATTERN_PRESETS, Patterns, UnitRule, Units, check_choice,
    check_fusion, contracted, relations, siblings,
};
use plimsoll_model::graph::{Graph, GraphBuilder, Operator, Role, Tensor};
use plimsoll_model::{OperatorId, UnitId};

/// Builds a graph from the kind of each operator and the numbers of the operators whose outputs it reads. If
/// an operator has no such numbers, it reads the input of the graph.
fn graph(operators: &[(&str, &[usize])]) -> Graph {
    let mut g = GraphBuilder::new("g");
    let x = g.tensor(Tensor::new("x", 4, Role::Input));
    let made: Vec<_> = operators.iter().map(|_| g.tensor(Tensor::new("", 4, Role::Activation))).collect();
    for (at, (kind, from)) in operators.iter().enumerate() {
        let reads = if from.is_empty() { vec![x] } else { from.iter().map(|&from| made[from]).collect() };
        g.operator(Graph::BODY, Operator::new(format!("o{at}"), *kind).reads(reads).makes([made[at]]));
    }
    g.interface(Graph::BODY, [x], made.last().copied());
    g.build().unwrap()
}

fn ids(group: &[u32]) -> Vec<OperatorId> {
    group.iter().copied().map(OperatorId::new).collect()
}

fn fusion(graph: &Graph, groups: &[&[u32]]) -> Result<Fusion, String> {
    let groups = groups.iter().map(|group| ids(group)).collect();
    Fusion::new(graph, Graph::BODY, groups).map_err(|error| error.to_string())
}

#[test]
fn a_relation_is_a_pair_and_counts_once() {
    // The graph computes a convolution, its sigmoid, the product of both, and the square of this product.
    // Two operators read the convolution, and one operator reads the first product twice.
    let graph = graph(&[("Conv", &[]), ("Sigmoid", &[0]), ("Mul", &[0, 1]), ("Mul", &[2, 2])]);
    assert_eq!(relations(&graph, Graph::BODY).len(), 4);
    let fused = fusion(&graph, &[&[2, 0, 1], &[3]]).unwrap();
    assert_eq!(fused.groups(), [ids(&[0, 1, 2]), ids(&[3])]);
    assert_eq!(fused.coverage(&graph).to_string(), "3 of 4 (75.0 %)");
    assert_eq!(fused.merged(), 2);
    assert_eq!(Fusion::none(&graph, Graph::BODY).coverage(&graph).optimised, 0);
}

#[test]
fn invalid_fusions_are_rejected() {
    let graph = graph(&[("A", &[]), ("B", &[0]), ("C", &[1]), ("D", &[0, 2])]);
    let refuse = |groups: &[&[u32]]| fusion(&graph, groups).unwrap_err();
    assert_eq!(refuse(&[&[0], &[], &[1, 2, 3]]), "group 1 has no members");
    assert_eq!(refuse(&[&[0, 1], &[1, 2, 3]]), "operator 1 'o1' (B) is in group 0 and in group 1");
    assert_eq!(refuse(&[&[0, 1], &[2]]), "operator 3 'o3' (D) is in no group");
    assert_eq!(
        refuse(&[&[0], &[1, 3], &[2]]),
        "group 1 is not connected: no chain of tensors inside the group links operator 3 'o3' (D) to its first member"
    );
    assert!(refuse(&[&[0, 3], &[1, 2]]).starts_with("groups form a dependency cycle"));
}

#[test]
fn an_empty_region_has_a_fusion() {
    let graph = GraphBuilder::new("empty").build().unwrap();
    let fused = fusion(&graph, &[]).unwrap();
    assert_eq!(fused, Fusion::none(&graph, Graph::BODY));
    assert_eq!((fused.coverage(&graph).ratio(), fused.merged()), (None, 0));
}

#[test]
fn operators_run_on_the_first_unit_for_their_kind() {
    let graph = graph(&[("Conv", &[]), ("Sigmoid", &[0]), ("Softmax", &[1])]);
    let units = Units::find("dla-gpu-cpu").unwrap();
    assert_eq!(units.assign(&graph, Graph::BODY).unwrap(), [0, 1, 2].map(UnitId::new));
    let alone = Units::parse("mine.toml", "[[unit]]\nname = \"dla\"\nkinds = [\"conv\"]\n").unwrap();
    let error = alone.assign(&graph, Graph::BODY).unwrap_err().to_string();
    assert_eq!(error, "no processing unit can run operator 1 'o1' (Sigmoid); the units are dla");
    assert!(Units::find("one").unwrap().assign(&graph, Graph::BODY).is_ok());
}

#[test]
fn units_of_a_graph_are_those_it_is_mapped_to() {
    let names = |graph: &Graph| -> Vec<String> {
        Units::of_graph(graph).list().iter().map(|unit| unit.name.clone()).collect()
    };
    let mapped = |units: [Option<&str>; 3]| {
        let mut g = GraphBuilder::new("g");
        for unit in units {
            g.operator(
                Graph::BODY,
                Operator { unit: unit.map(ToOwned::to_owned), ..Operator::new("", "Nop") },
            );
        }
        let graph = g.build().unwrap();
        assert!(Units::of_graph(&graph).assign(&graph, Graph::BODY).is_ok());
        names(&graph)
    };
    assert_eq!(mapped([Some("gpu"), Some("dla"), Some("gpu")]), ["gpu", "dla"]);
    assert_eq!(mapped([Some("gpu"), None, None]), ["gpu", "cpu"]);
    assert_eq!(mapped([None, Some("cpu"), Some("dla")]), ["cpu", "dla"]);
    assert_eq!(names(&GraphBuilder::new("empty").build().unwrap()), ["cpu"]);
}

#[test]
fn errors_in_units_state_the_line() {
    let fault = |text: &str| Units::parse("u.toml", text).unwrap_err().to_string();
    assert!(fault("[[unit]]\nname = \"a\"\n").starts_with("u.toml, line 1: missing field `kinds`"));
    let twice = "[[unit]]\nname = \"a\"\nkinds = []\n[[unit]]\nname = \"a\"\nkinds = []\n";
    assert_eq!(fault(twice), "u.toml, line 5: unit names must be non-empty and unique: `name = \"a\"`");
    assert_eq!(fault(""), "u.toml, line 1: the list of processing units is empty");
    assert!(Units::find("nothing").unwrap_err().to_string().contains("one, nvdla, dla-gpu-cpu"));
}

fn problem(graph: &Graph, patterns: &str, rule: UnitRule) -> (Patterns, FusionProblem) {
    let patterns = Patterns::parse("p", patterns).unwrap();
    let units = Units::find("dla-gpu-cpu").unwrap().assign(graph, Graph::BODY).unwrap();
    let problem = FusionProblem::new(graph, Graph::BODY, &patterns, &units, rule).unwrap();
    (patterns, problem)
}

#[test]
fn every_shared_operator_of_a_choice_is_found() {
    let graph = graph(&[("Conv", &[]), ("Relu", &[0]), ("Sigmoid", &[1]), ("Tanh", &[2])]);
    let patterns = "a = conv act\nb = act act\n";
    let (_, problem) = problem(&graph, patterns, UnitRule::Any);
    assert_eq!(places(&problem), [[0, 1], [1, 2], [2, 3]]);
    // The second match shares an operator with the first match, and another one with the third.
    let found = check_choice(&problem, &[0, 1, 2]);
    let shared = |first, second| FusionViolation::Shared { first, second };
    assert_eq!(found, [shared(0, 1), shared(1, 2)]);
    assert_eq!(check_choice(&problem, &[0, 2]), []);
}

fn places(problem: &FusionProblem) -> Vec<Vec<usize>> {
    problem.matches().iter().map(|one| one.places.clone()).collect()
}

#[test]
fn outside_readers_end_a_match() {
    let chain = graph(&[("Conv", &[]), ("Sigmoid", &[0]), ("Mul", &[0, 1]), ("Add", &[2]), ("Add", &[2])]);
    // The product also reads the convolution, and two operators read the product.
    let (_, found) =
        problem(&chain, "a = conv act\nb = conv sigmoid mul^1\nc = conv sigmoid mul add\n", UnitRule::Any);
    assert_eq!(places(&found), [[0, 1, 2]]);
    assert_eq!((found.matches()[0].optimised, found.relations()), (3, 5));
    // Without the skip connection, `^1` does not match.
    let plain = graph(&[("Conv", &[]), ("Sigmoid", &[0]), ("Mul", &[1])]);
    assert!(places(&problem(&plain, "b = conv sigmoid mul^1", UnitRule::Any).1).is_empty());
    assert_eq!(places(&problem(&plain, "b = conv sigmoid mul", UnitRule::Any).1), [[0, 1, 2]]);
    // The ordinary rule does not allow operators on two units to be fused.
    assert!(places(&problem(&plain, "b = conv sigmoid mul", UnitRule::Same).1).is_empty());
}

#[test]
fn outputs_of_a_region_are_stored() {
    let mut g = GraphBuilder::new("g");
    let x = g.tensor(Tensor::new("x", 4, Role::Input));
    let y = g.tensor(Tensor::new("y", 4, Role::Output));
    let z = g.tensor(Tensor::new("z", 4, Role::Output));
    g.operator(Graph::BODY, Operator::new("", "Conv").reads([x]).makes([y]));
    g.operator(Graph::BODY, Operator::new("", "Relu").reads([y]).makes([z]));
    g.interface(Graph::BODY, [x], [y, z]);
    let graph = g.build().unwrap();
    assert!(places(&problem(&graph, "a = conv act", UnitRule::Any).1).is_empty());
}

#[test]
fn the_checker_finds_violations() {
    let graph = graph(&[("Conv", &[]), ("Relu", &[0]), ("Conv", &[1]), ("Sigmoid", &[2])]);
    let (patterns, found) = problem(&graph, "a = conv act\n", UnitRule::Any);
    let units = Units::find("dla-gpu-cpu").unwrap();
    let fused = found.fused(&graph, &[0, 1]).unwrap();
    let check = |rule, fused: &Fused| -> Vec<String> {
        check_fusion(&graph, &patterns, &units, rule, fused).iter().map(ToString::to_string).collect()
    };
    assert_eq!(check(UnitRule::Any, &fused), [""; 0]);
    assert_eq!(
        check(UnitRule::Same, &fused),
        ["operator 3 'o3' (Sigmoid) runs on a different unit than the first operator of its group"]
    );
    let mut wrong = fused.clone();
    wrong.chosen[0].operators.swap(0, 1);
    wrong.chosen[1].optimised = 7;
    let said = check(UnitRule::Any, &wrong);
    let has = |part: &str| assert!(said.iter().any(|one| one.contains(part)), "{part}: {said:?}");
    has("operator 1 'o1' (Relu) cannot be step 1 of pattern 'a'");
    has("operator 0 'o0' (Conv) does not read an output of operator 1 'o1' (Relu)");
    has("is used outside the group");
    has("optimises 1 relations, but 7 are stated");
    wrong.chosen.pop();
    assert!(check(UnitRule::Any, &wrong)[0].contains("a group without a match"));
}

#[test]
fn errors_in_patterns_state_the_line() {
    let text = "# none\nclass gate = Sigmoid|act\ng = conv gate|Softmax Mul^1^2\n";
    let patterns = Patterns::parse("p", text).unwrap();
    let steps = &patterns.list()[0].steps;
    assert!(["Relu", "Sigmoid", "Softmax"].iter().all(|kind| steps[1].kinds.has(kind)));
    assert!(!steps[1].kinds.has("Conv") && steps[2].also == [0, 1]);
    let fault = |text: &str| Patterns::parse("p", text).unwrap_err().to_string();
    assert_eq!(fault("a = conv\n"), "p, line 1: a pattern must have 2 to 16 steps; found 1: `a = conv`");
    assert_eq!(fault("\na conv\n"), "p, line 2: expected a name, `=` and kinds: `a conv`");
    assert!(fault("a = A B\na = B C").contains("line 2: pattern 'a' is already defined"));
    assert!(fault("a = A B^2").contains("'^2' does not refer to an earlier step"));
    assert!(fault("a = A |B").contains("'|B' contains an empty kind"));
    assert!(fault("a b = A B").contains("a pattern name must not contain spaces"));
    for (name, _) in PATTERN_PRESETS {
        assert!(Patterns::find(name).unwrap().list().len() > 2, "{name}");
    }
    assert!(Patterns::find("none").unwrap_err().to_string().contains("default, s3, s3-joined, chains"));
}

#[test]
fn groups_become_operators() {
    let graph = graph(&[("Conv", &[]), ("Sigmoid", &[0]), ("Mul", &[0, 1]), ("Add", &[2])]);
    let fused = fusion(&graph, &[&[0, 1, 2], &[3]]).unwrap();
    let whole = contracted(&graph, std::slice::from_ref(&fused)).unwrap();
    let kinds: Vec<&str> = whole.operators().iter().map(|operator| operator.kind.as_str()).collect();
    assert_eq!(kinds, ["Conv+Sigmoid+Mul", "Add"]);
    assert_eq!(whole.operators()[0].name, "o0+o1+o2");
    // Two of the five tensors disappear: the outputs of the first two operators.
    assert_eq!(whole.tensors().len(), 3);
    assert_eq!(relations(&whole, Graph::BODY).len(), 1);
    let none = Fusion::none(&graph, Graph::BODY);
    assert_eq!(contracted(&graph, &[none]).unwrap(), graph);
}

#[test]
fn siblings_read_the_same() {
    let graph = graph(&[("Conv", &[]), ("Conv", &[0]), ("Conv", &[0]), ("Relu", &[0]), ("Conv", &[1])]);
    assert_eq!(siblings(&graph, Graph::BODY), [ids(&[1, 2])]);
}
